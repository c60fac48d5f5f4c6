//! Compiler from source text to an artifact: reads forms, expands and resolves them, lowers them to bytecode.
//!
//! It runs nothing and knows no values; a [`Scope`] lists the names a program may use. The same source, scope and
//! options give the same artifact on every machine: there is no I/O, no clock, and nothing depends on the order of a
//! hash table.
//!
//! ```
//! use ptc_bytecode::Limits;
//! use ptc_compiler::{Options, Scope, compile};
//!
//! let limits = Limits::default();
//! let artifact = compile("(+ 1 2)", &Scope::default(), &limits, Options::default()).unwrap();
//! assert_eq!(artifact.entry, Some(0));
//!
//! let problems = compile("(cuont [1])", &Scope::default(), &limits, Options::default()).unwrap_err();
//! assert_eq!(problems[0].hint.as_deref(), Some("did you mean `count`?"));
//! ```
#![forbid(unsafe_code)]

mod dialect;
mod duplicate;
mod emit;
mod expand;
mod form;
mod format;
mod interface;
mod lexer;
mod literal;
mod lower;
mod meter;
pub mod names;
mod opt;
mod outline;
mod parse;
mod pieces;
pub mod prelude;
mod projection;
mod reading;
pub mod reads;
mod resolve;
pub mod resolved;
mod scope;
mod slips;
pub mod suggest;
pub mod testing;
mod token;
mod tokens;

pub use form::{Form, FormKind, Special};
pub use format::format;
pub use interface::{Held, Interface, Shape};
pub use meter::{Meter, OUT_OF_TIME};
pub use outline::{Definition, outline};
pub use parse::parse;
pub use pieces::{Piece, PieceKind, pieces};
pub use projection::{Condition, Literal, Order, Projection, Projections, conditions, finds, projections};
pub use reading::{OpenBracket, Reading};
pub use reads::Reads;
pub use resolved::Resolved;
pub use scope::Scope;
#[doc(hidden)]
pub use tokens::tokens;

use bumpalo::Bump;
use ptc_bytecode::{Artifact, Diagnostic, Limits, Span};
use sha2::{Digest, Sha256};

/// Options of the compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// True to write shorter code. Fuel and results of a program are the same either way.
    pub optimize: bool,
    /// True for a part of the core library: `%` names and `%for`, `%set!`, `%exit` are allowed, every top-level
    /// form is a function and becomes an export, and there is no entry.
    pub library: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { optimize: true, library: false }
    }
}

/// Compiles `source`, or returns all its errors.
///
/// Errors come in the order structure, unknown names, unknown tools; all unknown names at once.
pub fn compile(
    source: &str,
    scope: &Scope,
    limits: &Limits,
    options: Options,
) -> Result<Artifact, Vec<Diagnostic>> {
    let meter = Meter::new(limits, &|| false);
    let compiled = compile_metered(source, scope, limits, options, &meter);
    compiled.map(|compiled| compiled.artifact).map_err(|failed| failed.errors)
}

/// A compiled program, with the facts needed before a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Compiled {
    /// Code of the program.
    pub artifact: Artifact,
    /// Granted data the source names, each once. Taken from the source, not from the code: the optimiser drops
    /// unreachable branches, and must not change which programs are refused.
    pub data: Vec<DataRead>,
    /// Fields it looks up, to be checked against the data before a run. Taken from the source, too.
    pub reads: Reads,
    /// Warnings about the source, in the order of the text.
    pub warnings: Vec<Diagnostic>,
}

/// The errors of a program that cannot be compiled.
#[derive(Clone, PartialEq, Debug)]
pub struct CompileErrors {
    /// All errors; at least one.
    pub errors: Vec<Diagnostic>,
    /// Warnings about the source; one of them may be the cause of an error.
    pub warnings: Vec<Diagnostic>,
}

/// A read of `data/x` in a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataRead {
    /// Name after `data/`.
    pub name: Box<str>,
    /// First place that reads it.
    pub span: Span,
}

/// Compiles `source` on the budget of a [`Meter`], which then holds the units used. Gives up with
/// `compile_fuel_exceeded` when the budget is used up, and with `compile_timeout` when the host stops it.
pub fn compile_metered(
    source: &str,
    scope: &Scope,
    limits: &Limits,
    options: Options,
    meter: &Meter<'_>,
) -> Result<Compiled, CompileErrors> {
    let mut warnings = Vec::new();
    match compile_warned(source, scope, limits, options, meter, &mut warnings) {
        Ok((artifact, data, reads)) => Ok(Compiled { artifact, data, reads, warnings }),
        Err(errors) => Err(CompileErrors { errors, warnings }),
    }
}

fn compile_warned(
    source: &str,
    scope: &Scope,
    limits: &Limits,
    options: Options,
    meter: &Meter<'_>,
    warnings: &mut Vec<Diagnostic>,
) -> Result<(Artifact, Vec<DataRead>, Reads), Vec<Diagnostic>> {
    // Small programs fit the first chunk, so the arena costs one allocation.
    let arena = Bump::with_capacity((source.len() * 16).clamp(1 << 10, 1 << 16));
    let text = parse::parse_metered(source, &arena, limits, meter, warnings);
    if let Ok(text) = &text {
        warnings.extend(slips::slips(text.forms));
    }
    let forms = text.map(|text| match scope.test {
        Some(part) => testing::select(text.forms, part, &arena),
        None => text.forms,
    });
    let resolved = forms.and_then(|forms| resolve::resolve(forms, scope, options.library, &arena, meter));
    let resolved = resolved.map_err(|errors| dialect::explain(source, errors))?;
    let mut artifact = lower::lower(&resolved, options.optimize, meter).map_err(|problem| vec![problem])?;
    artifact.source_hash = Sha256::digest(source.as_bytes()).into();
    let read = |(name, span): &(&str, Span)| DataRead { name: (*name).into(), span: *span };
    Ok((
        artifact,
        resolved.data.iter().map(read).collect(),
        reads::reads(&resolved, scope.interface.as_deref(), &arena),
    ))
}

/// Returns warnings about a text, without compiling it; none if it cannot be read.
pub fn warnings(source: &str, limits: &Limits, meter: &Meter<'_>) -> Vec<Diagnostic> {
    let (arena, mut warnings) = (Bump::new(), Vec::new());
    match parse::parse_metered(source, &arena, limits, meter, &mut warnings) {
        Ok(text) => {
            warnings.extend(slips::slips(text.forms));
            warnings
        }
        Err(_) => Vec::new(),
    }
}

/// Reads, expands and resolves `source` into core forms, which live in `arena`.
///
/// ```
/// use ptc_compiler::{Options, Scope, resolve_source};
/// let arena = bumpalo::Bump::new();
/// let (scope, limits) = (Scope::default(), ptc_bytecode::Limits::default());
/// let core = resolve_source("(let [x 1] (when x (inc x)))", &scope, &limits, Options::default(), &arena);
/// assert_eq!(core.unwrap().to_string(), "(let [x.0 1] (if x.0 (inc x.0) nil))\n");
/// ```
pub fn resolve_source<'a>(
    source: &str,
    scope: &Scope,
    limits: &Limits,
    options: Options,
    arena: &'a Bump,
) -> Result<Resolved<'a>, Vec<Diagnostic>> {
    let meter = Meter::new(limits, &|| false);
    let forms = parse::parse_metered(source, arena, limits, &meter, &mut Vec::new())?.forms;
    resolve::resolve(forms, scope, options.library, arena, &meter)
}
