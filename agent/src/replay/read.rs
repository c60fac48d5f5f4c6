//! Reading of traces for replays.

use super::model::{RecordedRequest, Reply, said};
use super::tools::RecordedCall;
use super::{RecordedMission, Tape};
use crate::trace::{Analyzer, Event, Kind, SpanId, TraceId};
use ptc_bytecode::Datum;
use ptc_contract::firewall::{FIREWALLED, is_firewalled};
use ptc_model::{LlmError, LlmResponse};
use ptc_runtime::bridge::json_to_datum;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// Reason why a trace cannot be replayed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotWhole(String);

impl fmt::Display for NotWhole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotWhole {}

impl RecordedMission {
    /// Reads the mission of a trace. The error says what is missing.
    pub fn of(trace: &Analyzer) -> Result<RecordedMission, NotWhole> {
        let problems = trace.problems();
        if let Some(first) = problems.told.first() {
            return Err(NotWhole(format!("the trace is damaged: {first}")));
        }
        let is_start = |event: &&Event| event.kind == Kind::RunStart && event.depth == 0;
        let Some(start) = trace.events().iter().find(is_start) else {
            return Err(NotWhole("the trace has no mission: it has no `run.start`".to_string()));
        };
        let root_id = start.trace_id;
        if let Some(other) = trace.events().iter().find(|event| is_start(event) && event.trace_id != root_id)
        {
            let message = format!(
                "there are several missions, {root_id} and {} among them; name the file of one",
                other.trace_id
            );
            return Err(NotWhole(message));
        }
        let family = family(trace.events(), root_id);
        let events: Vec<Event> =
            trace.events().iter().filter(|event| family.contains(&event.trace_id)).cloned().collect();
        let events = &events[..];
        if let Some(lost) = events.iter().find(|event| event.kind == Kind::EventOmitted) {
            let name = lost.data.get("event").and_then(Value::as_str).unwrap_or("an event");
            let at = lost.turn.map_or(String::new(), |turn| format!(" of turn {turn}"));
            return Err(NotWhole(format!("`{name}`{at} was too large for the trace, so it is incomplete")));
        }
        let root: Vec<Event> = events.iter().filter(|event| event.trace_id == root_id).cloned().collect();
        if !root.iter().any(|event| event.kind.ends_run() && event.data.contains_key("usage")) {
            return Err(NotWhole(
                "the trace ends before the mission does: there is no `run.stop`".to_string(),
            ));
        }
        let mission = root.iter().find(|event| event.kind == Kind::TraceStart).and_then(kept_mission);
        let mut asked = asked(events)?;
        // The mission and its last request run out of time together, and the trace may report either.
        if super::compare::was_stopped(&root)
            && let Some(last) = asked.last_mut().filter(|last| matches!(last.reply, Reply::Failed(_)))
        {
            last.reply = Reply::Never;
        }
        let tape = Tape { asked, answered: answered(events)?, mission: mission.transpose()?, root };
        Ok(RecordedMission(Arc::new(tape)))
    }
}

/// Returns a trace and the traces of its child missions. Files of earlier missions may be in the same folder.
fn family(events: &[Event], root: TraceId) -> HashSet<TraceId> {
    let parent = |event: &Event| event.data.get("parent_trace_id")?.as_str()?.parse::<TraceId>().ok();
    let starts: Vec<(TraceId, TraceId)> = events
        .iter()
        .filter(|event| event.kind == Kind::TraceStart)
        .filter_map(|event| Some((event.trace_id, parent(event)?)))
        .collect();
    let mut family = HashSet::from([root]);
    // Each pass finds one level, and missions nest only a few levels deep.
    loop {
        let below = starts.iter().filter(|(id, parent)| family.contains(parent) && !family.contains(id));
        let below: Vec<TraceId> = below.map(|(id, _)| *id).collect();
        if below.is_empty() {
            break;
        }
        family.extend(below);
    }
    family
}

/// Returns definition and data, if the host recorded them.
fn kept_mission(start: &Event) -> Option<Result<Value, NotWhole>> {
    if start.data.contains_key("replay_omitted_bytes") {
        return None;
    }
    let kept = start.data.get("replay")?;
    if kept.get("context").is_some_and(hides) {
        let message = "the data of the mission has firewalled values, which the trace does not show; set \
                       `trace_firewalled = true` in the agent, and run it again";
        return Some(Err(NotWhole(message.to_string())));
    }
    if let Some(what) = kept.get("left_out").and_then(Value::as_str) {
        let message = format!("the data of the mission has {what}, which traces do not contain");
        return Some(Err(NotWhole(message)));
    }
    Some(Ok(kept.clone()))
}

/// Returns whether a firewalled value was left out. Recursion is bounded: JSON readers stop at 128 levels.
fn hides(value: &Value) -> bool {
    match value {
        Value::Object(map) => {
            map.iter().any(|(key, value)| (is_firewalled(key) && value == FIREWALLED) || hides(value))
        }
        Value::Array(items) => items.iter().any(hides),
        Value::String(text) => text.contains(FIREWALLED),
        _ => false,
    }
}

fn asked(events: &[Event]) -> Result<Vec<RecordedRequest>, NotWhole> {
    let stops: HashMap<(TraceId, SpanId), &Event> = events
        .iter()
        .filter(|event| event.kind == Kind::LlmStop)
        .map(|event| ((event.trace_id, event.span), event))
        .collect();
    let starts = events.iter().filter(|event| event.kind == Kind::LlmStart);
    starts.map(|start| one_asked(start, stops.get(&(start.trace_id, start.span)).copied())).collect()
}

fn one_asked(start: &Event, stop: Option<&Event>) -> Result<RecordedRequest, NotWhole> {
    let turn = start.turn.unwrap_or(0);
    let agent = start.agent_name.as_deref().map(str::to_string);
    let who = agent.as_deref().map_or(String::new(), |name| format!(" of `{name}`"));
    let wrong = |why: &str| NotWhole(format!("turn {turn}{who}: {why}"));
    let hash = start.data.get("request_hash").and_then(Value::as_str);
    let hash = hash.ok_or_else(|| wrong("`llm.start` has no `request_hash`"))?.to_string();
    let messages = start.data.get("messages").and_then(Value::as_array);
    let system = start.data.get("system_prompt").and_then(Value::as_str).map(|text| ("system", text));
    let new = messages.into_iter().flatten().filter_map(|message| {
        Some((message.get("role")?.as_str()?, message.get("content").and_then(Value::as_str).unwrap_or("")))
    });
    let text = said(system.into_iter().chain(new));
    // An abandoned request has no reply.
    let reply = match stop {
        None => Reply::Never,
        Some(stop) => replied(stop).map_err(|why| wrong(&why))?,
    };
    Ok(RecordedRequest { agent, depth: start.depth, turn, hash, text, reply })
}

fn replied(stop: &Event) -> Result<Reply, String> {
    let retries = stop.data.get("retries").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
    let retries = retries.unwrap_or(0);
    match (stop.data.get("response"), stop.data.get("error")) {
        (Some(response), _) => {
            let mut response: LlmResponse = serde_json::from_value(response.clone())
                .map_err(|error| format!("the reply cannot be read: {error}"))?;
            response.retries = retries;
            Ok(Reply::Said(Box::new(response)))
        }
        // The mission's failure stands in the place of the model's.
        (None, Some(error)) => Ok(match serde_json::from_value::<LlmError>(error.clone()) {
            Ok(error) => Reply::Failed(Box::new(LlmError { retries, ..error })),
            Err(_) => Reply::Never,
        }),
        (None, None) => Err("`llm.stop` has neither `response` nor `error`".to_string()),
    }
}

fn answered(events: &[Event]) -> Result<Vec<RecordedCall>, NotWhole> {
    // Calls do not name their turn; it is the last turn of their trace that began before them.
    let mut turns: HashMap<TraceId, u32> = HashMap::new();
    let mut found = Vec::new();
    for event in events {
        if event.kind == Kind::TurnStart {
            turns.insert(event.trace_id, event.turn.unwrap_or(0));
        }
        if event.kind == Kind::ToolCall {
            let turn = event.turn.or_else(|| turns.get(&event.trace_id).copied());
            found.extend(one_answered(event, turn)?);
        }
    }
    Ok(found)
}

fn one_answered(call: &Event, turn: Option<u32>) -> Result<Option<RecordedCall>, NotWhole> {
    let tool = call.tool_name.clone().unwrap_or_default();
    let at = turn.map_or(String::new(), |turn| format!(" in turn {turn}"));
    let wrong = |why: &str| NotWhole(format!("the result of `tool/{tool}`{at} cannot be replayed: {why}"));
    if let Some(bytes) = call.data.get("replay_omitted_bytes") {
        return Err(wrong(&format!("it has {bytes} bytes, and the trace left it out")));
    }
    // Calls that no host code answered: agents and models answer again, checks refuse again.
    let Some(replay) = call.data.get("replay") else { return Ok(None) };
    if let Some(why) = replay.get("lost").and_then(Value::as_str) {
        return Err(wrong(why));
    }
    if hides(replay) {
        let why = "it has firewalled values, which the trace does not show; set `trace_firewalled = true` in the agent, \
                   and run it again";
        return Err(wrong(why));
    }
    let key = replay.get("key").and_then(Value::as_str).ok_or_else(|| wrong("it has no key"))?.to_string();
    let answer = match (replay.get("answer"), replay.get("nodes"), replay.get("error")) {
        (Some(json), ..) => Ok(json_to_datum(json).map_err(|error| wrong(&error.to_string()))?),
        (_, Some(nodes), _) => {
            let datum: Datum =
                serde_json::from_value(nodes.clone()).map_err(|error| wrong(&error.to_string()))?;
            // The file is untrusted, so its nodes are validated.
            Ok(Datum::new(datum.nodes().to_vec()).ok_or_else(|| wrong("its nodes are invalid"))?)
        }
        (_, _, Some(error)) => Err(error.as_str().unwrap_or("no message").to_string()),
        _ => return Err(wrong("it is not there")),
    };
    let args = call.data.get("args").map_or(String::new(), Value::to_string);
    let agent = call.agent_name.as_deref().map(str::to_string);
    Ok(Some(RecordedCall { agent, depth: call.depth, turn, tool, key, args, answer }))
}
