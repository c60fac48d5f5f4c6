//! A trace as text. Everything in it was said by somebody else: control characters never reach the terminal.

use crate::quantity::counted;
use ptc_agent::trace::{Analyzer, Kind, Span, SpanKind, Summary, Tree};
use ptc_studio::trace::{dollars, effect, grouped, one_line, problems, took};
use serde_json::{Value, json};
use std::fmt::Write;

/// Levels that are indented; deeper ones stand under the last.
const MAX_LEVELS: usize = 40;

/// The tree with its figures.
pub fn tree(trace: &Analyzer, programs: bool, colour: bool) -> String {
    let tree = trace.build_tree();
    let mut out = head(trace, &trace.summary());
    let (offsets, durations): (Vec<String>, Vec<String>) = {
        let began = tree.spans.iter().map(|span| span.start).min().unwrap_or_default();
        let offset = |span: &Span| took(span.start.duration_since(began).try_into().unwrap_or_default());
        tree.spans.iter().map(|span| (offset(span), took(span.duration))).unzip()
    };
    let width = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let (first, second) = (width(&offsets).max(5), width(&durations).max(4));
    let _ = writeln!(out, "\n{:>first$}  {:>second$}", "after", "took");
    // For each level above: whether something follows there.
    let mut follows: Vec<bool> = Vec::new();
    let last = last_children(&tree);
    for (at, span) in tree.spans.iter().enumerate() {
        let depth = span.depth as usize;
        follows.truncate(depth);
        let lead = lead(&follows, depth, last[at]);
        let _ = writeln!(
            out,
            "{:>first$}  {:>second$}  {lead}{}",
            offsets[at],
            durations[at],
            painted(span, &label(trace, span), colour)
        );
        follows.push(!last[at]);
        if programs && let Some(program) = program(trace, span) {
            let rest = lead_below(&follows, depth);
            for line in program.lines() {
                let row = format!("{:>first$}  {:>second$}  {rest}  {}", "", "", one_line(line, 400));
                let _ = writeln!(out, "{}", row.trim_end());
            }
        }
    }
    out
}

fn head(trace: &Analyzer, summary: &Summary) -> String {
    let mut out = String::new();
    let start = trace.filter(|event| event.kind == Kind::RunStart && event.depth == 0);
    if let Some(prompt) = start.first().and_then(|event| event.data.get("prompt")?.as_str()) {
        let _ = writeln!(out, "mission  {}", one_line(prompt, 100));
    }
    let _ = writeln!(out, "status   {}", one_line(summary.status.as_deref().unwrap_or("not ended"), 60));
    let _ = writeln!(out, "took     {}", took(std::time::Duration::from_millis(summary.duration_ms)));
    let failed = |n: usize| if n > 0 { format!(", {n} failed") } else { String::new() };
    let _ = writeln!(
        out,
        "turns    {}{}, of {}",
        summary.turns,
        failed(summary.failed_turns),
        counted(summary.traces as u64, "mission")
    );
    let tokens = &summary.tokens;
    let cache = tokens.cache_read.map_or(String::new(), |read| format!(", {} from the cache", grouped(read)));
    let cost = tokens.total_cost.map_or(String::new(), |cost| format!(", {}", dollars(cost)));
    let _ = writeln!(
        out,
        "models   {}, {} tokens in{cache}, {} out{cost}",
        counted(summary.llm_requests as u64, "request"),
        grouped(tokens.input.unwrap_or(0)),
        grouped(tokens.output.unwrap_or(0)),
    );
    let errors = summary.tools.values().map(|tool| tool.errors).sum();
    let cached: usize = summary.tools.values().map(|tool| tool.cached).sum();
    let cached = if cached > 0 { format!(", {cached} from the cache") } else { String::new() };
    let _ =
        writeln!(out, "tools    {}{}{cached}", counted(summary.tool_calls as u64, "call"), failed(errors));
    out
}

/// For each span, true if it is the last of its parent.
fn last_children(tree: &Tree) -> Vec<bool> {
    let mut last = vec![false; tree.spans.len()];
    for children in tree.spans.iter().map(|span| &span.children).chain([&tree.roots]) {
        if let Some(child) = children.last() {
            last[*child] = true;
        }
    }
    last
}

fn lead(follows: &[bool], depth: usize, last: bool) -> String {
    if depth == 0 {
        return String::new();
    }
    let above = |on: &bool| if *on { "│  " } else { "   " };
    let mut lead: String = follows.iter().take(depth).skip(1).take(MAX_LEVELS).map(above).collect();
    if depth > MAX_LEVELS {
        let _ = write!(lead, "[{depth}] ");
    }
    lead + if last { "└─ " } else { "├─ " }
}

fn lead_below(follows: &[bool], depth: usize) -> String {
    let above = |on: &bool| if *on { "│  " } else { "   " };
    follows.iter().take(depth + 1).skip(1).take(MAX_LEVELS).map(above).collect()
}

fn label(trace: &Analyzer, span: &Span) -> String {
    let name = one_line(&span.name, 60);
    let mut label = match span.kind {
        SpanKind::Run => format!("agent {name}"),
        SpanKind::Llm => format!("model {name}"),
        SpanKind::Tool => format!("tool {name}"),
        SpanKind::Compiled => format!("compiled {name}"),
        SpanKind::Turn | SpanKind::Parallel | SpanKind::Other => name,
    };
    // The tokens of a turn are those of its request.
    if let Some(tokens) = span.tokens.filter(|_| span.kind == SpanKind::Llm) {
        let (input, output) = (tokens.input.unwrap_or(0), tokens.output.unwrap_or(0));
        let _ = write!(label, "  {} → {} tokens", grouped(input), grouped(output));
    }
    let events = span.events.iter().filter_map(|at| trace.events().get(*at));
    if events.clone().any(|event| event.data.get("cached").is_some_and(|cached| cached == true)) {
        label.push_str("  cached");
    }
    if let Some(effect) = events.clone().find_map(|event| effect(&event.data)) {
        let _ = write!(label, "  {effect}");
    }
    if span.failed {
        let why = events
            .rev()
            .find_map(|event| reason(&event.data))
            .map_or(String::new(), |why| format!(": {why}"));
        let _ = write!(label, "  failed{why}");
    } else if !span.ended && span.kind != SpanKind::Other {
        label.push_str("  not ended");
    }
    label
}

/// Why something failed, if an event says so.
fn reason(data: &serde_json::Map<String, Value>) -> Option<String> {
    let why = data.get("fail").or(data.get("error")).or(data.get("reason"))?;
    let text = match why {
        Value::Null | Value::Bool(_) => return None,
        Value::String(text) => text.clone(),
        Value::Object(fail) => match (fail.get("reason"), fail.get("message")) {
            (Some(Value::String(reason)), Some(Value::String(message))) => format!("{reason}: {message}"),
            (Some(Value::String(one)), _) | (_, Some(Value::String(one))) => one.clone(),
            _ => why.to_string(),
        },
        other => other.to_string(),
    };
    Some(one_line(&text, 100))
}

fn program(trace: &Analyzer, span: &Span) -> Option<String> {
    let events = span.events.iter().filter_map(|at| trace.events().get(*at));
    let mut stops = events.filter(|event| event.kind == Kind::TurnStop);
    stops.find_map(|event| event.data.get("program")?.as_str().map(str::to_string))
}

fn painted(span: &Span, label: &str, colour: bool) -> String {
    use nu_ansi_term::Color;
    match (colour, span.failed, span.kind) {
        (false, ..) => label.to_string(),
        (_, true, _) => Color::Red.paint(label).to_string(),
        (_, _, SpanKind::Run) => Color::Default.bold().paint(label).to_string(),
        (_, _, SpanKind::Llm) => Color::Blue.paint(label).to_string(),
        (_, _, SpanKind::Tool) => Color::Green.paint(label).to_string(),
        _ => label.to_string(),
    }
}

/// The spans that took longest.
pub fn slowest(trace: &Analyzer, most: usize) -> String {
    let tree = trace.build_tree();
    let rows: Vec<(String, String)> = trace
        .slowest(&tree, most)
        .into_iter()
        .map(|span| {
            let turn = span.turn.map_or(String::new(), |turn| format!("  (turn {turn})"));
            (took(span.duration), format!("{}{turn}", label(trace, span)))
        })
        .collect();
    let width = rows.iter().map(|(took, _)| took.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(took, label)| format!("{took:>width$}  {label}\n")).collect()
}

/// Summary and spans as JSON.
pub fn json(trace: &Analyzer) -> String {
    let tree = trace.build_tree();
    let began = tree.spans.iter().map(|span| span.start).min().unwrap_or_default();
    let spans: Vec<Value> = tree
        .spans
        .iter()
        .map(|span| {
            json!({
                "kind": span.kind.name(), "name": span.name, "depth": span.depth, "turn": span.turn,
                "trace_id": span.trace_id.to_string(), "span_id": span.id.to_string(),
                "offset_ms": span.start.duration_since(began).as_millis_f64(),
                "duration_ms": span.duration.as_secs_f64() * 1e3,
                "status": span.status, "failed": span.failed, "ended": span.ended, "tokens": span.tokens,
            })
        })
        .collect();
    json!({"summary": trace.summary(), "spans": spans, "problems": problems(trace)}).to_string()
}
