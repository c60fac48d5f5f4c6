//! `ptc eval`: a program from an argument, from standard input, or many of them with `--jsonl`.

use super::{jsonl, run_program};
use crate::args::EvalArgs;
use crate::input::read_program;
use crate::problem::Problem;
use ptc_bytecode::Code;
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &EvalArgs) -> ExitCode {
    if args.jsonl {
        return jsonl::run(&args.settings, &args.write);
    }
    let (source, name) = match (&args.expr, &args.program) {
        (Some(expr), _) => (Ok(expr.clone()), "-e"),
        (None, Some(program)) => (text(program), "the argument"),
        (None, None) => (read_program(Path::new("-")), "standard input"),
    };
    run_program(source, name, &args.settings, &args.write, &args.upstream, (&args.record, args.plan.as_ref()))
}

/// The program in an argument; a file is not meant to be read as one.
fn text(program: &str) -> Result<String, Problem> {
    if program == "-" {
        return read_program(Path::new("-"));
    }
    match Path::new(program).is_file() {
        true => {
            let message = format!("{program} is a file, and `ptc eval` takes the text of a program");
            Err(Problem::new(Code::InvalidConfig, message).hint(format!("ptc run {program}")))
        }
        false => Ok(program.to_string()),
    }
}
