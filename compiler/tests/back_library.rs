//! The core library dialect: `%` names, iteration over builders, exports instead of an entry.

use ptc_bytecode::{Limits, Op, verify};
use ptc_compiler::{Options, Scope, compile};

const MAP: &str = "
(defn map \"The results of f on each element.\"
  ([f coll]
   (let [out (%builder)]
     (%for [x coll] (%push out (f x)))
     (%finish out))))
(defn reduce
  ([f coll] (reduce f nil coll))
  ([f init coll]
   (let [acc init]
     (%for [x coll]
       (if (nil? acc) (%exit x))
       (%set! acc (f acc x)))
     acc)))";

fn library(source: &str, optimize: bool) -> Result<ptc_bytecode::Artifact, Vec<ptc_bytecode::Diagnostic>> {
    compile(source, &Scope::default(), &Limits::default(), Options { optimize, library: true })
}

#[test]
fn every_function_is_exported() {
    for optimize in [false, true] {
        let artifact = library(MAP, optimize).unwrap();
        let names: Vec<&str> = artifact.exports.iter().map(|export| &*export.name).collect();
        assert_eq!(names, ["map", "reduce"]);
        assert_eq!(artifact.entry, None);
        let map = &artifact.functions[artifact.exports[0].function as usize];
        assert_eq!((map.captures, map.doc.as_deref()), (0, Some("The results of f on each element.")));
        assert_eq!(artifact.imports.iter().map(|name| &**name).collect::<Vec<_>>(), ["reduce"]);
        let has = |wanted: fn(&Op) -> bool| artifact.blocks.iter().any(|b| b.ops.iter().any(wanted));
        assert!(has(|op| matches!(op, Op::IterNext { .. })) && has(|op| matches!(op, Op::Push { .. })));
        verify(artifact).unwrap();
    }
}

#[test]
fn other_forms_are_refused() {
    let reason = |source| library(source, true).unwrap_err()[0].code.reason();
    assert_eq!(reason("(+ 1 2)"), "unrecognized_node");
    assert_eq!(reason("(defn f [x] (fn [] (%set! x 1)))"), "invalid_form");
    assert_eq!(reason("(defn f [x] (nope x))"), "unbound_var");
}

#[test]
fn the_same_source_gives_the_same_artifact() {
    let once = library(MAP, true).unwrap();
    assert_eq!(once, library(MAP, true).unwrap());
    assert_ne!(once.source_hash, [0; 32]);
}
