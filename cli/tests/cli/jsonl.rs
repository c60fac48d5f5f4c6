//! `ptc eval --jsonl`.

use crate::{ptc, ptc_with};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn jsonl(input: &str) -> Vec<Value> {
    let ran = ptc_with(&["eval", "--jsonl"], input.as_bytes());
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json_lines()
}

#[test]
fn one_answer_per_line_with_its_id() {
    let answers = jsonl(
        r#"{"id":1,"program":"(+ 1 2)"}
{"id":"two","program":"(println \"x\") (map inc data/xs)","context":{"xs":[1,2]}}
{"id":{"k":[3]},"program":"(+ 1 nil)"}
{"program":":no-id"}"#,
    );
    assert_eq!(answers.len(), 4);
    assert_eq!((&answers[0]["id"], &answers[0]["json"]), (&json!(1), &json!(3)));
    assert_eq!((&answers[1]["id"], &answers[1]["json"]), (&json!("two"), &json!([2, 3])));
    assert_eq!(answers[1]["prints"], json!(["x"]));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["kind"]), (&json!({"k": [3]}), &json!("type_error")));
    assert_eq!((&answers[3]["id"], &answers[3]["value"]), (&Value::Null, &json!(":no-id")));
}

#[test]
fn each_run_is_fresh() {
    let answers = jsonl(
        r#"{"id":1,"program":"(def x 1) x","context":{"n":5}}
{"id":2,"program":"data/n"}
{"id":3,"program":"x"}"#,
    );
    assert_eq!(answers[1]["error"]["message"], "`data/n` was not granted: this run has no data");
    assert_eq!(answers[2]["error"]["kind"], "unbound_var");
}

#[test]
fn bad_lines_are_answered_and_the_stream_goes_on() {
    let deep = format!("{{\"id\":5,\"program\":\"1\",\"context\":{{\"d\":{}}}}}", "[".repeat(100_000));
    let lines = [
        "not json",
        r#"{"id":2}"#,
        r#"{"id":3,"program":7}"#,
        r#"[1,2]"#,
        &deep,
        r#"{"id":6,"program":"1","context":[1]}"#,
        r#"{"id":7,"program":"1"} trailing"#,
        r#"{"id":8,"program":"(+ 4 4)","unknown":true}"#,
        r#"{"id":9,"program":"1","context":null}"#,
    ];
    let answers = jsonl(&lines.join("\n"));
    assert_eq!(answers.len(), lines.len());
    for answer in &answers[..7] {
        assert_eq!(
            (&answer["ok"], &answer["error"]["kind"]),
            (&json!(false), &json!("invalid_data")),
            "{answer}"
        );
    }
    assert_eq!((&answers[1]["id"], &answers[2]["id"], &answers[5]["id"]), (&json!(2), &json!(3), &json!(6)));
    assert_eq!(answers[7]["json"], 8);
    assert_eq!(answers[8]["json"], 1);
}

#[test]
fn bytes_that_are_not_text_are_a_bad_line() {
    let ran =
        ptc_with(&["eval", "--jsonl"], b"{\"id\":1,\"program\":\"\xff\"}\n{\"id\":2,\"program\":\"2\"}\n");
    let answers = ran.json_lines();
    assert_eq!((&answers[0]["ok"], &answers[1]["json"]), (&json!(false), &json!(2)));
}

#[test]
fn data_nested_deeply_is_read() {
    let n = 50_000;
    let line = format!(
        "{{\"id\":1,\"program\":\"(count data/d)\",\"context\":{{\"d\":{}{}}}}}",
        "[".repeat(n),
        "]".repeat(n)
    );
    assert_eq!(jsonl(&line)[0]["json"], 1);
}

#[test]
fn flags_hold_for_every_line_and_context_wins_over_data() {
    let ran = ptc_with(
        &["eval", "--jsonl", "--fuel", "500", "--data", "n=1"],
        br#"{"id":1,"program":"data/n"}
{"id":2,"program":"data/n","context":{"n":2}}
{"id":3,"program":"(loop [i 0] (recur (inc i)))"}
{"id":4,"program":"data/n"}"#,
    );
    let answers = ran.json_lines();
    let of = |i: usize| &answers[i]["json"];
    assert_eq!((of(0), of(1), of(3)), (&json!(1), &json!(2), &json!(1)));
    assert_eq!(answers[2]["error"]["kind"], "fuel_exceeded");
}

#[test]
fn an_empty_stream_gives_nothing() {
    ptc(&["eval", "--jsonl"]).expect(0, "");
    ptc_with(&["eval", "--jsonl"], b"\n\n").expect(0, "");
}

#[test]
fn an_answer_comes_before_the_next_question() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ptc"))
        .args(["eval", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ptc starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    for i in 0..3 {
        writeln!(stdin, "{{\"id\":{i},\"program\":\"(* 2 {i})\"}}").expect("ptc reads");
        let answer: Value =
            serde_json::from_str(&answers.next().expect("an answer").expect("text")).expect("JSON");
        assert_eq!((&answer["id"], &answer["json"]), (&json!(i), &json!(2 * i)));
    }
    drop(stdin);
    assert_eq!(child.wait().expect("ptc ends").code(), Some(0));
}

#[test]
fn a_closed_pipe_ends_the_stream_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ptc"))
        .args(["eval", "--jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ptc starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    let line = "{\"id\":1,\"program\":\"(range 1000)\"}\n";
    // The process may end before it has read everything.
    let _ = stdin.write_all(line.repeat(2_000).as_bytes());
    drop(stdin);
    let output = child.wait_with_output().expect("ptc ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn thousands_of_programs_take_seconds_even_unoptimised() {
    let line = r#"{"id":1,"program":"(reduce + (map (fn [r] (* 2 (:n r))) data/rows))","context":{"rows":[{"n":1},{"n":2},{"n":3}]}}"#;
    let start = Instant::now();
    let answers = jsonl(&[line; 3_000].join("\n"));
    assert_eq!(answers.len(), 3_000);
    assert!(answers.iter().all(|answer| answer["json"] == 12));
    // A release build does this in a fraction of a second; this only catches a fall off a cliff.
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}
