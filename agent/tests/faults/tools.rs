//! Tools that fail.

use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions, Step, run};
use ptc_model::Scripted;
use ptc_runtime::ToolError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

fn run_with(tool: Tool, replies: &[&str]) -> (Result<Step, Box<Step>>, Scripted) {
    // More than any answer here needs.
    let agent = Agent::builder().prompt("Do").tool(tool).max_granted(Some(400 << 20));
    // A hundred megabytes take time on a busy machine.
    let agent = agent.timeout(60_000).build().unwrap();
    let model = Scripted::new(replies.iter().map(|text| text.to_string()));
    (run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone()))), model)
}

#[test]
fn a_tool_that_panics_is_an_error_of_the_program() {
    let blocking = Tool::new("boom", |_, _| -> Result<i32, ToolError> { panic!("no legs") });
    let waiting = Tool::new_async("boom", |_, _| async { Err::<i32, _>(panic_now()) });
    for tool in [blocking, waiting] {
        let (step, model) = run_with(tool, &["(tool/boom {})", "(return :recovered)"]);
        let step = step.unwrap();
        assert_eq!(step.get::<String>().unwrap(), "recovered");
        let told = &model.requests()[1].messages[2].content;
        assert!(told.contains("tool_error") && told.contains("no legs"), "{told}");
    }
}

fn panic_now() -> ToolError {
    panic!("no legs")
}

#[test]
fn a_tool_that_hangs_is_given_up_at_its_own_limit() {
    let hangs = Tool::new("slow", |_, _| -> Result<i32, ToolError> {
        std::thread::sleep(Duration::from_secs(3600));
        Ok(1)
    });
    let (step, model) = run_with(hangs.timeout(50), &["(tool/slow {})", "(return 1)"]);
    assert!(step.is_ok());
    let told = &model.requests()[1].messages[2].content;
    assert!(told.contains("no result within 50 ms"), "{told}");
}

#[test]
fn a_tool_that_hangs_costs_the_program_its_time_and_not_the_mission() {
    let hangs = Tool::new_async("slow", |_, _| std::future::pending::<Result<i32, ToolError>>());
    let agent = Agent::builder().prompt("Do").tool(hangs).timeout(50).build().unwrap();
    let model = Scripted::new(["(tool/slow {})", "(return 1)"]);
    let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model.clone()))).unwrap();
    assert_eq!(
        step.turns[0].tool_calls[0].error.as_deref().map(|e| e.contains("ran out of time")),
        Some(true)
    );
    assert!(model.requests()[1].messages[2].content.contains("The program failed (timeout)"));
}

#[test]
fn a_tool_that_hangs_past_the_mission_is_left_behind() {
    let hangs = Tool::new("slow", |_, _| -> Result<i32, ToolError> {
        std::thread::sleep(Duration::from_secs(3600));
        Ok(1)
    });
    let agent = Agent::builder()
        .prompt("Do")
        .tool(hangs)
        .timeout(3_600_000)
        .mission_timeout(Some(100))
        .build()
        .unwrap();
    let model = Scripted::new(["(def kept 1)", "(tool/slow {})"]);
    let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model))).unwrap_err();
    assert_eq!((step.reason(), step.turns.len(), step.memory.len()), ("mission_timeout", 2, 1));
}

#[test]
fn a_hundred_megabytes_are_counted_and_not_shown() {
    let large = Tool::new("large", |_, _| Ok("x".repeat(100 << 20)));
    let (step, model) = run_with(large, &["(count (tool/large {}))", "(return data/result)"]);
    let step = step.unwrap_or_else(|step| panic!("{:?}", step.fail));
    assert_eq!(step.get::<u64>().ok(), Some(100 << 20), "{:?}", step.turns[0].result);
    let record = &step.turns[0].tool_calls[0];
    assert!(record.is_cut && record.result.to_string().len() < 20_000);
    assert!(model.requests().iter().all(|request| serde_json::to_string(request).unwrap().len() < 100_000));
}

#[test]
fn calls_side_by_side_run_side_by_side() {
    // Each waits for all others: run one after the other, they would never end.
    let barrier = Arc::new(std::sync::Barrier::new(4));
    let together = Tool::new("meet", move |_, _| {
        barrier.wait();
        Ok(1)
    });
    let (step, _) = run_with(together, &["(return (reduce + (pmap (fn [_] (tool/meet {})) (range 4))))"]);
    assert_eq!(step.unwrap().get::<i64>().unwrap(), 4);
}

#[test]
fn a_call_made_before_is_answered_from_memory() {
    let called = Arc::new(AtomicU32::new(0));
    let count = called.clone();
    let tool = Tool::new("load", move |_, _| Ok(count.fetch_add(1, Ordering::Relaxed))).cache(true);
    let (step, _) = run_with(tool, &["(tool/load {:max-rows 1})", "(return (tool/load {:max_rows 1.0}))"]);
    let step = step.unwrap();
    assert_eq!((called.load(Ordering::Relaxed), step.tool_calls[0].cached), (1, true));
}
