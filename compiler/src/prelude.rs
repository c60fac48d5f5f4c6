//! Compiler of prelude source into namespaces with their definitions and code.
//!
//! A prelude is a file of `ns`, `def`, `defn` and `defn-`. Each namespace is compiled separately to an artifact in
//! which definition `i` is function `i`; a constant is a function without parameters, since computing its value needs a
//! machine, which this crate lacks. The caller computes the values and compiles once more with them.

mod assemble;
mod definition;
mod draft;
mod header;
mod metadata;
mod parts;
mod render;
mod texts;
mod used;
mod uses;

pub use assemble::{Compiled, file_of};
pub use parts::{CompiledDefinition, CompiledNamespace, Metadata, Namespaces, PreludeError, unfinished};
pub use texts::fit as texts_fit;
pub use used::Used;
pub use uses::{BREAK_UP, Outline, in_order, is_source, outline};

use crate::interface::Interface;
use crate::lower;
use crate::meter::Meter;
use crate::parse::parse_metered;
use crate::reads;
use crate::resolve::{Definition, Space, resolve_namespace};
use bumpalo::Bump;
use draft::{Draft, drafts};
use parts::{is_limit, unreadable};
use ptc_bytecode::{Code, Datum, Diagnostic, Limits, Subject};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Compiles a prelude. `known` holds the values of known constants that are data, by `ns/name`; `used` the exports
/// of other preludes that its namespaces may require.
///
/// ```
/// use ptc_compiler::prelude;
/// let source = "(ns crm) (def size 50) (defn page [n] (* n size))";
/// let limits = ptc_bytecode::Limits::default();
/// let meter = ptc_compiler::Meter::new(&limits, &|| false);
/// let (known, used) = Default::default();
/// let found = prelude::compile(source, &limits, &known, &used, true, &meter).unwrap();
/// assert_eq!(found.0[0].definitions[1].reference, "crm/page");
/// let error = prelude::compile("(defn f [] 1)", &limits, &known, &used, true, &meter);
/// assert_eq!(error.unwrap_err().reason(), "missing_namespace");
/// ```
pub fn compile(
    source: &str,
    limits: &Limits,
    known: &BTreeMap<String, Datum>,
    used: &Used,
    optimize: bool,
    meter: &Meter<'_>,
) -> Result<Namespaces, PreludeError> {
    if source.len() as u64 > limits.source_bytes {
        let (bytes, most) = (source.len(), limits.source_bytes);
        return Err(PreludeError::new(
            Diagnostic::without_span(
                Code::SourceTooLarge,
                format!("the prelude has {bytes} bytes, more than {most} (limits.source_bytes)"),
            )
            .hint("split it: several sources can be composed into one prelude"),
        ));
    }
    let arena = Bump::with_capacity((source.len() * 16).clamp(1 << 10, 1 << 16));
    let text = parse_metered(source, &arena, limits, meter, &mut Vec::new()).map_err(unreadable)?;
    let drafts = drafts(&text, &arena)?;
    let names: Vec<&str> = drafts.iter().map(|draft| draft.header.name).collect();
    let names = arena.alloc_slice_copy(&names);
    let mut compiled: Vec<Option<CompiledNamespace>> = drafts.iter().map(|_| None).collect();
    for i in uses::order(&drafts)? {
        let draft = &drafts[i];
        let interface = uses::interface(draft, used, &compiled, known, meter)?;
        compiled[i] = Some(draft.compile(names, interface, known, optimize, &arena, meter)?);
    }
    Ok(Namespaces(compiled.into_iter().flatten().collect()))
}

impl<'a> Draft<'a> {
    fn compile(
        &self,
        namespaces: &'a [&'a str],
        used: Option<Arc<Interface>>,
        known: &BTreeMap<String, Datum>,
        optimize: bool,
        arena: &'a Bump,
        meter: &'a Meter<'a>,
    ) -> Result<CompiledNamespace, PreludeError> {
        let definitions: Vec<Definition<'a>> =
            self.definitions.iter().map(definition::Read::to_resolve).collect();
        let space = Space { name: self.header.name, namespaces, requires: self.header.requires, used };
        let resolved = resolve_namespace(space, &definitions, arena, meter);
        let unfinished = |problem| unfinished(problem).in_namespace(self.header.name);
        meter.charge(0).map_err(unfinished)?;
        match resolved.errors.first() {
            Some((Some(at), _)) => {
                let of_first =
                    resolved.errors.iter().filter(|(i, _)| *i == Some(*at)).map(|(_, d)| d.clone());
                return Err(refused(self.definitions[*at].reference, of_first.collect()));
            }
            Some((None, problem)) => {
                let problem = Diagnostic { code: Code::InvalidNamespace, ..problem.clone() };
                return Err(PreludeError::new(problem).in_namespace(self.header.name));
            }
            None => {}
        }
        let values: Vec<Option<Datum>> =
            self.definitions.iter().map(|read| known.get(read.reference).cloned()).collect();
        let (functions, tools, defs) = (&resolved.functions, &resolved.tools, &resolved.defs);
        let artifact =
            lower::lower_namespace(functions, tools, defs, &values, optimize, meter).map_err(unfinished)?;
        let tools = arena.alloc_slice_copy(&resolved.tools);
        let returns = reads::returns(&resolved.functions, tools, arena);
        let definitions = self.definitions.iter().zip(returns);
        Ok(CompiledNamespace {
            record: self.header.record(),
            definitions: definitions.map(|(read, returns)| read.to_compiled(returns)).collect(),
            artifact,
        })
    }
}

/// Converts errors of the analysis into errors of preludes.
#[cold]
fn refused(reference: &str, mut diagnostics: Vec<Diagnostic>) -> PreludeError {
    let own = |code: Code| matches!(code, Code::QualifiedSelfReference | Code::ImpureConstant);
    // A broken rule of preludes says more than the errors that follow from it.
    diagnostics.sort_by_key(|diagnostic| !own(diagnostic.code));
    let is_own = diagnostics.first().is_some_and(|first| own(first.code));
    let name = |diagnostic: &'_ Diagnostic| match diagnostic.subject.as_deref() {
        Some(Subject::Name(name)) => Some(name.clone()),
        _ => None,
    };
    let undefined: Vec<String> = diagnostics.iter().filter_map(name).collect();
    if !is_own && !undefined.is_empty() {
        let first = diagnostics.iter().find(|diagnostic| name(diagnostic).is_some());
        let problem = Diagnostic {
            code: Code::CompileError,
            span: first.and_then(|first| first.span),
            message: format!("{reference} references undefined variable(s): {}", undefined.join(", ")),
            label: None,
            hint: first.and_then(|first| first.hint.clone()),
            subject: None,
            trace: None,
            fix: first.and_then(|first| first.fix.clone()),
        };
        return PreludeError::of(reference, problem);
    }
    let limit = diagnostics.iter().map(|diagnostic| diagnostic.code).find(|code| is_limit(*code));
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| !own(diagnostic.code)) {
        if diagnostic.code != Code::CompileError {
            diagnostic.message = format!("in {reference}: {}", diagnostic.message);
            diagnostic.code = Code::CompileError;
        }
    }
    PreludeError {
        diagnostics,
        limit,
        ..PreludeError::of(reference, Diagnostic::without_span(Code::CompileError, ""))
    }
}
