//! A ledger in a file, which any number of processes may share.
//!
//! Memory holds where each call stands and where its records are in the file, but neither arguments nor answers: these
//! are read again when somebody asks for the call.

mod index;
mod lines;

use crate::LedgerError;
use crate::ledger::{Filter, Forget};
use crate::store::{Decide, Store};
use crate::stored::Stored;
use crate::{Book, EffectId, Entry};
use index::Index;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Largest size of the file in bytes, unless a host sets another.
const MAX_FILE: u64 = 256 << 20;

/// A ledger in an append-only file with checksums, readable by its owner only. A file `NAME.key` beside it has the key of
/// [`Ledger::keyed_hash`](crate::Ledger::keyed_hash).
pub type FileLedger = Stored<FileStore>;

impl Stored<FileStore> {
    /// Opens a ledger of at most 256 MiB, and makes it if there is none.
    pub fn open(path: impl AsRef<Path>) -> Result<FileLedger, LedgerError> {
        FileLedger::open_within(path, MAX_FILE)
    }

    /// Opens a ledger which takes no further calls once its file has this many bytes, and makes it if there is none.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let ledger = ptc_effects::FileLedger::open_within(folder.path().join("effects.ledger"), 64 << 20)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open_within(path: impl AsRef<Path>, max_bytes: u64) -> Result<FileLedger, LedgerError> {
        Stored::start(FileStore::open(path.as_ref(), max_bytes)?)
    }
}

/// The file, and what is known of it.
#[derive(Debug)]
pub struct FileStore {
    path: PathBuf,
    key: [u8; 32],
    max_bytes: u64,
    file: File,
    index: Index,
    /// Length of what was read of the file.
    whole: u64,
    /// Identity of the file, which another process may have replaced by a shorter one.
    identity: Option<(u64, u64)>,
}

impl Store for FileStore {
    fn key(&self) -> [u8; 32] {
        self.key
    }

    fn update(&mut self, ids: &BTreeSet<EffectId>, decide: &mut Decide<'_>) -> Result<(), LedgerError> {
        self.locked(|store| {
            let mut book = Book::default();
            for id in ids {
                if let Some(entry) = store.index.entry(&mut store.file, id)? {
                    book.insert(entry);
                }
            }
            if store.whole >= store.max_bytes {
                book.set_full(format!(
                    "{} has {} MiB; `ptc effects prune --older-than DAYS` makes room",
                    store.path.display(),
                    store.whole >> 20
                ));
            }
            let records = decide(&mut book)?;
            if records.is_empty() {
                return Ok(());
            }
            let mut text = String::new();
            let mut placed = Vec::with_capacity(records.len());
            for record in records {
                let line = lines::line(&record)?;
                placed.push((record, line.len()));
                text.push_str(&line);
            }
            let written = lines::append(&mut store.file, store.whole, &text);
            let (mut at, whole) = written.map_err(|error| lines::unusable(&store.path, &error))?;
            store.whole = whole;
            for (record, length) in placed {
                store.index.apply(&record, at, length)?;
                at += length as u64;
            }
            Ok(())
        })
    }

    fn list(&mut self, filter: &Filter) -> Result<Vec<Entry>, LedgerError> {
        self.locked(|store| {
            let found = store.index.select(filter);
            found.into_iter().map(|found| found.read(&mut store.file)).collect()
        })
    }

    fn forget(&mut self, what: &Forget) -> Result<u64, LedgerError> {
        self.locked(|store| {
            let all = store.index.runs();
            let forgotten = match what {
                Forget::OlderThan(time) => {
                    let before = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                    store.index.older(u64::try_from(before).unwrap_or(u64::MAX))
                }
                Forget::Run { name, with_open } => match store.index.open_calls(name) {
                    None => return Err(Forget::missing(name)),
                    Some(open) if open > 0 && !with_open => return Err(Forget::refused(name, open)),
                    Some(_) => BTreeSet::from([name.as_str().into()]),
                },
            };
            if all == 0 || forgotten.is_empty() {
                return Ok(0);
            }
            store.rewrite(|run| !forgotten.contains(run))
        })
    }
}

impl FileStore {
    fn open(path: &Path, max_bytes: u64) -> Result<FileStore, LedgerError> {
        let (file, key) = lines::open(path)?;
        let identity = identity(&file);
        let mut store = FileStore {
            path: path.to_path_buf(),
            key,
            max_bytes,
            file,
            index: Index::default(),
            whole: 0,
            identity,
        };
        // A ledger that cannot be read is found now, and not when the first call is to be sent.
        store.locked(|_| Ok(()))?;
        Ok(store)
    }

    /// Does work while no other process reads or writes the file, and with all that they wrote.
    fn locked<T>(
        &mut self,
        work: impl FnOnce(&mut FileStore) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        loop {
            self.file.lock().map_err(|error| lines::unusable(&self.path, &error))?;
            // Another process may have replaced the file while this one waited for it.
            if !self.renewed()? {
                break;
            }
        }
        let result = self.catch_up().and_then(|()| work(self));
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
        self.forget_all();
        Ok(true)
    }

    fn forget_all(&mut self) {
        (self.index, self.whole) = (Index::default(), 0);
    }

    /// Reads what was added since.
    fn catch_up(&mut self) -> Result<(), LedgerError> {
        let length = self.file.metadata().map_err(|error| lines::unusable(&self.path, &error))?.len();
        if length < self.whole {
            let why = format!("{} is shorter than it was", self.path.display());
            return Err(LedgerError::Damaged(why));
        }
        if length == self.whole {
            return Ok(());
        }
        let index = &mut self.index;
        let read =
            lines::read(&mut self.file, self.whole, |record, at, length| index.apply(&record, at, length));
        match read {
            Ok(whole) => self.whole = whole,
            Err(error) => {
                self.forget_all();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the ledger anew, with the runs that are kept. Readers of the old file find the new one by its path. Returns
    /// how many calls are not kept.
    fn rewrite(&mut self, keeps: impl Fn(&str) -> bool) -> Result<u64, LedgerError> {
        let path = self.path.clone();
        let unusable = |error| lines::unusable(&path, &error);
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let _ = std::fs::remove_file(&new);
        let mut writer = lines::Writer::new(lines::private(&new).map_err(unusable)?).map_err(unusable)?;
        let (mut index, mut dropped) = (Index::default(), 0);
        for found in self.index.select(&Filter::default()) {
            if !keeps(found.run()) {
                dropped += 1;
                continue;
            }
            for record in found.read(&mut self.file)?.to_records() {
                let (at, length) = writer.add(&record, &path)?;
                index.apply(&record, at, length)?;
            }
        }
        let (file, whole) = writer.end().map_err(unusable)?;
        // Nobody may use the new file before this process has let go of it.
        file.lock().map_err(unusable)?;
        std::fs::rename(&new, &self.path).map_err(unusable)?;
        lines::sync_folder(&self.path);
        // The old file is closed, and its lock with it.
        self.file = file;
        (self.index, self.whole, self.identity) = (index, whole, identity(&self.file));
        Ok(dropped)
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
