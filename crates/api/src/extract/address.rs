//! The client's address behind proxies (`IP_TRUST_PROXY`, `IP_CUSTOM_HEADER`).

use std::net::IpAddr;

use actix_web::HttpRequest;

use crate::settings::security::{Security, TrustProxy};

/// The address the request came from, as far as trusted proxies tell.
#[must_use]
pub fn of(request: &HttpRequest, security: &Security) -> Option<IpAddr> {
    let peer = request.peer_addr().map(|address| address.ip().to_canonical())?;
    if let Some(name) = &security.ip_custom_header
        && trusts(&security.ip_trust_proxy, peer, 0)
        && let Some(value) = request.headers().get(name.as_str())
    {
        match value.to_str().ok().and_then(|text| text.trim().parse::<IpAddr>().ok()) {
            Some(address) => return Some(address.to_canonical()),
            None => tracing::warn!(header = %name, "the custom address header does not hold one valid address"),
        }
    }
    let forwarded = request.headers().get_all("x-forwarded-for").filter_map(|value| value.to_str().ok());
    let forwarded: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
    Some(walk(peer, &forwarded, &security.ip_trust_proxy))
}

/// From the peer backwards through `X-Forwarded-For`, as long as the nearer hop is trusted.
fn walk(peer: IpAddr, forwarded: &[&str], trust: &TrustProxy) -> IpAddr {
    let mut address = peer;
    for (hop, text) in forwarded.iter().rev().enumerate() {
        if !trusts(trust, address, hop) {
            break;
        }
        match text.parse::<IpAddr>() {
            Ok(next) => address = next.to_canonical(),
            Err(_) => break,
        }
    }
    address
}

fn trusts(trust: &TrustProxy, address: IpAddr, hop: usize) -> bool {
    match trust {
        TrustProxy::Nobody => false,
        TrustProxy::Everybody => true,
        TrustProxy::Hops(hops) => hop < *hops,
        TrustProxy::Networks(networks) => networks.iter().any(|network| network.contains(address)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::security::Network;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn only_trusted_hops_are_believed() {
        let chain = ["203.0.113.9", "10.0.0.7"];
        let peer = ip("127.0.0.1");
        assert_eq!(walk(peer, &chain, &TrustProxy::Nobody), peer);
        assert_eq!(walk(peer, &chain, &TrustProxy::Everybody), ip("203.0.113.9"));
        assert_eq!(walk(peer, &chain, &TrustProxy::Hops(1)), ip("10.0.0.7"));
        let networks = Network::parse("loopback").expect("a network");
        assert_eq!(walk(peer, &chain, &TrustProxy::Networks(networks)), ip("10.0.0.7"));
        let mut networks = Network::parse("loopback").expect("a network");
        networks.extend(Network::parse("10.0.0.0/8").expect("a network"));
        assert_eq!(walk(peer, &chain, &TrustProxy::Networks(networks)), ip("203.0.113.9"));
        assert_eq!(walk(peer, &["nonsense"], &TrustProxy::Everybody), peer);
    }
}
