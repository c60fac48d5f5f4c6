//! HTTP responses.

use crate::frame::{Id, RpcError};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::Value;
use std::convert::Infallible;
use std::future::Future;
use std::time::Duration;
use tokio::sync::mpsc;

/// An error response to a request.
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

/// A reply as a stream: messages before the reply, then the reply, which ends it. Dropping the stream cancels
/// the request.
pub struct Talk {
    first: Option<Value>,
    told: mpsc::Receiver<Value>,
    answer: Option<BoxFuture<'static, Value>>,
    last: Option<Value>,
}

impl Talk {
    /// Creates the stream of a request in progress, beginning with `first`.
    pub fn new(
        first: Option<Value>,
        told: mpsc::Receiver<Value>,
        answer: impl Future<Output = Value> + Send + 'static,
    ) -> Talk {
        Talk { first, told, answer: Some(Box::pin(answer)), last: None }
    }

    /// Returns the next message; None at the end.
    async fn next(&mut self) -> Option<Value> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if let Some(answer) = &mut self.answer {
            tokio::select! {
                biased;
                Some(told) = self.told.recv() => return Some(told),
                answered = answer => (self.answer, self.last) = (None, Some(answered)),
            }
        }
        // Messages sent before the reply come before it.
        self.told.try_recv().ok().or_else(|| self.last.take())
    }

    /// Returns the stream as a response, with keep-alive comments between messages.
    pub fn stream(self) -> Response {
        events(stream::unfold(self, |mut talk| async { Some((talk.next().await?, talk)) }))
    }
}

/// Returns messages as a streaming response.
pub fn events(messages: impl Stream<Item = Value> + Send + 'static) -> Response {
    let events = messages
        .map(|message| Ok::<_, Infallible>(Event::default().event("message").data(message.to_string())));
    let alive = KeepAlive::new().interval(Duration::from_secs(10));
    let mut response = Sse::new(events).keep_alive(alive).into_response();
    // A buffering proxy would make the stream useless.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

const REQUEST_ID: &str = "x-request-id";

/// Returns the request's id for the log: the client's if valid, else a random one.
pub fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    match given.filter(|id| !id.is_empty() && id.len() <= 128) {
        Some(id) => id.to_string(),
        None => {
            let mut random = [0; 8];
            // Without randomness all requests share an id; nothing depends on it.
            let _ = getrandom::fill(&mut random);
            URL_SAFE_NO_PAD.encode(random)
        }
    }
}

/// Sets the request's id on the response.
pub fn stamp(response: &mut Response, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
}
