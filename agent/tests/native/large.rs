//! A result of many megabytes: outlined at once, kept once, and read by programs without a copy.

use crate::{answers, calls, combined, eval, text, with};
use ptc_agent::run;
use ptc_agent::tools::{Expose, NativePreview, Tool};
use ptc_model::Scripted;
use serde_json::{Value, json};

/// Returns the size in megabytes. Set `PTC_TEST_LARGE_MB=200` for a measurement; the small default shows that it works.
fn megabytes() -> usize {
    std::env::var("PTC_TEST_LARGE_MB").ok().and_then(|text| text.parse().ok()).unwrap_or(20)
}

/// Returns the number of rows, at a hundred bytes per row as JSON.
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
    // The later calls were answered from the cache.
    assert!(step.tool_calls[1..].iter().all(|call| call.cached));
    assert!(model.requests().iter().all(|request| serde_json::to_string(request).unwrap().len() < 20_000));
}

/// Returns rows of about a hundred bytes each.
fn hundreds(count: usize) -> Value {
    (0..count)
        .map(|id| json!({"id": id, "_pin": format!("pin-{id:06}"), "message": "x".repeat(64)}))
        .collect()
}

/// Returns the view of a model that calls `load` itself, as text and as JSON, and the warnings for the host.
fn answer_of(agent: ptc_agent::AgentBuilder, answer: Value, args: Value) -> (String, Value, Vec<String>) {
    let load =
        Tool::new("load", move |_, _| Ok(answer.clone())).signature("(level :string?, page :int?) -> :any");
    let agent = agent.tool(load.expose(Expose::Both)).build().unwrap();
    let model = Scripted::new([calls(&[("a", "load", args)]), "done".into()]);
    let step = run(&agent, &with(&model)).unwrap();
    let messages = step.messages.unwrap();
    let content = messages.iter().find(|message| message.tool_call_id.is_some()).unwrap().content.clone();
    let json = serde_json::from_str(&content).unwrap_or_else(|error| panic!("no JSON: {error}: {content}"));
    (content, json, step.warnings)
}

#[test]
fn a_text_agent_sees_as_much_of_a_large_answer_as_a_message_holds() {
    for (answer, path) in [(hundreds(3_000), ""), (json!({"total": 3_000, "rows": hundreds(3_000)}), "rows")]
    {
        let (content, seen, warnings) = answer_of(text("Look"), answer, json!({}));
        assert!(content.len() < 64_000 && !content.contains("#<"), "{} bytes", content.len());
        let rows = if path.is_empty() { &seen["result"] } else { &seen["result"][path] };
        let shown = rows.as_array().unwrap().len();
        assert!(shown >= 50, "{shown}");
        assert_eq!((&rows[0]["id"], &rows[0]["_pin"]), (&json!(0), &json!("<Firewalled>")));
        assert!(!content.contains("pin-0000"));
        assert_eq!((&seen["status"], &seen["truncated"]), (&json!("ok"), &json!(true)));
        let left_out = seen["left_out"].as_str().unwrap();
        assert!(left_out.starts_with(&format!("{} of 3000 items", 3_000 - shown)), "{left_out}");
        assert!(
            seen["hint"]
                .as_str()
                .unwrap()
                .contains("other arguments (`level`, `page`), to select less or to get the part")
        );
        assert_eq!(
            warnings,
            ["the model saw only a part of the result of `load`: it is too large for a message"]
        );
    }
}

#[test]
fn one_long_text_is_cut_as_a_text() {
    let (_, seen, _) = answer_of(text("Look"), json!("é".repeat(300_000)), json!({}));
    let shown = seen["result"].as_str().unwrap().chars().count();
    assert!(shown > 5_000, "{shown}");
    assert_eq!(seen["left_out"], format!("{} of 300000 characters", 300_000 - shown));
}

#[test]
fn in_combined_mode_a_program_gets_the_rest() {
    let (_, seen, _) = answer_of(combined("Look"), hundreds(3_000), json!({"level": "error"}));
    let shown = seen["result"].as_array().unwrap().len();
    let next = format!("(take {} (drop {shown} (tool/load {{:level \"error\"}})))", shown.max(10));
    let hint = seen["hint"].as_str().unwrap();
    assert!(hint.contains("lisp_eval") && hint.ends_with(&next), "{hint}");
}

#[test]
fn an_answer_that_a_message_has_room_for_is_there_whole() {
    // About 60 kB of text, and four times as much as data.
    for agent in [text("Look"), combined("Look")] {
        let (content, seen, warnings) = answer_of(agent, hundreds(500), json!({}));
        assert!(content.len() > 50_000 && !content.contains("#<"), "{} bytes", content.len());
        assert_eq!((seen.as_array().unwrap().len(), &seen[499]["id"]), (500, &json!(499)));
        assert!(warnings.is_empty(), "{warnings:?}");
    }
}
