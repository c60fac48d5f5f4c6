//! What a run has called, and how much of it is in its answer. Everything here is scrubbed already.

use crate::raw;
use ptc_bytecode::Effects;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// One call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Call {
    /// The server.
    pub server: String,
    /// The tool.
    pub tool: String,
    /// How long it took.
    pub duration_ms: u64,
    /// Why there is no answer, and what happened; None if there is one.
    pub fault: Option<(&'static str, String)>,
    /// How many bytes the answer has as the program sees it; None if nothing came.
    pub result_bytes: Option<u64>,
    /// Whether there was too much of it.
    pub oversize: bool,
    /// How many bytes arrived.
    pub wire_bytes: u64,
    /// The status of an answer over HTTP.
    pub http_status: Option<u16>,
    /// Which credential was sent, and how.
    pub auth: Option<(&'static str, String)>,
    /// `json`, `text` or `none`.
    pub value_kind: Option<&'static str>,
    /// What the answer is like.
    pub shape: String,
    /// How it begins.
    pub preview: String,
    /// What it may have changed, as the server says of the tool; None if nothing was sent.
    pub effect: Option<Effects>,
}

impl Call {
    /// Whether it changed something, or may have.
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

/// The calls that wrote, or may have: who and what, no argument and no answer.
pub fn matched_calls<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Vec<Value> {
    let told = |call: &Call| {
        let effect = call.effect.map(Effects::name);
        json!({"server": call.server, "tool": call.tool, "effect": effect})
    };
    calls.into_iter().filter(|call| call.may_have_written()).map(told).collect()
}

/// Why a call that was sent has no answer: nobody waited for it.
const ABANDONED: (&str, &str) = ("abandoned", "given up before there was an answer");

/// The calls of one run.
#[derive(Debug)]
pub(crate) struct Ledger {
    calls: Vec<Call>,
    /// How many calls of one program are kept.
    per_program: usize,
    /// How many are kept until the next program begins.
    most: usize,
    /// Calls that are not among them.
    more: u64,
    ops: Vec<Value>,
    /// How many lookups are kept until the next program begins.
    most_ops: usize,
    /// Where those of the last program begin.
    program_from: usize,
}

/// How many lookups of one program are kept.
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

    /// A call that is sent now. It stands as given up until [`Ledger::settle`] says what became of it: whoever stops the
    /// program in between still learns that it was sent.
    pub fn begin(&mut self, call: &Call) -> Option<usize> {
        let (reason, message) = ABANDONED;
        let at = self.calls.len();
        self.add(Call { fault: Some((reason, message.to_string())), ..call.clone() });
        (at < self.calls.len()).then_some(at)
    }

    /// What became of a call that was begun.
    pub fn settle(&mut self, at: Option<usize>, call: Call) {
        if let Some(begun) = at.and_then(|at| self.calls.get_mut(at)) {
            *begun = call;
        }
    }

    /// A lookup, which has gone well until something else is said of it.
    pub fn add_op(&mut self, op: &str, reference: &str) {
        if self.ops.len() < self.most_ops {
            self.ops.push(json!({"op": op, "ref": reference, "status": "ok"}));
        }
    }

    /// Why a lookup gave nothing.
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

    /// Calls and lookups from now on are those of another program, which has as much room for its own: a guard that
    /// looks for writes finds those of a late program, too.
    pub fn next_program(&mut self) {
        self.most = self.calls.len().saturating_add(self.per_program);
        self.program_from = self.ops.len();
        self.most_ops = self.program_from.saturating_add(MAX_OPS);
    }

    /// What the last program looked up.
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

    /// Whether nothing was called.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty() && self.more == 0
    }

    /// What was measured, in bytes and in estimates of tokens.
    pub fn metrics(&self, final_result: Option<&str>, prints: &[String]) -> Value {
        let oversize = self.calls.iter().filter(|call| call.oversize);
        let errors = || self.calls.iter().filter(|call| !call.oversize && call.fault.is_some());
        let oks = || self.calls.iter().filter(|call| !call.oversize && call.fault.is_none());
        let bytes = |call: &Call| call.result_bytes.unwrap_or(0);
        let fetched: u64 = oks().map(bytes).sum();
        let answer = final_result.map_or(0, |text| text.len() as u64);
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
                    "note": "How much of what servers answered is in the answer of the program. It does not say how many \
                             tokens were saved, nor how long the whole response is.",
                },
                "optimistic": {
                    "name": "no_ptc_direct_llm_workflow", "available": false,
                    "note": "What the same work would have taken without a program is not known here.",
                },
            },
        })
    }
}

/// What JSON is like, in a few words.
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

/// What a text is like, in a few words.
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
        let metrics = ledger.metrics(Some(&"x".repeat(812)), &[]);
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
