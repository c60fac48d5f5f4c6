//! The examples of the pages with what they gave here, written to a file: the tests of the Python and the Node package run them
//! again, and compare values, errors and fuel.

use crate::root;
use ptc_runtime::{Failure, Outcome};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// One fence: programs of one session.
#[derive(Serialize)]
pub struct Example {
    /// Page and line.
    id: String,
    /// Bytes of the attached prelude, in base64.
    pub prelude: Option<String>,
    /// Data by name, as text: the order of members counts.
    pub data: BTreeMap<String, Box<RawValue>>,
    /// What tools always answer, by name.
    pub tools: Map<String, Value>,
    /// JSON Schemas of their arguments, by name.
    pub takes: Map<String, Value>,
    /// Programs and what they gave.
    programs: Vec<Value>,
}

impl Example {
    pub fn new(page: &Path, line: usize) -> Example {
        let page = page.strip_prefix(root()).unwrap_or(page);
        Example {
            id: format!("{}:{line}", page.display()),
            prelude: None,
            data: BTreeMap::new(),
            tools: Map::new(),
            takes: Map::new(),
            programs: Vec::new(),
        }
    }

    /// Adds a program and what it gave.
    pub fn add(&mut self, program: &str, gave: &Result<Outcome, Failure>) {
        let mut told = match gave {
            Ok(outcome) => json!({
                "ok": true,
                "value": outcome.print().ok(),
                "prints": outcome.clear_prints(),
                "fuel": outcome.fuel,
                "compile_fuel": outcome.compile_fuel,
            }),
            Err(failure) => json!({
                "ok": false,
                "reason": failure.reason(),
                "message": failure.diagnostic().message,
                "line": failure.diagnostic().place(failure.source()).map(|place| place.line),
                "prints": failure.clear_prints(),
                "fuel": failure.fuel,
                "compile_fuel": failure.compile_fuel,
            }),
        };
        told["program"] = program.into();
        self.programs.push(told);
    }
}

/// Writes examples as JSON lines to `tmp/examples.jsonl` in the folder of builds.
pub fn write(examples: &[Example]) {
    let lines: Vec<String> =
        examples.iter().map(|example| serde_json::to_string(example).expect("it is JSON") + "\n").collect();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(folder).expect("the folder can be made");
    std::fs::write(folder.join("examples.jsonl"), lines.concat()).expect("the file can be written");
}
