//! Bounds of replies: a few bytes from a server may take far more memory here and in every later request.

use super::errors;
use crate::request::is_deep;
use crate::{LlmError, LlmResponse};
use serde_json::Value;

/// Maximum number of calls, or of other parts, in one reply. Each call is answered by a message of its own.
const MAX_PARTS: usize = 4096;

/// Returns the items of a list of parts; none if there is no list. Fails for a list of more than [`MAX_PARTS`].
pub(super) fn parts(list: Option<&Value>) -> Result<&[Value], LlmError> {
    match list.and_then(Value::as_array) {
        Some(parts) if parts.len() > MAX_PARTS => Err(too_many()),
        Some(parts) => Ok(parts),
        None => Ok(&[]),
    }
}

/// Refuses a reply with more parts than a conversation can hold, or with a part too deep to be read back from a
/// checkpoint or a cassette.
pub(super) fn check(reply: LlmResponse) -> Result<LlmResponse, LlmError> {
    if reply.tool_calls.len().max(reply.opaque.len()) > MAX_PARTS {
        return Err(too_many());
    }
    match reply.opaque.iter().any(|opaque| is_deep(&opaque.part)) {
        true => Err(errors::bad("a part of the reply is nested too deeply")),
        false => Ok(reply),
    }
}

fn too_many() -> LlmError {
    errors::bad(format!("the reply has more than {MAX_PARTS} parts"))
}
