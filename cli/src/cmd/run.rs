//! `ptc run FILE`.

use super::run_program;
use crate::args::RunArgs;
use crate::input::read_program;
use std::process::ExitCode;

pub fn run(args: &RunArgs) -> ExitCode {
    run_program(read_program(&args.file), &args.file.display().to_string(), &args.settings)
}
