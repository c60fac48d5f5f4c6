//! Replays of missions from their traces: equal runs, differences, and traces that cannot be replayed.

use ptc_agent::definition::Transport;
use ptc_agent::replay::{RecordedMission, ReplayReport};
use ptc_agent::tools::{Expose, LlmRef, LlmTool, Tool};
use ptc_agent::trace::{Analyzer, start_memory_sink, with_trace};
use ptc_agent::{Agent, AgentBuilder, RunOptions, run};
use ptc_model::{ErrorKind, LlmError, Reply, Scripted};
use ptc_model::{LlmRetry, Output};
use ptc_runtime::{Prelude, Runtime};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs a mission and replays its trace, through a file as hosts do.
fn play(agent: &Agent, data: &Value, replies: impl IntoIterator<Item = impl Into<Reply>>) -> ReplayReport {
    let dir = tempfile::tempdir().unwrap();
    let options = || RunOptions::new().context(data).unwrap();
    let model = LlmRef::client(Scripted::new(replies));
    let path = dir.path().join("run.jsonl");
    with_trace(&path, |tracer| run(agent, &options().llm(model).tracer(tracer)).is_ok()).unwrap();
    let recorded = RecordedMission::of(&Analyzer::load(&path).unwrap()).unwrap();
    recorded.run(agent, &options())
}

#[track_caller]
fn assert_same(replayed: &ReplayReport) {
    assert_eq!(replayed.difference, None, "{:#?}", replayed.step().fail);
}

fn programs() -> AgentBuilder {
    Agent::builder().prompt("Work on {{n}}").signature("(n :int) -> :any").max_turns(4)
}

#[test]
fn tools_are_not_called_again() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let tool = Tool::new("count", move |args, _| {
        let n = args.json()?["n"].as_i64().unwrap_or(0);
        Ok(json!({"n": n, "call": counted.fetch_add(1, Ordering::SeqCst)}))
    });
    let agent = programs().tool(tool).build().unwrap();
    let replies = [
        "(def a (pmap #(tool/count {:n %}) (range data/n)))",
        "(println (count a)) (tool/count {:n \"x\"})",
        "(return {:sum (reduce + (map :n a)) :last (:call *1)})",
    ];
    let replayed = play(&agent, &json!({"n": 5}), replies);
    assert_same(&replayed);
    assert_eq!((replayed.requests, replayed.tool_calls, calls.load(Ordering::SeqCst)), (3, 6, 6));
    assert_eq!(replayed.step().json().unwrap()["sum"], 10);
}

/// Checks that a different prelude is a difference, even with the same result.
#[test]
fn another_prelude_is_a_difference() {
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let agent = |source: &str| {
        let prelude = Prelude::compile(&runtime, source).unwrap();
        programs().runtime_prelude(Some(prelude)).build().unwrap()
    };
    let (was, is) = (agent("(ns m) (defn two [] (+ 1 1))"), agent("(ns m) (defn two [] (* 2 1))"));
    let model = LlmRef::client(Scripted::new(["(return (m/two))"]));
    let (tracer, memory) = start_memory_sink();
    let options = || RunOptions::new().context(&json!({"n": 1})).unwrap();
    run(&was, &options().llm(model).tracer(tracer)).unwrap();
    let recorded = RecordedMission::of(&Analyzer::of(memory.events())).unwrap();
    assert_same(&recorded.run(&was, &options()));
    let difference = recorded.run(&is, &options()).difference.unwrap();
    assert_eq!((difference.what, difference.turn), ("the preludes", Some(1)));
    assert!(difference.recorded.starts_with("m: source ") && difference.recorded != difference.now);
}

#[test]
fn agents_and_models_below_run_again() {
    let child =
        Agent::builder().prompt("Double {{x}}").signature("(x :int) -> :int").name("child").build().unwrap();
    let judge = LlmTool::new("Is {{x}} large?", "(x :int) -> {large :bool}").unwrap();
    let agent =
        programs().tool(Tool::agent("double", child)).tool(Tool::llm("judge", judge)).build().unwrap();
    let replies = [
        "(def d (tool/double {:x data/n}))",
        "(return (* 2 data/x))",
        "(return [d (tool/judge {:x d})])",
        "{\"large\": true}",
    ];
    let replayed = play(&agent, &json!({"n": 21}), replies);
    assert_same(&replayed);
    assert_eq!((replayed.requests, replayed.tool_calls), (4, 0));
    assert_eq!(replayed.step().json().unwrap(), json!([42, {"large": true}]));
}

#[test]
fn failures_are_played_as_they_were() {
    let tool = Tool::new("broken", |_, _| Err::<i64, _>(ptc_runtime::ToolError::new("out of order")));
    let agent = programs().tool(tool).build().unwrap();
    // A tool that fails, a program that fails, prose, and a mission that gives up.
    let replies = [
        "(tool/broken)",
        "(+ 1 nil)",
        "Let me think.",
        "(fail {:reason :tired :message (:reason data/fail)})",
    ];
    let replayed = play(&agent, &json!({"n": 1}), replies);
    assert_same(&replayed);
    assert_eq!(replayed.step().reason(), "tired");
    // A model that fails after a retry.
    let retry = LlmRetry { max_attempts: 2, base_delay: 1, ..LlmRetry::default() };
    let agent = programs().llm_retry(retry).build().unwrap();
    let down = || Reply::from(LlmError::new(ErrorKind::ServerError, "down"));
    let replayed = play(&agent, &json!({"n": 1}), [down(), down()]);
    assert_same(&replayed);
    assert_eq!(replayed.step().reason(), "llm_error");
    // A mission that is stopped while it waits.
    let agent = programs().mission_timeout(Some(50)).build().unwrap();
    let replayed = play(&agent, &json!({"n": 1}), [Reply::Hang]);
    assert_same(&replayed);
    assert_eq!(replayed.step().reason(), "cancelled");
}

#[test]
fn models_that_call_tools_themselves() {
    let tool = Tool::new("rows", |_, _| Ok(json!([{"a": 1}, {"a": 2}])));
    let tool = tool.signature("() -> [:map]").expose(Expose::Both).cache(true);
    let agent = Agent::builder()
        .prompt("Sum")
        .signature("() -> {sum :int}")
        .output(Output::Text)
        .ptc_transport(Some(Transport::ToolCall))
        .tool(tool)
        .build()
        .unwrap();
    use ptc_model::{LlmResponse, ToolCall};
    let call = |name: &str, args: Value| {
        Reply::from(LlmResponse::calls([ToolCall::read(None, name, &args.to_string())]))
    };
    let replies = [
        call("rows", json!({})),
        call("lisp_eval", json!({"program": "(reduce + (map :a (tool/rows)))"})),
        Reply::from("{\"sum\": 3}"),
    ];
    let replayed = play(&agent, &json!({}), replies);
    assert_same(&replayed);
    assert_eq!(replayed.step().json().unwrap(), json!({"sum": 3}));
}

#[test]
fn the_first_difference_is_told() {
    let price = |cents: i64| Tool::new("price", move |_, _| Ok(cents)).signature("(of :string) -> :int");
    let agent = programs().tool(price(3)).build().unwrap();
    let (tracer, memory) = start_memory_sink();
    let data = json!({"n": 2});
    let model =
        LlmRef::client(Scripted::new(["(def p (tool/price {:of \"tea\"}))", "(return (* p data/n))"]));
    run(&agent, &RunOptions::new().context(&data).unwrap().llm(model).tracer(tracer)).unwrap();
    let recorded = RecordedMission::of(&Analyzer::of(memory.events())).unwrap();
    let differs = |agent: &Agent, data: &Value| {
        let found = recorded.run(agent, &RunOptions::new().context(data).unwrap()).difference.unwrap();
        (found.what, found.turn, found.recorded, found.now)
    };
    // A change of data that appears in the request.
    let (what, turn, was, is) = differs(&agent, &json!({"n": 3}));
    assert_eq!((what, turn), ("the request", Some(1)));
    assert!(was.contains("Work on 2") && is.contains("Work on 3"), "{was}\n{is}");
    // A change of a tool's description in the request.
    let other = agent.with(|options| options.tool(price(3).description("In cents."))).unwrap();
    assert!(differs(&other, &data).3.contains("In cents."));
    // Fewer turns: the first turn becomes another kind, and the second request is not made.
    let other = agent.with(|options| options.max_turns(1)).unwrap();
    assert_eq!(differs(&other, &data).1, Some(1));
    // No change.
    assert!(recorded.run(&agent, &RunOptions::new().context(&data).unwrap()).difference.is_none());
}

#[test]
fn what_is_missing_is_told() {
    let refused = |tool: Tool| {
        let agent = programs().tool(tool).build().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.jsonl");
        let model = LlmRef::client(Scripted::new(["(return (count (str (tool/get {}))))"]));
        let options = RunOptions::new().context(&json!({"n": 1})).unwrap().llm(model);
        with_trace(&path, |tracer| run(&agent, &options.tracer(tracer)).is_ok()).unwrap();
        RecordedMission::of(&Analyzer::load(&path).unwrap()).err().map(|error| error.to_string())
    };
    let large = refused(Tool::new("get", |_, _| Ok("x".repeat(2 << 20)))).unwrap();
    assert!(large.contains("`tool/get` in turn 1") && large.contains("bytes"), "{large}");
    let hidden = refused(Tool::new("get", |_, _| Ok(json!({"_token": "abcdefgh"})))).unwrap();
    assert!(hidden.contains("trace_firewalled = true"), "{hidden}");
    // A long list is whole in the trace's data for replays.
    assert_eq!(refused(Tool::new("get", |_, _| Ok((0..1000).collect::<Vec<i64>>()))), None);
    let none = RecordedMission::of(&Analyzer::default()).err().unwrap();
    assert!(none.to_string().contains("no mission"), "{none}");
}

#[test]
fn a_model_that_a_program_names_is_played_too() {
    let agent = programs().llm_query(true).build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.jsonl");
    let data = json!({"n": 1});
    let options = || RunOptions::new().context(&data).unwrap();
    let program = "(return (tool/llm-query {:prompt \"How many?\" :signature \"{n :int}\" :llm \"cheap\"}))";
    with_trace(&path, |tracer| {
        let model = LlmRef::client(Scripted::new([program]));
        let options = options().llm(model).llm_named("cheap", Scripted::new(["{\"n\": 7}"]));
        run(&agent, &options.tracer(tracer)).unwrap();
    })
    .unwrap();
    let recorded = RecordedMission::of(&Analyzer::load(&path).unwrap()).unwrap();
    let replayed = recorded.run(&agent, &options());
    assert_same(&replayed);
    assert_eq!((replayed.requests, replayed.step().json().unwrap()), (2, json!({"n": 7})));
}
