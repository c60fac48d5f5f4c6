//! Recorded turns as tools for the prelude `log`: programs look at earlier turns of agents and sessions.

use super::{Analyzer, SessionRecord, TurnRecord};
use ptc_runtime::{Effects, ToolArgs, ToolError, Tools};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Names of the tools, in the order of the reference.
pub const LOG_TOOLS: [&str; 4] = ["log_sessions", "log_turns", "log_programs", "log_tool_calls"];

/// Default and maximum number of items on a page.
const LIMIT: usize = 20;
const MAX_LIMIT: usize = 100;

/// Recorded turns of a trace, for programs. Read once: later additions to the trace are not seen.
///
/// ```
/// use ptc_agent::trace::{AgentLabel, Analyzer, Kind, TurnLog, start_memory_sink};
/// use ptc_runtime::{Attach, Grants, LoadOptions, Prelude, Runtime, Tools};
/// let (tracer, memory) = start_memory_sink();
/// let mission = tracer.mission(AgentLabel::new(Some("triage"), "c0ffee12"), None);
/// mission.child().emit(Kind::Turn, |event| {
///     event.turn = Some(1);
///     event.put("program", "(+ 1 2)");
/// });
/// let tools = TurnLog::new(&Analyzer::of(memory.events())).grant(Tools::new())?;
///
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let prelude = Prelude::load(&runtime, ptc_preludes::log(), &LoadOptions::default())?;
/// let runtime = runtime.with_tools(tools).attach(&prelude, &Attach::new())?;
/// let programs = runtime.eval("(map :program (log/programs-all))", &Grants::new())?;
/// assert_eq!(programs.print()?, r#"["(+ 1 2)"]"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct TurnLog(Arc<Recorded>);

struct Recorded {
    turns: Vec<TurnRecord>,
    sessions: Vec<SessionRecord>,
}

/// Arguments of the tools.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Query {
    session: Option<String>,
    agent: Option<String>,
    failed: Option<bool>,
    contains: Option<String>,
    tool: Option<String>,
    cursor: Option<Cursor>,
    limit: Option<i64>,
}

/// Position of a page. Programs pass it back as text, but numbers are accepted too.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cursor {
    Number(u64),
    Text(String),
}

impl TurnLog {
    /// Returns the log of this trace.
    pub fn new(trace: &Analyzer) -> TurnLog {
        TurnLog(Arc::new(Recorded { turns: trace.turns(), sessions: trace.sessions() }))
    }

    /// Grants the tools `log_sessions`, `log_turns`, `log_programs` and `log_tool_calls`, which only read. The error
    /// names a tool that is granted already.
    pub fn grant(&self, tools: Tools) -> Result<Tools, String> {
        if let Some(name) = LOG_TOOLS.iter().find(|name| tools.grants(name)) {
            return Err(format!("the tool `{name}` is granted already; that name belongs to the log"));
        }
        let lists: [fn(&Recorded, &Query) -> Vec<Value>; 4] =
            [Recorded::sessions, Recorded::turns, Recorded::programs, Recorded::tool_calls];
        Ok(LOG_TOOLS.iter().zip(lists).fold(tools, |tools, (name, list)| {
            let recorded = self.0.clone();
            tools.effect(name, Effects::Read).with(name, move |args: ToolArgs| {
                let query = Query::deserialize(args.json()?).map_err(|error| {
                    ToolError::new(format!(
                        "{error}; a query has session, agent, failed, contains, tool, cursor, limit"
                    ))
                })?;
                page(list(&recorded, &query), &query)
            })
        }))
    }
}

/// Returns the requested page of a list.
fn page(items: Vec<Value>, query: &Query) -> Result<Value, ToolError> {
    let limit = match query.limit {
        None => LIMIT,
        Some(limit) => {
            usize::try_from(limit).ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| {
                ToolError::new(format!("`limit` must be from 1 to {MAX_LIMIT}, but it is {limit}"))
            })?
        }
    };
    let from = match &query.cursor {
        None => Some(0),
        Some(Cursor::Number(from)) => usize::try_from(*from).ok(),
        Some(Cursor::Text(from)) => from.parse().ok(),
    };
    let from = from.ok_or_else(|| ToolError::new("`cursor` must be the `next_cursor` of a page"))?;
    let end = from.saturating_add(limit).min(items.len());
    let more = end < items.len();
    let page: Vec<Value> = items.into_iter().skip(from).take(limit).collect();
    Ok(json!({
        "items": page, "next_cursor": more.then(|| end.to_string()), "has_more": more, "limit": limit,
    }))
}

fn as_json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

impl Recorded {
    fn wanted<'a>(&'a self, query: &'a Query) -> impl Iterator<Item = &'a TurnRecord> {
        self.turns.iter().filter(move |turn| {
            let is = |wanted: &Option<String>, found: Option<&str>| {
                wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
            };
            let says = |text: &str| {
                let places = [turn.program.as_deref(), turn.result_preview.as_deref()];
                places
                    .into_iter()
                    .flatten()
                    .chain(turn.prints.iter().map(String::as_str))
                    .any(|place| place.contains(text))
            };
            is(&query.session, Some(&turn.session_id))
                && is(&query.agent, turn.agent_name.as_deref())
                && query.failed.is_none_or(|failed| failed != turn.success)
                && query.contains.as_deref().is_none_or(says)
                && query
                    .tool
                    .as_deref()
                    .is_none_or(|tool| turn.tool_calls.iter().any(|call| call["tool"] == tool))
        })
    }

    fn sessions(&self, query: &Query) -> Vec<Value> {
        let narrowed = query.failed.is_some() || query.contains.is_some() || query.tool.is_some();
        let found: Option<std::collections::HashSet<&str>> =
            narrowed.then(|| self.wanted(query).map(|turn| turn.session_id.as_str()).collect());
        let is = |session: &&SessionRecord| {
            query.session.as_ref().is_none_or(|id| *id == session.session_id)
                && query.agent.as_ref().is_none_or(|agent| session.agent_name.as_ref() == Some(agent))
                && found.as_ref().is_none_or(|found| found.contains(session.session_id.as_str()))
        };
        self.sessions.iter().filter(is).map(as_json).collect()
    }

    fn turns(&self, query: &Query) -> Vec<Value> {
        self.wanted(query).map(as_json).collect()
    }

    fn programs(&self, query: &Query) -> Vec<Value> {
        let programs = self.wanted(query).filter(|turn| turn.program.is_some());
        programs
            .map(|turn| {
                json!({
                    "session_id": turn.session_id, "agent_name": turn.agent_name, "turn": turn.turn,
                    "program": turn.program, "success": turn.success, "result_preview": turn.result_preview,
                })
            })
            .collect()
    }

    fn tool_calls(&self, query: &Query) -> Vec<Value> {
        let calls = self.wanted(query).flat_map(|turn| turn.tool_calls.iter().map(move |call| (turn, call)));
        calls
            .filter(|(_, call)| query.tool.as_deref().is_none_or(|tool| call["tool"] == tool))
            .map(|(turn, call)| {
                json!({
                    "session_id": turn.session_id, "agent_name": turn.agent_name, "turn": turn.turn,
                    "tool": call["tool"], "server": call["server"], "outcome": call["outcome"],
                    "duration_ms": call["duration_ms"], "args_hash": call["args_hash"],
                })
            })
            .collect()
    }
}
