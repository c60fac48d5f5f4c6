//! Events that missions leave in traces.

use crate::sample::Folder;
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::trace::{Analyzer, Event, JsonLines, Kind, Tracer, start_memory_sink, with_trace};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::{LlmResponse, Scripted, Tokens};
use serde_json::{Value, json};

fn orders() -> Agent {
    let helper = Agent::builder()
        .name("helper")
        .prompt("How bad is a delay of {{days}} days?")
        .signature("(days :int) -> :string")
        .description("Judges delays")
        .build()
        .unwrap();
    Agent::builder()
        .name("triage")
        .prompt("Find the late orders")
        .signature("() -> {ids [:int], how :string}")
        .tool(
            Tool::new("orders", |_, _| {
                Ok(json!([{"id": 7, "days": 3, "_token": "canary-84711"}, {"id": 9, "days": 0}]))
            })
            .signature("() -> [{id :int, days :int, _token :string?}]"),
        )
        .tool(Tool::agent("judge", helper))
        .build()
        .unwrap()
}

fn options() -> RunOptions {
    let said = |text: &str| LlmResponse::from(text).tokens(Tokens::new(100, 10));
    let model = Scripted::new([
        said("(def late (filter #(pos? (:days %)) (tool/orders)))"),
        said("(def how (tool/judge {:days 3}))"),
        said("(return \"bad\")"),
        said("(println (:_token (first late)))\n(+ 1 nil)"),
        said("(return {:ids (map :id late) :how how})"),
    ]);
    RunOptions::new().llm(LlmRef::client(model))
}

fn traced() -> Vec<Event> {
    let (tracer, memory) = start_memory_sink();
    run(&orders(), &options().tracer(tracer.deterministic())).unwrap();
    memory.events()
}

#[test]
fn the_whole_story_is_there() {
    let folder = Folder::new();
    let path = folder.file("run.jsonl");
    let (step, written) =
        with_trace(&path, |tracer| run(&orders(), &options().tracer(tracer)).unwrap()).unwrap();
    assert_eq!((written.files.len(), written.dropped, &written.error), (2, 0, &None));
    let trace = Analyzer::load(&path).unwrap();
    let summary = trace.summary();
    assert_eq!((summary.traces, summary.turns, summary.failed_turns, summary.llm_requests), (2, 5, 1, 5));
    assert_eq!((summary.tool_calls, summary.missing_events, summary.status.as_deref()), (2, 0, Some("ok")));
    assert_eq!(summary.tokens, Tokens::new(500, 50));
    assert_eq!(summary.tokens.total(), step.usage.tree.total_tokens);
    let tree = trace.build_tree();
    let names: Vec<String> =
        tree.spans.iter().map(|span| format!("{}{}", " ".repeat(span.depth as usize), span.name)).collect();
    let wanted = [
        "triage",
        " turn 1",
        "  scripted",
        "  orders",
        " turn 2",
        "  scripted",
        "  judge",
        "   helper",
        "    turn 1",
        "     scripted",
        " turn 3",
        "  scripted",
        " turn 4",
        "  scripted",
    ];
    assert_eq!(names, wanted);
    assert!(tree.spans.iter().all(|span| span.ended), "{tree:?}");
}

#[test]
fn no_firewalled_value_is_in_a_trace() {
    let events = traced();
    assert!(!format!("{events:?}").contains("canary-84711"));
    let calls: Vec<&Event> = events.iter().filter(|event| event.kind == Kind::ToolCall).collect();
    assert_eq!(calls[0].data["result"][0], json!({"id": 7, "days": 3, "_token": "<Firewalled>"}));
    let (tracer, memory) = start_memory_sink();
    let shown = orders().with(|agent| agent.trace_firewalled(true)).unwrap();
    run(&shown, &options().tracer(tracer)).unwrap();
    assert!(format!("{:?}", memory.events()).contains("canary-84711"));
}

#[test]
fn every_call_of_a_tool_has_its_fields() {
    for event in traced().iter().filter(|event| event.kind == Kind::ToolCall) {
        assert!(event.tool_name.is_some() && event.duration.is_some() && event.status.is_some());
        for key in [
            "exposure_layer",
            "cached",
            "error",
            "result_preview_truncated",
            "full_result_cached",
            "cache_key_hash",
            "retained_bytes",
        ] {
            assert!(event.data.contains_key(key), "{key}: {event:?}");
        }
    }
}

#[test]
fn the_config_stands_before_the_first_event_of_an_agent() {
    let events = traced();
    for name in ["triage", "helper"] {
        let kinds: Vec<Kind> = events
            .iter()
            .filter(|event| event.agent_name.as_deref() == Some(name))
            .map(|event| event.kind)
            .collect();
        assert_eq!(kinds[..3], [Kind::TraceStart, Kind::AgentConfig, Kind::RunStart], "{name}");
        assert_eq!(kinds.last(), Some(&Kind::TraceStop), "{name}");
    }
}

#[test]
fn a_replay_finds_requests_and_replies() {
    let events = traced();
    let starts: Vec<&Event> = events.iter().filter(|event| event.kind == Kind::LlmStart).collect();
    let hashes: std::collections::HashSet<&Value> =
        starts.iter().map(|event| &event.data["request_hash"]).collect();
    assert_eq!((starts.len(), hashes.len()), (5, 5));
    assert!(starts[0].data["system_prompt"].as_str().unwrap().len() > 1000);
    let stops = events.iter().filter(|event| event.kind == Kind::LlmStop);
    let replies: Vec<LlmResponse> =
        stops.map(|event| serde_json::from_value(event.data["response"].clone()).unwrap()).collect();
    assert_eq!(replies[2].text(), "(return \"bad\")");
    assert_eq!(replies[2].tokens, Some(Tokens::new(100, 10)));
}

#[test]
fn a_replay_finds_large_answers() {
    let agent = Agent::builder()
        .prompt("Count")
        .tool(Tool::new("rows", |_, _| Ok((0..20_000).collect::<Vec<i64>>())).signature("() -> [:int]"))
        .build()
        .unwrap();
    let model = Scripted::new(["(return (count (tool/rows)))"]);
    let (tracer, memory) = start_memory_sink();
    run(&agent, &RunOptions::new().llm(LlmRef::client(model)).tracer(tracer)).unwrap();
    let events = memory.events();
    let call = events.iter().find(|event| event.kind == Kind::ToolCall).unwrap();
    assert!(call.data["replay"].to_string().len() > 100_000, "the record is cut, the answer is not");
}

#[test]
fn the_same_run_has_the_same_trace() {
    let lines = || -> Vec<String> { traced().iter().map(ptc_agent::trace::to_line).collect() };
    assert_eq!(lines(), lines());
}

/// Returns the step and events of a mission with these replies.
fn told(agent: &Agent, replies: &[&str]) -> (Result<ptc_agent::Step, Box<ptc_agent::Step>>, Vec<Event>) {
    let (tracer, memory) = start_memory_sink();
    let model = Scripted::new(replies.iter().map(|reply| reply.to_string()));
    let step = run(agent, &RunOptions::new().llm(LlmRef::client(model)).tracer(tracer));
    (step, memory.events())
}

#[test]
fn branches_are_told_with_the_missions_they_delegate() {
    let helper = Agent::builder()
        .prompt("Twice {{n}}")
        .signature("(n :int) -> :int")
        .llm(LlmRef::client(Scripted::new(["(return (* 2 data/n))"; 3])))
        .build()
        .unwrap();
    let agent = Agent::builder().prompt("Work").tool(Tool::agent("twice", helper)).build().unwrap();
    let program = "(pcalls (fn [] 1) (fn [] 2)) (return (pmap (fn [n] (tool/twice {:n n})) [1 2 3]))";
    let (step, events) = told(&agent, &[program]);
    let step = step.unwrap();
    assert_eq!(step.json().unwrap(), json!([2, 4, 6]));
    let of = |kind: Kind| events.iter().find(|event| event.kind == kind).unwrap();
    let (start, stop) = (of(Kind::PmapStart), of(Kind::PmapStop));
    assert_eq!((start.span, &start.data["count"]), (stop.span, &json!(3)));
    assert_eq!((&stop.data["success_count"], &stop.data["error_count"]), (&json!(3), &json!(0)));
    assert_eq!(stop.data["child_trace_ids"].as_array().unwrap().len(), 3);
    assert!(stop.duration.is_some());
    assert_eq!(of(Kind::PcallsStop).data["success_count"], 2);
    let calls: Vec<&Event> = events.iter().filter(|event| event.kind == Kind::ToolCall).collect();
    assert!(calls.iter().all(|call| call.parent == Some(stop.span)), "calls are below their branches");
    let forms: Vec<(&str, u64)> =
        step.pmap_calls.iter().map(|call| (call.form.as_str(), call.count)).collect();
    assert_eq!(forms, [("pcalls", 2), ("pmap", 3)]);
    assert_eq!(step.child_traces, step.pmap_calls[1].child_trace_ids);
}

#[test]
fn a_branch_that_fails_is_counted() {
    let agent = Agent::builder().prompt("Work").max_turns(2).build().unwrap();
    let (step, events) = told(&agent, &["(pmap (fn [n] (/ 10 n)) [1 0])", "(return 1)"]);
    step.unwrap();
    let stop = events.iter().find(|event| event.kind == Kind::PmapStop).unwrap();
    assert_eq!((stop.status.as_deref(), &stop.data["error_count"]), (Some("error"), &json!(1)));
}

#[test]
fn turn_records_say_what_changed_and_which_limits_were_hit() {
    let agent = Agent::builder().prompt("Work").max_turns(4).max_tool_calls(Some(1)).build().unwrap();
    let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
    let source = "(ns shop \"Prices.\") (defn rate \"The rate.\" [] 19)";
    let prelude = ptc_runtime::Prelude::compile(&runtime, source).unwrap();
    let agent = agent
        .with(|agent| agent.tool(Tool::new("one", |_, _| Ok(1))).runtime_prelude(Some(prelude)))
        .unwrap();
    let replies = [
        "(def a 1) (def _key \"canary-5521\")",
        "(def b (shop/rate)) (def a 1)",
        "(tool/one {}) (tool/one {})",
        "(return (+ a b))",
    ];
    let (step, events) = told(&agent, &replies);
    let step = step.unwrap();
    let records: Vec<&Event> = events.iter().filter(|event| event.kind == Kind::Turn).collect();
    let diff = |at: usize| &records[at].data["memory_diff"];
    assert_eq!(diff(0)["changed_keys"], json!(["_key", "a"]));
    assert_eq!(diff(0)["values"], json!({"_key": "<Firewalled>", "a": "1"}));
    assert_eq!(diff(1)["changed_keys"], json!(["a", "b"]));
    assert_eq!(diff(3)["changed_keys"], json!([]));
    assert_eq!(records[2].data["limits_hit"], json!(["tool_call_limit_exceeded"]));
    assert_eq!(step.turns[2].limits_hit, ["tool_call_limit_exceeded"]);
    assert_eq!(records[0].data["preludes"][0]["namespaces"], json!(["shop"]));
    assert_eq!(step.turns[3].prelude_trace, step.prelude_trace);
    let system = step.turns[0].system_prompt.as_deref().unwrap();
    assert!(system.contains("shop"), "{system}");
    assert!(!format!("{records:?}").contains("canary-5521"));
}

#[test]
fn missions_that_break_end_with_an_exception() {
    let agent = Agent::builder().prompt("Work").build().unwrap();
    let (tracer, memory) = start_memory_sink();
    let mut options = RunOptions::new().llm(LlmRef::client(Scripted::new(["(def a 1)"]))).tracer(tracer);
    options.continuation_guard = Some(std::sync::Arc::new(|_, _| panic!("no")));
    assert_eq!(run(&agent, &options).unwrap_err().reason(), "internal_error");
    let last = memory.events().into_iter().find(|event| event.kind.ends_run()).unwrap();
    assert_eq!((last.kind, &last.data["kind"]), (Kind::RunException, &json!("error")));
    assert_eq!(last.data["reason"], "`continuation_guard` panicked");
}

#[tokio::test]
async fn missions_nobody_waits_for_are_told() {
    let agent = Agent::builder().prompt("Work").build().unwrap();
    let (tracer, memory) = start_memory_sink();
    let never = |_: &ptc_model::LlmRequest| -> Result<&str, ptc_model::LlmError> {
        std::thread::sleep(std::time::Duration::from_secs(2));
        Ok("(return 1)")
    };
    let options = RunOptions::new().llm(LlmRef::from(never)).tracer(tracer);
    let short = std::time::Duration::from_millis(50);
    assert!(tokio::time::timeout(short, ptc_agent::run_async(&agent, &options)).await.is_err());
    let last = memory.events().into_iter().find(|event| event.kind.ends_run()).unwrap();
    assert_eq!((last.kind, &last.data["kind"]), (Kind::RunException, &json!("dropped")));
}

/// Writes the trace of the guide's example, with a fixed system message so that it stays the same.
fn example(to: &std::path::Path) {
    let plain =
        |agent: Agent| agent.with(|agent| agent.system_prompt("You answer with PTC-Lisp programs.")).unwrap();
    let helper = Agent::builder()
        .name("helper")
        .prompt("How bad is a delay of {{days}} days?")
        .signature("(days :int) -> :string")
        .description("Judges delays")
        .build()
        .unwrap();
    let agent = orders().with(|agent| agent.tool(Tool::agent("judge", plain(helper)))).unwrap();
    let log = JsonLines::create(to).unwrap();
    let tracer = Tracer::new().deterministic().with(log.clone());
    run(&plain(agent), &options().tracer(tracer)).unwrap();
    assert_eq!(log.finish().error, None);
}

/// Returns the shape of a trace: its events without their content.
fn shape(trace: &Analyzer) -> Vec<String> {
    let shape = |event: &Event| {
        let keys: Vec<&String> = event.data.keys().collect();
        format!(
            "{} {} {:?} {:?} {:?} {keys:?}",
            event.kind, event.span, event.parent, event.turn, event.tool_name
        )
    };
    trace.events().iter().map(shape).collect()
}

#[test]
fn the_example_of_the_guide_is_what_a_mission_leaves() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/traces/late-orders.jsonl");
    if std::env::var_os("PTC_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let below = path.with_file_name("late-orders-00000000000000000000000000000002.jsonl");
        let _ = std::fs::remove_file(below);
        example(&path);
    }
    let folder = Folder::new();
    let fresh = folder.file("late-orders.jsonl");
    example(&fresh);
    let (kept, fresh) = (Analyzer::load(&path).unwrap(), Analyzer::load(&fresh).unwrap());
    assert_eq!(shape(&kept), shape(&fresh), "PTC_BLESS=1 writes the example anew");
}
