//! Comparison of a trace with its replay.

use super::{Difference, RecordedMission, Shared, lock};
use crate::Step;
use crate::trace::{Event, Kind, to_line};
use serde_json::Value;

/// Reasons of missions that were stopped by the clock or by hand; a replay ends there too.
const STOPPED: &[&str] = &["cancelled", "mission_timeout"];

impl RecordedMission {
    /// Returns the first difference between the trace and the replay.
    pub(super) fn compare(
        &self,
        result: &Result<Step, Box<Step>>,
        events: &[Event],
        playing: &Shared,
    ) -> Option<Difference> {
        let root = events.iter().find(|event| event.kind == Kind::RunStart && event.depth == 0);
        let now: Vec<&Event> = match root {
            Some(root) => events.iter().filter(|event| event.trace_id == root.trace_id).collect(),
            None => Vec::new(),
        };
        // Any other difference may follow from this one.
        let preludes = self.preludes(&now);
        if preludes.is_some() {
            return preludes;
        }
        let in_turns = self.turns(&now);
        let playing = lock(playing);
        let met = playing.differences.first().cloned();
        // The next request repeats the outcome of a turn, so the turn is where the difference began.
        match (in_turns, met) {
            (Some(turn), Some(met)) if turn.turn < met.turn || met.turn.is_none() => return Some(turn),
            (_, Some(met)) => return Some(met),
            (turn, None) => {
                if turn.is_some() {
                    return turn;
                }
            }
        }
        let result = self.result(result, &now);
        if result.is_some() {
            return result;
        }
        if let Some(i) = playing.asked.iter().position(|used| !used) {
            let asked = &self.0.asked[i];
            return Some(Difference {
                agent: asked.agent.clone(),
                turn: Some(asked.turn),
                what: "the request",
                recorded: asked.text.clone(),
                now: "(not asked)".to_string(),
            });
        }
        // Several equal calls of a cached tool may have become one call this time.
        let is_shared = |i: usize| {
            let call = &self.0.answered[i];
            let others = self.0.answered.iter().zip(&playing.answered).filter(|(_, used)| **used);
            playing.cached.contains(&call.tool) && others.into_iter().any(|(other, _)| other.is_like(call))
        };
        let unused = |i: &usize| !playing.answered[*i] && !is_shared(*i);
        let i = (0..playing.answered.len()).find(unused)?;
        let call = &self.0.answered[i];
        Some(Difference {
            agent: call.agent.clone(),
            turn: call.turn,
            what: "a tool call",
            recorded: format!("tool/{} {}", call.tool, call.args),
            now: "(not called)".to_string(),
        })
    }

    /// Compares the preludes of each turn; returns the first difference.
    fn preludes(&self, now: &[&Event]) -> Option<Difference> {
        let records = |event: &&Event| event.kind == Kind::Turn;
        let now = now.iter().copied().filter(records);
        for (was, is) in self.0.root.iter().filter(records).zip(now) {
            let of = |event: &Event| event.data.get("preludes").and_then(Value::as_array).cloned();
            let (recorded, now) = (of(was)?, of(is).unwrap_or_default());
            // Traces of earlier versions record fewer fields.
            let is_same = |was: &Value, is: &Value| {
                was.as_object().is_some_and(|was| was.iter().all(|(key, value)| is.get(key) == Some(value)))
            };
            if recorded.len() != now.len() || !recorded.iter().zip(&now).all(|(was, is)| is_same(was, is)) {
                let agent = was.agent_name.as_deref().map(str::to_string);
                let (recorded, now) = (shown(&recorded), shown(&now));
                return Some(Difference { agent, turn: was.turn, what: "the preludes", recorded, now });
            }
        }
        None
    }

    /// Compares programs and their results, turn by turn.
    fn turns(&self, now: &[&Event]) -> Option<Difference> {
        let stops = |event: &&Event| event.kind == Kind::TurnStop;
        let now = now.iter().copied().filter(stops);
        for (was, is) in self.0.root.iter().filter(stops).zip(now) {
            let is = written(is);
            for (key, what) in [("program", "the program"), ("result_preview", "the result of the turn")] {
                let text = |value: Option<&Value>| match value {
                    Some(Value::String(text)) => text.clone(),
                    Some(other) => other.to_string(),
                    None => String::new(),
                };
                let (recorded, now) =
                    (text(was.data.get(key)), text(is.get("data").and_then(|data| data.get(key))));
                if recorded != now && !stopped(was.data.get("result_preview")) {
                    let agent = was.agent_name.as_deref().map(str::to_string);
                    return Some(Difference { agent, turn: was.turn, what, recorded, now });
                }
            }
        }
        None
    }

    fn result(&self, result: &Result<Step, Box<Step>>, now: &[&Event]) -> Option<Difference> {
        let was = self.0.root.iter().find(|event| event.kind.ends_run())?;
        let is = now.iter().find(|event| event.kind.ends_run()).map(|event| written(event));
        let told = |data: Option<&Value>| {
            let part = |key: &str| data.and_then(|data| data.get(key)).filter(|value| !value.is_null());
            match (part("return"), part("fail")) {
                (_, Some(fail)) => {
                    let text = |key: &str| fail.get(key).and_then(Value::as_str).unwrap_or_default();
                    format!("failed with {}: {}", text("reason"), text("message"))
                }
                (Some(value), None) => format!("returned {value}"),
                (None, None) => "returned null".to_string(),
            }
        };
        let recorded = told(Some(&Value::Object(was.data.clone())));
        let now = match (&is, result) {
            (Some(is), _) => told(is.get("data")),
            // The replay did not even start.
            (None, Err(step)) => format!("failed with {}", step.fail.clone().unwrap_or_default()),
            (None, Ok(_)) => String::new(),
        };
        let is_stopped = result.as_ref().is_err_and(|step| step.reason() == "cancelled");
        if recorded == now || (is_stopped && was_stopped(&self.0.root)) {
            return None;
        }
        let agent = was.agent_name.as_deref().map(str::to_string);
        Some(Difference { agent, turn: None, what: "the result", recorded, now })
    }
}

/// Formats preludes, one line each: namespaces and identity.
fn shown(preludes: &[Value]) -> String {
    let line = |prelude: &Value| {
        let names = prelude.get("namespaces").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        let hash = |key: &str| prelude.get(key).and_then(Value::as_str).unwrap_or("unknown");
        format!(
            "{}: source {}, artifact {}, interface {}\n",
            names.join(" "),
            hash("source_hash"),
            hash("artifact_hash"),
            hash("interface_hash")
        )
    };
    match preludes {
        [] => "(none)\n".to_string(),
        some => some.iter().map(line).collect(),
    }
}

/// Returns whether the recorded mission was stopped by the clock or by hand.
pub(super) fn was_stopped(root: &[Event]) -> bool {
    let stop = root.iter().find(|event| event.kind.ends_run());
    let reason = stop.and_then(|stop| stop.data.get("fail")?.get("reason")?.as_str());
    reason.is_some_and(|reason| STOPPED.contains(&reason))
}

/// Returns whether a turn ended because its mission was stopped.
fn stopped(preview: Option<&Value>) -> bool {
    let text = preview.and_then(Value::as_str).unwrap_or_default();
    STOPPED.iter().any(|reason| text.contains(&format!("\"{reason}\"")))
}

/// Returns the event as a file has it: cut at the same places.
fn written(event: &Event) -> Value {
    serde_json::from_str(&to_line(event)).unwrap_or_default()
}
