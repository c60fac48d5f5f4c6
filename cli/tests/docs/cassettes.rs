//! The conversations of the examples: what the model says stays, what it is asked follows the prompts.

use crate::{bless, root};
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::{LlmResponse, Recorder, Replay, Reply, Scripted};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Once;

/// Each agent, its data and its cassette.
fn examples() -> [(&'static str, Value, &'static str); 2] {
    let question = "How often was code 42 logged, where, and when was the last time?";
    [
        ("orders.toml", json!({"country": "DE", "today": "2031-04-03"}), "orders.jsonl"),
        ("support.toml", json!({"question": question}), "support.jsonl"),
    ]
}

/// Writes what the models are asked anew, once; commands on the pages play the cassettes.
pub fn refresh() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (file, data, cassette) in examples().into_iter().filter(|_| bless()) {
            let folder = root().join("examples/agents");
            let cassette = folder.join(cassette);
            let agent = Agent::from_file(folder.join(file)).expect("an agent");
            let recorder =
                Recorder::create(Scripted::new(replies(&cassette)), &cassette).expect("a cassette");
            let run_of = RunOptions::new().context(&data).expect("data");
            run(&agent, &run_of.llm(LlmRef::client(recorder))).expect("a result");
        }
    });
}

#[test]
fn cassettes_are_fresh() {
    refresh();
    for (file, data, cassette) in examples() {
        let folder = root().join("examples/agents");
        let cassette = folder.join(cassette);
        let agent = Agent::from_file(folder.join(file)).expect("an agent");
        let options = RunOptions::new().context(&data).expect("data");
        let replay = Replay::open(&cassette).expect("a cassette");
        let step = run(&agent, &options.llm(LlmRef::client(replay.clone())))
            .unwrap_or_else(|step| panic!("{:?}; PTC_BLESS=1 writes the requests anew", step.fail));
        assert_eq!((replay.left(), step.usage.turns), (0, 3));
    }
}

/// What the model says in a cassette, in order.
fn replies(cassette: &Path) -> Vec<Reply> {
    let text = std::fs::read_to_string(cassette).expect("a cassette");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let replies = lines.filter_map(|mut line| line.get_mut("response").map(Value::take));
    replies.map(|reply| serde_json::from_value::<LlmResponse>(reply).expect("a reply").into()).collect()
}
