use waymark_core::plan::select;
use waymark_core::plan::write;

fn main() {}
