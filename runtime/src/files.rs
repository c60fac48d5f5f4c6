//! Files that are replaced as a whole: written beside their place, which they then take. The one writer of this kind
//! in the tree.
//!
//! | | [`replace`] | [`Replacement`] |
//! |---|---|---|
//! | Readers find the old file or the new one, never a part | yes | yes |
//! | The same after this process has died; it may leave a file that [`is_leftover`] knows | yes | yes |
//! | The same after the machine has died, and what has returned stays | yes | no: nothing is forced to disk |
//!
//! Files that only grow, such as logs, are opened with [`private`] instead.
//!
//! Links are followed, so a link goes on pointing where it did. Writers are not kept apart: the last one wins. An error
//! names neither the file beside nor its folder.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of a file that has at most so many. More is an error, found without reading on: devices never end, and
/// their size says nothing.
///
/// ```
/// use ptc_runtime::files::read_at_most;
/// let path = std::env::temp_dir().join(format!("ptc-doc-read-{}", std::process::id()));
/// std::fs::write(&path, "whole")?;
/// assert_eq!(read_at_most(&path, 5)?, b"whole");
/// assert_eq!(read_at_most(&path, 4).unwrap_err().to_string(), "it has more than 4 bytes, the most that is read");
/// std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes, the most that is read"))),
        false => Ok(bytes),
    }
}

/// The text of a file that has at most so many bytes, as [`read_at_most`] reads it.
pub fn read_text_at_most(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read_at_most(path, most)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Readers of a file that is replaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Those of the file that is there already, or of any new file.
    Usual,
    /// The user that runs this, and nobody else.
    Private,
}

/// A file on its way to its place. Dropped before [`Replacement::place`], it is gone, and the place is as it was.
pub struct Replacement {
    file: File,
    beside: PathBuf,
    place: PathBuf,
}

impl Replacement {
    /// A new file in the folder of `path`.
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
                // Of a process that had our number and died.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // Nobody asked for the name beside, so no message tells it.
                Err(error) => return Err(io::Error::from(error.kind())),
            }
        };
        let replacement = Replacement { file, beside, place };
        if let (Access::Usual, Ok(about)) = (access, fs::metadata(&replacement.place)) {
            replacement.file.set_permissions(about.permissions())?;
        }
        Ok(replacement)
    }

    /// Puts it in its place.
    pub fn place(mut self) -> io::Result<()> {
        self.flush()?;
        fs::rename(&self.beside, &self.place)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // Where it has taken its place, there is none of this name any more.
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

/// How names of files end that are on their way to their place.
const LEFTOVER: &str = ".tmp";

/// Whether a file was left by a process that died while it wrote.
pub fn is_leftover(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') && name.ends_with(LEFTOVER)
}

/// Puts these parts, one after the other, in the place of a file. When this returns, the file survives the death of the
/// process and of the machine; when it fails, the old file is as it was.
pub fn replace(path: &Path, parts: &[&[u8]], access: Access) -> io::Result<()> {
    let mut new = Replacement::create(path, access)?;
    parts.iter().try_for_each(|part| new.write_all(part))?;
    new.file.sync_all()?;
    let place = new.place.clone();
    new.place()?;
    sync_folder(folder_of(&place))
}

/// Options for a file that grows line by line and is not replaced: a new one is for the user that runs this, and nobody
/// else; one that is there keeps the readers it has.
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

/// Makes a folder, and those above it that are missing, for the user that runs this and nobody else. Folders that are
/// there stay as they are.
pub fn make_private_folder(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    folder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.create(path)
}

/// Makes the names in a folder last: a new name is only there for good when its folder is written, too.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems keep names without being told, and do not open folders.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// True if both paths lead to one file: written alike, through links, or as two names of the same file.
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

/// Links that lead from one to the next before we give up; what Linux allows.
const MAX_LINKS: usize = 40;

/// The place that opening `path` for writing would write to, whether or not there is a file.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&place) else {
            let name = place.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
            return Ok(folder_of(&place).canonicalize()?.join(name));
        };
        place = folder_of(&place).join(next);
    }
    Err(io::Error::other("too many links lead from one to the next"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
