//! Programs that are refused before the run, with their reasons and hints.

use ptc_bytecode::{Diagnostic, Limits};
use ptc_compiler::{Options, Scope, compile};

fn problems(source: &str) -> Vec<Diagnostic> {
    let scope = Scope::default().with_defs(["total"]).with_tools(["search", "fetch_all"]);
    match compile(source, &scope, &Limits::default(), Options::default()) {
        Ok(artifact) => {
            ptc_bytecode::verify(artifact).unwrap_or_else(|problem| panic!("{source}: {problem:?}"));
            Vec::new()
        }
        Err(problems) => problems,
    }
}

/// Returns the first error as `reason: message | hint`.
fn first(source: &str) -> String {
    let problem = problems(source).into_iter().next();
    problem.map_or("fine".into(), |p| {
        let hint = p.hint.map(|hint| format!(" | {hint}")).unwrap_or_default();
        format!("{}: {}{hint}", p.code.reason(), p.message)
    })
}

#[test]
fn all_unknown_names_are_told_at_once() {
    let told: Vec<String> = problems("(fliter odd? [1]) (foo 1) (let [x 1] (+ x yy)) (foo 2)")
        .iter()
        .map(|p| p.message.clone())
        .collect();
    assert_eq!(
        told,
        ["`fliter` is not defined", "`foo` is not defined", "`yy` is not defined"]
            .map(String::from)
            .into_iter()
            .filter(|m| told.contains(m))
            .collect::<Vec<_>>()
    );
    assert!(told.len() >= 3, "{told:?}");
    assert_eq!(first("(fliter count [1])"), "unbound_var: `fliter` is not defined | did you mean `filter`?");
    assert_eq!(
        first("(let [user-name 1] user_name)"),
        "unbound_var: `user_name` is not defined | did you mean `user-name`?"
    );
    assert_eq!(first("(+ totl 1)"), "unbound_var: `totl` is not defined | did you mean `total`?");
}

#[test]
fn definitions_are_visible_to_what_follows() {
    assert_eq!(first("(def a 1) a"), "fine");
    assert_eq!(first("(do (def a 1)) a"), "fine");
    assert_eq!(first("(if total (def a 1)) a"), "fine");
    let early = "unbound_var: `g` is used before it is defined";
    assert!(first("(defn f [] (g)) (defn g [] 1)").starts_with(early));
    assert_eq!(first("(declare g) (defn f [] (g)) (defn g [] 1)"), "fine");
    assert_eq!(first("(defn f [x] (f x))"), "fine");
    assert_eq!(first("(def f (fn [x] (f x)))"), "fine");
    assert!(first("(def x (+ x 1))").starts_with("unbound_var: `x` has no value yet"));
    assert_eq!(first("(def x (or x 1))"), "fine");
    assert!(first("(or (+ nope 1) 2)").starts_with("unbound_var: `nope`"));
    assert_eq!(first("(def count 1) (+ count 1)"), "fine");
}

#[test]
fn counts_of_arguments() {
    assert_eq!(
        first("(count [1] 2)"),
        "arity_error: `count` takes 1 argument, but got 2 | for example (count [7 8])"
    );
    assert_eq!(first("(defn f [a b] a) (f 1)"), "arity_mismatch: `f` takes [a b], but got 1 argument");
    assert_eq!(
        first("(defn f ([a] a) ([a & r] r)) (f)"),
        "arity_mismatch: `f` takes [a] or [a & r], but got 0 arguments"
    );
    assert_eq!(first("(defn f [a] a) (defn f [a b] a) (f 1)"), "fine");
    assert_eq!(first("(defn f [[x y]] x) (f)"), "arity_mismatch: `f` takes [_], but got 0 arguments");
    assert_eq!(first("(defn total [a] a) (total 1 2)"), "fine");
    assert!(first("(:a)").starts_with("invalid_keyword_call"));
    assert!(first("(:a {} 1 2)").starts_with("invalid_keyword_call"));
}

#[test]
fn recur_goes_to_the_nearest_loop_in_tail_position() {
    assert_eq!(first("(loop [x 1] (when x (recur nil)))"), "fine");
    assert!(first("(loop [x 1] (+ 1 (recur 2)))").starts_with("invalid_form: `recur`"));
    assert!(first("(recur 1)").starts_with("invalid_form: `recur`"));
    assert!(first("(loop [x 1] (recur))").starts_with("arity_mismatch: `recur` needs 1 value"));
    assert!(first("(loop [x 1] (doseq [y [1]] (recur 2)))").starts_with("invalid_form: `recur`"));
    assert!(first("(loop [x 1] (recur x) x)").starts_with("invalid_form: `recur`"));
    assert_eq!(first("(loop [x 1] (let [y x] (cond (nil? y) 1 :else (recur nil))))"), "fine");
    assert_eq!(first("(fn [x & r] (recur x r))"), "fine");
}

#[test]
fn qualified_names() {
    for fine in
        ["data/rows", "(tool/search {:q 1})", "(map tool/search [{}])", "(clojure.core/map inc [1])", "*1"]
    {
        assert_eq!(first(fine), "fine", "{fine}");
    }
    assert_eq!(
        first("(tool/serch {})"),
        "unknown_tool: `tool/serch` is not a granted tool | did you mean `tool/search`?"
    );
    assert_eq!(
        first("(tool/delete {})"),
        "unknown_tool: `tool/delete` is not a granted tool | granted tools: fetch_all, search"
    );
    assert!(first("(def data/x 1)").starts_with("invalid_form"));
    assert!(first("(def foo/x 1)").starts_with("invalid_form"));
    assert!(first("(foo/bar 1)").starts_with("invalid_form: unknown namespace foo/bar"));
    assert!(first("%").starts_with("invalid_placeholder"));
    assert!(first("(%push 1 2)").starts_with("unbound_var"));
    assert_eq!(first("()"), "fine");
}

#[test]
fn forms_and_shadowing() {
    assert_eq!(first("(let [when (fn [x] x)] (when 1))"), "fine");
    assert!(first("(let [if (fn [x] x)] (if 1))").starts_with("invalid_arity"));
    assert_eq!(first("(let [map 1] (+ map 1))"), "fine");
    assert!(first("(+ 1 when)").contains("write it in parentheses"));
    assert!(first("(raise 1)").starts_with("unbound_var"));
    assert!(first("(let [a 1 b] a)").starts_with("invalid_form"));
    let params: Vec<String> = (0..101).map(|i| format!("p{i}")).collect();
    assert!(
        first(&format!("(fn [{}] 1)", params.join(" ")))
            .starts_with("invalid_form: a function takes at most")
    );
}

#[test]
fn structure_comes_before_names_and_tools() {
    let told: Vec<&str> = problems("(tool/nope) (nope) (recur)").iter().map(|p| p.code.reason()).collect();
    assert_eq!(told, ["invalid_form", "unbound_var", "unknown_tool"]);
}
