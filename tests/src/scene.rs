//! Setting the scene as an admin does it: collections, roles, users, permissions, items. Each call
//! must succeed.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::Client;

/// A user made for a test.
#[derive(Clone, Debug)]
pub struct User {
    pub id: String,
    pub email: String,
    pub password: String,
}

impl Client {
    /// Posts and gives `data` of the answer.
    ///
    /// # Panics
    /// When the answer is not 200.
    pub async fn must_post(&self, path: &str, body: Value) -> Value {
        let (status, mut answer) = self.post(path, body).await;
        assert_eq!(status, 200, "POST {path}: {answer}");
        answer["data"].take()
    }

    /// Makes a collection with an automatic integer key `id` and these fields beside it, each as
    /// `POST /collections` takes them.
    ///
    /// # Panics
    /// As [`Client::must_post`].
    pub async fn create_collection(&self, name: &str, fields: Value) {
        let mut all = vec![json!({
            "field": "id",
            "type": "integer",
            "schema": { "is_primary_key": true, "has_auto_increment": true },
            "meta": { "hidden": true },
        })];
        all.extend(fields.as_array().cloned().unwrap_or_default());
        self.must_post("/collections", json!({ "collection": name, "schema": {}, "meta": {}, "fields": all })).await;
    }

    /// Makes a role without admin rights; gives its id.
    ///
    /// # Panics
    /// As [`Client::must_post`].
    pub async fn create_role(&self, name: &str, app_access: bool) -> String {
        let role = json!({ "name": name, "admin_access": false, "app_access": app_access });
        text(&self.must_post("/roles", role).await["id"])
    }

    /// Makes an active user with a role.
    ///
    /// # Panics
    /// As [`Client::must_post`].
    pub async fn create_user(&self, role: Option<&str>) -> User {
        let email = format!("{}@example.com", Uuid::new_v4().simple());
        let password = "correct horse".to_owned();
        let user = json!({ "email": email, "password": password, "role": role, "status": "active" });
        let id = text(&self.must_post("/users", user).await["id"]);
        User { id, email, password }
    }

    /// Lets a role (`None`: the public) do something. `rule` holds `fields`, `permissions`,
    /// `validation`, `presets` as far as they differ from "everything".
    ///
    /// # Panics
    /// As [`Client::must_post`].
    pub async fn permit(&self, role: Option<&str>, collection: &str, action: &str, rule: Value) {
        let mut row = json!({
            "role": role,
            "collection": collection,
            "action": action,
            "fields": ["*"],
            "permissions": {},
        });
        if let (Some(row), Value::Object(rule)) = (row.as_object_mut(), rule) {
            row.extend(rule);
        }
        self.must_post("/permissions", row).await;
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}
