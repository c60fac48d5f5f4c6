//! Statistics of many calls.

use super::record::StoredCall;
use crate::moment::iso;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::SystemTime;

/// Maximum number of calls listed as top reducers.
const MAX_TOP: usize = 10;

/// Returns the statistics of these calls, which are sorted from old to new.
pub(super) fn of(calls: &[&StoredCall], since: Option<SystemTime>, now: SystemTime) -> Map<String, Value> {
    let from = since.or(calls.first().map(|call| call.at)).unwrap_or(now);
    let stats = json!({
        "window": {"from": iso(from), "to": iso(now), "calls": calls.len()},
        "by_tool": by_tool(calls),
        "errors": {"by_reason": counted(calls.iter().filter_map(|call| call.reason).map(|r| r.name()))},
        "upstream_calls": upstream(calls),
        "agentic": agentic(calls),
        "payload_reduction": reduction(calls),
    });
    stats.as_object().cloned().unwrap_or_default()
}

fn counted<'n>(names: impl Iterator<Item = &'n str>) -> BTreeMap<&'n str, u64> {
    let mut counts = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    counts
}

fn by_tool(calls: &[&StoredCall]) -> BTreeMap<String, Value> {
    let mut tools: BTreeMap<String, Vec<&StoredCall>> = BTreeMap::new();
    calls.iter().for_each(|call| tools.entry(call.tool.clone()).or_default().push(call));
    let row = |calls: Vec<&StoredCall>| {
        let errors = calls.iter().filter(|call| call.reason.is_some()).count();
        let mut times: Vec<u64> = calls.iter().map(|call| call.duration_ms).collect();
        times.sort_unstable();
        let rate = errors as f64 / calls.len() as f64;
        json!({
            "calls": calls.len(), "ok": calls.len() - errors, "error": errors,
            "error_rate": (rate * 1000.0).round() / 1000.0,
            "duration_ms": {"p50": ranked(&times, 50), "p95": ranked(&times, 95), "max": times.last()},
        })
    };
    tools.into_iter().map(|(tool, calls)| (tool, row(calls))).collect()
}

/// Returns a percentile by nearest rank: the smallest value that at least `percent` per cent of the sorted
/// values do not exceed.
fn ranked<T: Copy>(sorted: &[T], percent: usize) -> Option<T> {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied()
}

fn upstream(calls: &[&StoredCall]) -> Value {
    let all: Vec<&(String, Option<String>)> = calls.iter().flat_map(|call| &call.upstream).collect();
    let mut servers: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (server, failed) in &all {
        let (total, ok) = servers.entry(server).or_default();
        *total += 1;
        *ok += u64::from(failed.is_none());
    }
    let by_server: BTreeMap<&str, Value> = servers
        .into_iter()
        .map(|(server, (total, ok))| (server, json!({"calls": total, "ok": ok, "error": total - ok})))
        .collect();
    json!({
        "total": all.len(),
        "ok": all.iter().filter(|(_, failed)| failed.is_none()).count(),
        "by_reason": counted(all.iter().filter_map(|(_, failed)| failed.as_deref())),
        "by_server": by_server,
    })
}

/// Returns the counts of calls answered by a planner; null if there are none.
fn agentic(calls: &[&StoredCall]) -> Value {
    let tasks: Vec<&&StoredCall> = calls.iter().filter(|call| call.tool == "lisp_task").collect();
    if tasks.is_empty() {
        return Value::Null;
    }
    let errors = tasks.iter().filter(|call| call.reason.is_some()).count();
    json!({"calls": tasks.len(), "ok": tasks.len() - errors, "error": errors})
}

/// Returns how much of the data from servers is in the answers; null if there was none.
fn reduction(calls: &[&StoredCall]) -> Value {
    let measured: Vec<(&StoredCall, &Value)> =
        calls.iter().filter_map(|call| Some((*call, call.metrics.as_ref()?))).collect();
    if measured.is_empty() {
        return Value::Null;
    }
    let total = |key: &str| measured.iter().filter_map(|(_, metrics)| metrics[key].as_u64()).sum::<u64>();
    let (sent, answered) = (total("upstream_result_bytes"), total("final_result_bytes"));
    let ratio = |metrics: &Value| metrics["payload_reduction_ratio"].as_f64();
    let mut ratios: Vec<f64> = measured.iter().filter_map(|(_, metrics)| ratio(metrics)).collect();
    ratios.sort_by(f64::total_cmp);
    // Failed programs returned nothing, so what they fetched was not reduced to anything.
    let reduced: u64 = measured
        .iter()
        .filter(|(call, _)| call.reason.is_none())
        .filter_map(|(_, metrics)| metrics["upstream_result_bytes"].as_u64())
        .sum();
    let weighted = (answered > 0).then(|| (reduced as f64 / answered as f64 * 100.0).round() / 100.0);
    // Newest first among equals.
    let mut top: Vec<(f64, &StoredCall, &Value)> = measured
        .iter()
        .rev()
        .filter_map(|(call, metrics)| Some((ratio(metrics)?, *call, *metrics)))
        .collect();
    top.sort_by(|(a, ..), (b, ..)| b.total_cmp(a));
    let reducer = |(ratio, call, metrics): &(f64, &StoredCall, &Value)| {
        json!({
            "request_id": call.id, "tool": call.tool, "ts": iso(call.at), "ratio": ratio,
            "upstream_result_bytes": metrics["upstream_result_bytes"],
            "final_result_bytes": metrics["final_result_bytes"],
        })
    };
    let mut told = json!({
        "calls": measured.len(),
        "upstream_result_bytes": sent,
        "final_result_bytes": answered,
        "ratio": {
            "p50": ranked(&ratios, 50), "p95": ranked(&ratios, 95), "max": ratios.last(), "weighted": weighted,
        },
        "top_reducers": top.iter().take(MAX_TOP).map(reducer).collect::<Vec<Value>>(),
    });
    if let Some(planner) = planner(&measured) {
        told["agentic_planner"] = planner;
    }
    told
}

/// Returns the cost of planners; tokens only if all of them were counted.
fn planner(measured: &[(&StoredCall, &Value)]) -> Option<Value> {
    let blocks: Vec<&Value> =
        measured.iter().map(|(_, metrics)| &metrics["server_side_llm"]).filter(|b| b.is_object()).collect();
    if blocks.is_empty() {
        return None;
    }
    let sum = |key: &str| blocks.iter().map(|block| block[key].as_u64()).sum::<Option<u64>>();
    let keys = [
        "planner_calls",
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
        "prompt_bytes",
        "completion_bytes",
    ];
    Some(keys.into_iter().map(|key| (key.to_string(), json!(sum(key)))).collect())
}
