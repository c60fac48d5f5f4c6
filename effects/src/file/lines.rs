//! The file of a ledger: a line for each record, with a checksum before it.

use crate::LedgerError;
use crate::hash::hex;
use crate::record::Record;
use sha2::{Digest, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// First line of every ledger.
pub const HEAD: &str = "ptc effects 1\n";

/// Digits of a line's checksum.
const DIGITS: usize = 16;

/// Longest line, in bytes. A longer one was not written by this code.
const MAX_LINE: usize = 64 << 20;

/// Opens the file and its key, and makes them if they are missing.
pub fn open(path: &Path) -> Result<(File, [u8; 32]), LedgerError> {
    let mut file = private(path).map_err(|error| unusable(path, &error))?;
    // Reading a pipe would wait for ever.
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(LedgerError::Storage(format!("{} is not a regular file", path.display())));
    }
    file.lock().map_err(|error| unusable(path, &error))?;
    let made = begin(&mut file).and_then(|()| key(&key_path(path)));
    sync_folder(path);
    let _ = file.unlock();
    Ok((file, made.map_err(|error| unusable(path, &error))?))
}

/// Writes the first line, if there is none.
fn begin(file: &mut File) -> io::Result<()> {
    if file.metadata()?.len() > 0 {
        return Ok(());
    }
    file.write_all(HEAD.as_bytes())?;
    file.sync_all()
}

/// Makes the name of a new file durable, where folders can be opened.
pub fn sync_folder(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Without it, a power failure loses the file as a whole, and the next process makes a new one.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Opens a file that only its owner can read.
pub fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn key_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".key");
    name.into()
}

/// Reads the key, or makes one. The ledger is locked.
fn key(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = private(path)?;
    let mut bytes = Vec::new();
    (&file).take(64).read_to_end(&mut bytes)?;
    if bytes.is_empty() {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| io::Error::other(error.to_string()))?;
        file.write_all(&key)?;
        file.sync_all()?;
        return Ok(key);
    }
    bytes.try_into().map_err(|_| io::Error::other(format!("{} is not a key of 32 bytes", path.display())))
}

pub fn unusable(path: &Path, error: &io::Error) -> LedgerError {
    LedgerError::Storage(format!("{}: {error}", path.display()))
}

/// Returns the line of a record.
pub fn line(record: &Record) -> Result<String, LedgerError> {
    let json = serde_json::to_string(record).map_err(|error| LedgerError::Storage(error.to_string()))?;
    Ok(format!("{} {json}\n", checksum(json.as_bytes())))
}

fn checksum(json: &[u8]) -> String {
    hex(&Sha256::digest(json)[..DIGITS / 2])
}

/// Reads the records from `from` on, each with its place and length. Returns the length of the file's whole lines, which
/// is less than its length if a writer was killed in the middle of a line.
pub fn read(
    file: &mut File,
    from: u64,
    mut take: impl FnMut(Record, u64, usize) -> Result<(), LedgerError>,
) -> Result<u64, LedgerError> {
    let storage = |error: io::Error| LedgerError::Storage(error.to_string());
    file.seek(SeekFrom::Start(from)).map_err(storage)?;
    // A file of any size takes the memory of its longest line.
    let mut reader = BufReader::new(file);
    let (mut at, mut line) = (from, Vec::new());
    loop {
        line.clear();
        reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).map_err(storage)?;
        let is_whole = line.ends_with(b"\n");
        if at == 0 {
            if line != HEAD.as_bytes() {
                // A first line that was cut is made whole by the next writer.
                if HEAD.as_bytes().starts_with(&line) {
                    return Ok(0);
                }
                let why = "the file is not an effect ledger of this version";
                return Err(LedgerError::Damaged(why.to_string()));
            }
        } else if !is_whole && line.len() <= MAX_LINE {
            return Ok(at);
        } else {
            let record = line.strip_suffix(b"\n").and_then(record).ok_or_else(|| changed(at))?;
            take(record, at, line.len())?;
        }
        at += line.len() as u64;
    }
}

/// Reads the record of this length at this place.
pub fn record_at(file: &mut File, at: u64, length: usize) -> Result<Record, LedgerError> {
    let mut line = vec![0; length];
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut line));
    read.map_err(|error| LedgerError::Storage(error.to_string()))?;
    line.strip_suffix(b"\n").and_then(record).ok_or_else(|| changed(at))
}

fn changed(at: u64) -> LedgerError {
    LedgerError::Damaged(format!("the line at byte {at} is not what was written"))
}

/// Reads a line; None if it is not what was written.
fn record(line: &[u8]) -> Option<Record> {
    let (sum, json) = line.split_at_checked(DIGITS)?;
    let json = json.strip_prefix(b" ").filter(|json| json.len() <= MAX_LINE)?;
    (sum == checksum(json).as_bytes()).then(|| serde_json::from_slice(json).ok()).flatten()
}

/// Appends text at the end of the whole lines and makes it durable. Returns the place of the text, and the length of the file
/// then. On failure nothing of it stays.
pub fn append(file: &mut File, whole: u64, text: &str) -> io::Result<(u64, u64)> {
    // A writer that was killed may have left an incomplete line.
    if file.metadata()?.len() != whole {
        file.set_len(whole)?;
    }
    let head = if whole == 0 { HEAD } else { "" };
    let written = file
        .write_all(head.as_bytes())
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.sync_data());
    if let Err(error) = written {
        file.set_len(whole)?;
        return Err(error);
    }
    let at = whole + head.len() as u64;
    Ok((at, at + text.len() as u64))
}

/// Writer of a whole ledger.
pub struct Writer {
    file: BufWriter<File>,
    whole: u64,
}

impl Writer {
    /// Begins a ledger in an empty file.
    pub fn new(file: File) -> io::Result<Writer> {
        let mut file = BufWriter::new(file);
        file.write_all(HEAD.as_bytes())?;
        Ok(Writer { file, whole: HEAD.len() as u64 })
    }

    /// Adds a record. Returns its place and length.
    pub fn add(&mut self, record: &Record, path: &Path) -> Result<(u64, usize), LedgerError> {
        let line = line(record)?;
        self.file.write_all(line.as_bytes()).map_err(|error| unusable(path, &error))?;
        let at = self.whole;
        self.whole += line.len() as u64;
        Ok((at, line.len()))
    }

    /// Makes the file durable. Returns it with its length.
    pub fn end(self) -> io::Result<(File, u64)> {
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.sync_all()?;
        Ok((file, self.whole))
    }
}
