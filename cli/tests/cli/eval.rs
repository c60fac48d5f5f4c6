//! `ptc eval`: results, prints, errors, `--json`.

use crate::{ptc, ptc_with};
use serde_json::{Value, json};

#[test]
fn the_value_is_printed() {
    ptc(&["eval", "-e", "(+ 1 2)"]).expect(0, "3\n");
    ptc(&["eval", "--expr", "[1 \"a\" :k nil 2.5]"]).expect(0, "[1 \"a\" :k nil 2.5]\n");
    ptc(&["eval", "-e", "-5"]).expect(0, "-5\n");
}

#[test]
fn an_empty_program_is_nil() {
    ptc(&["eval", "-e", ""]).expect(0, "nil\n");
    ptc(&["eval"]).expect(0, "nil\n");
}

#[test]
fn without_an_expression_standard_input_is_the_program() {
    ptc_with(&["eval"], b"(def x 20)\n(+ x 1)\n").expect(0, "21\n");
}

#[test]
fn standard_input_that_is_closed_or_not_text() {
    let ran = ptc_with(&["eval"], b"\xff\xfe(+ 1 2)");
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    assert!(ran.err.contains("not UTF-8"), "{ran:?}");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_ptc"))
        .arg("eval")
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status();
    assert_eq!(status.expect("ptc starts").code(), Some(0));
}

#[test]
fn prints_come_before_the_value() {
    ptc(&["eval", "-e", "(println \"a\" 1) (println \"b\") :done"]).expect(0, "a 1\nb\n:done\n");
}

#[test]
fn a_fault_is_told_on_standard_error() {
    let ran = ptc(&["eval", "-e", "(println \"before\")\n(+ 1 nil)"]);
    ran.expect(1, "before\n");
    assert!(ran.err.starts_with("error[E0302] type_error: "), "{ran:?}");
    assert!(ran.err.contains("(line 2, column ") && ran.err.contains(" 2 │ (+ 1 nil)"), "{ran:?}");
    assert!(!ran.err.contains('\u{1b}'), "colour in a pipe: {ran:?}");
}

#[test]
fn json_of_a_result() {
    let ran = ptc(&["eval", "--json", "-e", "(println \"hi\") {:a [1 2.5 nil true \"x\"]}"]);
    let object = ran.json();
    assert_eq!(ran.code, 0);
    assert_eq!(object["ok"], true);
    assert_eq!(object["value"], "{:a [1 2.5 nil true \"x\"]}");
    assert_eq!(object["json"], json!({"a": [1, 2.5, null, true, "x"]}));
    assert_eq!(object["prints"], json!(["hi"]));
    assert!(object["fuel"].as_u64().is_some_and(|fuel| fuel > 0));
    assert_eq!(ran.err, "");
    let order: Vec<&str> = ["\"ok\"", "\"value\"", "\"json\"", "\"prints\"", "\"fuel\""].into();
    let places: Vec<_> = order.iter().map(|key| ran.out.find(key)).collect();
    assert!(places.is_sorted(), "{}", ran.out);
}

#[test]
fn a_value_without_a_json_form_is_null() {
    let object = ptc(&["eval", "--json", "-e", "(fn [x] x)"]).json();
    assert_eq!((&object["ok"], &object["json"]), (&json!(true), &Value::Null));
    assert!(object["value"].is_string());
    assert!(object["json_error"].as_str().is_some_and(|why| why.contains("function")), "{object}");
}

#[test]
fn json_loses_nothing_in_silence() {
    for (program, why) in [
        ("[1 ##NaN]", "JSON has no number for ##NaN"),
        ("{:x [-1e400]}", "JSON has no number for ##-Inf"),
        ("{:a 1 \"a\" 2}", "JSON has one name for the keys :a and \"a\", so a value would be lost"),
    ] {
        let object = ptc(&["eval", "--json", "-e", program]).json();
        assert_eq!((&object["ok"], &object["json"]), (&json!(true), &Value::Null), "{object}");
        assert_eq!(object["json_error"], why);
        let batch = ptc_with(&["batch", "-e", program], b"1\n");
        assert_eq!((batch.code, batch.out.as_str()), (1, ""));
        assert!(batch.err.contains("type_error") && batch.err.contains("JSON has"), "{batch:?}");
    }
    assert_eq!(ptc(&["eval", "--json", "-e", "nil"]).json().get("json_error"), None);
}

#[test]
fn json_of_a_fault() {
    let ran = ptc(&["eval", "--json", "-e", "(println \"x\")\n  (+ 1 nil)"]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let object = ran.json();
    assert_eq!(object["ok"], false);
    let error = &object["error"];
    assert_eq!(error["kind"], "type_error");
    assert!(error["message"].as_str().is_some_and(|text| text.contains('+')), "{error}");
    assert_eq!(error["line"], 2);
    assert!(error["column"].is_u64(), "{error}");
    assert!(error.as_object().is_some_and(|members| members.contains_key("hint")));
    assert_eq!(object["prints"], json!(["x"]));
    assert!(object["fuel"].is_u64());
    assert!(object.get("errors").is_none(), "one error is told once");
}

#[test]
fn several_errors_are_all_in_errors() {
    let object = ptc(&["eval", "--json", "-e", "(let [x]) (fliter odd? [1]) (nope 1)"]).json();
    let errors = object["errors"].as_array().expect("several errors");
    assert!(errors.len() >= 2, "{object}");
    assert_eq!(object["error"], errors[0]);
}

#[test]
fn unknown_names_suggest_near_ones() {
    let object = ptc(&["eval", "--json", "-e", "(fliter odd? [1 2 3])"]).json();
    assert_eq!(object["error"]["kind"], "unbound_var");
    assert_eq!((&object["error"]["line"], &object["error"]["column"]), (&json!(1), &json!(2)));
    assert!(object["error"]["hint"].as_str().is_some_and(|hint| hint.contains("filter")), "{object}");
}

#[test]
fn fail_is_a_fault_of_its_own_kind() {
    let ran = ptc(&["eval", "--json", "-e", "(fail {:reason \"no stock\"})"]);
    let object = ran.json();
    assert_eq!(ran.code, 1);
    assert_eq!(object["error"]["kind"], "fail");
    assert_eq!(object["error"]["json"], json!({"reason": "no stock"}));
    assert_eq!(ptc(&["eval", "-e", "(fail 1)"]).code, 1);
}

#[test]
fn return_is_a_result() {
    ptc(&["eval", "-e", "(do (return 7) 8)"]).expect(0, "7\n");
}

#[test]
fn there_are_no_tools() {
    let object = ptc(&["eval", "--json", "-e", "(tool/search {:q 1})"]).json();
    assert_eq!(object["error"]["kind"], "unknown_tool");
}

#[test]
fn hidden_test_options_change_no_answer_and_no_fuel() {
    let program = "(reduce + 0 (map (fn [x] (* x x)) (filter odd? (range 200))))";
    let plain = ptc(&["eval", "--json", "-e", program]);
    assert_eq!(plain.json()["value"], "1333300");
    for flags in [&["--no-optimize"][..], &["--stress-gc"], &["--no-optimize", "--stress-gc"]] {
        let args: Vec<&str> = ["eval", "--json", "-e", program].iter().chain(flags).copied().collect();
        let mut object = ptc(&args).json();
        // Other code is written, and that takes other work.
        object["compile_fuel"] = plain.json()["compile_fuel"].clone();
        assert_eq!(object, plain.json(), "{flags:?}");
    }
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_ptc"))
        .args(["eval", "-e", "(range 100000)"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("ptc starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ptc ends");
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
