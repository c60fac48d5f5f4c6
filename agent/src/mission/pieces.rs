//! Text of a reply as it arrives, for those who watch the mission.

use crate::trace::{Kind, Scope};
use ptc_contract::firewall::SharedSecrets;
use ptc_model::{Chunk, ChunkSink, LlmRequest, LlmResponse};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum bytes held back because they may begin a firewalled value. Past that, the rest waits for the end of the
/// reply, and the text is then shown again from its beginning.
const MAX_HELD: usize = 1 << 10;

/// Receiver of the pieces of one reply.
pub(super) struct Pieces(Arc<Arriving>);

struct Arriving {
    scope: Scope,
    /// Values that must not be shown; None if traces show them.
    secrets: Option<SharedSecrets>,
    text: Mutex<Text>,
}

/// Text of a reply so far.
#[derive(Default)]
struct Text {
    held: String,
    /// Flag: a piece has arrived.
    has_begun: bool,
    is_given_up: bool,
}

impl Pieces {
    /// Returns a receiver for the reply to a request in this scope; None if nobody watches.
    pub fn watched(scope: &Scope, secrets: Option<SharedSecrets>) -> Option<Pieces> {
        scope
            .is_live()
            .then(|| Pieces(Arc::new(Arriving { scope: scope.clone(), secrets, text: Mutex::default() })))
    }

    /// Returns the request with its reply's pieces sent here too.
    pub fn of(&self, request: &LlmRequest) -> LlmRequest {
        let arriving = self.0.clone();
        let stream = match request.stream.clone() {
            None => ChunkSink::restartable(move |chunk| arriving.take(&chunk)),
            // Pieces sent to the host cannot be taken back.
            Some(host) => ChunkSink::new(move |chunk| {
                arriving.take(&chunk);
                host.send(chunk);
            }),
        };
        LlmRequest { stream: Some(stream), ..request.clone() }
    }

    /// Shows the rest of a reply that has arrived.
    pub fn finish(&self, reply: &LlmResponse) {
        let Text { held, has_begun, is_given_up } = std::mem::take(&mut *self.0.text());
        if is_given_up {
            self.0.restart();
        }
        let rest = if has_begun && !is_given_up { held } else { reply.text().to_string() };
        self.0.show(rest);
    }
}

impl Arriving {
    fn text(&self) -> MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, chunk: &Chunk) {
        let mut text = self.text();
        match chunk {
            Chunk::Delta(more) if !text.is_given_up => {
                text.has_begun = true;
                text.held.push_str(more);
                let settled = self.settled(&text.held);
                let rest = text.held.split_off(settled);
                self.show(std::mem::replace(&mut text.held, rest));
                if text.held.len() > MAX_HELD {
                    text.held.clear();
                    text.is_given_up = true;
                }
            }
            Chunk::Delta(_) | Chunk::Done(_) => {}
            Chunk::Restart => {
                *text = Text::default();
                self.restart();
            }
        }
    }

    fn settled(&self, text: &str) -> usize {
        self.secrets.as_ref().map_or(text.len(), |secrets| {
            secrets.lock().unwrap_or_else(PoisonError::into_inner).settled(text)
        })
    }

    fn restart(&self) {
        self.scope.emit(Kind::LlmPiece, |event| event.put("restart", true));
    }

    fn show(&self, text: String) {
        if !text.is_empty() {
            self.scope.emit(Kind::LlmPiece, |event| event.put("text", text));
        }
    }
}
