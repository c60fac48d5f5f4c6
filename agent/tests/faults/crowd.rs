//! Many concurrent missions.

use ptc_agent::mission::run_many;
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions};
use ptc_model::{Callback, LlmRequest};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_thousand_missions_do_not_mix() {
    // Each mission has its number in its mission text, its data, its definitions and its tools' answers.
    let model = Callback::waiting(|request: LlmRequest| async move {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..20))).await;
        Ok::<_, ptc_model::LlmError>(match request.turn {
            1 => "(def mine (tool/echo {:n data/n})) {:seen mine}".to_string(),
            2 => {
                let n: u64 = request.prompt.trim_start_matches("Mission ").parse().unwrap();
                assert!(request.messages[2].content.contains(&format!("mine = {n} ")));
                format!("(return [{n} data/n mine data/seen (:seen *1)])")
            }
            turn => panic!("turn {turn}"),
        })
    });
    let llm = LlmRef::client(model);
    let echo = Tool::new_async("echo", |args, _| async move {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..5))).await;
        Ok(args.json()?["n"].clone())
    });
    let agent =
        Agent::builder().prompt("Mission {{n}}").signature("(n :int) -> [:int]").tool(echo).build().unwrap();
    let missions = (0..1000u64).map(|n| {
        let options = RunOptions::new().context(&json!({"n": n})).unwrap();
        (agent.clone(), options.llm(llm.clone()))
    });
    let steps = run_many(missions, 1000);
    assert_eq!(steps.len(), 1000);
    for (n, step) in steps.into_iter().enumerate() {
        let step = step.unwrap_or_else(|step| panic!("mission {n}: {:?}", step.fail));
        assert_eq!(step.json().unwrap(), json!([n, n, n, n, n]));
    }
}
