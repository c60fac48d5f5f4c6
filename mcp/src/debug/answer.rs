//! Fitting answers to their limit: whole parts are left out in a fixed order, and the answer says which.

use crate::profile::Profile;
use crate::reply::Payload;
use serde_json::{Map, Value, json};

/// Rules by which an answer is shortened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fit {
    Stats,
    Recent,
    Get,
}

/// Returns the answer, shortened to `most` bytes of a result.
pub(super) fn fit(mut answer: Map<String, Value>, how: Fit, most: usize) -> Map<String, Value> {
    if bytes(&answer) <= most {
        return answer;
    }
    answer.insert("truncated".to_string(), json!(true));
    match how {
        Fit::Stats => {
            let mut omitted = Vec::new();
            for (part, drop) in STATS {
                drop(&mut answer);
                omitted.push(*part);
                answer.insert("omitted".to_string(), json!(omitted));
                if bytes(&answer) <= most {
                    break;
                }
            }
        }
        Fit::Recent => {
            let calls = match answer.get_mut("calls").map(Value::take) {
                Some(Value::Array(calls)) => calls,
                _ => Vec::new(),
            };
            // Binary search for the largest number of newest calls that fits.
            let (mut fits, mut too_many) = (0, calls.len());
            while fits + 1 < too_many {
                let half = (fits + too_many) / 2;
                put_calls(&mut answer, &calls[..half], calls.len());
                match bytes(&answer) <= most {
                    true => fits = half,
                    false => too_many = half,
                }
            }
            put_calls(&mut answer, &calls[..fits], calls.len());
        }
        Fit::Get => {
            answer.remove("record");
            let note = "the record is larger than max_debug_response_bytes; raise that, or read the trace file \
                        of the call in --trace-dir";
            answer.insert("note".to_string(), json!(note));
        }
    }
    answer
}

/// A part of an answer, and the function that removes it.
type Part = (&'static str, fn(&mut Map<String, Value>));

/// Parts to leave out, in this order.
const STATS: &[Part] = &[
    ("top_reducers", |answer| drop_in(answer, "payload_reduction", "top_reducers")),
    ("payload_reduction", |answer| drop(answer.remove("payload_reduction"))),
    ("by_server", |answer| drop_in(answer, "upstream_calls", "by_server")),
    ("durations", |answer| {
        for tool in answer.get_mut("by_tool").and_then(Value::as_object_mut).into_iter().flatten() {
            tool.1.as_object_mut().map(|row| row.remove("duration_ms"));
        }
    }),
    ("by_tool", |answer| drop(answer.remove("by_tool"))),
    ("upstream_calls", |answer| drop(answer.remove("upstream_calls"))),
];

fn drop_in(answer: &mut Map<String, Value>, part: &str, key: &str) {
    if let Some(part) = answer.get_mut(part).and_then(Value::as_object_mut) {
        part.remove(key);
    }
}

fn put_calls(answer: &mut Map<String, Value>, calls: &[Value], of: usize) {
    answer.insert("count".to_string(), json!(calls.len()));
    answer.insert("omitted_calls".to_string(), json!(of - calls.len()));
    answer.insert("calls".to_string(), Value::Array(calls.to_vec()));
}

/// Returns the size of an answer as a result of the protocol, which contains it twice: as an object and as text.
fn bytes(answer: &Map<String, Value>) -> usize {
    Payload::answered(answer.clone()).reply(Profile::Slim).to_json().to_string().len()
}
