//! Small rules of combined mode.

use crate::{answers, calls, combined, eval, text, with};
use ptc_agent::definition::Transport;
use ptc_agent::run;
use ptc_agent::tools::{Expose, NativePreview, Tool};
use ptc_contract::keys::canonical_cache_key;
use ptc_model::Scripted;
use ptc_runtime::bridge::json_to_datum;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn counting(called: &Arc<AtomicU32>) -> Tool {
    let called = called.clone();
    Tool::new("load", move |_, _| Ok(called.fetch_add(1, Ordering::Relaxed)))
}

#[test]
fn s000_the_reference_is_compact_or_nothing() {
    for other in ["full", "false", ""] {
        let error = combined("x").ptc_reference(other.to_string()).build().unwrap_err();
        assert_eq!(error.reason.name(), "invalid_option");
        assert!(error.message.contains("compact"), "{error}");
    }
    let file = |reference: Value| json!({"prompt": "x", "output": "text", "ptc_transport": "tool_call", "ptc_reference": reference});
    for other in [json!(false), json!(true), json!("full"), json!(null)] {
        let error = ptc_agent::Agent::from_json(&file(other.clone())).expect_err("only `compact`");
        assert!(error.message.contains("compact"), "{other}: {error}");
    }
    // The card is the same, whether it is asked for or not.
    let system = |builder: ptc_agent::AgentBuilder| {
        let model = Scripted::new(["done"]);
        run(&builder.build().unwrap(), &with(&model)).unwrap();
        model.requests()[0].system.clone()
    };
    let asked = system(combined("x").ptc_reference("compact".to_string()));
    assert!(asked.contains("lisp_eval") && asked.contains("full_result_cached"), "{asked}");
    assert_eq!(asked, system(combined("x")));
}

#[test]
fn s000_text_has_no_fenced_programs() {
    let error = text("x").ptc_transport(Some(Transport::Content)).build().unwrap_err();
    assert!(error.message.contains("tool_call"), "{error}");
}

#[test]
fn s000_a_preview_needs_both_layers_and_the_cache() {
    let tool = |expose: Expose, cache: bool| {
        Tool::new("load", |_, _| Ok(1)).expose(expose).cache(cache).native_result(NativePreview::Metadata)
    };
    for (expose, cache) in [(Expose::Native, true), (Expose::PtcLisp, true), (Expose::Both, false)] {
        let error = combined("x").tool(tool(expose, cache)).build().unwrap_err();
        assert_eq!(error.reason.name(), "invalid_tool", "{expose:?} {cache}");
    }
    assert!(combined("x").tool(tool(Expose::Both, true)).build().is_ok());
}

#[test]
fn s000_keys_of_the_cache_are_canonical() {
    let key = |args: Value| canonical_cache_key("load", &json_to_datum(&args).unwrap());
    let same = [
        (json!({"a": 1}), json!({"a": 1.0})),
        (json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})),
        (json!({"max-rows": 1}), json!({"max_rows": 1})),
        (json!({"n": -0.0}), json!({"n": 0})),
        (json!({"deep": {"x": [1.0], "y": 2}}), json!({"deep": {"y": 2, "x": [1]}})),
    ];
    for (a, b) in same {
        assert_eq!(key(a.clone()), key(b.clone()), "{a} {b}");
    }
    assert_ne!(key(json!({"l": [1, 2]})), key(json!({"l": [2, 1]})), "lists keep their order");
    assert_ne!(key(json!({"a": 1})), key(json!({"a": "1"})));
    // Models and programs spell arguments differently, but get the same cache key.
    let called = Arc::new(AtomicU32::new(0));
    let agent = combined("x").tool(counting(&called).expose(Expose::Both).cache(true)).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "load", json!({"max_rows": 10.0, "where": {"b": -0.0, "a": "x"}}))]),
        eval("b", "(tool/load {:where {:a :x :b 0} :max-rows 10})"),
        eval("c", "(tool/load :max_rows 10 :where {\"a\" \"x\" \"b\" 0.0})"),
        eval("d", "(tool/load {:max-rows 11 :where {:a :x :b 0}})"),
        "ok".into(),
    ]);
    run(&agent, &with(&model)).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 2);
}

#[test]
fn s000_without_the_cache_each_layer_runs_the_tool() {
    let called = Arc::new(AtomicU32::new(0));
    let agent = combined("x").tool(counting(&called).expose(Expose::Both)).build().unwrap();
    let model = Scripted::new([calls(&[("a", "load", json!({}))]), eval("b", "(tool/load {})"), "ok".into()]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 2);
    // The model sees the whole answer, so there is no hint to read the rest.
    assert_eq!(answers(&step.messages.unwrap())[0].1, json!(0));
}

#[test]
fn s000_the_cache_lives_for_one_run() {
    let called = Arc::new(AtomicU32::new(0));
    let agent = combined("x").tool(counting(&called).expose(Expose::Both).cache(true)).build().unwrap();
    for _ in 0..2 {
        let model = Scripted::new([
            calls(&[("a", "load", json!({}))]),
            calls(&[("b", "load", json!({}))]),
            eval("c", "(tool/load {})"),
            "ok".into(),
        ]);
        run(&agent, &with(&model)).unwrap();
    }
    assert_eq!(called.load(Ordering::Relaxed), 2, "once in each run");
}

#[test]
fn s000_an_error_is_not_kept() {
    let called = Arc::new(AtomicU32::new(0));
    let count = called.clone();
    let flaky = Tool::new("load", move |_, _| match count.fetch_add(1, Ordering::Relaxed) {
        0 => Err(ptc_runtime::ToolError::new("down")),
        n => Ok(n),
    });
    let agent = combined("x").tool(flaky.expose(Expose::Both).cache(true)).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "load", json!({}))]),
        eval("b", "(return (tool/load {}))"),
        eval("c", "(return (tool/load {}))"),
        "ok".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    let answers: Vec<Value> =
        answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers[0]["reason"], "tool_error");
    assert_eq!((&answers[1]["result"], &answers[2]["result"]), (&json!("user=> 1"), &json!("user=> 1")));
}

#[test]
fn s000_answers_to_the_model_are_not_star_one() {
    let called = Arc::new(AtomicU32::new(0));
    let agent = combined("x").tool(counting(&called)).build().unwrap();
    let model = Scripted::new([
        eval("a", "41"),
        calls(&[("b", "load", json!({}))]),
        eval("c", "(return (inc *1))"),
        "ok".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(answers(&step.messages.unwrap())[2].1["result"], "user=> 42");
}

#[test]
fn limits_of_the_cache_drop_what_was_not_asked_for_the_longest() {
    let called = Arc::new(AtomicU32::new(0));
    let limit = ptc_agent::definition::ToolCacheLimit { entries: Some(1), bytes: None };
    let agent = combined("x")
        .tool(counting(&called).expose(Expose::Both).cache(true))
        .tool_cache_limit(Some(limit))
        .max_turns(9)
        .build()
        .unwrap();
    let load = |id: &str, n: i64| calls(&[(id, "load", json!({"n": n}))]);
    let model = Scripted::new([load("a", 1), load("b", 1), load("c", 2), load("d", 1), "ok".into()]);
    run(&agent, &with(&model)).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 3);
}
