//! A field that may not be read can't be named anywhere.

use serde_json::json;
use waymark_tests::{Server, each_engine};

use super::{nurse, scene};

each_engine! {
    async fn an_unreadable_field_is_refused_wherever_it_stands(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "patients", "read", json!({ "fields": ["id", "name", "age", "clinic"] })).await;
        admin.permit(Some(&role), "clinics", "read", json!({ "fields": ["id", "name", "patients"] })).await;
        for query in [
            "/items/patients?fields=diagnosis", "/items/patients?fields=name,diagnosis", "/items/patients/1?fields=diagnosis",
            "/items/patients?filter[diagnosis][_eq]=flu", "/items/patients?filter[_or][0][diagnosis][_null]=true",
            "/items/patients?filter[_and][0][_or][0][diagnosis][_contains]=f", "/items/patients?sort=diagnosis", "/items/patients?sort=name,-diagnosis",
            "/items/patients?groupBy=diagnosis", "/items/patients?groupBy=diagnosis&aggregate[count]=*", "/items/patients?aggregate[count]=diagnosis",
            "/items/patients?aggregate[max]=diagnosis", "/items/patients?aggregate[countDistinct]=diagnosis", "/items/patients?alias[x]=diagnosis&fields=x",
            "/items/patients?alias[name]=diagnosis&fields=name",
            "/items/clinics?fields=patients.name&deep[patients][_filter][diagnosis][_eq]=flu", "/items/clinics?fields=patients.name&deep[patients][_sort]=diagnosis",
            "/items/clinics?fields=patients.x&deep[patients][_alias][x]=diagnosis", "/items/clinics?filter[patients][diagnosis][_eq]=flu",
            "/items/clinics?filter[patients][_some][diagnosis][_eq]=flu", "/items/clinics?filter[patients][_none][diagnosis][_eq]=flu",
            "/items/clinics?fields=patients.diagnosis", "/items/patients?filter[clinic][budget][_gt]=50", "/items/patients?sort=clinic.budget",
            "/items/patients?fields=clinic.budget", "/items/patients?filter[clinic][patients][diagnosis][_eq]=flu",
        ] {
            let answer = nurse.request("GET", query, None).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{query}: {}", answer.body);
        }
        let (status, body) = nurse.get("/items/patients/1?fields=*,clinic.*").await;
        assert_eq!((status, &body["data"]), (200, &json!({ "id": 1, "name": "Ida", "age": 30, "clinic": { "id": 1, "name": "North", "patients": [1, 3] } })));
        let (status, body) = nurse.get("/items/patients?fields=*.*&meta=*&search=flu").await;
        assert_eq!((status, &body["data"], &body["meta"]["filter_count"]), (200, &json!([]), &json!(0)), "{body}");
    }

    async fn a_relation_that_may_not_be_followed_is_left_out_and_never_filtered_by(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "patients", "read", json!({ "fields": ["id", "name", "clinic"] })).await;
        let (status, body) = nurse.get("/items/patients/1?fields=name,clinic.name,clinic.budget").await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["data"]["name"], json!("Ida"));
        assert!(!body.to_string().contains("North"), "{body}");
        for query in ["filter[clinic][name][_eq]=North", "sort=clinic.name", "filter[clinic][budget][_gt]=1", "filter[clinic][patients][_some][name][_eq]=Ida"] {
            assert_eq!(nurse.get(&format!("/items/patients?{query}")).await.0, 403, "{query}");
        }
    }

    async fn a_level_of_deep_is_checked_whether_it_is_asked_for_or_not(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        admin.permit(Some(&role), "patients", "read", json!({ "fields": ["id", "name", "clinic"] })).await;
        let hidden = "deep[clinic][_filter][budget][_gt]=1";
        let path = |fields: &str, deep: &str| format!("/items/patients?fields={fields}&{deep}");
        // The clinics themselves are not readable: their level is ignored.
        assert_eq!(nurse.get(&path("name,clinic.name", hidden)).await.0, 200);
        admin.permit(Some(&role), "clinics", "read", json!({ "fields": ["id", "name", "patients"] })).await;
        for deep in [hidden, "deep[clinic][_sort]=budget", "deep[clinic][patients][_filter][diagnosis][_eq]=flu"] {
            for fields in ["name,clinic.name", "name,clinic", "name"] {
                assert_eq!(nurse.get(&path(fields, deep)).await.0, 403, "{fields} {deep}");
            }
        }
        for deep in ["deep[clinic][_filter][name][_eq]=North", "deep[nothing][_filter][x][_eq]=1", "deep[name][_filter][x][_eq]=1"] {
            assert_eq!(nurse.get(&path("name", deep)).await.0, 200, "{deep}");
        }
    }

    async fn field_lists_bind_writes_as_well(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let (role, _, nurse) = nurse(&server, &admin).await;
        for action in ["create", "update"] {
            admin.permit(Some(&role), "patients", action, json!({ "fields": ["name", "clinic"] })).await;
        }
        admin.permit(Some(&role), "patients", "read", json!({ "fields": ["id", "name"] })).await;
        let made = nurse.must_post("/items/patients", json!({ "name": "Lea" })).await;
        assert_eq!(made, json!({ "id": 4, "name": "Lea" }));
        for (method, path, body) in [
            ("POST", "/items/patients", json!({ "name": "x", "diagnosis": "y" })),
            ("POST", "/items/patients", json!([{ "name": "x" }, { "name": "y", "age": 1 }])),
            ("PATCH", "/items/patients/1", json!({ "diagnosis": null })),
            ("PATCH", "/items/patients", json!({ "keys": [1], "data": { "age": 1 } })),
            ("PATCH", "/items/patients", json!({ "query": { "filter": { "diagnosis": { "_eq": "flu" } } }, "data": { "name": "sick" } })),
            ("PATCH", "/items/patients/1", json!({ "clinic": { "id": 1, "budget": 5 } })),
            ("POST", "/items/patients", json!({ "name": "x", "clinic": { "name": "Mine" } })),
            ("DELETE", "/items/patients/1", json!({})),
        ] {
            let answer = nurse.request(method, path, Some(body.clone())).await;
            assert_eq!((answer.status, answer.codes()), (403, vec!["FORBIDDEN"]), "{method} {path} {body}: {}", answer.body);
        }
        let (_, body) = admin.get("/items/patients?fields=name,age,diagnosis&sort=id").await;
        assert_eq!(body["data"].as_array().map(Vec::len), Some(4), "{body}");
        assert_eq!(body["data"][0], json!({ "name": "Ida", "age": 30, "diagnosis": "flu" }));
        assert_eq!(admin.get("/items/clinics?aggregate[count]=*").await.1["data"][0]["count"], json!(2));
    }
}
