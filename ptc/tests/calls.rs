//! Programs called with Rust values: typed in and out, with tools, limits and errors.

use ptc::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Line {
    item: String,
    unit_price: i64,
}

fn line(item: &str, unit_price: i64) -> Line {
    Line { item: item.to_string(), unit_price }
}

#[test]
fn a_call_is_typed_in_and_out() -> Result<(), Failure> {
    let engine = Engine::new()?;
    let program = engine.compile("{:item (str data/item \"!\") :unit-price (inc data/unit_price)}")?;
    assert_eq!(program.call::<Line>(&line("tea", 3))?, line("tea!", 4));
    assert_eq!(
        program.call::<Line>(&HashMap::from([("item", "a"), ("unit_price", "b")])).unwrap_err().reason(),
        "type_error"
    );
    // An input of any type is `data/row` as a whole.
    assert_eq!(engine.compile("(reduce + data/row)")?.call::<i64>(&[1, 2, 3])?, 6);
    assert_eq!(engine.compile("(count data/row)")?.call::<i64>("four")?, 4);
    assert_eq!(engine.compile("(* 6 7)")?.call::<i64>(&())?, 42);
    Ok(())
}

#[test]
fn a_result_of_another_type_is_a_failure() -> Result<(), Failure> {
    let engine = Engine::new()?;
    for failure in [
        engine.eval::<i64>("\"text\"").unwrap_err(),
        engine.compile("\"text\"")?.call::<i64>(&()).unwrap_err(),
        engine.compile("\"text\"")?.evaluator().call::<i64>(&()).unwrap_err(),
    ] {
        assert_eq!(failure.reason(), "type_error");
        assert!(failure.to_string().contains("invalid type: string"), "{failure}");
    }
    Ok(())
}

#[test]
fn errors_have_a_place_and_a_hint() -> Result<(), Failure> {
    let engine = Engine::new()?.data("orders", &[1, 2])?;
    let failure = engine.compile("(count\n  (fliter odd? data/orders))").expect_err("it does not compile");
    assert_eq!(failure.reason(), "unbound_var");
    assert_eq!(failure.diagnostic().hint.as_deref(), Some("did you mean `filter`?"));
    assert!(failure.to_string().contains("(line 2, column 4)"), "{failure}");
    let failure = engine.run("(count data/ordres)").unwrap_err();
    assert_eq!(failure.diagnostic().hint.as_deref(), Some("did you mean `data/orders`?"));
    let program = engine.compile("(println \"here\") (+ 1 (:price data/row))")?;
    let failure = program.call::<i64>(&HashMap::<&str, i64>::new()).unwrap_err();
    assert_eq!((failure.reason(), &failure.prints[..]), ("type_error", &["here".to_string()][..]));
    assert!(failure.to_string().contains("(line 1, column 18)"), "{failure}");
    Ok(())
}

#[test]
fn members_of_an_input_that_are_missing_are_named() -> Result<(), Failure> {
    let program = Engine::new()?.compile("data/unit_prise")?;
    let failure = program.call::<i64>(&line("tea", 3)).unwrap_err();
    assert_eq!(failure.reason(), "unbound_var");
    assert_eq!(failure.diagnostic().hint.as_deref(), Some("did you mean `data/unit_price`?"));
    Ok(())
}

#[test]
fn tools_are_given_once_and_are_everywhere() -> Result<(), Failure> {
    let engine = Engine::new()?
        .tool("price", |of: Line| match &*of.item {
            "tea" => Ok(of.unit_price),
            other => Err(ToolError::new(format!("no {other}"))),
        })
        .tool_async("twice", |args: HashMap<String, i64>| async move { Ok(2 * args["n"]) });
    let source = "(tool/twice {:n (tool/price {:item \"tea\" :unit_price 3})})";
    let program = engine.compile(source)?;
    assert_eq!(engine.eval::<i64>(source)?, 6);
    assert_eq!(program.call::<i64>(&())?, 6);
    assert_eq!(program.evaluator().call::<i64>(&())?, 6);
    assert_eq!(program.start(&())?.finish()?.get::<i64>()?, 6);
    assert_eq!(engine.session().eval(source)?.get::<i64>()?, 6);
    assert_eq!(pollster::block_on(program.call_async::<i64>(&()))?, 6);
    assert_eq!(pollster::block_on(engine.eval_async::<i64>(source))?, 6);
    let prelude = ptc::Prelude::compile(engine.runtime(), &format!("(ns shop) (defn tea [] {source})"));
    let shop = engine.clone().attach(&prelude.expect("a prelude"))?;
    assert_eq!(shop.eval::<i64>("(shop/tea)")?, 6);

    assert_eq!(engine.compile("(tool/prize {})").expect_err("no such tool").reason(), "unknown_tool");
    let failure = engine.run("(tool/price {:item \"pot\" :unit_price 1})").unwrap_err();
    assert!(failure.to_string().contains("`tool/price` failed: no pot"), "{failure}");
    let failure = engine.run("(tool/price {:item \"pot\"})").unwrap_err();
    assert!(failure.to_string().contains("bad arguments: missing field `unit_price`"), "{failure}");
    Ok(())
}

#[test]
fn limits_belong_to_engines_programs_and_sessions() -> Result<(), Failure> {
    let little = Limits { fuel: 1000, ..Limits::default() };
    let source = "(reduce + (range 10000))";
    let engine = Engine::new()?;
    let program = engine.compile(source)?;
    let mut session = engine.session();
    assert_eq!(session.eval(source)?.get::<i64>()?, program.call::<i64>(&())?);
    session.set_limits(little);
    for failure in [
        engine.clone().limits(little).run(source).unwrap_err(),
        program.limits(little).call::<i64>(&()).unwrap_err(),
        session.eval(source).unwrap_err(),
    ] {
        assert_eq!(failure.reason(), "fuel_exceeded");
    }
    Ok(())
}

#[test]
fn another_thread_cancels() -> Result<(), Failure> {
    let (engine, forever) = (Engine::new()?, "(loop [i 0] (recur (inc i)))");
    let ended = |cancel: &Cancel, run: &mut dyn FnMut() -> Failure| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                cancel.cancel();
            });
            assert_eq!(run().reason(), "cancelled");
        });
    };
    let cancel = Cancel::new();
    let cancellable = engine.clone().cancel(&cancel);
    ended(&cancel, &mut || cancellable.run(forever).unwrap_err());
    let cancel = Cancel::new();
    let mut session = engine.clone().cancel(&cancel).session();
    ended(&cancel, &mut || session.eval(forever).unwrap_err());
    let cancel = Cancel::new();
    let program = engine.compile(forever)?.cancel(&cancel);
    ended(&cancel, &mut || pollster::block_on(program.call_async::<()>(&())).unwrap_err());
    // Other programs are not affected.
    assert_eq!(engine.eval::<i64>("(inc 1)")?, 2);
    Ok(())
}

#[test]
fn a_suspended_run_goes_on_from_bytes() -> Result<(), Failure> {
    let source = "(str data/item \": \" (pmap (fn [n] (tool/price {:n n})) [1 2]) data/currency)";
    let engine = || Engine::new()?.data("currency", "EUR");
    let mut run = engine()?.compile(source)?.start(&line("tea", 3))?;
    let ptc::Step::NeedsTools(calls) = run.step() else { panic!("it has no tools") };
    assert_eq!(calls.len(), 2);
    let bytes = run.snapshot()?;
    drop(run);

    // The bytes hold the input but not the engine's data, so another process needs the same engine.
    let engine = engine()?;
    let mut run = engine.load(&bytes)?;
    for (call, price) in calls.iter().zip([line("a", 1), line("b", 2)]) {
        run.resume(&call.id, &price.unit_price)?;
    }
    assert_eq!(run.finish()?.get::<String>()?, "tea: [1 2]EUR");
    let mut damaged = bytes.clone();
    damaged.truncate(bytes.len() / 2);
    assert_eq!(engine.load(&damaged).expect_err("it is damaged").reason(), "snapshot_invalid");
    Ok(())
}
