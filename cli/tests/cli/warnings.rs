//! Warnings: shown beside results, never in their place.

use crate::{file, ptc, ptc_with};
use serde_json::{Value, json};

const PROGRAM: &str = "(println \"hi\")\n(+ 1 2))";

const TEXT: &str = "\
warning[W1001] surplus_bracket: this `)` closes nothing, so it was skipped (line 2, column 8)
 2 │ (+ 1 2))
   │        ^
 hint: remove it, or look for a bracket before it that closes too early
";

fn object(line: u32, column: u32) -> Value {
    json!({
        "kind": "surplus_bracket",
        "message": "this `)` closes nothing, so it was skipped",
        "line": line,
        "column": column,
        "hint": "remove it, or look for a bracket before it that closes too early",
    })
}

#[test]
fn a_doc_string_behind_the_parameters_is_told() {
    let ran = ptc(&["eval", "-e", "(defn twice [x] \"Doubles x.\" (* 2 x)) (twice 4)"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "8\n"), "{ran:?}");
    assert!(ran.err.contains("put it before the parameters: (defn twice \"Doubles x.\" [x] …)"), "{ran:?}");
    let source = "(ns shop)\n(defn- both\n  ([a] \"Of one.\" a)\n  ([a b] [a b]))\n(defn f \"Doc.\" [x] \"More.\" (both x))\n";
    let prelude = file("misplaced/shop.clj", source);
    let ran = ptc(&["check", &prelude]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for part in [
        "put it before the parameters: (defn- both \"Of one.\" […] …)",
        "remove it: the doc string is the one before the parameters",
    ] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    let ran = ptc(&["build", &prelude, "-o", &format!("{prelude}.dist")]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.err.matches("misplaced_doc").count(), 2, "{ran:?}");
    // A text that is the result, and doc strings where they belong.
    for fine in ["(defn f [x] \"text\")", "(defn f \"Doc.\" [x] x)"] {
        let ran = ptc(&["eval", "-e", &format!("{fine} 1")]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{fine}: {ran:?}");
    }
}

#[test]
fn eval_and_run_show_them_on_standard_error() {
    let ran = ptc(&["eval", "-e", PROGRAM]);
    ran.expect(0, "hi\n3\n");
    assert_eq!(ran.err, TEXT);
    let ran = ptc(&["run", &file("warnings/run.clj", PROGRAM)]);
    ran.expect(0, "hi\n3\n");
    assert_eq!(ran.err, TEXT);
}

#[test]
fn without_warnings_nothing_is_added() {
    let ran = ptc(&["eval", "-e", "(+ 1 2)"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("3\n", ""));
    assert_eq!(ptc(&["eval", "--json", "-e", "(+ 1 2)"]).json().get("warnings"), None);
}

#[test]
fn json_has_them_as_objects() {
    let ran = ptc(&["eval", "--json", "-e", PROGRAM]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let answer = ran.json();
    assert_eq!((&answer["ok"], &answer["json"]), (&json!(true), &json!(3)));
    assert_eq!(answer["warnings"], json!([object(2, 8)]));
}

#[test]
fn three_are_shown_and_the_rest_counted() {
    let ran = ptc(&["eval", "-e", "1) 2) 3) 4) 5)"]);
    ran.expect(0, "5\n");
    assert_eq!(ran.err.matches("surplus_bracket").count(), 3);
    assert!(ran.err.ends_with("\nand 2 more\n"), "{ran:?}");
    let answer = ptc(&["eval", "--json", "-e", "1) 2) 3) 4) 5)"]).json();
    assert_eq!(answer["warnings"], json!([object(1, 2), object(1, 5), object(1, 8)]));
    assert_eq!(answer["warnings_left_out"], 2);
}

/// A bracket that closes too early is often the reason for the error.
#[test]
fn they_come_with_errors_too() {
    let program = "(let [x 1] (inc x)) (dec x))";
    let ran = ptc(&["eval", "-e", program]);
    ran.expect(1, "");
    assert!(ran.err.starts_with("error[E0208] unbound_var: "), "{ran:?}");
    assert!(ran.err.contains("\nwarning[W1001] surplus_bracket: "), "{ran:?}");
    let answer = ptc(&["eval", "--json", "-e", program]).json();
    assert_eq!(
        (&answer["error"]["kind"], &answer["warnings"]),
        (&json!("unbound_var"), &json!([object(1, 28)]))
    );
    let ran = ptc(&["eval", "-e", "(+ 1 nil))"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("error[E0302] type_error: "), "{ran:?}");
    assert!(ran.err.contains("\nwarning[W1001] surplus_bracket: "), "{ran:?}");
}

#[test]
fn each_answer_of_a_stream_has_its_own() {
    let lines = "{\"id\":1,\"program\":\"(+ 1 2))\"}\n{\"id\":2,\"program\":\"(+ 1 2)\"}\n";
    let ran = ptc_with(&["eval", "--jsonl"], lines.as_bytes());
    let answers = ran.json_lines();
    assert_eq!((&answers[0]["json"], &answers[0]["warnings"]), (&json!(3), &json!([object(1, 8)])));
    assert_eq!(answers[1].get("warnings"), None);
    assert_eq!(ran.err, "");
}

#[test]
fn check_fails_on_them() {
    let slip = file("warnings/slip.clj", PROGRAM);
    let ran = ptc(&["check", &slip]);
    ran.expect(1, "");
    assert_eq!(ran.err, format!("{slip}:\n{TEXT}"));
    let ran = ptc(&["check", "--json", &slip]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.json(),
        json!({"ok": false, "files": [{"file": slip, "ok": false, "error": object(2, 8)}]})
    );
}

#[test]
fn the_repl_shows_them_and_goes_on() {
    let ran = ptc_with(&["repl"], b"(def x 1))\n(inc x)\n");
    ran.expect(0, "#'x\n2\n");
    assert!(ran.err.starts_with("warning[W1001] surplus_bracket: this `)` closes nothing"), "{ran:?}");
    assert_eq!(ran.err.matches("warning").count(), 1);
    let ran = ptc_with(&["repl", "--json"], b"(inc 1))\n");
    assert_eq!((ran.code, &ran.json()["warnings"]), (0, &json!([object(1, 8)])));
    let loaded = file("warnings/loaded.clj", "(def y 1))");
    let ran = ptc(&["repl", "-l", &loaded, "-e", "y"]);
    ran.expect(0, "1\n");
    assert!(ran.err.contains("surplus_bracket"), "{ran:?}");
}

#[test]
fn a_batch_shows_them_once() {
    let rows = b"{\"n\":1}\n{\"n\":2}\n{\"n\":\"x\"}\n";
    let program = "(inc (:n data/row)))";
    let ran = ptc_with(&["batch", "-e", program], rows);
    ran.expect(1, "2\n3\n");
    assert_eq!(ran.err.matches("surplus_bracket").count(), 1, "{ran:?}");
    assert!(ran.err.starts_with("warning[W1001]"), "{ran:?}");
    let ran = ptc_with(&["batch", "--json", "-e", program], rows);
    let told: Vec<Value> = ran.err.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(told[0].get("warnings"), None, "a failure of one record");
    assert_eq!((&told[1]["records"], &told[1]["warnings"]), (&json!(3), &json!([object(1, 20)])));
    let quiet = ptc_with(&["batch", "--quiet", "-e", "(inc (:n data/row)))"], b"{\"n\":1}\n");
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("2\n", ""));
    let rule = file("warnings/rules/vip.clj", "(> (:n data/row) 1))");
    let ran = ptc_with(&["batch", "--json", "--rules", &rule], b"{\"n\":1}\n");
    assert_eq!(serde_json::from_str::<Value>(&ran.err).unwrap()["warnings"][0]["rule"], "vip");
}
