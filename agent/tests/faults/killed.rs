//! A process that dies in the middle of a mission, and another one that resumes it.
//!
//! The test starts itself again as a child that aborts in its third turn.

use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::{LlmRequest, Reply, Scripted};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const DIR: &str = "PTC_TEST_KILLED_DIR";

/// Returns an agent with tools that write a line for each call.
fn agent(dir: &Path) -> Agent {
    let tool = |name: &'static str, answer: i64| {
        let log = dir.join("calls.log");
        Tool::new(name, move |_, _| {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(&log).unwrap();
            writeln!(file, "{name}").unwrap();
            Ok(answer)
        })
    };
    Agent::builder()
        .prompt("Add what the three tools say")
        .tool(tool("first", 1))
        .tool(tool("second", 20))
        .tool(tool("third", 300))
        .journaling(true)
        .max_turns(6)
        .build()
        .unwrap()
}

fn options(dir: &Path, model: &Scripted) -> RunOptions {
    let checkpoint_dir = Some(dir.join("checkpoints"));
    RunOptions { checkpoint_dir, ..RunOptions::new() }.llm(LlmRef::client(model.clone()))
}

const FIRST: &str = "(def a (tool/first {})) (defn add [x] (+ x a))";
const SECOND: &str = "```clojure\n{:b (tool/second {})}\n```";
const THIRD: &str = "(def c (task \"third\" (tool/third {})))";

/// Runs the child process: two turns, and in the third it aborts once the task is done.
#[test]
fn child() {
    let Some(dir) = std::env::var_os(DIR).map(PathBuf::from) else { return };
    let agent = agent(&dir)
        .with(|builder| builder.tool(Tool::new("die", |_, _| -> Result<i32, _> { std::process::abort() })));
    let third = format!("{THIRD} (tool/die {{}})");
    let model = Scripted::new([FIRST.to_string(), SECOND.to_string(), third]);
    let _ = run(&agent.unwrap(), &options(&dir, &model));
    unreachable!("the child aborts");
}

#[test]
fn another_process_goes_on_where_one_was_killed() {
    if std::env::var_os(DIR).is_some() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::child", "--exact"])
        .env(DIR, dir.path())
        .output()
        .unwrap();
    assert!(!child.status.success());
    let calls = || std::fs::read_to_string(dir.path().join("calls.log")).unwrap();
    assert_eq!(calls(), "first\nsecond\nthird\n");

    // The resuming agent needs equal tools: they are part of the prompt.
    let agent = agent(dir.path()).with(|builder| builder.tool(Tool::new("die", |_, _| Ok(0)))).unwrap();
    let model = Scripted::new([
        Reply::from_fn(|request: &LlmRequest| {
            // The whole earlier conversation is there.
            assert_eq!((request.turn, request.messages.len()), (3, 5));
            Ok(THIRD)
        }),
        "(return (+ (add data/b) c (:b *2)))".into(),
    ]);
    let resume_from = Some(dir.path().join("checkpoints"));
    let options = RunOptions { resume_from, ..options(dir.path(), &model) };
    let step = run(&agent, &options).unwrap_or_else(|step| panic!("{:?} {:?}", step.fail, step.turns));
    assert_eq!(step.get::<i64>().unwrap(), 1 + 20 + 300 + 20);
    assert_eq!(calls(), "first\nsecond\nthird\n", "no tool ran twice");
    assert_eq!((step.usage.turns, step.usage.tree.turns), (4, 4));
}

#[test]
fn a_checkpoint_of_another_agent_or_a_damaged_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let model = Scripted::new([FIRST, "(return 1)"]);
    run(&agent(dir.path()), &options(dir.path(), &model)).unwrap();
    let file = dir.path().join("checkpoints/checkpoint-1.json");
    let resumed = |agent: &Agent, from: &Path| {
        let model = Scripted::new(["(return (add 1))"]);
        let resume_from = Some(from.to_path_buf());
        run(agent, &RunOptions { resume_from, ..RunOptions::new() }.llm(LlmRef::client(model)))
    };
    let own = agent(dir.path());
    assert_eq!(resumed(&own, &file).unwrap().get::<i64>().unwrap(), 2);

    let other = own.with(|builder| builder.prompt("Something else")).unwrap();
    let step = resumed(&other, &file).unwrap_err();
    assert!(step.fail.unwrap().message.contains("belongs to another agent"));

    let step = resumed(&own, dir.path().join("nowhere").as_path()).unwrap_err();
    assert_eq!(step.reason(), "invalid_option");

    // A changed file is refused or works; nothing panics.
    let text = std::fs::read(&file).unwrap();
    let damaged = dir.path().join("damaged.json");
    let machine = text.windows(9).position(|w| w == b"\"machine\"").unwrap();
    for at in (machine..text.len()).step_by(97).chain([0, 1, text.len() - 1]) {
        let mut bytes = text.clone();
        bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
        std::fs::write(&damaged, &bytes).unwrap();
        let _ = resumed(&own, &damaged);
    }
    std::fs::write(&damaged, &text[..text.len() / 2]).unwrap();
    assert!(resumed(&own, &damaged).unwrap_err().fail.unwrap().message.contains("damaged"));
}
