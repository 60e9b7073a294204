use waymark_core::access::write::{AuthorizedCreate, AuthorizedDelete, AuthorizedUpdate};

fn main() {
    let _ = AuthorizedCreate { collection: panic!(), rows: Vec::new() };
    let _ = AuthorizedUpdate { collection: panic!(), keys: Vec::new(), payload: panic!() };
    let _ = AuthorizedDelete { collection: panic!(), keys: Vec::new() };
}
