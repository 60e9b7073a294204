//! The rules of `docs/ARCHITECTURE.md` that a machine can check.

mod authority;
mod imports;
