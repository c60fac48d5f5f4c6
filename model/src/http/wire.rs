//! Wire formats, as the code that sends requests sees them.

use super::HttpOptions;
use crate::{LlmError, LlmRequest, LlmResponse};
use serde_json::{Map, Value};

/// A wire format.
pub(super) trait Wire: Sync {
    /// What comes behind the base URL.
    fn path(&self) -> &'static str;
    /// Headers besides those of JSON.
    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)>;
    /// The request without the options of the host.
    fn body(&self, options: &HttpOptions, request: &LlmRequest, stream: bool) -> Map<String, Value>;
    /// The name this format has for `max_tokens`.
    fn max_tokens(&self) -> &'static str;
    /// A whole reply.
    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError>;
    /// A reply in events.
    fn assemble(&self) -> Box<dyn Assemble>;
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
