//! Turns: their endings, the state they hand on, and their limits.

use crate::kit::{agent, value, with};
use ptc_agent::run;
use ptc_agent::tools::Tool;
use ptc_model::{LlmRequest, Reply, Scripted};
use serde_json::json;

#[test]
fn one_turn_ends_on_return_in_each_spelling() {
    for program in ["(return {:n 1})", "(call \"return\" {:n 1})", "(do (return {:n 1}) 2)"] {
        let model = Scripted::new([format!("```clojure\n{program}\n```")]);
        let step = run(&agent("Count").build().unwrap(), &with(&model)).unwrap();
        assert_eq!(value(&step), json!({"n": 1}), "{program}");
    }
}

#[test]
fn what_a_turn_found_is_there_in_the_next() {
    for read in ["ctx/total", "data/total", "(:total *1)", "kept", "(memory/get :kept)", "memory/kept"] {
        let model = Scripted::new([
            "```clojure\n(def kept (tool/total {}))\n{:total kept}\n```".to_string(),
            format!("```clojure\n(return {read})\n```"),
        ]);
        let agent = agent("Sum").tool(Tool::new("total", |_, _| Ok(42))).build().unwrap();
        let step = run(&agent, &with(&model)).unwrap_or_else(|step| panic!("{read}: {:?}", step.fail));
        assert_eq!(value(&step), json!(42), "{read}");
        let second = &model.requests()[1];
        let feedback = &second.messages[2].content;
        assert!(feedback.contains("data/total") && feedback.contains("kept = 42"), "{feedback}");
    }
}

#[test]
fn a_reply_without_a_program_costs_a_turn_and_no_retry() {
    let model = Scripted::new(["I will look into it.", "```clojure\n(return 1)\n```"]);
    let step = run(&agent("Count").build().unwrap(), &with(&model)).unwrap();
    assert_eq!((step.usage.turns, step.usage.llm_requests), (2, 2));
    assert!(model.requests()[1].messages[2].content.starts_with("No PTC-Lisp program found"));
}

#[test]
fn a_return_that_does_not_fit_is_sent_back() {
    let model = Scripted::new(["(return {:n \"x\"})", "(return {:n 2})"]);
    let agent = agent("Count").signature("{n :int}").build().unwrap();
    let step = run(&agent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!({"n": 2}));
    let told = &model.requests()[1].messages[2].content;
    assert!(told.contains("n: expected int, got string \"x\""), "{told}");
}

#[test]
fn turns_run_out() {
    let model = Scripted::new(["1", "(+ 1 1)", "(+ 1 1)"]);
    let agent = agent("Count").max_turns(3).build().unwrap();
    let step = run(&agent, &with(&model)).unwrap_err();
    assert_eq!((step.reason(), step.usage.turns), ("max_turns_exceeded", 3));
}

#[test]
fn a_program_that_fails_keeps_what_it_defined() {
    let model = Scripted::new(["(def a 1) (def b (+ a nil))", "(return a)"]);
    let step = run(&agent("Count").build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!(1));
}

#[test]
fn the_system_message_stays_the_same() {
    let model = Scripted::new(["(def a 1)", "(+ a 1)", "(return a)"]);
    run(&agent("Count").build().unwrap(), &with(&model)).unwrap();
    let systems: Vec<String> = model.requests().iter().map(|request| request.system.clone()).collect();
    assert!(systems.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn an_agent_is_a_tool() {
    let find = agent("Find {{what}}").signature("(what :string) -> {n :int, _ids [:int]}").build().unwrap();
    let parent = agent("Do it").tool(Tool::agent("find", find)).build().unwrap();
    let model = Scripted::new([
        Reply::from("```clojure\n(def found (tool/find {:what \"tea\"}))\n```"),
        Reply::from_fn(|request: &LlmRequest| {
            assert_eq!(request.depth, 1);
            Ok("(return {:n 2 :_ids [4711001 4711002]})")
        }),
        Reply::from("(return (:_ids found))"),
    ]);
    let step = run(&parent, &with(&model)).unwrap();
    assert_eq!(value(&step), json!([4711001, 4711002]));
    assert_eq!((step.usage.turns, step.usage.tree.turns, step.child_steps.len()), (2, 3, 1));
    for request in model.requests() {
        let text = serde_json::to_string(&request).unwrap();
        if request.depth == 0 {
            assert!(!text.contains("4711001"), "{text}");
        }
    }
}

#[test]
fn a_surplus_bracket_is_told_after_the_turn() {
    let model = Scripted::new(["(def a 1))", "(let [x 1] (inc x)) (dec x))", "(+ a 1)", "(return a))"]);
    let step = run(&agent("Count").build().unwrap(), &with(&model)).unwrap();
    assert_eq!(value(&step), json!(1));
    let requests = model.requests();
    let told = |turn: usize| requests[turn].messages.last().unwrap().content.clone();
    let warning =
        "warning[W1001] surplus_bracket: this `)` closes nothing, so it was skipped (line 1, column 10)";
    assert!(told(1).contains("Warnings about the program:\n") && told(1).contains(warning), "{}", told(1));
    assert!(told(2).contains("unbound_var") && told(2).contains("(line 1, column 28)"), "{}", told(2));
    assert!(!told(3).contains("warning"), "{}", told(3));
}

/// Checks that warnings about a program are redacted, like everything that a model is shown.
#[test]
fn warnings_tell_nothing_that_is_firewalled() {
    let model = Scripted::new(["(def _pin \"4711-0815\")) (def b {:_k \"4711-0815\"}))", "(return 1)"]);
    run(&agent("Count").build().unwrap(), &with(&model)).unwrap();
    let told = model.requests()[1].messages.last().unwrap().content.clone();
    assert!(told.contains("surplus_bracket") && !told.contains("4711-0815"), "{told}");
}
