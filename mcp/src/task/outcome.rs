//! Outcome of a task, as one object.

use super::args::TaskArgs;
use super::model::Log;
use crate::cut;
use crate::host::items;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use ptc_agent::{Fail, Step};
use ptc_contract::firewall::{redact, redact_json};
use ptc_model::LlmError;
use ptc_runtime::bridge::datum_to_json;
use ptc_upstream::redact::Redactor;
use ptc_upstream::{Call, RunContext, matched_calls};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Instant;

/// Note on what the ratio in the metrics leaves out.
const NOTE: &str = "payload_reduction_ratio is about the answer and what servers sent; it excludes the planner cost, \
                    which is in server_side_llm";

/// Parts that the outcome is computed from.
pub(super) struct Parts<'t> {
    pub ended: MissionEnd,
    pub context: Arc<RunContext>,
    pub log: &'t Log,
    pub began: Instant,
    pub deadline: Instant,
}

impl<'t> Parts<'t> {
    /// Creates the parts of a task whose model cannot be used.
    pub fn unasked(context: Arc<RunContext>, log: &'t Log, began: Instant, error: &LlmError) -> Parts<'t> {
        let step = Step::failed(Fail::new(error.reason(), error.message.clone()));
        Parts { ended: MissionEnd(Box::new(step)), context, log, began, deadline: began }
    }
}

/// Final step of a mission, whether it succeeded or failed.
pub(super) struct MissionEnd(Box<Step>);

impl From<Result<Step, Box<Step>>> for MissionEnd {
    fn from(step: Result<Step, Box<Step>>) -> MissionEnd {
        MissionEnd(step.map_or_else(|step| step, Box::new))
    }
}

/// Outcome of a task.
pub(super) struct Outcome {
    /// Details of a failure.
    failed: Option<Failed>,
    answer: Map<String, Value>,
    /// Answer as text.
    text: Option<String>,
    calls: Vec<Value>,
    results: Vec<Value>,
    metrics: Option<Value>,
    planner_calls: Vec<Value>,
}

struct Failed {
    reason: Reason,
    message: String,
    /// Reason that the agent gives, if `reason` is more general.
    detail_reason: Option<String>,
    detail: Value,
}

impl Outcome {
    pub fn of(settings: &Settings, args: &TaskArgs, parts: Parts<'_>) -> Outcome {
        let Parts { ended: MissionEnd(step), context, log, began, deadline } = parts;
        let calls = context.calls();
        let mut warnings: Vec<Value> = args.constraints.warnings().collect();
        warnings.extend(step.warnings.iter().map(|warning| json!({"code": "agent", "detail": warning})));
        let mut failed = step.fail.as_ref().map(|fail| Failed::of(fail, &calls, log, deadline));
        let mut given = None;
        if failed.is_none() {
            // Callers of the server's tools are models, or show the results to one.
            match step.returned.as_ref().map_or(Ok(Value::Null), |value| datum_to_json(&redact(value))) {
                Ok(value) => given = Some(TaskAnswer::of(value, args, settings, &mut warnings)),
                Err(error) => failed = Some(Failed::because(Reason::PtcValidationError, error.to_string())),
            }
        }
        let mut answer = Map::new();
        let mut put = |key: &str, value: Value| answer.insert(key.to_string(), value);
        let mut execution = json!({
            "duration_ms": began.elapsed().as_millis() as u64, "turn_count": step.turns.len(),
            "result_bytes": 0, "truncated": false,
        });
        let counted = given.as_ref().map(|given| given.returned_bytes);
        match (&failed, &given) {
            (Some(failed), _) => {
                put("status", json!("error"));
                put("reason", json!(failed.reason.name()));
                put("message", json!(failed.message));
                put("feedback", json!(failed.message));
                if let Some(reason) = &failed.detail_reason {
                    put("detail_reason", json!(reason));
                }
                if !failed.detail.is_null() {
                    put("detail", failed.detail.clone());
                }
            }
            (None, given) => {
                let given = given.as_ref();
                put("status", json!("ok"));
                put("answer", json!(given.map(|given| &given.texts.answer)));
                put("structured_result", json!(given.map(|given| &given.texts.structured)));
                execution["result_bytes"] = json!(given.map_or(0, |given| given.texts.bytes()));
                execution["truncated"] = json!(given.is_some_and(|given| given.truncated));
            }
        }
        put("warnings", json!(warnings));
        put("planner", log.planner());
        put("execution", execution);
        let listed = told_calls(&context, &calls);
        put("upstream_calls", json!(listed));
        let results = items(context.upstream_results());
        if !results.is_empty() {
            put("upstream_results", json!(results));
        }
        let program = step.turns.iter().rev().find_map(|turn| turn.program.as_ref());
        if let Some(program) = program.filter(|_| settings.agentic_include_program) {
            put("program", json!(program));
        }
        if let Some(id) = context.trace_id() {
            put("trace_id", json!(id));
        }
        let metrics = (log.len() > 0).then(|| {
            let mut metrics = context.metrics_in_any_case(counted, &[]);
            metrics["server_side_llm"] = log.server_side_llm();
            metrics["efficiency_note"] = json!(NOTE);
            metrics
        });
        if let Some(metrics) = &metrics {
            put("ptc_metrics", metrics.clone());
        }
        let text = given.map(|given| given.texts.answer);
        Outcome { failed, answer, text, calls: listed, results, metrics, planner_calls: log.calls() }
    }

    /// Returns the payload for clients and records, scrubbed.
    pub fn payload(self, redactor: Option<&Redactor>) -> Payload {
        let clean = |value: Value| match redactor {
            Some(redactor) => redactor.scrub_json(value),
            None => value,
        };
        let answer = match clean(Value::Object(self.answer)) {
            Value::Object(answer) => answer,
            _ => Map::new(),
        };
        let mut payload = Payload {
            reason: self.failed.as_ref().map(|failed| failed.reason),
            message: self.failed.map_or(String::new(), |failed| failed.message),
            result: self.text,
            upstream_calls: self.calls,
            upstream_results: self.results,
            metrics: self.metrics,
            planner_calls: self.planner_calls.into_iter().map(clean).collect(),
            answer: Some(answer),
            ..Payload::default()
        };
        if let Some(redactor) = redactor {
            payload.scrub(redactor);
        }
        payload
    }
}

impl Failed {
    fn because(reason: Reason, message: String) -> Failed {
        Failed { reason, message, detail_reason: None, detail: Value::Null }
    }

    fn of(fail: &Fail, calls: &[Call], log: &Log, deadline: Instant) -> Failed {
        let fail = fail.public();
        // A mission stopped when its time was up was not cancelled by its client; and a program whose call was
        // cut off by that did not choose to end there.
        let is_over = match &*fail.reason {
            "mission_timeout" => true,
            "cancelled" | "partial_side_effects" => Instant::now() >= deadline,
            _ => false,
        };
        let mut failed = match &*fail.reason {
            _ if fail.from_program => {
                let mut failed = Failed::because(Reason::AgentFailed, fail.message.clone());
                failed.detail_reason = Some(fail.reason.clone()).filter(|reason| reason != "failed");
                failed.detail = redact_json(&fail.details);
                return failed;
            }
            _ if is_over => Failed::because(
                Reason::BudgetExceeded,
                "the task exceeded its time limit (--agentic-task-timeout-ms)".to_string(),
            ),
            "cancelled" => return Failed::because(Reason::Cancelled, Payload::cancelled().message),
            "llm_error" => match log.failure() {
                Some((reason, message)) => Failed::because(reason, message),
                // The model was not even called.
                None => Failed::because(Reason::AgenticConfigError, fail.message.clone()),
            },
            "model_not_found" | "llm_required" => {
                Failed::because(Reason::AgenticConfigError, fail.message.clone())
            }
            reason => Failed::of_agent(reason, fail),
        };
        let written = matched_calls(calls);
        if !written.is_empty() {
            failed.detail_reason = failed.detail_reason.or_else(|| Some(failed.reason.name().to_string()));
            failed.detail_reason = failed.detail_reason.filter(|reason| reason != "partial_side_effects");
            failed.reason = Reason::PartialSideEffects;
            failed.detail = json!({"matched_calls": written});
        }
        failed
    }

    /// Converts a failure of the agent itself.
    fn of_agent(reason: &str, fail: &Fail) -> Failed {
        let last = &fail.details["last_failure"];
        let because = match (last["reason"].as_str(), last["message"].as_str()) {
            (Some(reason), Some(message)) => format!("; the last one failed: {reason}: {message}"),
            _ => String::new(),
        };
        let mut failed = Failed {
            reason: Reason::PtcError,
            message: format!("{}{because}", fail.message),
            detail_reason: None,
            detail: redact_json(&fail.details),
        };
        if reason == Reason::PartialSideEffects.name() {
            failed.reason = Reason::PartialSideEffects;
            return failed;
        }
        match Reason::ALL.iter().find(|known| known.name().strip_prefix("ptc_") == Some(reason)) {
            Some(known) => failed.reason = *known,
            None => failed.detail_reason = Some(reason.to_string()),
        }
        failed
    }
}

/// Answer of a successful task.
struct TaskAnswer {
    texts: Texts,
    truncated: bool,
    /// Size of what the task's program returned, before anything was cut, in bytes.
    returned_bytes: u64,
}

impl TaskAnswer {
    fn of(value: Value, args: &TaskArgs, settings: &Settings, warnings: &mut Vec<Value>) -> TaskAnswer {
        let returned_bytes = Texts::of(value.clone()).bytes();
        let most_items = args.constraints.max_items.map(|most| usize::try_from(most).unwrap_or(usize::MAX));
        let mut truncated = false;
        let value = match (value, most_items) {
            (Value::Array(mut items), Some(most)) if items.len() > most => {
                items.truncate(most);
                truncated = true;
                warnings.push(json!({"code": "max_items", "detail": most}));
                Value::Array(items)
            }
            (value, _) => value,
        };
        let Texts { answer, structured } = Texts::of(value);
        let most = usize::try_from(settings.agentic_max_result_bytes).unwrap_or(usize::MAX);
        let (shown, is_whole) = cut::bytes(&answer, most);
        // Exact or absent: half an object would be useless.
        let is_kept = ptc_upstream::json_bytes(&structured) <= most as u64;
        if !is_whole || !is_kept {
            truncated = true;
            warnings.push(json!({"code": "max_result_bytes", "detail": most}));
        }
        let texts =
            Texts { answer: shown.to_string(), structured: if is_kept { structured } else { Value::Null } };
        TaskAnswer { texts, truncated, returned_bytes }
    }
}

/// A value as an answer for people and as data for programs.
struct Texts {
    answer: String,
    structured: Value,
}

impl Texts {
    fn of(value: Value) -> Texts {
        let (answer, structured) = match value {
            Value::String(text) => (text, Value::Null),
            Value::Object(map) => match map.get("answer").and_then(Value::as_str) {
                Some(text) => (text.to_string(), Value::Object(map)),
                None => (Value::Object(map.clone()).to_string(), Value::Object(map)),
            },
            other => (other.to_string(), other),
        };
        Texts { answer, structured }
    }

    /// Returns their size in a reply, in bytes.
    fn bytes(&self) -> u64 {
        ptc_upstream::json_bytes(&json!({"answer": self.answer, "structured_result": self.structured}))
    }
}

/// Returns `upstream_calls`, with the effect of each call.
fn told_calls(context: &RunContext, calls: &[Call]) -> Vec<Value> {
    let mut listed = items(context.upstream_calls());
    for (told, call) in listed.iter_mut().zip(calls) {
        told["effect"] = json!(call.effect.map_or("none", |effect| effect.name()));
    }
    listed
}
