//! Why an agent cannot be built.

use std::fmt;

macro_rules! reasons {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal;)*) => {
        /// What kind of mistake, by a name that does not change.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Reason {
            /// As results and hosts spell it.
            pub fn name(self) -> &'static str {
                match self { $(Reason::$variant => $name,)* }
            }
        }
    };
}

reasons! {
    /// There is no mission.
    MissingPrompt "missing_prompt";
    /// An option has a value it cannot have, or is none.
    InvalidOption "invalid_option";
    /// A tool has a name that belongs to the system.
    ReservedToolName "reserved_tool_name";
    /// A tool is not well defined.
    InvalidTool "invalid_tool";
    /// A signature cannot be read.
    InvalidSignature "invalid_signature";
    /// The mission has placeholders that nothing fills.
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

/// Why an agent cannot be built.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildError {
    /// What kind of mistake.
    pub reason: Reason,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl BuildError {
    /// With this reason and message.
    pub fn new(reason: Reason, message: impl Into<String>) -> BuildError {
        BuildError { reason, message: message.into() }
    }

    pub(crate) fn option(name: &str, rule: impl fmt::Display) -> BuildError {
        BuildError::new(Reason::InvalidOption, format!("`{name}` {rule}"))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason, self.message)
    }
}

impl std::error::Error for BuildError {}
