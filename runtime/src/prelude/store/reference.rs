//! References to stored preludes.

use super::StoreError;
use ptc_bytecode::{Code, is_namespace_name, reserved_namespace};
use std::fmt;

/// Maximum length of an id.
const MAX_ID: usize = 128;
/// Ids of the host's own preludes, which cannot be stored.
const HOST: &[&str] = &["prelude", "log", "user"];

/// Reference to a stored prelude: `paged` is the current version, `paged@7` version 7, and a checksum may fix the
/// source.
///
/// ```
/// use ptc_runtime::StoreRef;
/// let seventh = StoreRef::parse("paged@7")?;
/// assert_eq!((&*seventh.id, seventh.version), ("paged", Some(7)));
/// assert_eq!(StoreRef::version("paged", 7), seventh);
/// assert_eq!(StoreRef::parse("paged@0").unwrap_err().reason(), "invalid_ref");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoreRef {
    /// Id of the prelude.
    pub id: String,
    /// Version; None for the current one.
    pub version: Option<u64>,
    /// Required SHA-256 of its source in hexadecimal.
    pub checksum: Option<String>,
}

impl StoreRef {
    /// Parses `id` or `id@7`.
    pub fn parse(text: &str) -> Result<StoreRef, StoreError> {
        let wrong = || {
            let message = format!(
                "`{}` is not a reference to a stored prelude; write \"paged\" or \"paged@7\"",
                brief(text)
            );
            StoreError::new(Code::InvalidRef, message)
        };
        let (id, version) = match text.split_once('@') {
            None => (text, None),
            Some((id, digits)) => {
                let is_number = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
                let number = digits.parse::<u64>().ok().filter(|_| is_number);
                (id, Some(number.ok_or_else(wrong)?))
            }
        };
        if !is_id(id) {
            return Err(wrong());
        }
        Ok(StoreRef { id: id.to_string(), version, checksum: None })
    }

    /// Makes a reference to a version of a prelude.
    pub fn version(id: impl Into<String>, version: u64) -> StoreRef {
        StoreRef { id: id.into(), version: Some(version), checksum: None }
    }

    /// Requires the source to have this hash.
    #[must_use]
    pub fn checksum(mut self, checksum: impl Into<String>) -> StoreRef {
        self.checksum = Some(checksum.into());
        self
    }
}

impl fmt::Display for StoreRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            None => f.write_str(&self.id),
            Some(version) => write!(f, "{}@{version}", self.id),
        }
    }
}

/// Conversion into a [`StoreRef`], from one itself or from text such as `paged@7`.
pub trait ToStoreRef {
    /// Converts to a reference.
    fn to_store_ref(&self) -> Result<StoreRef, StoreError>;
}

impl ToStoreRef for StoreRef {
    fn to_store_ref(&self) -> Result<StoreRef, StoreError> {
        Ok(self.clone())
    }
}

impl ToStoreRef for str {
    fn to_store_ref(&self) -> Result<StoreRef, StoreError> {
        StoreRef::parse(self)
    }
}

impl ToStoreRef for String {
    fn to_store_ref(&self) -> Result<StoreRef, StoreError> {
        StoreRef::parse(self)
    }
}

impl<T: ToStoreRef + ?Sized> ToStoreRef for &T {
    fn to_store_ref(&self) -> Result<StoreRef, StoreError> {
        (**self).to_store_ref()
    }
}

/// True for the hash of a source, as checksums are written.
pub(super) fn is_checksum(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

/// True if this has the form of an id.
pub(super) fn is_id(id: &str) -> bool {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b"_.-".contains(&b);
    id.len() <= MAX_ID && id.starts_with(|c: char| c.is_ascii_alphabetic()) && id.bytes().all(is_part)
}

/// Fails unless a prelude may be stored under this id.
pub(super) fn check_id(id: &str) -> Result<(), StoreError> {
    if !is_id(id) || !is_namespace_name(id) {
        let message = format!(
            "`{}` cannot be the id of a prelude; an id has a letter first, then letters, digits, `_`, `.` or `-`",
            brief(id)
        );
        return Err(StoreError::new(Code::InvalidArgument, message));
    }
    let why = reserved_namespace(id).or_else(|| HOST.contains(&id).then_some("it belongs to the host"));
    match why {
        None => Ok(()),
        Some(why) => {
            let message = format!("a prelude cannot be stored as `{id}`: {why}");
            Err(StoreError::new(Code::PreludeNamespaceViolation, message).with("namespace", id))
        }
    }
}

/// Cuts a text to fit a message.
fn brief(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
