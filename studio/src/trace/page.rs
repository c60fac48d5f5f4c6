//! A trace as one HTML page that needs nothing else: style, script and data are in it, and it asks for nothing.
//!
//! What models, programs and tools said is data for the script, which only ever writes it as text. The policy
//! of the page lets no other script run and nothing be fetched.

use super::{dollars, effect, grouped, problems, sections, took};
use ptc_agent::trace::{Analyzer, Kind, Span, Tree, TurnRecord};
use ptc_bytecode::hex;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Spans that a browser shows without trouble; the others are left out, and told.
const MAX_SPANS: usize = 20_000;

/// Makes the page, as a file that needs nothing else.
pub fn html(trace: &Analyzer) -> String {
    made(trace, None).0
}

/// Where a page that is served looks for more: it is loaded again once its trace has grown.
pub struct Live<'p> {
    /// Address that tells the state of a trace.
    pub request: &'p str,
    /// Name of the trace there.
    pub name: &'p str,
    /// State that the page shows.
    pub version: &'p str,
}

/// Makes the page of a trace that may grow, and the policy it is served with.
pub fn html_live(trace: &Analyzer, live: &Live<'_>) -> (String, String) {
    made(trace, Some(live))
}

fn made(trace: &Analyzer, live: Option<&Live<'_>>) -> (String, String) {
    let tree = trace.build_tree();
    let mut data = data(trace, &tree);
    if let Some(Live { request, name, version }) = live {
        data["live"] = json!({"request": request, "name": name, "version": version});
    }
    let data = in_script(&data.to_string());
    // Nobody can know the hash of what their own text is part of.
    let nonce = hex(&Sha256::digest(data.as_bytes()).into());
    let title = in_text(&title(trace, &tree));
    let connect = if live.is_some() { "'self'" } else { "'none'" };
    let policy = format!(
        "default-src 'none'; style-src 'nonce-{nonce}'; script-src 'nonce-{nonce}'; connect-src {connect}; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    );
    // In one pass: what is filled in is not looked at again.
    let mut out = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
    let mut rest = PAGE;
    while let Some(at) = rest.find("{{") {
        let (before, after) = rest.split_at(at);
        let Some((name, after)) = after[2..].split_once("}}") else { break };
        out.push_str(before);
        out.push_str(match name {
            "title" => &title,
            "nonce" => &nonce,
            "connect" => connect,
            "style" => STYLE,
            "script" => SCRIPT,
            _ => &data,
        });
        rest = after;
    }
    (out + rest, policy)
}

/// A turn of a mission as text, for comparing.
pub struct Turn {
    /// Who took it, and its number.
    pub title: String,
    /// True if it failed.
    pub failed: bool,
    /// Its program, prints and result.
    pub text: String,
}

/// Returns the turns of a trace in their order.
pub fn turns(trace: &Analyzer) -> Vec<Turn> {
    let turn = |turn: TurnRecord| {
        let mut text = turn.program.unwrap_or_default();
        for print in &turn.prints {
            text += &format!("\n; printed: {print}");
        }
        for call in &turn.tool_calls {
            text += &format!("\n; called: {call}");
        }
        if let Some(result) = &turn.result_preview {
            text += &format!("\n;=> {result}");
        }
        if let Some(fail) = &turn.fail {
            text += &format!("\n; failed: {fail}");
        }
        let name = turn.agent_name.unwrap_or_else(|| turn.driver.clone());
        Turn { title: format!("{name}, turn {}", turn.turn), failed: !turn.success, text }
    };
    trace.turns().into_iter().map(turn).collect()
}

fn title(trace: &Analyzer, tree: &Tree) -> String {
    let name = tree.roots.first().map_or("trace", |root| &tree.spans[*root].name);
    match trace.files().first().and_then(|file| file.file_name()) {
        Some(file) => format!("{name} – {}", file.to_string_lossy()),
        None => name.to_string(),
    }
}

fn data(trace: &Analyzer, tree: &Tree) -> Value {
    let began = tree.spans.iter().map(|span| span.start).min().unwrap_or_default();
    let offset =
        |span: &Span| -> Duration { span.start.duration_since(began).try_into().unwrap_or_default() };
    let end =
        tree.spans.iter().map(|span| offset(span).saturating_add(span.duration)).max().unwrap_or_default();
    let mut parents = vec![-1i64; tree.spans.len()];
    for (at, span) in tree.spans.iter().enumerate() {
        span.children.iter().for_each(|child| parents[*child] = at as i64);
    }
    let spans: Vec<Value> = tree
        .spans
        .iter()
        .take(MAX_SPANS)
        .enumerate()
        .map(|(at, span)| {
            let events = span.events.iter().filter_map(|at| trace.events().get(*at));
            let cached = events.clone().any(|e| e.data.get("cached").is_some_and(|cached| cached == true));
            json!({
                "kind": span.kind.name(), "name": span.name, "depth": span.depth, "parent": parents[at],
                "from": millis(offset(span)), "ms": millis(span.duration), "took": took(span.duration),
                "after": took(offset(span)), "failed": span.failed, "ended": span.ended, "cached": cached,
                "status": span.status, "turn": span.turn, "effect": events.clone().find_map(|e| effect(&e.data)),
                "tokens": span.tokens.map(|t| json!([t.input.unwrap_or(0), t.output.unwrap_or(0)])),
                "cost": span.tokens.and_then(|t| t.total_cost).map(dollars),
                "parts": sections::of(events),
            })
        })
        .collect();
    let mut notes = problems(trace);
    if tree.spans.len() > MAX_SPANS {
        notes.push(format!(
            "{} spans are left out: the page shows the first {MAX_SPANS}",
            tree.spans.len() - MAX_SPANS
        ));
    }
    let mission = trace.filter(|event| event.kind == Kind::RunStart && event.depth == 0);
    let mission = mission.first().and_then(|event| event.data.get("prompt")?.as_str().map(str::to_string));
    json!({
        "mission": mission, "end": millis(end), "began": began.to_string(), "figures": figures(trace, end),
        "spans": spans, "notes": notes,
    })
}

/// The facts at the top: label, value, and true for bad news.
fn figures(trace: &Analyzer, end: Duration) -> Vec<Value> {
    let summary = trace.summary();
    let status = summary.status.clone().unwrap_or_else(|| "not ended".to_string());
    let errors: usize = summary.tools.values().map(|tool| tool.errors).sum();
    let with = |n: usize, bad: usize| if bad > 0 { format!("{n} ({bad} failed)") } else { n.to_string() };
    let tokens = &summary.tokens;
    let mut figures = vec![
        json!(["status", status, status != "ok"]),
        json!(["took", took(end), false]),
        json!(["missions", summary.traces.to_string(), false]),
        json!(["turns", with(summary.turns, summary.failed_turns), summary.failed_turns > 0]),
        json!(["requests", summary.llm_requests.to_string(), false]),
        json!(["tokens in", grouped(tokens.input.unwrap_or(0)), false]),
        json!(["tokens out", grouped(tokens.output.unwrap_or(0)), false]),
        json!(["tool calls", with(summary.tool_calls, errors), errors > 0]),
    ];
    if let Some(cost) = tokens.total_cost {
        figures.push(json!(["cost", dollars(cost), false]));
    }
    figures
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// JSON that cannot end the element it stands in.
fn in_script(json: &str) -> String {
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn in_text(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
