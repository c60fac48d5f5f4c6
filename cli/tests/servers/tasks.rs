//! `ptc mcp --agentic`, with servers and a model that plays its part from a cassette; the example of `docs/mcp/task.md`.

use crate::page::fences_of;
use crate::{TOKEN, command, config, entry, file, finish, fixture, trial};
use libtest_mimic::Trial;
use ptc_agent::RunOptions;
use ptc_agent::tools::LlmRef;
use ptc_mcp::pending::RunScope;
use ptc_mcp::task::TaskArgs;
use ptc_mcp::{Host, Planner, Settings};
use ptc_model::{LlmResponse, Recorder, Scripted, Tokens};
use ptc_runtime::Runtime;
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, Snapshot, Upstream};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

const PAGE: &str = include_str!("../../../docs/mcp/task.md");
const READS: [&str; 2] = ["--agentic", "--aggregator-read-only"];

pub fn tests() -> Vec<Trial> {
    vec![
        trial("the_task_of_the_page_is_done", the_task_of_the_page_is_done),
        trial("a_task_tells_no_secret", a_task_tells_no_secret),
        trial("tasks_that_cannot_be_offered", tasks_that_cannot_be_offered),
    ]
}

/// A server that is believed about which of its tools only read.
fn trusted(mode: &str) -> Value {
    let mut entry = entry(mode);
    entry["trust_annotations"] = json!(true);
    entry
}

/// Records what a task asks its model, as the server would ask it.
fn recorded(name: &str, config: &str, args: &Value, replies: &[&str]) -> String {
    let cassette = file(&format!("{name}/cassette.jsonl"), "");
    let token = ("CANARY_TOKEN".to_string(), TOKEN.to_string());
    let around = Surroundings::of(std::env::vars().chain([token]));
    let read = Config::load(Path::new(config), &around).expect("a configuration");
    let options = Options { snapshot: Snapshot::Frozen, ..Options::default() };
    let upstream = Upstream::start(&read, &around, options).expect("servers");
    let settings = Settings::resolve(READS, |_| None).expect("settings").settings;
    let runtime = Runtime::with_core(ptc_preludes::core()).expect("a runtime");
    let host = Host::new(&runtime, &settings, Some(upstream.clone()));
    let replies = replies.iter().map(|reply| LlmResponse::from(*reply).tokens(Tokens::new(1200, 60)));
    let recorder = Recorder::create(Scripted::new(replies), &cassette).expect("a cassette");
    let models = RunOptions::new().llm(LlmRef::client(recorder));
    let planner = Planner::new(&host, &settings, models).expect("a planner");
    let args = TaskArgs::read(args.as_object().expect("arguments").clone(), &settings).expect("arguments");
    let scope = RunScope::default();
    tokio::runtime::Runtime::new().expect("a runtime").block_on(planner.run(&host, &args, &scope));
    upstream.stop();
    cassette
}

/// What the server answers to one request, and everything it wrote to its log.
fn asked(flags: &[&str], method: &str, params: Value) -> (Value, String) {
    let mut command = command(&[&["mcp"], flags].concat());
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().expect("ptc starts");
    let mut input = child.stdin.take().expect("a pipe");
    writeln!(input, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        .expect("a server");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an answer");
    drop(input);
    let log = String::from_utf8(child.wait_with_output().expect("an end").stderr).expect("text");
    let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}{log}"));
    (answer["result"].clone(), log)
}

fn the_task_of_the_page_is_done() {
    let read = |language: &str| fences_of(PAGE, language).swap_remove(0);
    let args: Value = serde_json::from_str(&read("json task")).expect("arguments");
    let shown: Value = serde_json::from_str(&read("json answer")).expect("an answer");
    let config = config("task/servers", json!({"fs": trusted("--server")}));
    let cassette = recorded("task", &config, &args, &[&read("clojure task")]);
    let flags = [&READS[..], &["--upstreams-config", &config, "--agentic-replay", &cassette]].concat();
    let (result, _) = asked(&flags, "tools/call", json!({"name": "lisp_task", "arguments": args}));
    let told = &result["structuredContent"];
    assert_eq!(result["isError"], false, "{result}");
    same(&shown, told, "answer");
    let (listed, _) = asked(&flags, "tools/list", json!({}));
    let task = &listed["tools"][1];
    assert_eq!((&task["name"], &task["annotations"]["readOnlyHint"]), (&json!("lisp_task"), &json!(true)));
    let description = task["description"].as_str().expect("text");
    let capabilities = read("text capabilities");
    assert!(description.ends_with(capabilities.trim_end()), "{description}");
}

/// Whatever is shown is so; `"…"` stands for anything, and what is left out is not looked at.
fn same(shown: &Value, told: &Value, place: &str) {
    match (shown, told) {
        (Value::String(any), _) if any == "…" => assert!(!told.is_null(), "{place} is not there"),
        (Value::Object(shown), Value::Object(told)) => {
            for (key, shown) in shown {
                same(shown, told.get(key).unwrap_or(&Value::Null), &format!("{place}.{key}"));
            }
        }
        (Value::Array(shown), Value::Array(told)) if shown.len() == told.len() => {
            for (n, (shown, told)) in shown.iter().zip(told).enumerate() {
                same(shown, told, &format!("{place}[{n}]"));
            }
        }
        _ => assert_eq!(shown, told, "{place}"),
    }
}

fn a_task_tells_no_secret() {
    let config = config("task-secret/servers", json!({"odd": trusted("--misbehaving-server")}));
    let args = json!({"task": format!("Is it {TOKEN}?"), "context": {"key": TOKEN}});
    let program = "(return {:answer (str data/key (:value (tool/call {:server \"odd\" :tool \"tell\"})))})";
    let cassette = recorded("task-secret", &config, &args, &[program]);
    let flags =
        [&READS[..], &["--upstreams-config", &config, "--agentic-replay", &cassette, "--log-level=debug"]]
            .concat();
    let (result, log) = asked(&flags, "tools/call", json!({"name": "lisp_task", "arguments": args}));
    assert_eq!(result["isError"], false, "{result}");
    let asked = std::fs::read_to_string(&cassette).expect("a cassette");
    for form in fixture::forms(TOKEN) {
        for text in [&result.to_string(), &log, &asked] {
            assert!(!text.contains(&form), "{form}: {text}");
        }
    }
    assert!(asked.contains("[REDACTED]"));
}

fn tasks_that_cannot_be_offered() {
    let config = config("task-boot/servers", json!({"fs": trusted("--server")}));
    let servers = ["--upstreams-config", &config];
    for (flags, told) in [
        (&["--agentic"][..], "--agentic needs --aggregator-read-only"),
        (&["--agentic-allow-writes"], "--agentic-allow-writes has no effect without --agentic"),
        (&["--agentic", "--aggregator-read-only"], "--agentic needs a model: name one with --agentic-model"),
        (&["--agentic", "--aggregator-read-only", "--agentic-model=tea"], "there is no model `tea`"),
        (&["--agentic", "--aggregator-read-only", "--agentic-replay=no/such"], "no/such"),
    ] {
        let mut command = command(&[&["mcp"], &servers[..], flags].concat());
        command.env_remove("PTC_MODELS");
        let ran = finish(command, b"");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{ran:?}");
        assert!(ran.err.contains(told), "{told}: {ran:?}");
    }
    let (listed, log) = asked(&["--agentic"], "tools/list", json!({}));
    assert_eq!(listed["tools"].as_array().map(Vec::len), Some(1), "{listed}");
    assert!(log.contains("there are no upstream servers, so lisp_task is not offered"), "{log}");
}
