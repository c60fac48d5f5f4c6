//! Measures PTC next to other embeddable languages on equal work: see `../README.md` for running it and reading
//! the results.
#![forbid(unsafe_code)]

mod acc;
mod accumulators;
mod answers;
mod arms;
mod bench;
mod children;
mod data;
mod options;
mod report;
mod row;
mod startup;

use bench::Bench;
use clap::Parser;
use options::Options;
use row::Row;
use std::error::Error;
use std::process::ExitCode;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut options = Options::parse();
    options.only = options.only.map(accumulators::expand);
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ptc-peers: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.hello {
        println!("3");
        return Ok(());
    }
    if options.list {
        arms::all().iter().for_each(|arm| println!("{}", arm.name));
        return Ok(());
    }
    if let Some(name) = &options.child {
        return child(name, options);
    }
    let mut rows = if options.report.is_empty() { children::measure(options)? } else { read(options)? };
    if let Some(ptc) = &options.start {
        rows.extend(startup::measure(ptc, options.quick)?);
    }
    let mut lines = String::new();
    for row in &rows {
        lines.push_str(&serde_json::to_string(row)?);
        lines.push('\n');
    }
    if let Some(file) = &options.json {
        std::fs::write(file, &lines)?;
    }
    let report = report::markdown(&rows);
    if let Some(file) = &options.md {
        std::fs::write(file, &report)?;
    }
    print!("{report}\n### Rows\n\n{lines}");
    match answers::wrong(&rows).len() {
        0 => Ok(()),
        wrong => Err(format!("{wrong} answers are wrong").into()),
    }
}

/// Runs one arm, on a deep stack, because some arms recurse on it.
fn child(name: &str, options: &Options) -> Result<(), Box<dyn Error>> {
    let arm = arms::all().into_iter().find(|arm| arm.name == name).ok_or("no such arm")?;
    let mut bench = Bench {
        arm: name.to_string(),
        version: (arm.version)(),
        only: options.only.clone(),
        quick: options.quick,
    };
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let ran = thread.spawn(move || (arm.run)(&mut bench))?.join();
    ran.map_err(|_| "the arm panicked".into())
}

fn read(options: &Options) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for file in &options.report {
        for line in std::fs::read_to_string(file)?.lines() {
            rows.push(serde_json::from_str(line)?);
        }
    }
    Ok(row::best(rows))
}
