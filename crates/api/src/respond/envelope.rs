//! The success envelope `{data}` / `{meta, data}`, written around JSON that is never parsed again.

use actix_web::{
    HttpResponse,
    http::{StatusCode, header},
};
use serde_json::Value;
use waymark_core::items::{Json, read::Page};

use super::Answer;

/// The content type of every JSON answer.
pub const JSON: &str = "application/json; charset=utf-8";

/// An answer of ready JSON bytes.
#[must_use]
pub fn json(status: StatusCode, bytes: Vec<u8>) -> HttpResponse {
    HttpResponse::build(status).insert_header((header::CONTENT_TYPE, JSON)).body(bytes)
}

/// 200 `{"data": …}`.
#[must_use]
pub fn data(data: &Json) -> HttpResponse {
    let text = data.get();
    let mut bytes = Vec::with_capacity(text.len() + 10);
    bytes.extend_from_slice(b"{\"data\":");
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(b'}');
    enveloped(bytes)
}

/// 200 `{"data": …}` of a built value.
///
/// # Errors
/// Never; the type is what handlers return.
pub fn value(value: &Value) -> Answer {
    Ok(data(&Json::of(value)))
}

/// 200 `{"data": …}`, with `meta` in front when counts were asked for.
#[must_use]
pub fn page(page: &Page) -> HttpResponse {
    let counts = [("total_count", page.total_count), ("filter_count", page.filter_count)];
    if counts.iter().all(|(_, count)| count.is_none()) {
        return data(&page.data);
    }
    let text = page.data.get();
    let mut bytes = Vec::with_capacity(text.len() + 80);
    bytes.extend_from_slice(b"{\"meta\":{");
    let mut separator = "";
    for (name, count) in counts {
        if let Some(count) = count {
            bytes.extend_from_slice(format!("{separator}\"{name}\":{count}").as_bytes());
            separator = ",";
        }
    }
    bytes.extend_from_slice(b"},\"data\":");
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(b'}');
    enveloped(bytes)
}

/// Marks an answer whose data can be exported in another format.
#[derive(Clone, Copy, Debug)]
pub struct Enveloped;

fn enveloped(bytes: Vec<u8>) -> HttpResponse {
    let mut response = json(StatusCode::OK, bytes);
    response.extensions_mut().insert(Enveloped);
    response
}

/// 204 without a body.
#[must_use]
pub fn empty() -> HttpResponse {
    HttpResponse::NoContent().finish()
}

#[cfg(test)]
mod tests {
    use actix_web::body::MessageBody;

    use super::*;

    fn text(response: HttpResponse) -> String {
        let bytes = response.into_body().try_into_bytes().map_err(|_| ()).expect("a body in memory");
        String::from_utf8(bytes.to_vec()).expect("UTF-8")
    }

    #[test]
    fn counts_stand_in_front_only_when_asked_for() {
        let raw = |text: &str| Json::of(&serde_json::from_str(text).expect("JSON"));
        assert_eq!(text(data(&raw("[1.10]"))), r#"{"data":[1.10]}"#);
        let counted = Page { data: raw("[]"), total_count: Some(9), filter_count: None };
        assert_eq!(text(page(&counted)), r#"{"meta":{"total_count":9},"data":[]}"#);
        let both = Page { data: raw("[]"), total_count: Some(9), filter_count: Some(2) };
        assert_eq!(text(page(&both)), r#"{"meta":{"total_count":9,"filter_count":2},"data":[]}"#);
    }
}
