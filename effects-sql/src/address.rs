//! Addresses of databases.

use ptc_effects::LedgerError;
#[cfg(feature = "sqlite")]
use std::path::{Path, PathBuf};

/// Schemes of PostgreSQL.
const POSTGRES: [&str; 2] = ["postgres://", "postgresql://"];

/// Scheme of SQLite.
const SQLITE: &str = "sqlite:";

/// Address of a database that this build can open.
#[derive(Clone, Debug)]
pub enum Address {
    #[cfg(feature = "postgres")]
    Postgres(String),
    #[cfg(feature = "sqlite")]
    Sqlite(PathBuf),
}

/// Returns whether this is the address of a database, and not the path of a file.
///
/// ```
/// use ptc_effects_sql::is_address;
/// assert!(is_address("postgres://db/app") && is_address("sqlite:effects.db"));
/// assert!(!is_address("effects.ledger"));
/// ```
pub fn is_address(text: &str) -> bool {
    text.starts_with(SQLITE) || POSTGRES.iter().any(|scheme| text.starts_with(scheme))
}

impl Address {
    /// Reads an address.
    pub fn read(text: &str) -> Result<Address, LedgerError> {
        if let Some(path) = text.strip_prefix(SQLITE) {
            return Address::sqlite(path.strip_prefix("//").unwrap_or(path));
        }
        match POSTGRES.iter().any(|scheme| text.starts_with(scheme)) {
            true => Address::postgres(text),
            // The text may be an address with a password that has a mistake in its scheme.
            false => Err(LedgerError::Storage(
                "the address of a database begins with `postgres://` or `sqlite:`".to_string(),
            )),
        }
    }

    #[cfg(feature = "postgres")]
    fn postgres(text: &str) -> Result<Address, LedgerError> {
        Ok(Address::Postgres(text.to_string()))
    }

    #[cfg(not(feature = "postgres"))]
    fn postgres(_: &str) -> Result<Address, LedgerError> {
        Err(missing("PostgreSQL", "postgres"))
    }

    #[cfg(feature = "sqlite")]
    fn sqlite(path: &str) -> Result<Address, LedgerError> {
        if path.is_empty() || path.starts_with(':') {
            let why = "an SQLite ledger needs a file: `sqlite:effects.db`";
            return Err(LedgerError::Storage(why.to_string()));
        }
        let whole = std::path::absolute(Path::new(path));
        Ok(Address::Sqlite(whole.map_err(|error| LedgerError::Storage(format!("{path}: {error}")))?))
    }

    #[cfg(not(feature = "sqlite"))]
    fn sqlite(_: &str) -> Result<Address, LedgerError> {
        Err(missing("SQLite", "sqlite"))
    }
}

/// Error of a database that this build cannot open.
#[cfg(not(all(feature = "postgres", feature = "sqlite")))]
fn missing(database: &str, feature: &str) -> LedgerError {
    LedgerError::Storage(format!("this build cannot use {database}: it has no `{feature}` feature"))
}
