//! `ptc agent check`: what an agent is, and everything that is wrong with it.

use super::{Loaded, context, load, place_of};
use crate::args::AgentCheckArgs;
use crate::live::clean;
use crate::models;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK, out};
use ptc_agent::definition::FilePlace;
use ptc_agent::prompt::preview_prompt;
use ptc_agent::tools::{LlmRef, Tool, ToolKind};
use ptc_agent::{Agent, BuildError, RunOptions};
use ptc_model::ModelRegistry;
use serde_json::json;
use std::fmt::Write;
use std::process::ExitCode;

pub fn run(args: &AgentCheckArgs) -> ExitCode {
    match check(args) {
        Ok(code) => code,
        Err(problem) => report::problem(&problem, args.json),
    }
}

/// A problem that is told.
struct Told {
    kind: String,
    message: String,
    /// Keys that lead to the wrong value, with dots between them.
    key: String,
    place: Option<FilePlace>,
}

fn check(args: &AgentCheckArgs) -> Result<ExitCode, Problem> {
    let Loaded { file, builder } = load(&args.agent)?;
    let told = |problem: &BuildError| Told {
        kind: problem.reason.to_string(),
        message: problem.message.clone(),
        key: problem.keys.join("."),
        place: place_of(&args.agent.file, Some(&file), problem),
    };
    let mut problems = builder.problems();
    let agent = match builder.build() {
        Ok(agent) if problems.is_empty() => agent,
        Ok(_) => return Ok(wrong(args, problems.iter().map(told))),
        Err(error) => {
            if problems.is_empty() {
                problems.push(error);
            }
            return Ok(wrong(args, problems.iter().map(told)));
        }
    };
    let data = context(&args.agent, &agent)?;
    let run = RunOptions::new().context(&data).map_err(|error| super::usage(error.to_string()))?;
    // What is not given is not wrong: a check without data is one of the agent alone.
    if !args.agent.inputs.is_empty() || args.agent.context.is_some() {
        problems.extend(agent.validate(&run));
    }
    let registry = models::registry(args.models.as_deref())?;
    let mut unknown = unknown_models(&registry, &agent);
    idle_rules(&agent, &mut unknown);
    let default = registry.default_model().filter(|_| agent.options().llm.is_none());
    let run = run.models(registry);
    let run = match default {
        Some(name) => run.llm(name.as_str()),
        None => run,
    };
    problems.extend(agent.unpriced(&run));
    if !problems.is_empty() || !unknown.is_empty() {
        let unplaced = |(kind, message)| Told { kind, message, key: String::new(), place: None };
        return Ok(wrong(args, problems.iter().map(told).chain(unknown.into_iter().map(unplaced))));
    }
    if args.prompt {
        let preview = preview_prompt(&agent, &run.context);
        if args.json {
            let shown = json!({
                "ok": true, "system": preview.system, "user": preview.user,
                "tools": preview.tool_schemas, "schema": preview.schema,
            });
            return Ok(out(&format!("{shown}\n"), OK));
        }
        let text = format!("--- system\n{}\n--- user\n{}\n", preview.system, preview.user);
        return Ok(out(&clean(&text), OK));
    }
    Ok(out(&described(args, &agent), OK))
}

/// Models that the agent and its tools name, and nobody knows.
fn unknown_models(registry: &dyn ModelRegistry, agent: &Agent) -> Vec<(String, String)> {
    let mut named = Vec::new();
    names(agent, &mut named);
    let unknown = named.into_iter().filter_map(|name| registry.validate(&name).err());
    unknown.map(|error| (error.reason().to_string(), error.message)).collect()
}

/// Rules of `policy` that fit no export of the preludes beside them; a run refuses them before it asks a model. Rules of an
/// agent without preludes may be about those it inherits. Agents nest as deep as files do, which is bounded.
fn idle_rules(agent: &Agent, found: &mut Vec<(String, String)>) {
    if let (false, Err(problem)) =
        (agent.preludes().is_empty(), agent.options().policy.check_used(agent.preludes().iter()))
    {
        let hint = problem.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
        found.push(("prelude_attach_failed".to_string(), format!("{}{hint}", problem.message)));
    }
    for tool in agent.tools().iter() {
        if let ToolKind::Agent(below) = &tool.kind {
            idle_rules(below, found);
        }
    }
}

/// Agents nest as deep as files do, which is bounded.
fn names(agent: &Agent, named: &mut Vec<String>) {
    let mut add = |llm: Option<&LlmRef>| {
        if let Some(LlmRef::Name(name)) = llm
            && !named.contains(name)
        {
            named.push(name.clone());
        }
    };
    add(agent.options().llm.as_ref());
    for tool in agent.tools().iter() {
        if let ToolKind::Llm(question) = &tool.kind {
            add(Some(&question.llm));
        }
    }
    for tool in agent.tools().iter() {
        if let ToolKind::Agent(below) = &tool.kind {
            names(below, named);
        }
    }
}

fn wrong(args: &AgentCheckArgs, problems: impl Iterator<Item = Told>) -> ExitCode {
    let (file, problems) = (args.agent.file.display(), problems.collect::<Vec<_>>());
    if args.json {
        let error = |told: &Told| {
            let place = told.place.as_ref();
            let position = place.and_then(|place| place.place);
            json!({
                "kind": told.kind, "message": told.message,
                "key": Some(&told.key).filter(|key| !key.is_empty()),
                "file": place.map(|place| place.file.display().to_string()),
                "line": position.map(|place| place.line), "column": position.map(|place| place.column),
            })
        };
        let errors: Vec<_> = problems.iter().map(error).collect();
        let shown = json!({"ok": false, "file": file.to_string(), "errors": errors});
        return out(&format!("{shown}\n"), FAULT);
    }
    let count = counted(problems.len() as u64, "problem");
    eprintln!("error: {file}: {count}");
    for Told { kind, message, place, .. } in problems {
        let place = place.map_or(String::new(), |place| format!("{place}: "));
        eprintln!(" - {}", clean(&format!("{place}{kind}: {message}")));
    }
    ExitCode::from(FAULT)
}

fn described(args: &AgentCheckArgs, agent: &Agent) -> String {
    let options = agent.options();
    let file = args.agent.file.display();
    let llm = match &options.llm {
        Some(LlmRef::Name(name)) => Some(name.clone()),
        _ => None,
    };
    if args.json {
        let tool = |tool: &Tool| {
            json!({
                "name": tool.name, "signature": tool.signature_text(), "kind": kind(tool),
                "description": tool.summary(),
            })
        };
        let shown = json!({
            "ok": true, "file": file.to_string(), "name": agent.name(), "llm": llm,
            "signature": agent.signature().to_string(),
            "tools": agent.tools().iter().map(tool).collect::<Vec<_>>(),
            "max_turns": options.max_turns, "mission_timeout": options.mission_timeout,
            "warnings": agent.warnings(),
        });
        return format!("{shown}\n");
    }
    let mut text = format!("{file}: ok\n");
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:<10} {}", clean(value));
    };
    if let Some(name) = agent.name() {
        row("name", name);
    }
    row("signature", &agent.signature().to_string());
    row("model", llm.as_deref().unwrap_or("the model of the run (--llm)"));
    let time =
        options.mission_timeout.map_or("no time limit".to_string(), |ms| format!("{} s", ms as f64 / 1000.0));
    row("limits", &format!("{} turns, {} with child agents, {time}", options.max_turns, options.turn_budget));
    for (i, tool) in agent.tools().iter().enumerate() {
        let head = if i == 0 { "tools" } else { "" };
        row(head, &format!("{}{} ({})", tool.name, tool.signature_text(), kind(tool)));
        if let Some(summary) = tool.summary() {
            row("", &format!("  {summary}"));
        }
    }
    for warning in agent.warnings() {
        let _ = writeln!(text, "warning: {}", clean(warning));
    }
    text
}

/// The kind of a tool, in a word or two.
fn kind(tool: &Tool) -> &'static str {
    match tool.kind {
        ToolKind::Plain(_) => "needs no model",
        ToolKind::Llm(_) => "asks a model",
        ToolKind::Agent(_) => "an agent",
        ToolKind::SelfAgent => "this agent",
        ToolKind::Export(_) => "of a prelude",
        ToolKind::Described => "described only",
    }
}
