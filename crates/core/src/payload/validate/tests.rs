//! Operators, their answers, and required columns.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::{Occasion, check_rule, validate};
use crate::schema::{Collection, Column, Field, FieldType, SpecialSet, TableInfo};

fn field(name: &str, kind: FieldType, column: Column) -> Field {
    Field {
        name: name.into(),
        kind,
        special: SpecialSet::default(),
        column: Some(column),
        validation: None,
        validation_message: None,
        meta: None,
    }
}

fn collection() -> Collection {
    let nullable = || Column { nullable: true, ..Column::default() };
    let key = Column { primary_key: true, auto_increment: true, ..Column::default() };
    let fields = [
        field("id", FieldType::Integer, key),
        field("title", FieldType::String, nullable()),
        field("pages", FieldType::Integer, nullable()),
        field("day", FieldType::Date, nullable()),
        field("flag", FieldType::Boolean, nullable()),
        field("tags", FieldType::Csv, nullable()),
    ];
    Collection {
        name: "books".into(),
        primary: "id".into(),
        fields: fields.into_iter().map(|field| (field.name.clone(), field)).collect(),
        singleton: false,
        accountability: crate::schema::Accountability::All,
        sort_field: None,
        system: false,
        meta: None,
        table: TableInfo::default(),
        links: IndexMap::new(),
    }
}

/// The extensions of every problem, without the code.
fn outcome(collection: &Collection, occasion: Occasion, rule: &Value, row: &Value) -> Value {
    match validate(collection, occasion, Some(rule), &Value::clone, row.as_object().unwrap()) {
        Ok(()) => json!([]),
        Err(error) => error.problems().map(|problem| Value::Object(problem.extensions.clone())).collect(),
    }
}

#[track_caller]
fn check(rule: Value, row: Value, expected: Value) {
    assert_eq!(outcome(&collection(), Occasion::Create, &rule, &row), expected, "{rule} {row}");
}

#[test]
fn equality_and_lists() {
    check(json!({"title": {"_eq": "A"}}), json!({"title": "A"}), json!([]));
    check(json!({"title": {"_eq": "A"}}), json!({}), json!([]));
    check(json!({"title": {"_eq": "A"}}), json!({"title": null}), json!([{"field":"title","type":"eq","valid":"A"}]));
    check(json!({"pages": {"_eq": 5}}), json!({"pages": "5"}), json!([]));
    let answer = json!([{"field":"pages","type":"in","valid":["5",5]}]);
    check(json!({"pages": {"_eq": "5"}}), json!({"pages": 6}), answer);
    check(
        json!({"title": {"_neq": "A"}}),
        json!({"title": "A"}),
        json!([{"field":"title","type":"neq","invalid":"A"}]),
    );
    let answer = json!([{"field":"title","type":"in","valid":["A","B"]}]);
    check(json!({"title": {"_in": ["A", "B"]}}), json!({"title": "C"}), answer);
    check(json!({"title": {"_in": ["A"]}}), json!({"title": "C"}), json!([{"field":"title","type":"eq","valid":"A"}]));
    check(json!({"title": {"_in": []}}), json!({"title": "C"}), json!([{"field":"title","type":"in","valid":[]}]));
    check(json!({"title": {"_nin": []}}), json!({"title": "C"}), json!([]));
    let answer = json!([{"field":"title","type":"nin","invalid":["A","B"]}]);
    check(json!({"title": {"_nin": ["A", "B"]}}), json!({"title": "B"}), answer);
}

#[test]
fn a_rule_sees_what_will_be_stored() {
    let answer = json!([{"field":"pages","type":"nin","invalid":[1]}]);
    check(json!({"pages": {"_nin": [1]}}), json!({"pages": "1"}), answer);
    let answer = json!([{"field":"flag","type":"neq","invalid":true}]);
    check(json!({"flag": {"_neq": true}}), json!({"flag": "1"}), answer);
}

#[test]
fn null_and_empty() {
    check(json!({"title": {"_nnull": true}}), json!({"title": null}), json!([{"field":"title","type":"nnull"}]));
    check(json!({"title": {"_null": false}}), json!({"title": null}), json!([{"field":"title","type":"nnull"}]));
    check(json!({"title": {"_null": true}}), json!({"title": "x"}), json!([{"field":"title","type":"null"}]));
    check(json!({"title": {"_empty": true}}), json!({"title": "x"}), json!([{"field":"title","type":"empty"}]));
    check(json!({"title": {"_nempty": true}}), json!({"title": ""}), json!([{"field":"title","type":"nempty"}]));
    check(json!({"title": {"_submitted": true}}), json!({}), json!([{"field":"title","type":"required"}]));
}

#[test]
fn order_of_numbers_and_dates() {
    check(json!({"pages": {"_gt": 10}}), json!({"pages": 10}), json!([{"field":"pages","type":"gt","valid":10}]));
    check(json!({"pages": {"_gte": 10}}), json!({"pages": 10}), json!([]));
    let rule = json!({"pages": {"_between": [3, 7]}});
    check(rule.clone(), json!({"pages": 2}), json!([{"field":"pages","type":"gte","valid":3}]));
    check(rule.clone(), json!({"pages": 8}), json!([{"field":"pages","type":"lte","valid":7}]));
    check(rule, json!({"pages": null}), json!([{"field":"pages"}]));
    check(json!({"pages": {"_nbetween": [3, 7]}}), json!({"pages": 8}), json!([]));
    let answer = json!([{"field":"day","type":"gt","valid":"2020-01-01"}]);
    check(json!({"day": {"_gt": "2020-01-01"}}), json!({"day": "2019-12-31"}), answer);
    check(json!({"day": {"_gt": "2020-01-01"}}), json!({"day": "2021-05-05"}), json!([]));
    let answer = json!([{"field":"day","type":"eq","valid":2020}]);
    check(json!({"year(day)": {"_eq": 2020}}), json!({"day": "2021-05-05"}), answer);
}

#[test]
fn texts() {
    let answer = json!([{"field":"title","type":"contains","substring":"lmn"}]);
    check(json!({"title": {"_contains": "lmn"}}), json!({"title": "LMN"}), answer);
    check(json!({"title": {"_icontains": "lmn"}}), json!({"title": "xLMNx"}), json!([]));
    let answer = json!([{"field":"title","type":"ncontains","substring":"lmn"}]);
    check(json!({"title": {"_ncontains": "lmn"}}), json!({"title": "almnb"}), answer);
    check(json!({"title": {"_starts_with": "Pre"}}), json!({"title": "prefix"}), json!([{"field":"title"}]));
    check(json!({"title": {"_nends_with": "ing"}}), json!({"title": "ring"}), json!([{"field":"title"}]));
    let answer = json!([{"field":"title","type":"regex","invalid":"bad"}]);
    check(json!({"title": {"_regex": "^[A-Z]"}}), json!({"title": "bad"}), answer);
    check(json!({"tags": {"_contains": "a"}}), json!({"tags": ["a", "b"]}), json!([]));
}

#[test]
fn logic() {
    let rule = json!({"_or": [{"title": {"_eq": "A"}}, {"pages": {"_eq": 1}}]});
    check(rule.clone(), json!({"title": "A", "pages": 2}), json!([]));
    let both = json!([{"field":"title","type":"eq","valid":"A"},{"field":"pages","type":"eq","valid":1}]);
    check(rule, json!({"title": "B", "pages": 2}), both.clone());
    let rule = json!({"_and": [{"title": {"_eq": "A"}}, {"pages": {"_eq": 1}}]});
    check(rule, json!({"title": "B", "pages": 2}), both);
}

#[test]
fn required_columns() {
    let mut books = collection();
    let strict = Column { nullable: false, ..Column::default() };
    books.fields.insert("code".into(), field("code", FieldType::String, strict.clone()));
    let with_default = Column { has_default: true, ..strict };
    books.fields.insert("rank".into(), field("rank", FieldType::Integer, with_default));
    let none = json!({});
    let on = |occasion, row: Value| outcome(&books, occasion, &none, &row);
    assert_eq!(on(Occasion::Create, json!({})), json!([{"field":"code","type":"required"}]));
    assert_eq!(on(Occasion::Create, json!({"code": null})), json!([{"field":"code","type":"nnull"}]));
    assert_eq!(on(Occasion::Create, json!({"code": "", "id": null})), json!([]));
    assert_eq!(on(Occasion::Update, json!({})), json!([]));
    assert_eq!(on(Occasion::Update, json!({"rank": null})), json!([{"field":"rank","type":"nnull"}]));
}

#[test]
fn field_rules_bring_their_message() {
    let mut books = collection();
    let mut title = field("title", FieldType::String, Column { nullable: true, ..Column::default() });
    title.validation = Some(json!({"_and": [{"title": {"_regex": "^[A-Z]"}}]}));
    title.validation_message = Some("capital first".to_owned());
    books.fields.insert("title".into(), title);
    let row = json!({"title": "bad"});
    let error = validate(&books, Occasion::Update, None, &Value::clone, row.as_object().unwrap()).unwrap_err();
    assert_eq!(error.problems().next().unwrap().message, "capital first");
}

#[test]
fn saved_rules_are_checked() {
    for good in [json!(null), json!({}), json!({"_and": [{"a": {"_in": [1]}}]}), json!({"a": {"b": {"_eq": 1}}})] {
        assert!(check_rule(&good).is_ok(), "{good}");
    }
    for bad in
        [json!(5), json!({"a": {"_like": 1}}), json!({"_or": {}}), json!({"a": {"_regex": "("}}), json!({"a": []})]
    {
        assert!(check_rule(&bad).is_err(), "{bad}");
    }
}
