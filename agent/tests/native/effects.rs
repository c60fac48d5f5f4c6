//! Calls that a model makes by itself, exports that it calls, and missions below: with a ledger, none is made twice when the
//! mission is run again.

use crate::{calls, combined, text, with};
use ptc_agent::tools::{Effect, Expose, Tool};
use ptc_agent::{Agent, MissionLedger, RunOptions, run};
use ptc_model::{Reply, Scripted};
use ptc_runtime::effects::{FileLedger, Filter, Ledger, State};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A tool that counts its calls.
fn pay(made: &Arc<AtomicUsize>) -> Tool {
    let made = made.clone();
    Tool::new("pay", move |_, _| Ok(made.fetch_add(1, Ordering::SeqCst) + 1)).expose(Expose::Both)
}

fn recorded(model: &Scripted, ledger: &Arc<FileLedger>) -> RunOptions {
    RunOptions {
        effects: Some(MissionLedger { ledger: ledger.clone(), run: "m".to_string() }),
        ..with(model)
    }
}

fn ledger(folder: &TempDir) -> Arc<FileLedger> {
    Arc::new(FileLedger::open(folder.path().join("effects.ledger")).unwrap())
}

fn ids(ledger: &FileLedger) -> Vec<(String, State)> {
    let entries = pollster::block_on(ledger.list(Filter::default())).unwrap();
    entries.into_iter().map(|entry| (entry.intent.id.to_string(), entry.state)).collect()
}

/// Runs a mission twice under one name, with a model that replies the same. Returns the number of payments.
fn twice(agent: &dyn Fn(Tool) -> Agent, replies: &dyn Fn() -> Vec<Reply>) -> (usize, Vec<(String, State)>) {
    let (folder, made) = (TempDir::new().unwrap(), Arc::new(AtomicUsize::new(0)));
    let ledger = ledger(&folder);
    let agent = agent(pay(&made));
    let mut ended = Vec::new();
    for _ in 0..2 {
        let model = Scripted::new(replies());
        let step = run(&agent, &recorded(&model, &ledger)).unwrap_or_else(|step| panic!("{:?}", step.fail));
        ended.push(step.json().unwrap());
    }
    assert_eq!(ended[0], ended[1]);
    (made.load(Ordering::SeqCst), ids(&ledger))
}

#[test]
fn calls_of_a_model_are_made_once_and_equal_calls_as_often_as_the_model_makes_them() {
    let replies = || {
        let pays = [
            ("a", "pay", json!({"eur": 5})),
            ("b", "pay", json!({"eur": 5})),
            ("c", "pay", json!({"eur": 6})),
        ];
        vec![calls(&pays), calls(&pays[..1]), "done".into()]
    };
    let (made, ids) = twice(&|pay| text("Pay").tool(pay).max_turns(4).build().unwrap(), &replies);
    assert_eq!((made, ids.len()), (4, 4), "{ids:?}");
    assert!(ids.iter().all(|(id, state)| id.starts_with("m.") && *state == State::Done), "{ids:?}");
}

#[test]
fn calls_that_only_read_are_not_written_down() {
    let replies = || vec![calls(&[("a", "pay", json!({}))]), "done".into()];
    let reading = |pay: Tool| text("Look").tool(pay.effect(Effect::Read)).max_turns(4).build().unwrap();
    let (folder, made) = (TempDir::new().unwrap(), Arc::new(AtomicUsize::new(0)));
    let ledger = ledger(&folder);
    let agent = reading(pay(&made));
    for _ in 0..2 {
        run(&agent, &recorded(&Scripted::new(replies()), &ledger)).unwrap();
    }
    assert_eq!((made.load(Ordering::SeqCst), ids(&ledger)), (2, vec![]));
}

#[test]
fn missions_below_are_recognised_whoever_starts_them() {
    let agent = |pay: Tool| {
        let below =
            Agent::builder().prompt("Pay {{eur}}").signature("(eur :int) -> :int").tool(pay).build().unwrap();
        let below = Tool::agent("cashier", below).expose(Expose::Both);
        combined("Pay all").tool(below).max_turns(4).build().unwrap()
    };
    // A program starts two, and the model itself one.
    let replies = || {
        let program = "(+ (tool/cashier {:eur 5}) (tool/cashier {:eur 5}))";
        vec![
            calls(&[("a", "lisp_eval", json!({"program": program}))]),
            "(return (tool/pay {:eur data/eur}))".into(),
            "(return (tool/pay {:eur data/eur}))".into(),
            calls(&[("b", "cashier", json!({"eur": 5}))]),
            "(return (tool/pay {:eur data/eur}))".into(),
            "done".into(),
        ]
    };
    let (made, ids) = twice(&agent, &replies);
    assert_eq!((made, ids.len()), (3, 3), "{ids:?}");
}
