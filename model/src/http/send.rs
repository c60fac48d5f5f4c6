//! Network access: sends one request and reads a bounded number of bytes.

use super::lines::Lines;
use super::wire::{Assemble, Framing, Wire};
use super::{HttpOptions, errors};
use crate::stream::{Chunk, ChunkSink};
use crate::{ErrorKind, LlmError, LlmResponse};
use futures_util::{StreamExt, TryStreamExt};
use ptc_web::{BodyError, Secret};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

/// Maximum bytes read of an error.
const MAX_ERROR: usize = 64 << 10;

/// Headers that only the connection itself may set.
const OF_THE_CONNECTION: [&str; 5] =
    ["connection", "content-length", "content-type", "host", "transfer-encoding"];

#[derive(Clone)]
pub(super) struct Http {
    client: Client,
    whole: Url,
    streamed: Url,
    /// Secrets that no error may repeat.
    secrets: Vec<Secret>,
}

/// Omits addresses, which may hold keys.
impl std::fmt::Debug for Http {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Http").finish_non_exhaustive()
    }
}

impl Http {
    pub fn new(options: &HttpOptions, wire: &dyn Wire) -> Result<Http, LlmError> {
        let wrong = |what: String| {
            LlmError::unsupported(format!("`base_url` {what}; write one like `http://localhost:11434/v1`"))
        };
        let (address, query) = match options.base_url.split_once('?') {
            Some((address, query)) => (address, Some(query)),
            None => (options.base_url.as_str(), None),
        };
        let base = ptc_web::address(address).map_err(wrong)?;
        let url = |stream: bool| {
            let mut url = base.clone();
            url.set_path(base.path().trim_end_matches('/'));
            if let Ok(mut path) = url.path_segments_mut() {
                // A model's name must not lead to another address.
                path.pop_if_empty().extend(wire.path(&options.model, stream).split('/'));
            }
            url.set_query(query.filter(|query| !query.is_empty()));
            if let Some((name, value)) = wire.stream_query().filter(|_| stream) {
                url.query_pairs_mut().append_pair(name, value);
            }
            url
        };
        for (name, _) in &options.headers {
            if OF_THE_CONNECTION.contains(&name.to_ascii_lowercase().as_str()) {
                let message = format!("`headers` cannot set `{name}`: the connection sets it");
                return Err(LlmError::unsupported(message));
            }
        }
        let whole = url(false);
        // Short values are words that messages need.
        let may_be_secret = |name: &str, value: &str| value.len() >= 8 && name != "api-version";
        // A server that repeats an address may repeat it encoded, as it was sent.
        let sent = whole.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
        let sent = sent.map(|(name, value)| (name.into(), value.into()));
        let in_query = whole.query_pairs().chain(sent).filter(|(name, value)| may_be_secret(name, value));
        let in_query = in_query.map(|(_, value)| Secret::from(value.into_owned()));
        let in_headers = options.headers.iter().map(|(_, value)| value.clone());
        let secrets = in_query.chain(in_headers).chain(options.key.clone()).collect();
        Ok(Http {
            client: ptc_web::client(&base).map_err(errors::connection)?,
            whole,
            streamed: url(true),
            secrets,
        })
    }

    /// Requests a whole reply.
    pub async fn whole(
        &self,
        wire: &dyn Wire,
        options: &HttpOptions,
        body: &Map<String, Value>,
    ) -> Result<LlmResponse, LlmError> {
        let hide = |error| self.hidden(error);
        let response = self.send(&self.whole, wire, options, body).await.map_err(hide)?;
        let bytes = bounded(response, options.max_response_bytes).await.map_err(hide)?;
        let reply: Value = serde_json::from_slice(&bytes).map_err(|error| {
            errors::bad(format!("`{}` sent a reply that is not valid JSON: {error}", options.model))
        })?;
        // Some servers report errors with a status of success.
        wire.read(&reply).map_err(hide)
    }

    /// Requests a reply in events, showing text as it arrives. Returns whether it did, since some servers reply whole.
    pub async fn stream(
        &self,
        wire: &dyn Wire,
        options: &HttpOptions,
        body: &Map<String, Value>,
        sink: &ChunkSink,
    ) -> Result<(LlmResponse, bool), LlmError> {
        let hide = |error| self.hidden(error);
        let response = self.send(&self.streamed, wire, options, body).await.map_err(hide)?;
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
        if kind.starts_with("application/json") {
            // Some servers cannot stream and reply whole instead.
            let bytes = bounded(response, options.max_response_bytes).await.map_err(hide)?;
            let value: Value = serde_json::from_slice(&bytes)
                .map_err(|error| errors::bad(format!("the reply is not valid JSON: {error}")))?;
            return Ok((wire.read(&value).map_err(hide)?, false));
        }
        let max = options.max_response_bytes;
        let mut size = 0_usize;
        let bytes = response.bytes_stream().map_err(|error| Broken(errors::connection(error)));
        let bytes = bytes.try_filter(|bytes| std::future::ready(!bytes.is_empty())).map(move |bytes| {
            let bytes = bytes?;
            size = size.saturating_add(bytes.len());
            if size > max { Err(Broken(too_large(max))) } else { Ok(bytes) }
        });
        let mut arriving = Arriving { reply: wire.assemble(), sink };
        match wire.framing() {
            Framing::Events => {
                let mut events = std::pin::pin!(sse_stream::SseStream::from_bytes_stream(bytes));
                while !arriving.reply.is_complete() {
                    let Some(event) = events.next().await else { break };
                    let event = event.map_err(|error| hide(broken(error)))?;
                    arriving.add(event.data.unwrap_or_default().as_bytes()).map_err(hide)?;
                }
            }
            Framing::Lines => {
                let bytes = std::pin::pin!(bytes);
                let mut lines = Lines::new(bytes);
                while !arriving.reply.is_complete() {
                    let Some(line) = lines.next().await else { break };
                    let line = line.map_err(|error| hide(error.0))?;
                    // An incomplete last line means that the connection broke, not that the reply is wrong.
                    if !line.ends_with(b"\n") && serde_json::from_slice::<IgnoredAny>(&line).is_err() {
                        break;
                    }
                    arriving.add(&line).map_err(hide)?;
                }
            }
        }
        Ok((arriving.reply.finish().map_err(hide)?, true))
    }

    /// Removes secrets from an error: providers like to repeat their input.
    fn hidden(&self, mut error: LlmError) -> LlmError {
        for secret in &self.secrets {
            error.message = secret.hide_in(&error.message);
            error.cause = error.cause.map(|cause| secret.hide_in(&cause));
        }
        error
    }

    /// Sends a request and returns an answer with a status of success.
    async fn send(
        &self,
        url: &Url,
        wire: &dyn Wire,
        options: &HttpOptions,
        body: &Map<String, Value>,
    ) -> Result<Response, LlmError> {
        let request = self.client.post(url.clone()).json(body).headers(headers(wire, options)?);
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
            let message = "the provider redirects to another address; set `base_url` to that";
            return Err(LlmError::new(ErrorKind::Unknown, message).status(status.as_u16()));
        }
        let headers = response.headers().clone();
        let body = ptc_web::start(response, MAX_ERROR).await;
        Err(errors::status(status.as_u16(), &headers, &body))
    }
}

/// A reply of which pieces are still to come.
struct Arriving<'s> {
    reply: Box<dyn Assemble>,
    sink: &'s ChunkSink,
}

impl Arriving<'_> {
    /// Adds an event and shows its text.
    fn add(&mut self, data: &[u8]) -> Result<(), LlmError> {
        let data = data.trim_ascii();
        if data.is_empty() || data == b"[DONE]" {
            return Ok(());
        }
        let data: Value = serde_json::from_slice(data)
            .map_err(|error| errors::bad(format!("an event of the stream is not valid JSON: {error}")))?;
        if let Some(text) = self.reply.event(&data)?.filter(|text| !text.is_empty()) {
            self.sink.send(Chunk::Delta(text));
        }
        Ok(())
    }
}

/// Returns the headers of a request. The host's come last, so that they win.
fn headers(wire: &dyn Wire, options: &HttpOptions) -> Result<HeaderMap, LlmError> {
    let key = options.key.as_ref().map(Secret::reveal);
    let mut headers = HeaderMap::new();
    let mut set = |name: &str, value: &str, of: &str| {
        let name = HeaderName::try_from(name)
            .map_err(|_| LlmError::unsupported(format!("`{name}` is not a valid header name")))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| LlmError::unsupported(format!("{of} has characters that headers cannot contain")))?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok::<(), LlmError>(())
    };
    let own = key.filter(|_| options.key_header.is_none());
    for (name, value) in wire.headers(own) {
        set(name, &value, "the key")?;
    }
    if let (Some(name), Some(key)) = (&options.key_header, key) {
        match name.eq_ignore_ascii_case(AUTHORIZATION.as_str()) {
            true => set(name, &format!("Bearer {key}"), "the key")?,
            false => set(name, key, "the key")?,
        }
    }
    for (name, value) in &options.headers {
        set(name, value.reveal(), &format!("the header `{name}`"))?;
    }
    Ok(headers)
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
        other => errors::bad(format!("the stream is not an event stream: {other}")),
    }
}

/// Reads the whole body, if it is not too large.
async fn bounded(response: Response, max: usize) -> Result<Vec<u8>, LlmError> {
    ptc_web::bounded(response, max).await.map_err(|error| match error {
        BodyError::TooLarge => too_large(max),
        BodyError::Connection(error) => errors::connection(error),
    })
}

fn too_large(max: usize) -> LlmError {
    errors::bad(format!("the reply is larger than {max} bytes (`max_response_bytes`)"))
}
