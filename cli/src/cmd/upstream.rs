//! `ptc upstream list`, `doc` and `call`: servers, asked from a shell.

use crate::args::{UpstreamAt, UpstreamCommand, UpstreamCommandArgs};
use crate::input::{Problem, plain_runtime, read};
use crate::report::{self, FAULT, OK, Report, out};
use crate::upstreams::{scrubbed, start_any, widened};
use ptc_bytecode::{Code, Limits};
use ptc_runtime::Grants;
use ptc_upstream::{LispOptions, Upstream, run_lisp};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &UpstreamCommandArgs) -> ExitCode {
    let (done, at) = match &args.command {
        UpstreamCommand::Import { file } => {
            return import(file).unwrap_or_else(|problem| report::problem(&problem, false));
        }
        UpstreamCommand::List { server, at } => (list(server.as_deref(), at), at),
        UpstreamCommand::Doc { tool, at } => (doc(tool, at), at),
        UpstreamCommand::Call { tool, args, at } => (call(tool, args, at), at),
    };
    done.unwrap_or_else(|problem| report::problem(&problem, at.json))
}

fn list(server: Option<&str>, at: &UpstreamAt) -> Result<ExitCode, Problem> {
    let upstream = start_any(&at.upstream)?;
    if let Some(name) = server.filter(|name| upstream.catalogue().server(name).is_none()) {
        return Err(unknown(name, &upstream));
    }
    let wanted = server.map(|name| [name]);
    let failed = upstream.load(wanted.as_ref().map(|names| &names[..]));
    let mut rows = Vec::new();
    let mut text = String::new();
    for found in upstream.catalogue().servers().filter(|found| server.is_none_or(|name| name == found.name)) {
        let listing = found.listing();
        let tools: Vec<_> = listing.iter().flat_map(|listing| listing.tools.values()).collect();
        let state = match &listing {
            Some(_) => format!("{} tools", tools.len()),
            None => "not there".to_string(),
        };
        text.push_str(&format!(
            "{}  {}  {state}  {}\n",
            found.name,
            found.about.transport,
            found.description()
        ));
        for tool in &tools {
            text.push_str(&format!("  {}  {}\n", tool.name, tool.description));
        }
        let tools: Vec<Value> =
            tools.iter().map(|tool| json!({"name": tool.name, "description": tool.description})).collect();
        rows.push(json!({
            "name": found.name, "transport": found.about.transport, "description": found.description(),
            "catalog_loaded": listing.is_some(), "tools": tools,
        }));
    }
    upstream.stop();
    let code = if failed.is_empty() { OK } else { FAULT };
    if at.json {
        return Ok(out(
            &format!("{}\n", json!({"ok": failed.is_empty(), "servers": rows, "errors": failed})),
            code,
        ));
    }
    let code = out(&text, code);
    for problem in failed {
        let _ = writeln!(std::io::stderr(), "error: {problem}");
    }
    Ok(code)
}

fn import(file: &str) -> Result<ExitCode, Problem> {
    let wrong = |message: String| Problem::new(Code::InvalidConfig, format!("{file}: {message}"));
    let bytes = read(Path::new(file))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("the file is no UTF-8".to_string()))?;
    let imported = ptc_upstream::import::import(&text).map_err(wrong)?;
    let shown = serde_json::to_string_pretty(&imported.config).unwrap_or_default();
    let code = out(&format!("{shown}\n"), OK);
    for note in imported.notes {
        let _ = writeln!(std::io::stderr(), "note: {note}");
    }
    Ok(code)
}

fn unknown(name: &str, upstream: &Upstream) -> Problem {
    let mut problem = Problem::new(Code::InvalidConfig, format!("no upstream '{name}' configured"));
    problem.0.hint = Some(format!("there are: {}", upstream.catalogue().names().join(", ")));
    problem
}

fn doc(tool: &str, at: &UpstreamAt) -> Result<ExitCode, Problem> {
    // As a program would ask, so that both see the same.
    program(&format!("(doc {})", json!(tool)), Grants::new(), at, |value| {
        value.as_str().unwrap_or_default().to_string()
    })
}

fn call(tool: &str, args: &str, at: &UpstreamAt) -> Result<ExitCode, Problem> {
    let Some((server, name)) = tool.split_once('/') else {
        return Err(Problem::new(Code::InvalidConfig, format!("`{tool}` is no tool; write SERVER/TOOL")));
    };
    let is_object = serde_json::from_str::<Value>(args).is_ok_and(|value| value.is_object());
    if !is_object {
        return Err(Problem::new(
            Code::InvalidConfig,
            "the arguments must be a JSON object, such as '{\"path\": \"a\"}'",
        ));
    }
    let grants = Grants::new().json("args", args).map_err(|problem| Problem(Box::new(problem)))?;
    let source = format!(
        "(let [r (tool/call {{:server {} :tool {} :args data/args}})] (if (:ok r) (:value r) (fail r)))",
        json!(server),
        json!(name)
    );
    program(&source, grants, at, |value| match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    })
}

/// Runs a program of ours and prints its value as `show` has it.
fn program(
    source: &str,
    grants: Grants,
    at: &UpstreamAt,
    show: impl Fn(&Value) -> String,
) -> Result<ExitCode, Problem> {
    let upstream = start_any(&at.upstream)?;
    let runtime = plain_runtime(widened(Limits::default()))?;
    let options = LispOptions { grants, ..LispOptions::default() };
    let run = run_lisp(&upstream, &runtime, source, &options);
    upstream.stop();
    let calls = run.context.upstream_calls();
    let report = scrubbed(Report::new(run.outcome, source, true), upstream.redactor());
    if at.json {
        return Ok(out(&(report.to_json(&format!("\"upstream_calls\":{calls},")) + "\n"), code(&report)));
    }
    if let Ok(shown) = &report.result {
        let value =
            shown.json.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        return Ok(match value {
            // A lookup that gave nothing has said why on the side.
            Value::Null if calls == json!([]) => {
                let why = run.context.catalog_faults();
                let reason = why[0]["reason"].as_str().unwrap_or("nothing was found").to_string();
                let _ = writeln!(std::io::stderr(), "error: {reason}");
                ExitCode::from(FAULT)
            }
            value => out(&(show(&value) + "\n"), OK),
        });
    }
    Ok(report.show(false, "the call"))
}

fn code(report: &Report) -> u8 {
    if report.result.is_ok() { OK } else { FAULT }
}
