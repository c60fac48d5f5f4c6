//! Record of a run's calls, and metrics of how much of their data reached the run's result. Everything here is
//! already scrubbed.

use crate::raw;
use ptc_bytecode::Effects;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// One call, with its outcome.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Call {
    /// Name of the server.
    pub server: String,
    /// Name of the tool.
    pub tool: String,
    /// Duration, in milliseconds.
    pub duration_ms: u64,
    /// Reason and message of a failure; None if the call succeeded.
    pub fault: Option<(&'static str, String)>,
    /// Size of the result for the program, in bytes; None if there is no result.
    pub result_bytes: Option<u64>,
    /// True if the reply exceeded its size limit.
    pub oversize: bool,
    /// Number of bytes received.
    pub wire_bytes: u64,
    /// HTTP status of the reply, if there was one.
    pub http_status: Option<u16>,
    /// Scheme and name of the credential that was sent.
    pub auth: Option<(&'static str, String)>,
    /// Kind of the value: `json`, `text` or `none`.
    pub value_kind: Option<&'static str>,
    /// Shape of the result.
    pub shape: String,
    /// Beginning of the result.
    pub preview: String,
    /// Effect of the tool according to its server or the configuration; None if nothing was sent.
    pub effect: Option<Effects>,
    /// True if a ledger of effects holds the call, or a person approved it.
    pub is_covered: bool,
}

impl Call {
    /// Returns whether the call changed something, or may have.
    ///
    /// ```
    /// use ptc_bytecode::Effects;
    /// use ptc_upstream::Call;
    /// let call = Call { effect: Some(Effects::Unknown), ..Call::default() };
    /// assert!(call.may_have_written() && !Call::default().may_have_written());
    /// ```
    pub fn may_have_written(&self) -> bool {
        self.effect.is_some_and(Effects::may_write)
    }
}

/// Returns the calls that wrote, or may have, and that nothing keeps from being made again, as JSON: server, tool and effect, without arguments and results.
pub fn matched_calls<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Vec<Value> {
    let told = |call: &Call| {
        let effect = call.effect.map(Effects::name);
        json!({"server": call.server, "tool": call.tool, "effect": effect})
    };
    calls.into_iter().filter(|call| call.may_have_written() && !call.is_covered).map(told).collect()
}

/// Fault of a call that was sent and then abandoned by its caller.
const ABANDONED: (&str, &str) = ("abandoned", "cancelled before there was a result");

/// Record of one run.
#[derive(Debug)]
pub(crate) struct Ledger {
    calls: Vec<Call>,
    /// Maximum number of calls kept per program.
    per_program: usize,
    /// Maximum number of calls kept until the next program begins.
    most: usize,
    /// Number of calls not kept.
    more: u64,
    ops: Vec<Value>,
    /// Maximum number of lookups kept until the next program begins.
    most_ops: usize,
    /// Index of the last program's first lookup.
    program_from: usize,
}

/// Maximum number of lookups kept per program.
const MAX_OPS: usize = 50;

impl Ledger {
    pub fn new(per_program: usize) -> Ledger {
        Ledger {
            calls: Vec::new(),
            per_program,
            most: per_program,
            more: 0,
            ops: Vec::new(),
            most_ops: MAX_OPS,
            program_from: 0,
        }
    }

    pub fn add(&mut self, call: Call) {
        if self.calls.len() < self.most {
            self.calls.push(call);
        } else {
            self.more += 1;
        }
    }

    /// Records a call that is being sent, as abandoned until [`Ledger::settle`] sets its outcome: if the
    /// program is stopped in between, the record still shows that the call was sent.
    pub fn begin(&mut self, call: &Call) -> Option<usize> {
        let (reason, message) = ABANDONED;
        let at = self.calls.len();
        self.add(Call { fault: Some((reason, message.to_string())), ..call.clone() });
        (at < self.calls.len()).then_some(at)
    }

    /// Sets the outcome of a call that was begun.
    pub fn settle(&mut self, at: Option<usize>, call: Call) {
        if let Some(begun) = at.and_then(|at| self.calls.get_mut(at)) {
            *begun = call;
        }
    }

    /// Records a lookup, as successful unless [`Ledger::fail_op`] follows.
    pub fn add_op(&mut self, op: &str, reference: &str) {
        if self.ops.len() < self.most_ops {
            self.ops.push(json!({"op": op, "ref": reference, "status": "ok"}));
        }
    }

    /// Marks a lookup as failed, with the reason.
    pub fn fail_op(&mut self, op: &str, reference: &str, reason: &str, error: &str) {
        let failed = json!({"op": op, "ref": reference, "status": "error", "reason": reason, "error": error});
        let is_it =
            |known: &&mut Value| known["status"] == "ok" && known["op"] == op && known["ref"] == reference;
        if let Some(known) = self.ops.iter_mut().rev().find(is_it) {
            *known = failed;
        } else if self.ops.len() < self.most_ops {
            self.ops.push(failed);
        }
    }

    /// Starts the record of the next program, with as much room as the previous one had, so that a guard that
    /// looks for writes also finds those of a late program.
    pub fn next_program(&mut self) {
        self.most = self.calls.len().saturating_add(self.per_program);
        self.program_from = self.ops.len();
        self.most_ops = self.program_from.saturating_add(MAX_OPS);
    }

    /// Returns the lookups of the last program.
    pub fn last_ops(&self) -> &[Value] {
        self.ops.get(self.program_from..).unwrap_or_default()
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub fn failed_ops(&self) -> Value {
        self.ops.iter().filter(|op| op["status"] == "error").cloned().collect()
    }

    pub fn upstream_calls(&self) -> Value {
        let entry = |call: &Call| {
            let mut entry = json!({
                "server": call.server, "tool": call.tool,
                "status": if call.fault.is_some() { "error" } else { "ok" },
                "duration_ms": call.duration_ms, "result_bytes": call.result_bytes,
                "oversize": call.oversize, "wire_bytes": call.wire_bytes,
            });
            if let Some((reason, error)) = &call.fault {
                entry["reason"] = json!(reason);
                entry["error"] = json!(error);
            }
            if let Some(status) = call.http_status {
                entry["http_status"] = json!(status);
            }
            if let Some((scheme, binding)) = &call.auth {
                entry["auth"] = json!({"scheme": scheme, "binding": binding});
            }
            entry
        };
        self.calls.iter().map(entry).collect()
    }

    pub fn upstream_results(&self) -> Value {
        let entry = |call: &Call| {
            json!({
                "server": call.server, "tool": call.tool,
                "status": if call.fault.is_some() { "error" } else { "ok" },
                "value_kind": call.value_kind, "shape": call.shape, "preview": call.preview,
            })
        };
        self.calls.iter().map(entry).collect()
    }

    /// Returns whether there were no calls.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.more == 0
    }

    /// Returns the metrics, in bytes and estimated tokens, of a run whose value takes `final_result` bytes of text.
    pub fn metrics(&self, final_result: Option<u64>, prints: &[String]) -> Value {
        let oversize = self.calls.iter().filter(|call| call.oversize);
        let errors = || self.calls.iter().filter(|call| !call.oversize && call.fault.is_some());
        let oks = || self.calls.iter().filter(|call| !call.oversize && call.fault.is_none());
        let bytes = |call: &Call| call.result_bytes.unwrap_or(0);
        let fetched: u64 = oks().map(bytes).sum();
        let answer = final_result.unwrap_or(0);
        let ratio = match (fetched, answer) {
            (0, _) | (_, 0) => Value::Null,
            _ => json!((fetched as f64 / answer as f64 * 100.0).round() / 100.0),
        };
        let prints = if prints.is_empty() { 0 } else { json!(prints).to_string().len() };
        json!({
            "schema_version": 1,
            "final_result_bytes": answer,
            "prints_bytes": prints,
            "upstream_call_count": self.calls.len() as u64 + self.more,
            "upstream_ok_count": oks().count(),
            "upstream_error_count": errors().count() as u64 + self.more,
            "upstream_oversize_count": oversize.clone().count(),
            "upstream_result_bytes": fetched,
            "upstream_error_bytes": errors().map(bytes).sum::<u64>(),
            "upstream_oversize_bytes": oversize.map(bytes).sum::<u64>(),
            "payload_reduction_ratio": ratio,
            "estimated_final_result_tokens": answer.div_ceil(4),
            "estimated_upstream_result_tokens": fetched.div_ceil(4),
            "token_estimate_method": "utf8_bytes_div_4",
            "baseline": {
                "conservative": {
                    "name": "successful_upstream_results_only", "bytes": fetched, "ratio": ratio,
                    "note": "Size of the program's value, compared with the size of the servers' replies. Saved tokens and \
                             the length of the whole response are not counted.",
                },
                "optimistic": {
                    "name": "no_ptc_direct_llm_workflow", "available": false,
                    "note": "What the same work would have taken without a program is not known here.",
                },
            },
        })
    }
}

/// Describes the shape of JSON in a few words.
pub(crate) fn shape(json: &RawValue) -> String {
    let mut count = 0;
    match json.get().as_bytes().first() {
        Some(b'n') => "nil".to_string(),
        Some(b't' | b'f') => "boolean".to_string(),
        Some(b'"') => shape_of_text(&raw::string(json).unwrap_or_default()),
        Some(b'[') => {
            raw::find(json, |_| -> Option<()> {
                count += 1;
                None
            });
            format!("list count={count}")
        }
        Some(b'{') => {
            let mut keys = Vec::new();
            raw::keys(json, |key| {
                count += 1;
                if keys.len() < 8 {
                    keys.push(key);
                }
            });
            format!("map keys=[{}] count={count}", keys.join(", "))
        }
        _ => "number".to_string(),
    }
}

/// Describes a string in a few words.
pub(crate) fn shape_of_text(text: &str) -> String {
    format!("string chars={}", text.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ok(bytes: u64) -> Call {
        Call { result_bytes: Some(bytes), ..Call::default() }
    }

    #[test]
    fn the_example_of_the_guide_holds() {
        let mut ledger = Ledger::new(60);
        [48_122, 0, 0].into_iter().for_each(|bytes| ledger.add(ok(bytes)));
        let metrics = ledger.metrics(Some(812), &[]);
        assert_eq!(metrics["payload_reduction_ratio"], json!(59.26));
        assert_eq!(metrics["estimated_final_result_tokens"], json!(203));
        assert_eq!(metrics["estimated_upstream_result_tokens"], json!(12_031));
        assert_eq!(metrics["baseline"]["conservative"]["ratio"], json!(59.26));
        assert_eq!(metrics["baseline"]["optimistic"]["available"], json!(false));
        assert_eq!((&metrics["upstream_call_count"], &metrics["prints_bytes"]), (&json!(3), &json!(0)));
    }

    #[test]
    fn a_call_that_nobody_waits_for_was_still_sent() {
        let mut ledger = Ledger::new(2);
        let sent = Call { tool: "pay".into(), effect: Some(Effects::Write), ..Call::default() };
        let first = ledger.begin(&sent);
        ledger.begin(&sent);
        assert_eq!(ledger.begin(&sent), None);
        ledger.settle(first, Call { duration_ms: 7, ..sent.clone() });
        ledger.settle(None, sent);
        let calls = ledger.upstream_calls();
        assert_eq!((&calls[0]["status"], &calls[0]["duration_ms"]), (&json!("ok"), &json!(7)));
        assert_eq!((&calls[1]["status"], &calls[1]["reason"]), (&json!("error"), &json!("abandoned")));
        assert!(ledger.calls().iter().all(Call::may_have_written));
        assert_eq!(ledger.metrics(None, &[])["upstream_call_count"], json!(3));
    }

    #[test]
    fn failed_and_oversize_calls_are_counted_apart() {
        let mut ledger = Ledger::new(2);
        assert!(ledger.is_empty());
        ledger.add(Call { fault: Some(("tool_error", "no".into())), ..ok(7) });
        ledger.add(Call { fault: Some(("response_too_large", "no".into())), oversize: true, ..ok(900) });
        ledger.add(Call { fault: Some(("cap_exhausted", "no".into())), ..Call::default() });
        assert_eq!(ledger.calls().len(), 2);
        let metrics = ledger.metrics(None, &["a".into()]);
        let at = |key: &str| metrics[key].clone();
        assert_eq!((at("upstream_call_count"), at("upstream_error_count")), (json!(3), json!(2)));
        assert_eq!((at("upstream_oversize_count"), at("upstream_oversize_bytes")), (json!(1), json!(900)));
        assert_eq!((at("upstream_error_bytes"), at("upstream_result_bytes")), (json!(7), json!(0)));
        assert_eq!((at("payload_reduction_ratio"), at("prints_bytes")), (Value::Null, json!(5)));
    }
}
