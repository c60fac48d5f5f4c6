//! Single registry: tools of every kind follow the same rules of exposure in each mode.

use crate::{answers, calls, combined, eval, text, with};
use ptc_agent::definition::Transport;
use ptc_agent::tools::{Expose, LlmRef, LlmTool, Tool};
use ptc_agent::{Agent, AgentBuilder, run};
use ptc_model::{LlmRequest, Output, Scripted};
use serde_json::{Value, json};

/// Returns tools of four kinds: host code, a question, an agent that writes programs, and one that answers in text.
/// Each doubles a number.
fn kinds() -> Vec<(&'static str, Tool)> {
    let child = |output: Output| {
        let agent = Agent::builder().prompt("Double {{n}}").signature("(n :int) -> :int").output(output);
        agent.llm(LlmRef::from(|request: &LlmRequest| {
            Ok(if request.output == Output::Text { "42" } else { "(return (* 2 data/n))" })
        }))
    };
    let question = LlmTool::new("Double {{n}}", "(n :int) -> :int").unwrap();
    vec![
        (
            "host",
            Tool::new("double", |args, _| Ok(args.json()?["n"].as_i64().unwrap_or(0) * 2))
                .signature("(n :int) -> :int"),
        ),
        ("question", Tool::llm("double", question.llm(LlmRef::client(Scripted::new(["42"]))))),
        ("agent", Tool::agent("double", child(Output::PtcLisp).build().unwrap())),
        ("agent in words", Tool::agent("double", child(Output::Text).build().unwrap())),
    ]
}

/// Returns the answer to the only call, of `lisp_eval` or of the tool.
fn answer(agent: AgentBuilder, tool: Tool, reply: ptc_model::Reply) -> Value {
    let model = Scripted::new([reply, "done".into()]);
    let step = run(&agent.tool(tool).build().unwrap(), &with(&model)).unwrap();
    answers(&step.messages.unwrap()).remove(0).1
}

#[test]
fn s000_every_kind_of_tool_is_in_every_mode() {
    let by_model = || calls(&[("a", "double", json!({"n": 21}))]);
    let program = "(return (tool/double {:n 21}))";
    for (kind, tool) in kinds() {
        let words = Agent::builder().prompt("Double");
        let model = Scripted::new([program]);
        let step = run(&words.clone().tool(tool).build().unwrap(), &with(&model)).unwrap();
        assert_eq!(step.get::<i64>().unwrap(), 42, "{kind}");
    }
    for (kind, tool) in kinds() {
        let by_call = Agent::builder().prompt("Double").ptc_transport(Some(Transport::ToolCall));
        assert_eq!(answer(by_call, tool, eval("a", program))["result"], "user=> 42", "{kind}");
    }
    for (kind, tool) in kinds() {
        assert_eq!(answer(text("Double"), tool, by_model()), json!(42), "{kind}");
    }
    for (kind, tool) in kinds() {
        assert_eq!(answer(combined("Double"), tool, by_model()), json!(42), "{kind}");
    }
    for (kind, tool) in kinds() {
        let shared = tool.expose(Expose::Both);
        assert_eq!(answer(combined("Double"), shared, eval("a", program))["result"], "user=> 42", "{kind}");
    }
}
