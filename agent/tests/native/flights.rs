//! Concurrent equal calls of a cached tool: one call, whose answer all callers get.

use crate::{answers, calls, combined, eval, with};
use ptc_agent::replay::RecordedMission;
use ptc_agent::tools::{Expose, Tool, ToolCtx};
use ptc_agent::trace::{self, Event, Tracer};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::Scripted;
use ptc_runtime::{ToolArgs, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// A tool that answers once this many calls of it have begun, with a counter of its real runs.
struct Gate {
    callers: AtomicUsize,
    ran: AtomicUsize,
    open: Semaphore,
}

impl Gate {
    fn new() -> Arc<Gate> {
        Arc::new(Gate { callers: AtomicUsize::new(0), ran: AtomicUsize::new(0), open: Semaphore::new(0) })
    }

    fn ran(&self) -> usize {
        self.ran.load(Ordering::SeqCst)
    }

    /// Returns a tracer that opens the gate with the last of this many callers. The first has begun by then, and all
    /// others have joined it: nothing is awaited between the event and joining.
    fn tracer(self: &Arc<Gate>, callers: usize) -> Tracer {
        let gate = self.clone();
        let begun = move |_: &Event| {
            if gate.callers.fetch_add(1, Ordering::SeqCst) + 1 == callers {
                gate.open.add_permits(Semaphore::MAX_PERMITS / 2);
            }
        };
        Tracer::new().on("tool.start", begun).unwrap()
    }

    fn tool(self: &Arc<Gate>, answer: fn(usize) -> Result<Value, ToolError>) -> Tool {
        let gate = self.clone();
        let body = move |_: ToolArgs, _: ToolCtx| {
            let gate = gate.clone();
            async move {
                let ran = gate.ran.fetch_add(1, Ordering::SeqCst);
                let _open = gate.open.acquire().await.map_err(ToolError::new)?;
                answer(ran)
            }
        };
        Tool::new_async("load", body).expose(Expose::Both).cache(true)
    }
}

fn agent(tool: Tool) -> Agent {
    combined("Load").tool(tool).pmap_max_concurrency(Some(64)).max_turns(6).build().unwrap()
}

fn texts(step: ptc_agent::Step) -> Vec<Value> {
    answers(&step.messages.unwrap()).into_iter().map(|(_, answer)| answer).collect()
}

#[test]
fn s000_equal_calls_of_a_model_at_once_run_the_tool_once() {
    let gate = Gate::new();
    let model = Scripted::new([
        calls(&[
            ("a", "load", json!({"n": 1, "q": "x"})),
            ("b", "load", json!({"q": "x", "n": 1.0})),
            ("c", "load", json!({"n": 1, "q": "x"})),
        ]),
        eval("d", "(return (count (tool/load {:q \"x\" :n 1})))"),
        "done".into(),
    ]);
    let step =
        run(&agent(gate.tool(|_| Ok(json!([1, 2, 3])))), &with(&model).tracer(gate.tracer(3))).unwrap();
    assert_eq!(gate.ran(), 1);
    let cached: Vec<bool> = step.tool_calls.iter().map(|call| call.cached).collect();
    assert_eq!(cached, [false, true, true, true], "the last is that of the program");
    let answers = texts(step);
    assert!(
        answers[..3].iter().all(|answer| answer["result_count"] == 3 && answer["full_result_cached"] == true)
    );
    assert_eq!(answers[3]["result"], "user=> 3");
}

#[test]
fn equal_calls_in_branches_run_the_tool_once() {
    let gate = Gate::new();
    let program = "(return (frequencies (pmap (fn [i] (tool/load {:n (quot i 60)})) (range 61))))";
    let model = Scripted::new([eval("a", program), "done".into()]);
    let step = run(&agent(gate.tool(|_| Ok(json!(7)))), &with(&model).tracer(gate.tracer(61))).unwrap();
    assert_eq!(gate.ran(), 2, "once for each of two arguments");
    let calls = &step.turns[0].tool_calls;
    assert_eq!((calls.len(), calls.iter().filter(|call| call.cached).count()), (61, 59));
    assert_eq!(texts(step)[0]["result"], "user=> {7 61}");
}

#[test]
fn everybody_who_waits_gets_the_failure_and_nobody_keeps_it() {
    let gate = Gate::new();
    let program = "(return (frequencies (pmap (fn [i] (try (tool/load {}) (catch Exception e (ex-message e)))) (range 20))))";
    let model = Scripted::new([eval("a", program), eval("b", "(return (tool/load {}))"), "done".into()]);
    let tool =
        gate.tool(|ran| if ran == 0 { Err(ToolError::new("the disk is full")) } else { Ok(json!(ran)) });
    let step = run(&agent(tool), &with(&model).tracer(gate.tracer(20))).unwrap();
    assert_eq!(gate.ran(), 2);
    let calls = &step.turns[0].tool_calls;
    assert!(calls.len() == 20 && calls.iter().all(|call| call.error.is_some() && !call.cached), "{calls:?}");
    let answers = texts(step);
    assert!(answers[0]["result"].as_str().unwrap().contains("the disk is full\" 20"), "{}", answers[0]);
    assert_eq!(answers[1]["result"], "user=> 1");
}

#[test]
fn an_answer_that_is_too_large_to_keep_is_shared_all_the_same() {
    let gate = Gate::new();
    let model = Scripted::new([
        eval("a", "(return (count (pmap (fn [_] (tool/load {})) (range 9))))"),
        eval("b", "(return (count (tool/load {})))"),
        "done".into(),
    ]);
    let tool = gate.tool(|_| Ok(json!("x".repeat(50_000)))).max_cached_bytes(100);
    run(&agent(tool), &with(&model).tracer(gate.tracer(9))).unwrap();
    assert_eq!(gate.ran(), 2);
}

#[test]
fn calls_that_may_not_share_run_each_for_themselves() {
    let gate = Gate::new();
    let model = Scripted::new([calls(&[("a", "load", json!({})), ("b", "load", json!({}))]), "done".into()]);
    let agent = agent(gate.tool(|_| Ok(json!(1))).cache(false));
    run(&agent, &with(&model).tracer(gate.tracer(2))).unwrap();
    assert_eq!(gate.ran(), 2);
}

#[test]
fn shared_calls_are_played_again_from_a_trace() {
    type Answer = fn(usize) -> Result<Value, ToolError>;
    let answers: [Answer; 2] = [|_| Ok(json!([1, 2])), |_| Err(ToolError::new("no"))];
    for answer in answers {
        let gate = Gate::new();
        let program = "(frequencies (pmap (fn [i] (try (tool/load {}) (catch Exception e (ex-message e)))) (range 12)))";
        let model = Scripted::new([eval("a", program), "done".into()]);
        let (tracer, memory) = trace::start_memory_sink();
        let begun = gate.clone();
        let opens = move |_: &Event| {
            if begun.callers.fetch_add(1, Ordering::SeqCst) + 1 == 12 {
                begun.open.add_permits(100);
            }
        };
        let agent = agent(gate.tool(answer));
        run(&agent, &with(&model).tracer(tracer.on("tool.start", opens).unwrap())).unwrap();
        assert_eq!(gate.ran(), 1);
        let recorded = RecordedMission::of(&trace::Analyzer::of(memory.events())).unwrap();
        let replayed = recorded.run(&agent, &RunOptions::new());
        assert!(replayed.difference.is_none(), "{:?}", replayed.difference);
    }
}
