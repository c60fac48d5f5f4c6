//! A ledger in a file, which any number of processes may share.
//!
//! Each ledger object has one thread that writes. It takes all requests that wait, locks the file, reads what other
//! processes have added, decides, appends the new records, and makes them durable with one `fsync` before it answers
//! any of them. So many calls at the same time cost one `fsync` together.

mod lines;
mod worker;

use crate::ledger::{Filter, Ledger, LedgerError, LedgerFuture};
use crate::record::{Begun, Entry, Intent, Outcome, Verdict};
use crate::{EffectId, book};
use futures_channel::oneshot;
use sha2::{Digest, Sha256};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use worker::{Request, Worker};

/// A ledger in an append-only file with checksums, readable by its owner only. A file `NAME.key` beside it has the key of
/// [`Ledger::keyed_hash`].
pub struct FileLedger {
    path: PathBuf,
    key: [u8; 32],
    requests: Mutex<Sender<Request>>,
}

impl FileLedger {
    /// Opens a ledger, and makes it if there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<FileLedger, LedgerError> {
        let path = path.as_ref().to_path_buf();
        let (file, key) = lines::open(&path)?;
        let (requests, waiting) = std::sync::mpsc::channel();
        let mut worker = Worker::new(path.clone(), file);
        // A ledger that cannot be read is found now, and not when the first call is to be sent.
        worker.look()?;
        let work = move || worker.work(&waiting);
        let thread = std::thread::Builder::new().name("ptc-effects".to_string()).spawn(work);
        thread.map_err(|error| LedgerError::Storage(format!("no thread can be started: {error}")))?;
        Ok(FileLedger { path, key, requests: Mutex::new(requests) })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn send(&self, request: Request) {
        // A request that nobody takes drops its sender, which its waiter sees.
        let _ = self.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request);
    }

    /// Sends a request now, whether or not the future is polled.
    fn ask<T: Send + 'static>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T, LedgerError>>) -> Request,
    ) -> LedgerFuture<'static, T> {
        let (done, wait) = oneshot::channel();
        self.send(request(done));
        Box::pin(async move {
            let gone = || LedgerError::Storage("its thread has ended".to_string());
            wait.await.unwrap_or_else(|_| Err(gone()))
        })
    }
}

impl Ledger for FileLedger {
    fn begin(&self, intent: Intent) -> LedgerFuture<'_, Begun> {
        self.ask(|done| Request::Begin(Box::new(intent), done))
    }

    fn end<'a>(&'a self, id: &'a EffectId, attempt: u32, outcome: Outcome) -> LedgerFuture<'a, ()> {
        self.ask(|done| Request::End { id: id.clone(), attempt, outcome, done })
    }

    fn abandon(&self, id: &EffectId, why: &str) {
        self.send(Request::Abandon(id.clone(), why.to_string()));
    }

    fn settle<'a>(&'a self, id: &'a EffectId, verdict: Verdict) -> LedgerFuture<'a, Entry> {
        self.ask(|done| Request::Settle(id.clone(), verdict, done))
    }

    fn get<'a>(&'a self, id: &'a EffectId) -> LedgerFuture<'a, Option<Entry>> {
        self.ask(|done| Request::Get(id.clone(), done))
    }

    fn list(&self, filter: Filter) -> LedgerFuture<'_, Vec<Entry>> {
        self.ask(|done| Request::List(filter, done))
    }

    fn prune(&self, older_than: SystemTime) -> LedgerFuture<'_, u64> {
        self.ask(|done| Request::Prune(older_than, done))
    }

    fn keyed_hash(&self, bytes: &[u8]) -> String {
        // Hashed twice, so that nothing can be appended to what was hashed.
        let inner = Sha256::new().chain_update(self.key).chain_update(bytes).finalize();
        book::hex(&Sha256::new().chain_update(self.key).chain_update(inner).finalize())
    }
}

impl fmt::Debug for FileLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileLedger").field("path", &self.path).finish_non_exhaustive()
    }
}
