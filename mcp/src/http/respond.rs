//! Responses.

use crate::frame::{Id, RpcError};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::stream;
use serde_json::Value;
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;

/// A request that is answered with an error.
#[derive(Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub id: Option<Id>,
    pub error: RpcError,
}

pub fn refuse(refusal: Refusal) -> Response {
    json(refusal.status, &refusal.error.answer(refusal.id.as_ref()))
}

pub fn json(status: StatusCode, body: &Value) -> Response {
    let mut response = Response::new(Body::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

pub fn plain(status: StatusCode, text: &str) -> Response {
    let mut response = Response::new(Body::from(text.to_string()));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// A stream that tells the answer when it is there; until then it only shows that somebody is still at work. Whoever drops
/// it gives the request up.
pub fn streamed(answer: impl Future<Output = Value> + Send + 'static) -> Response {
    let events = stream::once(async move {
        let answer = answer.await;
        Ok::<_, Infallible>(Event::default().event("message").data(answer.to_string()))
    });
    let alive = KeepAlive::new().interval(Duration::from_secs(10));
    let mut response = Sse::new(events).keep_alive(alive).into_response();
    // A proxy that collects the stream would make it useless.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

const REQUEST_ID: &str = "x-request-id";

/// What the request is called in the log: as the client says, if that can be a name, or else something new.
pub fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    match given.filter(|id| !id.is_empty() && id.len() <= 128) {
        Some(id) => id.to_string(),
        None => {
            let mut random = [0; 8];
            // Without randomness all requests share a name; nothing depends on it.
            let _ = getrandom::fill(&mut random);
            URL_SAFE_NO_PAD.encode(random)
        }
    }
}

/// Says what the request is called.
pub fn stamp(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}
