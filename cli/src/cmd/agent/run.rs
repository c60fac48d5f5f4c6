//! `ptc agent run`: a mission, from the command line to an exit code.

use super::{build, context, hint_of, load, printed, step_of, to_json, usage, with_context};
use crate::args::AgentRunArgs;
use crate::input::read;
use crate::live::{Detail, Live, clean};
use crate::models;
use crate::oversight::Overseeing;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK, out};
use crate::upstreams;
use ptc_agent::definition::{AgentFile, PlanItem};
use ptc_agent::plan::FollowedPlan;
use ptc_agent::trace::{JsonLines, Tracer};
use ptc_agent::{Agent, AgentBuilder, RunOptions, Step};
use ptc_bytecode::Code;
use ptc_runtime::{Cancel, Policy};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Exit code of a process that Ctrl-C ended, as shells give it.
pub(super) const INTERRUPTED: u8 = 130;

pub fn run(args: &AgentRunArgs) -> ExitCode {
    match start(args) {
        Ok(code) => code,
        Err(problem) => report::problem(&problem, args.json),
    }
}

fn start(args: &AgentRunArgs) -> Result<ExitCode, Problem> {
    let loaded = load(&args.agent)?;
    let plan = args.plan.as_deref().map(plan_of).transpose()?;
    let builder = changed(loaded.builder, args, plan.as_ref());
    let agent = build(builder, &args.agent.file, Some(&loaded.file))?;
    let context = context(&args.agent, &agent)?;
    let mut run = with_context(RunOptions::new(), &agent, &context, &args.agent.file)?;
    let own = agent.options().llm.as_ref();
    let mut tape = None;
    if let Some(cassette) = &args.replay {
        let (replaying, replay) = models::replaying(run, cassette)?;
        run = replaying;
        tape = Some(replay);
    } else {
        run = models::choose(run, &args.model, own)?;
    }
    if let Some(cassette) = &args.record {
        run = models::recording(run, cassette, own)?;
    }
    // For child agents, too.
    run.cache = args.prompt_cache;
    if let Some(GivenPlan::Saved(saved)) = &plan {
        run = saved.follow(run);
    }
    run.checkpoint_dir = args.checkpoint.clone();
    run.resume_from = args.resume.clone();
    let overseeing = Overseeing::open(&args.effects, args.plan_writes.as_ref())?;
    let recorded_as = overseeing.recording.as_ref().map(|recording| recording.run.clone());
    run.oversight = overseeing.oversight();
    run.oversight_name = Some(overseeing.run().to_string());
    let source = kept(args, &loaded.file, &agent, &context).to_string();
    overseeing.check(&source, None)?;
    let cancel = watch()?;
    let run = run.cancel(&cancel);
    let upstream = upstreams::start(&args.upstream)?;
    // A model reads all that a mission sees, so answers of servers may not hold a secret either.
    let servers = upstream.as_ref().map(|upstream| upstream.attach(None));
    let run = match &servers {
        Some(servers) => {
            upstreams::trace(&servers.context());
            run.servers(servers.clone())
        }
        None => run,
    };
    let mut replay = kept(args, &loaded.file, &agent, &context);
    if servers.is_some() {
        replay["servers"] = true.into();
    }
    let (result, lost) = traced(args, &agent, run, replay)?;
    if let Some(GivenPlan::Saved(saved)) = &plan
        && let Err(error) = saved.finish(step_of(&result))
    {
        eprintln!("warning: --plan: {}", clean(&error.message));
    }
    let calls = servers.map_or(String::new(), |servers| {
        format!(r#""upstream_calls":{},"#, servers.context().upstream_calls())
    });
    if let Some(upstream) = upstream {
        upstream.stop();
    }
    if let Some(replay) = tape.filter(|replay| replay.left() > 0 && result.is_ok()) {
        eprintln!("warning: not used from the cassette: {}", counted(replay.left() as u64, "request"));
    }
    if let Some(lost) = lost {
        eprintln!("warning: the trace is incomplete: {lost}");
    }
    if overseeing.is_planning() {
        let end = match &result {
            Ok(_) => None,
            Err(_) => step_of(&result)
                .fail
                .as_ref()
                .filter(|fail| fail.reason != "planned")
                .and_then(|fail| overseeing.end_of_mission(&fail.reason, &fail.message, &fail.details)),
        };
        let text = match overseeing.plan(&source, None, end)? {
            Some((plan, _)) if args.json => format!("{}\n", json!({"ok": true, "plan": plan})),
            Some((_, text)) => text,
            None => String::new(),
        };
        return Ok(out(&text, OK));
    }
    if result.is_ok()
        && let Some(problem) = overseeing.unmade()
    {
        return Err(problem);
    }
    if let (Some(name), true) = (recorded_as, result.is_err()) {
        eprintln!(
            "note: this mission is `{name}` in the ledger; --run-name {name} repeats none of its calls"
        );
    }
    Ok(tell(&result, args, &calls))
}

/// The agent with what the command line says in its place.
fn changed(mut builder: AgentBuilder, args: &AgentRunArgs, plan: Option<&GivenPlan>) -> AgentBuilder {
    if let Some(turns) = args.max_turns {
        builder = builder.max_turns(turns);
    }
    if let Some(ms) = args.mission_timeout {
        builder = builder.mission_timeout(Some(ms));
    }
    match plan {
        None => builder,
        Some(GivenPlan::List(items)) => builder.plan(items.clone()),
        Some(GivenPlan::Saved(saved)) => builder.plan(saved.plan().items()),
    }
}

/// The plan that `--plan` names.
enum GivenPlan {
    /// A list of steps, which is only read.
    List(Vec<PlanItem>),
    /// A saved plan, which is kept up to date.
    Saved(FollowedPlan),
}

fn plan_of(file: &Path) -> Result<GivenPlan, Problem> {
    let wrong = |why: String| usage(format!("--plan: {}: {why}", file.display()));
    let value: Value =
        serde_json::from_slice(&read(file)?).map_err(|error| wrong(format!("is not valid JSON: {error}")))?;
    if value.is_object() {
        let saved = FollowedPlan::open(file).map_err(|error| usage(format!("--plan: {error}")))?;
        return Ok(GivenPlan::Saved(saved));
    }
    let builder = AgentBuilder::from_json(&json!({"prompt": "…", "plan": value}));
    match builder.problems().first() {
        Some(problem) => Err(wrong(problem.message.clone())),
        None => Ok(GivenPlan::List(builder.options().plan.clone())),
    }
}

/// From now on Ctrl-C ends the mission, and a second one the process.
pub(super) fn watch() -> Result<Cancel, Problem> {
    let cancel = Cancel::new();
    let pressed = cancel.clone();
    ctrlc::set_handler(move || {
        if pressed.is_cancelled() {
            std::process::exit(i32::from(INTERRUPTED));
        }
        pressed.cancel();
    })
    .map_err(|error| Problem::new(Code::Internal, format!("cannot watch for Ctrl-C: {error}")))?;
    Ok(cancel)
}

/// Outcome of a mission, and the events that its trace could not take.
type Traced = (Result<Step, Box<Step>>, Option<String>);

/// Runs the mission with everybody who wants to know listening.
fn traced(args: &AgentRunArgs, agent: &Agent, run: RunOptions, replay: Value) -> Result<Traced, Problem> {
    let live = Live::new(Detail::of_run(args.verbose, args.stream, args.json));
    let mut tracer = Tracer::new();
    if live.is_on() {
        tracer = tracer.with(live);
    }
    let mut log = None;
    if let Some(path) = &args.trace {
        let made = JsonLines::create(path)
            .map_err(|error| usage(format!("--trace: cannot write {}: {error}", path.display())))?;
        let metadata = Map::from_iter([("replay".to_string(), replay)]);
        tracer = tracer.with(made.clone()).metadata(metadata);
        log = Some(made);
    }
    let result = ptc_agent::run(agent, &run.tracer(tracer));
    let lost = log.map(|log| log.finish()).and_then(|written| match (written.dropped, written.error) {
        (_, Some(error)) => Some(error),
        (0, None) => None,
        (dropped, None) => Some(format!("{dropped} events were not written")),
    });
    Ok((result, lost))
}

/// Data that a trace needs for `ptc agent replay`.
fn kept(args: &AgentRunArgs, file: &AgentFile, agent: &Agent, context: &Map<String, Value>) -> Value {
    let mut table = file.table().clone();
    if let Some(turns) = args.max_turns {
        table["max_turns"] = turns.into();
    }
    if args.prompt_cache {
        table["prompt_cache"] = true.into();
    }
    if args.plan.is_some() {
        table["plan"] = json!(agent.options().plan);
    }
    for stub in &args.agent.stubs {
        let known = table.get("tools").and_then(|tools| tools.get(&stub.name)).cloned().unwrap_or_default();
        let mut tool = json!({"answer": null});
        for key in [
            "signature",
            "description",
            "cache",
            "expose",
            "visibility",
            "private_to",
            "validation",
            "effect",
        ] {
            if let Some(value) = known.get(key) {
                tool[key] = value.clone();
            }
        }
        table["tools"][&stub.name] = tool;
    }
    let added = args.agent.attach.policy();
    if added != Policy::default() {
        let own = table.get("policy").and_then(|own| serde_json::from_value::<Policy>(own.clone()).ok());
        table["policy"] = json!(own.unwrap_or_default().and(&added));
    }
    let mut mission = ptc_agent::replay::mission(&table, context);
    if !args.agent.attach.preludes.is_empty() {
        mission["preludes"] = json!(args.agent.attach.preludes);
    }
    if args.resume.is_some() {
        mission["resumed"] = true.into();
    }
    mission
}

/// The result on standard output, everything else on standard error. JSON begins with `members`.
fn tell(result: &Result<Step, Box<Step>>, args: &AgentRunArgs, members: &str) -> ExitCode {
    let step = step_of(result);
    let code = match step.reason() {
        "" => OK,
        "cancelled" => INTERRUPTED,
        _ => FAULT,
    };
    if args.json {
        return out(&(to_json(result, members) + "\n"), code);
    }
    for warning in &step.warnings {
        eprintln!("warning: {}", clean(warning));
    }
    let shown = if step.is_ok() { printed(step) + "\n" } else { String::new() };
    let code = out(&shown, code);
    if let Some(fail) = &step.fail {
        eprintln!("error: {}", clean(&fail.to_string()));
        if let Some(line) = models::attempts(fail) {
            eprintln!(" class: {}", clean(&line));
        }
        if let Some(op) = &fail.op {
            eprintln!(" while: {}", clean(op));
        }
        if let Some(hint) = hint_of(fail) {
            eprintln!(" hint: {hint}");
        }
    }
    if args.verbose {
        let usage = &step.usage;
        let (turns, requests) = (usage.tree.turns, usage.tree.llm_requests);
        let tokens = usage.tree.total_tokens;
        eprintln!("{}, {}, {tokens} tokens", counted(turns, "turn"), counted(requests, "request"));
    }
    code
}
