//! Reading of traces: queries, and files that are not traces.

use crate::sample::{Folder, mission};
use proptest::prelude::*;
use ptc_agent::trace::{Analyzer, SpanKind, start_memory_sink};
use ptc_model::Tokens;
use serde_json::{Value, json};

fn sample() -> Analyzer {
    let (tracer, memory) = start_memory_sink();
    mission(&tracer.deterministic());
    Analyzer::of(memory.events())
}

#[test]
fn a_summary_counts_each_thing_once() {
    let summary = sample().summary();
    assert_eq!((summary.traces, summary.agents, summary.status.as_deref()), (2, 2, Some("ok")));
    assert_eq!((summary.turns, summary.failed_turns, summary.llm_requests), (3, 2, 3));
    assert_eq!(summary.tokens, Tokens { total_cost: Some(0.75), ..Tokens::new(300, 30) });
    assert_eq!((summary.models["m1"].requests, summary.tool_calls), (3, 3));
    let search = &summary.tools["search"];
    assert_eq!((search.calls, search.cached, search.errors), (2, 1, 0));
    assert_eq!((summary.tools["helper"].errors, summary.missing_events), (1, 0));
}

#[test]
fn a_tree_goes_through_the_agents_below() {
    let trace = sample();
    let tree = trace.build_tree();
    let rows: Vec<String> =
        tree.spans.iter().map(|span| format!("{}{}", "  ".repeat(span.depth as usize), span.name)).collect();
    let wanted = [
        "triage",
        "  turn 1",
        "    m1",
        "    helper",
        "      helper",
        "        turn 1",
        "          m1",
        "  turn 2",
        "    m1",
        "    search",
        "    search",
    ];
    assert_eq!(rows, wanted);
    let failed: Vec<usize> = (0..tree.spans.len()).filter(|at| tree.spans[*at].failed).collect();
    assert_eq!(failed, [1, 3, 4, 5]);
    assert!(tree.spans.iter().all(|span| span.ended));
}

#[test]
fn turns_sessions_and_programs() {
    let trace = sample();
    let sessions = trace.sessions();
    let brief: Vec<_> = sessions.iter().map(|s| (s.agent_name.as_deref(), s.turns, s.failed_turns)).collect();
    assert_eq!(brief, [(Some("helper"), 1, 1), (Some("triage"), 2, 1)]);
    let turns = trace.session_turns(&sessions[1].session_id);
    assert_eq!((turns.len(), turns[1].turn, turns[1].prints.clone()), (2, 2, vec!["looked".to_string()]));
    assert_eq!(trace.programs()[0].program.as_deref(), Some("(fail :nothing)"));
}

#[test]
fn slowest_timeline_and_filter() {
    let trace = sample();
    let tree = trace.build_tree();
    let slowest = trace.slowest(&tree, 2);
    assert_eq!((slowest.len(), slowest[0].name.as_str(), slowest[0].kind), (2, "helper", SpanKind::Tool));
    let timeline = trace.timeline(&tree);
    assert_eq!((timeline.len(), timeline[0].span.name.as_str()), (11, "triage"));
    assert!(timeline.is_sorted_by_key(|row| row.offset));
    assert_eq!(trace.filter(|event| event.tool_name.as_deref() == Some("search")).len(), 4);
}

#[test]
fn chrome_gets_lanes_that_nest() {
    let chrome = sample().export_chrome_trace();
    let rows = chrome["traceEvents"].as_array().unwrap();
    assert_eq!(rows.len(), 11);
    assert!(rows.iter().all(|row| row["ph"] == "X" && row["tid"] == 0), "nothing ran side by side");
}

fn parse(text: &str) -> Result<Analyzer, String> {
    Analyzer::parse(text.as_bytes(), "t.jsonl").map_err(|error| error.to_string())
}

#[test]
fn what_is_no_trace_says_so() {
    for (text, wanted) in [
        ("", "t.jsonl is not a trace: it is empty"),
        (
            "hello",
            "t.jsonl is not a trace: no line can be read: t.jsonl:1: not valid JSON: expected value at line \
             1 column 1",
        ),
        ("[1]", "t.jsonl is not a trace: no line can be read: t.jsonl:1: must be a JSON object"),
        (
            "{\"a\":1}",
            "t.jsonl is not a trace: no line can be read: t.jsonl:1: `schema_version` is missing: this is \
             not a line of a trace",
        ),
        (
            "{\"schema_version\":9}",
            "t.jsonl is not a trace: no line can be read: t.jsonl:1: `schema_version` is 9, but only 2 can \
             be read",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), wanted);
    }
    let missing = Analyzer::load("no-such-file.jsonl").unwrap_err().to_string();
    assert!(missing.starts_with("cannot read no-such-file.jsonl: "), "{missing}");
    let folder = Folder::new();
    assert!(Analyzer::load(&folder.0).unwrap_err().to_string().contains("has no traces"));
}

fn good() -> String {
    let (tracer, memory) = start_memory_sink();
    mission(&tracer.deterministic());
    memory.lines().join("\n")
}

#[test]
fn broken_lines_are_told_and_the_rest_is_read() {
    let good = good();
    let unknown = good.lines().next().unwrap().replace("trace.start", "brain.storm");
    let cut = &good[..good.len() - 20];
    let text = format!("{unknown}\n{{\"x\"\n\n{cut}");
    let trace = parse(&text).unwrap();
    let problems = trace.problems();
    assert_eq!((problems.broken_lines, problems.unknown_events), (2, 1));
    assert!(problems.told[0].starts_with("t.jsonl:2: not valid JSON"), "{:?}", problems.told);
    assert_eq!(trace.summary().turns, 3);
}

#[test]
fn fields_that_are_not_known_are_passed_over() {
    let text = good().replace("\"schema_version\":2", "\"schema_version\":2,\"colour\":{\"a\":[1]}");
    assert_eq!(parse(&text).unwrap().events().len(), parse(&good()).unwrap().events().len());
}

#[test]
fn spans_that_go_in_circles_end_somewhere() {
    let line = |span: u32, parent: u32| {
        json!({
            "schema_version": 2, "event": "turn.start", "trace_id": "00000000000000000000000000000001",
            "timestamp": "2031-04-02T08:00:01Z", "span_id": format!("{span:08x}"),
            "parent_span_id": format!("{parent:08x}"),
        })
        .to_string()
    };
    let ring: Vec<String> = (0..5000).map(|n| line(n, (n + 1) % 5000)).collect();
    let tree = parse(&ring.join("\n")).unwrap().build_tree();
    assert_eq!((tree.spans.len(), tree.roots.len()), (5000, 1));
    let selfish = parse(&line(7, 7)).unwrap();
    assert_eq!(selfish.build_tree().roots, [0]);
    selfish.export_chrome_trace();
}

#[test]
fn long_chains_and_wide_rows_are_fine() {
    let line = |span: u32, parent: u32| {
        format!(
            "{{\"schema_version\":2,\"event\":\"tool.stop\",\"duration_ms\":1e300,\"trace_id\":\"{:032x}\",\
             \"timestamp\":\"9999-12-30T00:00:00Z\",\"span_id\":\"{span:08x}\",\"parent_span_id\":\"{parent:08x}\"}}",
            1
        )
    };
    let chain: Vec<String> = (1..50_000).map(|n| line(n, n - 1)).collect();
    let trace = parse(&chain.join("\n")).unwrap();
    assert_eq!(trace.build_tree().spans.last().unwrap().depth, 49_998);
    trace.export_chrome_trace();
    let wide: Vec<String> = (1..50_000).map(|n| line(n, 0)).collect();
    parse(&wide.join("\n")).unwrap().export_chrome_trace();
}

#[cfg(unix)]
#[test]
fn devices_and_folders_are_not_read() {
    let error = Analyzer::load("/dev/zero").unwrap_err().to_string();
    assert_eq!(error, "/dev/zero is not a file");
}

#[test]
fn children_are_not_followed_out_of_the_folder() {
    let folder = Folder::new();
    let mut text = good();
    text.push('\n');
    let tool = text.lines().find(|line| line.contains("child_trace_id")).unwrap();
    let mut hostile: Value = serde_json::from_str(tool).unwrap();
    hostile["data"]["child_trace_ids"] =
        json!(["../../../etc/passwd", 7, null, "+0000000000000000000000000000001"]);
    text.push_str(&hostile.to_string());
    std::fs::write(folder.file("run.jsonl"), &text).unwrap();
    assert_eq!(Analyzer::load(folder.file("run.jsonl")).unwrap().files().len(), 1);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Analyzer::parse(&bytes, "t");
    }

    #[test]
    fn any_change_of_a_line_is_survived(at in 0usize..4000, with in any::<char>()) {
        let good = good();
        let at = good.floor_char_boundary(at % good.len());
        let next = at + good[at..].chars().next().map_or(0, char::len_utf8);
        let text = format!("{}{with}{}", &good[..at], &good[next..]);
        if let Ok(trace) = parse(&text) {
            trace.summary();
            let tree = trace.build_tree();
            trace.timeline(&tree);
            trace.sessions();
            trace.export_chrome_trace();
        }
    }
}
