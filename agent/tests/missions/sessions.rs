//! Sessions that a host drives itself, below missions.

use ptc_runtime::{Prelude, PreludeStore, Runtime, Session};
use serde_json::json;

fn runtime() -> Runtime {
    Runtime::with_core(ptc_preludes::core()).unwrap()
}

#[test]
fn an_error_leaves_everything_as_it_was() {
    let mut session = runtime().session();
    session.eval("(def n 1)").unwrap();
    session.eval("(inc n)").unwrap();
    for bad in ["(def n 2) (+ 1 nil)", "(def m 3) (fail :no)", "(+ 1", "(nope)"] {
        assert!(session.eval(bad).is_err(), "{bad}");
        assert_eq!(session.defined().collect::<Vec<_>>(), ["n"], "{bad}");
    }
    assert_eq!(session.eval("[n *1]").unwrap().print().unwrap(), "[1 2]");
}

#[test]
fn history_reaches_three_results_back() {
    let mut session = runtime().session();
    for n in 1..=5 {
        session.eval(&n.to_string()).unwrap();
    }
    assert_eq!(session.eval("[*1 *2 *3]").unwrap().print().unwrap(), "[5 4 3]");
    assert_eq!(session.history().len(), 3);
}

#[test]
fn libraries_are_fixed_when_a_session_starts() {
    let runtime = runtime();
    let store = PreludeStore::new(&runtime);
    store.write("shop", "(ns shop) (def rate 19)", json!({})).unwrap();
    let mut session = Session::builder(&runtime).store(&store).preludes(["shop"]).start().unwrap();
    store.write("shop", "(ns shop) (def rate 7)", json!({})).unwrap();
    assert_eq!(session.eval("shop/rate").unwrap().print().unwrap(), "19");
    assert_eq!((session.frozen()[0].id.as_str(), session.frozen()[0].version), ("shop", 1));
    // Evaluating with another library, or switching to another runtime, is an error.
    let other = Prelude::compile(&runtime, "(ns other) (def x 1)").unwrap();
    let error = session.eval_with("other/x", &other).err().unwrap();
    assert!(error.diagnostic().message.contains("shop@1"), "{error}");
    assert!(session.set_runtime(runtime).is_err());
    assert_eq!(session.eval("shop/rate").unwrap().print().unwrap(), "19");
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut session = runtime().session();
    session.eval("(def n 1)").unwrap();
    let mut other = session.clone();
    other.eval("(def n 2)").unwrap();
    assert_eq!(session.eval("n").unwrap().print().unwrap(), "1");
    assert_eq!(other.eval("n").unwrap().print().unwrap(), "2");
}
