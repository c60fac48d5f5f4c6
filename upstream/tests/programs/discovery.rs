//! Lookups of programs: ranking, texts, budgets, sizes.

use super::fake::*;
use ptc_upstream::{CallLimits, Options, Snapshot};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn servers_are_listed_by_name() {
    let world = world();
    let program = "(do (dir 'fs) (tool/servers))";
    assert_eq!(
        world.value(program),
        r#"[{"catalog_loaded" true "description" "The fs server." "name" "fs" "tool_count" 2} {"catalog_loaded" false "description" "The store server." "name" "store" "tool_count" nil}]"#
    );
    // The example of the guide.
    assert_eq!(
        world.value(
            r#"(when (some (fn [s] (= (:name s) "fs")) (tool/servers)) (subs (doc 'fs/read_text_file) 0 17))"#
        ),
        "\"fs/read_text_file\""
    );
}

#[test]
fn dir_lists_tools_with_pages() {
    let world = world();
    let lines = r#"["list_directory - List the entries in a directory" "read_text_file - Read the contents of a UTF-8 text file"]"#;
    assert_eq!(world.value("(dir 'fs)"), lines);
    assert_eq!(world.value("(dir \"fs\" {:limit 100})"), lines);
    assert_eq!(
        world.value("(map count (list (dir 'fs {:limit 1}) (dir 'fs {:offset 1}) (dir 'fs {:offset 9})))"),
        "[1 1 0]"
    );
    for bad in [
        "(dir 'fs {:limit 0})",
        "(dir 'fs {:limit 201})",
        "(dir 'fs {:offset -1})",
        "(dir 'nowhere)",
        "(dir 'fs/x)",
    ] {
        assert_eq!(world.raised(bad).0, "runtime_error", "{bad}");
    }
}

#[test]
fn doc_tells_arguments_and_a_call() {
    let world = world();
    let text = "fs/read_text_file\nRead the contents of a UTF-8 text file\nArgs: {:path string}\nRequired args: path\n\
                (tool/call {:server \"fs\" :tool \"read_text_file\" :args {:path ...}})\nReturns: Result<unknown>\n\
                Check :ok before you use :value.";
    for reference in ["'fs/read_text_file", "\"fs/read_text_file\"", "fs/read_text_file"] {
        assert_eq!(world.value(&format!("(= (doc {reference}) {text:?})")), "true", "{reference}");
    }
    assert_eq!(world.raised("(doc 'fs/nope)").1, "no tool 'nope' in upstream 'fs'");
    assert_eq!(world.raised("(doc 'nope/x)").1, "no upstream 'nope' configured");
    assert_eq!(world.value("(subs (doc 'map) 0 3)"), "\"map\"");
}

#[test]
fn shapes_are_learned_from_answers() {
    let world = world();
    let program = "(do (tool/call 'store/get {:id 1}) (tool/call 'store/get {:id 2}) (doc 'store/get))";
    let doc = world.value(program);
    assert!(
        doc.contains("Returns: Result<{:id integer :name string}> (seen in 2 results so far, not promised)"),
        "{doc}"
    );
    // Another run knows the shape, too.
    assert!(world.value("(doc 'store/get)").contains("seen in 2 results"));
    let mut typed = tool("t", "", json!({}));
    typed.output_schema =
        Some(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}));
    let world = World::new(
        vec![("s", Fake::new(vec![typed], |_| Ok(structured(json!({"n": 1})))).into())],
        Options::default(),
    );
    assert!(world.value("(do (tool/call 's/t {}) (doc 's/t))").contains("Returns: Result<{:n integer}>\\n"));
}

#[test]
fn meta_gives_the_facts() {
    let world = world();
    assert_eq!(world.value("(let [m (meta 'fs/read_text_file)] [(:server m) (:name m) (get-in m [:annotations :readOnlyHint])])"), r#"["fs" "read_text_file" true]"#);
    assert_eq!(world.value("(get-in (meta 'fs/read_text_file) [:input_schema :required])"), "[\"path\"]");
    assert_eq!(world.raised("(meta 'fs/nope)").0, "runtime_error");
}

#[test]
fn apropos_ranks_tools_then_servers_then_the_language() {
    let world = world();
    // A server that is not loaded is listed with a hint how to load it.
    assert_eq!(
        world.value("(first (apropos \"fs\"))"),
        r#""fs - The fs server. (not loaded; try (dir \"fs\"))""#
    );
    assert_eq!(
        world.value("(first (apropos \"read file\" {:load true}))"),
        r#""fs/read_text_file - Read the contents of a UTF-8 text file""#
    );
    let all = world.value("(apropos \"get\" {:load true :limit 20})");
    assert!(all.starts_with("[\"store/get - Get an item\" \"local: "), "{all}");
    assert_eq!(world.value("(apropos \"--\")"), "[]");
    for bad in ["(apropos \"\")", "(apropos 5)", "(apropos \"x\" {:limit 51})", "(apropos \"x\" {:load 1})"] {
        assert_eq!(world.raised(bad).0, "runtime_error", "{bad}");
    }
}

/// Scores by the documented rules: server and tool names count more than descriptions, exact words more than
/// prefixes, prefixes more than substrings; ties are sorted by server and tool.
#[test]
fn the_ranking_is_exact() {
    let plain = |name: &str, description: &str| tool(name, description, json!({}));
    let with_key = tool("b_tool", "", json!({"properties": {"issueNumber": {}}}));
    let fake = Fake::new(
        vec![
            plain("search_issues", "Find things"),
            plain("list", "An issue here"),
            plain("issueTracker", ""),
            plain("a-tool", "reissue"),
            with_key,
        ],
        |_| Ok(json!({})),
    );
    let options = Options { snapshot: Snapshot::Frozen, ..Options::default() };
    let world = World::new(vec![("gh", fake.into())], options);
    let found =
        world.value("(map #(first (clojure.string/split % #\" - \")) (apropos \"issue\" {:limit 5}))");
    // issueTracker: exact name, 12. b_tool: exact key, 10. list: exact word of the description, 10.
    // search_issues: prefix in the name, 7. a-tool: substring of the description, 2.
    assert_eq!(found, r#"["gh/issueTracker" "gh/b_tool" "gh/list" "gh/search_issues" "gh/a-tool"]"#);
}

#[test]
fn lookups_have_their_own_budget() {
    let limits = CallLimits { max_catalog_ops: 3, max_calls: 2, ..CallLimits::default() };
    let fake = Arc::new(store());
    let world = World::new(vec![("store", fake.clone())], Options { limits, ..Options::default() });
    let program = "[(nil? (tool/servers)) (nil? (doc 'store/get)) (nil? (apropos \"x\")) (nil? (dir 'store)) \
                    (nil? (meta 'store/get)) (nil? (tool/servers)) (nil? (doc 'map)) (:ok (tool/call 'store/get {:id 1}))]";
    let run = world.run(program);
    assert_eq!(run.result().unwrap(), "[false false false true true true false true]");
    assert_eq!(run.context.catalog_faults()[0]["reason"], "catalog_ops_exhausted");
}

#[test]
fn long_answers_are_cut_or_nil() {
    let many = (0..50).map(|n| tool(&format!("tool_{n:02}"), &"words ".repeat(20), json!({}))).collect();
    let limits = CallLimits { max_catalog_bytes: 1_000, ..CallLimits::default() };
    let world = World::new(
        vec![("s", Fake::new(many, |_| Ok(json!({}))).into())],
        Options { limits, ..Options::default() },
    );
    assert_eq!(
        world.value("(let [d (dir 's)] [(< 0 (count d) 50) (<= (count (json/generate-string d)) 1000)])"),
        "[true true]"
    );
    assert_eq!(world.value("(< 0 (count (apropos \"tool\" {:load true :limit 50})) 50)"), "true");
    let wide = tool("wide", &"w".repeat(1_500), json!({}));
    let world = World::new(
        vec![("s", Fake::new(vec![wide], |_| Ok(json!({}))).into())],
        Options { limits, ..Options::default() },
    );
    assert_eq!(world.value("[(doc 's/wide) (meta 's/wide)]"), "[nil nil]");
}

#[test]
fn a_server_that_is_down_gives_nil_and_is_asked_again() {
    let fake = Arc::new(Fake::down());
    let world = World::new(vec![("s", fake.clone())], Options::default());
    let run = world.run("[(dir 's) (doc 's/t) (meta 's/t)]");
    assert_eq!(run.result().unwrap(), "[nil nil nil]");
    assert_eq!(run.context.catalog_faults()[0]["reason"], "upstream_unavailable");
    assert_eq!(fake.listed.load(Ordering::SeqCst), 3);
    *fake.tools.lock().unwrap() = Ok(vec![tool("t", "Now here", json!({}))]);
    assert_eq!(world.value("(dir 's)"), "[\"t - Now here\"]");
    assert_eq!(fake.listed.load(Ordering::SeqCst), 4);
}

#[test]
fn local_names_win_and_cost_nothing() {
    let limits = CallLimits { max_catalog_ops: 1, ..CallLimits::default() };
    let world = World::new(vec![("str", store().into())], Options { limits, ..Options::default() });
    let program =
        "(do (doc 'map) (doc 'map) (dir 'clojure.string) (dir 'str) (meta 'map) (count (tool/servers)))";
    assert_eq!(world.value(program), "1");
    assert_eq!(world.raised("(ns-publics 'store)").0, "runtime_error");
}
