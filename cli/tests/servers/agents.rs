//! `ptc agent run` with servers, and a model that plays its part from a cassette.

use crate::{Ran, file, mixed, ptc, trial};
use libtest_mimic::Trial;
use ptc_agent::tools::LlmRef;
use ptc_agent::{Agent, RunOptions};
use ptc_model::{Recorder, Scripted};
use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, Upstream};
use serde_json::{Value, json};
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("a_mission_calls_servers", a_mission_calls_servers),
        trial("a_write_ends_the_mission", a_write_ends_the_mission),
        trial(
            "a_mission_with_servers_is_replayed_from_its_trace",
            a_mission_with_servers_is_replayed_from_its_trace,
        ),
        trial("the_model_is_told_of_the_servers", the_model_is_told_of_the_servers),
        trial("a_mission_without_its_servers_does_not_begin", a_mission_without_its_servers_does_not_begin),
        trial(
            "a_mission_without_its_operations_does_not_begin",
            a_mission_without_its_operations_does_not_begin,
        ),
    ]
}

/// A mission with what its model would say.
pub struct Mission {
    pub agent: String,
    pub config: String,
    pub cassette: String,
}

impl Mission {
    /// Records the cassette as a run with servers would.
    pub fn new(name: &str, replies: &[&str]) -> Mission {
        Mission::with(name, &mixed(&format!("{name}/servers")), replies)
    }

    /// The same, with servers of one's own.
    pub fn with(name: &str, config: &str, replies: &[&str]) -> Mission {
        let config = config.to_string();
        let agent = file(&format!("{name}/agent.toml"), "prompt = \"Read the notes\"\nmax_turns = 4\n");
        let cassette = file(&format!("{name}/cassette.jsonl"), "");
        record(&agent, &config, &cassette, replies);
        Mission { agent, config, cassette }
    }

    pub fn run(&self, more: &[&str]) -> Ran {
        let args =
            ["agent", "run", &self.agent, "--replay", &self.cassette, "--upstreams-config", &self.config];
        ptc(&[&args, more].concat())
    }
}

/// Runs an agent with servers and a model that gives these replies, and keeps the conversation.
pub fn record(agent: &str, config: &str, cassette: &str, replies: &[&str]) {
    // What the command finds in its surroundings.
    let token = ("CANARY_TOKEN".to_string(), crate::TOKEN.to_string());
    let around = Surroundings::of(std::env::vars().chain([token]));
    let read = Config::load(Path::new(config), &around).expect("a configuration");
    let upstream = Upstream::start(&read, &around, Options::default()).expect("servers");
    let recorder = Recorder::create(Scripted::new(replies.iter().copied()), cassette).expect("a cassette");
    let options = RunOptions::new().llm(LlmRef::client(recorder));
    let made = Agent::from_file(agent).expect("an agent");
    let _ = ptc_agent::run(&made, &options.servers(upstream.attach(None)));
    upstream.stop();
}

const READ: &str = "(tool/call {:server \"fs\" :tool \"read_text_file\" :args {:path \"notes.md\"}})";

fn a_mission_calls_servers() {
    let answer = format!("(return (get-in {READ} [:value \"content\"]))");
    let mission = Mission::new("mission", &["(dir 'fs)", READ, &answer]);
    let ran = mission.run(&["--verbose"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "\"remember the milk\"\n"), "{ran:?}");
    assert!(ran.err.contains("tool/call {\"") && ran.err.contains("remember the milk"), "{ran:?}");
    let json = mission.run(&["--json"]).json();
    assert_eq!(
        (&json["ok"], &json["json"], &json["turns"]),
        (&json!(true), &json!("remember the milk"), &json!(3))
    );
    let calls: Vec<&Value> = json["upstream_calls"].as_array().into_iter().flatten().collect();
    assert_eq!(calls.len(), 2, "{json}");
    assert_eq!((&calls[0]["server"], &calls[0]["status"]), (&json!("fs"), &json!("ok")));
}

fn a_write_ends_the_mission() {
    let write = "(tool/call {:server \"odd\" :tool \"write\"})";
    let mission = Mission::new("write", &[write, "(return 1)"]);
    let ran = mission.run(&[]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{ran:?}");
    assert!(ran.err.starts_with("error: partial_side_effects: the turn wrote to a server"), "{ran:?}");
    let json = mission.run(&["--json"]).json();
    assert_eq!(json["error"]["details"]["matched_calls"][0]["tool"], "write", "{json}");
}

fn a_mission_with_servers_is_replayed_from_its_trace() {
    let answer = format!("(return (get-in {READ} [:value \"content\"]))");
    let calls = file("replayed/calls.txt", "");
    let mut server = crate::entry("--server");
    server["env"]["CALLS"] = json!(calls);
    let config = crate::config("replayed/servers", json!({"fs": server}));
    let mission = Mission::with("replayed", &config, &["(dir 'fs)", READ, &answer]);
    let trace = file("replayed/trace.jsonl", "");
    let ran = mission.run(&["--trace", &trace]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let called = std::fs::read_to_string(&calls).expect("calls");
    let with_servers = ["agent", "replay", &trace, "--upstreams-config", &mission.config];
    ptc(&with_servers).expect(0, "same: 3 turns, 3 requests, 2 tool calls, and the result\n");
    // Events say which operation was called.
    let events = std::fs::read_to_string(&trace).expect("a trace");
    assert_eq!(events.matches(r#""operation":"fs/read_text_file""#).count(), 6, "{events}");
    let shown = ptc(&["trace", "show", &trace]);
    assert!(shown.out.contains("fs/read_text_file"), "{shown:?}");
    // A tool of the same name would answer in place of the servers.
    let ran = mission.run(&["--stub", "call=1"]);
    assert!(ran.code == 1 && ran.err.contains("name_conflict: two tools are called `call`"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&calls).expect("calls"), called, "no tool is called");
    let ran = ptc(&["agent", "replay", &trace]);
    assert!(ran.code == 2 && ran.err.contains("hint: name them again: --upstreams-config FILE"), "{ran:?}");
    // A mission that ended because it wrote ends there again.
    let mission =
        Mission::new("replayed-write", &["(tool/call {:server \"odd\" :tool \"write\"})", "(return 1)"]);
    let ran = mission.run(&["--trace", &trace]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let with_servers = ["agent", "replay", &trace, "--upstreams-config", &mission.config];
    ptc(&with_servers).expect(0, "same: 1 turn, 1 request, 1 tool call, and the result\n");
}

fn the_model_is_told_of_the_servers() {
    let mission = Mission::new("told", &["(return 1)"]);
    let asked = std::fs::read_to_string(&mission.cassette).expect("a cassette");
    for part in [
        "tool/call",
        "fs",
        "gone",
        "odd",
        "Files. Not loaded; (dir 'fs) loads it.",
        "(apropos",
        "(doc 'server/tool)",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    // Told differently, it is another conversation.
    let loaded = ["--catalog-snapshot-mode", "frozen", "--upstream-boot-policy", "degrade"];
    let ran = mission.run(&[&loaded[..], &["--catalog-mode", "inline"]].concat());
    assert!(ran.code == 1 && ran.err.contains("not in the cassette"), "{ran:?}");
}

fn a_mission_without_its_servers_does_not_begin() {
    let mission = Mission::new("absent", &["(return 1)"]);
    let ran = mission.run(&["--catalog-snapshot-mode", "frozen"]);
    assert!(ran.code == 2 && ran.err.starts_with("error: upstream 'gone' cannot be used"), "{ran:?}");
    let ran = ptc(&[
        "agent",
        "run",
        &mission.agent,
        "--replay",
        &mission.cassette,
        "--upstreams-config",
        "no/such",
    ]);
    assert!(ran.code == 2 && ran.err.contains("no/such"), "{ran:?}");
}

/// `agent run` starts servers when they are needed, and a prelude needs them before the model is asked.
fn a_mission_without_its_operations_does_not_begin() {
    let mission = Mission::new("operations", &["(return 1)"]);
    let prelude = file(
        "operations/adm.clj",
        "(ns adm) (defn write [] (tool/call {:server \"odd\" :tool \"write\"}))
         (defn next-step [] (tool/call {:server \"fs\" :tool \"no_such_tool\"}))",
    );
    let ran = mission.run(&["-p", &prelude, "--json"]);
    let json = ran.json();
    assert_eq!((ran.code, &json["error"]["kind"]), (1, &json!("prelude_attach_failed")), "{ran:?}");
    assert_eq!(json["upstream_calls"], json!([]), "{json}");
}
