//! Programs that use discovery.

use ptc_runtime::{Grants, Limits, Runtime};

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).expect("the core library")
}

fn run(source: &str) -> String {
    match runtime().eval(source, &Grants::new()) {
        Ok(outcome) => outcome.print().expect("printed"),
        Err(failure) => format!("{}: {}", failure.reason(), failure.diagnostic().message),
    }
}

#[test]
fn references_are_written_in_many_ways() {
    let wanted = run("(doc join)");
    assert!(wanted.contains("Namespace: clojure.string"), "{wanted}");
    for reference in
        ["'join", "\"join\"", "str/join", "'clojure.string/join", "(str \"jo\" \"in\")", "#'join"]
    {
        assert_eq!(run(&format!("(doc {reference})")), wanted, "{reference}");
    }
    assert_eq!(run("(count (map doc [\"inc\" \"dec\"]))"), "2");
    assert!(run("(doc let)").contains("Kind: form"));
}

#[test]
fn definitions_of_the_program_are_found() {
    let text = run("(defn area \"Width times height.\" [w h] (* w h)) (doc area)");
    assert!(text.contains("Width times height.") && text.contains("(area w h)"), "{text}");
    assert_eq!(run("(defn f [x] x) (:signatures (meta f))"), "[\"(f x)\"]");
    let mut session = runtime().session();
    session.eval("(defn twice \"Two times x.\" [x] (* 2 x))").expect("defined");
    let later = session.eval("(doc twice)").expect("found").print().expect("printed");
    assert!(later.contains("Two times x."), "{later}");
}

#[test]
fn what_a_program_names_itself_wins() {
    assert_eq!(run("(defn source [row] (:source row)) (source {:source 1})"), "1");
    assert_eq!(run("(let [doc inc] (doc 1))"), "2");
    assert_eq!(run("(let [x {:a 1}] (meta x))"), "nil");
    assert_eq!(run("(defn call [x] (* 2 x)) (call 4)"), "8");
}

#[test]
fn unknown_names_and_wrong_options_are_refused() {
    for (source, wanted) in [
        ("(doc fliter)", "runtime_error: `doc` knows no name `fliter`"),
        ("(meta \"nope\")", "runtime_error: `meta` knows no name `nope`"),
        ("(dir nope)", "runtime_error: `dir` knows no namespace `nope`"),
        ("(ns-publics 'nope)", "runtime_error: `ns-publics` knows no namespace `nope`"),
        ("(ns-name nope)", "runtime_error: `ns-name` knows no namespace `nope`"),
        ("(apropos \" \")", "runtime_error: `apropos` needs a text to search for, but it is blank"),
        ("(apropos \"x\" {:limit 51})", "runtime_error: `apropos`: :limit must be a number, 1 to 50"),
        (
            "(apropos \"x\" {:load 1})",
            "runtime_error: `apropos`: :load must be true or false, but it is a number",
        ),
        ("(dir str {:offset -1})", "runtime_error: `dir`: :offset must be a number, at least 0"),
        ("(doc a b)", "invalid_arity: `doc` takes 1 argument, but got 2"),
        ("(tool/servers)", "runtime_error: `tool/servers` needs upstream servers, but this run has none"),
    ] {
        assert_eq!(run(source), wanted, "{source}");
    }
}

#[test]
fn lists_are_ranked_paged_and_sorted() {
    assert_eq!(run("(apropos \"...\")"), "[]");
    assert_eq!(run("(count (apropos \"a\"))"), "8");
    assert_eq!(run("(= (dir str {:limit 2 :offset 1}) (rest (dir str {:limit 3})))"), "true");
    assert_eq!(run("(let [names (dir core {:limit 200})] (= names (sort names)))"), "true");
    assert_eq!(run("(all-ns)"), r#"["clojure.core" "clojure.set" "clojure.string" "clojure.walk" "json"]"#);
    assert_eq!(
        run("(set (keys (val (first (ns-publics walk)))))"),
        "#{:name :doc :arglists :section :source}"
    );
}

#[test]
fn source_prints_and_gives_nil() {
    let outcome = runtime().eval("(source map)", &Grants::new()).expect("runs");
    assert_eq!(outcome.prints, ["no source available for map"]);
    assert_eq!(outcome.print().expect("printed"), "nil");
}

#[test]
fn a_long_query_costs_fuel() {
    let limits = Limits { fuel: 1_000_000, ..Limits::default() };
    let source = "(apropos (str/join \" \" (repeat 20000 \"a\")))";
    let failure = runtime().limits(limits).eval(source, &Grants::new()).expect_err("too much");
    assert_eq!(failure.reason(), "fuel_exceeded");
}
