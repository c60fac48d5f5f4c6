//! Responses.

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

/// What a client hears as a stream: what it is told on the way, and the answer, which ends it. Whoever drops the stream gives
/// the request up.
pub struct Talk {
    first: Option<Value>,
    told: mpsc::Receiver<Value>,
    answer: Option<BoxFuture<'static, Value>>,
    last: Option<Value>,
}

impl Talk {
    /// Of a request that is under way; `first` has been said already.
    pub fn new(
        first: Option<Value>,
        told: mpsc::Receiver<Value>,
        answer: impl Future<Output = Value> + Send + 'static,
    ) -> Talk {
        Talk { first, told, answer: Some(Box::pin(answer)), last: None }
    }

    /// The next message; None at the end.
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
        // What was said before the answer comes before it.
        self.told.try_recv().ok().or_else(|| self.last.take())
    }

    /// As a response. Between messages it shows that somebody is still at work.
    pub fn stream(self) -> Response {
        events(stream::unfold(self, |mut talk| async { Some((talk.next().await?, talk)) }))
    }
}

/// Messages as a response that goes on for as long as there are any.
pub fn events(messages: impl Stream<Item = Value> + Send + 'static) -> Response {
    let events = messages
        .map(|message| Ok::<_, Infallible>(Event::default().event("message").data(message.to_string())));
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
