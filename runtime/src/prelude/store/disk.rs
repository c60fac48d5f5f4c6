//! A store in a folder, shared by any number of processes.
//!
//! ```text
//! lock             held while anything is read (shared) or changed (alone)
//! refs.jsonl       the list of entries: see `log`
//! objects/H.clj    a source, where H is its SHA-256
//! objects/H.ptcp   the same compiled, for tools
//! ```
//!
//! Compiled files are written and never read: only compiling, which is quick, can show whether one belongs to a source.
//!
//! A change writes the files of its source first (to a temporary file, to disk, then renamed), then its entry. Once the
//! entry is on disk the change is acknowledged; leftovers of earlier crashes are ignored, and removed by the next
//! process that writes.

use super::index::{Entry, Index, Version};
use super::log::{MAX_LINE, MAX_LOG, Place, unavailable};
use super::{Backend, New, Object, StoreError, StoreLimits};
use crate::files::{self, Access};
use ptc_bytecode::{Code, hex};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Disk {
    root: PathBuf,
    limits: StoreLimits,
    known: Mutex<Known>,
}

/// The list as far as this process has read it.
#[derive(Default)]
struct Known {
    index: Index,
    /// Position up to which it was read; None before the first read.
    place: Option<Place>,
    /// True once leftovers of crashes were looked for.
    swept: bool,
}

impl Disk {
    /// Opens a store in a folder, which is made if it is missing.
    pub fn open(root: &Path, limits: StoreLimits) -> Result<Disk, StoreError> {
        let disk = Disk { root: root.to_path_buf(), limits, known: Mutex::default() };
        if disk.list().is_file() {
            let _lock = disk.lock(false)?;
            disk.refresh(&mut disk.known())?;
            return Ok(disk);
        }
        disk.make_folders()?;
        {
            let _lock = disk.lock(true)?;
            // Another process may have been first.
            if !disk.list().is_file() {
                disk.refuse_orphans()?;
                let (_, header) = Place::start(1);
                disk.put(&disk.list(), (header + "\n").as_bytes())?;
            }
            disk.refresh(&mut disk.known())?;
        }
        Ok(disk)
    }

    /// Makes the folders and syncs their names to disk.
    fn make_folders(&self) -> Result<(), StoreError> {
        let objects = self.objects();
        let fresh: Vec<&Path> = objects.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(&objects).map_err(|error| unavailable("the folder", &error))?;
        for parent in fresh.iter().filter_map(|folder| folder.parent()) {
            let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
            files::sync_folder(parent).map_err(|error| unavailable("the folder", &error))?;
        }
        Ok(())
    }

    fn list(&self) -> PathBuf {
        self.root.join("refs.jsonl")
    }

    fn objects(&self) -> PathBuf {
        self.root.join("objects")
    }

    fn object(&self, checksum: &str, extension: &str) -> PathBuf {
        self.objects().join(format!("{checksum}.{extension}"))
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        // The value is only replaced as a whole, so a panic elsewhere does not corrupt it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses sources without a list, which was then lost: starting anew would lose them for good.
    fn refuse_orphans(&self) -> Result<(), StoreError> {
        let entries = fs::read_dir(self.objects()).map_err(|error| unavailable("objects", &error))?;
        let is_source = |path: &Path| path.extension().is_some_and(|extension| extension == "clj");
        match entries.flatten().any(|entry| is_source(&entry.path())) {
            false => Ok(()),
            true => Err(StoreError::new(
                Code::StoreCorrupt,
                "refs.jsonl is missing, but there are sources in objects: restore it, or take another folder",
            )
            .with("file", "refs.jsonl")),
        }
    }

    /// Waits for other processes. The lock ends with the file.
    fn lock(&self, alone: bool) -> Result<File, StoreError> {
        let path = self.root.join("lock");
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let file = match open {
            // A process with read access only can still wait for writers.
            Err(error) if !alone && error.kind() != ErrorKind::NotFound => File::open(&path),
            open => open,
        }
        .map_err(|error| unavailable("lock", &error))?;
        let patience = Duration::from_millis(self.limits.lock_timeout_ms);
        let started = Instant::now();
        let mut pause = Duration::from_micros(200);
        loop {
            match if alone { file.try_lock() } else { file.try_lock_shared() } {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if started.elapsed() < patience => {
                    std::thread::sleep(pause);
                    pause = (pause * 2).min(Duration::from_millis(10));
                }
                Err(TryLockError::WouldBlock) => {
                    let ms = self.limits.lock_timeout_ms;
                    let message = format!("another process has held the store for {ms} ms (lock_timeout_ms)");
                    return Err(StoreError::new(Code::StoreBusy, message));
                }
                Err(TryLockError::Error(error)) => return Err(unavailable("lock", &error)),
            }
        }
    }

    /// Reads entries that others have added, or everything anew. Requires the lock.
    fn refresh(&self, known: &mut Known) -> Result<(), StoreError> {
        let file = open_file(&self.list(), "refs.jsonl")?;
        let length = file.metadata().map_err(|error| unavailable("refs.jsonl", &error))?.len();
        if length > MAX_LOG {
            let message = format!("refs.jsonl has {length} bytes, more than {MAX_LOG}");
            return Err(StoreError::new(Code::StoreCorrupt, message).with("file", "refs.jsonl"));
        }
        let mut reader = BufReader::with_capacity(1 << 16, file);
        // If anything fails from here on, the next refresh reads everything anew.
        let before = known.place.take();
        let mut place = Place::read_header(&mut reader)?;
        let start = place.offset;
        if let Some(mut before) = before.filter(|before| before.generation == place.generation)
            && before.offset <= length
        {
            let told = |error: std::io::Error| unavailable("refs.jsonl", &error);
            reader.seek(SeekFrom::Start(before.offset)).map_err(told)?;
            if before.read_entries(&mut reader, &mut known.index).is_ok() {
                known.place = Some(before);
                return Ok(());
            }
            // The list was replaced by another of the same age, so read that one.
            reader.seek(SeekFrom::Start(start)).map_err(told)?;
        }
        known.index = Index::default();
        place.read_entries(&mut reader, &mut known.index)?;
        known.place = Some(place);
        Ok(())
    }

    /// Appends an entry to the list. When this returns, it is on disk.
    fn append(&self, known: &mut Known, entry: &Entry) -> Result<(), StoreError> {
        let told = |error: std::io::Error| unavailable("refs.jsonl", &error);
        let mut place = known.place.clone().unwrap_or_default();
        let start = place.offset;
        let line = place.line(entry);
        for (what, bytes, most) in
            [("refs.jsonl", place.offset, MAX_LOG), ("a line of refs.jsonl", line.len() as u64, MAX_LINE - 1)]
        {
            if bytes > most {
                let message = format!("{what} would have {bytes} bytes, more than {most}");
                return Err(StoreError::new(Code::StoreBytesExceeded, message).with("limit_bytes", most));
            }
        }
        let mut file = OpenOptions::new().write(true).open(self.list()).map_err(told)?;
        // Cuts off a partial entry left by a crash.
        file.set_len(start).map_err(told)?;
        file.seek(SeekFrom::Start(start)).map_err(told)?;
        let written = file
            .write_all(line.as_bytes())
            .and_then(|()| file.sync_data())
            .and_then(|()| file.write_all(b"\n"))
            .and_then(|()| file.sync_data());
        if let Err(error) = written {
            // It was not acknowledged, so it must not show up later.
            let _ = file.set_len(start).and_then(|()| file.sync_data());
            return Err(told(error));
        }
        known.place = Some(place);
        Ok(())
    }

    /// Writes the files of a source, unless they exist and are intact.
    fn keep(&self, new: &New<'_>) -> Result<(), StoreError> {
        let files = [("clj", new.source.as_bytes()), ("ptcp", new.artifact)];
        self.make_folders()?;
        for (extension, bytes) in files {
            let path = self.object(new.checksum, extension);
            match holds(&path, bytes) {
                // A crashed process may have left it before it was synced.
                true => File::open(&path)
                    .and_then(|file| file.sync_all())
                    .and_then(|()| files::sync_folder(&self.objects()))
                    .map_err(|error| unavailable("objects", &error))?,
                false => self.put(&path, bytes)?,
            }
        }
        Ok(())
    }

    /// Writes a file as a whole: readers never see a part of it. When this returns, it is on disk under its name.
    fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files::replace(path, &[bytes], Access::Usual).map_err(|error| unavailable(&name, &error))
    }

    /// Rewrites the list without superseded entries.
    fn rewrite(&self, known: &mut Known) -> Result<(), StoreError> {
        let generation = known.place.as_ref().map_or(0, |place| place.generation);
        let (mut place, header) = Place::start(generation.wrapping_add(1));
        let mut text = header + "\n";
        for entry in known.index.to_entries() {
            text.push_str(&place.line(&entry));
            text.push('\n');
        }
        place.base = place.offset;
        self.put(&self.list(), text.as_bytes())?;
        known.place = Some(place);
        Ok(())
    }

    /// Deletes leftovers of crashes: files that no entry names. Failing is harmless.
    fn sweep(&self, index: &Index) {
        let folders = [self.objects(), self.root.clone()];
        for entry in folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            let path = entry.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let is_object = path.parent().is_some_and(|parent| parent == folders[0]);
            let is_unused = || {
                let object = name.strip_suffix(".clj").or_else(|| name.strip_suffix(".ptcp"));
                object
                    .is_some_and(|checksum| super::reference::is_checksum(checksum) && !index.uses(checksum))
            };
            let is_leftover = files::is_leftover(&path) || name.starts_with(OLD_LEFTOVER);
            if is_leftover || (is_object && is_unused()) {
                let _ = fs::remove_file(&path);
            }
        }
    }

    fn source_of(&self, version: &Version) -> Result<String, StoreError> {
        let Version { checksum, bytes, .. } = version;
        if *bytes > self.limits.max_source_bytes {
            let most = self.limits.max_source_bytes;
            let message = format!("the stored source has {bytes} bytes, more than {most} (max_source_bytes)");
            return Err(StoreError::new(Code::SourceTooLarge, message).with("limit_bytes", most));
        }
        let name = format!("objects/{checksum}.clj");
        let damaged = |why: &str| {
            StoreError::new(Code::StoreCorrupt, format!("{name} is damaged: {why}")).with("file", &*name)
        };
        let found =
            read_at_most(&self.object(checksum, "clj"), *bytes, &name).map_err(|error| match error.code {
                Code::StoreCorrupt => damaged(&error.message),
                _ => error,
            })?;
        if found.len() as u64 != *bytes || sha256(&found) != *checksum {
            return Err(damaged("it is not the source that was stored"));
        }
        String::from_utf8(found).map_err(|_| damaged("it is not UTF-8 text"))
    }
}

/// Prefix of temporary files of earlier versions.
const OLD_LEFTOVER: &str = ".new-";

impl Backend for Disk {
    fn look(&self, see: &mut dyn FnMut(&Index)) -> Result<(), StoreError> {
        let _lock = self.lock(false)?;
        let mut known = self.known();
        self.refresh(&mut known)?;
        see(&known.index);
        Ok(())
    }

    fn fetch(
        &self,
        find: &mut dyn FnMut(&Index) -> Result<Version, StoreError>,
    ) -> Result<Object, StoreError> {
        // The lock is held until the files are read, so that no process deletes them meanwhile.
        let _lock = self.lock(false)?;
        let version = {
            let mut known = self.known();
            self.refresh(&mut known)?;
            find(&known.index)?
        };
        let source = self.source_of(&version)?;
        Ok(Object { version, source: source.into() })
    }

    fn change(
        &self,
        plan: &mut dyn FnMut(&Index) -> Result<Entry, StoreError>,
        new: Option<&New<'_>>,
    ) -> Result<Entry, StoreError> {
        // Always lock files first: waiting for the lock must not keep other threads from reading.
        let _lock = self.lock(true)?;
        let mut known = self.known();
        self.refresh(&mut known)?;
        if !std::mem::replace(&mut known.swept, true) {
            self.sweep(&known.index);
        }
        let entry = plan(&known.index)?;
        if let Some(new) = new {
            self.keep(new)?;
        }
        self.append(&mut known, &entry)?;
        let freed = known.index.apply(entry.clone()).map_err(|why| {
            known.place = None;
            StoreError::new(Code::Internal, why)
        })?;
        for checksum in freed {
            let _ = fs::remove_file(self.object(&checksum, "clj"));
            let _ = fs::remove_file(self.object(&checksum, "ptcp"));
        }
        let grown = known.place.as_ref().is_some_and(|place| {
            let most = place.base.saturating_add(self.limits.max_log_slack_bytes);
            place.offset - place.base > most.min(MAX_LOG / 4)
        });
        if grown {
            // The change is made; a list that was not rewritten is only longer than necessary.
            let _ = self.rewrite(&mut known);
        }
        Ok(entry)
    }
}

/// Opens a path that must be a regular file: opening a pipe would block for ever.
fn open_file(path: &Path, name: &str) -> Result<File, StoreError> {
    let missing =
        |why: &str| StoreError::new(Code::StoreCorrupt, format!("{name} is {why}")).with("file", name);
    match fs::metadata(path) {
        Ok(about) if about.is_file() => File::open(path).map_err(|error| unavailable(name, &error)),
        Ok(_) => Err(missing("not a file")),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(missing("missing")),
        Err(error) => Err(unavailable(name, &error)),
    }
}

/// Reads a file of at most `most` bytes; of a longer one, one byte more.
fn read_at_most(path: &Path, most: u64, name: &str) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let file = open_file(path, name)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unavailable(name, &error))?;
    Ok(bytes)
}

fn holds(path: &Path, bytes: &[u8]) -> bool {
    read_at_most(path, bytes.len() as u64, "objects").is_ok_and(|found| found == bytes)
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes).into())
}
