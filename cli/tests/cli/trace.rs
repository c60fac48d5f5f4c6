//! `ptc trace`.

use crate::{Ran, file, ptc, ptc_with};
use serde_json::{Value, json};

const TRACE: &str = "00000000000000000000000000000001";

fn line(event: &str, span: u32, parent: u32, ms: u64, more: Value) -> String {
    let mut line = json!({
        "schema_version": 2, "event": event, "trace_id": TRACE, "timestamp": format!("2031-04-02T08:00:00.{ms:03}Z"),
        "span_id": format!("{span:08x}"), "agent_name": "triage", "agent_id": "c0ffee12",
    });
    if parent > 0 {
        line["parent_span_id"] = json!(format!("{parent:08x}"));
    }
    line.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    line.to_string()
}

/// One turn with a request and a tool that failed; everything that is said is hostile.
fn lines() -> Vec<String> {
    let bad = "</script><script>alert(1)</script>\u{1b}[2J\u{202e}<img src=x onerror=alert(2)>";
    let llm = json!({
        "turn": 1, "model": "m1", "duration_ms": 300, "input_tokens": 1200, "output_tokens": 34, "cost_usd": 0.5,
        "data": {"response": {"content": bad}},
    });
    let tool = json!({"turn": 1, "tool_name": "search", "duration_ms": 20.5, "status": "error", "data": {"error": bad}});
    let turn = json!({"turn": 1, "duration_ms": 400, "data": {"success": true, "program": "(tool/search\n  {:q 1})"}});
    [
        line("run.start", 1, 0, 0, json!({"data": {"prompt": format!("Find {bad}")}})),
        line("turn.start", 2, 1, 0, json!({"turn": 1})),
        line("llm.stop", 3, 2, 300, llm),
        line("tool.call", 4, 2, 350, tool),
        line("turn.stop", 2, 1, 400, turn),
        line("run.stop", 1, 0, 400, json!({"duration_ms": 400, "status": "ok", "data": {"return": 7}})),
    ]
    .map(|line| line + "\n")
    .to_vec()
}

fn trace(name: &str) -> String {
    let numbered = lines().into_iter().enumerate().map(|(seq, line)| {
        let mut line: Value = serde_json::from_str(&line).unwrap();
        line["seq"] = json!(seq);
        format!("{line}\n")
    });
    file(&format!("traces/{name}.jsonl"), numbered.collect::<String>())
}

fn show(words: &[&str]) -> Ran {
    ptc(&[&["trace", "show"], words].concat())
}

#[test]
fn the_tree_has_times_and_tokens() {
    let ran = show(&[&trace("show")]);
    let rest = ran.out.split_once("status ").unwrap().1;
    let wanted = "  ok\n\
        took     400 ms\n\
        turns    1, of 1 mission\n\
        models   1 request, 1 200 tokens in, 34 out, $0.50\n\
        tools    1 call, 1 failed\n\n";
    assert!(rest.starts_with(wanted), "{rest}");
    let rows: Vec<&str> = ran.out.lines().skip_while(|line| !line.contains("after")).collect();
    assert_eq!(rows[0], " after    took");
    assert_eq!(rows[1], "  0 µs  400 ms  agent triage");
    assert_eq!(rows[2], "  0 µs  400 ms  └─ turn 1");
    assert_eq!(rows[3], "  0 µs  300 ms     ├─ model m1  1 200 → 34 tokens");
    assert!(rows[4].starts_with("330 ms   20 ms     └─ tool search  failed: </script>"), "{rows:?}");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn no_control_character_reaches_the_terminal() {
    let path = trace("control");
    for words in [vec![path.as_str()], vec![&path, "--programs"], vec![&path, "--slowest", "9"]] {
        let out = show(&words).out;
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    }
}

#[test]
fn programs_and_the_slowest() {
    let path = trace("more");
    let out = show(&[&path, "--programs"]).out;
    assert!(out.contains("       (tool/search\n") && out.contains("         {:q 1})\n"), "{out}");
    let slowest = show(&[&path, "--slowest", "1"]);
    slowest.expect(0, "300 ms  model m1  1 200 → 34 tokens  (turn 1)\n");
    let json = show(&[&path, "--json"]).json();
    assert_eq!((&json["summary"]["turns"], &json["spans"][3]["name"]), (&json!(1), &json!("search")));
    let chrome = ptc(&["trace", "chrome", &path]).json();
    assert_eq!(chrome["traceEvents"].as_array().unwrap().len(), 4);
}

#[test]
fn the_page_holds_everything_and_no_markup_of_others() {
    let path = trace("page");
    let html = path.replace(".jsonl", ".html");
    ptc(&["trace", "view", &path]).expect(0, &format!("{html}\n"));
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(!page.contains("alert(1)</script>") && !page.contains("<img"), "hostile text stays text");
    assert_eq!(page.matches("<script").count(), 2, "data and script");
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing is fetched");
    let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
    let data: Value = serde_json::from_str(data).unwrap();
    assert_eq!(data["spans"].as_array().unwrap().len(), 4);
    assert!(data["spans"][2]["parts"][0]["body"].as_str().unwrap().starts_with("</script>"));
    let out = ptc(&["trace", "view", &path, "-o", "-"]).out;
    assert_eq!(out, page);
    let same = ptc(&["trace", "view", &path, "-o", &path]);
    assert!(same.code == 2 && same.err.contains("is the trace itself"), "{same:?}");
}

#[test]
fn placeholders_in_what_was_said_are_no_placeholders() {
    let text = line(
        "run.start",
        1,
        0,
        0,
        json!({"agent_name": "{{data}}{{script}}", "data": {"prompt": "{{nonce}}"}}),
    );
    let page = ptc_with(&["trace", "view", "-"], text.as_bytes()).out;
    assert!(page.contains("<title>{{data}}{{script}}</title>"));
}

#[test]
fn broken_files_are_told() {
    let cut = file("traces/cut.jsonl", &(lines().concat() + "{\"schema_version\":2,"));
    let ran = show(&[&cut]);
    assert_eq!(ran.code, 0);
    assert!(ran.err.contains("cut.jsonl:7: not valid JSON: EOF"), "{ran:?}");
    let none = show(&[&file("traces/none.jsonl", "hello\n")]);
    assert_eq!((none.code, none.out.as_str()), (2, ""));
    assert!(none.err.contains("none.jsonl is not a trace: no line can be read: "), "{none:?}");
    let missing = show(&["no-such.jsonl", "--json"]);
    assert_eq!(missing.code, 2);
    assert!(
        missing.json()["error"]["message"].as_str().unwrap().starts_with("cannot read no-such.jsonl"),
        "{missing:?}"
    );
}

#[test]
fn programs_look_at_recorded_turns() {
    let path = trace("log");
    for words in [vec!["eval"], vec!["repl"], vec!["eval", "-p", "ptc:paged"], vec!["eval", "-p", "ptc:log"]]
    {
        let program = "(map :program (:items (log/programs {:failed false})))";
        let ran = ptc(&[&words[..], &["--log-prelude", &path, "-e", program]].concat());
        ran.expect(0, "[\"(tool/search\\n  {:q 1})\"]\n");
    }
    let none = ptc(&["eval", "-p", "ptc:log", "-e", "(log/turns)"]);
    assert!(none.code != 0 && none.err.contains("--log-prelude TRACE grants"), "{none:?}");
    let missing = ptc(&["eval", "--log-prelude", "no-such.jsonl", "-e", "1"]);
    assert!(missing.code == 2 && missing.err.contains("cannot read no-such.jsonl"), "{missing:?}");
    let wrong = ptc(&["eval", "--log-prelude", &path, "-e", "(log/turns {:limit 1000})"]);
    assert!(wrong.err.contains("`limit` must be from 1 to 100, but it is 1000"), "{wrong:?}");
}
