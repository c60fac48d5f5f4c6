//! Summary at the end of a batch.

use super::stats::Shown;
use super::{INTERRUPTED, ProgramWarnings};
use crate::args::BatchArgs;
use crate::problem::Problem;
use crate::report;
use ptc_bytecode::Code;
use ptc_runtime::{Ending, Summary};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

pub fn rate(records: u64, elapsed: Duration) -> u64 {
    (records as f64 / elapsed.as_secs_f64().max(1e-9)) as u64
}

/// Shows the summary and gives the exit code.
pub fn finish(
    args: &BatchArgs,
    summary: Summary,
    errors: io::Result<()>,
    warnings: &[ProgramWarnings],
    stats: Option<&Shown>,
) -> ExitCode {
    let Summary { records, results, failures, elapsed, ending } = summary;
    let (ended, problem) = match ending {
        Ending::Complete => ("complete", None),
        Ending::Failed => ("failed", None),
        Ending::Cancelled => ("interrupted", None),
        Ending::Closed => ("closed", None),
        Ending::Unreadable(error) => ("unreadable", Some(format!("cannot read the input: {error}"))),
        Ending::Unwritable(error) => ("unwritable", Some(format!("cannot write the output: {error}"))),
    };
    let problem = problem.or_else(|| Some(format!("cannot write the errors: {}", errors.err()?)));
    if !args.quiet {
        let (seconds, rate) = (elapsed.as_secs_f64(), rate(records, elapsed));
        let mut text = String::new();
        let _ = if args.settings.json {
            writeln!(
                text,
                r#"{{"records":{records},"results":{results},"failures":{failures},"seconds":{seconds:.3},"records_per_second":{rate},"ending":"{ended}"{}{}}}"#,
                stats.map_or(String::new(), Shown::member),
                report::warning_members(
                    &warnings.iter().flat_map(ProgramWarnings::objects).collect::<Vec<_>>()
                )
            )
        } else {
            let why = match ended {
                "complete" => String::new(),
                "failed" => "; stopped at the first failure".to_string(),
                "closed" => "; stopped because the output was closed".to_string(),
                other => format!("; {other}"),
            };
            writeln!(
                text,
                "{records} records: {results} results, {failures} failures in {seconds:.2} s ({rate} records/s){why}"
            )
        };
        if let Some(stats) = stats.filter(|_| !args.settings.json) {
            text += &stats.text(args.reduce);
        }
        // Nothing is left to tell anyone when standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }
    if let Some(problem) = problem {
        return report::problem(&Problem::new(Code::InvalidConfig, problem), false);
    }
    ExitCode::from(match ended {
        "interrupted" => INTERRUPTED,
        _ if failures > 0 => report::FAULT,
        _ => report::OK,
    })
}
