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

/// Headers of every request to a server: static ones and those with credentials. Clones share their values, so
/// a reloaded credential takes effect everywhere.
#[derive(Clone, Debug, Default)]
pub struct Headers {
    list: Vec<(String, Value)>,
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
        self.list.push((name.to_ascii_lowercase(), Value::Fixed(value)));
    }

    /// Adds a header whose value is read again when a server refuses it (`reload: "on_401"`).
    pub fn add_reloaded(
        &mut self,
        name: &str,
        value: Secret,
        read: impl Fn() -> Option<Secret> + Send + Sync + 'static,
    ) {
        let value = Reloaded { current: RwLock::new(value), read: Box::new(read) };
        self.list.push((name.to_ascii_lowercase(), Value::Reloaded(Arc::new(value))));
    }

    /// Returns the names, in lower case.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|(name, _)| &**name)
    }

    /// Returns the version of the values that would be sent now.
    #[cfg(feature = "http")]
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::SeqCst)
    }

    /// Returns whether the values differ from a refused version, after reading them again.
    #[cfg(feature = "http")]
    pub(crate) async fn are_newer_than(&self, refused: u64) -> bool {
        let is_fixed = |(_, value): &(String, Value)| matches!(value, Value::Fixed(_));
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
        let one = |(name, value): &(String, Value)| {
            let name = http::HeaderName::try_from(&**name).ok()?;
            let value = match value {
                Value::Fixed(secret) => secret.clone(),
                Value::Reloaded(reloaded) => {
                    reloaded.current.read().unwrap_or_else(PoisonError::into_inner).clone()
                }
            };
            let mut value = http::HeaderValue::from_bytes(value.expose().as_bytes()).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        };
        self.list.iter().filter_map(one).collect()
    }
}
