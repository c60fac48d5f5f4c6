//! Errors of configurations.

use std::fmt;

/// A problem in a configuration. It names the server and the field, never a value, which may be a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// `upstream 'github'`, `credential 'pat'`, or empty for the file itself.
    place: String,
    field: String,
    message: String,
}

impl ConfigError {
    pub(crate) fn file(message: impl Into<String>) -> ConfigError {
        ConfigError { place: String::new(), field: String::new(), message: message.into() }
    }

    pub(crate) fn new(place: &str, field: &str, message: impl Into<String>) -> ConfigError {
        ConfigError { place: place.to_string(), field: field.to_string(), message: message.into() }
    }

    /// Returns the field's path: `env.TOKEN`.
    pub fn field(&self) -> &str {
        &self.field
    }

    /// Returns the server or credential it is about.
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        if !self.field.is_empty() {
            write!(f, "`{}` ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}
