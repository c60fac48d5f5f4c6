//! `--upstreams-config`: servers that programs may call.

use crate::args::{Boot, CatalogMode, SnapshotMode, UpstreamArgs};
use crate::input::Problem;
use crate::report::{Errors, Report, Shown};
use ptc_bytecode::{Code, Limits};
use ptc_upstream::config::{Config, Surroundings, find};
use ptc_upstream::redact::Redactor;
use ptc_upstream::{BootPolicy, CallLimits, Options, RenderMode, Rendering, RunContext, Snapshot, Upstream};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// The variable that says where the configuration is.
const VARIABLE: &str = "PTC_RUNNER_UPSTREAMS";

/// The servers the flags ask for, if they ask for any. Programs get none that nobody named.
pub fn start(args: &UpstreamArgs) -> Result<Option<Upstream>, Problem> {
    let around = Surroundings::current();
    let named = around.var(VARIABLE).filter(|path| !path.is_empty());
    let path = args.upstreams_config.clone().or_else(|| named.map(Into::into));
    path.map(|path| open(&path, args, &around)).transpose()
}

/// The servers the flags ask for, or else those of the default file.
pub fn start_any(args: &UpstreamArgs) -> Result<Upstream, Problem> {
    let around = Surroundings::current();
    match find(args.upstreams_config.as_deref(), VARIABLE, &around) {
        Some(path) => open(&path, args, &around),
        None => {
            let mut problem = Problem::new(Code::InvalidConfig, "there is no file with upstream servers");
            let hint = "--upstreams-config FILE, or ~/.config/ptc_runner_mcp/upstreams.json";
            problem.0.hint = Some(hint.to_string());
            Err(problem)
        }
    }
}

fn open(path: &Path, args: &UpstreamArgs, around: &Surroundings) -> Result<Upstream, Problem> {
    let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
    let config = Config::load(path, around).map_err(|error| wrong(error.to_string()))?;
    let usual = CallLimits::default();
    let limits = CallLimits {
        max_calls: args.max_tool_calls.unwrap_or(usual.max_calls),
        max_catalog_ops: args.max_catalog_ops.unwrap_or(usual.max_catalog_ops),
        call_timeout: args.upstream_call_timeout_ms.map_or(usual.call_timeout, Duration::from_millis),
        max_response_bytes: args.max_upstream_response_bytes.unwrap_or(usual.max_response_bytes),
        max_catalog_bytes: args.max_catalog_result_bytes.map_or(usual.max_catalog_bytes, whole),
    };
    let snapshot = match args.catalog_snapshot_mode {
        SnapshotMode::Live => Snapshot::Live,
        SnapshotMode::Frozen => Snapshot::Frozen,
    };
    let boot_policy = match args.upstream_boot_policy {
        Boot::Fail => BootPolicy::Fail,
        Boot::Degrade => BootPolicy::Degrade,
    };
    let usual = Rendering::default();
    let rendering = Rendering {
        mode: match args.catalog_mode {
            CatalogMode::Auto => RenderMode::Auto,
            CatalogMode::Inline => RenderMode::Inline,
            CatalogMode::Lazy => RenderMode::Lazy,
        },
        inline_max_chars: args.catalog_inline_max_chars.map_or(usual.inline_max_chars, whole),
        inline_max_tools: args.catalog_inline_max_tools.map_or(usual.inline_max_tools, whole),
    };
    let options = Options { limits, snapshot, boot_policy, rendering, ..Options::default() };
    let upstream = Upstream::start(&config, around, options).map_err(|error| wrong(error.to_string()))?;
    for warning in upstream.warnings() {
        let _ = writeln!(std::io::stderr(), "warning: {warning}");
    }
    Ok(upstream)
}

fn whole(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
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
        Ok(Shown { value, json }) => Ok(Shown { value: clean(value), json: json.map(clean) }),
        Err(Errors { mut diagnostics, source, failed_with }) => {
            for diagnostic in &mut diagnostics {
                diagnostic.message = clean(std::mem::take(&mut diagnostic.message));
                diagnostic.hint = diagnostic.hint.take().map(clean);
            }
            Err(Errors { diagnostics, source, failed_with: failed_with.map(clean) })
        }
    };
    Report { prints: report.prints.into_iter().map(clean).collect(), spent: report.spent, result }
}
