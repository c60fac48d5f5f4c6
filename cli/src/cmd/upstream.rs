//! `ptc upstream list`, `doc`, `call`, `pin` and `import`: servers, asked from a shell.

mod pin;

use crate::args::{UpstreamAt, UpstreamCommand, UpstreamCommandArgs};
use crate::input::read;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK, Report, out};
use crate::setup::plain_runtime;
use crate::upstreams::{scrubbed, start_any, widened};
use ptc_bytecode::{Code, Limits};
use ptc_runtime::Grants;
use ptc_upstream::{ProgramOptions, RunContext, Upstream};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

pub fn run(args: &UpstreamCommandArgs) -> ExitCode {
    let (done, at) = match &args.command {
        UpstreamCommand::Import { file } => {
            return import(file).unwrap_or_else(|problem| report::problem(&problem, false));
        }
        UpstreamCommand::List { server, at } => (list(server.as_deref(), at), at),
        UpstreamCommand::Doc { tool, at } => (doc(tool, at), at),
        UpstreamCommand::Call { tool, args, at } => (call(tool, args, at), at),
        UpstreamCommand::Pin { server, approve, at } => (pin::run(server.as_deref(), *approve, at), at),
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
            Some(_) => counted(tools.len() as u64, "tool"),
            None => "unavailable".to_string(),
        };
        let about = format!("{}  {}  {state}  {}", found.name, found.about.transport, found.description());
        text.push_str(&format!("{}\n", about.trim_end()));
        let width = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).min(40);
        for tool in &tools {
            text.push_str(format!("  {:width$}  {}", tool.name, tool.description).trim_end());
            text.push('\n');
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
    let text = String::from_utf8(bytes).map_err(|_| wrong("the file is not UTF-8".to_string()))?;
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
    let asked = ask(&format!("(doc {})", json!(tool)), Grants::new(), at)?;
    let answer = match asked.answer {
        // A lookup that gave nothing has said why on the side.
        Ok(Value::Null) => match asked.context.catalog_faults().get_mut(0) {
            Some(fault) => Err(failed(&fault["reason"].take(), &fault["error"].take())),
            None => Err(
                json!({"ok": false, "reason": "not_found", "message": format!("there is no tool {tool}")}),
            ),
        },
        answer => answer.map(|text| json!({"ok": true, "value": text})),
    };
    Ok(tell(answer, None, at))
}

fn call(tool: &str, args: &str, at: &UpstreamAt) -> Result<ExitCode, Problem> {
    let Some((server, name)) = tool.split_once('/') else {
        return Err(Problem::new(Code::InvalidConfig, format!("`{tool}` is not a tool; write SERVER/TOOL")));
    };
    let is_object = serde_json::from_str::<Value>(args).is_ok_and(|value| value.is_object());
    if !is_object {
        return Err(Problem::new(
            Code::InvalidConfig,
            "the arguments must be a JSON object, such as '{\"path\": \"a\"}'",
        ));
    }
    let granted =
        [("server", json!(server).to_string()), ("tool", json!(name).to_string()), ("args", args.into())];
    let grants = granted.iter().try_fold(Grants::new(), |grants, (name, text)| grants.json(name, text));
    let grants = grants.map_err(|problem| Problem(Box::new(problem)))?;
    let asked = ask("(tool/call {:server data/server :tool data/tool :args data/args})", grants, at)?;
    let answer = asked.answer.and_then(|mut tagged| match &tagged["ok"] {
        Value::Bool(true) => Ok(tagged),
        _ => Err(failed(&tagged["reason"].take(), &tagged["message"].take())),
    });
    Ok(tell(answer, Some(asked.context.upstream_calls()), at))
}

/// Result of a program of ours.
struct OwnProgramRun {
    /// Its value, or a failure as programs see those of servers, perhaps with a hint.
    answer: Result<Value, Value>,
    context: Arc<RunContext>,
}

fn failed(reason: &Value, message: &Value) -> Value {
    json!({"ok": false, "reason": reason, "message": message})
}

/// Runs a program of ours, of which nothing is told: the user did not write it.
fn ask(source: &str, grants: Grants, at: &UpstreamAt) -> Result<OwnProgramRun, Problem> {
    let upstream = start_any(&at.upstream)?;
    let runtime = plain_runtime(widened(Limits::default()))?;
    let traceparent = std::env::var("TRACEPARENT").ok();
    let options = ProgramOptions { grants, traceparent, ..ProgramOptions::default() };
    let run = upstream.run(&runtime, source, &options);
    upstream.stop();
    let report = scrubbed(Report::new(run.outcome, source, true), upstream.redactor());
    let answer = match report.result {
        Ok(shown) => match shown.json {
            Some(Err(why)) => Err(failed(&json!(Code::TypeError.reason()), &json!(why))),
            json => Ok(json.and_then(|text| serde_json::from_str(&text.ok()?).ok()).unwrap_or_default()),
        },
        Err(errors) => Err(errors.diagnostics.first().map_or(Value::Null, |first| {
            let mut failed = failed(&json!(first.code.reason()), &json!(first.message));
            if let Some(hint) = &first.hint {
                failed["hint"] = json!(hint);
            }
            failed
        })),
    };
    Ok(OwnProgramRun { answer, context: run.context })
}

/// Prints an answer: all of it as one object, or what is worth reading.
fn tell(answer: Result<Value, Value>, calls: Option<Value>, at: &UpstreamAt) -> ExitCode {
    let code = if answer.is_ok() { OK } else { FAULT };
    if at.json {
        let mut object = answer.unwrap_or_else(|failed| failed);
        if let Some(calls) = calls {
            object["upstream_calls"] = calls;
        }
        return out(&format!("{object}\n"), code);
    }
    match answer {
        Ok(mut answer) => match answer["value"].take() {
            Value::Null if answer["value_kind"] == "none" => out("", code),
            Value::String(text) => out(&format!("{text}\n"), code),
            other => out(&format!("{}\n", serde_json::to_string_pretty(&other).unwrap_or_default()), code),
        },
        Err(failed) => {
            let text = |key: &str| failed[key].as_str().unwrap_or_default();
            let hint = failed["hint"].as_str().map_or(String::new(), |hint| format!("\n hint: {hint}"));
            let _ = writeln!(std::io::stderr(), "error: {}: {}{hint}", text("reason"), text("message"));
            ExitCode::from(code)
        }
    }
}
