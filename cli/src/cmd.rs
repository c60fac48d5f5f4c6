//! One file per subcommand. Each takes its arguments to an exit code.

pub mod agent;
pub mod batch;
pub mod build;
pub mod check;
pub mod disasm;
pub mod doc;
pub mod doctor;
pub mod eval;
pub mod inspect;
pub mod jsonl;
pub mod mcp;
pub mod repl;
pub mod run;
pub mod store;
pub mod trace;
pub mod upstream;
pub mod verify;

use crate::args::{Settings, UpstreamArgs, WriteArgs};
use crate::input::{Problem, grants, runtime_that_writes};
use crate::report::{self, Report, out};
use crate::upstreams;
use ptc_upstream::Upstream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Runs one program and shows what came of it. `name` is what errors call the source.
fn run_program(
    source: Result<String, Problem>,
    name: &str,
    settings: &Settings,
    write: &WriteArgs,
    servers: &UpstreamArgs,
) -> ExitCode {
    let done = source.and_then(|source| match upstreams::start(servers)? {
        Some(upstream) => run_with_servers(&source, name, settings, write, &upstream),
        None => {
            let (runtime, tools) = runtime_that_writes(settings, write, None)?;
            let outcome = runtime.eval(&source, &grants(settings)?, &tools);
            Ok(Report::new(outcome, &source, settings.json).show(settings.json, name))
        }
    });
    done.unwrap_or_else(|problem| report::problem(&problem, settings.json))
}

/// The same for a program that may call servers; what is shown of it holds none of their secrets.
fn run_with_servers(
    source: &str,
    name: &str,
    settings: &Settings,
    write: &WriteArgs,
    upstream: &Upstream,
) -> Result<ExitCode, Problem> {
    let limits = upstreams::widened(settings.limits.0);
    let mut attachment = upstream.attach(Some(Instant::now() + Duration::from_millis(limits.timeout_ms)));
    if write.prelude_write.is_some() {
        // What a program stores is not looked through afterwards.
        attachment = attachment.scrubbing();
    }
    upstreams::trace(&attachment.context());
    let (runtime, tools) = runtime_that_writes(settings, write, Some(&attachment))?;
    let outcome = runtime.eval(source, &grants(settings)?, &tools);
    let context = attachment.context();
    context.close();
    upstream.stop();
    let report = upstreams::scrubbed(Report::new(outcome, source, settings.json), upstream.redactor());
    if !settings.json {
        return Ok(report.show(false, name));
    }
    let value = report.result.as_ref().ok().map(|shown| &*shown.value);
    let metrics = context.metrics(value, &report.prints).unwrap_or_default();
    let members = format!(r#""upstream_calls":{},"ptc_metrics":{metrics},"#, context.upstream_calls());
    Ok(out(
        &(report.to_json(&members) + "\n"),
        if report.result.is_ok() { report::OK } else { report::FAULT },
    ))
}
