//! Programs as a model writes them for an agent's task, from the guide alone. Each `NAME.clj` in `written/` has
//! `NAME.out`, its prints and then its value; `NAME.data.json`, the granted data; and `NAME.tools.json`, the
//! granted tools with the calls they answer.
#![allow(missing_docs)]

use ptc_runtime::{Grants, ToolError, Tools};
use ptc_snapshots::runtime;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written");
    let entries = std::fs::read_dir(folder).expect("the programs");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "clj"));
    paths.sort();
    paths
}

/// Returns the members of a JSON file next to the program; none if there is no file.
fn members(program: &Path, extension: &str) -> Vec<(String, Value)> {
    let Ok(text) = std::fs::read_to_string(program.with_extension(extension)) else { return Vec::new() };
    let json: Value = serde_json::from_str(&text).expect("JSON");
    let object = json.as_object().expect("an object");
    object.iter().map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn grants(program: &Path) -> Grants {
    members(program, "data.json")
        .into_iter()
        .fold(Grants::new(), |grants, (name, value)| grants.json(&name, &value.to_string()).expect("data"))
}

/// Returns tools that answer the listed calls and fail on any other.
fn tools(program: &Path) -> Tools {
    members(program, "tools.json").into_iter().fold(Tools::new(), |tools, (name, calls)| {
        tools.with(&name, move |args| {
            let given: Value = args.json()?;
            let call = calls.as_array().into_iter().flatten().find(|call| call["args"] == given);
            call.map(|call| call["result"].clone())
                .ok_or_else(|| ToolError::new(format!("no answer for {given}")))
        })
    })
}

/// Returns the prints of a program, then its value or its error.
fn told(program: &Path) -> String {
    let source = std::fs::read_to_string(program).expect("a program");
    let (mut lines, last) = match runtime().with_tools(tools(program)).eval(&source, &grants(program)) {
        Ok(outcome) => (outcome.prints.clone(), outcome.print().expect("prints")),
        Err(failure) => (failure.prints.clone(), failure.to_string()),
    };
    lines.push(last);
    lines.join("\n")
}

#[test]
fn every_program_runs_as_its_writer_expected() {
    let programs = programs();
    assert!(programs.len() >= 50, "only {} programs were found", programs.len());
    let mut wrong = Vec::new();
    for program in &programs {
        let expected = std::fs::read_to_string(program.with_extension("out")).expect("a result");
        let got = told(program);
        if got.trim_end() != expected.trim_end() {
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            wrong.push(format!("{name}\nexpected {}\ngot      {got}\n", expected.trim_end()));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} programs went wrong:\n\n{}",
        wrong.len(),
        programs.len(),
        wrong.join("\n")
    );
}
