//! Correct programs that read data, from the corpus, the tasks for models, the guide and the examples.

use crate::conformance::cases;
use ptc_runtime::Runtime;
use serde_json::Value;
use std::path::Path;

/// A correct program.
#[derive(Clone, Debug)]
pub struct Right {
    /// Origin of the program.
    pub name: String,
    /// Source of the program.
    pub program: String,
    /// Granted data: names and JSON texts.
    pub data: Vec<(String, String)>,
    /// Printed value of the program.
    pub answer: String,
}

/// Returns all of these programs that give a value.
///
/// # Panics
///
/// If one of their files cannot be read.
pub fn right_programs(runtime: &Runtime) -> Vec<Right> {
    let corpus = cases().into_iter().filter(|case| !case.context.is_empty() && case.expect.is_some());
    let corpus = corpus.map(|case| (case.id, case.program, case.context));
    let tasks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/models/tasks.jsonl");
    let tasks = std::fs::read_to_string(tasks).unwrap_or_default();
    let tasks: Vec<_> = tasks.lines().filter(|line| !line.trim().is_empty()).map(task).collect();
    let mut all = Vec::new();
    for (name, program, data) in corpus.chain(tasks).chain(guide()).chain(examples()) {
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

/// A name, a program, and its data.
type Source = (String, String, Vec<(String, String)>);

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the blocks of the guide that state their data: `; data/rows = [1, 2]`.
fn guide() -> Vec<Source> {
    let mut all = Vec::new();
    for page in ["tour", "language", "embedding", "batch"] {
        let text = read(&format!("docs/guide/{page}.md"));
        let blocks = text.split("```clojure\n").skip(1).filter_map(|rest| rest.split_once("```"));
        for (i, (block, _)) in blocks.enumerate() {
            let granted = |line: &str| {
                let (name, json) = line.strip_prefix("; data/")?.split_once(" = ")?;
                Some((name.to_string(), json.to_string()))
            };
            let data: Vec<_> = block.lines().filter_map(granted).collect();
            if !data.is_empty() && !block.contains("tool/") {
                all.push((format!("{page} {i}"), block.to_string(), data));
            }
        }
    }
    all
}

/// Returns the examples, each with its data.
fn examples() -> Vec<Source> {
    let invoice = read("examples/invoices.jsonl").lines().next().unwrap_or_default().to_string();
    let rates = ("rates".to_string(), r#"{"NO": 25, "SE": 20}"#.to_string());
    let row = ("row".to_string(), invoice);
    let source = |path: &str, data: Vec<(String, String)>| (path.to_string(), read(path), data);
    vec![
        source("examples/orders.clj", vec![("orders".to_string(), read("examples/orders.json"))]),
        source("examples/invoice.clj", vec![row.clone(), rates]),
        source("examples/rules/home.clj", vec![row.clone()]),
        source("examples/rules/large.clj", vec![row]),
    ]
}
