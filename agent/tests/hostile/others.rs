//! Isolation of concurrent sessions, of one runtime and on one thread.

use super::runtime;
use ptc_agent::tools::{LlmRef, Tool};
use ptc_agent::{Agent, RunOptions, run};
use ptc_model::Scripted;
use ptc_runtime::{Grants, Tools};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const SECRET: &str = "canary-neighbour-0001";

#[test]
fn a_session_sees_nothing_of_another() {
    let runtime = runtime();
    let grants = Grants::new().json("sekret", &format!("\"{SECRET}\"")).unwrap();
    let tools = Tools::new().with("sesame", |_| Ok(SECRET));
    let mut theirs = runtime.clone().with_tools(tools).session().with_grants(grants);
    theirs.eval("(def password data/sekret) (defn pass-word [] (tool/sesame {})) (pass-word)").unwrap();
    let mut mine = runtime.session();
    for look in [
        "password",
        "(pass-word)",
        "user/password",
        "data/sekret",
        "(get data/sekret :x)",
        "memory/password",
        "(resolve 'password)",
        "(var password)",
        "*1",
        "[*1 *2 *3 *e]",
        "(ns-publics 'user)",
        "(dir \"user\")",
        "(all-ns)",
        "(apropos \"password\")",
        "(apropos \"sesame\")",
        "(source pass-word)",
        "(doc \"password\")",
        "(meta 'password)",
        "(tool/sesame {})",
        "(passwor)",
        "passwrd",
        "data/sekre",
    ] {
        let told = match mine.eval(look) {
            Ok(outcome) => outcome.print().unwrap() + &outcome.prints.join("\n"),
            Err(failure) => {
                failure.diagnostics.iter().map(|d| format!("{} {:?}", d.message, d.hint)).collect()
            }
        };
        assert!(!told.contains(SECRET), "{look}: {told}");
        // Hints only offer names of this session: a name of the other may only be echoed to a program that wrote it.
        for name in ["password", "pass-word", "sekret", "sesame"] {
            assert!(look.contains(name) || !told.contains(name), "{look} tells {name}: {told}");
        }
    }
    assert_eq!(theirs.eval("password").unwrap().print().unwrap(), format!("\"{SECRET}\""));
}

/// Checks that a session's definitions change nothing for others, whatever their names.
#[test]
fn a_session_changes_nothing_for_another() {
    let runtime = runtime();
    let mut mine = runtime.session();
    for program in ["(def map 1)", "(defn inc [x] 0)", "(def str (fn [& _] \"x\"))", "(def user/reduce 5)"] {
        let _ = mine.eval(program);
    }
    let mut theirs = runtime.session();
    let sound = "[(map inc [1 2]) (str 1 2) (reduce + [1 2])]";
    assert_eq!(theirs.eval(sound).unwrap().print().unwrap(), "[[2 3] \"12\" 3]");
}

/// Checks that cached tool answers are cached for one mission only.
#[test]
fn what_a_tool_answered_one_mission_is_not_told_another() {
    let called = Arc::new(AtomicU32::new(0));
    let count = called.clone();
    let tool = Tool::new("load", move |_, _| Ok(count.fetch_add(1, Ordering::Relaxed))).cache(true);
    let agent = Agent::builder().prompt("Do").tool(tool).build().unwrap();
    for wanted in 0..3 {
        let model = Scripted::new(["(return (tool/load {:who \"me\"}))"]);
        let step = run(&agent, &RunOptions::new().llm(LlmRef::client(model))).unwrap();
        assert_eq!(step.json().unwrap(), json!(wanted));
    }
}
