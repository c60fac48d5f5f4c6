//! PTC-Lisp functions on a cluster of [Ballista](ballista): plans carry the names of functions and the hashes of their
//! artifacts, and executors load those from a folder or an object store.
//!
//! An executor believes nothing of an artifact: its hash must be that of the plan, its code passes the verifier, and it must be
//! signed with a trusted key. Limits are those of the executor, not of the sender of a query. A refusal is the error of the query.
//!
//! Functions are pure, so a task that is tried again, or run twice, gives the same bytes.
#![forbid(unsafe_code)]

mod artifacts;
mod client;
mod codec;
mod executor;
pub mod flags;
mod publish;
mod scheduler;
mod stores;

pub use artifacts::{Artifacts, Signatures};
pub use client::connect;
pub use codec::{Logical, Physical, Side};
pub use executor::{ExecutorOptions, run_executor};
pub use publish::publish;
pub use scheduler::{SchedulerOptions, run_scheduler};
pub use stores::{Stores, open, runtime_env};
