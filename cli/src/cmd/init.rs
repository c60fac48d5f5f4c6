//! `ptc init`: a small set-up that works, to start from.

use crate::args::{InitArgs, InitKind};
use crate::models;
use crate::own;
use crate::problem::Problem;
use crate::report::{self, OK, out};
use ptc_agent::{Agent, RunOptions};
use ptc_bytecode::Code;
use ptc_model::{Recorder, Scripted};
use serde_json::json;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &InitArgs) -> ExitCode {
    match write(args) {
        Ok(text) => out(&text, OK),
        Err(problem) => report::problem(&problem, false),
    }
}

/// A file of a set-up: its name and text.
type File = (&'static str, String);

/// Names of files that belong to the set-up and are made by running it.
const CASSETTE: &str = "open_orders.jsonl";

/// Writes the files; gives what is told of them, which ends with the command to go on with.
fn write(args: &InitArgs) -> Result<String, Problem> {
    let folder = &args.folder;
    let (files, made): (Vec<File>, &[&str]) = match args.kind {
        InitKind::Agent => (
            vec![
                ("agent.toml", include_str!("init/agent.toml").to_string()),
                ("orders.clj", include_str!("init/orders.clj").to_string()),
                ("agent_test.toml", include_str!("init/agent_test.toml").to_string()),
            ],
            &[CASSETTE],
        ),
        InitKind::Prelude => (
            vec![
                ("shop.clj", include_str!("init/shop.clj").to_string()),
                ("shop_test.clj", include_str!("init/shop_test.clj").to_string()),
            ],
            &[],
        ),
        InitKind::Mcp => (servers(folder)?, &[]),
    };
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).chain(made.iter().copied()).collect();
    // Before anything is written: half a set-up beside files of somebody else helps nobody.
    if let Some(there) =
        names.iter().map(|name| folder.join(name)).find(|file| file.symlink_metadata().is_ok())
    {
        let message = format!("{} exists already, and nothing was written", there.display());
        return Err(Problem::new(Code::InvalidConfig, message).hint(format!(
            "name another folder: ptc init {} {}",
            kind(args.kind),
            word(&folder.join("new"))
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, &error))?;
    for (name, text) in &files {
        let file = folder.join(name);
        let created = OpenOptions::new().write(true).create_new(true).open(&file);
        created
            .and_then(|mut created| created.write_all(text.as_bytes()))
            .map_err(|error| cannot(&file, &error))?;
    }
    let at = |name: &str| word(&folder.join(name));
    let next = match args.kind {
        InitKind::Agent => {
            record(folder)?;
            format!("ptc agent test {}", at("agent_test.toml"))
        }
        InitKind::Prelude => format!("ptc test {}", at("shop.clj")),
        InitKind::Mcp => format!("ptc doctor --upstreams-config {}", at("upstreams.json")),
    };
    let written: String =
        names.iter().map(|name| format!("wrote {}\n", folder.join(name).display())).collect();
    Ok(format!("{written}\nnext: {next}\n"))
}

fn kind(kind: InitKind) -> &'static str {
    match kind {
        InitKind::Agent => "agent",
        InitKind::Prelude => "prelude",
        InitKind::Mcp => "mcp",
    }
}

/// Plays the mission of the test and keeps what was said: requests hold the prompts of this version, so they cannot be
/// written beforehand.
fn record(folder: &Path) -> Result<(), Problem> {
    let wrong = |why: String| Problem::new(Code::Internal, format!("the cassette of the agent: {why}"));
    let agent = Agent::from_file(folder.join("agent.toml")).map_err(|error| wrong(error.to_string()))?;
    let model = Scripted::new([include_str!("init/reply.txt")]);
    let recorder =
        Recorder::create(model, folder.join(CASSETTE)).map_err(|error| wrong(error.to_string()))?;
    let run = RunOptions::new().context(&json!({"question": "How much is not paid yet?"}));
    let run = run.map_err(|error| wrong(error.to_string()))?;
    match ptc_agent::run(&agent, &models::only(run, recorder)) {
        Ok(_) => Ok(()),
        Err(step) => Err(wrong(step.fail.map_or(String::new(), |fail| fail.to_string()))),
    }
}

/// An upstream server, and what a client needs to start ours with it: by its place, as clients have a path of their own.
fn servers(folder: &Path) -> Result<Vec<File>, Problem> {
    let ptc = own::path().display().to_string();
    let config =
        std::path::absolute(folder.join("upstreams.json")).map_err(|error| cannot(folder, &error))?;
    let upstreams = json!({"upstreams": {"github": {
        "transport": "openapi",
        "base_url": "https://api.github.com",
        "schema_file": "github.json",
        "include_operations": ["get_repo"],
        "description": "Public repositories. An example, to be replaced with your servers.",
    }}});
    let args = json!(["mcp", "--upstreams-config", config.display().to_string(), "--sessions"]);
    let client = json!({"mcpServers": {"ptc": {"command": ptc, "args": args}}});
    let pretty = |value| serde_json::to_string_pretty(&value).map(|text| text + "\n").unwrap_or_default();
    Ok(vec![
        ("upstreams.json", pretty(upstreams)),
        ("github.json", include_str!("init/github.json").to_string()),
        ("mcp.json", pretty(client)),
    ])
}

fn cannot(path: &Path, error: &std::io::Error) -> Problem {
    Problem::new(Code::InvalidConfig, format!("cannot write {}: {error}", path.display()))
}

/// A path as a word of a shell.
fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/\\._-:".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
