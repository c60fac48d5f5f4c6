//! Replies of models, independent of any format.

use serde_json::Value;

/// A reply, before it is written in a format.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// Text of the reply.
    pub text: String,
    /// Thought before the reply, and its signature. Chat Completions carries only the latter, Ollama only the former.
    pub thought: Option<(String, String)>,
    /// Tool calls: id, name, arguments.
    pub calls: Vec<(String, String, Value)>,
    /// Reason why the model stopped.
    pub end: End,
}

/// Reason why a model stops. Not every format can express each of them; see [`crate::wire::Wire::can_say`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum End {
    /// The reply is complete, or calls tools.
    #[default]
    Done,
    /// The token limit is reached.
    Cut,
    /// The model refuses to answer.
    Refused,
    /// The provider holds the reply back.
    Filtered,
}

/// Token counts in every reply: read, of these from a cache, written.
pub const TOKENS: (u64, u64, u64) = (12, 8, 5);

impl Reply {
    /// Returns a reply of text.
    pub fn text(text: &str) -> Reply {
        Reply { text: text.to_string(), ..Reply::default() }
    }

    /// Sets the reason why the model stopped.
    #[must_use]
    pub fn end(mut self, end: End) -> Reply {
        self.end = end;
        self
    }

    /// Adds a thought before the reply.
    #[must_use]
    pub fn thought(mut self, thought: &str, signature: &str) -> Reply {
        self.thought = Some((thought.to_string(), signature.to_string()));
        self
    }

    /// Adds a call.
    #[must_use]
    pub fn call(mut self, id: &str, name: &str, args: Value) -> Reply {
        self.calls.push((id.to_string(), name.to_string(), args));
        self
    }

    /// Splits the text into two pieces, as far as possible.
    pub(crate) fn halves(&self) -> Vec<&str> {
        let middle = self.text.char_indices().nth(self.text.chars().count() / 2).map_or(0, |(at, _)| at);
        let (first, rest) = self.text.split_at(middle);
        [first, rest].into_iter().filter(|half| !half.is_empty()).collect()
    }
}
