//! Continuation of cut replies.

use crate::stream::{Chunk, ChunkSink};
use crate::{LlmRequest, LlmResponse, Message, StopReason};
use std::sync::atomic::{AtomicBool, Ordering};

/// Returns whether a reply is cut text, without calls or opaque parts that cannot be continued.
pub(super) fn is_cut_text(reply: &LlmResponse) -> bool {
    let is_plain = reply.tool_calls.is_empty() && reply.opaque.is_empty();
    reply.stop == Some(StopReason::MaxTokens) && is_plain && !reply.text().trim().is_empty()
}

/// Returns the request that ends with the text so far. Providers refuse white space at its end.
pub(super) fn request(request: &LlmRequest, cut: &LlmResponse) -> LlmRequest {
    let mut next = request.clone();
    next.messages.push(Message::assistant(cut.text().trim_end()));
    next
}

/// Returns a sink for the rest of the reply, so that the shown text equals the joined reply.
pub(super) fn sink(to: &ChunkSink, cut: &LlmResponse) -> ChunkSink {
    let to = to.clone();
    let is_open = AtomicBool::new(!ends_in_space(cut));
    ChunkSink::new(move |chunk| match chunk {
        Chunk::Delta(text) if !is_open.load(Ordering::Relaxed) => {
            let text = text.trim_start();
            if !text.is_empty() {
                is_open.store(true, Ordering::Relaxed);
                to.send(Chunk::Delta(text.to_string()));
            }
        }
        other => to.send(other),
    })
}

/// Joins both parts to one reply.
pub(super) fn joined(cut: LlmResponse, rest: LlmResponse) -> LlmResponse {
    let more = if ends_in_space(&cut) { rest.text().trim_start() } else { rest.text() };
    let content = format!("{}{more}", cut.text());
    let mut tokens = cut.tokens;
    match (&mut tokens, rest.tokens) {
        (Some(all), Some(more)) => *all += more,
        (_, None) => {}
        (none, more) => *none = more,
    }
    LlmResponse {
        content: Some(content),
        tokens,
        retries: cut.retries.saturating_add(rest.retries),
        continued: true,
        // Thoughts of the rest would end up before text that they do not belong to.
        opaque: Vec::new(),
        ..rest
    }
}

fn ends_in_space(reply: &LlmResponse) -> bool {
    reply.text().ends_with(char::is_whitespace)
}
