//! Checks of tool answers against signatures, for every way of calling a tool.

use crate::kit::{agent, failure, told, value, with};
use ptc_agent::definition::Transport;
use ptc_agent::tools::{Expose, LlmRef, Tool};
use ptc_agent::{AgentBuilder, RunOptions, Step, run};
use ptc_contract::signature::Validation::{self, Disabled, Enabled, Strict, WarnOnly};
use ptc_model::{LlmResponse, Output, Reply, Role, Scripted, ToolCall};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const WRONG: &str = "[1].id: expected int, got string \"abc\"";

/// Returns a tool whose answer does not fit its signature, and has an undeclared field.
fn rows() -> Tool {
    Tool::new("rows", |_, _| Ok(json!([{"id": 1, "more": true}, {"id": "abc"}])))
        .signature("() -> [{id :int}]")
        .expose(Expose::Both)
}

/// Returns a tool with such an answer, as data that programs share.
fn shared_rows() -> Tool {
    let rows: Vec<Value> =
        (0..2_000).map(|id| if id == 1 { json!({"id": "abc"}) } else { json!({"id": id}) }).collect();
    let text = Value::from(rows).to_string();
    Tool::json("rows", move |_, _| Ok(text.clone())).signature("() -> [{id :int}]").expose(Expose::Both)
}

/// Returns the value or error that a program gets from the tool, and the warnings.
fn in_program(tool: Tool, mode: Validation) -> (Result<Value, String>, Vec<String>) {
    let model = Scripted::new(["(count (tool/rows {}))", "(return *1)"]);
    let agent = agent("Count").tool(tool.expose(Expose::PtcLisp)).signature_validation(mode).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    let result = match step.turns[0].success {
        true => Ok(value(&step)),
        false => {
            assert_eq!(failure(&step, 1)["reason"], "validation_error");
            assert!(step.turns[0].tool_calls[0].error.is_some());
            Err(told(&model, 2))
        }
    };
    (result, step.warnings)
}

/// Returns the answer to a call that the model makes itself, and the step.
fn by_model(builder: AgentBuilder, mode: Validation) -> (Value, Step) {
    let call = LlmResponse::calls([ToolCall::read(Some("a"), "rows", "{}")]);
    let model = Scripted::new([Reply::from(call), "done".into()]);
    let agent = builder.output(Output::Text).signature_validation(mode).build().unwrap();
    let options = RunOptions { collect_messages: true, ..RunOptions::new() };
    let step = run(&agent, &options.llm(LlmRef::client(model))).unwrap();
    let messages = step.messages.clone().unwrap();
    let answer = messages.iter().find(|message| message.role == Role::Tool).unwrap();
    (serde_json::from_str(&answer.content).unwrap(), step)
}

#[test]
fn s002_results_of_tools_in_the_four_modes() {
    for tool in [rows, shared_rows] {
        for mode in [Enabled, Strict] {
            let told = in_program(tool(), mode).0.unwrap_err();
            assert!(told.contains("Tool validation errors:") && told.contains(WRONG), "{told}");
            assert!(told.contains("it promises () -> [{id :int}]"), "{told}");
        }
        let (result, warnings) = in_program(tool(), WarnOnly);
        assert!(result.is_ok());
        assert_eq!(warnings, [format!("result of tool/rows: {WRONG}")]);
        let (result, warnings) = in_program(tool(), Disabled);
        assert!(result.is_ok() && warnings.is_empty());
    }
    // Only `strict` refuses undeclared fields.
    let extra = "[0].more: is not a field of the signature";
    assert!(in_program(rows(), Strict).0.unwrap_err().contains(extra));
    assert!(!in_program(rows(), Enabled).0.unwrap_err().contains(extra));
    // The tool's own mode wins over the agent's.
    assert!(in_program(rows().validation(Disabled), Strict).0.is_ok());
    assert!(in_program(rows().validation(Enabled), Disabled).0.is_err());
}

#[test]
fn a_model_that_calls_the_tool_itself_is_told_too() {
    let text = || agent("Count").tool(rows());
    let combined = || text().ptc_transport(Some(Transport::ToolCall));
    let builders: [&dyn Fn() -> AgentBuilder; 2] = [&text, &combined];
    for builder in builders {
        for mode in [Enabled, Strict] {
            let (answer, step) = by_model(builder(), mode);
            assert_eq!(answer["reason"], "validation_error", "{answer}");
            assert!(answer["message"].as_str().unwrap().contains(WRONG), "{answer}");
            assert!(step.tool_calls[0].error.is_some());
        }
        let (answer, step) = by_model(builder(), WarnOnly);
        assert_eq!(
            (&answer[1]["id"], &step.warnings[0]),
            (&json!("abc"), &format!("result of tool/rows: {WRONG}"))
        );
        let (answer, step) = by_model(builder(), Disabled);
        assert!(answer[1]["id"] == "abc" && step.warnings.is_empty());
    }
}

#[test]
fn an_answer_that_does_not_fit_is_not_kept() {
    let asked = Arc::new(AtomicU32::new(0));
    let count = asked.clone();
    let tool = Tool::new("n", move |_, _| {
        Ok(if count.fetch_add(1, Ordering::Relaxed) == 0 { json!("one") } else { json!(1) })
    });
    let agent = agent("Count").tool(tool.signature("() -> :int").cache(true)).build().unwrap();
    let model = Scripted::new(["(tool/n {})", "(return [(tool/n {}) (tool/n {})])"]);
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!((value(&step), asked.load(Ordering::Relaxed)), (json!([1, 1]), 2));
}

#[test]
fn failures_that_tools_tell_as_values_are_no_results() {
    for (answer, program) in [
        (json!({"error": "not_found", "message": "no such order"}), "(return (:error (tool/find {})))"),
        (json!(["error", "not_found"]), "(return (second (tool/find {})))"),
    ] {
        let tool = Tool::answering("find", &answer).unwrap().signature("() -> {id :int}");
        let agent = agent("Find").tool(tool).signature_validation(Strict).build().unwrap();
        let step = run(&agent, &with(&Scripted::new([program]))).unwrap();
        assert_eq!(value(&step), json!("not_found"));
    }
    // A result with a field named `error` is a result.
    let tool =
        Tool::answering("find", &json!({"id": "x", "error": "none"})).unwrap().signature("() -> {id :int}");
    let model = Scripted::new(["(tool/find {})", "(return (:reason data/fail))"]);
    let step = run(&agent("Find").tool(tool).build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!("validation_error"));
}

#[test]
fn what_does_not_fit_is_not_quoted_where_it_is_firewalled() {
    let answer = json!({"_pin": "4711-4711", "n": 1});
    let tool = Tool::answering("user", &answer).unwrap().signature("() -> {_pin :int, n :int}");
    let model = Scripted::new(["(tool/user {})", "(return 1)"]);
    run(&agent("Look").tool(tool).build().unwrap(), &with(&model)).unwrap();
    let told = told(&model, 2);
    assert!(told.contains("_pin: expected int, got string <Firewalled>"), "{told}");
    assert!(!told.contains("4711-4711"), "{told}");
}
