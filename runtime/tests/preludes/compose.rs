//! Composition of several sources into one prelude.

use super::common::*;
use ptc_runtime::{Prelude, Selection, SourceOrigin};

fn compose(selections: &[Selection]) -> Result<Prelude, ptc_runtime::PreludeError> {
    Prelude::compose(&runtime(), selections)
}

#[test]
fn components_are_recorded_in_order() {
    let b = Selection::new("b", "(ns b) (defn f [] 1)").version(7);
    let a = Selection::new("a", "(ns a1) (def x 1) (ns a0) (def y 2)")
        .origin(SourceOrigin::Memory(Some("m".into())));
    let prelude = compose(&[b, a]).unwrap();
    let components = prelude.components();
    assert_eq!(components.iter().map(|c| &*c.id).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!((components[0].version, components[1].origin.as_deref()), (Some(7), Some("memory:m")));
    assert_eq!(components[1].namespaces, ["a0", "a1"]);
    assert_eq!(components[0].checksum, compiled("(ns b) (defn f [] 1)").source_hash());
    let names: Vec<&str> = prelude.namespaces().iter().map(|n| &*n.name).collect();
    assert_eq!(names, ["a0", "a1", "b"]);
    let order: Vec<String> = prelude.exports().iter().map(|e| e.reference()).collect();
    assert_eq!(order, ["b/f", "a1/x", "a0/y"]);
}

#[test]
fn no_two_may_declare_the_same_namespace() {
    let one = Selection::new("one", "(ns a) (def x 1)");
    let two = Selection::new("two", "(ns b) (def x 1) (ns a) (def y 1)");
    let error = compose(&[one, two]).unwrap_err();
    assert_eq!(error.reason(), "invalid_namespace");
    assert!(error.message().contains("`one`") && error.message().contains("`two`"), "{error}");
}

#[test]
fn each_is_compiled_alone() {
    let one = Selection::new("one", "(ns a) (defn f [] 1)");
    let two = Selection::new("two", "(ns b) (defn g [] (a/f))");
    assert_eq!(compose(&[one.clone(), two]).unwrap_err().reason(), "compile_error");
    // A source in a bundle has the same requirements as alone.
    let bundle = compose(&[one, Selection::new("c", "(ns c) (defn h [x] (tool/t {:x x}))")]).unwrap();
    let alone = compiled("(ns c) (defn h [x] (tool/t {:x x}))");
    assert_eq!(bundle.export("c/h").unwrap().requires, alone.export("c/h").unwrap().requires);
    assert!(bundle.export("a/f").unwrap().requires.is_empty());
}

#[test]
fn checksums_and_versions_are_checked() {
    let source = "(ns a) (def x 1)";
    let good = compiled(source).source_hash();
    assert!(compose(&[Selection::new("a", source).checksum(good)]).is_ok());
    let error = compose(&[Selection::new("a", source).checksum("00")]).unwrap_err();
    assert_eq!(error.reason(), "compile_error");
    assert!(error.message().contains("checksum"), "{error}");
    assert!(compose(&[Selection::new("a", source).version(0)]).unwrap_err().message().contains("version"));
    assert_eq!(compose(&[]).unwrap_err().reason(), "compile_error");
}

#[test]
fn origins_are_cut() {
    let long = SourceOrigin::File("ä".repeat(200));
    assert!(long.to_string().len() <= 128);
    assert_eq!(SourceOrigin::Text("by hand".into()).to_string(), "by hand");
}
