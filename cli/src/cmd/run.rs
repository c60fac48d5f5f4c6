//! `ptc run FILE`.

use super::run_program;
use crate::args::RunArgs;
use crate::input::read_program;
use std::process::ExitCode;

pub fn run(args: &RunArgs) -> ExitCode {
    let name = args.file.display().to_string();
    run_program(
        read_program(&args.file),
        &name,
        &args.settings,
        &args.write,
        &args.upstream,
        (&args.record, args.plan.as_ref()),
    )
}
