//! The thread that reads and writes the file.

use super::lines;
use crate::ledger::{Filter, LedgerError};
use crate::record::{Begun, Entry, Intent, Outcome, Record, Verdict};
use crate::{Book, EffectId};
use futures_channel::oneshot;
use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;
use std::time::{SystemTime, UNIX_EPOCH};

/// Most requests that are answered together.
const TOGETHER: usize = 1000;

type Answer<T> = oneshot::Sender<Result<T, LedgerError>>;

/// A request to the thread, with the channel for its answer.
pub enum Request {
    Begin(Box<Intent>, Answer<Begun>),
    End { id: EffectId, attempt: u32, outcome: Outcome, done: Answer<()> },
    Abandon(EffectId, String),
    Settle(EffectId, Verdict, Answer<Entry>),
    Get(EffectId, Answer<Option<Entry>>),
    List(Filter, Answer<Vec<Entry>>),
    Prune(SystemTime, Answer<u64>),
}

/// Sends an answer once the records that it is based on are durable, or the error because of which they are not.
type Reply = Box<dyn FnOnce(Result<(), LedgerError>)>;

/// The file, and what it says.
pub struct Worker {
    path: PathBuf,
    file: File,
    book: Book,
    /// Length of what was read of the file.
    whole: u64,
    /// Identity of the file, which another process may have replaced by a shorter one.
    identity: Option<(u64, u64)>,
}

/// Answers a request; a requester that has gone needs no answer.
fn answer<T>(to: Answer<T>, answer: Result<T, LedgerError>) {
    let _ = to.send(answer);
}

impl Worker {
    pub fn new(path: PathBuf, file: File) -> Worker {
        let identity = identity(&file);
        Worker { path, file, book: Book::default(), whole: 0, identity }
    }

    /// Answers requests until there is nobody left who could make one.
    pub fn work(&mut self, requests: &Receiver<Request>) {
        while let Ok(first) = requests.recv() {
            let more = requests.try_iter().take(TOGETHER - 1);
            self.serve([first].into_iter().chain(more).collect());
        }
    }

    /// Reads the file once.
    pub fn look(&mut self) -> Result<(), LedgerError> {
        self.locked(Worker::catch_up)
    }

    /// Answers these requests, with one write for all of them.
    fn serve(&mut self, requests: Vec<Request>) {
        let mut replies: Vec<Reply> = Vec::new();
        let mut rest = requests.into_iter();
        let written = self.locked(|worker| {
            worker.catch_up()?;
            let mut text = String::new();
            for request in rest.by_ref() {
                worker.decide(request, &mut text, &mut replies);
            }
            if text.is_empty() {
                return Ok(());
            }
            match lines::append(&mut worker.file, worker.whole, &text) {
                Ok(whole) => {
                    worker.whole = whole;
                    Ok(())
                }
                Err(error) => {
                    // The book is ahead of the file now, so it is read again.
                    worker.forget();
                    Err(lines::unusable(&worker.path, &error))
                }
            }
        });
        for reply in replies {
            reply(written.clone());
        }
        // Requests that nothing was decided about, since the file could not be read.
        if let Err(error) = written {
            rest.for_each(|request| refuse(request, &error));
        }
    }

    /// Decides about one request. Its records are added to the text, and apply to the requests after it.
    fn decide(&mut self, request: Request, text: &mut String, replies: &mut Vec<Reply>) {
        match request {
            Request::Begin(intent, to) => {
                let (begun, record) = self.book.begin(&intent);
                let taken = self.take(record, text).map(|()| begun);
                replies.push(Box::new(|written| answer(to, written.and(taken))));
            }
            Request::End { id, attempt, outcome, done } => {
                let record = self.book.end(&id, attempt, outcome);
                let taken = self.take(record, text);
                replies.push(Box::new(|written| answer(done, written.and(taken))));
            }
            Request::Abandon(id, why) => {
                let record = self.book.abandon(&id, why);
                // Nobody waits; without the record, the call is "sent", which is as safe.
                let _ = self.take(record, text);
            }
            Request::Settle(id, verdict, to) => {
                let settled = self.book.settle(&id, verdict).and_then(|record| {
                    self.take(Some(record), text)?;
                    self.book
                        .get(&id)
                        .cloned()
                        .ok_or_else(|| LedgerError::Refused(format!("no effect `{id}`")))
                });
                replies.push(Box::new(|written| answer(to, written.and(settled))));
            }
            Request::Get(id, to) => {
                let found = self.book.get(&id).cloned();
                replies.push(Box::new(|written| answer(to, written.map(|()| found))));
            }
            Request::List(filter, to) => {
                let found = self.book.entries().filter(|entry| filter.fits(entry)).cloned().collect();
                replies.push(Box::new(|written| answer(to, written.map(|()| found))));
            }
            Request::Prune(older_than, to) => {
                // The new file has the records of the requests before this one, too.
                let pruned = self.prune(older_than);
                if pruned.is_ok() {
                    text.clear();
                }
                replies.push(Box::new(|written| answer(to, written.and(pruned))));
            }
        }
    }

    /// Takes a record over into the book and the text.
    fn take(&mut self, record: Option<Record>, text: &mut String) -> Result<(), LedgerError> {
        let Some(record) = record else { return Ok(()) };
        let line = lines::line(&record)?;
        self.book.apply(record)?;
        text.push_str(&line);
        Ok(())
    }

    /// Does work while no other process reads or writes the file.
    fn locked<T>(
        &mut self,
        work: impl FnOnce(&mut Worker) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        loop {
            self.file.lock().map_err(|error| lines::unusable(&self.path, &error))?;
            // Another process may have replaced the file while this one waited for it.
            if !self.renewed()? {
                break;
            }
        }
        let result = work(self);
        let _ = self.file.unlock();
        result
    }

    /// Opens the file again, without a lock, if the path names another one by now.
    fn renewed(&mut self) -> Result<bool, LedgerError> {
        let unusable = |error| lines::unusable(&self.path, &error);
        let current = std::fs::metadata(&self.path).ok().as_ref().and_then(identity_of);
        if current.is_some() && current == self.identity {
            return Ok(false);
        }
        self.file = lines::private(&self.path).map_err(unusable)?;
        self.identity = identity(&self.file);
        self.forget();
        Ok(true)
    }

    fn forget(&mut self) {
        (self.book, self.whole) = (Book::default(), 0);
    }

    /// Reads what was added since.
    fn catch_up(&mut self) -> Result<(), LedgerError> {
        let length = self.file.metadata().map_err(|error| lines::unusable(&self.path, &error))?.len();
        if length < self.whole {
            let why = format!("{} is shorter than it was", self.path.display());
            return Err(LedgerError::Damaged(why));
        }
        if length > self.whole {
            match lines::read(&mut self.file, self.whole, &mut self.book) {
                Ok(whole) => self.whole = whole,
                Err(error) => {
                    self.forget();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Writes the ledger anew, without old runs. Readers of the old file find the new one by its path.
    fn prune(&mut self, older_than: SystemTime) -> Result<u64, LedgerError> {
        let unusable = |error| lines::unusable(&self.path, &error);
        let before = older_than.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let kept = self.book.after_pruning(u64::try_from(before).unwrap_or(u64::MAX));
        let dropped = self.book.entries().count().saturating_sub(kept.len());
        let mut text = String::new();
        let mut book = Book::default();
        for record in kept.iter().flat_map(Entry::to_records) {
            text.push_str(&lines::line(&record)?);
            book.apply(record)?;
        }
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let _ = std::fs::remove_file(&new);
        let mut file = lines::private(&new).map_err(unusable)?;
        // Nobody may use the new file before this process has let go of it.
        file.lock().map_err(unusable)?;
        let whole = lines::append(&mut file, 0, &text).map_err(unusable)?;
        std::fs::rename(&new, &self.path).map_err(unusable)?;
        lines::sync_folder(&self.path);
        // The old file is closed, and its lock with it.
        self.file = file;
        (self.book, self.whole, self.identity) = (book, whole, identity(&self.file));
        Ok(dropped as u64)
    }
}

/// Answers a request that was not decided about.
fn refuse(request: Request, error: &LedgerError) {
    let error = error.clone();
    match request {
        Request::Begin(_, to) => answer(to, Err(error)),
        Request::End { done, .. } => answer(done, Err(error)),
        Request::Abandon(..) => {}
        Request::Settle(_, _, to) => answer(to, Err(error)),
        Request::Get(_, to) => answer(to, Err(error)),
        Request::List(_, to) => answer(to, Err(error)),
        Request::Prune(_, to) => answer(to, Err(error)),
    }
}

fn identity(file: &File) -> Option<(u64, u64)> {
    file.metadata().ok().as_ref().and_then(identity_of)
}

#[cfg(unix)]
fn identity_of(metadata: &std::fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

/// Elsewhere an open file cannot be replaced.
#[cfg(not(unix))]
fn identity_of(_: &std::fs::Metadata) -> Option<(u64, u64)> {
    Some((0, 0))
}
