//! The server from outside: what an editor that speaks the protocol sees.

use ptc_lsp::Project;
use ptc_runtime::{Catalog, LoadOptions, Prelude, Runtime};
use ptc_testkit::editor::Editor;
use serde_json::{Value, json};
use std::io::{BufReader, pipe};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const URI: &str = "file:///nowhere/program.clj";

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library loads")
}

/// Starts a server and greets it; its programs may use these preludes.
fn server_with(sources: &'static [&'static str]) -> (Editor, JoinHandle<bool>) {
    let (input, to_server) = pipe().expect("a pipe");
    let (from_server, output) = pipe().expect("a pipe");
    let server = std::thread::spawn(move || {
        let runtime = runtime();
        let options = LoadOptions { vouched: true, ..LoadOptions::default() };
        let shipped = ptc_preludes::shipped();
        let shipped =
            shipped.iter().map(|(_, bytes)| Prelude::load(&runtime, bytes, &options).expect("it loads"));
        let shipped: Vec<Prelude> = shipped.collect();
        let of = runtime.clone();
        let load = move || {
            Ok(sources.iter().map(|source| Prelude::compile(&of, source).expect("it compiles")).collect())
        };
        let project = Project::new(runtime, shipped, Box::new(load)).expect("a project");
        ptc_lsp::serve(project, BufReader::new(input), output).expect("the pipes work")
    });
    let mut editor = Editor::new(from_server, to_server);
    let about = editor.start();
    assert_eq!(about["capabilities"]["positionEncoding"], "utf-16");
    (editor, server)
}

fn server() -> (Editor, JoinHandle<bool>) {
    server_with(&[])
}

/// Returns `line:column-line:column CODE` for each finding.
fn told(found: &[Value]) -> Vec<String> {
    let place = |place: &Value| format!("{}:{}", place["line"], place["character"]);
    let line = |found: &Value| {
        let range = &found["range"];
        format!(
            "{}-{} {}",
            place(&range["start"]),
            place(&range["end"]),
            found["code"].as_str().unwrap_or("?")
        )
    };
    found.iter().map(line).collect()
}

/// Applies the edits of one document.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |place: &Value| {
        let (line, column) = (
            place["line"].as_u64().expect("a line") as usize,
            place["character"].as_u64().expect("a column"),
        );
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        let mut units = 0;
        let inside = text[start..].chars().take_while(|c| {
            units += c.len_utf16() as u64;
            units <= column
        });
        start + inside.map(char::len_utf8).sum::<usize>()
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .as_array()
        .expect("edits")
        .iter()
        .map(|edit| {
            let range = &edit["range"];
            (
                offset(&range["start"]),
                offset(&range["end"]),
                edit["newText"].as_str().expect("text").to_string(),
            )
        })
        .collect();
    edits.sort();
    let mut text = text.to_string();
    for (start, end, new) in edits.into_iter().rev() {
        text.replace_range(start..end, &new);
    }
    text
}

fn labels(answer: &Value) -> Vec<&str> {
    answer["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["label"].as_str().expect("a label"))
        .collect()
}

#[test]
fn findings_come_with_every_change_and_only_for_the_last_of_many() {
    let (mut editor, server) = server();
    assert_eq!(told(&editor.open(URI, "(+ 1 2)")), [""; 0]);
    let found = editor.change(URI, 2, "; 🦀🦀\n(fliter \"🦀\" odd?) (map inc [1])");
    assert_eq!(told(&found), ["1:1-1:7 E0208"]);
    assert_eq!(found[0]["message"], "`fliter` is not defined\nhint: did you mean `filter`?");
    assert_eq!((&found[0]["severity"], &found[0]["source"]), (&json!(1), &json!("ptc")));
    assert_eq!(
        told(&editor.change(URI, 3, "(str \"🦀🦀\" nope) 1)")),
        ["0:12-0:16 E0208", "0:19-0:20 W1001"]
    );
    // Changes of ranges, one after the other in one message.
    let at = |line, from, to| json!({"start": {"line": line, "character": from}, "end": {"line": line, "character": to}});
    let changes = json!([
        {"range": at(0, 12, 16), "text": "inc"},
        {"range": at(0, 18, 19), "text": "\n(nope)"},
    ]);
    editor.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": URI, "version": 4}, "contentChanges": changes}),
    );
    assert_eq!(told(&editor.findings(URI)), ["1:1-1:5 E0208"]);
    for version in 5..200 {
        editor.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": URI, "version": version}, "contentChanges": [{"text": "(nope)"}]}),
        );
    }
    editor.end();
    assert!(server.join().expect("it ends"));
}

#[test]
fn documents_without_a_place_are_marked_in_the_first_line() {
    let (mut editor, _) = server();
    let found = editor.open(URI, &format!("(str 1)\n{}", "; x\n".repeat(400_000)));
    assert_eq!(told(&found), ["0:0-0:7 E0102"]);
    // Nothing else is done for it.
    assert_eq!(editor.at("hover", URI, 0, 2), Value::Null);
    assert_eq!(labels(&editor.at("completion", URI, 0, 3)), [""; 0]);
}

#[test]
fn fixes_do_what_the_hint_says() {
    let (mut editor, _) = server();
    for (text, wanted) in [
        ("(fliter odd? [1])", "(filter odd? [1])"),
        ("(let [total_sum 1] total-sum)", "(let [total_sum 1] total_sum)"),
        ("(inc 1)) 2", "(inc 1) 2"),
        ("(let [x 1) x", "(let [x 1]) x"),
        ("(inc 1] 2", "(inc 1) 2"),
        ("(defn f [x]\n  (inc x) ; é\n\n(f 1)", "(defn f [x]\n  (inc x)) ; é\n\n(f 1)"),
        ("(str/jion [1])", "(str/join [1])"),
        ("(.toUpperCas \"é\")", "(.toUpperCase \"é\")"),
    ] {
        editor.open(URI, text);
        let all = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
        let params = json!({"textDocument": {"uri": URI}, "range": all, "context": {"diagnostics": []}});
        let actions = editor.request("textDocument/codeAction", params).expect("actions");
        assert_eq!(edited(text, &actions[0]["edit"]["changes"][URI]), wanted, "{actions}");
        editor.close(URI);
    }
}

#[test]
fn hover_says_what_ptc_doc_says() {
    let (mut editor, _) = server_with(&["(ns crm) (defn find \"Finds one [x](http://e).\" [id] id)"]);
    let catalog = Catalog::language();
    for name in ["map", "let", "str/join", "clojure.string/join", "Math/PI", ".toUpperCase", "%"] {
        editor.open(URI, &format!("\n ({name} 1)"));
        let answer = editor.at("hover", URI, 1, 3);
        match catalog.find(name) {
            Some(entry) => {
                let shown = answer["contents"]["value"]
                    .as_str()
                    .expect(name)
                    .replace("```clojure", "")
                    .replace("```", "");
                let words = |text: &str| {
                    text.split_whitespace().map(|word| word.replace('\\', "")).collect::<Vec<_>>()
                };
                assert_eq!(words(&shown), words(&entry.page(str::to_string)), "{name}");
            }
            None => assert_eq!(answer, Value::Null, "{name}"),
        }
        editor.close(URI);
    }
    let text =
        "(require '[crm :as c])\n(defn twice \"Doubles.\" [x] (* 2 x))\n(let [y (twice 2)] (c/find y))";
    editor.open(URI, text);
    let shown = |answer: Value| answer["contents"]["value"].as_str().unwrap_or_default().to_string();
    let twice = shown(editor.at("hover", URI, 2, 10));
    assert!(
        twice.contains("(twice x)") && twice.contains("Doubles.") && twice.contains("this file"),
        "{twice}"
    );
    assert_eq!(shown(editor.at("hover", URI, 2, 27)), "`y` is a local, bound in line 3");
    let find = shown(editor.at("hover", URI, 2, 22));
    assert!(
        find.contains("(find id)") && find.contains("function in crm") && find.contains("one \\[x\\]\\(http"),
        "{find}"
    );
    assert_eq!(editor.at("hover", URI, 2, 5), Value::Null);
}

#[test]
fn completion_offers_the_nearest_names_first_with_their_docs() {
    let (mut editor, _) = server_with(&["(ns crm) (defn find-user [id] id)"]);
    let mut complete = |text: &str| {
        let at = text.find('‸').expect("a cursor");
        let before = &text[..at];
        let line = before.matches('\n').count() as u32;
        let column = before.rsplit('\n').next().unwrap_or("").encode_utf16().count() as u32;
        editor.open(URI, &text.replace('‸', ""));
        let answer = editor.at("completion", URI, line, column);
        editor.close(URI);
        answer
    };
    let names = |answer: &Value| labels(answer).into_iter().map(str::to_string).collect::<Vec<_>>();
    assert_eq!(
        names(&complete("(defn mapper [x] x) (let [match 1] \"🦀\" (ma‸"))[..3],
        ["match", "mapper", "map"]
    );
    assert_eq!(names(&complete("(frequ‸)")), ["frequencies"]);
    assert_eq!(names(&complete("(str/jo‸")), ["str/join"]);
    assert_eq!(names(&complete("(require '[clojure.string :as s]) (s/jo‸ 1)")), ["s/join"]);
    assert_eq!(names(&complete("(crm/‸")), ["crm/find-user"]);
    assert_eq!(names(&complete("(find-u‸")), ["crm/find-user"]);
    assert_eq!(names(&complete("[(:total x) (:to‸)]")), [":total"]);
    assert_eq!(names(&complete("[data/orders (count data/o‸)]")), ["data/orders"]);
    for quiet in ["\"ma‸p\"", "\"ma‸", "; ma‸", "#\"ma‸\"", "\\ma‸"] {
        assert_eq!(names(&complete(quiet)), [""; 0], "{quiet}");
    }
    assert!(!names(&complete("\"x\"(ma‸")).is_empty());
    let answer = complete("\n (frequ‸ 1)");
    let item = &answer["items"][0];
    let entry = Catalog::language().find("frequencies").expect("a builtin");
    assert_eq!(item["detail"], entry.signatures[0]);
    assert!(item["documentation"]["value"].as_str().expect("text").contains(&entry.example));
    assert_eq!(item["textEdit"]["range"]["start"], json!({"line": 1, "character": 2}));
    let answer = complete("(m‸");
    assert!(answer["items"].as_array().expect("items").len() <= 200);
}

#[test]
fn names_are_found_renamed_and_listed() {
    let (mut editor, _) = server();
    let text = "; 🦀\n(defn area [w h] (* w h))\n(let [w 2] (area w w))";
    editor.open(URI, text);
    let start = |line, character| json!({"line": line, "character": character});
    assert_eq!(editor.at("definition", URI, 2, 13)["range"]["start"], start(1, 6));
    assert_eq!(editor.at("definition", URI, 2, 18)["range"]["start"], start(2, 6));
    assert_eq!(editor.at("definition", URI, 2, 2), Value::Null);
    assert_eq!(editor.at("references", URI, 1, 7).as_array().map(Vec::len), Some(2));
    assert_eq!(editor.at("documentHighlight", URI, 2, 18).as_array().map(Vec::len), Some(3));
    assert_eq!(editor.at("prepareRename", URI, 1, 7)["end"], start(1, 10));
    let mut rename = |line: u32, character: u32, name: &str| {
        let params = json!({"textDocument": {"uri": URI}, "position": {"line": line, "character": character}, "newName": name});
        editor.request("textDocument/rename", params)
    };
    let done = rename(2, 18, "wide").expect("it can be renamed");
    assert_eq!(
        edited(text, &done["changes"][URI]),
        text.replace("[w 2] (area w w)", "[wide 2] (area wide wide)")
    );
    let done = rename(1, 8, "size").expect("it can be renamed");
    assert_eq!(edited(text, &done["changes"][URI]), text.replace("area", "size"));
    for (name, reason) in [
        ("area", "already means"),
        ("a b", "cannot be a name"),
        ("", "cannot be"),
        ("%", "cannot be"),
        ("h/", "cannot be"),
    ] {
        let refused = rename(2, 18, name).expect_err(name);
        assert!(refused["message"].as_str().expect("text").contains(reason), "{name}: {refused}");
    }
    assert!(rename(2, 2, "x").is_err());
    let symbols = editor
        .request("textDocument/documentSymbol", json!({"textDocument": {"uri": URI}}))
        .expect("symbols");
    assert_eq!((&symbols[0]["name"], &symbols[0]["detail"]), (&json!("area"), &json!("(area w h)")));
    let keys = "(let [{:keys [a]} {:a 1}] a)";
    editor.change(URI, 2, keys);
    let params =
        json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 26}, "newName": "b"});
    let refused = editor.request("textDocument/rename", params).expect_err("it is a key");
    assert!(refused["message"].as_str().expect("text").contains("{new-name :a}"), "{refused}");
}

#[test]
fn documents_are_laid_out_as_ptc_fmt_does() {
    let (mut editor, _) = server();
    for text in
        ["(let [a 1\n b 2]\n(+ a b))", "(+ 1 2)\n", "; é\n(str   \"🦀\"  1 )\n\n\n\n(inc 1)", "(broken"]
    {
        editor.open(URI, text);
        let params = json!({"textDocument": {"uri": URI}, "options": {"tabSize": 8, "insertSpaces": false}});
        let edits = editor.request("textDocument/formatting", params).expect("edits");
        let wanted = ptc_compiler::format(text, &Default::default()).unwrap_or_else(|_| text.to_string());
        assert_eq!(edited(text, &edits), wanted);
        editor.close(URI);
    }
}

#[test]
fn preludes_see_their_folder_and_tests_their_prelude() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        url::Url::from_file_path(path).expect("an address").to_string()
    };
    let crm = write("crm.clj", "(ns crm)\n(defn find-user \"Finds one.\" [id] (tool/lookup {:id id}))");
    let billing_text =
        "(ns billing (:require [crm :as c]))\n(defn due [id] (c/find-user id))\n(defn odd [] (c/fnd 1))";
    let billing = write("billing.clj", billing_text);
    let test_text =
        "(deftest finds (stub-tool 'lookup 1) (is (= 1 (crm/find-user 1))))\n(deftest bad (is (nope 1)))";
    let test = write("crm_test.clj", test_text);
    let (mut editor, _) = server();
    let found = editor.open(&billing, billing_text);
    assert_eq!(told(&found), ["2:14-2:19 E0106"], "{found:?}");
    let defined = editor.at("definition", &billing, 1, 20);
    assert_eq!(
        (&defined["uri"], &defined["range"]["start"]),
        (&json!(crm), &json!({"line": 1, "character": 6}))
    );
    assert!(
        editor.at("hover", &billing, 1, 20)["contents"]["value"]
            .as_str()
            .expect("docs")
            .contains("Finds one.")
    );
    let found = editor.open(&test, test_text);
    assert_eq!(told(&found), ["1:18-1:22 E0208"], "{found:?}");
    // A neighbour that was saved.
    write("crm.clj", "(ns crm) (defn fnd [id] id)");
    editor.notify("textDocument/didSave", json!({"textDocument": {"uri": crm}}));
    let found = editor.findings(&billing);
    assert_eq!(told(&found), ["1:16-1:27 E0106"], "{found:?}");
}

#[test]
fn garbage_and_mistakes_of_editors_end_nothing() {
    let (mut editor, server) = server();
    for bytes in [
        "what?\r\n\r\n",
        "Content-Length: x\r\n\r\n",
        "Content-Length: 3\r\n\r\n{{{",
        "Content-Length: 2\r\n\r\n[]",
    ] {
        editor.write(bytes.as_bytes());
        assert_eq!(editor.next_message()["error"]["code"], -32700, "{bytes}");
    }
    let code = |answer: Result<Value, Value>| answer.expect_err("it is refused")["code"].clone();
    assert_eq!(code(editor.request("nope", json!({}))), -32601);
    assert_eq!(code(editor.request("initialize", json!({}))), -32600);
    for params in [
        json!(null),
        json!([1]),
        json!({"textDocument": 1}),
        json!({"textDocument": {"uri": "x"}, "position": {"line": -1, "character": 1e99}}),
    ] {
        for method in [
            "hover",
            "completion",
            "definition",
            "rename",
            "prepareRename",
            "formatting",
            "codeAction",
            "documentSymbol",
        ] {
            assert_eq!(
                code(editor.request(&format!("textDocument/{method}"), params.clone())),
                -32602,
                "{method} {params}"
            );
        }
        for method in ["didOpen", "didChange", "didClose"] {
            editor.notify(&format!("textDocument/{method}"), params.clone());
        }
    }
    // A document that is not open, and addresses that are no files.
    assert_eq!(
        code(editor.request(
            "textDocument/hover",
            json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
        )),
        -32602
    );
    for uri in ["", "x", "untitled:Untitled-1", "file:///", "file:///../..", "http://[::1", "é"] {
        assert_eq!(told(&editor.open(uri, "(nope)")), ["0:1-0:5 E0208"], "{uri}");
        editor.at("definition", uri, 0, 2);
    }
    // Places anywhere.
    editor.open(URI, "(let [é 1] (+ é \"🦀\n");
    for line in [0, 1, 2, u32::MAX] {
        for column in [0, 1, 6, 17, 18, u32::MAX] {
            for method in ["hover", "completion", "definition", "references", "documentHighlight"] {
                editor.at(method, URI, line, column);
            }
        }
    }
    let backwards = json!({"start": {"line": 9, "character": 0}, "end": {"line": 0, "character": 0}});
    editor.notify(
        "textDocument/didChange",
        json!({"textDocument": {"uri": URI}, "contentChanges": [{"range": backwards, "text": "x"}]}),
    );
    editor.findings(URI);
    editor.end();
    assert!(server.join().expect("it ends"));
}

#[test]
fn an_editor_that_goes_away_ends_the_server() {
    let (mut editor, server) = server();
    editor.hang_up();
    assert!(!server.join().expect("it ends"));
}

/// Each text is hostile in its own way; all features are asked for at its end.
#[test]
fn hostile_documents_are_answered() {
    let (mut editor, _) = server();
    for text in [
        format!("\"{}\"", "é".repeat(480_000)),
        "日".repeat(300_000),
        "; é\n".repeat(200_000),
        "(".repeat(400_000),
        "(let [x 1] ".repeat(50_000),
        ")".repeat(900_000),
        "\\u0000'#_^@`~".repeat(50_000),
        format!("(let [{}] x", "x 1 ".repeat(100_000)),
        format!("(defn f [] {})", "(g) ".repeat(100_000)),
        "(-> ".repeat(60) + &"x) ".repeat(60),
        "\r".repeat(500_000),
        "a ".repeat(450_000),
    ] {
        editor.open(URI, &text);
        let last = text.rsplit('\n').next().unwrap_or("").encode_utf16().count() as u32;
        let line = text.matches('\n').count() as u32;
        for method in ["hover", "completion", "definition", "references"] {
            editor.at(method, URI, line, last);
            editor.at(method, URI, 0, 1);
        }
        for method in ["formatting", "documentSymbol"] {
            editor
                .request(
                    &format!("textDocument/{method}"),
                    json!({"textDocument": {"uri": URI}, "options": {}}),
                )
                .expect("an answer");
        }
        editor.close(URI);
    }
}

/// Builds with optimisations take a fraction of what this one does; the best of several is what the machine can do.
#[test]
fn a_file_of_500_lines_is_checked_as_fast_as_anyone_types() {
    let (mut editor, _) = server();
    let function = |n: usize| {
        format!(
            "(defn total-{n} \"Sums the orders of a country.\" [orders country]\n  (let [mine (filter (fn [order] (= country (:country order))) orders)\n        \
             amounts (map :amount mine)]\n    (println \"total\" country (count mine))\n    (reduce + {n} amounts)))\n"
        )
    };
    let text: String = (0..100).map(function).collect();
    assert_eq!(text.lines().count(), 500);
    assert_eq!(told(&editor.open(URI, &text)), [""; 0]);
    let mut best = Duration::MAX;
    for version in 2..22 {
        let changed = format!("{text}(nope-{version})");
        let began = Instant::now();
        let found = editor.change(URI, version, &changed);
        best = best.min(began.elapsed());
        assert_eq!(told(&found).len(), 1);
    }
    println!("findings of 500 lines: {best:?}");
    assert!(best < Duration::from_millis(200), "{best:?}");
}
