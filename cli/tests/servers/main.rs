//! `ptc` with servers, from outside. This binary is its own server: started with `--server` it is one.
#![forbid(unsafe_code)]

mod agents;
mod attack;
mod canary;
mod commands;
mod effects;
mod fixture;
mod mcp;
mod oversight;
mod page;
#[path = "../cli/process.rs"]
mod process;
mod runs;
#[path = "../cli/serving.rs"]
mod serving;
mod tasks;
mod team;
mod web;

use libtest_mimic::{Arguments, Trial};
use process::{Ran, file, finish};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A token no output may show, with what must be written differently in URLs and in JSON.
const TOKEN: &str = "canary/7f3a\"9c5e+1";

fn main() {
    let mut args = std::env::args().skip(1);
    if let Some(mode @ ("--server" | "--misbehaving-server")) = args.next().as_deref() {
        return fixture::serve(&PathBuf::from(args.next().unwrap_or_default()), mode != "--server");
    }
    if let Some(mode @ ("--bank" | "--faulty-bank" | "--dying-bank")) = std::env::args().nth(1).as_deref() {
        let payments = PathBuf::from(std::env::args().nth(2).unwrap_or_default());
        return effects::serve(&payments, effects::Manner::of(mode));
    }
    let tests = [
        commands::tests(),
        runs::tests(),
        agents::tests(),
        page::tests(),
        tasks::tests(),
        team::tests(),
        canary::tests(),
        mcp::tests(),
        attack::tests(),
        effects::tests(),
        oversight::tests(),
    ];
    libtest_mimic::run(&Arguments::from_args(), tests.into_iter().flatten().collect()).exit();
}

/// A test that may panic.
fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// A folder with the files that the servers have. Written once: a test that reads must not meet one that writes.
fn sandbox() -> PathBuf {
    static SANDBOX: OnceLock<PathBuf> = OnceLock::new();
    let made = SANDBOX.get_or_init(|| {
        file("sandbox/notes.md", "remember the milk");
        file("sandbox/watched-paths.txt", "src/a.rs\nsrc/b.rs\n");
        let orders = file("sandbox/orders.json", r#"[{"id": 1, "total": 40}, {"id": 2, "total": 2}]"#);
        Path::new(&orders).parent().expect("a folder").to_path_buf()
    });
    made.clone()
}

/// An entry of a configuration: `mode` says whether the server behaves.
fn entry(mode: &str) -> Value {
    let binary = std::env::current_exe().expect("this binary");
    json!({
        "transport": "mcp_stdio", "command": binary, "args": [mode, sandbox()],
        "env": {"TOKEN": "${CANARY_TOKEN}"}, "description": "Files.",
    })
}

/// A file of configuration with these servers.
fn config(name: &str, upstreams: Value) -> String {
    file(&format!("{name}.json"), json!({"upstreams": upstreams}).to_string())
}

/// A server that behaves, called `fs`.
fn good(name: &str) -> String {
    config(name, json!({"fs": entry("--server")}))
}

/// One that behaves, one that does not, and one that is not there.
fn mixed(name: &str) -> String {
    let mut gone = entry("--server");
    gone["command"] = json!("/bin/false");
    gone["args"] = json!([]);
    config(name, json!({"fs": entry("--server"), "odd": entry("--misbehaving-server"), "gone": gone}))
}

/// `ptc`, in surroundings that hold the token and no other configuration.
fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command
        .args(args)
        .env("CANARY_TOKEN", TOKEN)
        .env_remove("PTC_UPSTREAMS")
        .env_remove("PTC_RUNNER_UPSTREAMS");
    command.env("XDG_CONFIG_HOME", sandbox().join("nothing"));
    command
}

fn ptc(args: &[&str]) -> Ran {
    finish(command(args), b"")
}

fn ptc_with(args: &[&str], input: &[u8]) -> Ran {
    finish(command(args), input)
}
