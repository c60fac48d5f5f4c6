//! Functions that cannot be registered.

use datafusion::error::DataFusionError;
use ptc_runtime::{Diagnostic, InputError, PreludeInput};
use std::fmt;

/// An error in loading or registering functions.
#[derive(Clone, PartialEq, Debug)]
pub struct Refused {
    message: String,
    hint: Option<String>,
}

impl Refused {
    /// Makes an error.
    pub fn new(message: impl Into<String>) -> Refused {
        Refused { message: message.into(), hint: None }
    }

    /// Adds a fix.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Refused {
        Refused { hint: Some(hint.into()), ..self }
    }

    /// Makes the error of one of the inputs.
    pub(crate) fn of_input(error: InputError, inputs: &[PreludeInput]) -> Refused {
        let origin = |number: usize| inputs.get(number).map_or("a prelude", |input| &*input.origin);
        match error {
            InputError::Order(problem) => problem.into(),
            InputError::Refused(number, problem) => Refused::from(problem).of(origin(number)),
            InputError::NotCompiled(number, error) => {
                let source = match inputs.get(number).map(|input| &input.content) {
                    Some(ptc_runtime::PreludeContent::Source(source)) => &**source,
                    _ => "",
                };
                let diagnostic = error.diagnostic();
                let message = match diagnostic.place(source) {
                    Some(place) => format!("{}:{}: {}", place.line, place.column, diagnostic.message),
                    None => format!(" {}", diagnostic.message),
                };
                Refused { message: format!("{}:{message}", origin(number)), hint: diagnostic.hint.clone() }
            }
        }
    }

    /// Names the file.
    pub(crate) fn of(self, origin: &str) -> Refused {
        Refused { message: format!("{origin}: {}", self.message), ..self }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}

impl From<Diagnostic> for Refused {
    fn from(problem: Diagnostic) -> Refused {
        Refused { message: format!("{}: {}", problem.code.reason(), problem.message), hint: problem.hint }
    }
}

impl From<Refused> for DataFusionError {
    fn from(refused: Refused) -> DataFusionError {
        DataFusionError::Plan(refused.to_string())
    }
}
