//! Verdicts: errors and warnings of one text, the same for `ptc check` and for editors.

use ptc_runtime::{Attach, CompileOptions, Diagnostic, Failure, Prelude, PreludeError, Runtime, Tools};

/// Returns the runtime in which programs are checked: with these preludes, and with no tools, whose names are then not
/// checked.
pub fn with_preludes(runtime: &Runtime, preludes: &[Prelude]) -> Result<Runtime, Failure> {
    let needed = preludes.iter().flat_map(|prelude| prelude.exports()).flat_map(|export| &export.tool_refs);
    let tools = needed.fold(Tools::new(), |tools, name| tools.declared(name));
    let attached = preludes.iter().try_fold(runtime.clone().with_tools(tools), |runtime, prelude| {
        runtime.attach(prelude, &Attach::new())
    })?;
    Ok(attached.without_tools())
}

/// Returns the errors, then the warnings of a program. One with a slip runs, but anyone who asks wants it mended.
pub fn of_program(source: &str, runtime: &Runtime) -> Vec<Diagnostic> {
    match runtime.compile(source) {
        Ok(program) => program.warnings().to_vec(),
        Err(failure) => {
            let warnings = failure.warnings().to_vec();
            failure.diagnostics.into_iter().chain(warnings).collect()
        }
    }
}

/// Returns a prelude, unless it has errors; then its errors and warnings. It may use the preludes in `uses`.
pub fn of_prelude(source: &str, runtime: &Runtime, uses: &[Prelude]) -> (Option<Prelude>, Vec<Diagnostic>) {
    let options = CompileOptions { positions: false, uses };
    let warnings = Prelude::warnings_of(runtime, source);
    match Prelude::compile_with(runtime, source, &options) {
        Ok(prelude) => (Some(prelude), warnings),
        Err(PreludeError { diagnostics, .. }) => (None, diagnostics.into_iter().chain(warnings).collect()),
    }
}
