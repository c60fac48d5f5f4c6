//! Checking and running a program, with data and with tools that always give the same result.

use super::Wrong;
use super::report::diagnostic;
use crate::studio::Studio;
use ptc_runtime::{Attach, Diagnostic, Failure, Grants, Outcome, Runtime, ToolArgs, ToolError, Tools};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Bytes of a value that are shown.
const MAX_SHOWN: usize = 200_000;
/// Tool calls that are listed.
const MAX_CALLS: usize = 500;
/// Printed lines that are shown.
const MAX_PRINTS: usize = 2_000;
/// Bytes of the arguments of a call that are shown.
const MAX_ARGUMENTS: usize = 2_000;

/// A program with what it may read and call.
#[derive(Deserialize)]
pub struct Program {
    program: String,
    #[serde(default)]
    data: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    stubs: BTreeMap<String, Box<RawValue>>,
}

/// Calls of tools, with those that are left out.
#[derive(Default)]
struct Calls {
    shown: Vec<Value>,
    left_out: u64,
}

/// Returns errors and warnings of a program, without running it.
pub fn check(studio: &Studio, asked: &Program) -> Value {
    let found = match prepared(studio, asked, &Arc::default()) {
        Ok((runtime, _)) => match runtime.compile(&asked.program) {
            Ok(program) => program.warnings().to_vec(),
            Err(failure) => all_of(&failure),
        },
        // Data that is not JSON is told when it is used.
        Err(_) => Vec::new(),
    };
    json!({"found": found.iter().map(|found| diagnostic(found, &asked.program)).collect::<Vec<_>>()})
}

/// Runs a program.
pub fn run(studio: &Studio, asked: &Program) -> Result<Value, Wrong> {
    let calls = Arc::<Mutex<Calls>>::default();
    let (runtime, grants) = prepared(studio, asked, &calls)?;
    let began = Instant::now();
    let outcome = runtime.eval(&asked.program, &grants);
    let ms = began.elapsed().as_secs_f64() * 1e3;
    let mut answer = match &outcome {
        Ok(outcome) => finished(outcome, &asked.program),
        Err(failure) => failed(failure, &asked.program),
    };
    let limits = runtime.current_limits();
    let calls = std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner));
    answer["ms"] = ms.into();
    answer["fuel_limit"] = limits.fuel.into();
    answer["compile_fuel_limit"] = limits.compile_fuel.into();
    answer["calls"] = calls.shown.into();
    answer["calls_left_out"] = calls.left_out.into();
    Ok(answer)
}

fn finished(outcome: &Outcome, source: &str) -> Value {
    let (value, cut, errors) = match outcome.print_start(MAX_SHOWN) {
        Ok((text, is_whole)) => (Value::from(text), !is_whole, Vec::new()),
        Err(fault) => (Value::Null, false, vec![diagnostic(&fault.to_diagnostic(), source)]),
    };
    json!({
        "ok": errors.is_empty(),
        "value": value,
        "cut": cut,
        "errors": errors,
        "warnings": shown(outcome.warnings(), source),
        "prints": prints(&outcome.prints),
        "prints_left_out": outcome.prints.len().saturating_sub(MAX_PRINTS),
        "fuel": outcome.fuel,
        "compile_fuel": outcome.compile_fuel,
    })
}

fn failed(failure: &Failure, source: &str) -> Value {
    json!({
        "ok": false,
        "errors": shown(&failure.diagnostics, source),
        "warnings": shown(failure.warnings(), source),
        "prints": prints(&failure.prints),
        "prints_left_out": failure.prints.len().saturating_sub(MAX_PRINTS),
        "fuel": failure.fuel,
        "compile_fuel": failure.compile_fuel,
    })
}

fn shown(found: &[Diagnostic], source: &str) -> Vec<Value> {
    found.iter().map(|found| diagnostic(found, source)).collect()
}

fn prints(prints: &[String]) -> &[String] {
    &prints[..prints.len().min(MAX_PRINTS)]
}

fn all_of(failure: &Failure) -> Vec<Diagnostic> {
    failure.diagnostics.iter().chain(failure.warnings()).cloned().collect()
}

/// Returns the runtime with the stubs and preludes, and the data.
fn prepared(studio: &Studio, asked: &Program, calls: &Arc<Mutex<Calls>>) -> Result<(Runtime, Grants), Wrong> {
    let limit = studio.runtime.current_limits().granted_bytes;
    let wrong = |what: String, problem: &dyn std::fmt::Display| Wrong::Request(format!("{what}: {problem}"));
    let mut grants = Grants::new();
    for (name, json) in &asked.data {
        grants = grants
            .json(name, json.get())
            .map_err(|problem| wrong(format!("data/{name}"), &problem.message))?;
    }
    let mut tools = Tools::new();
    for (name, json) in &asked.stubs {
        let answer = ptc_runtime::json::freeze_json(json.get().as_bytes(), limit)
            .map_err(|problem| wrong(format!("tool/{name}"), &problem.to_diagnostic().message))?;
        let (calls, called) = (calls.clone(), name.clone());
        tools = tools.with_answer(name, move |args| {
            noted(&calls, &called, &args);
            Ok(answer.clone().into())
        });
    }
    let exports = studio.preludes.iter().flat_map(|prelude| prelude.exports());
    let needed: BTreeSet<&String> = exports.flat_map(|export| &export.tool_refs).collect();
    for name in needed.into_iter().filter(|name| !asked.stubs.contains_key(*name)) {
        let (calls, called) = (calls.clone(), name.clone());
        tools = tools.with_answer(name, move |args| {
            noted(&calls, &called, &args);
            Err(ToolError::new(format!("tool/{called} has no stub: give it a result under Tools")))
        });
    }
    let runtime =
        studio.preludes.iter().try_fold(studio.runtime.clone().with_tools(tools), |runtime, prelude| {
            runtime.attach(prelude, &Attach::new())
        });
    match runtime {
        Ok(runtime) => Ok((runtime, grants)),
        Err(failure) => Err(Wrong::Request(failure.diagnostic().message.clone())),
    }
}

/// Notes a call.
fn noted(calls: &Mutex<Calls>, tool: &str, args: &ToolArgs) {
    let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
    if calls.shown.len() >= MAX_CALLS {
        calls.left_out += 1;
        return;
    }
    let text = args.json().map_or_else(|error| error.to_string(), |args| args.to_string());
    let end = text.floor_char_boundary(MAX_ARGUMENTS);
    let more = if end < text.len() { "…" } else { "" };
    calls.shown.push(json!({"tool": tool, "args": format!("{}{more}", &text[..end])}));
}
