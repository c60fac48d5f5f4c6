//! Steps as text for people.

use super::step::Step;
use std::fmt::Write;

/// Optional parts of [`format_trace`], besides programs and results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TraceFormat {
    /// Replies as the model wrote them.
    pub raw: bool,
    /// Messages of each turn.
    pub messages: bool,
    /// Usage: turns, tokens and cost.
    pub usage: bool,
}

/// Formats the turns of a step, one after the other.
///
/// ```
/// use ptc_agent::{mission::{format_trace, TraceFormat}, run, tools::LlmRef, RunOptions};
/// use ptc_model::Scripted;
/// let model = LlmRef::client(Scripted::new(["(+ 1 2)", "(return *1)"]));
/// let step = run("Add", &RunOptions::new().llm(model)).unwrap();
/// let text = format_trace(&step, TraceFormat::default());
/// assert_eq!(text, "turn 1 (ok)\n  (+ 1 2)\n  => 3\nturn 2 (ok)\n  (return *1)\n  => 3\nreturned 3\n");
/// ```
pub fn format_trace(step: &Step, format: TraceFormat) -> String {
    use ptc_contract::data::{Shown, Tree, show};
    let shown = |value: &ptc_bytecode::Datum| {
        let limits = Shown { items: 50, string: 500, chars: 500, depth: 8 };
        show(Tree::new(value).root(), limits)
    };
    let mut text = String::new();
    let mut indented = |head: &str, body: &str| {
        for (i, line) in body.lines().enumerate() {
            let lead = if i == 0 { head } else { "" };
            let _ = writeln!(text, "  {lead}{line}");
        }
        std::mem::take(&mut text)
    };
    let mut out = String::new();
    for turn in &step.turns {
        let state = if turn.success { "ok" } else { "failed" };
        let _ = writeln!(out, "turn {} ({state})", turn.number);
        match &turn.program {
            Some(program) if !format.raw => out += &indented("", program),
            _ => out += &indented("", &turn.raw_response),
        }
        for call in &turn.tool_calls {
            let answer =
                call.error.as_ref().map_or_else(|| call.result.to_string(), |e| format!("error: {e}"));
            let cached = if call.cached { " (cached)" } else { "" };
            out += &indented("tool/", &format!("{} {} => {answer}{cached}", call.name, call.args));
        }
        for line in &turn.prints {
            out += &indented("| ", line);
        }
        if let Some(result) = &turn.result {
            out += &indented("=> ", &shown(result));
        }
        if format.messages {
            for message in &turn.messages {
                out += &indented(&format!("{}: ", message.role.name()), &message.content);
            }
        }
    }
    match (&step.returned, &step.fail) {
        (_, Some(fail)) => {
            let _ = writeln!(out, "failed with {fail}");
        }
        (Some(value), None) => {
            let _ = writeln!(out, "returned {}", shown(value));
        }
        (None, None) => {}
    }
    if format.usage {
        let usage = &step.usage;
        let _ = writeln!(
            out,
            "{} turns, {} requests, {} tokens, {} ms",
            usage.turns, usage.llm_requests, usage.total_tokens, usage.duration_ms
        );
    }
    out
}
