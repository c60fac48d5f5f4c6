//! Contracts as options and files specify them.

use super::{Signature, SignatureError};
use ptc_bytecode::Datum;
use serde_json::Value;

/// A contract, as an option specifies it.
#[derive(Clone, Debug, PartialEq)]
pub enum SignatureInput {
    /// Shorthand, or Malli text.
    Text(String),
    /// Malli data.
    Malli(Datum),
    /// A parsed signature.
    Ready(Signature),
}

impl SignatureInput {
    /// Takes the value of a file: a text, or Malli data in lists.
    pub fn from_json(value: &Value) -> Result<SignatureInput, String> {
        match value {
            Value::String(text) => Ok(SignatureInput::Text(text.clone())),
            Value::Array(_) => ptc_runtime::bridge::json_to_datum(value)
                .map(SignatureInput::Malli)
                .map_err(|error| error.to_string()),
            _ => Err("a signature is a text or Malli data in lists".to_string()),
        }
    }

    /// Parses the input into its signature.
    pub fn read(&self) -> Result<Signature, SignatureError> {
        match self {
            SignatureInput::Text(text) => Signature::parse(text),
            SignatureInput::Malli(data) => Signature::from_malli(data),
            SignatureInput::Ready(signature) => Ok(signature.clone()),
        }
    }
}

impl From<&str> for SignatureInput {
    fn from(text: &str) -> SignatureInput {
        SignatureInput::Text(text.to_string())
    }
}

impl From<String> for SignatureInput {
    fn from(text: String) -> SignatureInput {
        SignatureInput::Text(text)
    }
}

impl From<Signature> for SignatureInput {
    fn from(signature: Signature) -> SignatureInput {
        SignatureInput::Ready(signature)
    }
}

impl From<Datum> for SignatureInput {
    fn from(data: Datum) -> SignatureInput {
        SignatureInput::Malli(data)
    }
}
