//! Agents that answer with programs, sent through `lisp_eval`.

use crate::{answers, calls, eval, with};
use ptc_agent::definition::Transport;
use ptc_agent::tools::Tool;
use ptc_agent::{Agent, AgentBuilder, run};
use ptc_model::{Role, Scripted};
use serde_json::{Value, json};

fn agent() -> AgentBuilder {
    Agent::builder().prompt("Count").ptc_transport(Some(Transport::ToolCall)).max_turns(8)
}

#[test]
fn return_ends_the_mission() {
    let agent = agent().signature("{n :int}").tool(Tool::new("seven", |_, _| Ok(7))).build().unwrap();
    let model = Scripted::new([
        eval("a", "(def s (tool/seven {}))"),
        eval("b", "(return {:n \"x\"})"),
        eval("c", "(return {:n (+ s nil)})"),
        eval("d", "(return {:n s})"),
    ]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(step.json().unwrap(), json!({"n": 7}));
    assert_eq!(step.usage.turns, 4);
    let offered: Vec<String> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["lisp_eval"], "the host's tools are for programs");
    let messages = step.messages.unwrap();
    let answers: Vec<Value> = answers(&messages).into_iter().map(|(_, answer)| answer).collect();
    assert_eq!(answers.len(), 4, "the last call is answered, too");
    assert_eq!(answers[0]["memory"]["changed"], json!({"s": "7"}));
    assert_eq!(answers[1]["reason"], "runtime_error");
    assert!(answers[1]["feedback"].as_str().unwrap().contains("n: expected int"));
    // The answers hold no turn counts, and no further text follows.
    assert!(answers.iter().all(|answer| !answer.to_string().contains("Turn ")));
    assert_eq!(messages.iter().filter(|message| message.role == Role::User).count(), 1);
}

#[test]
fn fail_ends_the_mission_and_is_paired() {
    let model = Scripted::new([eval("a", "(fail {:reason :empty :message \"no rows\"})")]);
    let step = run(&agent().build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "empty");
    assert_eq!(answers(&step.messages.unwrap())[0].1["reason"], "fail");
}

#[test]
fn mistakes_of_the_protocol_are_answered_and_told() {
    let program = json!({"program": "(+ 1 2)"});
    let model = Scripted::new([
        calls(&[("a", "lisp_eval", program.clone()), ("b", "lisp_eval", program)]),
        calls(&[("c", "search", json!({}))]),
        calls(&[("d", "lisp_eval", json!({}))]),
        "```clojure\n(return 1)\n```".into(),
        eval("e", "(return 1)"),
    ]);
    let step = run(&agent().build().unwrap(), &with(&model)).unwrap();
    assert_eq!((step.get::<i64>().unwrap(), step.usage.turns), (1, 5));
    let messages = step.messages.unwrap();
    let reasons: Vec<Value> =
        answers(&messages).into_iter().map(|(_, answer)| answer["reason"].clone()).collect();
    let wanted = ["multiple_tool_calls", "multiple_tool_calls", "unknown_tool", "args_error"];
    assert_eq!(reasons[..4], wanted.map(|reason| json!(reason)));
    let told: Vec<&str> =
        messages.iter().filter(|m| m.role == Role::User).map(|m| m.content.as_str()).skip(1).collect();
    assert_eq!(told.len(), 4);
    assert!(told[3].contains("through the lisp_eval tool"), "{told:?}");
}

#[test]
fn words_are_the_answer() {
    let plain = agent().build().unwrap();
    let model = Scripted::new([eval("a", "(def n 3)"), "There are three.".into()]);
    let step = run(&plain, &with(&model)).unwrap();
    assert_eq!((step.get::<String>().unwrap(), step.memory.len()), ("There are three.".to_string(), 1));
    let typed = agent().signature("{n :int}").build().unwrap();
    let model = Scripted::new(["three", "{\"n\": 3}"]);
    assert_eq!(run(&typed, &with(&model)).unwrap().json().unwrap(), json!({"n": 3}));
}

#[test]
fn warnings_are_in_the_feedback_of_the_answer() {
    let model = Scripted::new([eval("a", "(def n 3))"), eval("b", "(return n)")]);
    let step = run(&agent().build().unwrap(), &with(&model)).unwrap();
    let answers = answers(&step.messages.unwrap());
    let feedback = answers[0].1["feedback"].as_str().unwrap();
    assert!(feedback.contains("surplus_bracket") && feedback.contains("(line 1, column 10)"), "{feedback}");
    assert_eq!(answers[0].1["status"], "ok");
}
