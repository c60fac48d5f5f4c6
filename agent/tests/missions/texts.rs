//! Agents that answer in text.

use crate::kit::{agent, told, value, with};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::Output;
use ptc_model::{Chunk, ChunkSink, Reply, Scripted};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn text(signature: &str, max_turns: u32) -> Agent {
    agent("Answer").output(Output::Text).signature(signature).max_turns(max_turns).build().unwrap()
}

#[test]
fn what_a_final_text_stands_for() {
    let cases: [(&str, &str, Value); 11] = [
        (":string", " It is 42.\n", json!(" It is 42.\n")),
        (":any", "{\"a\": 1}", json!("{\"a\": 1}")),
        ("{a :int}", "Sure: {\"a\": 1}", json!({"a": 1})),
        ("{a :int}", "```json\n{\"a\": 1}\n```", json!({"a": 1})),
        ("[:int]", "{\"items\": [1, 2]}", json!([1, 2])),
        ("[:int]", "[1, 2]", json!([1, 2])),
        (":int", " 42 ", json!(42)),
        (":bool", "true", json!(true)),
        (":keyword", "urgent", json!("urgent")),
        (":datetime", "2030-01-02T03:04:05Z", json!("2030-01-02T03:04:05Z")),
        (":int?", "null", json!(null)),
    ];
    for (signature, reply, expected) in cases {
        let step = run(&text(signature, 1), &with(&Scripted::new([reply])));
        let step = step.unwrap_or_else(|step| panic!("{signature} {reply}: {:?}", step.fail));
        assert_eq!(value(&step), expected, "{signature} {reply}");
    }
}

#[test]
fn what_does_not_fit_is_sent_back_or_ends_the_mission() {
    for (signature, reply, reason) in [
        ("{a :int}", "I do not know.", "json_parse_error"),
        ("{a :int}", "```json\n{broken\n```", "json_parse_error"),
        ("{a :int}", "{\"a\": \"x\"}", "validation_error"),
        (":int", "many", "json_parse_error"),
        (":int", "4.5", "validation_error"),
        (":string", " \n", "empty_response"),
    ] {
        let step = run(&text(signature, 1), &with(&Scripted::new([reply]))).unwrap_err();
        assert_eq!((step.reason(), step.usage.turns), (reason, 1), "{signature} {reply}");
        let good = if signature == ":int" { "7" } else { "{\"a\": 7}" };
        let model = Scripted::new([reply, good]);
        let step = run(&text(signature, 2), &with(&model)).unwrap();
        assert_eq!(step.usage.turns, 2, "{signature} {reply}");
        assert!(!told(&model, 2).is_empty());
    }
    let model = Scripted::new(["{\"a\": \"x\"}", "{\"a\": 7}"]);
    run(&text("{a :int}", 2), &with(&model)).unwrap();
    let told = told(&model, 2);
    assert!(told.contains("a: expected int, got string \"x\"") && told.contains("{a :int}"), "{told}");
}

#[test]
fn text_arrives_in_pieces() {
    let seen: Arc<Mutex<String>> = Arc::default();
    let note = seen.clone();
    let sink = ChunkSink::new(move |chunk| {
        if let Chunk::Delta(text) = chunk {
            note.lock().unwrap().push_str(&format!("{text}|"));
        }
    });
    let model = Scripted::new([Reply::pieces(["It ", "is ", "42."])]);
    let step = run(&text(":string", 1), &RunOptions { on_chunk: Some(sink), ..with(&model) }).unwrap();
    assert_eq!((value(&step), seen.lock().unwrap().as_str()), (json!("It is 42."), "It |is |42.|"));
}
