//! Calls of a turn: those that run, and the one answer that each of them gets.

use crate::{answers, calls, combined, text, with};
use proptest::prelude::*;
use ptc_agent::run;
use ptc_agent::tools::{Expose, Tool};
use ptc_model::{LlmResponse, Message, Reply, Role, Scripted, ToolCall};
use serde_json::{Value, json};

fn seven() -> Tool {
    Tool::new("seven", |_, _| Ok(7))
}

fn reasons(messages: &[Message]) -> Vec<Value> {
    answers(messages).into_iter().map(|(_, answer)| answer["reason"].clone()).collect()
}

/// Runs one turn with these calls, in combined mode.
fn turn(made: &[(&str, &str, Value)]) -> Vec<Message> {
    turn_and_calls(made).0
}

/// Runs one turn with these calls, and returns how often the tool ran, too.
fn turn_and_calls(made: &[(&str, &str, Value)]) -> (Vec<Message>, usize) {
    let ran = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = ran.clone();
    let seven = Tool::new("seven", move |_, _| {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(7)
    });
    let agent = combined("Think").tool(seven.expose(Expose::Both)).max_turns(4).build().unwrap();
    let model = Scripted::new([calls(made), "done".into()]);
    let messages = run(&agent, &with(&model)).unwrap().messages.unwrap();
    (messages, ran.load(std::sync::atomic::Ordering::SeqCst))
}

#[test]
fn s000_the_mix_of_calls() {
    let program = json!({"program": "(+ 1 2)"});
    let several = turn(&[("a", "lisp_eval", program.clone()), ("b", "lisp_eval", program.clone())]);
    assert_eq!(reasons(&several), [json!("multiple_tool_calls"), json!("multiple_tool_calls")]);
    let mixed = turn(&[("a", "lisp_eval", program.clone()), ("b", "seven", json!({}))]);
    assert_eq!(reasons(&mixed), [json!("mixed_with_lisp_eval"), json!("mixed_with_lisp_eval")]);
    let beside = answers(&mixed);
    assert_eq!(beside[0].1.as_object().unwrap().len(), 3, "status, reason and message: {beside:?}");
    assert_eq!(answers(&turn(&[("a", "lisp_eval", program)]))[0].1["result"], "user=> 3");
    let known = turn(&[("a", "seven", json!({})), ("b", "seven", json!({}))]);
    assert_eq!(answers(&known), [("a".to_string(), json!(7)), ("b".to_string(), json!(7))]);
    let some = turn(&[("a", "seven", json!({})), ("b", "eight", json!({}))]);
    assert_eq!(answers(&some)[0].1, json!(7));
    assert_eq!(
        answers(&some)[1].1,
        json!({"status": "error", "reason": "unknown_tool", "message": "No native tool named `eight`."})
    );
    assert_eq!(reasons(&turn(&[("a", "nine", json!({}))])), [json!("unknown_tool")]);
    // Programs beside other calls do not run, and neither do the calls beside them.
    let seven = json!({"program": "(tool/seven)"});
    for (made, ran) in [
        (vec![("a", "lisp_eval", seven.clone()), ("b", "lisp_eval", seven.clone())], 0),
        (vec![("a", "lisp_eval", seven.clone()), ("b", "seven", json!({}))], 0),
        (vec![("a", "lisp_eval", seven)], 1),
        (vec![("a", "seven", json!({})), ("b", "seven", json!({}))], 2),
        (vec![("a", "seven", json!({})), ("b", "eight", json!({}))], 1),
    ] {
        assert_eq!(turn_and_calls(&made).1, ran, "{made:?}");
    }
}

#[test]
fn arguments_that_cannot_be_read_are_answered() {
    let agent = combined("Think").tool(seven()).max_turns(9).build().unwrap();
    let broken = |name: &str| LlmResponse::calls([ToolCall::read(Some("x"), name, "{\"program\": ")]);
    let model = Scripted::new([
        broken("lisp_eval").into(),
        broken("seven").into(),
        calls(&[("y", "lisp_eval", json!({"program": 5}))]),
        calls(&[("y", "lisp_eval", json!({"program": "  "}))]),
        calls(&[("y", "lisp_eval", json!({}))]),
        "done".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(reasons(&step.messages.unwrap()), vec![json!("args_error"); 5]);
}

#[test]
fn arguments_are_checked_and_coerced() {
    let tool = Tool::new("double", |args, _| Ok(args.json()?["n"].as_i64().unwrap() * 2))
        .signature("(n :int) -> :int");
    let agent = text("Think").tool(tool).max_turns(4).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "double", json!({"n": "21"})), ("b", "double", json!({"n": "x"}))]),
        "done".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    let answers = answers(&step.messages.unwrap());
    assert_eq!(answers[0].1, json!(42));
    assert_eq!(answers[1].1["reason"], "validation_error");
    assert!(answers[1].1["message"].as_str().unwrap().contains("n: expected int, got string \"x\""));
    assert_eq!(step.warnings, ["n: coerced string \"21\" to int"]);
}

#[test]
fn s000_pure_text_never_keeps_answers() {
    let called = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let count = called.clone();
    let tool = Tool::new("load", move |_, _| Ok(count.fetch_add(1, std::sync::atomic::Ordering::Relaxed)))
        .cache(true);
    let agent = text("Think").tool(tool).max_turns(4).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "load", json!({}))]),
        calls(&[("b", "load", json!({}))]),
        "done".into(),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    let answers: Vec<Value> =
        answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers, [json!(0), json!(1)]);
    assert!(model.requests()[0].tools.iter().all(|tool| tool.name != "lisp_eval"));
    assert_eq!(step.tool_calls.len(), 2, "all native calls of the run");
}

#[test]
fn a_model_that_cannot_call_tools_is_refused() {
    struct Words;
    impl ptc_model::Model for Words {
        fn call<'a>(&'a self, _: &'a ptc_model::LlmRequest) -> ptc_model::ModelFuture<'a> {
            Box::pin(async { Ok("hello".into()) })
        }
    }
    let agent = combined("Think").build().unwrap();
    let options = ptc_agent::RunOptions::new().llm(ptc_agent::tools::LlmRef::client(Words));
    assert_eq!(run(&agent, &options).unwrap_err().reason(), "llm_error");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Checks that every id gets one answer before anything else is said, whatever the model calls.
    #[test]
    fn every_call_gets_one_answer(made in prop::collection::vec(
        (prop::sample::select(vec!["lisp_eval", "seven", "nine", "bad"]), prop::sample::select(vec![
            json!({"program": "(+ 1 2)"}), json!({"program": "(fail 1)"}), json!({"program": "((("}), json!({}), json!(5),
        ])), 1..5)) {
        let named: Vec<(String, &str, Value)> =
            made.iter().enumerate().map(|(i, (name, args))| (format!("id{i}"), *name, args.clone())).collect();
        let borrowed: Vec<(&str, &str, Value)> =
            named.iter().map(|(id, name, args)| (id.as_str(), *name, args.clone())).collect();
        let messages = turn(&borrowed);
        let at = messages.iter().position(|message| !message.tool_calls.is_empty()).unwrap();
        let answered: Vec<String> = messages[at + 1..]
            .iter()
            .take_while(|message| message.role == Role::Tool)
            .map(|message| message.tool_call_id.clone().unwrap())
            .collect();
        let asked: Vec<String> = named.iter().map(|(id, _, _)| id.clone()).collect();
        prop_assert_eq!(answered, asked);
    }
}

#[test]
fn an_answer_without_a_json_form_is_an_error_that_says_where() {
    use std::collections::BTreeMap;
    let odd =
        Tool::new("odd", |_, _| Ok(BTreeMap::from([("rows", vec![BTreeMap::from([("ts", f64::NAN)])])])));
    let model = Scripted::new([calls(&[("a", "odd", json!({}))]), Reply::from("done")]);
    let step = run(&text("Ask").tool(odd).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(step.json().unwrap(), json!("done"));
    let answers = answers(&model.requests()[1].messages);
    assert_eq!(answers[0].1["reason"], "tool_error");
    let message = answers[0].1["message"].as_str().unwrap();
    assert!(
        message.contains("rows[0].ts") && message.contains("a number that JSON does not have"),
        "{message}"
    );
}

#[test]
fn calls_nobody_waits_for_are_paired_and_recorded() {
    let fast = Tool::new("fast", |_, _| Ok(1)).effect(ptc_agent::tools::Effect::Write);
    let slow = Tool::new("slow", |_, _| {
        std::thread::sleep(std::time::Duration::from_secs(3));
        Ok(2)
    });
    let model =
        Scripted::new([calls(&[("a", "fast", json!({})), ("b", "slow", json!({}))]), Reply::from("never")]);
    let agent = text("Ask").tool(fast).tool(slow).build().unwrap();
    let options = ptc_agent::RunOptions { collect_messages: true, ..with(&model) };
    let cancel = options.cancel.clone();
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(400));
        cancel.cancel();
    });
    let step = run(&agent, &options).unwrap_err();
    stopper.join().unwrap();
    assert_eq!(step.reason(), "cancelled");
    let answers = answers(step.messages.as_ref().unwrap());
    assert_eq!((&answers[0].1, &answers[1].1["reason"]), (&json!(1), &json!("cancelled")));
    let calls = &step.turns[0].tool_calls;
    assert_eq!((calls[0].error.is_none(), calls[0].effect.as_str()), (true, "write"));
    assert!(calls[1].error.as_deref().unwrap().contains("cancelled before there was a result"), "{calls:?}");
    assert_eq!(step.tool_calls.len(), 2);
}
