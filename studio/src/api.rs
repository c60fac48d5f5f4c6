//! Requests of the page and their answers.

mod compare;
mod library;
mod report;
mod run;
pub(crate) mod traces;

use crate::studio::Studio;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Why a request has no answer.
#[derive(Debug)]
pub enum Wrong {
    /// There is no such request.
    NoSuch,
    /// It cannot be answered, with the reason.
    Request(String),
}

/// Answers a request.
pub fn answer(studio: &Studio, name: &str, body: &[u8]) -> Result<Value, Wrong> {
    match name {
        "start" => Ok(start(studio)),
        "check" => Ok(run::check(studio, &read(body)?)),
        "run" => run::run(studio, &read(body)?),
        "search" => Ok(library::search(studio, &read(body)?)),
        "traces" => traces::list(studio),
        "version" => traces::version(studio, &read(body)?),
        "compare" => compare::compare(studio, &read(body)?),
        _ => Err(Wrong::NoSuch),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Wrong> {
    serde_json::from_slice(body).map_err(|error| Wrong::Request(error.to_string()))
}

/// What the page begins with.
fn start(studio: &Studio) -> Value {
    let members = |members: &[(String, String)]| {
        let lines: Vec<String> = members
            .iter()
            .map(|(name, text)| format!("  {}: {}", Value::from(name.as_str()), text.trim()))
            .collect();
        if lines.is_empty() { String::new() } else { format!("{{\n{}\n}}", lines.join(",\n")) }
    };
    let preludes: Vec<&str> = studio
        .preludes
        .iter()
        .flat_map(|prelude| prelude.namespaces())
        .map(|space| space.name.as_str())
        .collect();
    json!({
        "program": studio.start.program,
        "data": members(&studio.start.data),
        "stubs": members(&studio.start.stubs),
        "preludes": preludes,
        "traces": studio.traces.is_some(),
    })
}
