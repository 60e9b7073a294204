//! Who may come in, and for how long: logging in, sessions, tokens, and how soon changes of rights act.

mod login;
mod rights;
mod sessions;

use serde_json::{Value, json};
use waymark_tests::{Client, Server, scene::User};

/// Logs in and gives `data` of the answer: both tokens.
async fn tokens(server: &Server, user: &User) -> Value {
    let login = json!({ "email": user.email, "password": user.password });
    server.client().must_post("/auth/login", login).await
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

/// A caller with the access token of such an answer.
fn caller(server: &Server, tokens: &Value) -> Client {
    server.client().with_token(text(&tokens["access_token"]))
}
