use waymark_core::access::AuthorizedQuery;

fn main() {
    let _ = AuthorizedQuery { root: panic!(), meta: panic!() };
}
