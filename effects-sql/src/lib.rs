//! A ledger of effects in a database: PostgreSQL for programs with many replicas, SQLite for one machine.
//!
//! It keeps the same rules as the ledger in a file ([`ptc_effects`]). Of all who begin the same call, in any process on any
//! machine, one is told to send it: the call is inserted unless the table has it, in a transaction that is durable before
//! anything is sent.
//!
//! Each database is a feature, `postgres` or `sqlite`; without them the crate has no dependencies, and [`connect`] says so.
//!
//! ```no_run
//! use ptc_effects::{Begun, EffectId, Intent, Ledger};
//! let ledger = ptc_effects_sql::connect("postgres://app@db.example/app")?;
//! let intent = Intent::new(EffectId::new("refunds-7", "1"), "pay", serde_json::json!({"eur": 5}));
//! # pollster::block_on(async {
//! if let Begun::Send { .. } = ledger.begin(intent).await? {
//!     // Nobody else sends it.
//! }
//! # Ok::<(), ptc_effects::LedgerError>(())
//! # })?;
//! # Ok::<(), ptc_effects::LedgerError>(())
//! ```
#![forbid(unsafe_code)]

mod address;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod database;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod dialect;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod row;

pub use address::is_address;
use ptc_effects::{Ledger, LedgerError};
use std::sync::Arc;

/// Largest size of the tables in bytes, unless a host sets another.
pub const MAX_BYTES: u64 = 8 << 30;

/// Opens the ledger in a database, and makes its tables if there are none: `postgres://user@host/database`, or
/// `sqlite:FILE`. A password may be in the address, in `$PGPASSWORD` or in a password file.
///
/// Fails for a database that this build has no feature for.
pub fn connect(address: &str) -> Result<Arc<dyn Ledger>, LedgerError> {
    connect_within(address, MAX_BYTES)
}

/// Opens the ledger in a database, which takes no further calls once its tables have this many bytes.
pub fn connect_within(address: &str, max_bytes: u64) -> Result<Arc<dyn Ledger>, LedgerError> {
    open(address, max_bytes, true)
}

/// Opens the ledger in a database that has one, to look at it. Makes neither files nor tables.
pub fn connect_existing(address: &str) -> Result<Arc<dyn Ledger>, LedgerError> {
    open(address, MAX_BYTES, false)
}

#[cfg(any(feature = "postgres", feature = "sqlite"))]
fn open(address: &str, max_bytes: u64, makes: bool) -> Result<Arc<dyn Ledger>, LedgerError> {
    let database = database::Database::open(address::Address::read(address)?, max_bytes, makes)?;
    Ok(Arc::new(ptc_effects::Stored::start(database)?))
}

#[cfg(not(any(feature = "postgres", feature = "sqlite")))]
fn open(address: &str, _: u64, _: bool) -> Result<Arc<dyn Ledger>, LedgerError> {
    // Reading refuses every address.
    match address::Address::read(address)? {}
}
