# Recipes for daily work. `./scripts/test` installs what `just test` needs and runs it.

set positional-arguments

compose := "docker compose -f docker/compose.dev.yml"

_list:
    @just --list

# Formats all code
fmt:
    cargo fmt --all

# Checks formatting and lints; warnings are errors
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Runs all tests; arguments go to nextest
test *ARGS: _services
    cargo nextest run --workspace --locked "$@"
    cargo test --workspace --locked --doc --quiet

# Runs the integration tests whose names contain FILTER
it FILTER="": _services
    cargo nextest run --workspace --test it --test command_line --locked {{ quote(FILTER) }}

# Starts PostgreSQL, MariaDB, Redis and NATS in containers, on their usual ports
up:
    {{ compose }} up -d --wait

# Stops them and throws their data away
down:
    {{ compose }} down -v

# Prints what we cost beside a hand-written server (`just bench --only point`); never fails a build
bench *ARGS:
    -scripts/services run --only postgres -- cargo bench --locked -p waymark-benches --bench load -- "$@"

# Prints what the stages of a read cost; ARGS go to criterion
bench-stages *ARGS:
    -cargo bench --locked -p waymark-benches --bench stages -- "$@"

# Writes the generated pages docs/CONFIG.md and docs/ERRORS.md anew
gen:
    WAYMARK_WRITE_DOCS=1 cargo test --workspace --locked --test it -- docs::the_page

# Builds the documentation of all crates; warnings are errors
doc:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

# Licences, banned crates and sources
deny:
    cargo deny --locked check bans licenses sources

# Known vulnerabilities; needs the network for the database
advisories:
    cargo deny check advisories

# All that must hold before a change is merged
ci:
    .ci/run

_services:
    #!/usr/bin/env bash
    missing=0
    for service in POSTGRES MYSQL REDIS NATS; do
      variable="WAYMARK_TEST_${service}_URL"
      if [ -z "${!variable-}" ]; then echo "$variable is not set" >&2; missing=1; fi
    done
    if [ "$missing" = 1 ]; then
      echo "The tests need running services. ./scripts/test starts them, runs all tests and stops them;" >&2
      echo "scripts/services run -- COMMAND does so for one command, such as: scripts/services run -- just it login" >&2
      exit 1
    fi
