//! Replies that were cut, and the request that makes a model go on from there.

use crate::stream::{Chunk, ChunkSink};
use crate::{LlmRequest, LlmResponse, Message, StopReason};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a reply is words that were cut, with nothing that a model could not go on from.
pub(super) fn is_cut_text(reply: &LlmResponse) -> bool {
    let is_plain = reply.tool_calls.is_empty() && reply.opaque.is_empty();
    reply.stop == Some(StopReason::MaxTokens) && is_plain && !reply.text().trim().is_empty()
}

/// The request that ends with the words so far. Providers refuse white space at their end.
pub(super) fn request(request: &LlmRequest, cut: &LlmResponse) -> LlmRequest {
    let mut next = request.clone();
    next.messages.push(Message::assistant(cut.text().trim_end()));
    next
}

/// Where the pieces of the rest go, so that what is shown is what the whole reply will say.
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

/// Both parts as one reply.
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
        // Thoughts behind the words would stand before words that are not theirs.
        opaque: Vec::new(),
        ..rest
    }
}

fn ends_in_space(reply: &LlmResponse) -> bool {
    reply.text().ends_with(char::is_whitespace)
}
