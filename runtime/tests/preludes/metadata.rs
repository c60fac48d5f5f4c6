//! Metadata is obeyed or refused, never ignored.

use super::common::*;
use ptc_runtime::{Attach, Grants};

/// Returns reason, message and hint of a source that must be refused.
fn told(source: &str) -> (&'static str, String, String) {
    let error = compile(source).expect_err(source);
    let hint = error.diagnostic().hint.clone().unwrap_or_default();
    (error.reason(), error.message().to_string(), hint)
}

#[test]
fn effects_that_do_not_exist_are_refused_with_the_nearest_that_does() {
    for (value, near) in [
        (":destructive", ":effect :write"),
        (":wirte", ":effect :write"),
        (":writes", ":effect :write"),
        (":delete", ":effect :write"),
        ("\"write\"", ":effect :write"),
        (":read-only", ":effect :read"),
        (":reads", ":effect :read"),
        (":unkown", ":effect :unknown"),
        ("true", ":effect :write"),
    ] {
        let (reason, message, hint) = told(&format!("(ns a) (defn f {{:effect {value}}} [] (tool/x {{}}))"));
        assert_eq!(reason, "invalid_metadata", "{value}");
        assert!(message.contains("invalid effect") && message.contains(":read, :write"), "{message}");
        assert!(hint.contains(near), "{value}: {hint}");
    }
    for value in [":read", ":write", ":unknown"] {
        let source = format!("(ns a) (defn f {{:effect {value}}} [] (tool/x {{}}))");
        assert_eq!(format!(":{}", export(&source, "a/f").effect.name()), value);
    }
}

#[test]
fn pure_can_be_said_of_pure_code_only() {
    assert_eq!(export("(ns a) (defn f {:effect :pure} [] 1)", "a/f").effect.name(), "pure");
    let (reason, message, _) = told("(ns a) (defn- g [] (tool/x {})) (defn f {:effect :pure} [] (g))");
    assert_eq!(reason, "invalid_metadata");
    assert!(message.contains("a/f says :effect :pure, but it calls tool/x"), "{message}");
}

#[test]
fn keys_that_do_not_exist_are_refused_with_the_nearest_that_does() {
    for (key, near) in [
        (":effects", "write :effect"),
        (":efect", "write :effect"),
        (":provider_ref", "write :provider-ref"),
        (":visiblity", "write :visibility"),
        (":require", "write :requires"),
        (":Effect", "write :effect"),
        (":doc", "after the name"),
        (":since", "leave it out"),
    ] {
        for source in [
            format!("(ns a) (defn f {{{key} :write}} [] (tool/x {{}}))"),
            format!("(ns a) (defn ^{{{key} :write}} f [] (tool/x {{}}))"),
            format!("(ns a) (def ^{{{key} :write}} f 1)"),
            format!("(ns a) (defn- f {{{key} :write}} [] 1) (defn g [] (f))"),
        ] {
            let (reason, message, hint) = told(&source);
            assert_eq!(reason, "invalid_metadata", "{source}");
            assert!(message.contains(&format!("unknown metadata {key}")), "{source}: {message}");
            assert!(hint.contains(near), "{source}: {hint}");
        }
    }
}

#[test]
fn a_namespace_takes_visibility_only() {
    let (reason, message, hint) = told("(ns a {:effect :write}) (defn f [] 1)");
    assert_eq!(reason, "invalid_metadata");
    assert!(message.contains("unknown metadata :effect: a namespace takes :visibility"), "{message}");
    assert!(hint.contains("of each definition: (defn purge {:effect :write} [id] …)"), "{hint}");
    assert!(told("(ns a {:visiblity :prompt}) (defn f [] 1)").2.contains("write :visibility"));
    assert_eq!(told("(ns ^:private a) (defn f [] 1)").0, "invalid_metadata");
    assert_eq!(
        export("(ns ^{:visibility :discoverable} a) (defn f [] 1)", "a/f").visibility.name(),
        "discoverable"
    );
}

/// Private definitions are not exported, not in the prompt, and not callable from outside.
#[test]
fn every_form_of_private_is_heeded() {
    for (definition, call) in [
        ("(defn- hidden [x] (+ x 41))", "(hidden x)"),
        ("(defn ^:private hidden [x] (+ x 41))", "(hidden x)"),
        ("(defn ^{:private true} hidden \"Doc.\" [x] (+ x 41))", "(hidden x)"),
        ("(defn hidden {:private true} [x] (+ x 41))", "(hidden x)"),
        ("(defn hidden \"Doc.\" {:private true} ([x] (+ x 41)))", "(hidden x)"),
        ("(def ^:private hidden 41)", "(+ x hidden)"),
        ("(def ^{:private true} hidden \"Doc.\" 41)", "(+ x hidden)"),
        ("(def ^:private hidden (fn [x] (+ x 41)))", "(hidden x)"),
        ("(defn ^:private ^Number hidden [^long x] (+ x 41))", "(hidden x)"),
    ] {
        let source = format!("(ns a \"Of a.\") {definition} (defn open [x] {call})");
        let prelude = compiled(&source);
        let names: Vec<String> = prelude.exports().iter().map(|export| export.reference()).collect();
        assert_eq!(names, ["a/open"], "{definition}");
        assert!(!prelude.inventory(Default::default()).unwrap().contains("hidden"), "{definition}");
        assert_eq!(value(&source, "(a/open 1)"), "42", "{definition}");
        let runtime = runtime().attach(&prelude, &Attach::new()).unwrap();
        for program in ["(a/hidden 1)", "a/hidden", "(a/hidden)", "(map a/hidden [1])"] {
            let failure = runtime.eval(program, &Grants::new()).expect_err(program);
            assert_eq!(failure.reason(), "invalid_form", "{definition}: {program}");
        }
        for program in ["(ns-publics 'a)", "(dir 'a)", "(apropos \"hidden\")"] {
            let shown = runtime.eval(program, &Grants::new()).unwrap().print().unwrap();
            assert!(!shown.contains("hidden"), "{definition}: {program} gives {shown}");
        }
        // A file made from it has no more exports.
        let loaded =
            ptc_runtime::Prelude::load(&super::common::runtime(), &prelude.to_bytes(), &Default::default());
        assert_eq!(loaded.unwrap().exports().len(), 1);
    }
    assert_eq!(export("(ns a) (defn ^{:private false} f [] 1)", "a/f").symbol, "f");
}

#[test]
fn private_is_shown_by_source_and_reads_back() {
    let source = "(ns a) (defn ^:private f [x] (inc x)) (defn g [x] (f x))";
    let shown = compiled(source).source_of("a/f").unwrap().to_string();
    assert!(shown.contains("a/f: private") && shown.ends_with("(defn ^:private f [x] (inc x))"), "{shown}");
}

#[test]
fn metadata_where_it_means_nothing_is_refused() {
    let (reason, message, hint) = told("(ns a) ^:private (defn f [] 1)");
    assert_eq!(reason, "invalid_metadata");
    assert!(message.contains("^:private"), "{message}");
    assert!(hint.contains("(defn ^:private"), "{hint}");
    assert_eq!(told("(ns a) (defn f {:private :yes} [] 1)").0, "invalid_metadata");
    // Type hints are for Clojure, and mean nothing here.
    assert_eq!(value("(ns a) (defn ^String f [^long x ^{:tag int} y] (+ x y))", "(a/f 1 2)"), "3");
}
