//! The `ptc` command: arguments in, exit code out. It reads programs and data, hands them to
//! [`ptc_runtime`], and shows what came of it; there is no logic here another crate would want.
//!
//! Exit codes: 0 a result, 1 a program that faulted or does not compile, 2 a usage or file error; the
//! commands on prelude files have more, which their help tells.
#![forbid(unsafe_code)]

mod args;
mod cmd;
mod colour;
#[doc(hidden)] // for the snapshots of every message
pub mod excerpt;
mod idle;
mod input;
mod junit;
mod limits;
mod live;
mod models;
mod oversight;
mod own;
mod preludes;
mod problem;
mod prompt;
mod quantity;
mod recording;
mod repl;
#[doc(hidden)] // for the snapshots of every message
pub mod report;
mod setup;
mod stored;
mod trace;
mod upstreams;

use args::Command;
use std::ffi::OsString;
use std::process::ExitCode;

/// Runs the command the process was started with.
pub fn main() -> ExitCode {
    run(std::env::args_os().collect())
}

/// Runs the command inside another program, as the Python package does. The first of the words is the file that starts
/// it. Help and usage errors end the process.
pub fn main_with(words: Vec<OsString>) -> ExitCode {
    if let Some(name) = words.first() {
        own::carry(name);
    }
    run(words)
}

/// Runs the command that these words name.
fn run(words: Vec<OsString>) -> ExitCode {
    if let Some(code) = cmd::sql::handed_over(&words) {
        return code;
    }
    match args::parse(words).command {
        Command::Eval(args) => cmd::eval::run(&args),
        Command::Run(args) => cmd::run::run(&args),
        Command::Repl(args) => cmd::repl::run(&args),
        Command::Batch(args) => cmd::batch::run(&args),
        Command::Sql(args) => cmd::sql::run(&args),
        Command::Agent(args) => cmd::agent::commands::run(&args),
        Command::Check(args) => cmd::check::run(&args),
        Command::Fmt(args) => cmd::fmt::run(&args),
        Command::Disasm(args) => cmd::disasm::run(&args),
        Command::Build(args) => cmd::build::run(&args),
        Command::Inspect(args) => cmd::inspect::run(&args),
        Command::Verify(args) => cmd::verify::run(&args),
        Command::Key(args) => cmd::key::run(&args),
        Command::Store(args) => cmd::store::run(&args),
        Command::Test(args) => cmd::test::run(&args),
        Command::Trace(args) => cmd::trace::run(&args),
        Command::Upstream(args) => cmd::upstream::run(&args),
        Command::Effects(args) => cmd::effects::run(&args),
        Command::Mcp(args) => cmd::mcp::run(&args),
        Command::Doctor(args) => cmd::doctor::run(&args),
        Command::Explain(args) => cmd::explain::run(&args),
        Command::Doc(args) => cmd::doc::doc(&args),
        Command::Apropos(args) => cmd::doc::apropos(&args),
        Command::Init(args) => cmd::init::run(&args),
        Command::Studio(args) => cmd::studio::run(&args),
        Command::Lsp(args) => cmd::lsp::run(&args),
        Command::Completions(args) => cmd::manual::completions(&args),
        Command::Man(args) => cmd::manual::man(&args),
    }
}

/// Examples that need several crates are doc tests of this one, which has every other at hand.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/preludes/store.md")]
    struct Store;
}
