//! Counts what a model reads and writes to answer questions with direct tool calls, and with programs:
//! `../README.md` says how to run it, `docs/guide/tokens.md` what came out.
#![forbid(unsafe_code)]

mod apis;
mod data;
mod dice;
mod direct;
mod mcp;
mod printed;
mod program;
mod report;
mod servers;
mod tasks;
mod transcript;

use clap::Parser;
use report::{Arm, Row, Talk};
use serde_json::Value;
use servers::{ALL, Installed};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::ExitCode;
use tasks::Task;
use tiktoken_rs::CoreBPE;
use transcript::Transcript;

#[derive(Parser)]
struct Options {
    /// Folder of the MCP servers that `run` installs.
    #[arg(long)]
    servers: PathBuf,
    /// The `ptc` to measure.
    #[arg(long)]
    ptc: PathBuf,
    /// Folder for results and transcripts.
    #[arg(long, default_value = "out")]
    out: PathBuf,
    /// How often each task runs; latency is the median.
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Only tasks whose name contains one of these.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Line about versions and the date, for the report.
    #[arg(long, default_value = "")]
    about: String,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ptc-tokens: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let is_wanted = |task: &Task| {
        options.only.is_empty() || options.only.iter().any(|part| task.id.contains(part.as_str()))
    };
    let tasks: Vec<Task> = tasks::all().into_iter().filter(is_wanted).collect();
    let installed = Installed::new(
        &options.servers.canonicalize()?,
        &options.out.join("work").canonicalize_or_create()?,
    )?;
    let tokenizer = tiktoken_rs::o200k_base().map_err(|error| Error::other(error.to_string()))?;
    let mut rows: BTreeMap<(&str, Arm), Row> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut talks: Vec<Talk> = Vec::new();
    for round in 0..options.repeat {
        for arm in Arm::ALL {
            // Latency is of the arms that are compared; the others differ in what is shown to the model.
            if round > 0 && !arm.is_timed() {
                continue;
            }
            eprintln!("round {}, {}", round + 1, arm.name());
            installed.create_data()?;
            let found = ask(*arm, &tasks, &installed, options)?;
            if round == 0 && *arm == Arm::Direct {
                installed.create_data()?;
                talks = talk(&found, &installed, options, &tokenizer)?;
            }
            for (task, transcript) in found {
                let row =
                    rows.entry((task.id, *arm)).or_insert_with(|| row(task, *arm, &transcript, &tokenizer));
                row.millis.push(transcript.millis());
                if round == 0 {
                    let folder = options.out.join("transcripts");
                    std::fs::create_dir_all(&folder)?;
                    std::fs::write(
                        folder.join(format!("{}-{}.txt", task.id, arm.name())),
                        transcript.text(),
                    )?;
                }
                let expected = &rows[&(task.id, Arm::Direct)].answer;
                if !printed::same(expected, &transcript.answer) {
                    wrong.push(format!(
                        "{}, {}: {} instead of {expected}",
                        task.id,
                        arm.name(),
                        transcript.answer
                    ));
                }
            }
        }
    }
    let mut lines = String::new();
    for row in rows.values() {
        lines += &format!("{}\n", serde_json::to_string(row)?);
    }
    for talk in &talks {
        lines += &format!("{}\n", serde_json::to_string(talk)?);
    }
    std::fs::write(options.out.join("results.jsonl"), lines)?;
    let text = report::markdown(&tasks, &rows, &talks, &options.about);
    std::fs::write(options.out.join("results.md"), &text)?;
    print!("{text}");
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Error::other(format!("answers differ:\n{}", wrong.join("\n")))),
    }
}

/// The transcripts of all tasks in one arm.
fn ask<'a>(
    arm: Arm,
    tasks: &'a [Task],
    installed: &Installed,
    options: &Options,
) -> Result<Vec<(&'a Task, Transcript)>> {
    if let Arm::Direct | Arm::DirectAll = arm {
        let mut connected = installed.connect()?;
        let all = tasks.iter().map(|task| {
            let mut model = direct::Direct::new(&mut connected);
            let answer = (task.direct)(&mut model)?;
            let turns = model.turns;
            let servers = if arm == Arm::DirectAll { ALL } else { task.servers };
            let mut tools = Vec::new();
            for server in servers {
                tools.extend(connected.tools(server)?.iter().map(Value::to_string));
            }
            Ok((task, Transcript { tools, question: task.question.to_string(), turns, answer }))
        });
        return all.collect();
    }
    let mut found = Vec::new();
    let mut sets: Vec<&[&str]> = Vec::new();
    for task in tasks {
        let set = if arm == Arm::ProgramAll { ALL } else { task.servers };
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    for set in sets {
        let flags: &[&str] = if arm == Arm::ProgramInline { &["--catalog-mode", "inline"] } else { &[] };
        let mut ptc = installed.start_ptc(&options.ptc, set, flags)?;
        for task in tasks.iter().filter(|task| arm == Arm::ProgramAll || task.servers == set) {
            found.push((task, program::run(task, &mut ptc, &mut BTreeSet::new())?));
        }
    }
    Ok(found)
}

/// All questions about the same servers in one conversation, in which nothing is looked up twice.
fn talk(
    direct: &[(&Task, Transcript)],
    installed: &Installed,
    options: &Options,
    tokenizer: &CoreBPE,
) -> Result<Vec<Talk>> {
    let mut talks: Vec<Talk> = Vec::new();
    for (task, _) in direct {
        let same: Vec<&(&Task, Transcript)> =
            direct.iter().filter(|(other, _)| other.servers == task.servers).collect();
        if same.len() < 2 || talks.iter().any(|talk| talk.servers == task.servers) {
            continue;
        }
        let mut ptc = installed.start_ptc(&options.ptc, task.servers, &[])?;
        let mut known = BTreeSet::new();
        let programs = same
            .iter()
            .map(|(task, _)| program::run(task, &mut ptc, &mut known))
            .collect::<Result<Vec<_>>>()?;
        let figures = |all: &[&Transcript]| Transcript::joined(all).figures(tokenizer);
        talks.push(Talk {
            servers: task.servers,
            questions: same.len(),
            direct: figures(&same.iter().map(|(_, transcript)| transcript).collect::<Vec<_>>()),
            program: figures(&programs.iter().collect::<Vec<_>>()),
        });
    }
    Ok(talks)
}

fn row(task: &Task, arm: Arm, transcript: &Transcript, tokenizer: &CoreBPE) -> Row {
    Row {
        task: task.id,
        arm,
        servers: task.servers,
        head: task.head,
        figures: transcript.figures(tokenizer),
        answer: transcript.answer.clone(),
        millis: Vec::new(),
    }
}

trait CreateFolder {
    fn canonicalize_or_create(&self) -> Result<PathBuf>;
}

impl CreateFolder for PathBuf {
    /// The full path of a folder, which is made if there is none.
    fn canonicalize_or_create(&self) -> Result<PathBuf> {
        std::fs::create_dir_all(self)?;
        self.canonicalize()
    }
}
