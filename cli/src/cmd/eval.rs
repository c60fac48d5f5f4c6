//! `ptc eval`: a program from `-e`, from standard input, or many of them with `--jsonl`.

use super::{jsonl, run_program};
use crate::args::EvalArgs;
use crate::input::read_program;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &EvalArgs) -> ExitCode {
    let (settings, write) = (&args.settings, &args.write);
    match &args.expr {
        _ if args.jsonl => jsonl::run(settings, write),
        Some(expr) => run_program(Ok(expr.clone()), "-e", settings, write, &args.upstream),
        None => run_program(read_program(Path::new("-")), "standard input", settings, write, &args.upstream),
    }
}
