//! Wire formats, as the code that sends requests sees them.

use super::HttpOptions;
use crate::{LlmError, LlmRequest, LlmResponse};
use serde_json::{Map, Value};

/// A wire format.
pub(super) trait Wire: Sync {
    /// The part of the address behind the base URL, without a slash in front.
    fn path(&self, model: &str, stream: bool) -> String;
    /// A parameter of the address of a streamed reply.
    fn stream_query(&self) -> Option<(&'static str, &'static str)> {
        None
    }
    /// The form of a streamed reply.
    fn framing(&self) -> Framing {
        Framing::Events
    }
    /// Headers besides those of JSON.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    /// The request without the options of the host.
    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value>;
    /// Takes the schema of the answer out of a request; says whether there was one.
    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool;
    /// Whether a conversation that ends with the model's own words makes it go on from there.
    fn goes_on(&self) -> bool {
        false
    }
    /// Whether messages may hold documents; all formats have images.
    fn takes_documents(&self) -> bool {
        true
    }
    /// Whether error 500 may say that a model takes no images, as servers of local models do.
    fn fails_at_parts(&self) -> bool {
        false
    }
    /// The name this format has for `max_tokens`.
    fn max_tokens(&self) -> &'static str;
    /// The object of the body that holds numbers such as `max_tokens` and `temperature`, if it is not the body itself.
    fn settings(&self) -> Option<&'static str> {
        None
    }
    /// A whole reply.
    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError>;
    /// A reply in events.
    fn assemble(&self) -> Box<dyn Assemble>;
}

/// The form in which the events of a reply arrive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framing {
    /// Server-sent events.
    Events,
    /// A JSON value in each line.
    Lines,
}

/// Makes a reply from its events.
pub(super) trait Assemble: Send {
    /// One more event; gives the text it adds.
    fn event(&mut self, event: &Value) -> Result<Option<String>, LlmError>;
    /// Whether the last event was there.
    fn is_complete(&self) -> bool;
    /// The reply.
    fn finish(self: Box<Self>) -> Result<LlmResponse, LlmError>;
}
