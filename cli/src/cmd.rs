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
pub mod manual;
pub mod mcp;
pub mod repl;
pub mod run;
pub mod sql;
pub mod store;
pub mod test;
pub mod trace;
pub mod upstream;
pub mod verify;

use crate::args::{RecordArgs, Settings, UpstreamArgs, WriteArgs};
use crate::problem::Problem;
use crate::recording::Recording;
use crate::report::{self, Report, text_json};
use crate::setup::engine;
use crate::upstreams;
use ptc_bytecode::Code;
use ptc_runtime::PreludeTrace;
use ptc_upstream::{ProgramHost, Upstream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs one program and shows what came of it. `name` is what errors call the source.
fn run_program(
    source: Result<String, Problem>,
    name: &str,
    settings: &Settings,
    write: &WriteArgs,
    servers: &UpstreamArgs,
    record: &RecordArgs,
) -> ExitCode {
    let done = source.and_then(|source| {
        let upstream = upstreams::start(servers)?;
        let recording = Recording::open(record)?;
        let (report, members) = run_on(&source, settings, write, upstream.as_ref(), recording.as_ref())?;
        let failed = report.result.as_ref().err().and_then(|errors| errors.diagnostics.first()).map(|first| first.code);
        if let (Some(Recording { run, .. }), true) =
            (recording, failed.is_some_and(|code| code != Code::EffectDiverged))
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
    recording: Option<&Recording>,
) -> Result<(Report, String), Problem> {
    let within = Duration::from_millis(upstreams::widened(settings.limits.0).timeout_ms);
    let attached = upstream.map(|upstream| {
        let servers = upstream.attach(Some(Instant::now() + within));
        upstreams::trace(&servers.context());
        servers
    });
    let host = ProgramHost::new(attached);
    let engine = engine(settings, write, &host, recording)?;
    let preludes = preludes_member(engine.runtime().prelude_trace().as_ref());
    let outcome = engine.run(source);
    let report = Report::new(outcome, source, settings.json);
    let (Some(upstream), Some(context)) = (upstream, host.context()) else {
        return Ok((report, preludes));
    };
    drop(engine);
    drop(host);
    upstream.stop();
    let report = upstreams::scrubbed(report, upstream.redactor());
    let value = report.result.as_ref().ok().map(|shown| &*shown.value);
    let metrics = context.metrics(value, &report.prints).unwrap_or_default();
    let calls = context.upstream_calls();
    Ok((report, format!(r#"{preludes}"upstream_calls":{calls},"ptc_metrics":{metrics},"#)))
}

/// The hashes of attached preludes as a member of a JSON object; empty if there are none.
fn preludes_member(trace: Option<&PreludeTrace>) -> String {
    let identities = trace.map_or(Vec::new(), PreludeTrace::identities);
    match identities.is_empty() {
        true => String::new(),
        false => format!(r#""preludes":{},"#, text_json(&identities)),
    }
}
