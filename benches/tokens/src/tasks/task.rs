//! A task, and helpers that all tasks share.

use crate::direct::Direct;
use serde_json::Value;
use std::io::Result;

/// A question with its answers by direct calls and by programs.
pub struct Task {
    pub id: &'static str,
    pub question: &'static str,
    pub servers: &'static [&'static str],
    /// What a model does without tools when it calls directly.
    pub head: &'static str,
    pub direct: fn(&mut Direct) -> Result<Value>,
    /// Tools that programs call, grouped by server: their arguments are looked up first.
    pub tools: &'static [&'static str],
    /// Programs, of which the last gives the answer. Those before look at results whose shape nobody promises.
    pub programs: &'static [&'static str],
    /// What a model reads out of the value of the last program; mostly that is the answer.
    pub read_out: fn(Value) -> Value,
}

/// The value is the answer.
pub fn as_it_is(value: Value) -> Value {
    value
}

/// The part of a text between two others.
pub fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).map_or(0, |at| at + start.len());
    let text = &text[from..];
    &text[..text.find(end).unwrap_or(text.len())]
}

/// A number of JSON.
pub fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// A text of JSON.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A list of JSON.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
