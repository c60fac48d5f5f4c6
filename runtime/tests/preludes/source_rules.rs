//! The rules of prelude sources, each broken once, and the facts of sources that follow them.

use super::common::*;

#[test]
fn only_four_forms_stand_at_the_top_level() {
    for source in
        ["(ns a) (println 1)", "(ns a) 1", "(ns a) (declare f)", "(ns a) (defonce x 1)", "(ns a) [1]"]
    {
        assert_eq!(refused(source).0, "compile_error", "{source}");
    }
}

#[test]
fn a_definition_needs_a_namespace_before_it() {
    let (reason, message) = refused("(def x 1) (ns a)");
    assert_eq!(reason, "missing_namespace");
    assert!(message.contains("`x`") && message.contains("before any (ns …)"), "{message}");
    assert_eq!(refused("").0, "missing_namespace");
    assert_eq!(refused("; nothing").0, "missing_namespace");
}

#[test]
fn namespaces_are_plain_names() {
    for source in
        ["(ns)", "(ns \"a\")", "(ns :a)", "(ns a/b)", "(ns a 1)", "(ns a \"d\" {} 1)", "(ns 1a)", "(ns a..b)"]
    {
        let error = compile(source).unwrap_err();
        assert!(matches!(error.reason(), "invalid_namespace" | "parse_error"), "{source}: {error}");
    }
    assert_eq!(compiled("(ns acme.crm) (def x 1)").exports()[0].reference(), "acme.crm/x");
    assert_eq!(value("(ns acme.crm) (def x 1)", "acme.crm/x"), "1");
}

#[test]
fn names_of_the_language_are_refused() {
    for name in [
        "clojure.core",
        "core",
        "clojure.string",
        "str",
        "set",
        "walk",
        "regex",
        "json",
        "Math",
        "java.time.LocalDate",
        "mcp",
        "user",
        "memory",
    ] {
        let error = compile(&format!("(ns {name}) (def x 1)")).unwrap_err();
        assert_eq!(error.reason(), "reserved_namespace", "{name}");
        assert_eq!(error.namespace.as_deref(), Some(name));
    }
}

#[test]
fn errors_tell_where_they_are() {
    let source = "(ns crm)\n(defn ok [] 1)\n(defn find [id]\n  (claen id))";
    let error = compile(source).unwrap_err();
    assert_eq!(error.reason(), "compile_error");
    assert_eq!((error.namespace.as_deref(), error.reference.as_deref()), (Some("crm"), Some("crm/find")));
    let place = error.diagnostic().place(source).unwrap();
    assert_eq!((place.line, place.column), (4, 4));
    assert!(error.message().contains("references undefined variable(s): claen"), "{error}");
}

#[test]
fn all_undefined_names_are_told_at_once() {
    let (_, message) = refused("(ns crm) (defn f [] (aaa) (bbb ccc))");
    assert!(message.contains("references undefined variable(s): aaa, bbb, ccc"), "{message}");
}

#[test]
fn signatures_are_checked() {
    for source in [
        "(ns a) (defn f)",
        "(ns a) (defn f x)",
        "(ns a) (defn 1 [] 1)",
        "(ns a) (def)",
        "(ns a) (def x)",
        "(ns a) (def x 1 2)",
        "(ns a) (def x 1 2 3)",
        "(ns a) (defn a/f [] 1)",
        "(ns a) (defn if [] 1)",
        "(ns a) (defn %f [] 1)",
    ] {
        assert_eq!(refused(source).0, "invalid_signature", "{source}");
    }
    assert_eq!(refused("(ns a) (defn f [x x2 &] 1)").0, "compile_error");
}

#[test]
fn metadata_is_checked() {
    assert_eq!(refused("(ns a) (defn f {\"x\" 1} [] 1)").0, "invalid_metadata");
    assert_eq!(refused("(ns a) (defn f {:provider-ref :x} [] 1)").0, "invalid_metadata");
    assert_eq!(refused("(ns a {:visibility \"prompt\"}) (def x 1)").0, "invalid_visibility");
    assert_eq!(refused("(ns a) (defn f {:since 3} [] 1)").0, "invalid_metadata");
}

#[test]
fn a_string_constant_is_no_doc() {
    let source = "(ns a) (def x \"text\") (def y \"What it is.\" 2)";
    assert_eq!(value(source, "[a/x a/y]"), "[\"text\" 2]");
    assert_eq!(export(source, "a/y").doc.as_deref(), Some("What it is."));
}

#[test]
fn siblings_are_called_forward_and_backward() {
    let source = "(ns a) (defn even [n] (if (zero? n) true (odd (dec n)))) (defn- odd [n] (if (zero? n) false (even (dec n))))";
    assert_eq!(value(source, "[(a/even 10) (a/even 7)]"), "[true false]");
}

#[test]
fn a_prelude_name_wins_inside_its_namespace_only() {
    let source =
        "(ns a) (defn count [x] [:mine x]) (defn list [] (count 1)) (defn- map [x] x) (defn g [] (map 3))";
    assert_eq!(value(source, "[(a/list) (count [1 2]) (a/g) (map inc [1])]"), "[[:mine 1] 2 3 [2]]");
}

#[test]
fn qualified_self_references_are_found_everywhere_but_in_quotes() {
    for body in
        ["#(a/f)", "#{a/f}", "{a/f 1}", "{:x a/f}", "(let [g a/f] g)", "(map a/f [1])", "(fn [] [a/f])"]
    {
        assert_eq!(
            refused(&format!("(ns a) (defn f [] 1) (defn g [] {body})")).0,
            "qualified_self_reference",
            "{body}"
        );
    }
    assert_eq!(value("(ns a) (defn f [] 1) (defn g [] ['a/f '(a/f)])", "(a/g)"), "['a/f ['a/f]]");
}

#[test]
fn namespaces_use_each_other_only_where_they_say_so() {
    let (reason, message) = refused("(ns a) (defn f [] 1) (ns b) (defn g [] (a/f))");
    assert_eq!(reason, "compile_error");
    assert!(message.contains("another namespace, which `b` does not require"), "{message}");
}

#[test]
fn calls_of_siblings_are_counted() {
    let (reason, message) = refused("(ns a) (defn f [x] x) (defn g [] (f 1 2))");
    assert_eq!(reason, "compile_error");
    assert!(message.contains("`f` takes [x], but got 2 arguments"), "{message}");
}

#[test]
fn parameters_are_shown_as_they_are_written() {
    let source =
        "(ns a) (defn f [id {:keys [b]} [c] & more] id) (defn g ([] 0) ([x] x)) (defn h [& {:keys [a]}] a)";
    assert_eq!(export(source, "a/f").params, [["id", "arg2", "arg3", "&", "more"]]);
    assert_eq!((export(source, "a/f").min_arity(), export(source, "a/f").is_variadic()), (3, true));
    assert_eq!(export(source, "a/g").signatures(), ["(g)", "(g x)"]);
    assert_eq!(export(source, "a/h").params, [["&", "arg1"]]);
    assert_eq!(value(source, "[(a/g) (a/g 5) (a/h :a 1)]"), "[0 5 1]");
}

#[test]
fn a_source_that_is_too_long_is_refused() {
    let source = format!("(ns a) (def x \"{}\")", "x".repeat(1_000_001));
    assert_eq!(refused(&source).0, "source_too_large");
}

#[test]
fn broken_text_is_a_parse_error() {
    for source in ["(ns a", "(ns a) (def x {:a})", "(ns a) (def x #{1 1})", "\u{0}", "(ns a) (def x \"abc"] {
        let (reason, message) = refused(source);
        assert_eq!(reason, "parse_error", "{source}");
        assert!(message.starts_with("prelude parse error: "), "{message}");
    }
}

#[test]
fn a_prelude_is_stateless() {
    for body in ["*1", "memory/x", "(memory/get :x)"] {
        assert_eq!(refused(&format!("(ns a) (defn f [] {body})")).0, "compile_error", "{body}");
    }
}
