//! Row filters: on lists, single items, relations, counts and writes.

use serde_json::{Value, json};
use waymark_tests::{Server, each_engine};

use super::{names, nurse, scene};

each_engine! {
    async fn a_row_filter_over_a_relation_and_the_caller_holds_everywhere(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, user, nurse) = nurse(&server, &admin).await;
        assert_eq!(admin.patch("/items/clinics/1", json!({ "head": user })).await.0, 200);
        let mine = json!({ "permissions": { "clinic": { "head": { "_eq": "$CURRENT_USER" } } } });
        for action in ["read", "update", "delete"] {
            admin.permit(Some(&role), "patients", action, mine.clone()).await;
        }
        assert_eq!(names(&nurse, "/items/patients?sort=name").await, ["Ida", "Kim"]);
        assert_eq!(names(&nurse, "/items/patients?filter[age][_gt]=35").await, ["Kim"]);
        assert_eq!(nurse.get("/items/patients?aggregate[count]=*&aggregate[sum]=age").await.1["data"], json!([{ "count": 2, "sum": { "age": 80 } }]));
        assert_eq!(nurse.get("/items/patients?groupBy=name&sort=name").await.1["data"], json!([{ "name": "Ida" }, { "name": "Kim" }]));
        for (method, path, body) in [
            ("GET", "/items/patients/2", Value::Null), ("PATCH", "/items/patients/2", json!({ "age": 1 })), ("DELETE", "/items/patients/2", Value::Null),
            ("PATCH", "/items/patients", json!({ "keys": [1, 2], "data": { "age": 1 } })), ("PATCH", "/items/patients", json!([{ "id": 1, "age": 1 }, { "id": 2, "age": 1 }])),
            ("DELETE", "/items/patients", json!([1, 2])), ("DELETE", "/items/patients/99", Value::Null),
        ] {
            let answer = nurse.request(method, path, (!body.is_null()).then_some(body)).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{method} {path}: {}", answer.body);
        }
        assert_eq!(admin.get("/items/patients?aggregate[sum]=age").await.1["data"][0]["sum"]["age"], json!(120));
        assert_eq!(nurse.patch("/items/patients/3", json!({ "age": 51 })).await.0, 200);
        assert_eq!(nurse.delete("/items/patients/3", Value::Null).await.0, 204);
        assert_eq!(names(&admin, "/items/patients?sort=name").await, ["Ida", "Jon"]);
    }

    async fn a_related_row_that_is_hidden_is_absent(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "clinics", "read", json!({ "permissions": { "budget": { "_lt": 50 } } })).await;
        admin.permit(Some(&role), "patients", "read", json!({})).await;
        let (_, body) = nurse.get("/items/patients?fields=name,clinic.name&sort=id").await;
        assert_eq!(body["data"][0], json!({ "name": "Ida", "clinic": { "name": "North" } }), "{body}");
        assert_eq!(body["data"][1], json!({ "name": "Jon", "clinic": null }), "{body}");
        assert_eq!(names(&nurse, "/items/patients?filter[clinic][name][_eq]=South").await, Vec::<String>::new());
        assert_eq!(names(&nurse, "/items/patients?sort=clinic.name,name").await, ["Ida", "Kim", "Jon"]);
        let (_, body) = nurse.get("/items/clinics?fields=name,patients.name").await;
        assert_eq!(body["data"].as_array().map(Vec::len), Some(1), "{body}");
    }

    async fn hidden_children_neither_match_nor_show(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "clinics", "read", json!({})).await;
        admin.permit(Some(&role), "patients", "read", json!({ "permissions": { "age": { "_lte": 30 } } })).await;
        assert_eq!(names(&nurse, "/items/clinics?filter[patients][name][_eq]=Jon").await, Vec::<String>::new());
        assert_eq!(names(&nurse, "/items/clinics?filter[patients][_none][name][_eq]=Jon&sort=name").await, ["North", "South"]);
        assert_eq!(names(&nurse, "/items/clinics?filter[count(patients)][_gte]=1").await, ["North"]);
        let (_, body) = nurse.get("/items/clinics?fields=patients.name,name&sort=name").await;
        assert_eq!(body["data"], json!([{ "patients": [{ "name": "Ida" }], "name": "North" }, { "patients": [], "name": "South" }]));
        assert_eq!(nurse.get("/items/clinics?fields=patients&sort=name").await.1["data"], json!([{ "patients": [1] }, { "patients": [] }]));
    }

    async fn an_empty_list_in_a_rule_matches_nothing(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        for action in ["read", "update", "delete"] {
            admin.permit(Some(&role), "patients", action, json!({ "permissions": { "id": { "_in": [] } } })).await;
        }
        assert_eq!(names(&nurse, "/items/patients").await, Vec::<String>::new());
        assert_eq!(nurse.get("/items/patients/1").await.0, 403);
        assert_eq!(nurse.patch("/items/patients/1", json!({ "age": 1 })).await.0, 403);
        assert_eq!(nurse.delete("/items/patients/1", Value::Null).await.0, 403);
    }

    async fn a_query_can_only_narrow_a_rule(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "patients", "read", json!({ "permissions": { "_or": [{ "name": { "_eq": "Ida" } }, { "name": { "_eq": "Kim" } }] } })).await;
        for query in ["filter[_or][0][name][_eq]=Jon&filter[_or][1][name][_eq]=Kim", "filter[name][_in]=Jon,Kim", "search=kim", "filter[_or][0][name][_nnull]=true&filter[age][_gt]=30"] {
            assert_eq!(names(&nurse, &format!("/items/patients?{query}")).await, ["Kim"], "{query}");
        }
    }
}
