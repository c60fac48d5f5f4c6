//! Prelude source → namespaces with their definitions and code.
//!
//! A prelude is a file of `ns`, `def`, `defn` and `defn-`. Each namespace is compiled by itself to an
//! artifact in which definition `i` is function `i`; a constant is a function without parameters, since
//! finding its value needs a machine, which this crate does not know. Whoever has found the values
//! compiles once more with them.

mod assemble;
mod definition;
mod header;
mod metadata;
mod render;

pub use assemble::{Compiled, file_of};

use crate::form::{Form, FormKind};
use crate::lower;
use crate::meter::Meter;
use crate::parse::{ReadText, parse_metered};
use crate::resolve::{Definition, resolve_namespace};
use bumpalo::Bump;
use ptc_bytecode::{
    Artifact, Code, Datum, Diagnostic, Effects, Limits, NamespaceRecord, Span, Subject, Visibility,
};
use std::collections::BTreeMap;

/// The namespaces of a prelude, in the order of the source.
#[derive(Clone, Debug)]
pub struct Namespaces(pub Vec<CompiledNamespace>);

/// One namespace.
#[derive(Clone, Debug)]
pub struct CompiledNamespace {
    /// Name, doc, default visibility.
    pub record: NamespaceRecord,
    /// Its definitions, in the order of the source.
    pub definitions: Vec<CompiledDefinition>,
    /// Definition `i` is function `i`.
    pub artifact: Artifact,
}

/// One definition.
#[derive(Clone, Debug)]
pub struct CompiledDefinition {
    /// Its name in the namespace.
    pub name: String,
    /// `ns/name`.
    pub reference: String,
    /// True if it is for its namespace only: `defn-` or `^:private`.
    pub private: bool,
    /// Whether it is a constant.
    pub constant: bool,
    /// Its doc string.
    pub doc: Option<String>,
    /// What it says of itself.
    pub metadata: Metadata,
    /// Parameters of each arity as they are shown.
    pub params: Vec<Vec<String>>,
    /// The definition as `source` shows it.
    pub rendered: String,
    /// Where it stands.
    pub span: Span,
}

/// What a definition says of itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Metadata {
    /// `:visibility`
    pub visibility: Option<Visibility>,
    /// `:requires`
    pub requires: Vec<String>,
    /// `:provider-ref`
    pub provider_ref: Option<String>,
    /// `:effect`
    pub effect: Option<Effects>,
    /// `:private`
    pub private: bool,
}

/// Why a source is no prelude.
#[derive(Clone, PartialEq, Debug)]
pub struct PreludeError {
    /// What is wrong; the first is the most telling.
    pub diagnostics: Vec<Diagnostic>,
    /// The namespace it is in, when known.
    pub namespace: Option<String>,
    /// The definition it is in, as `ns/name`, when known.
    pub reference: Option<String>,
    /// The limit that ended compiling: `CompileTimeout`, `CompileFuelExceeded` or `CompileMemoryExceeded`.
    pub limit: Option<Code>,
}

impl PreludeError {
    /// An error that belongs to no definition.
    pub fn new(diagnostic: Diagnostic) -> PreludeError {
        PreludeError { diagnostics: vec![diagnostic], namespace: None, reference: None, limit: None }
    }

    /// An error in a definition.
    pub fn of(reference: &str, diagnostic: Diagnostic) -> PreludeError {
        let namespace = reference.split_once('/').map(|(namespace, _)| namespace.to_string());
        let reference = Some(reference.to_string());
        PreludeError { diagnostics: vec![diagnostic], namespace, reference, limit: None }
    }

    /// The first diagnostic.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostics[0]
    }

    /// Its stable reason, such as `duplicate_ref`.
    pub fn reason(&self) -> &'static str {
        self.diagnostic().code.reason()
    }

    /// Its first line.
    pub fn message(&self) -> &str {
        &self.diagnostic().message
    }

    fn in_namespace(mut self, name: &str) -> PreludeError {
        self.namespace = Some(name.to_string());
        self
    }
}

impl std::fmt::Display for PreludeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.diagnostic())
    }
}

impl std::error::Error for PreludeError {}

/// Compiles a prelude. `known` has the values of those constants, by `ns/name`, that are data.
///
/// ```
/// use ptc_compiler::prelude;
/// let source = "(ns crm) (def size 50) (defn page [n] (* n size))";
/// let limits = ptc_bytecode::Limits::default();
/// let meter = ptc_compiler::Meter::new(&limits, &|| false);
/// let found = prelude::compile(source, &limits, &Default::default(), true, &meter).unwrap();
/// assert_eq!(found.0[0].definitions[1].reference, "crm/page");
/// let error = prelude::compile("(defn f [] 1)", &limits, &Default::default(), true, &meter);
/// assert_eq!(error.unwrap_err().reason(), "missing_namespace");
/// ```
pub fn compile(
    source: &str,
    limits: &Limits,
    known: &BTreeMap<String, Datum>,
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
    let compiled = drafts.iter().map(|draft| draft.compile(names, known, optimize, &arena, meter));
    compiled.collect::<Result<Vec<_>, _>>().map(Namespaces)
}

/// A prelude that was given up, in the terms of preludes: the limit that ended it stays known.
#[cold]
pub fn unfinished(mut problem: Diagnostic) -> PreludeError {
    let limit = Some(problem.code).filter(|code| is_limit(*code));
    problem.code = Code::CompileError;
    PreludeError { limit, ..PreludeError::new(problem) }
}

fn is_limit(code: Code) -> bool {
    matches!(code, Code::CompileTimeout | Code::CompileMemoryExceeded | Code::CompileFuelExceeded)
}

#[cold]
fn unreadable(mut diagnostics: Vec<Diagnostic>) -> PreludeError {
    let limit = diagnostics.iter().map(|diagnostic| diagnostic.code).find(|code| is_limit(*code));
    for diagnostic in &mut diagnostics {
        diagnostic.message = match diagnostic.code {
            Code::ParseError | Code::DuplicateKey => format!("prelude parse error: {}", diagnostic.message),
            _ => std::mem::take(&mut diagnostic.message),
        };
        diagnostic.code = match diagnostic.code {
            Code::ParseError | Code::DuplicateKey => Code::ParseError,
            Code::ProgramTooLarge => Code::SourceTooLarge,
            _ => Code::CompileError,
        };
    }
    PreludeError { diagnostics, namespace: None, reference: None, limit }
}

/// A namespace as it was read.
struct Draft<'a> {
    header: header::Header<'a>,
    definitions: Vec<definition::Read<'a>>,
}

/// Sorts the top-level forms into namespaces.
fn drafts<'a>(text: &ReadText<'a>, arena: &'a Bump) -> Result<Vec<Draft<'a>>, PreludeError> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let mut end = 0;
    for form in text.forms {
        // `^:private (defn f …)` marks the form, not what it defines: nothing would be private.
        if let Some(stray) = metadata::between(&text.metadata, end, form.span.start).first() {
            return Err(PreludeError::new(
                Diagnostic::error(
                    Code::InvalidMetadata,
                    stray.span,
                    format!("the metadata ^{} stands before a form, where it means nothing", stray.brief()),
                )
                .hint("put it before the name: (defn ^:private clean [x] …)"),
            ));
        }
        end = form.span.end;
        let head = match form.kind {
            FormKind::List([Form { kind: FormKind::Symbol(head), .. }, ..]) => *head,
            _ => "",
        };
        match head {
            "ns" => {
                let header = header::read(form, &text.metadata)?;
                if drafts.iter().any(|draft| draft.header.name == header.name) {
                    let message = format!("namespace '{}' is declared more than once", header.name);
                    let problem = Diagnostic::error(Code::InvalidNamespace, form.span, message)
                        .hint("put all its definitions below one (ns …)");
                    return Err(PreludeError::new(problem).in_namespace(header.name));
                }
                drafts.push(Draft { header, definitions: Vec::new() });
            }
            "def" | "defn" | "defn-" => {
                let Some(draft) = drafts.last_mut() else {
                    let name = match form.kind {
                        FormKind::List([_, name, ..]) => name.brief(),
                        _ => String::new(),
                    };
                    let message = format!("`{name}` is defined before any (ns …)");
                    return Err(PreludeError::new(
                        Diagnostic::error(Code::MissingNamespace, form.span, message)
                            .hint("start the file with a namespace: (ns crm)"),
                    ));
                };
                let read = definition::read(form, head, draft.header.name, &text.metadata, arena)
                    .map_err(|error| error.in_namespace(draft.header.name))?;
                if draft.definitions.iter().any(|known| known.name == read.name) {
                    let message =
                        format!("duplicate definition `{}`: a ref stands for one thing", read.reference);
                    let problem = Diagnostic::error(Code::DuplicateRef, form.span, message)
                        .hint("rename one of them; public and private names share one namespace");
                    return Err(PreludeError::of(read.reference, problem));
                }
                draft.definitions.push(read);
            }
            _ => {
                let message = format!(
                    "only ns, def, defn and defn- may stand at the top level of a prelude, but found {}",
                    form.brief()
                );
                let problem = Diagnostic::error(Code::CompileError, form.span, message)
                    .hint("put it into a function: (defn f [] …)");
                let error = PreludeError::new(problem);
                return Err(match drafts.last() {
                    Some(draft) => error.in_namespace(draft.header.name),
                    None => error,
                });
            }
        }
    }
    if drafts.is_empty() {
        let problem = Diagnostic::without_span(Code::MissingNamespace, "the prelude declares no namespace")
            .hint("start the file with a namespace: (ns crm)");
        return Err(PreludeError::new(problem));
    }
    Ok(drafts)
}

impl<'a> Draft<'a> {
    fn compile(
        &self,
        namespaces: &'a [&'a str],
        known: &BTreeMap<String, Datum>,
        optimize: bool,
        arena: &'a Bump,
        meter: &'a Meter<'a>,
    ) -> Result<CompiledNamespace, PreludeError> {
        let definitions: Vec<Definition<'a>> =
            self.definitions.iter().map(definition::Read::to_resolve).collect();
        let resolved = resolve_namespace(self.header.name, namespaces, &definitions, arena, meter);
        let unfinished = |problem| unfinished(problem).in_namespace(self.header.name);
        meter.charge(0).map_err(unfinished)?;
        if let Some((at, _)) = resolved.errors.first() {
            let of_first = resolved.errors.iter().filter(|(i, _)| i == at).map(|(_, d)| d.clone());
            return Err(refused(self.definitions[*at].reference, of_first.collect()));
        }
        let values: Vec<Option<Datum>> =
            self.definitions.iter().map(|read| known.get(read.reference).cloned()).collect();
        let artifact = lower::lower_namespace(&resolved.functions, &resolved.tools, &values, optimize, meter)
            .map_err(unfinished)?;
        Ok(CompiledNamespace {
            record: self.header.record(),
            definitions: self.definitions.iter().map(definition::Read::to_compiled).collect(),
            artifact,
        })
    }
}

/// What the analysis found, in the terms of preludes.
#[cold]
fn refused(reference: &str, mut diagnostics: Vec<Diagnostic>) -> PreludeError {
    let own = |code: Code| matches!(code, Code::QualifiedSelfReference | Code::ImpureConstant);
    // A rule of preludes says more than what follows from breaking it.
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
