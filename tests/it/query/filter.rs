//! Filters: every family of operators, functions, logic, relations.

use waymark_tests::{Server, each_engine};

use super::{ids, scene};

each_engine! {
    async fn operators_find_what_they_say(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (filter, found) in [
            ("[name][_eq]=Mur", &[1][..]),
            ("[name][_eq]=mur", &[]),
            ("[name]=Mur", &[1]),
            ("[name][_neq]=Mur", &[2, 3, 4, 5, 6, 8]),
            ("[name][_ieq]=mUR", &[1]),
            ("[name][_in]=Mur,axb", &[1, 5]),
            ("[name][_nin]=Mur,axb", &[2, 3, 4, 6, 8]),
            ("[length][_lt]=12", &[3, 6]),
            ("[length][_lte]=12", &[3, 5, 6]),
            ("[length][_gt]=98", &[1]),
            ("[length][_gte]=98", &[1, 2, 7]),
            ("[length][_between]=7,50", &[3, 5, 8]),
            ("[length][_nbetween]=7,100", &[1, 6]),
            ("[flow][_eq]=21.5", &[2]),
            ("[flow][_gt]=0.50", &[1, 2]),
            ("[mapped][_lt]=2001-01-01", &[1]),
            ("[mapped][_between][]=2001-01-01&filter[mapped][_between][]=2001-12-31", &[2, 4]),
            ("[salty][_eq]=true", &[3]),
            ("[salty][_neq]=true", &[1, 2]),
            ("[name][_contains]=ur", &[1]),
            ("[name][_contains]=UR", &[]),
            ("[name][_icontains]=UR", &[1]),
            ("[name][_ncontains]=b", &[1, 2, 3, 6]),
            ("[name][_starts_with]=a", &[4, 5]),
            ("[name][_nstarts_with]=a", &[1, 2, 3, 6, 8]),
            ("[name][_ends_with]=b", &[4, 5]),
            ("[name][_istarts_with]=A", &[4, 5]),
            ("[name][_iends_with]=B", &[4, 5]),
            ("[name][_nends_with]=b", &[1, 2, 3, 6, 8]),
            ("[name][_null]=true", &[7]),
            ("[name][_null]=false", &[1, 2, 3, 4, 5, 6, 8]),
            ("[name][_nnull]=false", &[7]),
            ("[name][_empty]=true", &[6, 7]),
            ("[name][_empty]=false", &[1, 2, 3, 4, 5, 8]),
            ("[name][_nempty]=true", &[1, 2, 3, 4, 5, 8]),
            ("[length][_null]=true", &[4]),
        ] {
            assert_eq!(ids(&admin, &format!("filter{filter}&sort=id")).await, found, "{filter}");
        }
    }

    async fn wildcards_of_like_are_plain_text(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (filter, found) in [
            ("[name][_contains]=%25", &[3][..]),
            ("[name][_icontains]=_", &[4]),
            ("[name][_starts_with]=a_", &[4]),
            ("[name][_ends_with]=_b", &[4]),
            ("[name][_contains]=%5C", &[8]),
            ("[name][_contains]=k%5Cs", &[8]),
            ("[name][_ends_with]=%25", &[3]),
            ("[name][_ncontains]=%25", &[1, 2, 4, 5, 6, 8]),
        ] {
            assert_eq!(ids(&admin, &format!("filter{filter}&sort=id")).await, found, "{filter}");
        }
    }

    async fn functions_logic_and_relations_combine(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (filter, found) in [
            ("[year(mapped)][_eq]=2001", &[2, 4][..]),
            ("[month(mapped)][_in]=5,12", &[1, 2]),
            ("[weekday(mapped)][_eq]=4", &[1]),
            ("[_or][0][length][_eq]=7&filter[_or][1][name][_eq]=Mur", &[1, 3]),
            ("[_and][0][length][_gt]=7&filter[_and][1][length][_lt]=98", &[5, 8]),
            ("[_and][0][_or][0][length][_eq]=7&filter[_and][0][_or][1][length][_eq]=98&filter[_and][1][salty][_eq]=true", &[3]),
            ("[length][_gt]=7&filter[length][_lt]=98", &[5, 8]),
            ("[lake][name][_eq]=Deep", &[1, 2]),
            ("[lake][depth][_lt]=100", &[3, 4]),
            ("[lake][_null]=true", &[5, 6, 7, 8]),
            ("[lake][_eq]=2", &[3, 4]),
            ("[lake][rivers][name][_eq]=Mur", &[1, 2]),
            ("[lake][_or][0][name][_eq]=Deep&filter[lake][_or][1][depth][_eq]=3", &[1, 2, 3, 4]),
        ] {
            assert_eq!(ids(&admin, &format!("filter{filter}&sort=id")).await, found, "{filter}");
        }
        for (filter, found) in [
            ("[rivers][_some][length][_gt]=400", &["Deep"][..]),
            ("[rivers][_none][length][_gt]=400", &["Dry", "Flat"]),
            ("[rivers][length][_gt]=5", &["Deep", "Flat"]),
            ("[rivers][name][_eq]=Mur&filter[rivers][length][_eq]=98", &[]),
            ("[rivers][_null]=true", &["Dry"]),
            ("[count(rivers)][_eq]=2", &["Deep", "Flat"]),
            ("[count(rivers)][_lt]=1", &["Dry"]),
        ] {
            let (status, body) = admin.get(&format!("/items/lakes?fields=name&sort=name&filter{filter}")).await;
            assert_eq!(status, 200, "{filter}: {body}");
            let names: Vec<&str> = body["data"].as_array().expect("a list").iter().filter_map(|row| row["name"].as_str()).collect();
            assert_eq!(names, found, "{filter}");
        }
    }

    async fn an_unset_variable_matches_nobody(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        admin.must_post("/fields/rivers", serde_json::json!({ "field": "keeper", "type": "uuid" })).await;
        admin.permit(None, "rivers", "read", serde_json::json!({ "permissions": { "keeper": { "_eq": "$CURRENT_USER" } } })).await;
        assert_eq!(ids(&server.client(), "").await, Vec::<i64>::new());
    }

    async fn nothing_equals_null_and_what_is_set_differs_from_it(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        for (filter, found) in [
            ("[length][_eq]=null", &[][..]),
            ("[length][_neq]=null", &[1, 2, 3, 5, 6, 7, 8]),
            ("[lake][_eq]=null", &[]),
            ("[lake][name][_eq]=null", &[]),
        ] {
            assert_eq!(ids(&admin, &format!("filter{filter}&sort=id")).await, found, "{filter}");
        }
        let (_, body) = admin.search("/items/lakes", serde_json::json!({ "fields": ["name"], "filter": { "rivers": { "_eq": null } } })).await;
        assert_eq!(body["data"], serde_json::json!([]), "{body}");
    }

    async fn conditions_on_one_list_speak_of_the_same_row_whatever_stands_between(kind) {
        let server = Server::start(kind).await;
        let admin = server.admin().await;
        scene(&admin).await;
        let name = serde_json::json!({ "name": { "_eq": "Mur" } });
        let short = serde_json::json!({ "length": { "_lt": 100 } });
        for empty in [serde_json::json!({}), serde_json::json!({ "_or": [] }), serde_json::json!({ "_or": [{}, short] })] {
            let nested = serde_json::json!({ "_and": [{ "_and": [name, empty] }, { "_or": [short, { "_and": [short, empty] }] }] });
            let (status, body) = admin.search("/items/lakes", serde_json::json!({ "filter": { "rivers": nested } })).await;
            assert_eq!((status, &body["data"]), (200, &serde_json::json!([])), "{empty}: {body}");
        }
        // Beside them an operator on the list itself.
        let filter = serde_json::json!({ "rivers": { "_and": [{ "_nnull": true }, { "_and": [name, { "_and": [short] }] }] } });
        let (_, body) = admin.search("/items/lakes", serde_json::json!({ "filter": filter })).await;
        assert_eq!(body["data"], serde_json::json!([]), "{body}");
    }
}
