//! The network: one request out, bytes in, never more than allowed.

use super::wire::Wire;
use super::{HttpOptions, errors};
use crate::stream::{Chunk, ChunkSink};
use crate::{ErrorKind, LlmError, LlmResponse, Tokens};
use futures_util::{StreamExt, TryStreamExt};
use ptc_web::{BodyError, Secret};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use serde_json::{Map, Value};

/// How much of an error is read, in bytes.
const MAX_ERROR: usize = 64 << 10;

#[derive(Clone, Debug)]
pub(super) struct Http {
    client: Client,
    url: Url,
}

impl Http {
    pub fn new(options: &HttpOptions, wire: &dyn Wire) -> Result<Http, LlmError> {
        let wrong = |what: String| {
            LlmError::unsupported(format!("`base_url` {what}; write one like `http://localhost:11434/v1`"))
        };
        let mut url = ptc_web::address(&options.base_url).map_err(wrong)?;
        url.set_path(&format!("{}{}", url.path().trim_end_matches('/'), wire.path()));
        Ok(Http { client: ptc_web::client(&url).map_err(errors::connection)?, url })
    }

    /// A whole reply.
    pub async fn whole(
        &self,
        wire: &dyn Wire,
        options: &HttpOptions,
        body: &Map<String, Value>,
    ) -> Result<Value, LlmError> {
        let hide = |error| hidden(error, options.key.as_ref());
        let response = self.send(wire, options, body).await.map_err(hide)?;
        let bytes = bounded(response, options.max_response_bytes).await.map_err(hide)?;
        serde_json::from_slice(&bytes)
            .map_err(|error| errors::bad(format!("`{}` answered what is no JSON: {error}", options.model)))
    }

    /// A reply in events, whose text goes to the sink as it arrives.
    pub async fn stream(
        &self,
        wire: &dyn Wire,
        options: &HttpOptions,
        body: &Map<String, Value>,
        sink: &ChunkSink,
        price: &(dyn Fn(Option<Tokens>) -> Option<Tokens> + Sync),
    ) -> Result<LlmResponse, LlmError> {
        let hide = |error| hidden(error, options.key.as_ref());
        let response = self.send(wire, options, body).await.map_err(hide)?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if kind.starts_with("application/json") {
            // Some servers cannot stream and say so by answering whole.
            let bytes = bounded(response, options.max_response_bytes).await.map_err(hide)?;
            let value: Value = serde_json::from_slice(&bytes)
                .map_err(|error| errors::bad(format!("the reply is no JSON: {error}")))?;
            return wire.read(&value).map_err(hide);
        }
        let max = options.max_response_bytes;
        let mut size = 0_usize;
        let bytes = response.bytes_stream().map_err(|error| Broken(errors::connection(error)));
        let bytes = bytes.try_filter(|bytes| std::future::ready(!bytes.is_empty())).map(move |bytes| {
            let bytes = bytes?;
            size = size.saturating_add(bytes.len());
            if size > max { Err(Broken(too_large(max))) } else { Ok(bytes) }
        });
        let mut events = std::pin::pin!(sse_stream::SseStream::from_bytes_stream(bytes));
        let mut reply = wire.assemble();
        while !reply.is_complete() {
            let Some(event) = events.next().await else { break };
            let event = event.map_err(|error| hide(broken(error)))?;
            let data = event.data.unwrap_or_default();
            if data.is_empty() || data == "[DONE]" {
                continue;
            }
            let data: Value = serde_json::from_str(&data)
                .map_err(|error| errors::bad(format!("an event of the stream is no JSON: {error}")))?;
            if let Some(text) = reply.event(&data).map_err(hide)?.filter(|text| !text.is_empty()) {
                sink.send(Chunk::Delta(text));
            }
        }
        let response = reply.finish().map_err(hide)?;
        sink.send(Chunk::Done(price(response.tokens)));
        Ok(response)
    }

    /// An answer with a status of success.
    async fn send(
        &self,
        wire: &dyn Wire,
        options: &HttpOptions,
        body: &Map<String, Value>,
    ) -> Result<Response, LlmError> {
        let mut request = self.client.post(self.url.clone()).json(body);
        for (name, value) in wire.headers(options.key.as_ref().map(Secret::reveal)) {
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| LlmError::unsupported("the key has characters that no header can hold"))?;
            value.set_sensitive(true);
            request = request.header(HeaderName::from_static(name), value);
        }
        let response = request.send().await.map_err(|error| {
            let mut error = errors::connection(error);
            error.message = format!("`{}` could not be reached: {}", options.model, error.message);
            error
        })?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() && response.headers().contains_key(LOCATION) {
            let message = "the provider answers from another address; set `base_url` to that";
            return Err(LlmError::new(ErrorKind::Unknown, message).status(status.as_u16()));
        }
        let headers = response.headers().clone();
        let body = ptc_web::start(response, MAX_ERROR).await;
        Err(errors::status(status.as_u16(), &headers, &body))
    }
}

/// A failure on its way through the reader of events.
#[derive(Debug)]
struct Broken(LlmError);

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Broken {}

fn broken(error: sse_stream::Error) -> LlmError {
    match error {
        sse_stream::Error::Body(error) => match error.downcast::<Broken>() {
            Ok(broken) => broken.0,
            Err(error) => LlmError::new(ErrorKind::Network, error.to_string()),
        },
        other => errors::bad(format!("the stream is none of events: {other}")),
    }
}

/// The whole body, if it is not too large.
async fn bounded(response: Response, max: usize) -> Result<Vec<u8>, LlmError> {
    ptc_web::bounded(response, max).await.map_err(|error| match error {
        BodyError::TooLarge => too_large(max),
        BodyError::Connection(error) => errors::connection(error),
    })
}

fn too_large(max: usize) -> LlmError {
    errors::bad(format!("the reply is larger than {max} bytes (`max_response_bytes`)"))
}

fn hidden(mut error: LlmError, key: Option<&Secret>) -> LlmError {
    if let Some(key) = key {
        error.message = key.hide_in(&error.message);
        error.cause = error.cause.map(|cause| key.hide_in(&cause));
    }
    error
}
