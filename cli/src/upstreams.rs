//! `--upstreams-config`: servers that programs may call.

use crate::args::UpstreamArgs;
use crate::own;
use crate::problem::Problem;
use crate::report::{Errors, Report, Shown};
use ptc_bytecode::{Code, Limits};
use ptc_upstream::config::{Config, Surroundings, find};
use ptc_upstream::redact::Redactor;
use ptc_upstream::{RunContext, Upstream};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The variables that say where the configuration is: the name, and that of older versions.
const VARIABLES: [&str; 2] = ["PTC_UPSTREAMS", "PTC_RUNNER_UPSTREAMS"];

/// Notes that a variable with its old name is in use.
fn note_old_name(around: &Surroundings) {
    let [new, old] = VARIABLES.map(|name| around.var(name).is_some_and(|path| !path.is_empty()));
    if old && !new {
        let _ = writeln!(
            std::io::stderr(),
            "note: {} is an old name; set {} instead",
            VARIABLES[1],
            VARIABLES[0]
        );
    }
}

/// The servers the flags ask for, if they ask for any. Programs get none that nobody named.
pub fn start(args: &UpstreamArgs) -> Result<Option<Upstream>, Problem> {
    start_named(args, None)
}

/// The servers the flags ask for, or else those of this file, which another file names.
pub fn start_named(args: &UpstreamArgs, file: Option<&Path>) -> Result<Option<Upstream>, Problem> {
    let around = own::surroundings();
    let named = VARIABLES.iter().find_map(|name| around.var(name).filter(|path| !path.is_empty()));
    let path = args.upstreams_config.clone().or_else(|| file.map(Path::to_path_buf));
    if path.is_none() {
        note_old_name(&around);
    }
    let path = path.or_else(|| named.map(Into::into));
    path.map(|path| open(&path, args, &around)).transpose()
}

/// The servers the flags ask for, or else those of the default file.
pub fn start_any(args: &UpstreamArgs) -> Result<Upstream, Problem> {
    let around = own::surroundings();
    if args.upstreams_config.is_none() {
        note_old_name(&around);
    }
    match find(args.upstreams_config.as_deref(), &VARIABLES, &around) {
        Some(path) => open(&path, args, &around),
        None => {
            let mut problem =
                Problem::new(Code::InvalidConfig, "no configuration of upstream servers was found");
            let hint = "name one with --upstreams-config FILE, or write \
                        ~/.config/ptc/upstreams.json";
            problem.0.hint = Some(hint.to_string());
            Err(problem)
        }
    }
}

/// The servers of the configuration without their pins, and the file of pins that it names.
pub fn start_unpinned(args: &UpstreamArgs) -> Result<(Upstream, PathBuf), Problem> {
    let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
    let around = own::surroundings();
    let Some(path) = find(args.upstreams_config.as_deref(), &VARIABLES, &around) else {
        return start_any(args).map(|upstream| (upstream, PathBuf::new()));
    };
    let mut config = Config::load(&path, &around).map_err(|error| wrong(error.to_string()))?;
    let Some(pins) = config.pins.take() else {
        let mut problem = wrong(format!("{} names no file of pins", path.display()));
        problem.0.hint = Some("add \"pins\": \"pins.json\" beside \"upstreams\"".to_string());
        return Err(problem);
    };
    let upstream =
        Upstream::start(&config, &around, args.options.0).map_err(|error| wrong(error.to_string()))?;
    Ok((upstream, pins))
}

fn open(path: &Path, args: &UpstreamArgs, around: &Surroundings) -> Result<Upstream, Problem> {
    let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
    let config = Config::load(path, around).map_err(|error| wrong(error.to_string()))?;
    let upstream =
        Upstream::start(&config, around, args.options.0).map_err(|error| wrong(error.to_string()))?;
    for warning in upstream.warnings() {
        let _ = writeln!(std::io::stderr(), "warning: {warning}");
    }
    Ok(upstream)
}

/// The limits of programs that call servers: what nobody set is wider, since servers take their time.
pub fn widened(mut limits: Limits) -> Limits {
    let usual = Limits::default();
    if limits.timeout_ms == usual.timeout_ms {
        limits.timeout_ms = 10_000;
    }
    if limits.memory_bytes == usual.memory_bytes {
        limits.memory_bytes = 100 << 20;
    }
    limits
}

/// Hands the trace we were started in on to servers.
pub fn trace(run: &RunContext) {
    if let Ok(traceparent) = std::env::var("TRACEPARENT") {
        run.set_traceparent(&traceparent);
    }
}

/// A report without secrets: a server may have echoed one.
pub fn scrubbed(report: Report, redactor: &Redactor) -> Report {
    let clean = |text: String| redactor.scrub(&text).into_owned();
    let result = match report.result {
        Ok(Shown { value, json }) => {
            Ok(Shown { value: clean(value), json: json.map(|json| json.map(&clean).map_err(&clean)) })
        }
        Err(Errors { mut diagnostics, source, failed_with }) => {
            for diagnostic in &mut diagnostics {
                diagnostic.message = clean(std::mem::take(&mut diagnostic.message));
                diagnostic.hint = diagnostic.hint.take().map(clean);
            }
            Err(Errors { diagnostics, source, failed_with: failed_with.map(clean) })
        }
    };
    let prints = report.prints.into_iter().map(clean).collect();
    Report { prints, spent: report.spent, result, warnings: report.warnings.map(clean) }
}
