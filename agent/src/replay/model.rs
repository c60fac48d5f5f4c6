//! Replies from a trace.

use super::{Difference, Shared, Tape, lock};
use crate::mission::request_hash;
use ptc_model::{Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Pricing};
use ptc_runtime::Cancel;
use std::sync::Arc;

/// Recorded request, and its outcome.
pub(super) struct RecordedRequest {
    pub agent: Option<String>,
    pub depth: u32,
    pub turn: u32,
    pub hash: String,
    /// Text of the request, as far as the trace has it: system message of the first turn, new messages.
    pub text: String,
    pub reply: Reply,
}

pub(super) enum Reply {
    Said(Box<LlmResponse>),
    Failed(Box<LlmError>),
    /// No reply: the mission ended while it waited.
    Never,
}

/// Model that replies from the trace.
pub(super) struct ReplayModel {
    tape: Arc<Tape>,
    playing: Shared,
    cancel: Cancel,
}

impl ReplayModel {
    pub fn new(tape: Arc<Tape>, playing: Shared, cancel: Cancel) -> ReplayModel {
        ReplayModel { tape, playing, cancel }
    }

    /// Returns the reply to this request; None if the trace has none.
    fn reply(&self, request: &LlmRequest) -> Result<Option<LlmResponse>, LlmError> {
        let hash = request_hash(request);
        let mut playing = lock(&self.playing);
        let same = |asked: &RecordedRequest| {
            asked.depth == request.depth && asked.agent.as_deref() == request.agent_name.as_deref()
        };
        let free: Vec<usize> = (0..self.tape.asked.len()).filter(|i| !playing.asked[*i]).collect();
        let found = |is_it: &dyn Fn(&RecordedRequest) -> bool| {
            free.iter().find(|i| is_it(&self.tape.asked[**i])).copied()
        };
        // Different agents may send the same text; requests of this agent come first.
        if let Some(i) =
            found(&|asked| asked.hash == hash && same(asked)).or_else(|| found(&|asked| asked.hash == hash))
        {
            playing.asked[i] = true;
            return match &self.tape.asked[i].reply {
                Reply::Said(response) => Ok(Some((**response).clone())),
                Reply::Failed(error) => Err((**error).clone()),
                Reply::Never => Ok(None),
            };
        }
        let near =
            found(&|asked| same(asked) && asked.turn == request.turn).or_else(|| free.first().copied());
        let recorded = near.map_or("(no further request)".to_string(), |i| self.tape.asked[i].text.clone());
        playing.differences.push(Difference {
            agent: request.agent_name.clone(),
            turn: Some(request.turn),
            what: "the request",
            recorded,
            now: text_of(request),
        });
        // The trace never changes, so a retry cannot help.
        Err(LlmError::new(ErrorKind::Unsupported, "the trace has no such request").cause("trace_mismatch"))
    }
}

/// Returns the text of a request in the form of traces.
fn text_of(request: &LlmRequest) -> String {
    use ptc_model::Role;
    let last = request.messages.iter().rposition(|message| message.role == Role::Assistant);
    let from = if request.turn == 1 { 0 } else { last.map_or(0, |at| at + 1) };
    let new = request.messages[from..].iter().map(|message| (message.role.name(), message.content.as_str()));
    let system = (request.turn == 1).then_some(("system", request.system.as_str()));
    said(system.into_iter().chain(new))
}

/// Joins messages to one text that can be compared line by line.
pub(super) fn said<'m>(messages: impl Iterator<Item = (&'m str, &'m str)>) -> String {
    messages.map(|(role, content)| format!("--- {role}\n{}\n", content.trim_end())).collect()
}

impl Model for ReplayModel {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            match self.reply(request)? {
                Some(response) => Ok(response),
                None => {
                    self.cancel.cancel();
                    std::future::pending().await
                }
            }
        })
    }

    fn supports(&self) -> Caps {
        Caps::ALL
    }

    fn name(&self) -> String {
        "trace".to_string()
    }

    fn pricing(&self) -> Pricing {
        Pricing::Free
    }
}
