//! Files that people and their tools write. Each input goes to every reader of files, whatever its kind.

use crate::kit::{files, texts};
use ptc_agent::plan::{self, Plan};
use ptc_agent::prompt::preview_prompt;
use ptc_agent::protocol::{extract_json, extract_program};
use ptc_agent::trace::Analyzer;
use ptc_agent::{Agent, RunOptions};
use ptc_mcp::Settings;
use ptc_mcp::settings::FLAGS;
use ptc_model::{RegistryConfig, Replay};
use ptc_runtime::{Datum, Node};
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::import::import;
use ptc_upstream::redact::Redactor;
use std::path::Path;
use std::sync::Arc;

const OUR_FAULT: &str = "internal error";

/// Runs one input; `targets.rs` states the promise.
pub fn body(bytes: &[u8]) {
    let text = &*String::from_utf8_lossy(bytes);
    // Messages quote their subject; those about bugs of PTC begin like this.
    if text.contains(OUR_FAULT) {
        return;
    }
    agents(text);
    models(text);
    plans(text);
    servers(text);
    settings(text);
    traces(bytes);
    replies(text);
}

fn brief(error: &dyn std::fmt::Display) {
    // A message may quote a whole line of the file.
    let message = error.to_string();
    assert!(message.len() < 20_000 && !message.contains(OUR_FAULT), "{message}");
}

fn agents(text: &str) {
    let json = serde_json::from_str(text).map(|json| Agent::from_json(&json));
    for agent in [Some(Agent::from_toml(text)), json.ok()].into_iter().flatten() {
        match agent {
            Ok(agent) => {
                let _ = agent.validate(&RunOptions::new());
                let _ = preview_prompt(&agent, &Datum::scalar(Node::Map(0)));
            }
            Err(error) => brief(&error),
        }
    }
}

fn models(text: &str) {
    match RegistryConfig::from_toml(text) {
        Ok(config) => assert_eq!(config.check(), Ok(())),
        Err(error) => brief(&error),
    }
    match Replay::parse(text) {
        Ok(replay) => assert!(replay.left() <= text.lines().count()),
        Err(error) => brief(&error),
    }
}

fn plans(text: &str) {
    match Plan::from_json(text) {
        Ok(plan) => {
            let written = plan.to_json().expect("what was read can be written");
            assert_eq!(Plan::from_json(&written).as_ref(), Ok(&plan));
        }
        Err(error) => brief(&error),
    }
    match plan::read("Plan", text) {
        Ok(mut plan) => {
            let seen = plan::seen(&plan);
            match plan::merge(text, &mut plan, &seen) {
                Ok(merged) => {
                    // Neither side has changed, so the steps stay equal.
                    let again = plan::read("Plan", &merged).expect("it has the same steps");
                    assert_eq!(again.steps.len(), plan.steps.len(), "{text:?}\n{merged:?}");
                    let ids = |plan: &Plan| plan.steps.iter().map(|step| step.id.clone()).collect::<Vec<_>>();
                    assert_eq!(ids(&again), ids(&plan), "{text:?}\n{merged:?}");
                }
                Err(error) => brief(&error),
            }
        }
        Err(error) => brief(&error),
    }
}

fn servers(text: &str) {
    let around = Surroundings::of([("HOME", "/nowhere"), ("TOKEN", "0123456789abcdef")]);
    let read = |text: &str| match Config::parse(text, Path::new("/nowhere"), &around) {
        Ok(config) => {
            for name in config.servers.keys() {
                let _ = config.about(name);
            }
            // Files with secrets are not opened: the input could name any path.
            let is_without_files = !format!("{config:?}").contains("File");
            if is_without_files
                && let Err(error) = config.resolve(&around, &Arc::new(Redactor::new()), &mut Vec::new())
            {
                brief(&error);
            }
        }
        Err(error) => brief(&error),
    };
    read(text);
    match import(text) {
        Ok(imported) => read(&imported.config.to_string()),
        Err(error) => brief(&error),
    }
}

/// Reads settings: lines with a name in capitals before a `=` are variables, all others are flags.
fn settings(text: &str) {
    let is_var = |line: &&str| line.starts_with(|c: char| c.is_ascii_uppercase());
    let (vars, flags): (Vec<&str>, Vec<&str>) = text.lines().partition(is_var);
    let var = |name: &str| {
        let mut values = vars.iter().filter_map(|line| line.split_once('='));
        values.find(|(known, _)| *known == name).map(|(_, value)| value.to_string())
    };
    match Settings::resolve(flags, var) {
        Ok(resolved) => assert!(resolved.print().lines().count() >= FLAGS.len()),
        Err(problems) => {
            assert!(!problems.is_empty());
            problems.iter().for_each(|problem| brief(problem));
        }
    }
}

fn traces(bytes: &[u8]) {
    match Analyzer::parse(bytes, "trace") {
        Ok(trace) => {
            let tree = trace.build_tree();
            let _ = (trace.summary(), trace.slowest(&tree, 5).len(), trace.timeline(&tree).len());
            let _ = (trace.turns(), trace.sessions(), trace.programs(), trace.export_chrome_trace());
        }
        Err(error) => brief(&error),
    }
}

/// Reads the text like the reply of a model.
fn replies(text: &str) {
    let _ = extract_json(text);
    if let Ok(found) = extract_program(text, Default::default()) {
        assert!(found.program.len() <= text.len() + 2);
    }
}

/// Returns inputs to start from.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = files("examples/agents", ".toml");
    seeds.extend(files("examples/agents", ".jsonl"));
    seeds.extend(files("examples/traces", ".jsonl"));
    seeds.extend(texts(&[
        r#"{"credentials": {"k": {"source": "env", "name": "TOKEN"}, "l": {"source": "literal", "value": "s3cret-value"}}, "upstreams": {"crm": {"transport": "mcp_http", "url": "https://crm.example/mcp", "auth": [{"scheme": "bearer", "credential": "k"}]}, "fs": {"transport": "mcp_stdio", "command": "sh", "args": ["-c", "${HOME}"], "env": {"A": "${TOKEN}"}}}}"#,
        r#"{"upstreams": {"api": {"transport": "openapi", "base_url": "https://api.example/v1", "schema_file": "api.json", "include_operations": ["get /x"]}}}"#,
        r#"{"mcpServers": {"gh": {"command": "github-mcp", "args": ["--x"], "env": {"GITHUB_TOKEN": "ghp_0123"}}, "web": {"url": "https://x.example/sse", "type": "sse"}}}"#,
        "[mcp_servers.a]\ncommand = \"x\"\nenv = { K = \"v\" }\n",
        "default_provider = \"anthropic\"\n[aliases.fast]\nopenai = \"m\"\n[models.x]\nadapter = \"openai_compat\"\nmodel = \"m\"\nbase_url = \"http://localhost:8000/v1\"\nprices = { input = 1.0, output = 2 }\n",
        "{\"cassette\":1}\n{\"request\":{},\"response\":{}}\n",
        "{\"version\": 1, \"title\": \"Report\", \"steps\": [{\"id\": \"1\", \"text\": \"Load\"}]}",
        "Goal.\n\n- [x] Load <!-- ptc {\"id\":\"a\"} -->\n* [ ] Sum\n  - [ ] Inner\n",
        "--sessions\n--max-sessions=4\n--http\n--http-auth-token=0123456789abcdef0123456789abcdef\nPTC_MCP_MAX_PROGRAM_BYTES=9\n--catalog-mode\nbig",
        "Here:\n```clojure\n(return 1)\n```\nand\n```json\n{\"a\": 1}\n```",
    ]));
    seeds
}
