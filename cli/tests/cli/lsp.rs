//! `ptc lsp`: the command, and that it says the same as `ptc check`, `ptc doc` and `ptc fmt`.

use super::{ptc, ptc_with};
use crate::process::file;
use ptc_bytecode::Code;
use ptc_testkit::editor::Editor;
use serde_json::{Value, json};
use std::process::{Child, Command, Stdio};

fn start(args: &[&str]) -> (Editor, Child) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ptc"))
        .arg("lsp")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("ptc starts");
    let (output, input) = (child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
    let mut editor = Editor::new(input, output);
    editor.start();
    (editor, child)
}

#[test]
fn it_says_what_the_other_commands_say() {
    let crm = file("lsp/crm.clj", "(ns crm) (defn find \"Finds one.\" [id] {:id id})");
    let text = "(defn twice [x]\n(* 2 x))\n(fliter odd? [1]) (crm/fnd 1) (inc 1 2)\n(frequencies [1]))";
    let program = file("lsp/program.clj", text);
    let (mut editor, mut child) = start(&["--stdio", "-p", &crm]);
    let uri = format!("file://{program}");
    let found = editor.open(&uri, text);
    let checked = ptc(&["check", "--json", "-p", &crm, &program]).json();
    let told = |found: &Value| {
        let place = &found["range"]["start"];
        let of = |what: &str| place[what].as_u64().expect("a number") + 1;
        (found["code"].clone(), of("line"), of("character"))
    };
    let of_check = |error: &Value| {
        let code = Code::from_reason(error["kind"].as_str().expect("a kind")).expect("a code");
        let of = |what: &str| error[what].as_u64().expect("a number");
        (json!(code.label()), of("line"), of("column"))
    };
    let wanted: Vec<_> =
        checked["files"][0]["errors"].as_array().expect("errors").iter().map(of_check).collect();
    assert!(!wanted.is_empty(), "{checked}");
    assert_eq!(found.iter().map(told).collect::<Vec<_>>(), wanted, "{checked}");

    let hover = editor.at("hover", &uri, 3, 3);
    let words = |text: &str| {
        text.replace("```clojure", "")
            .replace("```", "")
            .split_whitespace()
            .map(|word| word.replace('\\', ""))
            .collect::<Vec<_>>()
    };
    let page = ptc(&["doc", "frequencies"]).out;
    assert_eq!(words(hover["contents"]["value"].as_str().expect("docs")), words(&page));

    editor.change(&uri, 2, "(let [a 1\n b 2] (+ a b))");
    let params = json!({"textDocument": {"uri": uri}, "options": {"tabSize": 2, "insertSpaces": true}});
    let edits = editor.request("textDocument/formatting", params).expect("edits");
    let formatted = ptc_with(&["fmt", "-"], b"(let [a 1\n b 2] (+ a b))").out;
    let new = edits[0]["newText"].as_str().expect("text");
    assert!(formatted.contains(new), "{edits} {formatted}");
    editor.end();
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn an_editor_that_is_gone_ends_it_and_a_bad_prelude_is_told_at_once() {
    let (mut editor, mut child) = start(&[]);
    editor.hang_up();
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    let bad = ptc(&["lsp", "-p", "nowhere.clj"]);
    assert_eq!(bad.code, 2, "{bad:?}");
    assert!(bad.err.contains("nowhere.clj"), "{bad:?}");
}

/// In builds without optimisations, too: `ptc check` of such a text overflowed the stack.
#[test]
fn long_texts_outside_ascii_take_no_stack() {
    let text = format!("(str \"{}\")", "é".repeat(480_000));
    let program = file("lsp/long.clj", &text);
    assert_eq!(ptc(&["check", &program]).code, 0);
    let (mut editor, mut child) = start(&[]);
    assert!(editor.open("untitled:long", &text).is_empty());
    editor.end();
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
