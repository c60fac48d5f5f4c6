//! `ptc batch --explain`: what is read of the input.

use super::source::Source;
use ptc_runtime::Projection;
use std::fmt::Write as _;

/// Describes the input and the parts of it that the programs can observe.
pub fn explain(input: &Source, projection: &Projection) -> String {
    let mut text = String::new();
    let name = |key: &ptc_bytecode::Key| key.name.to_string();
    let keys: Vec<String> = projection.keys().map(name).collect();
    let observed = match (projection.is_whole(), keys.is_empty()) {
        (true, _) => "everything".to_string(),
        (false, true) => "nothing".to_string(),
        (false, false) => keys.join(", "),
    };
    let _ = writeln!(text, "the program observes: {observed}");
    match input {
        Source::Text { .. } => text.push_str("columns read: all (JSON lines)\n"),
        #[cfg(feature = "parquet")]
        Source::Table(table) => {
            let all: Vec<&str> = table.schema().fields().iter().map(|field| field.name().as_str()).collect();
            let read: Vec<&str> = table.read_columns().collect();
            let listed = if read.is_empty() { "none".to_string() } else { read.join(", ") };
            let _ = writeln!(text, "columns read: {listed} ({} of {})", read.len(), all.len());
            if let Some(skips) = table.skips() {
                let _ = writeln!(text, "skipped: {skips}");
            }
        }
    }
    text
}
