//! Errors of the store.

use crate::prelude::PreludeError;
use ptc_bytecode::{Code, Diagnostic};
use serde_json::{Map, Value};
use std::fmt;

/// An error of the store, which has then changed nothing.
#[derive(Clone, PartialEq, Debug)]
pub struct StoreError {
    /// Kind of problem.
    pub code: Code,
    /// Message for people.
    pub message: String,
    /// Details for programs: `limit`, `expected`, `actual`, `compile_reason`…
    pub details: Map<String, Value>,
}

impl StoreError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> StoreError {
        StoreError { code, message: message.into(), details: Map::new() }
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> StoreError {
        self.details.insert(name.to_string(), value.into());
        self
    }

    /// Returns its stable reason, such as `not_found`.
    pub fn reason(&self) -> &'static str {
        self.code.reason()
    }

    /// Returns it as a diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        Diagnostic::without_span(self.code, self.message.clone())
    }

    /// Makes the error for a source that does not compile.
    pub(super) fn of_source(error: &PreludeError, source: &str) -> StoreError {
        let diagnostic = error.diagnostic();
        let place = diagnostic.place(source).map_or(String::new(), |place| format!("{}: ", place.line));
        let place = if place.is_empty() { place } else { format!("line {place}") };
        let code = error.limit.unwrap_or(match diagnostic.code {
            Code::SourceTooLarge => Code::SourceTooLarge,
            _ => Code::PreludeCompileError,
        });
        let message = format!("{place}{}", diagnostic.message);
        let mut told = StoreError::new(code, message).with("compile_reason", error.reason());
        for (name, value) in [("namespace", &error.namespace), ("ref", &error.reference)] {
            if let Some(value) = value {
                told = told.with(name, value.clone());
            }
        }
        match &diagnostic.hint {
            Some(hint) => told.with("hint", hint.clone()),
            None => told,
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reason(), self.message)
    }
}

impl std::error::Error for StoreError {}
