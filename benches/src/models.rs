//! Tasks for models: a question, data, and the one correct answer. The programs that models or people write
//! from the reference card alone are scored here.

use ptc_runtime::{Grants, Runtime};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// A task for models.
#[derive(Clone, Debug)]
pub struct Task {
    /// Id of the task.
    pub id: String,
    /// Text of the task.
    pub task: String,
    /// Data, by name.
    pub data: BTreeMap<String, Value>,
    /// Correct answer.
    pub expect: Value,
    /// A program that gives the correct answer.
    pub program: String,
}

/// Reads the tasks of `benches/models/tasks.jsonl`.
///
/// # Panics
///
/// If the file cannot be read.
pub fn tasks() -> Vec<Task> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tasks.jsonl");
    let text = std::fs::read_to_string(path).expect("the tasks");
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| Task::read(&serde_json::from_str(line).expect("a task is JSON"))).collect()
}

/// Reads programs by the id of their task, from lines `{"id": …, "program": …}`.
pub fn answers(text: &str) -> Result<BTreeMap<String, String>, serde_json::Error> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let one = |line: &str| {
        let json: Value = serde_json::from_str(line)?;
        let text = |name: &str| json[name].as_str().unwrap_or_default().to_string();
        Ok((text("id"), text("program")))
    };
    lines.map(one).collect()
}

impl Task {
    fn read(json: &Value) -> Task {
        let text =
            |name: &str| json[name].as_str().unwrap_or_else(|| panic!("a task has a {name}")).to_string();
        let data = json["data"].as_object().cloned().unwrap_or_default();
        Task {
            id: text("id"),
            task: text("task"),
            data: data.into_iter().collect(),
            expect: json["expect"].clone(),
            program: text("program"),
        }
    }

    /// Runs a program for the task: Ok if it gives the correct answer, otherwise its actual result.
    pub fn score(&self, runtime: &Runtime, program: &str) -> Result<(), String> {
        let grants =
            self.data.iter().try_fold(Grants::new(), |all, (name, value)| all.json(name, &value.to_string()));
        let grants = grants.map_err(|problem| problem.to_string())?;
        let outcome = runtime.eval(program, &grants).map_err(|failure| failure.to_string())?;
        let json = outcome.json().map_err(|fault| fault.to_string())?;
        let given: Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
        if is_same(&given, &self.expect) { Ok(()) } else { Err(json) }
    }
}

/// Returns whether two answers are equal; numbers to nine digits, because the order of a sum is free.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()),
            _ => a == b,
        },
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_same, tasks};
    use ptc_runtime::Runtime;
    use serde_json::json;

    #[test]
    fn every_task_has_a_right_program() {
        let runtime = Runtime::with_core(ptc_preludes::core()).expect("the core library loads");
        let tasks = tasks();
        assert_eq!(tasks.len(), 60);
        for task in tasks {
            assert_eq!(task.score(&runtime, &task.program), Ok(()), "{}", task.id);
            assert!(task.score(&runtime, "\"something else\"").is_err(), "{}", task.id);
        }
    }

    #[test]
    fn answers_are_compared_as_data() {
        assert!(is_same(&json!({"a": [1, 2.5], "b": null}), &json!({"b": null, "a": [1.0, 2.5]})));
        assert!(!is_same(&json!([1, 2]), &json!([2, 1])));
        assert!(!is_same(&json!({"a": 1}), &json!({"a": 1, "b": 2})));
        assert!(!is_same(&json!("1"), &json!(1)));
    }
}
