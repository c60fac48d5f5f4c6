//! The tasks. Each has a question, the calls that a competent model makes directly, and programs that a competent
//! model writes; both see nothing but the question and what came back before.
//!
//! Scripts of direct calls use the tools that need the fewest tokens, with filters and large pages, and call side by side
//! whatever does not depend on each other. What they compute in Rust, a model has to do in its head: `head` says what.

mod files;
mod forge;
mod git;
mod memory;
mod several;
mod shop;
mod sqlite;
mod time;

use crate::direct::Direct;
use serde_json::Value;
use std::io::Result;

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
fn as_it_is(value: Value) -> Value {
    value
}

/// All tasks.
pub fn all() -> Vec<Task> {
    [
        files::all(),
        git::all(),
        sqlite::all(),
        time::all(),
        memory::all(),
        forge::all(),
        shop::all(),
        several::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The part of a text between two others.
fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let from = text.find(start).map_or(0, |at| at + start.len());
    let text = &text[from..];
    &text[..text.find(end).unwrap_or(text.len())]
}

/// A number of JSON.
fn int(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// A text of JSON.
fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A list of JSON.
fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
