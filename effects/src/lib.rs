//! The effect ledger: a record of every call that may change something outside.
//!
//! A call is written to the ledger before it is sent, and its outcome after. The id of a call is the same when its run
//! is resumed or run again, so the ledger knows what was done: [`Ledger::begin`] says whether to send the call, or gives
//! what came of it before. A call without an outcome is *unknown*: it may have had its effect, so it is never sent again
//! unless an operator says that it was not done ([`Ledger::settle`]).
//!
//! ```
//! use ptc_effects::{Begun, EffectId, FileLedger, Intent, Ledger, Outcome};
//! # let folder = tempfile::tempdir()?;
//! let ledger = FileLedger::open(folder.path().join("effects.ledger"))?;
//! let intent = Intent::new(EffectId::new("refunds-7", "1"), "pay", serde_json::json!({"eur": 5}));
//! # pollster::block_on(async {
//! assert_eq!(ledger.begin(intent.clone()).await?, Begun::Send { attempt: 1 });
//! ledger.end(&intent.id, 1, Outcome::done(serde_json::json!("paid"))).await?;
//! // The same call of the same run, after a crash perhaps: it is not sent again.
//! assert_eq!(ledger.begin(intent).await?, Begun::Known(Outcome::done(serde_json::json!("paid"))));
//! # Ok::<(), ptc_effects::LedgerError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod book;
mod entry;
mod error;
mod file;
mod hash;
mod id;
mod ledger;
mod record;
mod standing;
mod store;
mod stored;

pub use book::Book;
pub use entry::Entry;
pub use error::LedgerError;
pub use file::{FileLedger, FileStore};
pub use id::{EffectId, new_run_id};
pub use ledger::{Filter, Forget, Ledger, LedgerFuture};
pub use record::{Begun, Intent, Outcome, Record, State, Verdict};
pub use standing::Standing;
pub use store::{Decide, Store};
pub use stored::Stored;
