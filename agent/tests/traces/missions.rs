//! What missions leave in traces.

use crate::sample::Folder;
use ptc_agent::model::{LlmResponse, Scripted, Tokens};
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::trace::{Analyzer, Event, JsonLines, Kind, Tracer, start_memory_sink, with_trace};
use ptc_agent::{Agent, RunOptions, run};
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
    // What tools took is measured; everything else is the same.
    let steady = || {
        let lines: Vec<Value> = traced()
            .iter()
            .map(|event| {
                let mut line: Value = serde_json::from_str(&ptc_agent::trace::to_line(event)).unwrap();
                without_times(&mut line["data"]);
                line
            })
            .collect();
        lines
    };
    assert_eq!(steady(), steady());
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("duration_ms");
            map.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}

/// The example of the guide, with a system message of its own so that it stays as it is.
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

/// What an event is, without what it says.
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
