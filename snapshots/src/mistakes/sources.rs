//! Right programs that read data: of the corpus, and of the tasks for models.

use crate::conformance::cases;
use ptc_runtime::Runtime;
use serde_json::Value;
use std::path::Path;

/// A program that is right.
#[derive(Clone, Debug)]
pub struct Right {
    /// Where it stands.
    pub name: String,
    /// The program.
    pub program: String,
    /// Its data: names, and JSON texts.
    pub data: Vec<(String, String)>,
    /// The value it gives, printed.
    pub answer: String,
}

/// All of them that give a value.
///
/// # Panics
///
/// If a file of them cannot be read.
pub fn right_programs(runtime: &Runtime) -> Vec<Right> {
    let corpus = cases().into_iter().filter(|case| !case.context.is_empty() && case.expect.is_some());
    let corpus = corpus.map(|case| (case.id, case.program, case.context));
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/models/tasks.jsonl");
    let tasks = std::fs::read_to_string(tasks).unwrap_or_default();
    let tasks: Vec<_> = tasks.lines().filter(|line| !line.trim().is_empty()).map(task).collect();
    let mut all = Vec::new();
    for (name, program, data) in corpus.chain(tasks) {
        let mut right = Right { name, program, data, answer: String::new() };
        let outcome = runtime.eval(&right.program, &right.grants());
        let outcome = outcome.unwrap_or_else(|failure| panic!("{} is not right:\n{failure}", right.name));
        let Ok(answer) = outcome.print() else { continue };
        right.answer = answer;
        all.push(right);
    }
    all
}

fn task(line: &str) -> (String, String, Vec<(String, String)>) {
    let json: Value = serde_json::from_str(line).expect("a task is JSON");
    let text = |name: &str| json[name].as_str().unwrap_or_else(|| panic!("a task has a {name}")).to_string();
    let data = json["data"].as_object().into_iter().flatten();
    (text("id"), text("program"), data.map(|(name, value)| (name.clone(), value.to_string())).collect())
}
