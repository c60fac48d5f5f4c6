//! Scores programs written for the tasks of `benches/models`: `models answers.jsonl …`. Without a file it
//! prints the tasks, as they are given to models and people.

use ptc_benches::models::{answers, tasks};
use ptc_runtime::Runtime;
use serde_json::json;
use std::collections::BTreeMap;
use std::process::ExitCode;

fn main() -> ExitCode {
    let files: Vec<String> = std::env::args().skip(1).collect();
    if files.is_empty() {
        for task in tasks() {
            println!("{}", json!({"id": task.id, "task": task.task, "data": task.data}));
        }
        return ExitCode::SUCCESS;
    }
    let mut given = BTreeMap::new();
    for file in &files {
        let read = std::fs::read_to_string(file).map_err(|error| error.to_string());
        match read.and_then(|text| answers(&text).map_err(|error| error.to_string())) {
            Ok(answers) => given.extend(answers),
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    let runtime = match Runtime::with_core(ptc_preludes::core()) {
        Ok(runtime) => runtime,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let (mut right, tasks) = (0, tasks());
    for task in &tasks {
        let scored = match given.get(&task.id) {
            Some(program) => task.score(&runtime, program),
            None => Err("no program".to_string()),
        };
        match scored {
            Ok(()) => right += 1,
            Err(got) => println!("{}\n  wanted {}\n  got    {got}", task.id, task.expect),
        }
    }
    println!("{right} of {} right", tasks.len());
    ExitCode::SUCCESS
}
