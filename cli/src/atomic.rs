//! Files that are written beside their place and take it as a whole: whoever reads the place finds the old
//! file or the new one, never a part.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file on its way to its place. Dropped before [`Beside::place`], it is gone, and the place is as it was.
pub struct Beside {
    file: NamedTempFile,
    place: PathBuf,
}

impl Beside {
    /// A new file in the folder of `path`. Links are followed, so a link goes on pointing where it did; who may
    /// read a file that is there already stays the same.
    pub fn create(path: &Path) -> io::Result<Beside> {
        let place = resolve(path)?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{name}.");
        builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        {
            // As any new file, not as a secret one.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // Nobody asked for the name beside, so no message tells it.
        let file = builder.tempfile_in(folder_of(&place)).map_err(|error| io::Error::from(error.kind()))?;
        if let Ok(about) = fs::metadata(&place) {
            file.as_file().set_permissions(about.permissions())?;
        }
        Ok(Beside { file, place })
    }

    /// Puts it in its place.
    pub fn place(mut self) -> io::Result<()> {
        self.flush()?;
        self.file.persist(&self.place).map_err(|error| error.error)?;
        Ok(())
    }
}

impl Write for Beside {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_file_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_file_mut().flush()
    }
}

/// Puts these bytes in the place of a file, and waits until they are on disk.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = Beside::create(path)?;
    beside.write_all(bytes)?;
    beside.file.as_file().sync_all()?;
    beside.place()
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
