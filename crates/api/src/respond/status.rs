//! The HTTP status of each error code.

use actix_web::http::StatusCode;
use waymark_core::Code;

/// The status an error code is answered with.
#[must_use]
pub const fn of(code: Code) -> StatusCode {
    match code {
        Code::FailedValidation
        | Code::InvalidPayload
        | Code::InvalidQuery
        | Code::RecordNotUnique
        | Code::NotNullViolation
        | Code::ContainsNullValues
        | Code::InvalidForeignKey
        | Code::RecordStillReferenced
        | Code::ValueOutOfRange
        | Code::ValueTooLong => StatusCode::BAD_REQUEST,
        Code::InvalidCredentials | Code::InvalidOtp | Code::InvalidIp | Code::TokenExpired | Code::UserSuspended => {
            StatusCode::UNAUTHORIZED
        }
        Code::InvalidToken | Code::Forbidden => StatusCode::FORBIDDEN,
        Code::RouteNotFound => StatusCode::NOT_FOUND,
        Code::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        Code::ConcurrencyConflict => StatusCode::CONFLICT,
        Code::ContentTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Code::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Code::UnprocessableEntity => StatusCode::UNPROCESSABLE_ENTITY,
        Code::RequestsExceeded => StatusCode::TOO_MANY_REQUESTS,
        Code::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Code::ServiceUnavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_an_error_status() {
        for code in Code::ALL {
            let status = of(*code);
            assert!(status.is_client_error() || status.is_server_error(), "{}", code.name());
        }
    }

    #[test]
    fn missing_and_forbidden_look_alike_and_routes_do_not() {
        assert_eq!(of(Code::Forbidden).as_u16(), 403);
        assert_eq!(of(Code::InvalidToken).as_u16(), 403);
        assert_eq!(of(Code::TokenExpired).as_u16(), 401);
        assert_eq!(of(Code::RouteNotFound).as_u16(), 404);
        assert_eq!(of(Code::ContentTooLarge).as_u16(), 413);
        assert_eq!(of(Code::UnprocessableEntity).as_u16(), 422);
        assert_eq!(of(Code::ServiceUnavailable).as_u16(), 503);
    }
}
