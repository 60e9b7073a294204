//! Rules of `directus_permissions`: the public role, actions, and rules nobody could evaluate.

use serde_json::{Map, Value};

use crate::{
    actor::PUBLIC_ROLE,
    error::{Error, Problem, Result},
    query::{
        QueryLimits,
        ast::Operator,
        filter::{self, Source},
    },
};

/// What can be granted; the last two are known but never evaluated.
const ACTIONS: [&str; 7] = ["create", "read", "update", "delete", "share", "comment", "explain"];

/// Runs before anything is required of a payload: no role means the public one.
pub(super) fn complete(payload: &mut Map<String, Value>) {
    if payload.get("role").is_some_and(Value::is_null) {
        payload.insert("role".to_owned(), PUBLIC_ROLE.to_string().into());
    }
}

/// # Errors
/// `FAILED_VALIDATION` (action), `INVALID_PAYLOAD` (rules).
pub(super) fn check(payload: &mut Map<String, Value>, limits: &QueryLimits) -> Result<()> {
    complete(payload);
    if let Some(action) = payload.get("action")
        && !action.as_str().is_some_and(|action| ACTIONS.contains(&action))
    {
        let problem = Problem::failed_validation("action", Some("in"), "\"action\" is no action that can be granted.");
        return Err(Error::from(problem).with("valid", ACTIONS.map(Value::from).to_vec()));
    }
    for name in ["permissions", "validation"] {
        let Some(rule) = payload.get(name).filter(|rule| !rule.is_null()) else { continue };
        check_rule(name, rule, limits)?;
    }
    match payload.get("presets") {
        None | Some(Value::Null | Value::Object(_)) => Ok(()),
        Some(_) => Err(Error::invalid_payload("\"presets\" has to be an object.")),
    }
}

fn check_rule(name: &str, rule: &Value, limits: &QueryLimits) -> Result<()> {
    // Some clients send JSON columns as text.
    let parsed;
    let rule = match rule {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(value) => {
                parsed = value;
                &parsed
            }
            Err(_) => return Err(Error::invalid_payload(format!("\"{name}\" is no JSON."))),
        },
        rule => rule,
    };
    if rule.is_null() {
        return Ok(());
    }
    filter::parse(rule, Source::Rule, limits)
        .map_err(|error| Error::invalid_payload(format!("\"{name}\" is no rule.")).because(error))?;
    match unknown_operator(rule, name == "validation") {
        Some(operator) => Err(Error::invalid_payload(format!("\"{name}\" uses the unknown operator \"{operator}\"."))),
        None => Ok(()),
    }
}

/// Operators stand below a field and take no object. Two exist in payload rules only.
fn unknown_operator(rule: &Value, of_payload: bool) -> Option<&str> {
    match rule {
        Value::Object(entries) => entries.iter().find_map(|(key, value)| {
            let logical = matches!(key.as_str(), "_and" | "_or" | "_some" | "_none");
            let payload_only = of_payload && matches!(key.as_str(), "_submitted" | "_regex");
            let known = logical || payload_only || !key.starts_with('_') || Operator::from_name(key).is_some();
            if !known && !value.is_object() {
                return Some(key.as_str());
            }
            match value {
                Value::Array(items) => items.iter().find_map(|item| unknown_operator(item, of_payload)),
                value => unknown_operator(value, of_payload),
            }
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn checked(payload: Value) -> Result<Map<String, Value>> {
        let mut payload = payload.as_object().unwrap().clone();
        check(&mut payload, &QueryLimits::default()).map(|()| payload)
    }

    #[test]
    fn no_role_is_the_public_one() {
        let payload = checked(json!({"role": null})).unwrap();
        assert_eq!(payload.get("role"), Some(&json!("00000000-0000-0000-0000-000000000000")));
        assert!(checked(json!({"action": "read"})).unwrap().get("role").is_none());
    }

    #[test]
    fn rules_nobody_understands_are_refused() {
        for payload in [
            json!({"action": "explode"}),
            json!({"permissions": {"a": {"_about": 1}}}),
            json!({"validation": {"_and": [{"a": {"b": {"_eqq": 1}}}]}}),
            json!({"permissions": {"_or": {"a": 1}}}),
            json!({"permissions": [1]}),
            json!({"presets": [1]}),
        ] {
            assert!(checked(payload.clone()).is_err(), "{payload}");
        }
        for payload in [
            json!({"action": "share", "permissions": {}, "validation": null, "presets": {"a": 1}}),
            json!({"permissions": {"a": {"_in": []}}}),
            json!({"permissions": {"_and": [{"a": {"_some": {"b": {"_eq": "$CURRENT_USER"}}}}]}}),
            json!({"validation": {"a": {"_submitted": true}, "b": {"_regex": "^x"}}}),
            json!({"permissions": "{\"a\":{\"_eq\":1}}"}),
        ] {
            assert!(checked(payload.clone()).is_ok(), "{payload}");
        }
    }
}
