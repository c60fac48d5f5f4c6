//! A ledger in a store, with a thread of its own.
//!
//! The thread takes all requests that wait and lets the store decide about them together. So many calls at the same time
//! cost one `fsync`, or one transaction.

mod request;

use crate::hash;
use crate::ledger::{Filter, Forget, Ledger, LedgerFuture};
use crate::record::{Begun, Intent, Outcome, Verdict};
use crate::store::Store;
use crate::{EffectId, Entry, LedgerError};
use futures_channel::oneshot;
use request::{Answer, Change, Request};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Most changes that are written together.
const TOGETHER: usize = 256;

/// A ledger in a store of this kind.
pub struct Stored<S> {
    key: [u8; 32],
    requests: Mutex<Sender<Request>>,
    store: PhantomData<fn() -> S>,
}

impl<S: Store> Stored<S> {
    /// Makes a ledger of a store, and starts its thread, which ends with the ledger.
    pub fn start(store: S) -> Result<Stored<S>, LedgerError> {
        let (requests, waiting) = channel();
        let key = store.key();
        let work = move || work(store, &waiting);
        let thread = std::thread::Builder::new().name("ptc-effects".to_string()).spawn(work);
        thread.map_err(|error| LedgerError::Storage(format!("no thread can be started: {error}")))?;
        Ok(Stored { key, requests: Mutex::new(requests), store: PhantomData })
    }

    fn send(&self, request: Request) {
        // A request that nobody takes drops its sender, which its waiter sees.
        let _ = self.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request);
    }

    /// Sends a request now, whether or not the future is polled.
    fn ask<A: Send + 'static>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<A, LedgerError>>) -> Request,
    ) -> LedgerFuture<'static, A> {
        let (done, wait) = oneshot::channel();
        self.send(request(done));
        Box::pin(async move {
            let gone = || LedgerError::Storage("its thread has ended".to_string());
            wait.await.unwrap_or_else(|_| Err(gone()))
        })
    }

    fn change<A: Send + 'static>(
        &self,
        change: Change,
        read: impl FnOnce(Answer) -> Option<A> + Send + 'static,
    ) -> LedgerFuture<'static, A> {
        let answer = self.ask(|done| Request::Change(change, Some(done)));
        let other = || LedgerError::Storage("its thread gave another answer".to_string());
        Box::pin(async move { answer.await.and_then(|answer| read(answer).ok_or_else(other)) })
    }
}

impl<S: Store> Ledger for Stored<S> {
    fn begin(&self, intent: Intent) -> LedgerFuture<'_, Begun> {
        self.change(Change::Begin(Box::new(intent)), |answer| match answer {
            Answer::Begun(begun) => Some(begun),
            _ => None,
        })
    }

    fn end<'a>(&'a self, id: &'a EffectId, attempt: u32, outcome: Outcome) -> LedgerFuture<'a, ()> {
        self.change(Change::End { id: id.clone(), attempt, outcome }, |_| Some(()))
    }

    fn abandon(&self, id: &EffectId, why: &str) {
        self.send(Request::Change(Change::Abandon(id.clone(), why.to_string()), None));
    }

    fn settle<'a>(&'a self, id: &'a EffectId, verdict: Verdict) -> LedgerFuture<'a, Entry> {
        self.change(Change::Settle(id.clone(), verdict), |answer| match answer {
            Answer::Entry(entry) => entry.map(|entry| *entry),
            _ => None,
        })
    }

    fn get<'a>(&'a self, id: &'a EffectId) -> LedgerFuture<'a, Option<Entry>> {
        self.change(Change::Get(id.clone()), |answer| match answer {
            Answer::Entry(entry) => Some(entry.map(|entry| *entry)),
            _ => None,
        })
    }

    fn list(&self, filter: Filter) -> LedgerFuture<'_, Vec<Entry>> {
        self.ask(|done| Request::List(filter, done))
    }

    fn forget(&self, what: Forget) -> LedgerFuture<'_, u64> {
        self.ask(|done| Request::Forget(what, done))
    }

    fn keyed_hash(&self, bytes: &[u8]) -> String {
        // Hashed twice, so that nothing can be appended to what was hashed.
        let inner = Sha256::new().chain_update(self.key).chain_update(bytes).finalize();
        hash::hex(&Sha256::new().chain_update(self.key).chain_update(inner).finalize())
    }
}

impl<S> fmt::Debug for Stored<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored").field("store", &std::any::type_name::<S>()).finish_non_exhaustive()
    }
}

/// Answers requests until there is nobody left who could make one.
fn work(mut store: impl Store, requests: &Receiver<Request>) {
    let mut changes = Vec::new();
    while let Ok(first) = requests.recv() {
        for request in [first].into_iter().chain(requests.try_iter().take(TOGETHER - 1)) {
            match request {
                Request::Change(change, done) => changes.push((change, done)),
                // These see what was asked for before them.
                Request::List(filter, done) => {
                    write(&mut store, &mut changes);
                    request::tell(done, store.list(&filter));
                }
                Request::Forget(what, done) => {
                    write(&mut store, &mut changes);
                    request::tell(done, store.forget(&what));
                }
            }
        }
        write(&mut store, &mut changes);
    }
}

/// Makes these changes together, and answers those who asked for them.
fn write(store: &mut impl Store, changes: &mut Vec<(Change, Option<request::Done>)>) {
    if changes.is_empty() {
        return;
    }
    let ids: BTreeSet<EffectId> = changes.iter().map(|(change, _)| change.id().clone()).collect();
    let mut answers = Vec::new();
    let written = store.update(&ids, &mut |book| {
        answers.clear();
        let mut records = Vec::new();
        answers.extend(changes.iter().map(|(change, _)| change.decide(book, &mut records)));
        Ok(records)
    });
    if let Err(error) = &written {
        answers.clear();
        answers.resize_with(changes.len(), || Err(error.clone()));
    }
    for ((_, done), answer) in changes.drain(..).zip(answers) {
        if let Some(done) = done {
            request::tell(done, answer);
        }
    }
}
