//! `ptc agent replay`: a mission again, from its trace.

use super::{attached, build, stubbed, to_json, usage};
use crate::args::AgentReplayArgs;
use crate::live::{Detail, Live, clean};
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK, out, text_json};
use crate::upstreams;
use ptc_agent::definition::AgentFile;
use ptc_agent::replay::{Difference, RecordedMission};
use ptc_agent::trace::{Analyzer, Tracer};
use ptc_agent::{Agent, AgentBuilder, RunOptions};
use ptc_upstream::Upstream;
use serde_json::{Map, Value};
use similar::TextDiff;
use std::path::PathBuf;
use std::process::ExitCode;

/// Maximum lines of a difference that are shown.
const MAX_LINES: usize = 30;

pub fn run(args: &AgentReplayArgs) -> ExitCode {
    match start(args) {
        Ok(code) => code,
        Err(problem) => report::problem(&problem, args.json),
    }
}

fn start(args: &AgentReplayArgs) -> Result<ExitCode, Problem> {
    let name = args.trace.display();
    let trace = Analyzer::load(&args.trace).map_err(|error| usage(error.to_string()))?;
    let recorded =
        RecordedMission::of(&trace).map_err(|why| usage(format!("{name} cannot be replayed: {why}")))?;
    let Some(mission) = recorded.mission() else {
        let message = format!("{name} cannot be replayed: it does not contain the agent and its data");
        let mut problem = usage(message);
        problem.0.hint =
            Some("`ptc agent run --trace FILE` writes traces that do, up to 1 MiB of data".to_string());
        return Err(problem);
    };
    if mission.get("resumed").is_some() {
        let message = format!("{name} cannot be replayed: it begins at a checkpoint, not at the first turn");
        return Err(usage(message));
    }
    let upstream = servers(args, mission)?;
    let agent = agent(args, mission)?;
    let empty = Map::new();
    let context = mission.get("context").and_then(Value::as_object).unwrap_or(&empty);
    let mut tracer = Tracer::new();
    let live = Live::new(Detail::of(args.verbose));
    if live.is_on() {
        tracer = tracer.with(live);
    }
    let options = RunOptions::new().context(context).map_err(|error| usage(error.to_string()))?;
    let options = match &upstream {
        Some(upstream) => options.servers(upstream.attach(None)),
        None => options,
    };
    let replayed = recorded.run(&agent, &options.tracer(tracer));
    if let Some(upstream) = upstream {
        upstream.stop();
    }
    let code = if replayed.difference.is_none() { OK } else { FAULT };
    if args.json {
        let difference = replayed.difference.as_ref().map_or("null".to_string(), |found| {
            format!(
                r#"{{"agent":{},"turn":{},"what":{},"recorded":{},"now":{}}}"#,
                text_json(&found.agent),
                text_json(&found.turn),
                text_json(found.what),
                text_json(&found.recorded),
                text_json(&found.now),
            )
        });
        let members = format!(
            r#""same":{},"difference":{difference},"requests":{},"tool_calls":{},"#,
            replayed.difference.is_none(),
            replayed.requests,
            replayed.tool_calls,
        );
        return Ok(out(&(to_json(&replayed.result, &members) + "\n"), code));
    }
    match &replayed.difference {
        None => {
            let step = replayed.step();
            let text = format!(
                "same: {}, {}, {}, and the result\n",
                counted(step.usage.turns.into(), "turn"),
                counted(replayed.requests as u64, "request"),
                counted(replayed.tool_calls as u64, "tool call"),
            );
            Ok(out(&text, code))
        }
        Some(difference) => Ok(out(&told(difference), code)),
    }
}

/// The servers that the mission had: what they offer is a part of its prompts.
fn servers(args: &AgentReplayArgs, mission: &Value) -> Result<Option<Upstream>, Problem> {
    let had_servers = mission.get("servers").is_some();
    // Servers that only the environment names are those of another run, unless the mission had some.
    if !had_servers && args.upstream.upstreams_config.is_none() {
        return Ok(None);
    }
    let upstream = upstreams::start(&args.upstream)?;
    if upstream.is_none() {
        let message =
            format!("{} had upstream servers, whose tools are a part of its prompts", args.trace.display());
        return Err(
            usage(message).hint("name them again: --upstreams-config FILE; their tools are not called")
        );
    }
    Ok(upstream)
}

/// The agent of the trace, or the one that is to be compared with it.
fn agent(args: &AgentReplayArgs, mission: &Value) -> Result<Agent, Problem> {
    let file = args.agent.as_ref().map(AgentFile::load).transpose().map_err(|error| usage(error.message))?;
    let (builder, name) = match (&file, &args.agent) {
        (Some(file), Some(name)) => (file.builder(), name),
        _ => (AgentBuilder::from_json(&mission["agent"]), &args.trace),
    };
    let of_trace = || mission.get("preludes").and_then(|files| serde_json::from_value(files.clone()).ok());
    let files: Vec<PathBuf> = match args.attach.preludes.is_empty() {
        true => of_trace().unwrap_or_default(),
        false => args.attach.preludes.clone(),
    };
    let builder = args.stubs.iter().try_fold(builder, stubbed)?;
    let builder = attached(builder, &files, &args.attach.trusted)?;
    let policy = builder.options().policy.and(&args.attach.policy());
    build(builder.policy(policy), name, file.as_ref())
}

/// The first difference, with the lines around it.
fn told(difference: &Difference) -> String {
    let agent = difference.agent.as_deref().map_or(String::new(), |name| format!(" of `{name}`"));
    let turn = difference.turn.map_or(String::new(), |turn| format!("turn {turn}{agent}: "));
    let diff = TextDiff::from_lines(&difference.recorded, &difference.now);
    let mut text = format!("differs: {turn}{}\n", difference.what);
    text.push_str("--- as recorded\n+++ now\n");
    let shown = diff.unified_diff().context_radius(2).missing_newline_hint(false).to_string();
    let lines: Vec<&str> = shown.lines().collect();
    for line in lines.iter().take(MAX_LINES) {
        text.push_str(&clean(line));
        text.push('\n');
    }
    if lines.len() > MAX_LINES {
        text.push_str(&format!("… and {} more lines; --json has all\n", lines.len() - MAX_LINES));
    }
    text
}
