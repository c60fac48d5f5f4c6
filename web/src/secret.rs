//! Keys, which nothing prints.

use std::fmt;

/// A text that is not shown: not in debug output, not in errors, not in logs.
///
/// ```
/// use ptc_web::Secret;
/// assert_eq!(format!("{:?}", Secret::from("sk-1234")), "Secret(…)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself, for the header it is sent in.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The text without this secret in it: providers like to repeat what they were given.
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
        // A key read from a file ends with a line.
        Secret(text.trim().to_string())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
