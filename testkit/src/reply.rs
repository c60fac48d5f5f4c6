//! A reply of a model, in no format yet.

use serde_json::Value;

/// A reply, before it is written in a format.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// The words.
    pub text: String,
    /// What the model thought first, and the signature of that. Chat Completions only has the signature, Ollama only
    /// the thought.
    pub thought: Option<(String, String)>,
    /// Calls of tools: id, name, arguments.
    pub calls: Vec<(String, String, Value)>,
    /// Why the model stopped.
    pub end: End,
}

/// Why a model stops. Not every format can say each of them; see [`crate::wire::Wire::can_say`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum End {
    /// It has said all, or calls tools.
    #[default]
    Done,
    /// It has no tokens left.
    Cut,
    /// It does not want to answer.
    Refused,
    /// The provider holds the reply back.
    Filtered,
}

/// Tokens that every reply says it took: read, of these from a cache, written.
pub const TOKENS: (u64, u64, u64) = (12, 8, 5);

impl Reply {
    /// Only words.
    pub fn text(text: &str) -> Reply {
        Reply { text: text.to_string(), ..Reply::default() }
    }

    /// The same with this reason to stop.
    #[must_use]
    pub fn end(mut self, end: End) -> Reply {
        self.end = end;
        self
    }

    /// The same with a thought before it.
    #[must_use]
    pub fn thought(mut self, thought: &str, signature: &str) -> Reply {
        self.thought = Some((thought.to_string(), signature.to_string()));
        self
    }

    /// The same with one more call.
    #[must_use]
    pub fn call(mut self, id: &str, name: &str, args: Value) -> Reply {
        self.calls.push((id.to_string(), name.to_string(), args));
        self
    }

    /// The words in two pieces, as far as they have them.
    pub(crate) fn halves(&self) -> Vec<&str> {
        let middle = self.text.char_indices().nth(self.text.chars().count() / 2).map_or(0, |(at, _)| at);
        let (first, rest) = self.text.split_at(middle);
        [first, rest].into_iter().filter(|half| !half.is_empty()).collect()
    }
}
