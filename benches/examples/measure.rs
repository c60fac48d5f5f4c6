//! Measures and compares the costs of programs: `measure instructions` and `measure costs`. See `benches/README.md`.
//!
//! Both are in one binary, because linking it with all optimisations takes minutes.
#![forbid(unsafe_code)]

use ptc_benches::{costs, instructions};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("instructions") => instructions::run(&args.collect::<Vec<_>>()),
        Some("costs") => costs::suite::run(args),
        _ => {
            eprintln!(
                "usage: measure instructions [CASE]… | measure costs [--seconds N] [--seed N] [--band N] [--show N] [CALL]…"
            );
            ExitCode::FAILURE
        }
    }
}
