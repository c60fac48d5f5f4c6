//! `ptc disasm FILE`: the instructions of a program or an artifact.

use crate::args::DisasmArgs;
use crate::input::read;
use crate::problem::Problem;
use crate::report::{self, Errors, FAULT, OK, out};
use crate::setup::plain_runtime;
use ptc_bytecode::{Code, MAGIC, decode, disassemble, verify};
use std::process::ExitCode;

pub fn run(args: &DisasmArgs) -> ExitCode {
    let name = args.file.display().to_string();
    match listing(args) {
        Ok(Ok(text)) => out(&text, OK),
        Ok(Err(errors)) => {
            errors.show(&name);
            ExitCode::from(FAULT)
        }
        Err(problem) => report::problem(&problem, false),
    }
}

fn listing(args: &DisasmArgs) -> Result<Result<String, Errors>, Problem> {
    let bytes = read(&args.file)?;
    if bytes.starts_with(&MAGIC) {
        // Artifacts are untrusted: what is listed is what would be linked.
        let verified = decode(&bytes).and_then(verify);
        return Ok(verified
            .map(|verified| disassemble(verified.artifact(), None))
            .map_err(|diagnostic| Errors::one(diagnostic, "")));
    }
    let source = String::from_utf8(bytes).map_err(|_| {
        let message = format!("{} is neither a program in UTF-8 nor an artifact", args.file.display());
        Problem::new(Code::InvalidConfig, message)
    })?;
    let runtime = plain_runtime(args.limits.0)?.optimize(!args.no_optimize);
    Ok(match runtime.compile(&source) {
        Ok(program) => Ok(disassemble(program.artifact(), Some(&source))),
        Err(failure) => Err(Errors { diagnostics: failure.diagnostics, source, failed_with: None }),
    })
}
