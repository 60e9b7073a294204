//! Code outside of `access` can't make rights up, nor reach the planner. Slow: builds the engine once
//! more, hence in the group that runs alone.

#[test]
fn heavy_rights_cannot_be_made_outside_of_access() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
