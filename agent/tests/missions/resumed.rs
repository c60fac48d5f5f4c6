//! Missions that are resumed after the process died.

use crate::kit::{agent, at_once, everything, value, with};
use ptc_agent::definition::OnExhausted;
use ptc_agent::tools::Tool;
use ptc_agent::{Agent, RunOptions, Step, run};
use ptc_model::LlmRetry;
use ptc_model::{LlmError, Reply, Scripted};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

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

/// Runs two turns, after which the model is gone.
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
    // The model gets the whole earlier conversation.
    assert_eq!(model.requests()[0].messages.len(), 5);
    assert!(everything(&model).contains("(def total (twice 20))"));
}

#[test]
fn a_result_that_was_not_kept_is_not_there_after_a_crash_either() {
    let dir = tempfile::tempdir().unwrap();
    let agent = worker();
    let model = Scripted::new([
        Reply::from("(vec (range 20000))"),
        Reply::from("(+ 1 1)"),
        LlmError::from("down").into(),
    ]);
    run(&agent, &RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) }).unwrap_err();
    let model = Scripted::new(["(return (count *2))", "(return *1)"]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    let step = run(&agent, &options).unwrap_or_else(|step| panic!("{:?}", step.fail));
    assert_eq!(value(&step), json!(2));
    assert!(everything(&model).contains("`*2` was not kept: that result was "), "{}", everything(&model));
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
    // A manipulated snapshot is refused, and nothing panics.
    let text = std::fs::read_to_string(dir.path().join("checkpoint-2.json")).unwrap();
    let mut checkpoint: serde_json::Value = serde_json::from_str(&text).unwrap();
    for machine in ["", "AAAA", "not base64!"] {
        checkpoint["machine"] = json!(machine);
        std::fs::write(dir.path().join("checkpoint-2.json"), checkpoint.to_string()).unwrap();
        resume(&worker(), dir.path());
    }
    for (place, count) in [
        ("/state/done", json!(u32::MAX)),
        ("/state/call_ids", json!(u64::MAX)),
        ("/spent/llm_requests", json!(u64::MAX)),
        ("/spent/cost_usd", json!(-1e9)),
    ] {
        let mut forged: serde_json::Value = serde_json::from_str(&text).unwrap();
        *forged.pointer_mut(place).unwrap() = count;
        std::fs::write(dir.path().join("checkpoint-2.json"), forged.to_string()).unwrap();
        assert!(resume(&worker(), dir.path()).contains("its counts are impossible"), "{place}");
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
    // Equal interfaces, so that only the library's code differs.
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

/// Returns a cached tool with a counter of its runs.
fn directory() -> (Tool, Arc<AtomicU32>) {
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    let rows = move |_: &ptc_runtime::ToolArgs, _: &ptc_agent::tools::ToolCtx| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok(json!([{"name": "Ann", "_mail": "ann-canary@example.org", "share": 0.1}]))
    };
    (Tool::new("people", rows).cache(true), calls)
}

#[test]
fn answers_of_cached_tools_are_kept_in_checkpoints() {
    let dir = tempfile::tempdir().unwrap();
    let (tool, calls) = directory();
    let agent = agent("Mail").max_turns(5).llm_retry(LlmRetry { max_attempts: 1, ..at_once() });
    let agent = agent.tool(tool).build().unwrap();
    let down = || LlmError::from("down").into();
    let model = Scripted::new([Reply::from("(count (tool/people {:team \"a\"}))"), down()]);
    let first = RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) };
    assert_eq!(run(&agent, &first).unwrap_err().reason(), "llm_error");

    // Firewalled values are in the file, which nobody else may read, but in no request.
    let file = dir.path().join("checkpoint-1.json");
    assert!(std::fs::read_to_string(&file).unwrap().contains("ann-canary@example.org"));
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&file).unwrap()) & 0o777, 0o600);

    let model = Scripted::new([
        "(def p (tool/people {:team \"a\"})) (println p) (println (str (:_mail (first p)))) (tool/people {:team \"b\"}) p",
        "(return {:_mail (:_mail (first p)) :share (:share (first p))})",
    ]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    let step = run(&agent, &options).unwrap_or_else(|step| panic!("{:?}", step.fail));
    assert_eq!(value(&step), json!({"_mail": "ann-canary@example.org", "share": 0.1}));
    assert_eq!(calls.load(Ordering::SeqCst), 2, "once for each team");
    let cached: Vec<bool> = step.turns[0].tool_calls.iter().map(|call| call.cached).collect();
    assert_eq!(cached, [true, false]);
    assert!(!everything(&model).contains("ann-canary"), "{}", everything(&model));
    assert_eq!(step.tool_cache.len(), 2);
}

#[test]
fn a_cache_that_was_tampered_with_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (tool, _) = directory();
    let agent =
        agent("Mail").llm_retry(LlmRetry { max_attempts: 1, ..at_once() }).tool(tool).build().unwrap();
    let model = Scripted::new([Reply::from("(count (tool/people {}))"), LlmError::from("down").into()]);
    let first = RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) };
    run(&agent, &first).unwrap_err();
    let file = dir.path().join("checkpoint-1.json");
    let whole: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    for cache in [
        json!(5),
        json!([5]),
        json!([{"json": 1}]),
        json!([{"key": "k", "nodes": [{"Vector": 3}]}]),
        json!([{"key": "k", "nodes": []}]),
    ] {
        let mut checkpoint = whole.clone();
        checkpoint["cache"] = cache.clone();
        std::fs::write(&file, checkpoint.to_string()).unwrap();
        let model = Scripted::new(["(return 1)"]);
        let options = RunOptions { resume_from: Some(file.clone()), ..with(&model) };
        let fail = run(&agent, &options).unwrap_err().fail.unwrap();
        assert!(fail.message.contains("damaged"), "{cache}: {}", fail.message);
    }
    // Checkpoints of earlier versions have no cache.
    let mut checkpoint = whole;
    checkpoint.as_object_mut().unwrap().remove("cache");
    std::fs::write(&file, checkpoint.to_string()).unwrap();
    let model = Scripted::new(["(return 1)"]);
    assert!(run(&agent, &RunOptions { resume_from: Some(file), ..with(&model) }).is_ok());
}

#[test]
fn what_a_checkpoint_has_no_room_for_is_told_and_asked_again() {
    let dir = tempfile::tempdir().unwrap();
    let calls = Arc::new(AtomicU32::new(0));
    let count = calls.clone();
    let tool = Tool::new("book", move |_, _| {
        count.fetch_add(1, Ordering::SeqCst);
        Ok("x".repeat(33 << 20))
    });
    let agent = agent("Read").llm_retry(LlmRetry { max_attempts: 1, ..at_once() }).tool(tool.cache(true));
    let agent = agent.timeout(60_000).max_granted(Some(1 << 30)).build().unwrap();
    let count = "(count (tool/book {}))";
    let model = Scripted::new([Reply::from(count), Reply::from(count), LlmError::from("down").into()]);
    let first = RunOptions { checkpoint_dir: Some(dir.path().to_path_buf()), ..with(&model) };
    let step = run(&agent, &first).unwrap_err();
    let told = step.warnings.iter().filter(|warning| warning.contains("too large for a checkpoint")).count();
    assert_eq!((told, calls.load(Ordering::SeqCst)), (1, 1), "{:?}", step.warnings);
    let model = Scripted::new(["(return (count (tool/book {})))"]);
    let options = RunOptions { resume_from: Some(dir.path().to_path_buf()), ..with(&model) };
    assert_eq!(value(&run(&agent, &options).unwrap()), json!(33 << 20));
    assert_eq!(calls.load(Ordering::SeqCst), 2);
}
