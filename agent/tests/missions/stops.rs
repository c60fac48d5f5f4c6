//! Replies that were cut, refused or held back: effects on the mission, in every mode.

use crate::kit::{agent, failure, told, value, with};
use ptc_agent::definition::Transport;
use ptc_agent::tools::Tool;
use ptc_agent::{AgentBuilder, run};
use ptc_model::{LlmResponse, OpaquePart, Output, Reply, Scripted, StopReason, Tokens, ToolCall};
use serde_json::json;

/// Returns agents in the four modes, with a tool where the mode allows it.
fn modes() -> [(&'static str, AgentBuilder); 4] {
    let tool = || Tool::new("search", |_, _| Ok(1)).signature("() -> :int");
    let call = Some(Transport::ToolCall);
    [
        ("program", agent("Count").tool(tool())),
        ("program call", agent("Count").ptc_transport(call)),
        ("text", agent("Count").output(Output::Text).tool(tool())),
        ("combined", agent("Count").output(Output::Text).ptc_transport(call).tool(tool())),
    ]
}

fn ended(text: &str, stop: StopReason) -> Reply {
    LlmResponse::from(text).stop(stop).tokens(Tokens::new(90, 17)).into()
}

fn cut(text: &str) -> Reply {
    ended(text, StopReason::MaxTokens)
}

#[test]
fn a_refusal_ends_the_mission_with_the_words_of_the_model() {
    for (mode, agent) in modes() {
        let model =
            Scripted::new([ended("I cannot help with that.", StopReason::Refusal), "(return 1)".into()]);
        let step = run(&agent.build().unwrap(), &with(&model)).unwrap_err();
        let fail = step.fail.as_ref().unwrap();
        assert_eq!(
            (fail.reason.as_str(), fail.message.as_str()),
            ("model_refused", "I cannot help with that."),
            "{mode}"
        );
        assert_eq!(
            (model.requests().len(), step.turns[0].stop.clone()),
            (1, Some(StopReason::Refusal)),
            "{mode}"
        );
        assert_eq!(failure(&step, 1)["reason"], "model_refused", "{mode}");
    }
    // Some models refuse without text, or behind a program that must not run.
    let silent = Scripted::new([LlmResponse::default().stop(StopReason::Refusal)]);
    let fail = run("Count", &with(&silent)).unwrap_err().fail.unwrap();
    assert_eq!(fail.to_string(), "model_refused: the model refused to answer");
    let half = Scripted::new([ended("```clojure\n(return 1)\n```", StopReason::Refusal)]);
    assert_eq!(run("Count", &with(&half)).unwrap_err().reason(), "model_refused");
}

#[test]
fn a_reply_that_was_held_back_ends_the_mission_with_a_reason_of_its_own() {
    for (mode, agent) in modes() {
        let model = Scripted::new([ended("There are", StopReason::Filtered), "(return 1)".into()]);
        let fail = run(&agent.build().unwrap(), &with(&model)).unwrap_err().fail.unwrap();
        assert_eq!((fail.reason.as_str(), model.requests().len()), ("reply_filtered", 1), "{mode}");
        assert_eq!(fail.details, json!({"said": "There are"}), "{mode}");
    }
}

#[test]
fn a_cut_reply_is_told_and_nothing_of_it_runs() {
    for (mode, agent) in modes() {
        let shorter = if mode.starts_with("program") { "program" } else { "answer" };
        let done: Reply = match mode {
            "program" => "(return 2)".into(),
            "program call" => LlmResponse::calls([eval("(return 2)")]).into(),
            _ => "Two.".into(),
        };
        let model = Scripted::new([cut("(return (reduce + [1"), done]);
        let step = run(&agent.build().unwrap(), &with(&model)).unwrap();
        let wanted = format!("Your reply was cut at 17 tokens; write a shorter {shorter}.");
        assert!(told(&model, 2).contains(&wanted), "{mode}: {}", told(&model, 2));
        assert!(!told(&model, 2).contains("No PTC-Lisp program"), "{mode}");
        assert_eq!(
            (failure(&step, 1)["reason"].as_str(), step.usage.turns),
            (Some("reply_cut"), 2),
            "{mode}"
        );
    }
    // Half of a program may be a program too.
    for half in ["(tool/delete {})", "```clojure\n(tool/delete {})\n"] {
        let delete = Tool::new("delete", |_, _| -> Result<i32, _> { panic!("it ran") });
        let agent = agent("Clean").tool(delete).build().unwrap();
        let step = run(&agent, &with(&Scripted::new([cut(half), "(return 1)".into()]))).unwrap();
        assert_eq!((value(&step), step.tool_calls.len()), (json!(1), 0));
    }
}

fn eval(program: &str) -> ToolCall {
    ToolCall::read(Some("c1"), "lisp_eval", &json!({"program": program}).to_string())
}

#[test]
fn calls_of_a_cut_reply_are_answered_and_not_made() {
    for (mode, agent) in modes().into_iter().skip(1) {
        let call = match mode {
            "text" => ToolCall::read(Some("c1"), "search", "{}"),
            _ => eval("(+ 1 1)"),
        };
        let calls = LlmResponse::calls([call]).stop(StopReason::MaxTokens).tokens(Tokens::new(90, 17));
        let model = Scripted::new([Reply::from(calls), "Two.".into()]);
        let step = run(&agent.build().unwrap(), &with(&model)).unwrap();
        let told = told(&model, 2);
        assert!(told.contains("reply_cut") && told.contains("cut at 17 tokens"), "{mode}: {told}");
        assert_eq!(
            model.requests()[1].messages.last().unwrap().tool_call_id.as_deref(),
            Some("c1"),
            "{mode}"
        );
        assert_eq!(step.tool_calls.len(), 0, "{mode}");
    }
}

#[test]
fn a_cut_reply_is_no_answer_when_no_turn_is_left() {
    for agent in [agent("Count").max_turns(1), agent("Count").output(Output::Text).max_turns(1)] {
        let step = run(&agent.build().unwrap(), &with(&Scripted::new([cut("There are 4 and")]))).unwrap_err();
        assert_eq!(step.fail.unwrap().to_string(), "reply_cut: the reply was cut at 17 tokens");
    }
    let uncounted = LlmResponse::from("There").stop(StopReason::MaxTokens);
    let text = agent("Count").output(Output::Text).max_turns(1).build().unwrap();
    let fail = run(&text, &with(&Scripted::new([uncounted]))).unwrap_err().fail.unwrap();
    assert_eq!(fail.message, "the reply was cut at its limit of tokens");
}

#[test]
fn a_program_that_is_whole_runs_though_the_words_behind_it_are_cut() {
    let model = Scripted::new([cut("I count.\n```clojure\n(return 3)\n```\nThis gives the num")]);
    let step = run("Count", &with(&model)).unwrap();
    assert_eq!((value(&step), step.usage.turns), (json!(3), 1));
}

#[test]
fn thoughts_stay_in_the_conversation_in_every_mode() {
    let thought = OpaquePart {
        text_before: 0,
        calls_before: 0,
        part: json!({"type": "thinking", "signature": "c2ln"}),
    };
    for (mode, agent) in modes() {
        let first = match mode {
            "program" => LlmResponse::from("I add.\n```clojure\n(+ 1 1)\n```"),
            "text" => LlmResponse::calls([ToolCall::read(Some("c1"), "search", "{}")]),
            _ => LlmResponse::calls([eval("(+ 1 1)")]),
        };
        let first = LlmResponse { opaque: vec![thought.clone()], ..first };
        let last = if mode == "program" { "(return 2)" } else { "Two." };
        let model = Scripted::new([Reply::from(first), last.into()]);
        run(&agent.build().unwrap(), &with(&model)).unwrap();
        assert_eq!(model.requests()[1].messages[1].opaque, std::slice::from_ref(&thought), "{mode}");
    }
}
