//! Conversations.

use crate::{calls, combined, eval, text};
use ptc_agent::mission::{ChatOptions, chat};
use ptc_agent::tools::{Expose, LlmRef, Tool};
use ptc_agent::{Agent, RunOptions};
use ptc_model::{LlmRequest, Reply, Role, Scripted};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

fn options(model: &Scripted) -> RunOptions {
    RunOptions::new().llm(LlmRef::client(model.clone()))
}

fn begin(model: &Scripted) -> ChatOptions {
    ChatOptions { run: options(model), ..ChatOptions::default() }
}

#[test]
fn s000_text_agents_talk() {
    let agent = text("You are brief.").build().unwrap();
    let model = Scripted::new(["Hello.", "Again."]);
    let first = chat(&agent, "Say {{this}} as it is", &begin(&model)).unwrap();
    assert_eq!(first.text(), "Hello.");
    let second = chat(&agent, "And?", &first.next(options(&model))).unwrap();
    assert!(second.memory.is_empty());
    let said: Vec<(Role, &str)> =
        second.messages.iter().map(|message| (message.role, message.content.as_str())).collect();
    assert_eq!(
        said,
        [
            (Role::User, "Say {{this}} as it is"),
            (Role::Assistant, "Hello."),
            (Role::User, "And?"),
            (Role::Assistant, "Again."),
        ]
    );
    assert!(model.requests()[1].system.contains("You are brief."));
}

#[test]
fn s000_nothing_is_kept_between_messages_in_combined_mode() {
    let called = Arc::new(AtomicU32::new(0));
    let count = called.clone();
    let tool = Tool::new("load", move |_, _| Ok(count.fetch_add(1, Ordering::Relaxed)))
        .expose(Expose::Both)
        .cache(true);
    let agent = combined("You count.").tool(tool).build().unwrap();
    let model = Scripted::new([
        calls(&[("a", "load", json!({}))]),
        eval("b", "(def kept 1) (tool/load {})"),
        "one".into(),
        // The hint of the first exchange is stale, so the tool simply runs again.
        eval("c", "(return [(tool/load {}) *1 (memory/get :kept)])"),
        "two".into(),
    ]);
    let first = chat(&agent, "Count", &begin(&model)).unwrap();
    assert_eq!((called.load(Ordering::Relaxed), first.memory.len()), (1, 0));
    let second = chat(&agent, "Again", &first.next(options(&model))).unwrap();
    assert_eq!(called.load(Ordering::Relaxed), 2);
    let last = second.messages.iter().rev().find(|message| message.role == Role::Tool).unwrap();
    assert!(last.content.contains("user=> [1 nil nil]"), "{}", last.content);
    // Calls and their answers belong to the conversation.
    assert_eq!(first.messages.iter().filter(|message| message.role == Role::Tool).count(), 2);
}

#[test]
fn agents_that_write_programs_keep_their_definitions() {
    let agent = Agent::builder().prompt("You count.").signature(":int").build().unwrap();
    let model = Scripted::new([
        Reply::from("(def n 20) (return n)"),
        Reply::from_fn(|request: &LlmRequest| {
            assert!(request.system.contains("n  ; "), "definitions are told: {}", request.system);
            Ok("(return (inc n))")
        }),
    ]);
    let first = chat(&agent, "Twenty", &begin(&model)).unwrap();
    let second = chat(&agent, "One more", &first.next(options(&model))).unwrap();
    assert_eq!(second.step.get::<i64>().unwrap(), 21);
}

#[test]
fn the_signature_holds_for_every_reply() {
    for agent in [text("You count {{what}}."), combined("You count {{what}}.")] {
        let agent = agent.signature("(what :string) -> {n :int}").build().unwrap();
        let model = Scripted::new(["{\"n\": 1}", "Two.", "{\"n\": 2}"]);
        let first = chat(&agent, "One", &begin(&model)).unwrap();
        assert_eq!(first.step.json().unwrap(), json!({"n": 1}));
        assert_eq!(first.step.signature, "(what :string) -> {n :int}");
        let second = chat(&agent, "And one more", &first.next(options(&model))).unwrap();
        assert_eq!((second.step.json().unwrap(), second.step.usage.turns), (json!({"n": 2}), 2));
        let said =
            model.requests()[2].messages.iter().map(|message| message.content.clone()).collect::<Vec<_>>();
        assert!(said[0].contains("One") && said.last().unwrap().contains("{n :int}"), "{said:?}");
    }
}
