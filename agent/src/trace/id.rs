//! What traces, spans and agents are called by.

use crate::Agent;
use ptc_bytecode::hex;
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The name of a trace: one mission, without the agents below it. 32 hex digits.
///
/// ```
/// use ptc_agent::trace::TraceId;
/// let id: TraceId = "9f000000000000000000000000000001".parse().unwrap();
/// assert_eq!(id.to_string(), "9f000000000000000000000000000001");
/// assert!("9f".parse::<TraceId>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct TraceId(pub u128);

/// The name of a span: something that takes time within a trace. 8 hex digits, and unique among all traces of a
/// tracer.
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

/// A text that is no id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoId;

impl fmt::Display for NoId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be hex digits: 32 for a trace, 8 for a span")
    }
}

impl std::error::Error for NoId {}

/// Signs and other lengths are refused: an id becomes part of the name of a file.
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

/// What an agent is known by in traces: 8 hex digits of a hash over its name, system message, contract, tools and
/// output. Agents that a model cannot tell apart have the same.
///
/// ```
/// use ptc_agent::{Agent, trace::agent_id};
/// let agent = Agent::builder().prompt("Count").name("counter").build()?;
/// let id = agent_id(&agent, "You answer with programs.");
/// assert_eq!(id.len(), 8);
/// assert_ne!(id, agent_id(&agent, "You answer with text."));
/// # Ok::<(), ptc_agent::BuildError>(())
/// ```
pub fn agent_id(agent: &Agent, system_prompt: &str) -> String {
    let mut tools: Vec<&str> = agent.tools().iter().map(|tool| tool.name.as_str()).collect();
    tools.sort_unstable();
    let signature = agent.signature().to_string();
    let output = if agent.is_text() { "text" } else { "ptc_lisp" };
    let mut hash = Sha256::new();
    let parts = [agent.name().unwrap_or_default(), system_prompt, &signature, output];
    for part in parts.into_iter().chain(tools) {
        // With its length in front, no part can run into the next.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize().into())[..8].to_string()
}
