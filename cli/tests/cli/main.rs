//! The `ptc` binary from outside: every flag, exit code and output shape.

mod agent;
mod agent_testing;
mod batch;
mod entry;
mod eval;
mod explain;
mod facade;
mod files;
mod fmt;
mod jsonl;
mod limits;
mod lookup;
mod lsp;
mod mcp;
mod media;
mod policies;
mod preludes;
mod process;
mod repl;
mod serving;
mod store;
#[cfg(unix)]
mod terminal;
mod testing;
mod trace;
mod trust;
mod upgrading;
mod usage;
mod uses;
mod warnings;

use process::{Ran, file, finish};
use serde_json::Value;
use std::process::Command;

impl Ran {
    /// The answers of `--jsonl`.
    #[track_caller]
    fn json_lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

/// Runs `ptc` with an empty standard input.
fn ptc(args: &[&str]) -> Ran {
    ptc_with(args, b"")
}

/// Runs `ptc` with `input` on standard input.
fn ptc_with(args: &[&str], input: &[u8]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ptc"));
    command.args(args);
    finish(command, input)
}
