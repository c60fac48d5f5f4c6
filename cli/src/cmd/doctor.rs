//! `ptc doctor`: whether a server could start here, and what is in its way.

use crate::args::DoctorArgs;
use crate::cmd::mcp;
use crate::report::{FAULT, OK, out};
use crate::setup::plain_runtime;
use ptc_bytecode::Limits;
use ptc_mcp::settings::{Resolved, Settings};
use ptc_mcp::{Evaluator, Host};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Outcome of one check.
struct Checked {
    what: &'static str,
    /// Description of what is fine or wrong.
    found: Result<String, String>,
}

pub fn run(args: &DoctorArgs) -> ExitCode {
    let checked = check(args);
    let is_fine = checked.iter().all(|check| check.found.is_ok());
    let code = if is_fine { OK } else { FAULT };
    if args.json {
        let rows: Vec<Value> = checked
            .iter()
            .map(|check| {
                let (ok, told) = told(check);
                json!({"check": check.what, "ok": ok, "message": told})
            })
            .collect();
        return out(&format!("{}\n", json!({"ok": is_fine, "checks": rows})), code);
    }
    let line = |check: &Checked| {
        let (ok, told) = told(check);
        format!("{}  {}: {}\n", if ok { "ok  " } else { "FAIL" }, check.what, told.replace('\n', "\n      "))
    };
    out(&checked.iter().map(line).collect::<String>(), code)
}

fn told(check: &Checked) -> (bool, &str) {
    match &check.found {
        Ok(told) => (true, told),
        Err(told) => (false, told),
    }
}

fn check(args: &DoctorArgs) -> Vec<Checked> {
    let mut checked = vec![Checked { what: "program", found: program() }];
    let env = |name: &str| std::env::var(name).ok();
    let resolved = match Settings::resolve(args.flags.0.iter().map(String::as_str), env) {
        Ok(resolved) => resolved,
        Err(problems) => {
            let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
            checked.push(Checked { what: "settings", found: Err(lines.join("\n")) });
            return checked;
        }
    };
    checked.push(Checked { what: "settings", found: Ok(settings(&resolved)) });
    checked.push(Checked { what: "server", found: server(&resolved.settings) });
    if resolved.settings.http {
        checked.push(Checked { what: "port", found: port(&resolved.settings) });
    }
    checked
}

/// Checks that programs run at all.
fn program() -> Result<String, String> {
    let runtime = plain_runtime(Limits::default()).map_err(|problem| problem.0.message.clone())?;
    let settings = Settings::default();
    let args = json!({"program": "(reduce + (range 101))"});
    let evaluator = Evaluator::of(Host::new(&runtime, &settings, None), &settings);
    let payload = evaluator.lisp_eval(args.as_object().unwrap_or(&serde_json::Map::new()));
    match payload.result.as_deref() {
        Some("user=> 5050") => Ok(format!("ptc {} runs programs", env!("CARGO_PKG_VERSION"))),
        _ => Err(format!("a program that should give 5050 gave {:?} {}", payload.result, payload.message)),
    }
}

fn settings(resolved: &Resolved) -> String {
    match resolved.warnings.is_empty() {
        true => "all valid".to_string(),
        false => resolved.warnings.join("\n"),
    }
}

/// Everything the server does before it listens: servers, preludes, kept sessions.
fn server(settings: &Settings) -> Result<String, String> {
    let built = mcp::build(settings).map_err(|problem| match &problem.0.hint {
        Some(hint) => format!("{}\n{hint}", problem.0.message),
        None => problem.0.message.clone(),
    })?;
    let servers = built.upstream.as_ref().map_or(0, |upstream| upstream.catalogue().names().len());
    let mut told =
        format!("it can start, with {servers} upstream server{}", if servers == 1 { "" } else { "s" });
    for warning in &built.warnings {
        told.push_str(&format!("\nnote: {warning}"));
    }
    if let Some(upstream) = &built.upstream {
        upstream.stop();
    }
    Ok(told)
}

fn port(settings: &Settings) -> Result<String, String> {
    let address = format!("{}:{}", settings.http_host, settings.http_port);
    match std::net::TcpListener::bind(&address) {
        Ok(_) => Ok(format!("{address} is free")),
        Err(error) => Err(format!("cannot listen on {address}: {error}")),
    }
}
