//! Outcomes of turns, and failure reasons of missions: all of them.

use crate::kit::{agent, at_once, failure, told, value, with};
use ptc_agent::definition::CompletionMode;
use ptc_agent::protocol::MultipleBlocks;
use ptc_agent::tools::Tool;
use ptc_agent::{Agent, AgentBuilder, run};
use ptc_model::{LlmError, Reply, Scripted};
use serde_json::json;

/// Programs that fail, each with its reason.
const ERRORS: [(&str, &str); 9] = [
    ("(+ 1", "parse_error"),
    ("(no-such-function 1)", "analysis_error"),
    ("(let [x] x)", "analysis_error"),
    ("(+ 1 nil)", "eval_error"),
    ("(/ 1 0)", "eval_error"),
    ("(loop [n 0] (recur (inc n)))", "timeout"),
    ("(count (mapv str (range 1000000)))", "memory_exceeded"),
    ("(tool/nope {})", "tool_not_found"),
    ("(first 7)", "eval_error"),
];

fn small(builder: AgentBuilder) -> Agent {
    builder.timeout(100).max_heap(Some(2_000_000)).build().unwrap()
}

#[test]
fn errors_of_programs_are_told_and_the_mission_goes_on() {
    for (program, reason) in ERRORS {
        let model = Scripted::new(["(def kept 7)", program, "(return [kept (:reason data/fail)])"]);
        let step = run(&small(agent("Try")), &with(&model))
            .unwrap_or_else(|step| panic!("{program}: {:?}", step.fail));
        assert_eq!(value(&step), json!([7, reason]), "{program}");
        assert_eq!(failure(&step, 2)["reason"], reason, "{program}");
        assert!(told(&model, 3).contains("The program failed ("), "{program}: {}", told(&model, 3));
        assert!(!step.turns[1].success && step.turns[2].success);
    }
}

#[test]
fn an_agent_of_one_turn_fails_with_the_reason_itself() {
    for (program, reason) in ERRORS {
        let model = Scripted::new([program]);
        let step = run(&small(agent("Try").max_turns(1)), &with(&model)).unwrap_err();
        assert_eq!((step.reason(), step.usage.turns), (reason, 1), "{program}");
        assert!(!step.fail.unwrap().message.is_empty());
    }
}

#[test]
fn an_agent_of_one_turn_needs_no_return() {
    let one = |builder: AgentBuilder, reply: &str| {
        run(&builder.max_turns(1).build().unwrap(), &with(&Scripted::new([reply])))
    };
    assert_eq!(value(&one(agent("Add"), "(+ 1 2)").unwrap()), json!(3));
    assert_eq!(value(&one(agent("Add"), "(return 4)").unwrap()), json!(4));
    assert_eq!(one(agent("Add"), "(fail {:reason :no})").unwrap_err().reason(), "no");
    assert_eq!(one(agent("Add").signature(":string"), "(+ 1 2)").unwrap_err().reason(), "validation_error");
    assert_eq!(one(agent("Add"), "It is 3.").unwrap_err().reason(), "no_code_found");
    let two = "```clojure\n(+ 1 2)\n```\n```clojure\n(+ 3 4)\n```";
    assert_eq!(value(&one(agent("Add"), two).unwrap()), json!(7));
    let reject = agent("Add").multiple_blocks(MultipleBlocks::Reject);
    assert_eq!(one(reject, two).unwrap_err().reason(), "multiple_code_blocks");
    // With tools, a final expression is enough.
    let tools = agent("Add").tool(Tool::new("one", |_, _| Ok(1)));
    assert_eq!(value(&one(tools, "(+ 2 (tool/one {}))").unwrap()), json!(3));
}

#[test]
fn several_programs_run_in_order_or_are_sent_back() {
    let two = "First\n```clojure\n(def a 1)\n```\nthen\n```clojure\n(return (inc a))\n```";
    let model = Scripted::new([two]);
    assert_eq!(value(&run("Add", &with(&model)).unwrap()), json!(2));

    let model = Scripted::new([two, "(return 1)"]);
    let agent = agent("Add").multiple_blocks(MultipleBlocks::Reject).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(failure(&step, 1)["reason"], "multiple_code_blocks");
    assert!(told(&model, 2).contains("2 code blocks received, one expected"), "{}", told(&model, 2));
    assert!(!step.memory.contains_key("a"));
}

#[test]
fn programs_fail_as_they_like() {
    for (program, reason, message) in [
        ("(fail {:reason :not_found :message \"gone\"})", "not_found", "gone"),
        ("(fail {:reason :too-late :message \"gone\"})", "too_late", "gone"),
        ("(call \"fail\" {:reason :not_found :message \"gone\"})", "not_found", "gone"),
        ("(fail \"no luck\")", "failed", "no luck"),
        ("(fail 7)", "failed", "7"),
    ] {
        let step = run("Try", &with(&Scripted::new([program]))).unwrap_err();
        let fail = step.fail.as_ref().unwrap();
        assert_eq!((fail.reason.as_str(), fail.message.as_str()), (reason, message), "{program}");
        assert_eq!(step.usage.turns, 1);
    }
    let program = "(fail {:reason :x :message \"m\" :op \"load\" :details {:user-id 7}})";
    let fail = run("Try", &with(&Scripted::new([program]))).unwrap_err().fail.unwrap();
    assert_eq!((fail.op.as_deref(), &fail.details), (Some("load"), &json!({"user_id": 7})));
    // A chosen failure uses no retries.
    let agent = agent("Try").max_turns(1).retry_turns(3).build().unwrap();
    let model = Scripted::new(["(fail {:reason :no :message \"no\"})", "(return 1)"]);
    assert_eq!((run(&agent, &with(&model)).unwrap_err().reason(), model.left()), ("no", 1));
}

#[test]
fn a_failure_without_its_parts_is_sent_back() {
    for (program, needs) in [
        ("(fail {:code 7})", "needs `:reason`, a keyword, and `:message`, a text"),
        ("(fail {:message \"gone\"})", "needs `:reason`, a keyword"),
        ("(fail {:reason :not_found})", "needs `:message`, a text"),
        ("(fail {:reason :not_found :message \"\"})", "needs `:message`, a text"),
        ("(fail {:reason :mission-timeout :message \"late\"})", "cannot have the reason `mission_timeout`"),
        ("(fail {:reason \"cancelled\" :message \"x\"})", "cannot have the reason `cancelled`"),
    ] {
        let model = Scripted::new([program, "(fail {:reason :not_found :message \"gone\"})"]);
        let step = run("Try", &with(&model)).unwrap_err();
        assert_eq!((step.reason(), step.usage.turns), ("not_found", 2), "{program}");
        assert_eq!(failure(&step, 1)["reason"], "validation_error");
        let told = told(&model, 2);
        assert!(told.contains(&format!("`fail` {needs}")), "{told}");
        assert!(told.contains("(fail {:reason :not_found :message \"why\"})"), "{told}");
    }
}

#[test]
fn a_failure_on_the_last_turn_ends_the_mission_under_no_name_of_the_system() {
    for (program, reason, message) in [
        ("(fail {:code 7})", "failed", "{\"code\" 7}"),
        ("(fail {:reason :not_found})", "not_found", "{\"reason\" \"not_found\"}"),
        ("(fail {:reason :cancelled :message \"gone\"})", "failed", "gone"),
        ("(fail {:reason :turn-budget-exhausted :message \"gone\"})", "failed", "gone"),
    ] {
        let agent = agent("Try").max_turns(1).build().unwrap();
        let fail = run(&agent, &with(&Scripted::new([program]))).unwrap_err().fail.unwrap();
        assert_eq!((fail.reason.as_str(), fail.message.as_str()), (reason, message), "{program}");
    }
}

#[test]
fn only_return_and_fail_end_a_mission() {
    let model = Scripted::new(["(do {:done true})", "(do [:ok 1])", "(str \"finished\")", "(return :now)"]);
    let step = run("Go", &with(&model)).unwrap();
    assert_eq!((value(&step), step.usage.turns), (json!("now"), 4));
}

#[test]
fn results_are_merged_and_later_ones_win() {
    let model = Scripted::new([
        "(do {:total 1 :user-name \"Ada\" \"topic\" \"tea\"})",
        "(do {:total 2})",
        "(do [1 2])",
        "(return [data/total ctx/total data/user_name data/user-name ctx/topic data/result *1 (:total *2) (:total *3)])",
    ]);
    let step = run("Go", &with(&model).context(&json!({"topic": "coffee", "kept": 1})).unwrap()).unwrap();
    assert_eq!(value(&step), json!([2, 2, "Ada", "Ada", "tea", [1, 2], [1, 2], 2, 1]));
}

#[test]
fn what_was_reported_by_a_turn_that_failed_is_dropped() {
    let model = Scripted::new([
        "(step-done \"1\" \"too early\") (+ 1 nil)",
        "(step-done \"2\" \"not yet\") (return \"x\")",
        "(step-done \"3\" \"done\") (return 1)",
    ]);
    let step = run(&agent("Go").signature(":int").build().unwrap(), &with(&model)).unwrap();
    assert_eq!(step.summaries, [("3".to_string(), "done".to_string())]);
}

#[test]
fn reasons_of_missions_that_cannot_start() {
    let cases: [(AgentBuilder, &str); 6] = [
        (agent("Find {{what}}"), "template_error"),
        (agent("Find").signature("{count :list}"), "invalid_signature"),
        (agent("Find").max_turns(0), "invalid_option"),
        (agent("Find").tool(Tool::new("fail", |_, _| Ok(1))), "reserved_tool_name"),
        (agent("Find").tool(Tool::new("x", |_, _| Ok(1)).timeout(0)), "invalid_tool"),
        (agent("Find").tool(Tool::new("n", |_, _| Ok(1))), "name_conflict"),
    ];
    for (builder, reason) in cases {
        let model = Scripted::new(["(return 1)"]);
        let options = with(&model).context(&json!({"n": 1})).unwrap();
        let reason_of = |step: Box<ptc_agent::Step>| step.reason().to_string();
        // Both as an agent, and as options of a mission in words.
        let made = match builder.clone().build() {
            Ok(agent) => reason_of(run(&agent, &options).unwrap_err()),
            Err(error) => error.reason.name().to_string(),
        };
        assert_eq!(made, reason);
        let options = options.changing(move |_| builder.clone());
        assert_eq!(reason_of(run("Find", &options).unwrap_err()), reason);
        assert!(model.requests().is_empty());
    }
    let step = run("", &with(&Scripted::new(["(return 1)"]))).unwrap_err();
    assert_eq!(step.reason(), "missing_prompt");
}

#[test]
fn a_model_error_ends_a_mission_with_what_it_had() {
    let model = Scripted::new([
        Reply::from("(def kept 1)"),
        LlmError::from("down").into(),
        LlmError::from("down").into(),
    ]);
    let retry = ptc_model::LlmRetry { max_attempts: 2, ..at_once() };
    let step = run(&agent("Try").llm_retry(retry).build().unwrap(), &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.llm_requests, step.turns.len()), ("llm_error", 3, 2));
    assert!(step.memory.contains_key("kept"));
}

#[test]
fn explicit_agents_may_retry_what_went_wrong() {
    let agent =
        agent("Add").max_turns(1).retry_turns(1).completion_mode(CompletionMode::Explicit).build().unwrap();
    let step = run(&agent, &with(&Scripted::new(["(nope)", "(return 1)"]))).unwrap();
    assert_eq!((value(&step), step.usage.turns), (json!(1), 2));
}
