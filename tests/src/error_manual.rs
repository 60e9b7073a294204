//! The text of `docs/ERRORS.md`, made from the table of codes and their statuses.

use waymark_api::respond::status;
use waymark_core::Code;

/// The page.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(
        "# Errors\n\nMade from `crates/core/src/error/code.rs` and `crates/api/src/respond/status.rs` by `just gen`.\n\n\
         An error answer is `{\"errors\": [{\"message\": …, \"extensions\": {\"code\": …}}]}` with at least one entry; the\n\
         first one decides the status. Programs should look at the code: messages may change and often say more\n\
         than the one below. A thing that does not exist and one the caller may not see are answered alike.\n\n\
         | Code | Status | Message when nothing better is known |\n|---|---|---|\n",
    );
    for code in Code::ALL {
        let status = status::of(*code);
        text.push_str(&format!("| `{}` | {} | {} |\n", code.name(), status.as_u16(), code.message()));
    }
    text
}
