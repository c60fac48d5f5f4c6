//! Secrets: the only places that hold their bytes, and the headers they are sent in.

use std::fmt;
use zeroize::Zeroizing;

/// A text nobody may see. It is overwritten when it is dropped, and shows itself as `[REDACTED]`.
///
/// ```
/// use ptc_upstream::credentials::Secret;
/// let token = Secret::new("ghp_abcdef");
/// assert_eq!(format!("{token:?}"), "[REDACTED]");
/// assert_eq!(token.expose(), "ghp_abcdef");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a text over.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(Zeroizing::new(text.into()))
    }

    /// The text itself, for the one who sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[REDACTED]")
    }
}

/// The headers of every request to a server: static ones, and those that carry a credential.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    list: Vec<(String, Secret)>,
}

impl Headers {
    /// No headers.
    pub fn new() -> Headers {
        Headers::default()
    }

    /// Adds a header. What is no header name or value is not sent; whoever reads a configuration checks that.
    pub fn add(&mut self, name: &str, value: Secret) {
        self.list.push((name.to_ascii_lowercase(), value));
    }

    /// The names, in small letters.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|(name, _)| &**name)
    }

    /// The headers as they are sent, all values marked as sensitive.
    ///
    /// ```
    /// let headers = ptc_upstream::credentials::Headers::new();
    /// assert!(headers.emit().is_empty());
    /// ```
    #[cfg(feature = "http")]
    pub fn emit(&self) -> http::HeaderMap {
        let one = |(name, value): &(String, Secret)| {
            let name = http::HeaderName::try_from(&**name).ok()?;
            let mut value = http::HeaderValue::from_bytes(value.expose().as_bytes()).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        self.list.iter().filter_map(one).collect()
    }
}
