//! Sessions keep the versions they started with: one test per rule.

use super::authoring::authoring;
use super::common::*;
use ptc_runtime::{FrozenRef, Prelude, PreludeStore, Session, SourceOrigin, StoreRef, Tools};
use serde_json::json;

fn store() -> PreludeStore {
    let store = PreludeStore::new(&runtime());
    let origin = Some(SourceOrigin::File("shop.clj".into()));
    store.write_from("shop", "(ns shop) (def rate 19)", json!({}), origin).unwrap();
    store.write("shop", "(ns shop) (def rate 7)", json!({})).unwrap();
    store.write("tax", "(ns tax) (defn of [x] (* 2 x))", json!({})).unwrap();
    store
}

fn print(session: &mut Session, program: &str) -> String {
    session.eval(program).unwrap_or_else(|failure| panic!("{failure}")).print().unwrap()
}

#[test]
fn n1_references_are_resolved_once() {
    let store = store();
    let mut session = Session::builder(&runtime()).store(&store).preludes(["shop", "tax"]).start().unwrap();
    store.write("shop", "(ns shop) (def rate 3)", json!({})).unwrap();
    store.write("tax", "(ns tax) (def gone 1)", json!({})).unwrap();
    assert_eq!(print(&mut session, "(tax/of shop/rate)"), "14");
    let mut later = Session::builder(&runtime()).store(&store).preludes(["shop"]).start().unwrap();
    assert_eq!(print(&mut later, "shop/rate"), "3");
    let trace = session.eval("1").unwrap().prelude_trace().unwrap();
    let versions: Vec<_> = trace.components.iter().map(|c| (&*c.id, c.version)).collect();
    assert_eq!(versions, [("shop", Some(2)), ("tax", Some(1))]);
}

#[test]
fn n2_frozen_references_are_reported() {
    let store = store();
    let first = store.read("shop@1").unwrap();
    let meant = StoreRef::version("shop", 1).checksum(&*first.checksum);
    let session = Session::builder(&runtime()).store(&store).preludes([&meant]).start().unwrap();
    let frozen = FrozenRef {
        id: "shop".into(),
        version: 1,
        checksum: first.checksum,
        origin: Some("file:shop.clj".into()),
    };
    assert_eq!(session.frozen(), [frozen]);
    assert!(runtime().session().frozen().is_empty());
}

#[test]
fn n3_another_prelude_for_one_program_is_refused() {
    let store = store();
    let mut session = Session::builder(&runtime()).store(&store).preludes(["shop@1"]).start().unwrap();
    let other = compiled("(ns other) (def x 1)");
    let failure = session.eval_with("other/x", &other).unwrap_err();
    assert_eq!(failure.reason(), "invalid_config");
    assert!(failure.to_string().contains("shop@1"), "{failure}");
    assert_eq!(print(&mut session, "shop/rate"), "19");
    // Other sessions may use another.
    let mut free = runtime().session();
    assert_eq!(free.eval_with("other/x", &other).unwrap().print().unwrap(), "1");
    assert!(free.eval("other/x").is_err());
}

#[test]
fn n4_stored_preludes_need_a_store_and_go_with_no_fixed_one() {
    let fixed = compiled("(ns fixed) (def x 1)");
    let without = Session::builder(&runtime()).preludes(["shop"]).start();
    assert_eq!(without.err().unwrap().reason(), "invalid_config");
    let both = Session::builder(&runtime()).store(&store()).preludes(["shop"]).prelude(&fixed).start();
    let failure = both.err().unwrap();
    assert!(failure.to_string().contains("not both"), "{failure}");
    let mut alone = Session::builder(&runtime()).prelude(&fixed).start().unwrap();
    assert_eq!(print(&mut alone, "fixed/x"), "1");
    let no_store = Session::builder(&runtime()).write_capable(&authoring()).start();
    assert_eq!(no_store.err().unwrap().reason(), "invalid_config");
}

#[test]
fn n5_writing_goes_with_other_preludes() {
    let fixed = compiled("(ns fixed) (def x 1)");
    let mut session = Session::builder(&runtime())
        .store(&store())
        .prelude(&fixed)
        .write_capable(&authoring())
        .start()
        .unwrap();
    assert_eq!(print(&mut session, "[fixed/x (count (prelude/list))]"), "[1 2]");
    // No two may declare the same namespace.
    let twice = compiled("(ns prelude) (def x 1)");
    let started =
        Session::builder(&runtime()).store(&store()).prelude(&twice).write_capable(&authoring()).start();
    let failure = started.err().unwrap();
    assert!(failure.to_string().contains("duplicate namespace 'prelude'"), "{failure}");
    // Nothing is recompiled, so a prelude without its source works.
    let bytes = fixed.to_bytes_without_source();
    let bare = Prelude::load(&runtime(), &bytes, &Default::default()).unwrap();
    let started =
        Session::builder(&runtime()).store(&store()).prelude(&bare).write_capable(&authoring()).start();
    assert_eq!(print(&mut started.unwrap(), "[fixed/x (count (prelude/list))]"), "[1 2]");
}

#[test]
fn what_is_missing_fails_before_any_program() {
    let store = store();
    for (reference, why) in [("nope", "not_found"), ("shop@9", "not_found"), ("shop@", "invalid_ref")] {
        let started = Session::builder(&runtime()).store(&store).preludes([reference]).start();
        let failure = started.err().unwrap();
        assert_eq!(failure.reason(), why);
        assert!(failure.diagnostic().message.starts_with("prelude attach failed: "), "{failure}");
    }
    store.write("needs", "(ns needs) (defn f [] (tool/t {}))", json!({})).unwrap();
    let started = Session::builder(&runtime()).store(&store).preludes(["needs"]).start();
    assert_eq!(started.err().unwrap().reason(), "prelude_attach_failed");
    let tools = Tools::new().with("t", |_| Ok(5));
    let mut session =
        Session::builder(&runtime().with_tools(tools)).store(&store).preludes(["needs"]).start().unwrap();
    assert_eq!(print(&mut session, "(needs/f)"), "5");
    let twice = Session::builder(&runtime()).store(&store).preludes(["shop@1", "shop@2"]).start();
    assert_eq!(twice.err().unwrap().reason(), "prelude_compile_error");
}
