//! The value of a program, as text and as JSON, within `--max-result-bytes`, and its images and links.

use crate::attached::Attached;
use crate::settings::Settings;
use ptc_bytecode::{Datum, Node};
use ptc_contract::data::{Excerpt, Omissions, printed_bytes, to_json};
use ptc_contract::firewall;
use serde_json::Value;
use std::sync::Arc;

/// Maximum sizes of a value in a reply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ResultLimits {
    /// Maximum size of the text, in bytes.
    pub text: u64,
    /// Maximum size of images and other content, in bytes of base64.
    pub attached: u64,
}

impl ResultLimits {
    pub fn of(settings: &Settings) -> ResultLimits {
        ResultLimits { text: settings.max_result_bytes, attached: settings.max_attached_bytes }
    }
}

/// The value of a program as JSON, as far as replies have room for it.
#[derive(Clone, PartialEq, Debug)]
pub struct ResultValue {
    /// The value or an excerpt of it; None if JSON cannot express it: functions, keys other
    /// than strings, integers of more than 64 bits.
    pub json: Option<Value>,
    /// Parts that an excerpt leaves out; None if the value is complete.
    pub left_out: Option<Omissions>,
    /// Size of the complete value as text, in bytes, content of images included.
    pub bytes: u64,
    /// Images, audio, files and links in the value, as content blocks of MCP.
    pub blocks: Arc<[Value]>,
}

/// A value as its reply shows it, without values of firewalled keys.
pub(crate) struct ShownValue {
    pub text: String,
    pub value: ResultValue,
    /// The complete value, with placeholders for images.
    pub public: Datum,
}

impl ResultValue {
    /// Returns a value as text and as JSON, both within the limits.
    pub(crate) fn of(value: &Datum, most: ResultLimits) -> ShownValue {
        let Attached { value: public, blocks, bytes } = Attached::of(firewall::redact(value), most.attached);
        let Excerpt { text, cut } = Excerpt::of(&public, usize::try_from(most.text).unwrap_or(usize::MAX));
        let whole = cut.as_ref().map_or(text.len() as u64, |_| printed_bytes(&public));
        let (json, left_out) = match cut {
            None => (exact_json(&public), None),
            Some((excerpt, left_out)) => (exact_json(&excerpt), Some(left_out)),
        };
        let value = ResultValue { json, left_out, bytes: whole + bytes, blocks: Arc::from(blocks) };
        ShownValue { text, value, public }
    }

    /// Returns whether the value is complete.
    pub fn is_whole(&self) -> bool {
        self.left_out.is_none()
    }
}

/// Returns a value as JSON; None if JSON cannot express it, or its readers would round it.
fn exact_json(value: &Datum) -> Option<Value> {
    to_json(value).ok().filter(|_| !has_long_integers(value))
}

/// Returns whether a value has integers that JSON readers would round.
pub(crate) fn has_long_integers(value: &Datum) -> bool {
    value.nodes().iter().any(|node| matches!(node, Node::Big(digits) if digits.parse::<u64>().is_err()))
}
