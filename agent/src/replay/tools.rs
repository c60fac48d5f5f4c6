//! Tool results from a trace, and how they get into it.

use super::{Difference, RecordedMission, Shared, lock};
use crate::BuildError;
use crate::tools::{Body, Tool, ToolCtx, ToolKind};
use ptc_bytecode::Datum;
use ptc_contract::keys::canonical_cache_key;
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError};
use serde_json::Value;

/// Recorded call that host code answered.
pub(super) struct RecordedCall {
    pub agent: Option<String>,
    pub depth: u32,
    pub turn: Option<u32>,
    pub tool: String,
    pub key: String,
    /// Arguments, as far as the trace has them.
    pub args: String,
    pub answer: Result<Datum, String>,
}

impl RecordedCall {
    /// Returns whether both are the same call with the same result.
    pub fn is_like(&self, other: &RecordedCall) -> bool {
        let same_call = self.depth == other.depth && self.tool == other.tool && self.key == other.key;
        same_call && self.answer == other.answer
    }
}

impl RecordedMission {
    /// Returns the tool with the trace's answers behind it.
    pub(super) fn answering(&self, tool: &Tool, playing: &Shared) -> Result<Tool, BuildError> {
        let kind = match &tool.kind {
            ToolKind::Plain(_) => {
                if tool.cache {
                    lock(playing).cached.insert(tool.name.clone());
                }
                let (name, tape, playing) = (tool.name.clone(), self.0.clone(), playing.clone());
                let body =
                    move |args: &ToolArgs, ctx: &ToolCtx| answer(&tape, &playing, &name, args, ctx.depth);
                ToolKind::Plain(Body::blocking(body))
            }
            ToolKind::Agent(agent) => ToolKind::Agent(Box::new(self.playing(agent, playing)?)),
            other => other.clone(),
        };
        let mut playing = tool.clone();
        playing.kind = kind;
        Ok(playing)
    }
}

pub(super) fn answer(
    tape: &super::Tape,
    playing: &Shared,
    name: &str,
    args: &ToolArgs,
    depth: u32,
) -> Result<ToolAnswer, ToolError> {
    let key = canonical_cache_key(name, args.datum()).hash();
    let mut playing = lock(playing);
    let mine = |i: &usize| tape.answered[*i].depth == depth && tape.answered[*i].tool == name;
    let free: Vec<usize> = (0..tape.answered.len()).filter(|i| !playing.answered[*i]).filter(mine).collect();
    if let Some(i) = free.iter().find(|i| tape.answered[**i].key == key) {
        playing.answered[*i] = true;
        let answer = tape.answered[*i].answer.clone();
        return answer.map(ToolAnswer::Datum).map_err(ToolError::new);
    }
    // Concurrent equal calls of a cached tool become one call, and their number depends on timing.
    let is_equal = |i: &usize| mine(i) && tape.answered[*i].key == key;
    if playing.cached.contains(name)
        && let Some(i) = (0..tape.answered.len()).rev().find(is_equal)
    {
        return tape.answered[i].answer.clone().map(ToolAnswer::Datum).map_err(ToolError::new);
    }
    let near = free.first().map(|i| &tape.answered[*i]);
    let now = args.json().map_or_else(|_| "(no JSON)".to_string(), |args| args.to_string());
    playing.differences.push(Difference {
        agent: near.and_then(|near| near.agent.clone()),
        turn: near.and_then(|near| near.turn),
        what: "a tool call",
        recorded: near.map_or("(no further call)".to_string(), |near| format!("tool/{name} {}", near.args)),
        now: format!("tool/{name} {now}"),
    });
    Err(ToolError::new("the trace has no such call"))
}

/// Returns a definition without the answers of its tools, which the trace has already, call by call.
pub(super) fn without_answers(table: &Value) -> Value {
    let Value::Object(table) = table else { return table.clone() };
    let mut table = table.clone();
    if let Some(Value::Object(tools)) = table.get_mut("tools") {
        for tool in tools.values_mut() {
            let mut slim = without_answers(tool);
            if let Value::Object(slim) = &mut slim {
                let had_source = slim.remove("source").is_some();
                if had_source || slim.contains_key("answer") {
                    slim.insert("answer".to_string(), Value::Null);
                }
                if let Some(agent) = slim.get_mut("agent") {
                    *agent = without_answers(agent);
                }
            }
            *tool = slim;
        }
    }
    Value::Object(table)
}
