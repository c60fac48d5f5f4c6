//! Secrets that nothing prints.

use std::fmt;

/// A secret text: never shown in debug output, errors or logs.
///
/// ```
/// use ptc_web::Secret;
/// assert_eq!(format!("{:?}", Secret::from("sk-1234")), "Secret(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the text, for the header that carries it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Removes this secret from a text: providers like to repeat their input.
    pub fn hide_in(&self, text: &str) -> String {
        match self.0.len() {
            0..4 => text.to_string(),
            _ => text.replace(&self.0, "…"),
        }
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Secret {
        Secret::from(text.to_string())
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Secret {
        // A key read from a file ends with a line break.
        Secret(text.trim().to_string())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
