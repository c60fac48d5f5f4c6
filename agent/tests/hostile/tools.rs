//! Tools that were not granted, by every way to a name.

use super::eval;
use ptc_runtime::{Grants, Tools};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns the tools of this run, those of other runs, and a counter of calls.
fn worlds() -> (Tools, Tools, Arc<AtomicU32>) {
    let called = Arc::new(AtomicU32::new(0));
    let count = called.clone();
    let granted = Tools::new().with_answer("echo", |args| Ok(args.datum().clone().into()));
    let others = granted.clone().with("wipe", move |_| Ok(count.fetch_add(1, Ordering::Relaxed)));
    (granted, others, called)
}

/// Programs that try to call a tool which was not granted.
const ROADS: &[&str] = &[
    "(tool/wipe {})",
    "(if false (tool/wipe {}) 1)",
    "(fn [] (tool/wipe {}))",
    "(map tool/wipe [{}])",
    "(apply tool/wipe [{}])",
    "(pmap tool/wipe [{}])",
    "(let [f tool/wipe] (f {}))",
    "((or tool/wipe inc) {})",
    "{:f tool/wipe}",
    "(call \"wipe\" {})",
    "(let [n (str \"wi\" \"pe\")] (call n {}))",
    "(map (fn [n] (call n {})) [\"wipe\"])",
    "(call (first [\"wipe\"]) {})",
    "(tool/call {:server \"tool\" :tool \"wipe\"})",
    "(tool/call 'tool/wipe {})",
    "(tool/call \"wipe\" {})",
    "((keyword \"tool/wipe\") {})",
    "((symbol \"tool/wipe\") {})",
    "('tool/wipe {})",
    "((resolve 'tool/wipe) {})",
    "((ns-resolve 'tool 'wipe) {})",
    "((find-var 'tool/wipe) {})",
    "(#'tool/wipe {})",
    "((var tool/wipe) {})",
    "(eval '(tool/wipe {}))",
    "(eval (list 'tool/wipe {}))",
    "(load-string \"(tool/wipe {})\")",
    "(eval (read-string \"(tool/wipe {})\"))",
    "((get (ns-publics 'tool) \"wipe\") {})",
    "(require '[tool :as t]) (t/wipe {})",
    "(alias 't 'tool) (t/wipe {})",
    "(in-ns 'tool) (wipe {})",
    "(ns tool) (wipe {})",
    "(def tool/wipe tool/echo) (tool/wipe {})",
    "(defn tool/wipe [x] x) (tool/wipe {})",
    "(intern 'tool 'wipe tool/echo) (tool/wipe {})",
    "(with-redefs [tool/echo tool/wipe] (tool/echo {}))",
    "(binding [tool/echo tool/wipe] (tool/echo {}))",
    "(.invoke tool/wipe {})",
    "(. tool wipe {})",
    "(-> {} tool/wipe)",
    "(->> [{}] (map tool/wipe))",
    "(#(tool/wipe %) {})",
    "(trampoline tool/wipe {})",
    "(memoize tool/wipe)",
    "(comp tool/wipe identity)",
    "(partial tool/wipe {})",
    "(defmacro w [] '(tool/wipe {})) (w)",
    "(user/wipe {})",
    "(wipe {})",
    "(clojure.core/wipe {})",
    "((:f data/found) {})",
    "((get data/found \"f\") {})",
    "(call (:f data/found) {})",
    "((:f (tool/echo {:f \"tool/wipe\"})) {})",
    "(let [{:keys [f]} data/found] (f {}))",
];

#[test]
fn no_road_leads_to_a_tool_that_was_not_granted() {
    let (granted, others, called) = worlds();
    let grants = Grants::new().json("found", r#"{"f": "tool/wipe"}"#).unwrap();
    for road in ROADS {
        // Calling a keyword only looks it up.
        match eval(road, &grants, &granted) {
            Ok(outcome) => assert!(road.starts_with("((keyword"), "{road}: {outcome:?}"),
            Err(failure) => assert_ne!(failure.reason(), "internal_error", "{road}: {failure}"),
        }
        // Another run with the same runtime may call the tool, before and after.
        eval("(tool/wipe {})", &grants, &others).unwrap();
    }
    assert_eq!(called.load(Ordering::Relaxed) as usize, ROADS.len());
}

/// Checks that a refusal names only what the program may call.
#[test]
fn a_refusal_tells_nothing_of_what_others_may_call() {
    let (granted, others, _) = worlds();
    eval("(tool/wipe {})", &Grants::new(), &others).unwrap();
    for program in ["(tool/wip {})", "(tool/wipee {})", "(call \"wip\" {})", "(tool/ecko {})", "(wip {})"] {
        let failure = eval(program, &Grants::new(), &granted).expect_err(program).to_string();
        assert!(!failure.contains("wipe`") || program.contains("wipe"), "{program}: {failure}");
        assert!(!failure.contains("`tool/wipe`"), "{program}: {failure}");
    }
    for program in
        ["(apropos \"wipe\")", "(dir \"tool\")", "(all-ns)", "(doc \"tool/wipe\")", "(ns-publics 'tool)"]
    {
        let told = match eval(program, &Grants::new(), &granted) {
            Ok(outcome) => outcome.print().unwrap() + &outcome.prints.join("\n"),
            Err(failure) => failure.diagnostic().message.clone(),
        };
        assert!(!told.replace("tool/wipe", "").contains("wipe"), "{program}: {told}");
    }
}

/// Checks that the language has no access to the machine, under any name known from elsewhere.
#[test]
fn there_is_no_way_to_the_machine() {
    for program in [
        "(slurp \"/etc/passwd\")",
        "(spit \"notes.txt\" 1)",
        "(System/getenv \"HOME\")",
        "(System/getProperty \"user.home\")",
        "(System/exit 0)",
        "(.exec (Runtime/getRuntime) \"id\")",
        "(java.io.File. \"/\")",
        "(java.net.URL. \"http://localhost\")",
        "(sh \"id\")",
        "(clojure.java.shell/sh \"id\")",
        "(Thread/sleep 100)",
        "(future 1)",
        "(agent 1)",
        "(read-line)",
        "(load-file \"/etc/passwd\")",
        "(require 'clojure.java.io)",
        "(import java.io.File)",
        "(new java.io.File \"/\")",
        "(class 1)",
        "(.getClass 1)",
        "(.getClassLoader 1)",
        "(eval 1)",
        "*command-line-args*",
        "*in*",
        "(rand)",
        "(gensym)",
    ] {
        let failure = eval(program, &Grants::new(), &Tools::new()).expect_err(program);
        assert!(failure.prints.is_empty() && failure.reason() != "internal_error", "{program}: {failure}");
    }
}
