//! Secrets: the only places that hold their bytes, and the headers they are sent in.

use std::fmt;
#[cfg(feature = "http")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
#[cfg(feature = "http")]
use std::sync::{Mutex, PoisonError};
#[cfg(feature = "http")]
use tracing::Instrument;
use zeroize::Zeroizing;

/// A secret text. It is overwritten when dropped, and prints as `[REDACTED]`.
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
    /// Takes ownership of a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(Zeroizing::new(text.into()))
    }

    /// Returns the text itself, for sending.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[REDACTED]")
    }
}

/// Place of a request in which a value is sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// A header, in lower case.
    Header(String),
    /// A parameter of the query.
    Query(String),
    /// A cookie.
    Cookie(String),
    /// Where the security scheme of this name says, in an OpenAPI document.
    Declared(String),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Header(name) => write!(f, "header {name}"),
            Place::Query(name) => write!(f, "query parameter {name}"),
            Place::Cookie(name) => write!(f, "cookie {name}"),
            Place::Declared(name) => write!(f, "credential of the security scheme {name}"),
        }
    }
}

/// Headers of every request to a server, static ones and those with credentials, and credentials in other places.
/// Clones share their values, so a reloaded credential takes effect everywhere.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    list: Vec<(Place, Value)>,
    /// Counter that increases when a value changes.
    #[cfg(feature = "http")]
    version: Arc<AtomicU64>,
}

#[derive(Clone)]
#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "nobody sends headers then"))]
enum Value {
    Fixed(Secret),
    Reloaded(Arc<Reloaded>),
}

/// A value that is read again when a server refuses it.
#[cfg_attr(not(feature = "http"), expect(dead_code, reason = "nobody sends headers then"))]
struct Reloaded {
    current: RwLock<Secret>,
    read: Box<dyn Fn() -> Option<Secret> + Send + Sync>,
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[REDACTED]")
    }
}

impl Headers {
    /// Creates an empty list of headers.
    pub fn new() -> Headers {
        Headers::default()
    }

    /// Adds a header. Invalid names or values are not sent; reading the configuration checks them.
    pub fn add(&mut self, name: &str, value: Secret) {
        self.add_at(Place::Header(name.to_ascii_lowercase()), value);
    }

    /// Adds a value in any place of a request.
    pub fn add_at(&mut self, place: Place, value: Secret) {
        self.list.push((place, Value::Fixed(value)));
    }

    /// Adds a header whose value is read again when a server refuses it (`reload: "on_401"`).
    pub fn add_reloaded(
        &mut self,
        name: &str,
        value: Secret,
        read: impl Fn() -> Option<Secret> + Send + Sync + 'static,
    ) {
        self.add_reloaded_at(Place::Header(name.to_ascii_lowercase()), value, read);
    }

    /// Adds a value in any place that is read again when a server refuses it.
    pub fn add_reloaded_at(
        &mut self,
        place: Place,
        value: Secret,
        read: impl Fn() -> Option<Secret> + Send + Sync + 'static,
    ) {
        let value = Reloaded { current: RwLock::new(value), read: Box::new(read) };
        self.list.push((place, Value::Reloaded(Arc::new(value))));
    }

    /// Returns the names of the headers, in lower case.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().filter_map(|(place, _)| match place {
            Place::Header(name) => Some(&**name),
            _ => None,
        })
    }

    /// Returns the places of all values.
    #[cfg(feature = "http")]
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        self.list.iter().map(|(place, _)| place)
    }

    /// Returns the values that are not in headers, with their places.
    #[cfg(feature = "http")]
    pub(crate) fn elsewhere(&self) -> impl Iterator<Item = (&Place, Secret)> {
        let others = self.list.iter().filter(|(place, _)| !matches!(place, Place::Header(_)));
        others.map(|(place, value)| (place, value.current()))
    }

    /// Returns the version of the values that would be sent now.
    #[cfg(feature = "http")]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Returns whether the values differ from a refused version, after reading them again.
    #[cfg(feature = "http")]
    pub(crate) async fn are_newer_than(&self, refused: u64) -> bool {
        let is_fixed = |(_, value): &(Place, Value)| matches!(value, Value::Fixed(_));
        if self.list.iter().all(is_fixed) {
            return false;
        }
        let headers = self.clone();
        // Files may be slow. Only one task reads at a time; the others use its result.
        let reading = tokio::task::spawn_blocking(move || {
            static READING: Mutex<()> = Mutex::new(());
            let _turn = READING.lock().unwrap_or_else(PoisonError::into_inner);
            if headers.version() == refused {
                headers.reload();
            }
            headers.version() != refused
        });
        reading.instrument(tracing::info_span!("credentials.resolve")).await.unwrap_or(false)
    }

    #[cfg(feature = "http")]
    fn reload(&self) {
        for (_, value) in &self.list {
            let Value::Reloaded(reloaded) = value else { continue };
            let Some(new) = (reloaded.read)() else { continue };
            let mut current = reloaded.current.write().unwrap_or_else(PoisonError::into_inner);
            if *current != new {
                *current = new;
                self.version.fetch_add(1, Ordering::SeqCst);
            }
        }
    }

    /// Returns the headers as sent, all values marked as sensitive.
    ///
    /// ```
    /// let headers = ptc_upstream::credentials::Headers::new();
    /// assert!(headers.emit().is_empty());
    /// ```
    #[cfg(feature = "http")]
    pub fn emit(&self) -> http::HeaderMap {
        let one = |(place, value): &(Place, Value)| {
            let Place::Header(name) = place else { return None };
            let name = http::HeaderName::try_from(&**name).ok()?;
            let mut value = http::HeaderValue::from_bytes(value.current().expose().as_bytes()).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        self.list.iter().filter_map(one).collect()
    }
}

#[cfg(feature = "http")]
impl Value {
    fn current(&self) -> Secret {
        match self {
            Value::Fixed(secret) => secret.clone(),
            Value::Reloaded(reloaded) => {
                reloaded.current.read().unwrap_or_else(PoisonError::into_inner).clone()
            }
        }
    }
}
