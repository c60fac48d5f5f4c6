//! Parts of a compiled prelude: its namespaces and definitions, and the errors of a source.

use ptc_bytecode::{Artifact, Code, Diagnostic, Effects, NamespaceRecord, Returns, Span, Visibility};

/// The namespaces of a prelude, in the order of the source.
#[derive(Clone, Debug)]
pub struct Namespaces(pub Vec<CompiledNamespace>);

/// One compiled namespace.
#[derive(Clone, Debug)]
pub struct CompiledNamespace {
    /// Name, doc and default visibility.
    pub record: NamespaceRecord,
    /// Definitions, in the order of the source.
    pub definitions: Vec<CompiledDefinition>,
    /// Code, in which definition `i` is function `i`.
    pub artifact: Artifact,
}

/// One compiled definition.
#[derive(Clone, Debug)]
pub struct CompiledDefinition {
    /// Name within the namespace.
    pub name: String,
    /// Qualified name, `ns/name`.
    pub reference: String,
    /// True if only its namespace may use it: `defn-` or `^:private`.
    pub private: bool,
    /// True for a constant.
    pub constant: bool,
    /// Doc string, if there is one.
    pub doc: Option<String>,
    /// Metadata of the definition.
    pub metadata: Metadata,
    /// Parameters of each arity as they are shown.
    pub params: Vec<Vec<String>>,
    /// Text of the definition as `source` prints it.
    pub rendered: String,
    /// Place in the source.
    pub span: Span,
    /// Return value, as far as its text tells.
    pub returns: Returns,
}

/// The metadata of a definition.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Metadata {
    /// Value of `:visibility`.
    pub visibility: Option<Visibility>,
    /// Value of `:requires`.
    pub requires: Vec<String>,
    /// Value of `:provider-ref`.
    pub provider_ref: Option<String>,
    /// Value of `:effect`.
    pub effect: Option<Effects>,
    /// Value of `:private`.
    pub private: bool,
}

/// The errors of a source that is not a valid prelude.
#[derive(Clone, PartialEq, Debug)]
pub struct PreludeError {
    /// Errors, the most useful first.
    pub diagnostics: Vec<Diagnostic>,
    /// Namespace of the error, when known.
    pub namespace: Option<String>,
    /// Definition of the error as `ns/name`, when known.
    pub reference: Option<String>,
    /// Limit that ended compiling: `CompileTimeout`, `CompileFuelExceeded` or `CompileMemoryExceeded`.
    pub limit: Option<Code>,
}

impl PreludeError {
    /// Makes an error that belongs to no definition.
    pub fn new(diagnostic: Diagnostic) -> PreludeError {
        PreludeError { diagnostics: vec![diagnostic], namespace: None, reference: None, limit: None }
    }

    /// Makes an error in a definition.
    pub fn of(reference: &str, diagnostic: Diagnostic) -> PreludeError {
        let namespace = reference.split_once('/').map(|(namespace, _)| namespace.to_string());
        let reference = Some(reference.to_string());
        PreludeError { diagnostics: vec![diagnostic], namespace, reference, limit: None }
    }

    /// Returns the first diagnostic.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostics[0]
    }

    /// Returns its stable reason, such as `duplicate_ref`.
    pub fn reason(&self) -> &'static str {
        self.diagnostic().code.reason()
    }

    /// Returns its first line.
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

/// Converts the error of a compilation that was given up; keeps the limit that ended it.
#[cold]
pub fn unfinished(mut problem: Diagnostic) -> PreludeError {
    let limit = Some(problem.code).filter(|code| is_limit(*code));
    problem.code = Code::CompileError;
    PreludeError { limit, ..PreludeError::new(problem) }
}

pub(super) fn is_limit(code: Code) -> bool {
    matches!(code, Code::CompileTimeout | Code::CompileMemoryExceeded | Code::CompileFuelExceeded)
}

/// Converts errors of the reader.
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
