//! Ids of traces and spans.

use std::fmt;
use std::str::FromStr;

/// Id of a trace: one mission, without its child agents. 32 hex digits.
///
/// ```
/// use ptc_agent::trace::TraceId;
/// let id: TraceId = "9f000000000000000000000000000001".parse().unwrap();
/// assert_eq!(id.to_string(), "9f000000000000000000000000000001");
/// assert!("9f".parse::<TraceId>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct TraceId(pub u128);

/// Id of a span: an activity within a trace. 8 hex digits, unique among all traces of a tracer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct SpanId(pub u32);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// Error: the text is not an id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoId;

impl fmt::Display for NoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be hex digits: 32 for a trace, 8 for a span")
    }
}

impl std::error::Error for NoId {}

/// Checks for hex digits. Signs and other lengths are refused, because an id becomes part of a file name.
fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

impl FromStr for TraceId {
    type Err = NoId;

    fn from_str(text: &str) -> Result<TraceId, NoId> {
        let id = is_hex(text, 32).then(|| u128::from_str_radix(text, 16).ok()).flatten();
        id.map(TraceId).ok_or(NoId)
    }
}

impl FromStr for SpanId {
    type Err = NoId;

    fn from_str(text: &str) -> Result<SpanId, NoId> {
        let id = is_hex(text, 8).then(|| u32::from_str_radix(text, 16).ok()).flatten();
        id.map(SpanId).ok_or(NoId)
    }
}
