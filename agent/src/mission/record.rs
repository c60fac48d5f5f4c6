//! Record of a turn, for the host and the trace.

use super::excerpt::shown;
use super::place::now;
use super::state::{Mission, TurnOutcome, fail_datum, memory_of};
use super::step::{CallRecord, Fail, Turn, json_of};
use crate::definition::TraceMode;
use crate::trace::{Event, Kind};
use ptc_bytecode::Datum;
use ptc_contract::data::{Shown, Tree, show_public};
use ptc_contract::firewall::{FIREWALLED, is_firewalled, redact_marked, without_media};
use ptc_runtime::Frozen;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Instant;

/// Limits on the shown part of a result, and of one definition, in a trace.
pub(crate) const RESULT: Shown = Shown { items: 50, string: 1000, chars: 4000, depth: 8 };
const DEFINITION: Shown = Shown { items: 10, string: 200, chars: 500, depth: 4 };

/// State of the mission when a turn began.
pub(super) struct TurnStart {
    /// Number of messages.
    pub messages: usize,
    /// Definitions, if somebody wants to know their changes.
    pub memory: BTreeMap<String, Frozen>,
    pub started: Instant,
}

impl Mission {
    /// Ends a turn.
    pub(super) fn close_turn(
        &mut self,
        mut turn: Turn,
        before: &TurnStart,
        result: &Result<TurnOutcome, Fail>,
    ) {
        turn.success = match result {
            Ok(TurnOutcome::Continue(next)) => next.success,
            Ok(TurnOutcome::Done(_)) => true,
            Err(_) => false,
        };
        if let Err(fail) = result
            && turn.result.is_none()
        {
            turn.result = fail_datum(fail);
        }
        let elapsed = now().saturating_duration_since(before.started);
        turn.duration_ms = elapsed.as_millis() as u64;
        turn.messages = self.state.messages[before.messages.min(self.state.messages.len())..].to_vec();
        // Texts have placeholders; the history has the parts.
        turn.messages.iter_mut().for_each(|message| message.parts.clear());
        if let Some(engine) = &self.engine {
            turn.memory = memory_of(engine);
        }
        self.place.scope.emit(Kind::TurnStop, |event| {
            event.turn = Some(turn.number);
            event.duration = Some(elapsed);
            event.tokens = turn.tokens;
            event.status = Some(status(&turn));
            event.put("type", turn.kind.name());
            if let Some(stop) = &turn.stop {
                event.put("stop", json!(stop));
            }
            event.put("success", turn.success);
            match &turn.program {
                Some(program) => event.put("program", program.as_str()),
                None => event.put("raw_response", turn.raw_response.as_str()),
            };
            event.put("prints", json!(turn.clear_prints.as_ref().unwrap_or(&turn.prints)));
            event.put("result_preview", json!(preview(turn.result.as_ref())));
        });
        self.place.scope.emit(Kind::Turn, |event| turn_record(event, &turn, before));
        // The last turn is always kept, because guards read it.
        if self.run.trace == TraceMode::Never {
            self.state.turns.clear();
        }
        self.state.turns.push(turn);
    }
}

fn status(turn: &Turn) -> String {
    if turn.success { "ok" } else { "error" }.to_string()
}

/// Writes the canonical record: everything that a reader of logs needs to know of one turn.
fn turn_record(event: &mut Event, turn: &Turn, before: &TurnStart) {
    event.turn = Some(turn.number);
    event.status = Some(status(turn));
    let calls: Vec<Value> = turn.tool_calls.iter().map(CallRecord::summary).collect();
    let fail = turn
        .result
        .as_ref()
        .filter(|_| !turn.success)
        .map(|value| json_of(&redact_marked(&without_media(value))));
    let preludes = turn.prelude_trace.as_ref().map_or(Vec::new(), |trace| trace.identities());
    event.put("driver", "sub_agent");
    event.put("session_id", event.trace_id.to_string());
    event.put("attempt", turn.number);
    event.put("committed", turn.success);
    event.put("program", json!(turn.program));
    event.put("raw_response", turn.raw_response.as_str());
    event.put("result_preview", json!(preview(turn.result.as_ref())));
    event.put("prints", json!(turn.clear_prints.as_ref().unwrap_or(&turn.prints)));
    event.put("memory_diff", memory_diff(&before.memory, &turn.memory));
    event.put("tool_calls", calls);
    event.put("limits_hit", json!(turn.limits_hit));
    event.put("preludes", preludes);
    event.put("fail", json!(fail));
    event.put("turn_type", turn.kind.name());
}

/// Returns the definitions that are new or changed between two moments, with the beginning of each value.
pub(crate) fn memory_diff(before: &BTreeMap<String, Frozen>, after: &BTreeMap<String, Frozen>) -> Value {
    let is_new =
        |(name, value): &(&String, &Frozen)| before.get(*name).is_none_or(|known| !known.is_same(value));
    let changed: Vec<(&String, &Frozen)> = after.iter().filter(is_new).collect();
    let keys: Vec<&String> = changed.iter().map(|(name, _)| *name).collect();
    let values: Map<String, Value> = changed
        .iter()
        .map(|(name, value)| {
            let text = match is_firewalled(name) {
                true => FIREWALLED.to_string(),
                false => show_public(Tree::new(&shown(value)).root(), DEFINITION),
            };
            ((*name).clone(), Value::String(text))
        })
        .collect();
    json!({"changed_keys": keys, "values": values})
}

/// Returns the beginning of a value, without firewalled parts.
fn preview(value: Option<&Datum>) -> Option<String> {
    value.map(|value| show_public(Tree::new(value).root(), RESULT))
}
