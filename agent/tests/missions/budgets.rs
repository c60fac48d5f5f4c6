//! Turns, retries, tokens and money; long missions.

use crate::kit::{agent, told, value, with};
use ptc_agent::definition::{Compaction, CompletionMode, OnBudgetExceeded, OnExhausted, TraceMode};
use ptc_agent::mission::{Guard, Usage};
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{RunOptions, run};
use ptc_model::{LlmRequest, LlmResponse, Registry, RegistryConfig, Reply, Scripted, Tokens};
use serde_json::json;
use std::sync::Arc;

/// Returns a reply with these token counts and costs.
fn costly(text: &str, tokens: Tokens) -> Reply {
    Reply::from(LlmResponse { tokens: Some(tokens), ..LlmResponse::from(text) })
}

#[test]
fn the_model_is_told_how_many_turns_are_left() {
    let model = Scripted::new(["(+ 1 1)", "(+ 1 1)", "(+ 1 1)", "(+ 1 1)", "(+ 1 1)", "(return 1)"]);
    let agent = agent("Count").max_turns(4).retry_turns(2).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!((step.usage.turns, model.left()), (6, 0));
    let lines = [
        "Turn 2 of 4. Turns left: 3. Retries left: 2.",
        "Two turns are left",
        "This is the final turn",
        "Retry 1 of 2.",
        "Retry 2 of 2. This is the final one.",
    ];
    for (i, line) in lines.into_iter().enumerate() {
        assert!(told(&model, i + 2).contains(line), "{line}: {}", told(&model, i + 2));
    }
    let kinds: Vec<&str> = step.turns.iter().map(|turn| turn.kind.name()).collect();
    assert_eq!(kinds, ["normal", "normal", "normal", "must_return", "retry", "retry"]);
}

#[test]
fn in_the_last_turn_no_tools_are_offered_and_calls_still_work() {
    let model = Scripted::new(["(tool/one {})", "(return (tool/one {}))"]);
    let agent = agent("Count").max_turns(2).tool(Tool::new("one", |_, _| Ok(1))).build().unwrap();
    assert_eq!(value(&run(&agent, &with(&model)).unwrap()), json!(1));
    assert_eq!(model.requests()[0].tool_names, ["one"]);
    assert!(model.requests()[1].tool_names.is_empty());
}

#[test]
fn turns_and_retries_run_out() {
    let model = Scripted::new(["(+ 1 1)", "(nope)", "(nope)"]);
    let agent = agent("Count").max_turns(2).retry_turns(1).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.turns), ("budget_exhausted", 3));
    // The failure of the last turn is kept.
    assert_eq!(step.fail.unwrap().details["last_failure"]["reason"], "analysis_error");
}

#[test]
fn a_bad_return_in_the_end_is_named_and_other_ends_are_too() {
    let agent = agent("Count").max_turns(2).signature(":int").build().unwrap();
    let step = run(&agent, &with(&Scripted::new(["(+ 1 1)", "(return \"x\")"]))).unwrap_err();
    let fail = step.fail.unwrap();
    assert_eq!((fail.reason.as_str(), &fail.details["limit"]), ("validation_error", &json!("max_turns")));
    for last in ["(nope)", "Let me think.", "(+ 1 1)"] {
        let step = run(&agent, &with(&Scripted::new(["(return \"x\")", last]))).unwrap_err();
        assert_eq!(step.reason(), "max_turns_exceeded", "{last}");
    }
}

#[test]
fn the_last_value_will_do_if_the_agent_says_so() {
    let last = |replies: &[&str]| {
        let model = Scripted::new(replies.iter().map(|reply| format!("```clojure\n{reply}\n```")));
        let agent = agent("Count")
            .signature("{n :int}")
            .max_turns(replies.len() as u32)
            .on_exhausted(OnExhausted::LastValue)
            .build()
            .unwrap();
        run(&agent, &with(&model)).map(|step| (value(&step), step.usage.fallback_used))
    };
    assert_eq!(last(&["{:n 1}", "{:n 2}", "{:n \"x\"}", "nil", "(nope)"]).unwrap(), (json!({"n": 2}), true));
    assert_eq!(last(&["{:n \"x\"}", "nil"]).unwrap_err().reason(), "max_turns_exceeded");
    assert_eq!(last(&["(return {:n 3})"]).unwrap(), (json!({"n": 3}), false));
}

#[test]
fn agents_may_have_to_say_return() {
    let explicit = |replies: &[&str], max_turns| {
        let model = Scripted::new(replies.iter().map(|reply| format!("```clojure\n{reply}\n```")));
        let agent =
            agent("Count").max_turns(max_turns).completion_mode(CompletionMode::Explicit).build().unwrap();
        run(&agent, &with(&model))
    };
    assert_eq!(explicit(&["(+ 1 1)"], 1).unwrap_err().reason(), "must_return_missing");
    assert_eq!(explicit(&["(+ 1 1)", "(+ 1 1)"], 2).unwrap_err().reason(), "must_return_missing");
    assert_eq!(value(&explicit(&["(+ 1 1)", "(return *1)"], 2).unwrap()), json!(2));
    assert_eq!(value(&explicit(&["(return 1)"], 1).unwrap()), json!(1));
}

#[test]
fn tokens_add_up_and_end_missions() {
    let replies = || {
        Scripted::new([
            costly("(do {:n 1})", Tokens { cache_read: Some(4), ..Tokens::new(100, 20) }),
            costly("(return {:n 2})", Tokens::new(200, 30)),
        ])
    };
    let agent = agent("Count").signature("{n :int}").build().unwrap();
    let step = run(&agent, &with(&replies())).unwrap();
    let usage = &step.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens, usage.total_tokens), (300, 50, 350));
    assert_eq!((usage.cache_read_tokens, usage.tree.total_tokens), (Some(4), 350));
    assert_eq!(step.turns[0].tokens.unwrap().total(), 120);

    let limited =
        |on_budget_exceeded| RunOptions { token_limit: Some(300), on_budget_exceeded, ..with(&replies()) };
    let step = run(&agent, &limited(OnBudgetExceeded::Fail)).unwrap_err();
    assert_eq!((step.reason(), step.usage.turns), ("budget_callback_exceeded", 2));
    let step = run(&agent, &limited(OnBudgetExceeded::ReturnPartial)).unwrap();
    assert_eq!((value(&step), step.usage.fallback_used), (json!({"n": 1}), true));

    let budget = |usage: &Usage| usage.llm_requests < 2;
    let options = RunOptions { budget: Some(Arc::new(budget)), ..with(&replies()) };
    assert_eq!(run(&agent, &options).unwrap_err().reason(), "budget_callback_exceeded");
    let options = RunOptions { budget: Some(Arc::new(|_| panic!("odd"))), ..with(&replies()) };
    assert_eq!(run(&agent, &options).unwrap_err().reason(), "internal_error");
}

#[test]
fn tokens_and_money_of_children_count() {
    let child = agent("Find").build().unwrap();
    let parent = agent("Do it").max_cost_usd(Some(0.5)).tool(Tool::agent("child", child)).build().unwrap();
    // No further requests: neither a second one of the child, nor one of the parent.
    let script = |tokens: Tokens| {
        Scripted::new([
            costly("(tool/child {})", Tokens::new(10, 0)),
            costly("(+ 1 1)", tokens),
            costly("(return 1)", Tokens::new(1, 0)),
            costly("(return 2)", Tokens::new(1, 0)),
        ])
    };
    let model = script(Tokens::new(500, 0));
    let step = run(&parent, &RunOptions { token_limit: Some(400), ..with(&model) }).unwrap_err();
    assert_eq!((step.reason(), step.usage.total_tokens, model.left()), ("budget_callback_exceeded", 10, 2));
    assert_eq!(
        (step.usage.tree.total_tokens, step.child_steps[0].reason()),
        (510, "budget_callback_exceeded")
    );

    let model = script(Tokens { total_cost: Some(0.7), ..Tokens::new(1, 1) });
    let step = run(&parent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), model.left()), ("cost_budget_exceeded", 2));
    assert_eq!(step.child_steps[0].reason(), "cost_budget_exceeded");
}

#[test]
fn money_is_an_end_too() {
    let cost = |dollars| Tokens { total_cost: Some(dollars), ..Tokens::new(1, 1) };
    let model =
        || Scripted::new([costly("(+ 1 1)", cost(0.25)), costly("(+ 1 1)", cost(0.5)), "(return 1)".into()]);
    let limited = |most| agent("Count").max_cost_usd(Some(most)).build().unwrap();
    let step = run(&limited(0.6), &with(&model())).unwrap_err();
    assert_eq!((step.reason(), step.usage.cost_usd), ("cost_budget_exceeded", Some(0.75)));
    assert!(run(&limited(0.8), &with(&model())).is_ok());
}

#[test]
fn failures_in_a_row_end_a_mission() {
    let agent = agent("Count").max_turns(10).max_consecutive_failures(Some(2)).build().unwrap();
    let model = Scripted::new(["(nope)", "(+ 1 1)", "(nope)", "Hm.", "(return 1)"]);
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.turns, model.left()), ("consecutive_failures", 4, 1));
    assert_eq!(step.fail.unwrap().details["last_failure"]["reason"], "no_code_found");
}

#[test]
fn programs_can_ask_what_is_left() {
    let model = Scripted::new([
        costly("(+ 1 1)", Tokens::new(7, 3)),
        costly("(return (budget/remaining))", Tokens::new(1, 1)),
    ]);
    let agent = agent("Count").max_turns(6).retry_turns(1).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(
        value(&step),
        json!({
            "turns": 18, "work_turns": 4, "retry_turns": 1, "depth": {"current": 0, "max": 3},
            "tokens": {"input": 8, "output": 4, "total": 12, "cache_creation": 0, "cache_read": 0},
            "llm_requests": 2,
        })
    );
}

#[test]
fn old_messages_are_left_out_of_long_missions() {
    let replies: Vec<String> =
        (1..=9).map(|n| format!("(def n {n})")).chain(["(return n)".to_string()]).collect();
    let model = Scripted::new(replies);
    let rule = Compaction { after_turns: Some(4), keep_recent_turns: 2, ..Compaction::default() };
    let agent = agent("Count").max_turns(12).compaction(Some(rule)).build().unwrap();
    let step = run(&agent, &RunOptions { collect_messages: true, ..with(&model) }).unwrap();
    assert_eq!(value(&step), json!(9));
    let requests = model.requests();
    assert_eq!(requests[3].messages.len(), 7);
    for request in &requests[4..] {
        assert!(request.messages.len() <= 5, "{}", request.messages.len());
        assert_eq!(request.messages[0], requests[0].messages[0]);
        assert!(request.messages.windows(2).skip(1).all(|pair| pair[0].role != pair[1].role));
        assert_eq!(request.messages.last().unwrap().role.name(), "user");
    }
    // Only requests are shortened.
    assert_eq!(step.messages.unwrap().len(), 20);
    let stats = step.usage.compaction.unwrap();
    assert_eq!((&stats["triggered"], &stats["reason"]), (&json!(true), &json!("turn_pressure")));
}

#[test]
fn turns_are_kept_as_the_run_says() {
    let trace = |trace, reply: &str| {
        let model = Scripted::new(["(+ 1 1)".to_string(), reply.to_string()]);
        run("Add", &RunOptions { trace, ..with(&model) }).unwrap_or_else(|step| *step)
    };
    for (mode, reply, turns) in [
        (TraceMode::Always, "(return 1)", 2),
        (TraceMode::Never, "(return 1)", 0),
        (TraceMode::Never, "(fail 1)", 0),
        (TraceMode::OnError, "(return 1)", 0),
        (TraceMode::OnError, "(fail 1)", 2),
    ] {
        let step = trace(mode, reply);
        assert_eq!((step.turns.len(), step.usage.turns), (turns, 2), "{mode:?} {reply}");
    }
}

#[test]
fn guards_are_asked_even_if_no_turns_are_kept() {
    let model = Scripted::new(["(+ 1 1)", "(return 1)"]);
    let guard = |turn: &ptc_agent::mission::Turn, standing: &ptc_agent::mission::Standing<'_>| {
        assert_eq!((turn.number, standing.turn, standing.work_left), (1, 1, 4));
        Guard::Stop(Ok(turn.result.clone().unwrap()))
    };
    let options =
        RunOptions { trace: TraceMode::Never, continuation_guard: Some(Arc::new(guard)), ..with(&model) };
    assert_eq!((value(&run("Add", &options).unwrap()), model.left()), (json!(2), 1));
    let options = RunOptions {
        continuation_guard: Some(Arc::new(|_, _| panic!("odd"))),
        ..with(&Scripted::new(["(+ 1 1)", "(+ 1 1)"]))
    };
    assert_eq!(run("Add", &options).unwrap_err().reason(), "internal_error");
}

#[test]
fn a_limit_in_dollars_needs_a_model_with_prices() {
    let registry =
        |text: &str| Registry::new(RegistryConfig::from_toml(text).unwrap()).env(|_| Some("k".into()));
    let unpriced = r#"models.main = { adapter = "anthropic", model = "claude" }"#;
    let limited = || agent("Count").max_cost_usd(Some(0.0001)).llm("main");
    let reason = |agent: ptc_agent::AgentBuilder, table: &str| {
        let step = run(&agent.build().unwrap(), &RunOptions::new().models(registry(table))).unwrap_err();
        // No request was made.
        assert_eq!(step.usage.llm_requests, 0);
        step.fail.unwrap().to_string()
    };
    let told = reason(limited(), unpriced);
    assert!(
        told.starts_with("invalid_option: `max_cost_usd` cannot hold: the model `main` has no prices"),
        "{told}"
    );
    assert!(
        told.contains("`prices = { input = 1.0, output = 5.0 }`") && told.contains("`token_limit`"),
        "{told}"
    );

    // Agents below spend from the same budget.
    let child = agent("Find").llm("anthropic:claude").build().unwrap();
    let priced =
        r#"models.main = { adapter = "anthropic", model = "claude", prices = { input = 1, output = 5 } }"#;
    let told = reason(limited().tool(Tool::agent("child", child)), priced);
    assert!(told.contains("the model `anthropic:claude` has no prices"), "{told}");

    let sound = |agent: ptc_agent::AgentBuilder, table: &str| {
        agent.build().unwrap().unpriced(&RunOptions::new().models(registry(table))).is_empty()
    };
    assert!(sound(limited(), priced));
    assert!(sound(limited().token_limit(Some(1000)), unpriced), "the budget is in tokens");
    assert!(sound(agent("Count").llm("main"), unpriced), "there is no budget");
    // The provider's replies report their cost.
    assert!(sound(limited().llm("openrouter:x/y"), unpriced));
    let elsewhere =
        r#"models.main = { adapter = "openrouter", model = "m", base_url = "http://localhost:1/v1" }"#;
    assert!(!sound(limited(), elsewhere));
}

#[test]
fn a_model_that_does_not_say_what_it_cost_ends_a_mission_with_a_limit_in_dollars() {
    let asked = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = asked.clone();
    let model = move |_: &LlmRequest| {
        counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(LlmResponse { tokens: Some(Tokens::new(1_000_000, 1)), ..LlmResponse::from("(+ 1 1)") })
    };
    let limited = agent("Count").max_cost_usd(Some(0.0001)).build().unwrap();
    let step = run(&limited, &RunOptions::new().llm(LlmRef::from(model))).unwrap_err();
    assert_eq!((step.reason(), asked.load(std::sync::atomic::Ordering::SeqCst)), ("invalid_option", 1));
}

#[test]
fn tokens_of_the_agent_are_an_end_too() {
    let model =
        Scripted::new([costly("(+ 1 1)", Tokens::new(600, 0)), costly("(+ 1 1)", Tokens::new(600, 0))]);
    let limited = agent("Count").token_limit(Some(1000)).build().unwrap();
    let step = run(&limited, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.total_tokens), ("budget_callback_exceeded", 1200));
    // The lower limit wins.
    let model = Scripted::new([costly("(+ 1 1)", Tokens::new(600, 0))]);
    let step = run(&limited, &RunOptions { token_limit: Some(100), ..with(&model) }).unwrap_err();
    assert_eq!(step.usage.total_tokens, 600);
}
