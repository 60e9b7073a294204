//! Whether a schedule of a flow can run: its cron expression and its time zone.

use waymark_schedule::{parse_cron, parse_timezone};

/// Checks an expression of six fields (seconds first) or five, and the IANA name of a zone.
///
/// # Errors
/// The option that is wrong, and a sentence about it.
pub fn check(cron: &str, timezone: Option<&str>) -> Result<(), (&'static str, String)> {
    if let Err(refused) = parse_cron(cron, None) {
        return Err(("cron", format!("It is no cron expression ({}).", refused.message)));
    }
    match timezone.map(parse_timezone) {
        Some(Err(refused)) => Err(("timezone", format!("{}.", refused.message))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn expressions_and_zones() {
        for (cron, zone) in [
            ("0 * * * * *", None),
            ("*/5 9-17 * * MON-FRI", Some("Europe/Berlin")),
            ("0 0 0 L * *", Some("UTC")),
            ("0 0 12 13 * 5#2", Some("Australia/Lord_Howe")),
        ] {
            assert_eq!(check(cron, zone), Ok(()), "{cron} {zone:?}");
        }
        for (cron, zone, option) in [
            ("", None, "cron"),
            ("* * *", None, "cron"),
            ("0 0 0 1 1 * 2030", None, "cron"),
            ("61 * * * * *", None, "cron"),
            ("* * * * * \u{df}", Some("Mars/Base"), "cron"),
            ("* * * * *", Some("Mars/Base"), "timezone"),
            ("* * * * *", Some(""), "timezone"),
        ] {
            assert_eq!(check(cron, zone).map_err(|(option, _)| option), Err(option), "{cron} {zone:?}");
        }
    }
}
