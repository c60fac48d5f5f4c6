//! Missions that go on after the process died.

use crate::kit::{agent, at_once, everything, value, with};
use ptc_agent::definition::OnExhausted;
use ptc_agent::tools::Tool;
use ptc_agent::{Agent, RunOptions, Step, run};
use ptc_model::LlmRetry;
use ptc_model::{LlmError, Reply, Scripted};
use serde_json::json;
use std::path::Path;

fn worker() -> Agent {
    agent("Work")
        .max_turns(4)
        .journaling(true)
        .llm_retry(LlmRetry { max_attempts: 1, ..at_once() })
        .tool(Tool::new("pay", |_, _| Ok(1)))
        .on_exhausted(OnExhausted::LastValue)
        .build()
        .unwrap()
}

/// Two turns, and then the model is gone.
fn interrupted(agent: &Agent, dir: &Path) -> Box<Step> {
    let model = Scripted::new([
        Reply::from("(def twice (let [n 2] (fn [x] (* n x)))) {:rows [1 2]}"),
        Reply::from("(def total (twice 20)) (task \"pay\" (tool/pay {})) [:a 1]"),
        LlmError::from("down").into(),
    ]);
    run(agent, &RunOptions { checkpoint_dir: Some(dir.to_path_buf()), ..with(&model) }).unwrap_err()
}

#[test]
fn a_mission_goes_on_from_its_last_turn() {
    let dir = tempfile::tempdir().unwrap();
    let agent = worker();
    assert_eq!(interrupted(&agent, dir.path()).reason(), "llm_error");
    for turn in [1, 2] {
        assert!(dir.path().join(format!("checkpoint-{turn}.json")).exists());
    }
    let model = Scripted::new([
        "(+ 1 1)",
        "(return [total (twice 4) data/rows *2 (task \"pay\" (+ 1 nil)) (:turns (budget/remaining))])",
        "(return :never)",
    ]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    let step = run(&agent, &options).unwrap_or_else(|step| panic!("{:?}", step.fail));
    assert_eq!(value(&step), json!([40, 8, [1, 2], ["a", 1], 1, 16]));
    assert_eq!((step.usage.turns, model.requests()[0].turn, model.left()), (4, 3, 1));
    // The model is sent everything that was said before.
    assert_eq!(model.requests()[0].messages.len(), 5);
    assert!(everything(&model).contains("(def total (twice 20))"));
}

#[test]
fn an_earlier_checkpoint_will_do_and_the_newest_value_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let agent = worker();
    interrupted(&agent, dir.path());
    let from = |file: &str| RunOptions { resume_from: Some(dir.path().join(file)), ..RunOptions::new() };
    let model = Scripted::new(["(return (memory/get :total))"]);
    let options = RunOptions { llm: with(&model).llm, ..from("checkpoint-1.json") };
    assert_eq!(value(&run(&agent, &options).unwrap()), json!(null));
    assert_eq!(model.requests()[0].turn, 2);

    let model = Scripted::new(["(do nil)", "(nope)"]);
    let options = RunOptions { llm: with(&model).llm, ..from("checkpoint-2.json") };
    let step = run(&agent, &options).unwrap();
    assert_eq!((value(&step), step.usage.fallback_used), (json!(["a", 1]), true));
}

#[test]
fn checkpoints_of_an_earlier_run_are_not_taken_for_ours() {
    let dir = tempfile::tempdir().unwrap();
    let agent = worker();
    let checkpoints =
        |options: RunOptions| RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..options };
    let long = Scripted::new(["(def a 1)", "(def a 2)", "(def a 3)", "(return a)"]);
    run(&agent, &checkpoints(with(&long))).unwrap();
    interrupted(&agent, dir.path());
    let model = Scripted::new(["(return total)"]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    assert_eq!(value(&run(&agent, &options).unwrap()), json!(40));
    assert_eq!(model.requests()[0].turn, 3);
}

#[test]
fn another_mission_does_not_go_on_from_there() {
    let dir = tempfile::tempdir().unwrap();
    interrupted(&worker(), dir.path());
    let model = Scripted::new(["(return 1)"]);
    let resume = |agent: &Agent, from: &Path| {
        let options = RunOptions { resume_from: Some(from.to_path_buf()), ..with(&model) };
        let fail = run(agent, &options).unwrap_err().fail.unwrap();
        assert_eq!(fail.reason, "invalid_option");
        fail.message
    };
    let other = agent("Something else").build().unwrap();
    assert!(resume(&other, dir.path()).contains("another agent"));
    assert!(resume(&worker(), &dir.path().join("nothing.json")).contains("cannot resume"));
    let empty = tempfile::tempdir().unwrap();
    assert!(resume(&worker(), empty.path()).contains("there is no checkpoint"));
    for damaged in ["", "{}", "[1]", "{\"version\": 99}"] {
        std::fs::write(empty.path().join("checkpoint-1.json"), damaged).unwrap();
        resume(&worker(), empty.path());
    }
    // A machine that was tampered with is refused, and nothing panics.
    let text = std::fs::read_to_string(dir.path().join("checkpoint-2.json")).unwrap();
    let mut checkpoint: serde_json::Value = serde_json::from_str(&text).unwrap();
    for machine in ["", "AAAA", "not base64!"] {
        checkpoint["machine"] = json!(machine);
        std::fs::write(dir.path().join("checkpoint-2.json"), checkpoint.to_string()).unwrap();
        resume(&worker(), dir.path());
    }
    checkpoint["state"]["work_left"] = json!(1000);
    std::fs::write(dir.path().join("checkpoint-2.json"), checkpoint.to_string()).unwrap();
    assert!(resume(&worker(), dir.path()).contains("more turns left"));
    assert!(model.requests().is_empty());
}

#[test]
fn tasks_of_an_earlier_mission_are_not_taken_for_ours() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("journal.json"), "{\"pay\": \"long ago\"}").unwrap();
    let agent = worker();
    let model = Scripted::new([Reply::from("(+ 1 1)"), LlmError::from("down").into()]);
    run(&agent, &RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) }).unwrap_err();
    let model = Scripted::new(["(return (task \"pay\" (tool/pay {})))"]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    assert_eq!(value(&run(&agent, &options).unwrap()), json!(1));
}

#[test]
fn a_task_of_a_turn_that_did_not_end_is_not_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let agent = worker();
    let die = |_: &ptc_model::LlmRequest| -> Result<String, LlmError> { Err(LlmError::from("down")) };
    let model = Scripted::new([
        Reply::from("(+ 1 1)"),
        Reply::from("(task \"pay\" (tool/pay {})) (+ 1 nil)"),
        Reply::from_fn(die),
    ]);
    run(&agent, &RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) }).unwrap_err();
    // As if the process had died in the second turn.
    std::fs::remove_file(dir.path().join("checkpoint-2.json")).unwrap();
    let model = Scripted::new(["(return (task \"pay\" (+ 1 nil)))"]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    assert_eq!(value(&run(&agent, &options).unwrap()), json!(1));
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_no_end() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("taken");
    std::fs::write(&file, "x").unwrap();
    let model = Scripted::new(["(+ 1 1)", "(return 1)"]);
    let step = run(&worker(), &RunOptions { checkpoint_dir: Some(file), ..with(&model) }).unwrap();
    assert!(step.warnings.iter().any(|warning| warning.contains("checkpoint")), "{:?}", step.warnings);
}

#[test]
fn a_checkpoint_needs_the_library_it_was_written_with() {
    let dir = tempfile::tempdir().unwrap();
    // The same interface, so that everything but the code of the library is as it was.
    let with_rate = |rate: u32| {
        let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core()).unwrap();
        let source = format!("(ns shop) (defn gross \"With tax.\" [n] (* n {rate}))");
        let shop = ptc_runtime::Prelude::compile(&runtime, &source).unwrap();
        let hash = shop.artifact_hash();
        (worker().with(|builder| builder.runtime_prelude(Some(shop))).unwrap(), hash)
    };
    let ((old, written), (new, found)) = (with_rate(2), with_rate(3));
    interrupted(&old, dir.path());
    let resume = |agent: &Agent| {
        let model = Scripted::new(["(return (shop/gross total))"]);
        run(agent, &RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) })
    };
    let fail = resume(&new).unwrap_err().fail.unwrap();
    assert_eq!(fail.reason, "invalid_option");
    assert!(fail.message.contains(&written) && fail.message.contains(&found), "{}", fail.message);
    assert_eq!(value(&resume(&old).unwrap()), json!(80));
}
