//! `export=` on answers that were made as an envelope. Lists of items don't come here: their route
//! exports them in parts.

use actix_web::{
    Error, HttpMessage, ResponseError,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::Next,
};
use waymark_core::query::ast::ExportFormat;

use crate::respond::{Failure, envelope::Enveloped, export};

/// Wraps every request.
///
/// # Errors
/// As the inner services.
pub async fn export(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let response = next.call(request).await?.map_into_boxed_body();
    let format = response.request().extensions().get::<ExportFormat>().copied();
    let Some(format) = format.filter(|_| response.response().extensions().contains::<Enveloped>()) else {
        return Ok(response);
    };
    let (request, response) = response.into_parts();
    let Ok(body) = response.into_body().try_into_bytes() else {
        let failure = Failure::from(waymark_core::Error::internal("an envelope that is not in memory"));
        return Ok(ServiceResponse::new(request, failure.error_response()));
    };
    let file = export::enveloped(format, &export::collection_of(request.path()), &body);
    let file = file.unwrap_or_else(|error| Failure::from(error).error_response());
    Ok(ServiceResponse::new(request, file))
}
