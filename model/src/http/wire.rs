//! Interface between wire formats and the code that sends requests.

use super::HttpOptions;
use crate::{LlmError, LlmRequest, LlmResponse};
use serde_json::{Map, Value};

/// A wire format: pure translation of requests and replies.
pub(super) trait Wire: Sync {
    /// Returns the path after the base URL, without a leading slash.
    fn path(&self, model: &str, stream: bool) -> String;
    /// Returns a query parameter for streamed replies.
    fn stream_query(&self) -> Option<(&'static str, &'static str)> {
        None
    }
    /// Returns the framing of streamed replies.
    fn framing(&self) -> Framing {
        Framing::Events
    }
    /// Returns headers besides those of JSON.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    /// Converts a request, without the host's extra options.
    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value>;
    /// Removes the schema from a request; returns whether there was one.
    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool;
    /// Returns whether a model continues a conversation that ends with its own words.
    fn goes_on(&self) -> bool {
        false
    }
    /// Returns whether messages may hold documents; all formats take images.
    fn takes_documents(&self) -> bool {
        true
    }
    /// Returns whether status 500 may mean that a model takes no images, as with servers of local models.
    fn fails_at_parts(&self) -> bool {
        false
    }
    /// Returns the format's name for `max_tokens`.
    fn max_tokens(&self) -> &'static str;
    /// Returns the object of the body for numbers such as `max_tokens` and `temperature`, if it is not the body itself.
    fn settings(&self) -> Option<&'static str> {
        None
    }
    /// Reads a whole reply.
    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError>;
    /// Returns an assembler for a reply in events.
    fn assemble(&self) -> Box<dyn Assemble>;
}

/// Framing of the events of a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framing {
    /// Server-sent events.
    Events,
    /// JSON lines: a value in each line.
    Lines,
}

/// Assembler of a reply from its events.
pub(super) trait Assemble: Send {
    /// Adds an event; returns the added text.
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError>;
    /// Returns whether the last event has arrived.
    fn is_complete(&self) -> bool;
    /// Returns the assembled reply.
    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError>;
}
