//! Models that are missing, fail, or panic.

use crate::kit::{agent, at_once, value, with};
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{RunOptions, run};
use ptc_model::LlmRetry;
use ptc_model::{ErrorKind, LlmError, LlmRequest, Reply, Scripted};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn reserved_names_keep_a_mission_from_starting() {
    for name in ["return", "fail", "lisp_eval"] {
        let model = Scripted::new(["(return 1)"]);
        let options = with(&model).changing(move |agent| agent.tool(Tool::new(name, |_, _| Ok(1))));
        let step = run("Count", &options).unwrap_err();
        assert_eq!((step.reason(), model.requests().len()), ("reserved_tool_name", 0), "{name}");
        assert!(step.fail.unwrap().message.contains(name));
    }
}

#[test]
fn a_model_that_does_not_exist_is_not_asked_again() {
    let step = run("Count", &RunOptions::new().llm("no-such-model")).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!(fail.reason, "model_not_found");
    assert!(fail.message.contains("no-such-model"), "{fail}");
    assert_eq!((step.usage.turns, step.usage.llm_requests), (0, 0));
    assert_eq!(run("Count", &RunOptions::new()).unwrap_err().reason(), "llm_required");
}

#[test]
fn a_model_that_fails_twice_and_then_answers() {
    let model = Scripted::new([
        Reply::from(LlmError::from("down")),
        LlmError::from("still down").into(),
        "(return 1)".into(),
    ]);
    let step = run(&agent("Count").llm_retry(at_once()).build().unwrap(), &with(&model)).unwrap();
    assert_eq!((step.usage.turns, step.usage.llm_requests, step.usage.tree.turns), (1, 3, 1));
}

#[test]
fn a_model_that_keeps_failing() {
    let down = || Reply::from(LlmError::new(ErrorKind::RateLimit, "slow down"));
    let model = Scripted::new([down(), down(), down(), down()]);
    let step = run(&agent("Count").llm_retry(at_once()).build().unwrap(), &with(&model)).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!((fail.reason.as_str(), model.left()), ("llm_error", 1));
    assert_eq!((&fail.details["class"], &fail.details["retries"]), (&json!("rate_limit"), &json!(2)));
    assert_eq!(step.usage.llm_requests, 3);
}

#[test]
fn only_errors_that_were_named_are_tried_again() {
    let model =
        Scripted::new([Reply::from(LlmError::new(ErrorKind::ServerError, "500")), "(return 1)".into()]);
    let rule = LlmRetry { retryable_errors: Some(vec!["rate_limit".to_string()]), ..at_once() };
    let step = run(&agent("Count").llm_retry(rule).build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!((step.reason(), model.left()), ("llm_error", 1));
}

#[test]
fn a_callback_that_panics() {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let moody = |_: &LlmRequest| match CALLS.fetch_add(1, Ordering::SeqCst) {
        0 => panic!("no connection"),
        _ => Ok("(return 1)"),
    };
    let agent = agent("Count").llm_retry(at_once()).build().unwrap();
    let step = run(&agent, &RunOptions::new().llm(LlmRef::from(moody))).unwrap();
    assert_eq!((value(&step), step.usage.llm_requests), (json!(1), 2));

    let broken = |_: &LlmRequest| -> Result<String, LlmError> { panic!("no connection") };
    let step = run(&agent, &RunOptions::new().llm(LlmRef::from(broken))).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!((fail.reason.as_str(), &fail.details["class"]), ("llm_error", &json!("exception")));
    assert!(fail.message.contains("no connection"), "{fail}");
}

#[test]
fn what_goes_wrong_in_a_program_costs_turns_and_no_retries() {
    let model = Scripted::new(["(+ 1", "(nope)", "(return \"x\")", "(return 1)"]);
    let agent = agent("Count").signature(":int").llm_retry(LlmRetry { max_attempts: 1, ..at_once() });
    let step = run(&agent.build().unwrap(), &with(&model)).unwrap();
    assert_eq!((step.usage.turns, step.usage.llm_requests), (4, 4));
}

#[test]
fn images_of_a_conversation_reach_the_model_in_every_turn() {
    use ptc_model::{Message, Part};
    let receipt = Message::user("My receipt").part(Part::image("image/png", b"a picture"));
    let model = Scripted::new(["(+ 1 1)", "(return 2)"]);
    let options = RunOptions { history: vec![receipt.clone()], ..with(&model) };
    run(&agent("What was paid?").build().unwrap(), &options).unwrap();
    for request in model.requests() {
        assert_eq!((request.messages[0].parts.len(), &request.messages[0]), (1, &receipt));
    }
}
