//! Wire format: Anthropic Messages through Amazon Bedrock's `InvokeModel`.
//!
//! Bedrock streams in its own binary framing, which is not supported, so replies arrive whole.

use super::HttpOptions;
use super::anthropic::Messages;
use super::chat::bearer;
use super::wire::{Assemble, Wire};
use crate::{LlmError, LlmRequest, LlmResponse};
use serde_json::{Map, Value};

/// Version of the format, sent in the body in place of the header `anthropic-version`.
const VERSION: &str = "bedrock-2023-05-31";

pub(super) struct Invoke;

impl Wire for Invoke {
    fn path(&self, model: &str, _: bool) -> String {
        format!("model/{model}/invoke")
    }

    fn headers(&self, key: Option<&str>) -> Vec<(&'static str, String)> {
        bearer(key)
    }

    fn body(&self, options: &HttpOptions, request: &LlmRequest, _: bool) -> Map<String, Value> {
        let mut body = Messages.body(options, request, false);
        // The path names the model, and Bedrock refuses unknown fields.
        body.remove("model");
        body.insert("anthropic_version".into(), VERSION.into());
        body
    }

    fn drop_schema(&self, body: &mut Map<String, Value>) -> bool {
        Messages.drop_schema(body)
    }

    fn goes_on(&self) -> bool {
        Messages.goes_on()
    }

    fn max_tokens(&self) -> &'static str {
        Messages.max_tokens()
    }

    fn read(&self, body: &Value) -> Result<LlmResponse, LlmError> {
        Messages.read(body)
    }

    fn assemble(&self) -> Box<dyn Assemble> {
        Messages.assemble()
    }
}
