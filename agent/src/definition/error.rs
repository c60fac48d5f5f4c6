//! Errors of building agents.

use ptc_bytecode::Place;
use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal;)*) => {
        /// The kind of a build error, with a stable name.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Reason {
            /// Returns the name used in results and by hosts.
            pub fn name(self) -> &'static str {
                match self { $(Reason::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    /// The mission is missing.
    MissingPrompt "missing_prompt";
    /// An option has an invalid value, or does not exist.
    InvalidOption "invalid_option";
    /// A tool has a reserved name.
    ReservedToolName "reserved_tool_name";
    /// A tool is not well defined.
    InvalidTool "invalid_tool";
    /// A signature cannot be parsed.
    InvalidSignature "invalid_signature";
    /// The mission has placeholders without values.
    TemplateError "template_error";
    /// The context does not fit the contract.
    ValidationError "validation_error";
    /// A tool and a key of the context have the same name.
    NameConflict "name_conflict";
    /// The agent cannot be compiled.
    NotCompilable "not_compilable";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Reason why an agent cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// Kind of the error.
    pub reason: Reason,
    /// Description of the problem, and how to fix it.
    pub message: String,
    /// Keys that lead to the wrong value in the definition, the outermost first; empty if no key is wrong.
    pub keys: Vec<String>,
    /// Place inside the text of that value, such as a program.
    pub inside: Option<Place>,
}

impl BuildError {
    /// Returns an error with this reason and message.
    pub fn new(reason: Reason, message: impl Into<String>) -> BuildError {
        BuildError { reason, message: message.into(), keys: Vec::new(), inside: None }
    }

    /// Returns an error of an option, or of a part of one, such as `prompt_limit.list`.
    pub(crate) fn option(name: &str, rule: impl fmt::Display) -> BuildError {
        let keys: Vec<&str> = name.split('.').collect();
        BuildError::new(Reason::InvalidOption, format!("`{name}` {rule}")).under(&keys)
    }

    /// Puts keys before those that lead to the wrong value.
    #[must_use]
    pub fn under(mut self, keys: &[&str]) -> BuildError {
        self.keys.splice(0..0, keys.iter().map(|key| key.to_string()));
        self
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for BuildError {}
