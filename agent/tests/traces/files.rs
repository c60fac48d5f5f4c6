//! Traces in files and in memory.

use crate::sample::{Folder, mission};
use ptc_agent::trace::{
    AgentLabel, Analyzer, JsonLines, Kind, MemorySink, Tracer, start_memory_sink, to_line, with_trace,
};
use serde_json::{Map, Value, json};

fn label() -> AgentLabel {
    AgentLabel::new(Some("triage"), "c0ffee12")
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_are_flat_and_have_the_fields_of_the_format() {
    let folder = Folder::new();
    let path = folder.file("run.jsonl");
    let log = JsonLines::create(&path).unwrap();
    let meta: Map<String, Value> = json!({"host": "test"}).as_object().cloned().unwrap();
    mission(&Tracer::new().deterministic().label("nightly").metadata(meta).with(log.clone()));
    log.finish();
    let lines = lines(&std::fs::read_to_string(&path).unwrap());
    let start = json!({
        "schema_version": 2, "event": "trace.start", "trace_id": "00000000000000000000000000000001", "seq": 0,
        "timestamp": "2030-01-01T00:00:00.001Z", "span_id": "00000001", "agent_name": "triage",
        "agent_id": "c0ffee12", "depth": 0, "model": "m1", "trace_kind": "agent", "trace_label": "nightly",
        "producer": concat!("ptc-agent ", env!("CARGO_PKG_VERSION")), "query": "Find the late orders",
        "data": {"host": "test"},
    });
    assert_eq!(lines[0], start);
    assert_eq!((&lines[1]["event"], &lines[1]["data"]["max_turns"]), (&json!("agent.config"), &json!(5)));
    let stop = lines.iter().find(|line| line["event"] == "llm.stop").unwrap();
    for (key, value) in [("input_tokens", 100), ("output_tokens", 10), ("total_tokens", 110), ("turn", 1)] {
        assert_eq!(stop[key], value, "{key}");
    }
    assert_eq!((&stop["cost_usd"], &stop["duration_ms"]), (&json!(0.25), &json!(2)));
    let turn = lines.iter().find(|line| line["event"] == "turn").unwrap();
    assert_eq!((&turn["driver"], &turn["data"]["driver"]), (&json!("sub_agent"), &Value::Null));
    assert_eq!(lines.last().unwrap()["event"], "trace.stop");
    assert!(lines.iter().enumerate().all(|(i, line)| line["seq"] == i));
}

#[test]
fn agents_below_have_files_of_their_own() {
    let folder = Folder::new();
    let path = folder.file("run.jsonl");
    let ((), written) = with_trace(&path, |tracer| mission(&tracer.deterministic())).unwrap();
    let below = folder.file("run-00000000000000000000000000000002.jsonl");
    assert_eq!((written.files, written.dropped, written.error), (vec![path.clone(), below.clone()], 0, None));
    let below = lines(&std::fs::read_to_string(below).unwrap());
    assert_eq!(below[0]["parent_trace_id"], "00000000000000000000000000000001");
    let all = Analyzer::load(&path).unwrap();
    assert_eq!(all.files().len(), 2);
    assert_eq!(all.summary().traces, 2);
}

#[test]
fn a_folder_has_a_file_per_trace() {
    let folder = Folder::new();
    let log = JsonLines::in_folder(folder.file("new/traces")).unwrap();
    let tracer = Tracer::new().with(log.clone());
    mission(&tracer);
    mission(&tracer);
    let files = log.finish().files;
    assert_eq!(files.len(), 4);
    assert_eq!(Analyzer::load(folder.file("new/traces")).unwrap().summary().traces, 4);
    let one = Analyzer::load(&files[0]).unwrap();
    assert_eq!(one.summary().traces, 2, "with the agent below, without the other mission");
}

#[test]
fn many_traces_at_once_are_all_written() {
    let folder = Folder::new();
    let log = JsonLines::in_folder(&folder.0).unwrap();
    let tracer = Tracer::new().with(log.clone());
    let missions: Vec<_> = (0..200).map(|_| tracer.mission(label(), None)).collect();
    for _ in 0..2 {
        missions.iter().for_each(|mission| mission.emit(Kind::ToolCall, |_| ()));
    }
    drop(missions);
    assert_eq!(log.finish().files.len(), 200);
    let all = Analyzer::load(&folder.0).unwrap();
    assert_eq!((all.events().len(), all.summary().missing_events), (800, 0));
}

#[test]
fn more_events_than_can_wait_are_counted_not_waited_for() {
    let folder = Folder::new();
    let log = JsonLines::create(folder.file("run.jsonl")).unwrap();
    let run = Tracer::new().with(log.clone()).mission(label(), None);
    for _ in 0..20_000 {
        run.emit(Kind::ToolCall, |event| event.put("args", json!({"n": 1})));
    }
    drop(run);
    let written = log.finish();
    assert_eq!(written.events + written.dropped, 20_002);
    let read = Analyzer::load(folder.file("run.jsonl")).unwrap();
    assert_eq!(read.events().len() as u64, written.events);
}

#[test]
fn a_file_that_cannot_be_written_fails_nothing() {
    let folder = Folder::new();
    assert!(JsonLines::create(folder.file("no/such/folder.jsonl")).is_err());
    let log = JsonLines::in_folder(&folder.0).unwrap();
    std::fs::remove_dir_all(&folder.0).unwrap();
    mission(&Tracer::new().with(log.clone()));
    let written = log.finish();
    assert_eq!(written.events, 0);
    assert!(written.error.unwrap().starts_with("cannot write "), "says which file");
    assert!(written.dropped > 10);
}

#[test]
fn events_after_the_end_are_dropped() {
    let folder = Folder::new();
    let log = JsonLines::create(folder.file("run.jsonl")).unwrap();
    let run = Tracer::new().with(log.clone()).mission(label(), None);
    run.emit(Kind::RunStart, |_| ());
    assert_eq!(log.finish().events, 2);
    run.emit(Kind::RunStop, |_| ());
    assert_eq!(log.finish().dropped, 1);
}

#[test]
fn what_is_too_long_is_cut() {
    let (tracer, memory) = start_memory_sink();
    let run = tracer.mission(label(), None);
    let long = "ä".repeat(50_000);
    run.emit(Kind::LlmStart, |event| {
        event.put("system_prompt", long.clone());
        event.put("prompt", long.clone());
        event.put("rows", vec![1; 250]);
        event.put("map", (0..150).map(|n| (n.to_string(), json!(n))).collect::<Map<_, _>>());
        event.put("replay", json!({"result": vec![1; 250]}));
        // Eight times as deep as a value of a program may be when it becomes JSON.
        event.put("deep", (0..1000).fold(json!(1), |inner, _| Value::Array(vec![inner])));
    });
    let data = memory.events()[1].data.clone();
    let depth = std::iter::successors(Some(&data["deep"]), |value| value.get(0)).count();
    assert!((90..=110).contains(&depth), "{depth}");
    assert_eq!(data["system_prompt"], long);
    let prompt = data["prompt"].as_str().unwrap();
    assert!(prompt.ends_with("…(+34464 bytes)") && prompt.len() < 66_000, "{}", &prompt[65_000..]);
    assert_eq!(data["rows"].as_array().unwrap().len(), 101);
    assert_eq!(data["rows"][100], "…(+150 items)");
    assert_eq!((data["map"].as_object().unwrap().len(), &data["map"]["…"]), (101, &json!("+50 entries")));
    assert_eq!(data["replay"]["result"].as_array().unwrap().len(), 250);
    run.emit(Kind::ToolCall, |event| event.put("result", vec![1; 250]));
    assert_eq!(memory.events()[2].data["result"].as_array().unwrap().len(), 250);
}

#[test]
fn what_is_too_large_is_left_out_and_told() {
    let (tracer, memory) = start_memory_sink();
    let run = tracer.mission(label(), None);
    run.emit(Kind::ToolCall, |event| {
        event.put("args", json!({"n": 1}));
        event.put("replay", "x".repeat(2 << 20));
    });
    run.emit(Kind::ToolCall, |event| event.put("response", "x".repeat(2 << 20)));
    let events = memory.events();
    assert_eq!((events[1].kind, &events[1].data["args"]), (Kind::ToolCall, &json!({"n": 1})));
    assert_eq!(events[1].data["replay_omitted_bytes"], (2 << 20) + 2);
    assert_eq!((events[2].kind, &events[2].data["event"]), (Kind::EventOmitted, &json!("tool.call")));
    assert!(memory.lines().iter().all(|line| line.len() <= ptc_agent::trace::MAX_LINE));
}

#[test]
fn memory_keeps_the_last() {
    let memory = MemorySink::with_bytes(2000);
    let run = Tracer::new().with(memory.clone()).mission(label(), None);
    for n in 0..100 {
        run.emit(Kind::ToolCall, |event| event.put("n", n));
    }
    let events = memory.events();
    assert_eq!(events.last().unwrap().data["n"], 99);
    assert_eq!(events.len() as u64 + memory.forgotten(), 101);
    assert!(memory.lines().iter().map(String::len).sum::<usize>() <= 2000);
    memory.clear();
    assert!(memory.events().is_empty());
}

#[test]
fn lines_come_back_as_the_events_they_were() {
    let (tracer, memory) = start_memory_sink();
    mission(&tracer.deterministic());
    let text = memory.lines().join("\n");
    let mut events = memory.events();
    events.sort_by_key(|event| (event.at, event.trace_id, event.seq));
    let read = Analyzer::parse(text.as_bytes(), "memory").unwrap();
    assert_eq!(read.events(), events);
    assert!(read.events().iter().all(|event| text.contains(&to_line(event))));
}

#[cfg(unix)]
#[test]
fn traces_are_for_their_user_only() {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = Folder::new();
    let ((), written) = with_trace(folder.file("run.jsonl"), |tracer| mission(&tracer)).unwrap();
    assert!(written.files.len() == 2 && written.files.iter().all(|file| mode(file) == 0o600), "{written:?}");
    let log = JsonLines::in_folder(folder.file("traces/of")).unwrap();
    mission(&Tracer::new().with(log.clone()));
    assert!(log.finish().files.iter().all(|file| mode(file) == 0o600));
    assert_eq!((mode(&folder.file("traces")), mode(&folder.file("traces/of"))), (0o700, 0o700));
    // An existing file keeps its permissions.
    let shared = folder.file("shared.jsonl");
    std::fs::write(&shared, "").unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o644)).unwrap();
    with_trace(&shared, |tracer| mission(&tracer)).unwrap();
    assert_eq!(mode(&shared), 0o644);
}
