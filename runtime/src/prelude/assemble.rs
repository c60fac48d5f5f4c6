//! Assembles preludes from sources: compiles as often as their constants depend on each other, then checks and links.

use super::constants;
use super::{Prelude, PreludeError, Standing};
use crate::host::Runtime;
use crate::watch::CompileClock;
use ptc_bytecode::{Code, Component, Datum, Diagnostic, Limits, verify_prelude};
use ptc_compiler::Meter;
use ptc_compiler::prelude::{self, Compiled, Used, file_of};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiles one source, which may use the namespaces in `used`, again for each round of dependent constants. Each
/// constant may take `heap` bytes while it is computed.
pub(super) fn compiled(
    runtime: &Runtime,
    source: &str,
    used: &Used,
    heap: u64,
) -> Result<Compiled, PreludeError> {
    let limits = runtime.current_limits();
    let clock = CompileClock::new(limits.compile_ms);
    let stop = || clock.is_up();
    // Compiling has its own limits; those of programs may be much smaller.
    let (compile_ms, compile_fuel) = (limits.compile_ms, limits.compile_fuel);
    let limits = Limits { compile_ms, compile_fuel, ..Limits::default() };
    // One budget for all compilations.
    let meter = Meter::new(&limits, &stop);
    let compile =
        |known: &BTreeMap<String, Datum>| prelude::compile(source, &limits, known, used, true, &meter);
    let mut known = BTreeMap::new();
    let first = Compiled::new(source, compile(&known)?);
    let rounds: Vec<Vec<Vec<usize>>> =
        first.namespaces().iter().map(constants::rounds).collect::<Result<_, _>>()?;
    let most = rounds.iter().map(Vec::len).max().unwrap_or(0);
    if most == 0 {
        return Ok(first);
    }
    let library =
        constants::pure_library(runtime).map_err(|fault| PreludeError::new(fault.to_diagnostic()))?;
    let library = Arc::new(library);
    for round in 0..most {
        for (namespace, rounds) in first.namespaces().iter().zip(&rounds) {
            let ready = rounds.get(round).map_or(&[][..], |ready| ready);
            let values = constants::evaluate(namespace, ready, &known, &library, heap)?;
            for (index, value) in ready.iter().zip(values) {
                let reference = namespace.definitions[*index].reference.clone();
                known.extend(value.map(|value| (reference, value)));
            }
        }
        if clock.is_up() {
            let message = "finding the constants took longer than the host allows (limits.compile_ms)";
            let error = PreludeError::new(Diagnostic::without_span(Code::CompileError, message));
            return Err(PreludeError { limit: Some(Code::CompileTimeout), ..error });
        }
    }
    Ok(first.with_constants(compile(&known)?, known))
}

/// Makes a prelude from compiled sources. `components` describes them if there are several, `used` the preludes
/// they were compiled with, `standing` the parties that answer for them.
pub(super) fn assemble(
    runtime: &Runtime,
    sources: &[Compiled],
    components: Vec<Component>,
    used: &Used,
    standing: Standing,
    positions: bool,
) -> Result<Prelude, PreludeError> {
    let mut file = file_of(sources, components, used)?;
    if !positions {
        // Positions mean nothing to anyone who runs a program.
        file.artifact.blocks.iter_mut().for_each(|block| block.spans.clear());
    }
    let file = file.sealed();
    let internal = |diagnostic: Diagnostic| PreludeError::new(diagnostic);
    // Files go through the same check, so compiler and verifier are tested against each other.
    let verified = verify_prelude(file).map_err(|mut problem| {
        if problem.code == Code::ArtifactLimitExceeded {
            problem.code = Code::CompileError;
            problem.hint = Some("split the prelude into several, or drop what nobody calls".to_string());
        }
        // A text of the source, which the author can change.
        if problem.code == Code::BadConstant {
            problem.code = Code::CompileError;
        }
        internal(problem)
    })?;
    // The texts come from the very source that was compiled.
    Prelude::link(verified, runtime.library(), true, standing)
        .map_err(|fault| internal(fault.to_diagnostic()))
}
