//! Private tools are called on behalf of an export that declares them, and by nobody else.

use super::common::*;
use ptc_runtime::{Attach, Failure, Grants, Outcome, ToolError, Tools};

const STORE: &str = "(ns store)
    (defn- low [id] (tool/secret {:id id}))
    (defn put [id] (low id))
    (defn put-all [ids] (map (fn [id] (tool/secret {:id id})) ids))
    (defn put-par [ids] (pmap (fn [id] (tool/secret {:id id})) ids))
    (defn put-par-direct [ids] (pmap tool/secret (map (fn [id] {:id id}) ids)))
    (defn with [f x] (f x))
    (defn escape [] (fn [id] (tool/secret {:id id})))
    (defn tool [] tool/secret)
    (defn helper [] low)
    (defn put-with [f id] (f id) (tool/secret {:id id}))";

fn tools() -> Tools {
    Tools::new().with("secret", |args| Ok(args.json()?["id"].clone())).with("open", |_| Ok("open")).private(
        "secret",
        |args| match args.json()?["id"].is_number() {
            true => Ok(()),
            false => Err(ToolError::new("`id` must be a number")),
        },
    )
}

fn run(program: &str) -> Result<Outcome, Failure> {
    let runtime = runtime().attach(&compiled(STORE), &Attach::to(&tools()))?;
    runtime.eval(program, &Grants::new(), &tools())
}

#[test]
fn exports_that_declare_it_may_call_it() {
    for (program, wanted) in [
        ("(store/put 7)", "7"),
        ("(store/put-all [1 2])", "[1 2]"),
        ("(store/put-par [1 2])", "[1 2]"),
        ("(store/put-par-direct [1 2])", "[1 2]"),
        ("(map store/put [1 2])", "[1 2]"),
        ("(pmap store/put [1 2])", "[1 2]"),
        ("(store/with (fn [x] (store/put x)) 3)", "3"),
    ] {
        assert_eq!(run(program).unwrap().print().unwrap(), wanted, "{program}");
    }
}

#[test]
fn nobody_else_may() {
    for program in [
        "((store/escape) 7)",
        "(map (store/escape) [7])",
        "(pmap (store/escape) [7])",
        "((store/tool) {:id 7})",
        "(map (store/tool) [{:id 7}])",
        "(pmap (store/tool) [{:id 7}])",
        "((store/helper) 7)",
        "(store/with (store/tool) {:id 7})",
        "(store/with (fn [x] ((store/tool) {:id x})) 7)",
        "(let [t (store/tool)] (store/put-with (fn [x] (t {:id x})) 7))",
        "(def kept (store/escape)) (kept 7)",
        "((:f {:f (store/escape)}) 7)",
    ] {
        let failure = run(program).expect_err(program);
        let reason = failure.reason();
        assert!(matches!(reason, "private_tool_unauthorized" | "pmap_error"), "{program}: {failure}");
        assert!(failure.to_string().contains("may only be called by a prelude"), "{program}: {failure}");
    }
}

#[test]
fn a_program_cannot_name_it() {
    let failure = run("(println 1) (tool/secret {:id 1})").unwrap_err();
    assert_eq!(failure.reason(), "private_tool_unauthorized");
    assert!(failure.prints.is_empty());
    // It does not show up as something one might have meant either.
    let failure = run("(tool/secre {:id 1})").unwrap_err();
    assert_eq!(failure.reason(), "unknown_tool");
    assert!(!failure.to_string().contains("secret"), "{failure}");
}

#[test]
fn arguments_are_checked_first() {
    let failure = run("(store/put \"x\")").unwrap_err();
    assert_eq!(failure.reason(), "private_tool_args_error");
    assert!(failure.diagnostic().message.contains("`id` must be a number"), "{failure}");
}

#[test]
fn the_async_driver_asks_too() {
    let runtime = runtime().attach(&compiled(STORE), &Attach::to(&tools())).unwrap();
    let eval = |program: &'static str| {
        futures_executor::block_on(runtime.eval_async(program, &Grants::new(), &tools()))
    };
    assert_eq!(eval("(store/put 1)").unwrap().print().unwrap(), "1");
    assert_eq!(eval("((store/escape) 1)").unwrap_err().reason(), "private_tool_unauthorized");
}

#[test]
fn a_function_kept_from_an_earlier_turn_has_no_authority() {
    let tools = tools();
    let runtime = runtime().attach(&compiled(STORE), &Attach::to(&tools)).unwrap();
    let mut session = runtime.session().with_tools(tools);
    session.eval("(def f (store/escape)) (def t (store/tool))").unwrap();
    assert_eq!(session.eval("(f 1)").unwrap_err().reason(), "private_tool_unauthorized");
    assert_eq!(session.eval("(store/with t {:id 1})").unwrap_err().reason(), "private_tool_unauthorized");
    assert_eq!(session.eval("(store/put 1)").unwrap().print().unwrap(), "1");
}
