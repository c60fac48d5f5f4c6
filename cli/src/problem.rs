//! Usage and file errors.

use ptc_bytecode::{Code, Diagnostic};

/// A usage or file error: the process ends with exit code 2.
#[derive(Debug)]
pub struct Problem(pub Box<Diagnostic>);

impl Problem {
    pub fn new(code: Code, message: impl Into<String>) -> Problem {
        Problem(Box::new(Diagnostic::without_span(code, message)))
    }

    /// Hint: what to do instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.0.hint = Some(hint.into());
        self
    }
}
