//! The one table of error codes: what clients see in `extensions.code`, and the message they see
//! when the place that failed has nothing better to say. HTTP status and socket codes are derived
//! elsewhere, each by one exhaustive match over [`Code`].

macro_rules! codes {
    ($($variant:ident = $name:literal, $message:literal;)*) => {
        /// A machine-readable error code. Its name is part of the public interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code { $(#[doc = $message] $variant,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The name as clients see it in `extensions.code`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// The message used when no better one is given.
            #[must_use]
            pub const fn message(self) -> &'static str {
                match self { $(Code::$variant => $message,)* }
            }
        }
    };
}

codes! {
    FailedValidation = "FAILED_VALIDATION", "A value breaks a validation rule.";
    InvalidPayload = "INVALID_PAYLOAD", "The request body is not acceptable.";
    InvalidQuery = "INVALID_QUERY", "A query parameter is not acceptable.";
    RecordNotUnique = "RECORD_NOT_UNIQUE", "A value that has to be unique exists already.";
    NotNullViolation = "NOT_NULL_VIOLATION", "A value is required.";
    ContainsNullValues = "CONTAINS_NULL_VALUES", "The field holds empty values and cannot be made required.";
    InvalidForeignKey = "INVALID_FOREIGN_KEY", "A referenced item does not exist.";
    RecordStillReferenced = "RECORD_STILL_REFERENCED", "The item is still referenced by others.";
    ValueOutOfRange = "VALUE_OUT_OF_RANGE", "A number is outside the range of its field.";
    ValueTooLong = "VALUE_TOO_LONG", "A text is longer than its field.";
    InvalidCredentials = "INVALID_CREDENTIALS", "Invalid user credentials.";
    InvalidOtp = "INVALID_OTP", "The one-time password is missing or wrong.";
    InvalidIp = "INVALID_IP", "This address is not allowed.";
    TokenExpired = "TOKEN_EXPIRED", "The token has expired.";
    UserSuspended = "USER_SUSPENDED", "The user is suspended.";
    InvalidToken = "INVALID_TOKEN", "The token is not valid.";
    Forbidden = "FORBIDDEN", "You don't have permission to access this.";
    RouteNotFound = "ROUTE_NOT_FOUND", "This route does not exist.";
    MethodNotAllowed = "METHOD_NOT_ALLOWED", "This method is not allowed here.";
    ConcurrencyConflict = "CONCURRENCY_CONFLICT", "Something else was changed at the same time; try again.";
    ContentTooLarge = "CONTENT_TOO_LARGE", "The request body is too large.";
    UnsupportedMediaType = "UNSUPPORTED_MEDIA_TYPE", "This content type is not supported here.";
    UnprocessableEntity = "UNPROCESSABLE_ENTITY", "This change is refused.";
    RequestsExceeded = "REQUESTS_EXCEEDED", "Too many requests.";
    Internal = "INTERNAL_SERVER_ERROR", "An unexpected error occurred.";
    ServiceUnavailable = "SERVICE_UNAVAILABLE", "A service this depends on is not available.";
}
