//! Errors of signatures themselves, and of values that should fit one.

use super::Path;
use std::fmt;

/// Reason why a text or data is not a signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignatureError {
    /// Description of the problem.
    pub message: String,
    /// Advice: what to write instead.
    pub hint: Option<String>,
    /// Column of the problem, in characters from 1; None for data.
    pub column: Option<usize>,
}

impl SignatureError {
    pub(super) fn at(source: &str, at: usize, message: impl Into<String>) -> SignatureError {
        let column = source[..at.min(source.len())].chars().count() + 1;
        SignatureError { message: message.into(), hint: None, column: Some(column) }
    }

    pub(crate) fn data(message: impl Into<String>) -> SignatureError {
        SignatureError { message: message.into(), hint: None, column: None }
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> SignatureError {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(column) = self.column {
            write!(f, " (column {column})")?;
        }
        match &self.hint {
            Some(hint) => write!(f, ": {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SignatureError {}

/// A misfit: one place where a value does not fit.
///
/// ```
/// use ptc_contract::Signature;
/// use ptc_runtime::bridge::json_to_datum;
/// let signature = Signature::parse("{orders [{buyer {id :int}}]}")?;
/// let value = json_to_datum(&serde_json::json!({"orders": [{"buyer": {"id": "x7"}}]}))?;
/// let errors = signature.validate(&value);
/// assert_eq!(errors[0].to_string(), r#"orders[0].buyer.id: expected int, got string "x7""#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValidationError {
    /// Path to the value.
    pub path: Path,
    /// Description of the expected value.
    pub expected: String,
    /// Description of the value found.
    pub got: String,
    /// Expected and found, in one sentence.
    pub message: String,
}

impl ValidationError {
    pub(super) fn new(path: &Path, expected: impl Into<String>, got: impl Into<String>) -> ValidationError {
        let (expected, got) = (expected.into(), got.into());
        let message = format!("expected {expected}, got {got}");
        ValidationError { path: path.clone(), expected, got, message }
    }

    pub(super) fn saying(path: &Path, message: impl Into<String>) -> ValidationError {
        let message = message.into();
        ValidationError { path: path.clone(), expected: String::new(), got: String::new(), message }
    }
}

impl fmt::Display for ValidationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_root() {
            write!(f, "{}: ", self.path)?;
        }
        f.write_str(&self.message)
    }
}

/// Formats errors under a heading, one `- ` line each; empty if there are none.
///
/// ```
/// use ptc_contract::signature::list_errors;
/// assert_eq!(list_errors("Tool validation warnings:", &["limit: coerced string \"10\" to int"]),
///     "Tool validation warnings:\n- limit: coerced string \"10\" to int");
/// ```
pub fn list_errors<E: fmt::Display>(heading: &str, errors: &[E]) -> String {
    if errors.is_empty() {
        return String::new();
    }
    errors.iter().fold(heading.to_string(), |text, error| format!("{text}\n- {error}"))
}
