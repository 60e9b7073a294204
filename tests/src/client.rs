//! An HTTP client of one server, with or without a token. Paths carry their own query string.

use std::time::Duration;

use reqwest::{Method, header::HeaderMap};
use serde_json::{Value, json};

/// Asks one server as one caller.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// What a server answered. The body is `Null` when empty and a string when not JSON.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Value,
}

impl Answer {
    /// The codes of an error answer.
    #[must_use]
    pub fn codes(&self) -> Vec<&str> {
        let errors = self.body.get("errors").and_then(Value::as_array);
        errors.into_iter().flatten().filter_map(|error| error["extensions"]["code"].as_str()).collect()
    }
}

impl Client {
    /// A caller without credentials.
    ///
    /// # Panics
    /// When the HTTP client can't be built.
    #[must_use]
    pub fn new(base: &str) -> Self {
        // The server closes connections that are idle for longer than it says (5 s): no request is sent into
        // one that is about to go.
        let http = reqwest::Client::builder()
            .timeout(Duration::from_mins(2))
            .pool_idle_timeout(Duration::from_secs(2))
            .build()
            .expect("an HTTP client");
        Self { http, base: base.to_owned(), token: None }
    }

    /// The same client with a token.
    #[must_use]
    pub fn with_token(&self, token: impl Into<String>) -> Self {
        Self { token: Some(token.into()), ..self.clone() }
    }

    /// Logs in.
    ///
    /// # Panics
    /// When the credentials are refused.
    pub async fn login(&self, email: &str, password: &str) -> Self {
        let (status, body) = self.post("/auth/login", json!({ "email": email, "password": password })).await;
        assert_eq!(status, 200, "log-in of {email}: {body}");
        self.with_token(body["data"]["access_token"].as_str().expect("an access token"))
    }

    /// Sends any request.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn request(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let body = body.map(|body| ("application/json", body.to_string().into_bytes()));
        self.raw(method, path, body).await
    }

    /// Sends bytes of any kind: content type and body.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn raw(&self, method: &str, path: &str, body: Option<(&str, Vec<u8>)>) -> Answer {
        self.attempt(method, path, body).await.expect("an answer")
    }

    /// The same for a server that may go away meanwhile.
    ///
    /// # Errors
    /// When there is no whole answer.
    ///
    /// # Panics
    /// When the method is none.
    pub async fn attempt(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, Vec<u8>)>,
    ) -> Result<Answer, reqwest::Error> {
        let method = Method::from_bytes(method.as_bytes()).expect("a method");
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some((kind, body)) = body {
            request = request.header("content-type", kind).body(body);
        }
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await?;
        let body = match text.as_str() {
            "" => Value::Null,
            text => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        };
        Ok(Answer { status, headers, body })
    }

    pub async fn get(&self, path: &str) -> (u16, Value) {
        short(self.request("GET", path, None).await)
    }

    pub async fn post(&self, path: &str, body: Value) -> (u16, Value) {
        short(self.request("POST", path, Some(body)).await)
    }

    pub async fn patch(&self, path: &str, body: Value) -> (u16, Value) {
        short(self.request("PATCH", path, Some(body)).await)
    }

    /// `body` is `Null` for a request without one.
    pub async fn delete(&self, path: &str, body: Value) -> (u16, Value) {
        short(self.request("DELETE", path, (!body.is_null()).then_some(body)).await)
    }

    pub async fn search(&self, path: &str, query: Value) -> (u16, Value) {
        short(self.request("SEARCH", path, Some(json!({ "query": query }))).await)
    }
}

fn short(answer: Answer) -> (u16, Value) {
    (answer.status, answer.body)
}
