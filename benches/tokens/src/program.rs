//! Programs through `ptc mcp`: what a model has to look up first, what it writes, and what comes back.

use crate::mcp::Client;
use crate::printed;
use crate::tasks::Task;
use crate::transcript::{Transcript, Turn, as_models_see_it, written_call};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Error, Result};
use std::time::Instant;

/// The conversation of a task whose last program gives the answer. `known` is what was looked up before in the same
/// conversation, and is not looked up again.
pub fn run(task: &Task, ptc: &mut Client, known: &mut BTreeSet<String>) -> Result<Transcript> {
    let tools: Vec<String> = ptc.tools()?.iter().map(|tool| as_models_see_it(tool).to_string()).collect();
    let mut transcript = Transcript { question: task.question.to_string(), ..Transcript::default() };
    let mut last = String::new();
    let (last_program, probes) = task.programs.split_last().expect("a program");
    let mut programs = lookups(task, &tools, known);
    programs.extend(probes.iter().filter(|probe| known.insert(probe.to_string())).map(ToString::to_string));
    programs.push(last_program.to_string());
    for program in &programs {
        let args = json!({"program": program.trim()});
        let started = Instant::now();
        let id = ptc.send_call("lisp_eval", &args)?;
        let (text, is_error) = ptc.wait_call(id)?;
        let millis = started.elapsed().as_secs_f64() * 1e3;
        if is_error {
            return Err(Error::other(format!("{}: {program}\n{text}", task.id)));
        }
        transcript.turns.push(Turn {
            wrote: vec![written_call("lisp_eval", &args)],
            read: vec![text.clone()],
            millis,
        });
        last = text;
    }
    let value = value(&last).ok_or_else(|| Error::other(format!("{}: cannot read {last}", task.id)))?;
    transcript.answer = (task.read_out)(value);
    transcript.tools = tools;
    Ok(transcript)
}

/// The value of a result, without what was printed and without comments.
fn value(text: &str) -> Option<Value> {
    let (_, value) = text.rsplit_once("user=> ")?;
    let lines: Vec<&str> = value.lines().take_while(|line| !line.starts_with("; ")).collect();
    printed::read(&lines.join("\n"))
}

/// Programs that look up what the description of `lisp_eval` does not say: the names of tools, unless it lists
/// them, and then the arguments of those that are called.
fn lookups(task: &Task, tools: &[String], known: &mut BTreeSet<String>) -> Vec<String> {
    let is_listed = |reference: &&str| {
        let tool = reference.split_once('/').expect("server/tool").1;
        tools.iter().any(|text| text.contains(&format!("- {tool}")))
    };
    let mut programs = Vec::new();
    let mut look_up = |all: Vec<String>| {
        let new: Vec<String> = all.into_iter().filter(|form| known.insert(form.clone())).collect();
        match &new[..] {
            [] => {}
            [one] => programs.push(one.clone()),
            several => programs.push(format!("[{}]", several.join(" "))),
        }
    };
    if !task.tools.iter().all(|tool| is_listed(&tool)) {
        let mut servers: Vec<&str> =
            task.tools.iter().map(|tool| tool.split('/').next().unwrap_or_default()).collect();
        servers.dedup();
        look_up(servers.iter().map(|server| format!("(dir '{server})")).collect());
    }
    look_up(task.tools.iter().map(|tool| format!("(doc '{tool})")).collect());
    programs
}
