//! A result of many megabytes: outlined at once, kept once, and read by programs without a copy.

use crate::{answers, calls, combined, eval, with};
use ptc_agent::run;
use ptc_agent::tools::{Expose, NativePreview, Tool};
use ptc_model::Scripted;
use serde_json::{Value, json};

/// `PTC_TEST_LARGE_MB=200` for a figure; less will do to see that it works.
fn megabytes() -> usize {
    std::env::var("PTC_TEST_LARGE_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// A hundred bytes a row, as JSON.
fn rows() -> usize {
    megabytes() * 10_000
}

#[test]
fn a_large_result_is_outlined_and_not_copied() {
    let message = "x".repeat(64);
    count_twice(Tool::new("load", move |_, _| {
        Ok((0..rows())
            .map(|id| json!({"id": id, "level": "error", "message": message}))
            .collect::<Vec<Value>>())
    }));
}

#[test]
fn a_large_text_of_json_is_read_into_place() {
    let message = "x".repeat(64);
    count_twice(Tool::json("load", move |_, _| {
        let mut text = String::with_capacity(rows() * 110);
        for id in 0..rows() {
            text.push(if id == 0 { '[' } else { ',' });
            text.push_str(&format!(r#"{{"id":{id},"level":"error","message":"{message}"}}"#));
        }
        text.push(']');
        Ok(text)
    }));
}

fn count_twice(load: Tool) {
    let rows = rows();
    let load = load
        .expose(Expose::Both)
        .cache(true)
        .native_result(NativePreview::Rows { limit: 2 })
        .timeout(600_000);
    let agent =
        combined("Count").tool(load).max_turns(8).timeout(60_000).mission_timeout(None).build().unwrap();
    let count = "(return (count (tool/load {})))";
    let model = Scripted::new([
        calls(&[("a", "load", json!({}))]),
        eval("b", count),
        eval("c", "(return (reduce + (map :id (take 10 (tool/load {})))))"),
        eval("d", count),
        "done".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap_or_else(|step| panic!("{:?}", step.fail));
    let answers: Vec<Value> =
        answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers[0]["result_count"], rows);
    assert_eq!(answers[0]["rows"].as_array().unwrap().len(), 2);
    assert_eq!(answers[1]["result"], format!("user=> {rows}"));
    assert_eq!(answers[2]["result"], "user=> 45");
    // The later calls were answered from memory, at once.
    assert!(step.tool_calls[1..].iter().all(|call| call.cached));
    assert!(model.requests().iter().all(|request| serde_json::to_string(request).unwrap().len() < 20_000));
}
