//! Presets, validation and what a write may answer.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{names, nurse, scene};

each_engine! {
    async fn presets_fill_what_the_caller_leaves_out(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, user, nurse) = nurse(&server, &admin).await;
        let presets = json!({ "doctor": "$CURRENT_USER", "age": 18, "diagnosis": "open" });
        admin.permit(Some(&role), "patients", "create", json!({ "fields": ["name", "age"], "presets": presets })).await;
        admin.permit(Some(&role), "patients", "read", json!({})).await;
        let made = nurse.must_post("/items/patients", json!({ "name": "Lea", "age": 70 })).await;
        assert_eq!((&made["doctor"], &made["age"], &made["diagnosis"]), (&json!(user), &json!(70), &json!("open")));
        let made = nurse.must_post("/items/patients", json!({ "name": "Max" })).await;
        assert_eq!(made["age"], json!(18));
    }

    async fn validation_names_the_field_and_nothing_is_written(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        let rule = json!({ "_and": [{ "age": { "_gte": 0 } }, { "age": { "_lt": 150 } }, { "name": { "_nempty": true } }] });
        for action in ["create", "update"] {
            admin.permit(Some(&role), "patients", action, json!({ "validation": rule })).await;
        }
        admin.permit(Some(&role), "patients", "read", json!({})).await;
        for (method, path, body) in [
            ("POST", "/items/patients", json!({ "name": "x", "age": 150 })),
            ("POST", "/items/patients", json!({ "name": "x", "age": -1 })),
            ("POST", "/items/patients", json!([{ "name": "x", "age": 1 }, { "name": "y", "age": 200 }])),
            ("PATCH", "/items/patients/1", json!({ "age": 151 })),
            ("PATCH", "/items/patients", json!({ "keys": [1, 2], "data": { "age": 151 } })),
        ] {
            let answer = nurse.request(method, path, Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes().first().copied()), (400, Some("FAILED_VALIDATION")), "{method} {path} {body}: {}", answer.body);
            assert_eq!(answer.body["errors"][0]["extensions"]["field"], json!("age"), "{body}: {}", answer.body);
        }
        assert_eq!(names(&admin, "/items/patients?sort=id").await, ["Ida", "Jon", "Kim"]);
        assert_eq!(nurse.patch("/items/patients/1", json!({ "age": 31 })).await.0, 200);
    }

    async fn a_write_without_the_right_to_read_answers_nothing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "patients", "create", json!({})).await;
        assert_eq!(nurse.post("/items/patients", json!({ "name": "Lea" })).await, (204, Value::Null));
        assert_eq!(names(&admin, "/items/patients?filter[name][_eq]=Lea").await, ["Lea"]);
    }

    async fn nested_writes_need_the_right_on_every_level(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        for action in ["create", "read", "update"] {
            admin.permit(Some(&role), "clinics", action, json!({})).await;
        }
        for patients in [json!([{ "name": "New" }]), json!([]), json!([{ "id": 1, "name": "Own" }]), json!({ "create": [], "update": [], "delete": [1] })] {
            let answer = nurse.request("PATCH", "/items/clinics/1", Some(json!({ "name": "Taken", "patients": patients }))).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{patients}: {}", answer.body);
        }
        assert_eq!(names(&admin, "/items/clinics?sort=id").await, ["North", "South"]);
        assert_eq!(names(&admin, "/items/patients?filter[clinic][_eq]=1&sort=id").await, ["Ida", "Kim"]);
    }
}
