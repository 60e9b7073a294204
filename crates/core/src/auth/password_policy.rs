//! The password policy of the settings: a regular expression, with or without slashes around it.
//! Look-arounds are allowed, as the customary policies need them.

use sea_query::Query;

use super::rows;
use crate::{
    error::{Error, Problem, Result},
    store::Executor,
};

/// Checks a password against the current policy. Nothing of the password enters the error.
///
/// # Errors
/// `FAILED_VALIDATION` (`type: regex`); also when the stored policy is no valid expression.
pub async fn check(conn: Executor<'_>, password: &str) -> Result<()> {
    let select = Query::select().column("auth_password_policy").from("directus_settings").limit(1).to_owned();
    let row = conn.query_one(conn.build(&select)).await?;
    let policy = match row {
        Some(row) => rows::read_text(&row, "auth_password_policy")?,
        None => None,
    };
    match policy {
        Some(policy) if !policy.is_empty() && !matches(&policy, password) => Err(violated()),
        _ => Ok(()),
    }
}

#[track_caller]
fn violated() -> Error {
    Problem::failed_validation("password", Some("regex"), "The password does not meet the password policy.").into()
}

/// A policy that can't be read, or that takes too long to decide, admits nothing.
fn matches(policy: &str, password: &str) -> bool {
    let source = policy.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).unwrap_or(policy);
    match fancy_regex::Regex::new(source) {
        Ok(expression) => expression.is_match(password).unwrap_or(false),
        Err(error) => {
            tracing::warn!(%error, "the password policy of the settings is no valid expression");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn customary_policies_work() {
        assert!(matches("/^.{8,}$/", "12345678") && !matches("^.{8,}$", "1234567"));
        let strong = r#"/(?=^.{8,}$)(?=.*\d)(?=.*[!@#$%^&*()_+}{";'?>.<,])(?!.*\s)(?=.*[A-Z])(?=.*[a-z]).*$/"#;
        assert!(matches(strong, "Abcdef1!") && !matches(strong, "abcdef1!") && !matches(strong, "Abc def1!"));
        assert!(!matches("(", "("));
    }
}
