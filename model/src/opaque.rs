//! Opaque parts of replies, which only their provider can read.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A part of a reply that only its provider can read: signed thoughts, encrypted reasoning. It is sent back unchanged
/// at its place, since providers refuse a conversation whose thoughts were changed or moved.
///
/// ```
/// use ptc_model::{Message, OpaquePart};
/// let thought = serde_json::json!({"type": "thinking", "thinking": "Easy.", "signature": "c2ln"});
/// let mut message = Message::assistant("It is 3.");
/// message.opaque.push(OpaquePart { text_before: 0, calls_before: 0, part: thought });
/// let written = serde_json::to_value(&message)?;
/// assert_eq!(written["opaque"][0]["part"]["signature"], "c2ln");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpaquePart {
    /// Bytes of the reply's text before this part.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub text_before: usize,
    /// Number of the reply's calls before this part.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls_before: usize,
    /// Part as the provider wrote it.
    pub part: Value,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
