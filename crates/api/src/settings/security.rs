//! Keys, tokens, cookies, password hashes, proxies, security headers, the first admin.

use std::{net::IpAddr, time::Duration};

use super::{Reader, Secret};

#[derive(Clone, Debug)]
pub struct Security {
    /// Id of this instance (`KEY`).
    pub key: Secret,
    /// Signing key of all JWTs (`SECRET`).
    pub secret: Secret,
    pub jwt_issuers: Vec<String>,
    /// No login with e-mail and password.
    pub disable_default: bool,
    pub access_token_ttl: Duration,
    pub refresh_token_ttl: Duration,
    pub cookie: Cookie,
    pub login_stall: Duration,
    pub password_reset_urls: Vec<String>,
    pub user_invite_urls: Vec<String>,
    pub hash_memory_kib: u32,
    pub hash_passes: u32,
    pub hash_lanes: u32,
    pub ip_trust_proxy: TrustProxy,
    pub ip_custom_header: Option<String>,
    pub content_security_policy: String,
    /// Value of `Strict-Transport-Security`.
    pub hsts: Option<String>,
    pub admin_email: String,
    pub admin_password: Option<Secret>,
}

/// The refresh-token cookie.
#[derive(Clone, Debug)]
pub struct Cookie {
    pub name: String,
    pub domain: Option<String>,
    pub secure: bool,
    pub same_site: SameSite,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SameSite {
    Lax,
    Strict,
    None,
}

/// Whose `X-Forwarded-For` is believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrustProxy {
    Nobody,
    Everybody,
    /// That many proxies stand in front.
    Hops(usize),
    Networks(Vec<Network>),
}

/// A range of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

impl Network {
    /// Reads an address, a CIDR range, or one of the names `loopback`, `linklocal`, `uniquelocal`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Vec<Self>> {
        let named: &[&str] = match text {
            "loopback" => &["127.0.0.0/8", "::1/128"],
            "linklocal" => &["169.254.0.0/16", "fe80::/10"],
            "uniquelocal" => &["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"],
            _ => return Self::parse_one(text).map(|network| vec![network]),
        };
        named.iter().map(|text| Self::parse_one(text)).collect()
    }

    fn parse_one(text: &str) -> Option<Self> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.trim().parse().ok()?;
        let bits = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Some(bits), |prefix| prefix.trim().parse().ok().filter(|prefix| *prefix <= bits))?;
        Some(Self { address, prefix })
    }

    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let mask = u32::MAX.checked_shl(32 - self.prefix).unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let mask = u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0);
                (own.to_bits() ^ other.to_bits()) & mask == 0
            }
            _ => false,
        }
    }
}

const POLICY: &[(&str, &str)] = &[
    ("default-src", "'self'"),
    ("base-uri", "'self'"),
    ("frame-ancestors", "'self'"),
    ("object-src", "'none'"),
    ("script-src", "'self'"),
    ("style-src", "'self' 'unsafe-inline'"),
    ("img-src", "'self' data: blob:"),
];

impl Security {
    pub fn read(reader: &mut Reader<'_>) -> Self {
        let same_site = [("lax", SameSite::Lax), ("strict", SameSite::Strict), ("none", SameSite::None)];
        Self {
            key: reader.required_secret("KEY"),
            secret: reader.required_secret("SECRET"),
            jwt_issuers: reader.list("AUTH_JWT_ISSUERS"),
            disable_default: reader.boolean("AUTH_DISABLE_DEFAULT"),
            access_token_ttl: reader.duration("ACCESS_TOKEN_TTL"),
            refresh_token_ttl: reader.duration("REFRESH_TOKEN_TTL"),
            cookie: Cookie {
                name: reader.text("REFRESH_TOKEN_COOKIE_NAME"),
                domain: reader.optional_text("REFRESH_TOKEN_COOKIE_DOMAIN"),
                secure: reader.boolean("REFRESH_TOKEN_COOKIE_SECURE"),
                same_site: reader.choice("REFRESH_TOKEN_COOKIE_SAME_SITE", &same_site).unwrap_or(SameSite::Lax),
            },
            login_stall: reader.duration("LOGIN_STALL_TIME"),
            password_reset_urls: reader.list("PASSWORD_RESET_URL_ALLOW_LIST"),
            user_invite_urls: reader.list("USER_INVITE_URL_ALLOW_LIST"),
            hash_memory_kib: reader.number("HASH_MEMORY_COST", 8..=4_194_304) as u32,
            hash_passes: reader.number("HASH_TIME_COST", 1..=1000) as u32,
            hash_lanes: reader.number("HASH_PARALLELISM", 1..=255) as u32,
            ip_trust_proxy: trust_proxy(reader),
            ip_custom_header: reader.text_or_false("IP_CUSTOM_HEADER"),
            content_security_policy: policy(reader),
            hsts: hsts(reader),
            admin_email: reader.text("ADMIN_EMAIL"),
            admin_password: reader.secret("ADMIN_PASSWORD"),
        }
    }
}

fn trust_proxy(reader: &mut Reader<'_>) -> TrustProxy {
    let entries = reader.list("IP_TRUST_PROXY");
    match entries.as_slice() {
        [] => TrustProxy::Nobody,
        [one] if one == "false" => TrustProxy::Nobody,
        [one] if one == "true" => TrustProxy::Everybody,
        [one] if one.parse::<usize>().is_ok() => TrustProxy::Hops(one.parse().unwrap_or(0)),
        entries => match entries.iter().map(|entry| Network::parse(entry)).collect::<Option<Vec<_>>>() {
            Some(networks) => TrustProxy::Networks(networks.into_iter().flatten().collect()),
            None => {
                reader.problem(
                    "IP_TRUST_PROXY",
                    "a list with something that is no address",
                    "true, false, a number of proxies, or addresses and ranges (127.0.0.1, 10.0.0.0/8, loopback)",
                );
                TrustProxy::Nobody
            }
        },
    }
}

/// The built-in directives, each replaceable by `CONTENT_SECURITY_POLICY_DIRECTIVES__<NAME>`.
fn policy(reader: &mut Reader<'_>) -> String {
    let mut directives: Vec<(String, String)> =
        POLICY.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for (name, values) in reader.with_prefix("CONTENT_SECURITY_POLICY_DIRECTIVES__") {
        let name = name.to_ascii_lowercase().replace('_', "-");
        let value = values.join(" ");
        directives.retain(|(known, _)| *known != name);
        if value != "false" {
            directives.push((name, value));
        }
    }
    let directives: Vec<String> = directives
        .into_iter()
        .map(|(name, value)| if value.is_empty() || value == "true" { name } else { format!("{name} {value}") })
        .collect();
    directives.join("; ")
}

fn hsts(reader: &mut Reader<'_>) -> Option<String> {
    let enabled = reader.boolean("HSTS_ENABLED");
    let age = reader.duration("HSTS_MAX_AGE");
    let sub_domains = reader.boolean("HSTS_INCLUDE_SUB_DOMAINS");
    let preload = reader.boolean("HSTS_PRELOAD");
    enabled.then(|| {
        let sub_domains = if sub_domains { "; includeSubDomains" } else { "" };
        let preload = if preload { "; preload" } else { "" };
        format!("max-age={}{sub_domains}{preload}", age.as_secs())
    })
}
