//! Where two runs differ: their turns side by side.

use super::Wrong;
use super::traces::{found, load};
use crate::studio::Studio;
use crate::trace::page::turns;
use serde::Deserialize;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};
use std::time::{Duration, Instant};

/// Turns that are compared.
const MAX_TURNS: usize = 500;
/// Time for all comparisons; where it is over, texts are shown as wholly different.
const TIME: Duration = Duration::from_secs(2);

/// Two traces.
#[derive(Deserialize)]
pub struct Two {
    a: String,
    b: String,
}

/// Returns the turns of two traces, with the lines that only one of them has.
pub fn compare(studio: &Studio, two: &Two) -> Result<Value, Wrong> {
    let read = |name: &str| -> Result<_, Wrong> { Ok(turns(&load(&found(studio, name)?.0)?)) };
    let (a, b) = (read(&two.a)?, read(&two.b)?);
    let until = Instant::now() + TIME;
    let count = a.len().max(b.len());
    let rows: Vec<Value> = (0..count.min(MAX_TURNS))
        .map(|at| {
            let (a, b) = (a.get(at), b.get(at));
            let of = |turn: Option<&crate::trace::page::Turn>| {
                turn.map(|turn| json!({"title": turn.title, "failed": turn.failed}))
            };
            let text = |turn: Option<&crate::trace::page::Turn>| {
                turn.map_or(String::new(), |turn| turn.text.clone())
            };
            json!({"a": of(a), "b": of(b), "lines": lines(&text(a), &text(b), until)})
        })
        .collect();
    Ok(json!({"rows": rows, "left_out": count.saturating_sub(MAX_TURNS)}))
}

/// Returns the lines of two texts, each with `-`, `+` or a blank.
fn lines(a: &str, b: &str, until: Instant) -> Vec<Value> {
    let diff = TextDiff::configure().deadline(until).diff_lines(a, b);
    let sign = |tag: ChangeTag| match tag {
        ChangeTag::Delete => "-",
        ChangeTag::Insert => "+",
        ChangeTag::Equal => " ",
    };
    diff.iter_all_changes()
        .map(|change| json!([sign(change.tag()), change.value().trim_end_matches('\n')]))
        .collect()
}
