//! Earlier results that were not kept: no program gets another value in their place.

use ptc_runtime::{Grants, Remembered, Runtime, Session, Step, ToolAnswer, Tools};

fn session() -> Session {
    let tools = Tools::new().with("one", |_| Ok(1));
    let mut session = Runtime::with_core(ptc_preludes::core()).unwrap().with_tools(tools).session();
    session.eval("[1 2 3]").unwrap();
    session.remember(Remembered::Gap("it was too large".into()));
    session
}

const TOLD: &str = "`*1` was not kept: it was too large";

#[test]
fn reading_one_is_an_error_wherever_it_is_read() {
    let session = session();
    for program in [
        "(count *1)",
        "*1",
        "(pmap (fn [_] (count *1)) [1 2])",
        "(let [f (fn [] [*1])] (f))",
        "(reduce + (map count [*2 *1]))",
        "(if *1 1 2)",
    ] {
        let failure = session.clone().eval(program).unwrap_err();
        assert!(failure.diagnostic().message.contains(TOLD), "{program}: {failure}");
        let reason = if program.contains("pmap") { "pmap_error" } else { "unbound_var" };
        assert_eq!(failure.reason(), reason, "{program}");
    }
    // Programs that do not read it are unaffected, and it moves on with the others.
    let mut session = session;
    assert_eq!(session.eval("(count *2)").unwrap().print().unwrap(), "3");
    assert_eq!(session.eval("[*1 *3]").unwrap().print().unwrap(), "[3 [1 2 3]]");
    let later = session.eval("(first *3)").unwrap_err();
    assert!(later.diagnostic().message.contains("`*3` was not kept"), "{later}");
    // A program may catch the error.
    let caught = session.eval("(try (count *3) (catch Exception e (ex-message e)))");
    assert!(caught.unwrap().print().unwrap().contains("`*3` was not kept"));
}

#[test]
fn a_run_that_was_written_to_bytes_knows_of_it_too() {
    let session = session();
    for program in ["(do (tool/one {}) (count *1))", "(pmap (fn [_] (tool/one {}) (count *1)) [1])"] {
        let mut run = session.start(program).unwrap();
        let Step::NeedsTools(calls) = run.step() else { panic!("it calls a tool") };
        let mut run = session.runtime().load(&run.snapshot().unwrap(), &Grants::new()).unwrap();
        run.answer(&calls[0].id, ToolAnswer::from_serialize(&1)).unwrap();
        let Step::Done(Err(failure)) = run.step() else { panic!("it reads what is not there") };
        assert!(failure.diagnostic().message.contains(TOLD), "{failure}");
    }
}
