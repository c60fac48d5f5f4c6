//! Preludes, their syntax and calls from programs: the introduction and §§1 to 3.

use super::super::common::*;
use ptc_runtime::{Attach, Grants, LoadOptions, Prelude, Runtime};

/// The prelude of the quick start.
const QUICK: &str = r#"(ns crm "CRM helpers." {:visibility :prompt})
    (defn get-user "Return a CRM user by id." [id]
      (tool/call {:server "crm" :tool "get_user" :args {:id id}}))"#;

#[test]
fn s0_a_prelude_holds_no_hidden_state() {
    for kept in [
        "(def count (atom 0)) (defn next [] (swap! count inc))",
        "(def next (let [count (atom 0)] (fn [] (swap! count inc))))",
        "(def cells [{:count (atom 0)}])",
    ] {
        let (reason, message) = refused(&format!("(ns ids) {kept}"));
        assert!(reason == "impure_constant" || reason == "compile_error", "{kept}: {reason}: {message}");
        assert!(message.contains("atom"), "{kept}: {message}");
    }
    // Definitions made in a call are gone after it, so every call of a session starts afresh.
    let source = "(ns ids) (def start 7) (defn next [] (def last (inc start)) last)
        (defn own [] (let [cell (atom start)] (swap! cell inc)))";
    let mut session = attached(source, &stub()).session();
    for _ in 0..2 {
        let found = session.eval("[(ids/next) (ids/next) (ids/own) ids/start]").unwrap();
        assert_eq!(found.print().unwrap(), "[8 8 8 7]");
    }
    assert_eq!(session.defined().count(), 0);
}

#[test]
fn s1_quick_start() {
    let prelude = compiled(QUICK);
    let runtime = runtime().with_tools(stub()).attach(&prelude, &Attach::new()).unwrap();
    let grants = Grants::new().json("user-id", "\"u_1\"").unwrap();
    let branch = "(def res (crm/get-user data/user-id)) (if (:ok res) (:id (:args (:value res))) :failed)";
    assert_eq!(runtime.eval(branch, &grants).unwrap().print().unwrap(), "\"u_1\"");
    let seen =
        runtime.eval("[(keys (ns-publics 'crm)) (str/includes? (doc 'crm/get-user) \"by id\")]", &grants);
    assert_eq!(seen.unwrap().print().unwrap(), "[[\"get-user\"] true]");
}

/// One artifact, as compiled and as loaded from its file: runs and sessions call all of it, and their traces name
/// that very artifact.
#[test]
fn s1_compile_once_attach_anywhere() {
    let prelude = compiled(CRM);
    let read = Prelude::load(&runtime(), &prelude.to_bytes(), &LoadOptions::default()).unwrap();
    let program = "[crm/page-size (:args (:value (crm/get-user 1))) (:id (:args (crm/get-user! 2)))]";
    let answer = "[50 {\"id\" \"norm:1\"} \"norm:2\"]";
    for artifact in [prelude.clone(), prelude.clone(), read] {
        let attached = runtime().with_tools(stub()).attach(&artifact, &Attach::new()).unwrap();
        let direct = attached.eval(program, &Grants::new()).unwrap();
        assert_eq!(direct.print().unwrap(), answer);
        let mut session = attached.session();
        session.eval(&format!("(defn all [] {program})")).unwrap();
        let later = session.eval("(all)").unwrap();
        assert_eq!(later.print().unwrap(), answer);
        for outcome in [direct, later] {
            assert_eq!(outcome.prelude_trace().unwrap().artifact_hash, prelude.artifact_hash());
        }
    }
}

#[test]
fn s2_anatomy() {
    let prelude = compiled(CRM);
    assert_eq!(prelude.namespaces()[0].doc.as_deref(), Some("CRM helpers."));
    let names: Vec<String> = prelude.exports().iter().map(|export| export.reference()).collect();
    assert_eq!(names, ["crm/page-size", "crm/get-user", "crm/get-user!", "crm/list-users"]);
    assert_eq!(prelude.exports()[0].kind(), "constant");
    assert_eq!(value(CRM, "[crm/page-size (crm/page-size)]"), "[50 50]");
    assert_eq!(value(CRM, "(get-in (crm/get-user 7) [:value :args :id])"), "\"norm:7\"");
    for program in ["(crm/normalize-id 7)", "(map crm/normalize-id [7])", "crm/normalize-id"] {
        let (reason, message) = fault(CRM, program);
        assert_eq!(reason, "invalid_form", "{program}");
        assert!(message.contains("crm/normalize-id"), "{message}");
    }
    // A doc string and metadata may be left out, of namespaces and of functions.
    assert_eq!(value("(ns crm) (defn f [x] (inc x))", "(crm/f 1)"), "2");
}

#[test]
fn s2_several_namespaces_in_one_file() {
    // Equal names stay apart, helpers included.
    let apart = "(ns a) (defn- f [] 1) (defn g [] (f)) (ns b) (defn- f [] 2) (defn g [] (f))";
    assert_eq!(value(apart, "[(a/g) (b/g)]"), "[1 2]");
    let b = |requires: &str, body: &str| {
        format!("(ns a) (defn- own [] 1) (defn f [] (own)) (ns b{requires}) (defn g [] {body})")
    };
    let (reason, message) = refused(&b("", "(a/f)"));
    assert_eq!(reason, "compile_error");
    assert!(message.contains("`b` does not require"), "{message}");
    for (requires, body) in [
        (" (:require [a])", "(a/f)"),
        (" (:require [a :as x])", "(x/f)"),
        (" (:require [a :refer [f]])", "(f)"),
    ] {
        assert_eq!(value(&b(requires, body), "[(a/f) (b/g)]"), "[1 1]", "{requires}");
    }
    // Helpers are for their own namespace, even if another requires it.
    assert_eq!(refused(&b(" (:require [a])", "(a/own)")).0, "compile_error");
}

#[test]
fn s2_reserved_namespaces() {
    for name in ["tool", "data", "budget", "ptc.core", "mcp"] {
        for source in [format!("(ns {name})"), format!("(ns fine) (def x 1) (ns {name}) (def y 1)")] {
            let (reason, message) = refused(&source);
            assert_eq!(reason, "reserved_namespace");
            assert!(message.contains(&format!("cannot declare reserved namespace `{name}`")), "{message}");
        }
    }
}

/// A wrapper returns the very map of the call, and the program goes on with it, whether or not the call succeeded.
#[test]
fn s3_exports_are_recoverable_by_default() {
    let program = r#"(def res (crm/get-user "u_123"))
                     (if (res :ok) (return {:user (get-in res [:value :args :id])}) (return {:error (res :reason)}))"#;
    let same = r#"(= (crm/get-user 1) (tool/call {:server "crm" :tool "get_user" :args {:id "norm:1"}}))"#;
    for (tools, wanted) in [(stub(), "{:user \"norm:u_123\"}"), (failing(), "{:error \"not_found\"}")] {
        assert_eq!(eval(CRM, program, &tools).unwrap().print().unwrap(), wanted);
        assert_eq!(eval(CRM, same, &tools).unwrap().print().unwrap(), "true");
    }
    let goes_on = "(println (:ok (crm/get-user 1))) (println \"and on\")";
    assert_eq!(eval(CRM, goes_on, &failing()).unwrap().prints, ["false", "and on"]);
}

#[test]
fn s3_helpers_that_abort() {
    assert_eq!(value(CRM, "(:args (crm/get-user! 1))"), "{\"id\" \"norm:1\"}");
    let failure = eval(CRM, "(crm/get-user! 1) (println \"not reached\")", &failing()).unwrap_err();
    assert_eq!(failure.reason(), "fail");
    assert!(failure.diagnostic().message.contains("{:reason \"not_found\"}"), "{failure}");
    assert!(failure.prints.is_empty());
    // The program cannot catch it and go on as if nothing had happened.
    let caught = "(try (crm/get-user! 1) (catch Exception e :caught))";
    assert_eq!(eval(CRM, caught, &failing()).unwrap_err().reason(), "fail");
}

#[test]
fn s3_siblings_by_bare_name_only() {
    let crm = |body: &str| format!("(ns crm) (defn g [] {body}) (defn f [] 1) (defn- h [] 2)");
    assert_eq!(value(&crm("[(f) (h)]"), "(crm/g)"), "[1 2]");
    for (body, name) in
        [("(crm/f)", "crm/f"), ("(map crm/f [])", "crm/f"), ("#(crm/h)", "crm/h"), ("(crm/g)", "crm/g")]
    {
        let (reason, message) = refused(&crm(body));
        assert_eq!(reason, "qualified_self_reference", "{body}");
        assert!(message.contains(name), "{message}");
    }
    // Only programs must use qualified names.
    let attached: Runtime = attached(&crm("(f)"), &stub());
    assert_eq!(attached.eval("(crm/f)", &Grants::new()).unwrap().print().unwrap(), "1");
    assert!(attached.eval("(f)", &Grants::new()).is_err());
}
