//! Replies of models.

use crate::{Message, OpaquePart, ToolCall};
use serde::{Deserialize, Serialize};

/// A reply: text, calls, or both.
///
/// ```
/// use ptc_model::LlmResponse;
/// let reply = LlmResponse::from("(+ 1 2)");
/// assert_eq!(reply.text(), "(+ 1 2)");
/// assert!(reply.tool_calls.is_empty() && reply.tokens.is_none());
/// ```
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LlmResponse {
    /// Text of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Tool calls, in the order in which the model made them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Token counts and cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// Reason why the model stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// Parts that only the provider can read, such as signed thoughts, sent back with the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<OpaquePart>,
    /// Flag: the reply was cut once and continued with one more request.
    #[serde(skip_serializing_if = "is_false")]
    pub continued: bool,
    /// Number of images and documents that the model could not be shown and that were replaced by a text.
    #[serde(skip_serializing_if = "is_zero")]
    pub unseen_parts: usize,
    /// Model that answered, by the provider's name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Number of requests that failed before this one.
    #[serde(skip)]
    pub retries: u32,
}

impl LlmResponse {
    /// Returns a reply of calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> LlmResponse {
        LlmResponse {
            tool_calls: calls.into_iter().collect(),
            stop: Some(StopReason::ToolCalls),
            ..LlmResponse::default()
        }
    }

    /// Returns the text, empty if there is none.
    pub fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    /// Returns the text as a message of the conversation, with the provider's opaque parts and without calls.
    ///
    /// ```
    /// use ptc_model::{LlmResponse, Message};
    /// assert_eq!(LlmResponse::from("It is 3.").to_message(), Message::assistant("It is 3."));
    /// ```
    pub fn to_message(&self) -> Message {
        Message { opaque: self.opaque.clone(), ..Message::assistant(self.text()) }
    }

    /// Sets the reason why the model stopped.
    #[must_use]
    pub fn stop(mut self, stop: StopReason) -> LlmResponse {
        self.stop = Some(stop);
        self
    }

    /// Sets the token counts.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> LlmResponse {
        self.tokens = Some(tokens);
        self
    }

    /// Gives calls without an id the ids `tc_1`, `tc_2`, …, counted over the run.
    ///
    /// ```
    /// use ptc_model::{LlmResponse, ToolCall};
    /// let mut reply = LlmResponse::calls([ToolCall::read(None, "a", ""), ToolCall::read(Some("x"), "b", "")]);
    /// let mut used = 4;
    /// reply.name_calls(&mut used);
    /// assert_eq!(reply.tool_calls[0].id.as_deref(), Some("tc_5"));
    /// assert_eq!((reply.tool_calls[1].id.as_deref(), used), (Some("x"), 5));
    /// ```
    pub fn name_calls(&mut self, used: &mut u64) {
        for call in self.tool_calls.iter_mut().filter(|call| call.id.is_none()) {
            *used += 1;
            call.id = Some(format!("tc_{used}"));
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl From<String> for LlmResponse {
    fn from(text: String) -> LlmResponse {
        LlmResponse { content: Some(text), ..LlmResponse::default() }
    }
}

impl From<&str> for LlmResponse {
    fn from(text: &str) -> LlmResponse {
        LlmResponse::from(text.to_string())
    }
}

/// Token counts and cost of a reply. Values that a provider does not report are absent.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    /// Tokens read, including those read from or written to the provider's cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Tokens written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// Tokens written to the cache; included in `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation: Option<u64>,
    /// Tokens read from the cache; included in `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<u64>,
    /// Cost in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost: Option<f64>,
}

impl Tokens {
    /// Returns counts of tokens read and written.
    pub fn new(input: u64, output: u64) -> Tokens {
        Tokens { input: Some(input), output: Some(output), ..Tokens::default() }
    }

    /// Returns the sum of tokens read and written.
    pub fn total(&self) -> u64 {
        self.input.unwrap_or(0).saturating_add(self.output.unwrap_or(0))
    }
}

/// Adds up several replies; values that none of them reports stay absent.
///
/// ```
/// use ptc_model::Tokens;
/// let mut all = Tokens::new(10, 2);
/// all += Tokens { cache_read: Some(4), ..Tokens::new(5, 1) };
/// assert_eq!(all, Tokens { cache_read: Some(4), ..Tokens::new(15, 3) });
/// ```
impl std::ops::AddAssign for Tokens {
    fn add_assign(&mut self, more: Tokens) {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, other) => one.or(other),
        };
        *self = Tokens {
            input: sum(self.input, more.input),
            output: sum(self.output, more.output),
            cache_creation: sum(self.cache_creation, more.cache_creation),
            cache_read: sum(self.cache_read, more.cache_read),
            total_cost: match (self.total_cost, more.total_cost) {
                (Some(a), Some(b)) => Some(a + b),
                (one, other) => one.or(other),
            },
        };
    }
}

/// Prices in US dollars per million tokens.
///
/// ```
/// use ptc_model::{Prices, Tokens};
/// let prices = Prices { input: 1.0, output: 5.0, cache_read: Some(0.1), cache_creation: None };
/// let tokens = Tokens { cache_read: Some(500_000), ..Tokens::new(1_000_000, 100_000) };
/// assert_eq!(prices.cost(&tokens), 0.5 + 0.05 + 0.5);
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prices {
    /// Price of tokens read.
    pub input: f64,
    /// Price of tokens written.
    pub output: f64,
    /// Price of tokens read from the cache; `input` if unset.
    #[serde(default)]
    pub cache_read: Option<f64>,
    /// Price of tokens written to the cache; `input` if unset.
    #[serde(default)]
    pub cache_creation: Option<f64>,
}

impl Prices {
    /// Returns the cost of these tokens, in US dollars.
    pub fn cost(&self, tokens: &Tokens) -> f64 {
        let (read, made) = (tokens.cache_read.unwrap_or(0), tokens.cache_creation.unwrap_or(0));
        let plain = tokens.input.unwrap_or(0).saturating_sub(read.saturating_add(made));
        let dollars = plain as f64 * self.input
            + read as f64 * self.cache_read.unwrap_or(self.input)
            + made as f64 * self.cache_creation.unwrap_or(self.input)
            + tokens.output.unwrap_or(0) as f64 * self.output;
        dollars / 1e6
    }
}

/// Reason why a model stopped.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The reply is complete.
    EndTurn,
    /// The model calls tools.
    ToolCalls,
    /// The token limit was reached; the text is cut.
    MaxTokens,
    /// The model wrote a stop sequence.
    StopSequence,
    /// The model refused to answer.
    Refusal,
    /// The provider held back the reply, or a part of it.
    Filtered,
    /// A reason that only this provider knows.
    #[serde(untagged)]
    Other(String),
}
