//! Namespaces of a prelude as they are compiled, and why a source is none.

use ptc_bytecode::{Artifact, Code, Diagnostic, Effects, NamespaceRecord, Returns, Span, Visibility};

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
    /// What it gives back, as far as its text tells.
    pub returns: Returns,
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

    pub(super) fn in_namespace(mut self, name: &str) -> PreludeError {
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

/// A prelude that was given up, in the terms of preludes: the limit that ended it stays known.
#[cold]
pub fn unfinished(mut problem: Diagnostic) -> PreludeError {
    let limit = Some(problem.code).filter(|code| is_limit(*code));
    problem.code = Code::CompileError;
    PreludeError { limit, ..PreludeError::new(problem) }
}

pub(super) fn is_limit(code: Code) -> bool {
    matches!(code, Code::CompileTimeout | Code::CompileMemoryExceeded | Code::CompileFuelExceeded)
}

/// Errors of the reader, in the terms of preludes.
#[cold]
pub(super) fn unreadable(mut diagnostics: Vec<Diagnostic>) -> PreludeError {
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
