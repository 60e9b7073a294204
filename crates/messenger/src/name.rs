//! Names of namespaces and channels: what every store can carry, and nothing that one namespace
//! could use to reach into another.

use crate::settings::InvalidSetting;

/// Channels whose names begin so are the messenger's own.
pub(crate) const RESERVED: &str = "messenger-";
/// Where replicas announce themselves.
pub(crate) const TOPOLOGY: &str = "messenger-topology";
/// Where a connection proves that it may publish.
pub(crate) const PROBE: &str = "messenger-probe";

const LONGEST_NAMESPACE: usize = 64;
const LONGEST_CHANNEL: usize = 128;

/// No separators of a store in it: `a.b` + `c` would be `a` + `b.c` on NATS.
pub(crate) fn check_namespace(namespace: &str) -> Result<(), InvalidSetting> {
    if plain(namespace, LONGEST_NAMESPACE) {
        return Ok(());
    }
    Err(InvalidSetting::new("namespace", "1 to 64 letters, digits, - and _ of ASCII are accepted"))
}

pub(crate) fn check_channel(channel: &str) -> Result<(), InvalidSetting> {
    if !plain(channel, LONGEST_CHANNEL) {
        return Err(InvalidSetting::new("channel", "1 to 128 letters, digits, - and _ of ASCII are accepted"));
    }
    if channel.starts_with(RESERVED) {
        return Err(InvalidSetting::new("channel", "names that begin with messenger- are reserved"));
    }
    Ok(())
}

fn plain(name: &str, longest: usize) -> bool {
    !name.is_empty()
        && name.len() <= longest
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_no_separator_and_no_wildcard() {
        for bad in ["", "a.b", "a:b", "a b", "a*", ">", "ä", "a\r\nPUB x", &"n".repeat(129)] {
            assert_eq!(check_namespace(bad).unwrap_err().field, "namespace", "{bad}");
            assert_eq!(check_channel(bad).unwrap_err().field, "channel", "{bad}");
        }
        assert!(check_namespace("way_mark-2").is_ok());
        assert!(check_channel("schema-changed").is_ok());
        assert!(check_channel(TOPOLOGY).is_err());
        assert!(check_channel(PROBE).is_err());
    }
}
