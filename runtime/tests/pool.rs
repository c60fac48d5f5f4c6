//! Memory shared by many runs.

use ptc_runtime::json::freeze_json;
use ptc_runtime::{Failure, Limits, Pool, Run, Runtime, Step, ToolAnswer, Tools};
use std::sync::Arc;

const MEMORY: u64 = 1 << 20;

fn runtime() -> Runtime {
    let tools = Tools::new().with("get", |_| Ok(0));
    let limits = Limits { memory_bytes: MEMORY, ..Limits::default() };
    Runtime::with_core(ptc_preludes::core()).unwrap().limits(limits).with_tools(tools)
}

fn start(runtime: &Runtime, pool: &Arc<Pool>, source: &str) -> Run {
    let mut run = runtime.start(&runtime.compile(source).unwrap()).unwrap();
    run.reserve_from(pool);
    run
}

fn failed(step: Step) -> Failure {
    match step {
        Step::Done(Err(failure)) => failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_run_that_asks_for_too_much_ends_and_the_others_go_on() {
    let (runtime, pool) = (runtime(), Pool::new(3 * MEMORY));
    // Each run waits with half a megabyte of its own.
    let source = "(let [own (mapv inc (range 30000))] (tool/get {}) (count own))";
    let mut waiting = Vec::new();
    let failure = loop {
        let mut run = start(&runtime, &pool, source);
        match run.step() {
            Step::NeedsTools(calls) => waiting.push((run, calls)),
            ended => break failed(ended),
        }
    };
    assert_eq!(failure.reason(), "memory_exceeded", "{failure}");
    assert!(failure.to_string().contains("all programs together"), "{failure}");
    assert!((3..=5).contains(&waiting.len()), "{} wait", waiting.len());
    assert!(pool.used() <= 3 * MEMORY);
    for (mut run, calls) in waiting {
        run.resume(&calls[0].id, &1).unwrap();
        assert_eq!(run.finish().unwrap().print().unwrap(), "30000");
    }
    assert_eq!(pool.used(), 0, "all of it is given back");
}

#[test]
fn programs_that_wait_take_what_they_hold() {
    let (runtime, pool) = (runtime(), Pool::new(64 << 20));
    let waiting: Vec<Run> = (0..1_000)
        .map(|_| {
            let mut run = start(&runtime, &pool, "(tool/get {:id 1})");
            assert!(matches!(run.step(), Step::NeedsTools(_)));
            run
        })
        .collect();
    assert!(pool.used() <= 1_000 * (50 << 10), "{} bytes", pool.used());
    drop(waiting);
    assert_eq!(pool.used(), 0);
}

#[test]
fn answers_are_reserved_when_they_come_in() {
    let (runtime, pool) = (runtime(), Pool::new(2 * MEMORY));
    let mut run = start(&runtime, &pool, "(count (tool/get {}))");
    let Step::NeedsTools(calls) = run.step() else { panic!() };
    let large = freeze_json(format!("[{}1]", "1,".repeat(200_000)), u64::MAX).unwrap();
    run.answer(&calls[0].id, Ok(ToolAnswer::Frozen(large))).unwrap();
    assert_eq!(failed(run.step()).reason(), "memory_exceeded");
}
