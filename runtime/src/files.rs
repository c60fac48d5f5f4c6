//! Replacement of whole files: a new file is written next to the old one, then takes its place. The only writer of this
//! kind in the tree.
//!
//! | | [`replace`] | [`Replacement`] |
//! |---|---|---|
//! | Readers find the old file or the new one, never a part | yes | yes |
//! | This also holds after this process has died; it may leave a file that [`is_leftover`] knows | yes | yes |
//! | This also holds after the machine has died, and a finished write lasts | yes | no: nothing is forced to disk |
//!
//! Files that only grow, such as logs, are opened with [`private`] instead.
//!
//! Links are followed, so a link keeps its target. Writers are not synchronised: the last one wins. An error names
//! neither the temporary file nor its folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a file of at most `most` bytes. A larger one is an error once that many bytes were read: devices never end,
/// and report no size.
///
/// ```
/// use ptc_runtime::files::read_at_most;
/// let path = std::env::temp_dir().join(format!("ptc-doc-read-{}", std::process::id()));
/// std::fs::write(&path, "whole")?;
/// assert_eq!(read_at_most(&path, 5)?, b"whole");
/// let error = read_at_most(&path, 4).unwrap_err();
/// assert_eq!(error.to_string(), "it has more than 4 bytes, the most that can be read");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes, the most that can be read"))),
        false => Ok(bytes),
    }
}

/// Reads a UTF-8 file of at most `most` bytes, like [`read_at_most`].
pub fn read_text_at_most(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_at_most(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Permission to read a replaced file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Permissions of the existing file, or of any new file.
    Usual,
    /// Readable by the current user only.
    Private,
}

/// A file to be moved to its place. Dropping it before [`Replacement::place`] removes it and leaves the place
/// unchanged.
pub struct Replacement {
    file: File,
    beside: PathBuf,
    place: PathBuf,
}

impl Replacement {
    /// Creates a new file in the folder of `path`.
    ///
    /// ```
    /// use ptc_runtime::files::{Access, Replacement};
    /// use std::io::Write;
    /// let path = std::env::temp_dir().join(format!("ptc-doc-{}", std::process::id()));
    /// let mut file = Replacement::create(&path, Access::Usual)?;
    /// file.write_all(b"whole")?;
    /// assert!(!path.exists());
    /// file.place()?;
    /// assert_eq!(std::fs::read(&path)?, b"whole");
    /// std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create(path: &Path, access: Access) -> io::Result<Replacement> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let place = resolve(path)?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut options = match access {
            Access::Usual => OpenOptions::new(),
            Access::Private => private(),
        };
        options.write(true).create_new(true);
        let (file, beside) = loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let beside = place.with_file_name(format!(".{name}.{}-{number}{LEFTOVER}", std::process::id()));
            match options.open(&beside) {
                Ok(file) => break (file, beside),
                // A file of a dead process with our process id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // The temporary name is our own, so no message shows it.
                Err(error) => return Err(io::Error::from(error.kind())),
            }
        };
        let replacement = Replacement { file, beside, place };
        if let (Access::Usual, Ok(about)) = (access, fs::metadata(&replacement.place)) {
            replacement.file.set_permissions(about.permissions())?;
        }
        Ok(replacement)
    }

    /// Moves the file to its place.
    pub fn place(mut self) -> io::Result<()> {
        self.flush()?;
        fs::rename(&self.beside, &self.place)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After a move to its place, no file has this name any more.
        let _ = fs::remove_file(&self.beside);
    }
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Replaces several files: all new files are written before the first takes its place, so that a full disk or a folder
/// without permission changes none of them. The error comes with the path that it is about.
///
/// ```
/// use ptc_runtime::files::{Access, replace_all};
/// let folder = std::env::temp_dir();
/// let (path, nowhere) = (folder.join(format!("ptc-doc-all-{}", std::process::id())), folder.join("no/such/folder"));
/// let error = replace_all([(&*path, &b"1"[..]), (&*nowhere, b"2")], Access::Usual).unwrap_err();
/// assert_eq!((error.0, path.exists()), (nowhere, false));
/// ```
pub fn replace_all<'f>(
    files: impl IntoIterator<Item = (&'f Path, &'f [u8])>,
    access: Access,
) -> Result<(), (PathBuf, io::Error)> {
    let mut written = Vec::new();
    for (path, content) in files {
        let new = Replacement::create(path, access).and_then(|mut new| {
            new.write_all(content)?;
            new.file.sync_all().map(|()| new)
        });
        written.push((path, new.map_err(|error| (path.to_path_buf(), error))?));
    }
    for (path, new) in written {
        let place = new.place.clone();
        let placed = new.place().and_then(|()| sync_folder(folder_of(&place)));
        placed.map_err(|error| (path.to_path_buf(), error))?;
    }
    Ok(())
}

/// Suffix of files on their way to their place.
const LEFTOVER: &str = ".tmp";

/// True if a file was left by a process that died while it wrote.
pub fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(LEFTOVER)
}

/// Replaces a file by these parts, one after the other. When this returns, the new file survives the death of the
/// process and of the machine; when it fails, the old file is unchanged.
pub fn replace(path: &Path, parts: &[&[u8]], access: Access) -> io::Result<()> {
    let mut new = Replacement::create(path, access)?;
    parts.iter().try_for_each(|part| new.write_all(part))?;
    new.file.sync_all()?;
    let place = new.place.clone();
    new.place()?;
    sync_folder(folder_of(&place))
}

/// Returns options for a file that grows line by line and is not replaced: a new file is readable by the current
/// user only; an existing one keeps its permissions.
///
/// ```
/// use ptc_runtime::files;
/// use std::io::Write;
/// let path = std::env::temp_dir().join(format!("ptc-doc-private-{}", std::process::id()));
/// files::private().create(true).append(true).open(&path)?.write_all(b"a line")?;
/// # #[cfg(unix)]
/// assert_eq!(std::os::unix::fs::MetadataExt::mode(&std::fs::metadata(&path)?) & 0o777, 0o600);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder and its missing parents, for the current user only. Existing folders stay as they are.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Makes the names in a folder durable: a new name survives a crash only once its folder is synced, too.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems keep names without a sync, and do not open folders.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// True if both paths lead to one file: equal paths, links, or two names of the same file.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        #[cfg(unix)]
        (Ok(a), Ok(b)) => {
            use std::os::unix::fs::MetadataExt;
            (a.dev(), a.ino()) == (b.dev(), b.ino())
        }
        _ => matches!((resolve(a), resolve(b)), (Ok(a), Ok(b)) if a == b),
    }
}

/// Maximum links followed in a row; the limit of Linux.
const MAX_LINKS: usize = 40;

/// Returns the place that opening `path` for writing would write to, whether or not a file is there.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&place) else {
            let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
            return Ok(folder_of(&place).canonicalize()?.join(name));
        };
        place = folder_of(&place).join(next);
    }
    Err(io::Error::other("too many links in a row"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
