//! Code outside of `access` can't make rights up, nor reach the planner. Slow: builds the engine once
//! more.

#[test]
fn compile_fail_rights_cannot_be_made_outside_of_access() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
