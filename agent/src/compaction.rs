//! Compaction: long missions leave old messages out of requests. The history itself stays whole.

use crate::definition::Compaction;
use ptc_model::{Message, Part, Role};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The reason why messages were left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pressure {
    /// More turns than `trigger.turns`.
    TurnPressure,
    /// At least `trigger.tokens` tokens, by estimate.
    TokenPressure,
}

/// Result of compacting one request. Serialised with all of its fields.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Stats {
    /// Flag: the agent has the option.
    pub enabled: bool,
    /// Flag: messages were left out.
    pub triggered: bool,
    /// Strategy; always `trim`.
    pub strategy: String,
    /// Reason, if messages were left out.
    pub reason: Option<Pressure>,
    /// Number of messages before compaction.
    pub messages_before: usize,
    /// Number of messages sent.
    pub messages_after: usize,
    /// Estimated tokens before compaction.
    pub estimated_tokens_before: u64,
    /// Estimated tokens sent.
    pub estimated_tokens_after: u64,
    /// Flag: the first message of the user is sent.
    pub kept_initial_user: bool,
    /// Number of the model's replies that are sent.
    pub kept_recent_turns: usize,
    /// Flag: the sent messages still have more tokens than `trigger.tokens`.
    pub over_budget: bool,
}

/// Estimates the tokens of a text: one per four characters, at least one.
///
/// ```
/// assert_eq!(ptc_agent::compaction::estimate("twelve chars"), 3);
/// assert_eq!(ptc_agent::compaction::estimate(""), 1);
/// ```
pub fn estimate(text: &str) -> u64 {
    (text.chars().count() as u64 / 4).max(1)
}

/// Returns the messages that turn `turn` sends, and statistics. Without the option, or while the mission is short,
/// nothing is left out.
///
/// ```
/// use ptc_agent::{compaction::compact, definition::Compaction};
/// use ptc_model::Message;
/// let mut messages = vec![Message::user("Count the orders")];
/// for turn in 1..=9 {
///     messages.push(Message::assistant(format!("(def n {turn})")));
///     messages.push(Message::user(format!("n = {turn}")));
/// }
/// let (kept, stats) = compact(&messages, Some(&Compaction::default()), 10);
/// assert!(stats.triggered);
/// assert_eq!(kept.len(), 1 + 2 * 3);
/// assert_eq!((kept[0].content.as_str(), kept[1].content.as_str()), ("Count the orders", "(def n 7)"));
/// ```
pub fn compact(messages: &[Message], option: Option<&Compaction>, turn: u32) -> (Vec<Message>, Stats) {
    compact_with(messages, option, turn, estimate)
}

/// Compacts messages with the host's own token counter.
pub fn compact_with(
    messages: &[Message],
    option: Option<&Compaction>,
    turn: u32,
    tokens: impl Fn(&str) -> u64,
) -> (Vec<Message>, Stats) {
    let weights: Vec<u64> = messages.iter().map(|message| weight(message, &tokens)).collect();
    let before = weights.iter().fold(0, |sum: u64, weight| sum.saturating_add(*weight));
    let pressure = option.and_then(|option| pressure(option, turn, before));
    let kept = match (option, pressure) {
        (Some(option), Some(_)) => trim(messages, option),
        _ => (0..messages.len()).collect(),
    };
    let triggered = kept.len() < messages.len();
    let after = kept.iter().fold(0, |sum: u64, at| sum.saturating_add(weights[*at]));
    let first = messages.iter().position(|message| message.role == Role::User);
    let stats = Stats {
        enabled: option.is_some(),
        triggered,
        strategy: "trim".to_string(),
        reason: pressure.filter(|_| triggered),
        messages_before: messages.len(),
        messages_after: kept.len(),
        estimated_tokens_before: before,
        estimated_tokens_after: after,
        kept_initial_user: first.is_some_and(|first| kept.contains(&first)),
        kept_recent_turns: kept.iter().filter(|at| messages[**at].role == Role::Assistant).count(),
        over_budget: option.and_then(|option| option.after_tokens).is_some_and(|most| after >= most),
    };
    (kept.into_iter().map(|at| messages[at].clone()).collect(), stats)
}

fn weight(message: &Message, tokens: &impl Fn(&str) -> u64) -> u64 {
    let calls = message.tool_calls.iter().map(|call| {
        let args = call.args.as_ref().ok().and_then(|args| serde_json::to_string(args).ok());
        let args = args.map_or(0, |args| tokens(&args));
        tokens(&call.name).saturating_add(args)
    });
    let opaque = message.opaque.iter().map(|opaque| tokens(&opaque.part.to_string()));
    let parts = message.parts.iter().map(Part::estimated_tokens);
    calls.chain(opaque).chain(parts).fold(tokens(&message.content), u64::saturating_add)
}

fn pressure(option: &Compaction, turn: u32, tokens: u64) -> Option<Pressure> {
    if option.after_turns.is_some_and(|most| turn > most) {
        return Some(Pressure::TurnPressure);
    }
    option.after_tokens.is_some_and(|most| tokens >= most).then_some(Pressure::TokenPressure)
}

/// Returns the positions of the messages that stay.
fn trim(messages: &[Message], option: &Compaction) -> Vec<usize> {
    let all = || (0..messages.len()).collect();
    let Some(first) = messages.iter().position(|message| message.role == Role::User) else { return all() };
    // A request must end with the message that the model is to answer, so at least that one stays.
    let recent = (option.keep_recent_turns as usize).saturating_mul(2).max(1);
    let from = messages.len().saturating_sub(recent).max(first + 1);
    if from <= first + 1 {
        return all();
    }
    // A conversation begins with the user: without the first message, with a later one of theirs. If all others are
    // results of calls, the first message stays regardless of the option.
    let with_first = option.keep_initial_user;
    let start = tail_start(messages, first, from, with_first).map(|start| (start, with_first));
    let start = start.or_else(|| Some((tail_start(messages, first, from, true)?, true)));
    let Some((start, with_first)) = start else { return all() };
    let mut called: HashSet<Option<&str>> = HashSet::new();
    let mut is_paired = |at: &usize| {
        let message = &messages[*at];
        called.extend(message.tool_calls.iter().map(|call| call.id.as_deref()));
        message.role != Role::Tool || called.contains(&message.tool_call_id.as_deref())
    };
    let tail = (start..messages.len()).filter(|at| is_paired(at));
    with_first.then_some(first).into_iter().chain(tail).collect()
}

/// Returns where the kept end of the conversation begins: at `from`, or at the next possible message. If one reply has
/// more results than are to be kept, that whole turn stays.
fn tail_start(messages: &[Message], first: usize, from: usize, with_first: bool) -> Option<usize> {
    let may_start = |at: &usize| match messages[*at].role {
        Role::User => true,
        Role::Assistant => with_first && is_answered(messages, *at),
        Role::Tool => false,
    };
    (from..messages.len()).find(may_start).or_else(|| (first + 1..from).rev().find(may_start))
}

/// Returns whether every call of a reply is followed at once by its result.
fn is_answered(messages: &[Message], at: usize) -> bool {
    let results = messages[at + 1..].iter().take_while(|message| message.role == Role::Tool);
    let results: Vec<Option<&str>> = results.map(|message| message.tool_call_id.as_deref()).collect();
    let calls = &messages[at].tool_calls;
    results.len() >= calls.len() && calls.iter().all(|call| results.contains(&call.id.as_deref()))
}
