//! `ptc repl --mcp`: the answers of the server's tools.

use crate::{ptc, ptc_with};
use serde_json::Value;

#[test]
fn definitions_stay_in_a_session_and_answers_are_those_of_a_client() {
    let ran = ptc_with(&["repl", "--mcp"], b"(def n 20)\n(+ n\n  22)\n(nope)\n:quit\n(+ 1 1)\n");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("user=> #'n\n[stored: n]\n"), "{ran:?}");
    assert!(ran.out.ends_with("user=> 42\n"), "{ran:?}");
    assert!(ran.err.contains("nope") && ran.err.contains("rolled back"), "{ran:?}");
}

#[test]
fn without_a_session_nothing_stays() {
    let ran = ptc_with(&["repl", "--mcp", "--stateless"], b"(def n 20)\nn\n:mode session\n");
    assert!(ran.out.starts_with("user=> #'n\n"), "{ran:?}");
    assert!(ran.err.contains("`n`") && ran.err.contains("without sessions"), "{ran:?}");
    let ran = ptc_with(&["repl", "--mcp"], b"(def n 20)\n:mode stateless\nn\n:mode\n");
    assert!(ran.out.ends_with("stateless\nstateless\n") && ran.err.contains("`n`"), "{ran:?}");
}

#[test]
fn as_much_is_shown_as_asked() {
    let ran = ptc(&["repl", "--mcp", "--stateless", "--display", "json", "-e", "(+ 1 2)"]);
    let message: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(message["result"]["content"][0]["text"], "user=> 3");
    let flags = ["repl", "--mcp", "--stateless", "--display", "envelope", "-e", "(+ 1 2)"];
    let ran = ptc(&[&flags[..], &["--", "--response-profile", "debug"]].concat());
    let result: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(result["structuredContent"]["status"], "ok", "{ran:?}");
    let ran = ptc_with(
        &["repl", "--mcp"],
        b":display envelope\n:display\n:tools\n:inspect memory\n:display loud\n:help\n",
    );
    assert!(ran.out.starts_with("envelope\nenvelope\nlisp_eval"), "{ran:?}");
    assert!(ran.out.contains("lisp_session_eval") && ran.out.contains("\"view\": \"memory\""), "{ran:?}");
    assert!(
        ran.err.contains(":display text|envelope|json") && ran.out.contains(":mode session|stateless"),
        "{ran:?}"
    );
}

#[test]
fn limits_are_those_of_the_server() {
    let program = "(loop [n 0] (recur (inc n)))";
    let ran = ptc(&["repl", "--mcp", "--stateless", "-e", program, "--", "--program-timeout-ms", "50"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.starts_with("timeout: "), "{ran:?}");
    let ran = ptc(&["repl", "--mcp", "-e", "1", "--", "--program-timeout", "50"]);
    assert!(ran.code == 2 && ran.err.contains("program-timeout-ms"), "{ran:?}");
    let ran = ptc(&["repl", "--stateless"]);
    assert!(ran.code == 2 && ran.err.contains("--mcp"), "{ran:?}");
}
