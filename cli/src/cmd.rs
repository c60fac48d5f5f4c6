//! One file per subcommand. Each takes its arguments to an exit code.

pub mod agent;
pub mod batch;
pub mod build;
pub mod check;
pub mod disasm;
pub mod doc;
pub mod doctor;
pub mod effects;
pub mod eval;
pub mod explain;
pub mod fmt;
pub mod init;
pub mod inspect;
pub mod jsonl;
pub mod key;
pub mod lsp;
pub mod manual;
pub mod mcp;
pub mod repl;
pub mod run;
pub mod sql;
pub mod store;
pub mod studio;
pub mod test;
pub mod trace;
pub mod upstream;
pub mod verify;

use crate::args::{RecordArgs, Settings, UpstreamArgs, WriteArgs};
use crate::oversight::Overseeing;
use crate::problem::Problem;
use crate::recording::Recording;
use crate::report::{self, OK, Report, text_json};
use crate::setup::engine;
use crate::upstreams;
use ptc_bytecode::Code;
use ptc_runtime::PreludeTrace;
use ptc_upstream::{ProgramHost, Upstream};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs one program and shows what came of it. `name` is what errors call the source.
fn run_program(
    source: Result<String, Problem>,
    name: &str,
    settings: &Settings,
    write: &WriteArgs,
    servers: &UpstreamArgs,
    (record, plan): (&RecordArgs, Option<&Option<PathBuf>>),
) -> ExitCode {
    let done = source.and_then(|source| {
        let upstream = upstreams::start(servers)?;
        let overseeing = Overseeing::open(record, plan)?;
        let (report, members) = run_on(&source, settings, write, upstream.as_ref(), &overseeing)?;
        // A plan is all that there is to show.
        let Some(report) = report else { return Ok(report::out(&members, OK)) };
        let failed = report.result.as_ref().err().and_then(|errors| errors.diagnostics.first()).map(|first| first.code);
        if let (Some(Recording { run, .. }), true) =
            (overseeing.recording, failed.is_some_and(|code| code != Code::EffectDiverged))
        {
            // A person who fixes the cause does not want to do everything again.
            eprintln!("note: this run is `{run}` in the ledger; --run-name {run} goes on without repeating what was done");
        }
        Ok(report.show(settings.json.then_some(&*members), name))
    });
    done.unwrap_or_else(|problem| report::problem(&problem, settings.json))
}

/// Runs a program on a host with these servers, or none. What is told of it holds none of their secrets; JSON begins with
/// what it called.
fn run_on(
    source: &str,
    settings: &Settings,
    write: &WriteArgs,
    upstream: Option<&Upstream>,
    overseeing: &Overseeing,
) -> Result<(Option<Report>, String), Problem> {
    let within = Duration::from_millis(upstreams::widened(settings.limits.0).timeout_ms);
    let attached = upstream.map(|upstream| {
        let servers = upstream.attach(Some(Instant::now() + within));
        upstreams::trace(&servers.context());
        servers
    });
    let host = ProgramHost::new(attached);
    let engine = engine(settings, write, &host, overseeing)?;
    let data = engine.granted().data_hash();
    overseeing.check(source, data.as_deref())?;
    let preludes = preludes_member(engine.runtime().prelude_trace().as_ref());
    let outcome = engine.run(source);
    if overseeing.is_planning() {
        let end = outcome.as_ref().err().and_then(|failure| overseeing.end_of(failure));
        drop(engine);
        drop(host);
        upstream.iter().for_each(|upstream| upstream.stop());
        let planned = overseeing.plan(source, data, end)?;
        let text = planned.map(|(plan, text)| match settings.json {
            true => format!("{}\n", serde_json::json!({"ok": true, "plan": plan})),
            false => text,
        });
        let text = text.unwrap_or_default();
        return Ok((
            None,
            upstream.map_or(text.clone(), |upstream| upstream.redactor().scrub(&text).into_owned()),
        ));
    }
    if outcome.is_ok()
        && let Some(problem) = overseeing.unmade()
    {
        return Err(problem);
    }
    let report = Report::new(outcome, source, settings.json);
    let (Some(upstream), Some(context)) = (upstream, host.context()) else {
        return Ok((Some(report), preludes));
    };
    drop(engine);
    drop(host);
    upstream.stop();
    let report = upstreams::scrubbed(report, upstream.redactor());
    let value = report.result.as_ref().ok().map(|shown| shown.value.len() as u64);
    let metrics = context.metrics(value, &report.prints).unwrap_or_default();
    let calls = context.upstream_calls();
    Ok((Some(report), format!(r#"{preludes}"upstream_calls":{calls},"ptc_metrics":{metrics},"#)))
}

/// The hashes of attached preludes as a member of a JSON object; empty if there are none.
fn preludes_member(trace: Option<&PreludeTrace>) -> String {
    let identities = trace.map_or(Vec::new(), PreludeTrace::identities);
    match identities.is_empty() {
        true => String::new(),
        false => format!(r#""preludes":{},"#, text_json(&identities)),
    }
}
