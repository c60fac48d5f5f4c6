//! Models that fail.

use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, AgentBuilder, RunOptions, run, run_async};
use ptc_model::LlmRetry;
use ptc_model::{Callback, ErrorKind, LlmError, LlmRequest, Reply, Scripted};
use ptc_runtime::Cancel;
use std::time::Duration;

fn agent() -> AgentBuilder {
    Agent::builder().prompt("Count").llm_retry(LlmRetry { base_delay: 1, ..LlmRetry::default() })
}

fn with(model: &Scripted) -> RunOptions {
    RunOptions::new().llm(LlmRef::client(model.clone()))
}

#[test]
fn too_many_requests_and_then_an_answer() {
    let busy = LlmError::new(ErrorKind::RateLimit, "busy").retry_after(Duration::from_millis(1));
    let model = Scripted::new([Reply::from(busy), "(return 1)".into()]);
    let step = run(&agent().build().unwrap(), &with(&model)).unwrap();
    assert_eq!((step.usage.turns, step.usage.llm_requests, step.usage.tree.turns), (1, 2, 1));
}

#[test]
fn a_model_that_stays_away_ends_the_mission_with_all_that_was_done() {
    let model = Scripted::new([Reply::from("(def kept 20)"), Reply::Hang]);
    let agent = agent().mission_timeout(Some(200)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "mission_timeout");
    assert_eq!((step.turns.len(), step.memory.len()), (2, 1));
}

#[test]
fn garbage_is_answered_and_costs_turns() {
    let garbage =
        ["\u{0}\u{1}\u{fffd}", "((((", "```clojure\n(+ 1\n```", "", "```\n```", "<clojure></clojure>"];
    let replies: Vec<String> =
        garbage.iter().map(|text| text.to_string()).chain(["(return 1)".into()]).collect();
    let model = Scripted::new(replies);
    let agent = agent().max_turns(10).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(step.usage.turns, 7);
    assert!(step.turns[..6].iter().all(|turn| !turn.success));
}

#[test]
fn a_callback_that_panics_is_an_error_of_the_model() {
    let model = LlmRef::client(Callback::blocking(|_: &LlmRequest| -> Result<String, LlmError> {
        panic!("out of ideas")
    }));
    let step = run(&agent().build().unwrap(), &RunOptions::new().llm(model)).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!(fail.reason, "llm_error");
    assert!(fail.message.contains("out of ideas"), "{}", fail.message);
    assert_eq!(fail.details["class"], "exception");
}

#[test]
fn a_cancelled_mission_ends_in_the_middle_of_a_request() {
    let model = Scripted::new([Reply::Hang]);
    let cancel = Cancel::new();
    let other = cancel.clone();
    let asked = model.clone();
    std::thread::spawn(move || {
        while asked.requests().is_empty() {
            std::thread::yield_now();
        }
        other.cancel();
    });
    let agent = agent().mission_timeout(None).build().unwrap();
    let step = run(&agent, &with(&model).cancel(&cancel)).unwrap_err();
    assert_eq!(step.reason(), "cancelled");
}

#[test]
fn a_program_without_end_stops_when_the_mission_does() {
    let model = Scripted::new(["(loop [i 0] (recur (inc i)))"]);
    let agent = agent().timeout(3_600_000).mission_timeout(Some(100)).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!(step.reason(), "mission_timeout");
}

#[tokio::test]
async fn missions_can_be_waited_for_from_inside_of_a_runtime() {
    let model = Scripted::new(["(return 1)", "(return 2)"]);
    let agent = agent().build().unwrap();
    assert_eq!(run_async(&agent, &with(&model)).await.unwrap().get::<i64>().unwrap(), 1);
    // Inside a runtime, blocking on this thread would panic.
    assert_eq!(run(&agent, &with(&model)).unwrap().get::<i64>().unwrap(), 2);
}
