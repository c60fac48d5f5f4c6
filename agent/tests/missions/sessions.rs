//! Sessions that a host drives itself: the machinery below missions.

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
    // Another library for one program, or another runtime, is an error.
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

mod steps {
    //! The same as steps, each attempt recorded as a turn.

    use super::runtime;
    use ptc_agent::session::{EvalOptions, Session};
    use ptc_agent::trace::{Analyzer, Kind, with_trace};
    use ptc_runtime::{Grants, Limits, Tools};
    use serde_json::json;

    #[test]
    fn a_session_is_a_value() {
        let start = Session::new(runtime().session());
        let (step, one) = start.eval("(def n 1)", &EvalOptions::new());
        assert_eq!(step.unwrap().usage.turns, 1);
        let (failed, same) = one.eval("(def n 2) (def m 3) (+ n nil)", &EvalOptions::new());
        assert_eq!(failed.unwrap_err().reason(), "eval_error");
        assert_eq!((same.turn(), same.attempts()), (1, 2));
        assert_eq!(same.memory().keys().collect::<Vec<_>>(), ["n"]);
        let (step, two) = same.eval("(inc n)", &EvalOptions::new());
        assert_eq!(step.unwrap().get::<i64>().unwrap(), 2);
        assert_eq!((two.turn(), two.attempts(), two.history().len()), (2, 3, 2));
        assert_eq!((start.turn(), start.memory().len(), one.attempts()), (0, 0, 1));
        assert_eq!(start.session_id(), two.session_id());
    }

    #[test]
    fn options_of_one_program_are_gone_after_it() {
        let tools = Tools::new().with("who", |_| Ok("session"));
        let session = Session::new(runtime().session().with_tools(tools));
        let limits = Limits { fuel: 50, ..*session.inner().runtime().current_limits() };
        let (out, session) = session.eval("(reduce + (range 1000))", &EvalOptions::new().limits(limits));
        assert_eq!(out.unwrap_err().reason(), "timeout");
        let other = EvalOptions::new()
            .tools(Tools::new().with("who", |_| Ok("eval")))
            .grants(Grants::new().json("n", "5").unwrap());
        let (step, session) = session.eval("[(tool/who {}) data/n]", &other);
        assert_eq!(step.unwrap().json().unwrap(), json!(["eval", 5]));
        let (gone, session) = session.eval("data/n", &EvalOptions::new());
        assert!(gone.unwrap_err().fail.unwrap().message.contains("`data/n` was not granted"));
        let (step, _) = session.eval("[(tool/who {}) (reduce + (range 1000))]", &EvalOptions::new());
        assert_eq!(step.unwrap().json().unwrap(), json!(["session", 499_500]));
    }

    #[test]
    fn history_is_as_deep_as_the_host_says() {
        let mut session = Session::new(runtime().session().history_depth(5));
        for n in 0..7 {
            session = session.eval(&n.to_string(), &EvalOptions::new()).1;
        }
        assert_eq!(session.history().len(), 5);
        let (step, _) = session.eval("[*1 *2 *3]", &EvalOptions::new());
        assert_eq!(step.unwrap().json().unwrap(), json!([6, 5, 4]));
    }

    #[test]
    fn every_attempt_is_a_turn_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        with_trace(&path, |tracer| {
            let tools = Tools::new().with("rows", |_| Ok(vec![1, 2]));
            let session = Session::new(runtime().session().with_tools(tools)).id("s-1").tracer(&tracer);
            let (_, session) = session.eval("(def rows (tool/rows {:of \"x\"}))", &EvalOptions::new());
            let (_, session) = session.eval("(+ 1", &EvalOptions::new());
            let (step, _) = session.eval("(println :ok) (count rows)", &EvalOptions::new());
            assert_eq!(step.unwrap().trace_id.len(), 32);
        })
        .unwrap();
        let trace = Analyzer::load(&path).unwrap();
        let turns: Vec<_> = trace.events().iter().filter(|event| event.kind == Kind::Turn).collect();
        let of = |at: usize, key: &str| turns[at].data[key].clone();
        assert_eq!(turns.len(), 3);
        assert_eq!((of(0, "driver"), of(0, "session_id")), (json!("session"), json!("s-1")));
        assert_eq!(of(0, "memory_diff"), json!({"changed_keys": ["rows"], "values": {"rows": "[1 2]"}}));
        assert_eq!(of(0, "tool_calls")[0]["outcome"], "ok");
        assert_eq!((of(1, "committed"), of(1, "attempt")), (json!(false), json!(2)));
        assert_eq!(of(1, "fail")["reason"], "parse_error");
        assert_eq!((of(2, "prints"), of(2, "result_preview")), (json!([":ok"]), json!("2")));
        assert_eq!((turns[1].turn, turns[2].turn), (Some(1), Some(2)));
        assert_eq!(trace.sessions()[0].session_id, "s-1");
    }
}
