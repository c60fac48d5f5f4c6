//! Ids of agents.

use super::Agent;
use ptc_bytecode::hex;
use sha2::{Digest, Sha256};

/// Returns the id of an agent in traces: 8 hex digits of a hash over its name, system message, contract, tools and
/// output. Agents that a model cannot tell apart have the same id.
///
/// ```
/// use ptc_agent::{Agent, definition::agent_id};
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
        // Length prefixes keep the parts apart.
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hex(&hash.finalize().into())[..8].to_string()
}
