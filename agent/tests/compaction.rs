//! Compaction: the messages of a long mission that are sent.
#![allow(missing_docs)]

use proptest::prelude::*;
use ptc_agent::compaction::{Pressure, compact, compact_with, estimate};
use ptc_agent::definition::Compaction;
use ptc_model::{Message, Role, ToolCall};

fn option() -> Compaction {
    Compaction::default()
}

fn call(id: &str) -> ToolCall {
    ToolCall::new(Some(id), "lisp_eval", serde_json::Map::new())
}

/// Returns the mission and `turns` turns of a program and feedback.
fn content(turns: usize) -> Vec<Message> {
    let turn = |n| [Message::assistant(format!("program {n}")), Message::user(format!("feedback {n}"))];
    std::iter::once(Message::user("mission")).chain((1..=turns).flat_map(turn)).collect()
}

/// Returns the mission and `turns` turns whose programs are calls: each turn makes `calls` of them.
fn tool_call(turns: usize, calls: usize) -> Vec<Message> {
    let turn = |n: usize| {
        let ids: Vec<String> = (0..calls).map(|i| format!("c{n}-{i}")).collect();
        let reply = Message::assistant("").calls(ids.iter().map(|id| call(id)).collect());
        let results = ids.into_iter().map(|id| Message::tool(id, "result"));
        std::iter::once(reply).chain(results).collect::<Vec<_>>()
    };
    std::iter::once(Message::user("mission")).chain((1..=turns).flat_map(turn)).collect()
}

#[test]
fn nothing_is_left_out_while_a_mission_is_short() {
    let messages = content(7);
    for (option, enabled) in [(None, false), (Some(option()), true)] {
        let (kept, stats) = compact(&messages, option.as_ref(), 8);
        assert_eq!(kept, messages);
        assert_eq!((stats.enabled, stats.triggered, stats.reason), (enabled, false, None));
        assert_eq!((stats.messages_before, stats.messages_after), (15, 15));
        assert_eq!(stats.estimated_tokens_before, stats.estimated_tokens_after);
        assert!(stats.kept_initial_user);
    }
}

#[test]
fn many_turns_are_cut_to_the_last_ones() {
    let (kept, stats) = compact(&content(8), Some(&option()), 9);
    let said: Vec<&str> = kept.iter().map(|message| message.content.as_str()).collect();
    let wanted = ["mission", "program 6", "feedback 6", "program 7", "feedback 7", "program 8", "feedback 8"];
    assert_eq!(said, wanted);
    assert_eq!((stats.triggered, stats.reason), (true, Some(Pressure::TurnPressure)));
    assert_eq!((stats.messages_before, stats.messages_after, stats.kept_recent_turns), (17, 7, 3));
    assert!(stats.estimated_tokens_after < stats.estimated_tokens_before);
}

#[test]
fn many_tokens_are_a_reason_too() {
    let option = Compaction { after_turns: None, after_tokens: Some(100), ..option() };
    let mut messages = content(5);
    assert!(!compact(&messages, Some(&option), 6).1.triggered);
    messages[1].content = "x".repeat(1000);
    let (kept, stats) = compact(&messages, Some(&option), 6);
    assert_eq!((kept.len(), stats.reason, stats.over_budget), (7, Some(Pressure::TokenPressure), false));
    messages[9].content = "x".repeat(1000);
    let (_, stats) = compact(&messages, Some(&option), 6);
    assert!(stats.triggered && stats.over_budget, "{stats:?}");
    // Too few messages to leave any out, and the stats report the excess.
    let (kept, stats) = compact(&messages[9..], Some(&option), 6);
    assert_eq!((kept.len(), stats.triggered, stats.reason, stats.over_budget), (2, false, None, true));
    assert_eq!(compact_with(&messages, Some(&option), 6, |_| 0).1.estimated_tokens_before, 0);
    assert_eq!(estimate("äöüß"), 1);
}

#[test]
fn calls_stay_with_their_results() {
    // The last six messages of turns with two calls begin in the middle of a turn.
    let (kept, stats) =
        compact(&tool_call(10, 2), Some(&Compaction { keep_recent_turns: 2, ..option() }), 10);
    assert_eq!((stats.messages_after, kept[1].role), (4, Role::Assistant));
    assert_eq!(kept[1].tool_calls[0].id.as_deref(), Some("c10-0"));
    // A turn with more results than are to be kept stays whole.
    let (kept, _) = compact(&tool_call(10, 9), Some(&option()), 10);
    assert_eq!(kept.len(), 1 + 1 + 9);
    // A conversation begins with the user, even without the first message.
    let without = Compaction { keep_initial_user: false, ..option() };
    let (kept, stats) = compact(&content(9), Some(&without), 10);
    assert_eq!((kept[0].content.as_str(), stats.kept_initial_user), ("feedback 7", false));
    let (kept, stats) = compact(&tool_call(10, 1), Some(&without), 10);
    assert_eq!((kept[0].content.as_str(), stats.kept_initial_user, kept.len()), ("mission", true, 7));
}

#[test]
fn stats_have_the_same_shape_always() {
    let keys = |stats| match serde_json::to_value(stats).expect("JSON") {
        serde_json::Value::Object(map) => map.keys().cloned().collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    let off = keys(compact(&[], None, 1).1);
    assert_eq!(off, keys(compact(&content(9), Some(&option()), 10).1));
    assert_eq!(off.len(), 11);
    let told = serde_json::to_value(compact(&content(9), Some(&option()), 10).1).expect("JSON");
    assert_eq!((told["strategy"].as_str(), told["reason"].as_str()), (Some("trim"), Some("turn_pressure")));
}

fn message() -> impl Strategy<Value = Message> {
    let id = "[ab]";
    prop_oneof![
        3 => "\\PC{0,12}".prop_map(Message::user),
        3 => "\\PC{0,12}".prop_map(Message::assistant),
        2 => proptest::collection::vec(id, 1..3)
            .prop_map(|ids| Message::assistant("").calls(ids.iter().map(|id| call(id)).collect())),
        3 => (id, "\\PC{0,5}").prop_map(|(id, text)| Message::tool(id, text)),
    ]
}

/// Generates conversations as missions make them: without orphans.
fn conversation() -> impl Strategy<Value = Vec<Message>> {
    proptest::collection::vec((0..4_usize, any::<bool>()), 0..14).prop_map(|turns| {
        let mut messages = vec![Message::user("mission")];
        for (n, (calls, feedback)) in turns.into_iter().enumerate() {
            let ids: Vec<String> = (0..calls).map(|i| format!("{n}-{i}")).collect();
            messages.push(Message::assistant("x").calls(ids.iter().map(|id| call(id)).collect()));
            messages.extend(ids.into_iter().map(|id| Message::tool(id, "r")));
            if calls == 0 || feedback {
                messages.push(Message::user("feedback"));
            }
        }
        messages
    })
}

fn options() -> impl Strategy<Value = Compaction> {
    (0..4_u32, proptest::option::of(0..60_u64), 0..5_u32, any::<bool>()).prop_map(
        |(turns, tokens, keep, first)| Compaction {
            after_turns: Some(turns),
            after_tokens: tokens,
            keep_recent_turns: keep,
            keep_initial_user: first,
        },
    )
}

fn is_subsequence(part: &[Message], whole: &[Message]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|message| whole.any(|other| other == message))
}

proptest! {
    #[test]
    fn what_is_sent_is_a_conversation(messages in conversation(), option in options(), turn in 1..12_u32) {
        let (kept, stats) = compact(&messages, Some(&option), turn);
        prop_assert!(is_subsequence(&kept, &messages));
        prop_assert_eq!(kept.last(), messages.last());
        prop_assert_eq!(kept[0].role, Role::User);
        if option.keep_initial_user {
            prop_assert_eq!(&kept[0], &messages[0]);
            prop_assert!(stats.kept_initial_user);
        }
        // Every call has its results, and every result its call.
        let mut open: Vec<Option<String>> = Vec::new();
        for message in &kept {
            if message.role == Role::Tool {
                let at = open.iter().position(|id| *id == message.tool_call_id);
                prop_assert!(at.is_some(), "an orphan: {:?}", kept);
                open.remove(at.unwrap_or(0));
            } else {
                prop_assert!(open.is_empty(), "a call without its result: {:?}", kept);
                open = message.tool_calls.iter().map(|call| call.id.clone()).collect();
            }
        }
        prop_assert_eq!(stats.triggered, kept.len() < messages.len());
        prop_assert_eq!(stats.messages_after, kept.len());
        prop_assert!(stats.estimated_tokens_after <= stats.estimated_tokens_before);
        prop_assert_eq!(stats.reason.is_some(), stats.triggered);
    }

    #[test]
    fn any_messages_are_taken(messages in proptest::collection::vec(message(), 0..20), option in options(), turn in 0..9_u32) {
        let (kept, stats) = compact(&messages, Some(&option), turn);
        prop_assert!(is_subsequence(&kept, &messages));
        prop_assert_eq!(kept.is_empty(), messages.is_empty());
        if stats.triggered {
            let mut called = Vec::new();
            for message in &kept {
                called.extend(message.tool_calls.iter().map(|call| call.id.clone()));
                prop_assert!(message.role != Role::Tool || called.contains(&message.tool_call_id));
            }
        }
        // Compacting again must not add messages.
        let again = compact(&kept, Some(&option), turn).0;
        prop_assert!(again.len() <= kept.len());
    }
}
