//! What is taken from a request before its route runs, in this order: body, caller, query. So the
//! errors of all three are the same on every route, known or not.

pub mod actor;
pub mod address;
pub mod body;
pub mod peer;
pub mod query;

use std::{future::Future, pin::Pin, sync::Arc};

use actix_web::{FromRequest, HttpMessage, HttpRequest, dev::Payload, http::Method, web};
use serde_json::{Map, Value};
use waymark_core::{Code, Ctx, Error, Result, actor::Actor, query::Query};

use crate::{respond::Failure, state::State};

/// A checked request: every handler takes one.
pub struct Call {
    pub state: web::Data<State>,
    pub actor: Arc<Actor>,
    /// The query of the URL.
    pub query: Query,
    /// The JSON body: an object or an array; `None` when there is none.
    pub body: Option<Value>,
    /// The client, where it can be watched.
    pub peer: Option<peer::Peer>,
}

impl Call {
    /// The context of this request: the schema of this moment and the caller's policy.
    ///
    /// # Errors
    /// When the caller's permission rows can't be read.
    pub async fn ctx(&self) -> Result<Ctx<'_>> {
        self.state.engine.context(Arc::clone(&self.actor)).await
    }

    /// Takes the body as an object; an absent body counts as `{}`.
    ///
    /// # Errors
    /// `INVALID_PAYLOAD` for an array.
    pub fn object(&mut self) -> Result<Map<String, Value>> {
        match self.body.take() {
            None => Ok(Map::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(Error::invalid_payload("The request body has to be an object.")),
        }
    }

    /// # Errors
    /// `FORBIDDEN` unless an admin asks.
    pub fn require_admin(&self) -> Result<()> {
        if self.actor.is_admin() { Ok(()) } else { Err(Error::forbidden()) }
    }
}

/// The state of the server a request came to.
///
/// # Errors
/// `INTERNAL_SERVER_ERROR` when the application was built without it.
pub fn state(request: &HttpRequest) -> Result<web::Data<State>> {
    request.app_data::<web::Data<State>>().cloned().ok_or_else(|| Error::internal("no state in the application"))
}

impl FromRequest for Call {
    type Error = Failure;
    type Future = Pin<Box<dyn Future<Output = Result<Self, Failure>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let request = request.clone();
        let payload = payload.take();
        Box::pin(async move {
            let state = state(&request)?;
            let body = body::read(&request, payload, state.settings.general.max_payload_size).await?;
            let actor = actor::of(&request, &state).await?;
            let query = query::from_url(request.query_string(), &state.engine.settings.limits)?;
            if let Some(format) = query.export
                && matches!(*request.method(), Method::GET | Method::HEAD)
            {
                request.extensions_mut().insert(format);
            }
            let peer = request.conn_data::<peer::Peer>().cloned();
            Ok(Self { state, actor, query, body, peer })
        })
    }
}

/// Answers whatever no route takes.
///
/// # Errors
/// Always `ROUTE_NOT_FOUND`, unless the request itself is wrong.
pub async fn not_found(_call: Call) -> crate::respond::Answer {
    Err(Error::new(Code::RouteNotFound).into())
}
