//! `ptc batch --explain`: what is read of the input, and how it is run.

use super::packed::Packing;
use super::source::{Source, name_of};
use super::sources::Sources;
use crate::args::{BatchArgs, RecordFormat};
use ptc_runtime::Projection;
use std::fmt::Write as _;
use std::path::Path;

/// Describes the input, the parts of it that the programs can observe, and the plan: the number of threads that run
/// records, and whether results keep their order.
pub fn explain(args: &BatchArgs, input: &Sources, plan: (usize, bool)) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "input: {}", described(input));
    let projection = &input.opening().projection;
    let mut observed = Vec::new();
    paths(projection, "", &mut observed);
    let listed = match (projection.is_whole(), observed.is_empty()) {
        (true, _) => "everything".to_string(),
        (false, true) => "nothing".to_string(),
        (false, false) => observed.join(", "),
    };
    let _ = writeln!(text, "the program observes: {listed}");
    match input.first() {
        Source::Text { .. } => {
            let how = match projection.is_whole() {
                true => "every member is built",
                false => "these members are built; others are checked, and nil",
            };
            let _ = writeln!(text, "read: {how}");
        }
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
    let _ = writeln!(text, "run: {}", run(args, plan));
    let format = match args.output_format {
        RecordFormat::Jsonl => "JSON lines".to_string(),
        other => name_of(other).to_string(),
    };
    let to = args.output.as_ref().map_or("standard output".to_string(), |path| path.display().to_string());
    let _ = match args.reduce {
        true => writeln!(text, "write: one value as JSON to {to}"),
        false => writeln!(text, "write: {format} to {to}"),
    };
    text
}

/// The files, their format and packing.
fn described(input: &Sources) -> String {
    let names = input.names();
    let name = |path: &Path| match path == Path::new("-") {
        true => "standard input".to_string(),
        false => path.display().to_string(),
    };
    let (format, packing) = match input.first() {
        Source::Text { packing, .. } => ("JSON lines", *packing),
        #[cfg(feature = "parquet")]
        Source::Table(table) => (table.format().name(), None),
    };
    let packing = packing.map_or(String::new(), |packing: Packing| format!(" in {}", packing.name()));
    let more = match names.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!("{} ({format}{packing}){more}", name(&names[0]))
}

/// Adds the paths that a projection observes: `of.country`.
fn paths(projection: &Projection, path: &str, found: &mut Vec<String>) {
    for (key, part) in projection.members() {
        let path = format!("{path}{}", key.name);
        match part.members().next() {
            None => found.push(path),
            Some(_) => paths(part, &format!("{path}."), found),
        }
    }
}

/// The threads, and what they do.
fn run(args: &BatchArgs, (threads, is_ordered): (usize, bool)) -> String {
    let (threads, s) = match threads {
        1 => ("1 thread".to_string(), "s"),
        more => (format!("{more} threads"), ""),
    };
    if args.reduce {
        return format!(
            "1 thread reads, {threads} fold{s} parts of up to 4096 records, 1 combines them in order"
        );
    }
    let what = if args.rules.is_empty() { "the program" } else { "the rules" };
    let order = if is_ordered { "in the order of the records" } else { "as they are ready" };
    let skip = if args.skip_nil { ", without nil" } else { "" };
    format!("1 thread reads, {threads} run{s} {what}, 1 writes results {order}{skip}")
}
