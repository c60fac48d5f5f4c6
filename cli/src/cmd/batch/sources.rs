//! The sources of a batch, one after the other: files, patterns of files, and standard input.

use super::source::{Named, Opening, Source, cannot};
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::{Input, Starts};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Everything that a batch reads.
pub struct Sources {
    names: Vec<PathBuf>,
    /// The first one; the others are opened when their turn comes.
    first: Source,
    opening: Opening,
}

impl Sources {
    /// Opens the first of these sources, and checks that the others are there. None is standard input.
    pub fn open(names: &[PathBuf], opening: Opening) -> Result<Sources, Problem> {
        let mut all = Vec::new();
        for name in names {
            all.extend(matching(name)?);
        }
        if all.iter().filter(|name| is_standard(name)).count() > 1 {
            let message = "standard input is named twice, and can be read once";
            return Err(Problem::new(Code::InvalidConfig, message).hint("keep one `-`"));
        }
        if all.is_empty() {
            all.push("-".into());
        }
        for name in all.iter().skip(1).filter(|name| !is_standard(name)) {
            let about = std::fs::metadata(name).map_err(|error| cannot("read", name, &error))?;
            if about.is_dir() {
                return Err(cannot("read", name, &"it is a folder; name its files, as in `folder/*.jsonl`"));
            }
        }
        let first = Source::open(&all[0], &opening)?;
        Ok(Sources { names: all, first, opening })
    }

    /// Returns the names, `-` for standard input.
    pub fn names(&self) -> &[PathBuf] {
        &self.names
    }

    /// Returns the first source.
    pub fn first(&self) -> &Source {
        &self.first
    }

    /// Returns the settings of all.
    pub fn opening(&self) -> &Opening {
        &self.opening
    }

    /// True if one of them is standard input.
    pub fn has_standard_input(&self) -> bool {
        self.names.iter().any(|name| is_standard(name))
    }

    /// Returns the length of all files, if it is known and they are read from their start to their end.
    pub fn bytes(&self) -> Option<u64> {
        if !matches!(self.first, Source::Text { .. }) {
            return None;
        }
        let bytes = |name: &PathBuf| {
            std::fs::metadata(name).ok().filter(|about| about.is_file()).map(|about| about.len())
        };
        self.names.iter().map(bytes).sum()
    }

    /// Returns them as input of a batch, and the way back from its numbers to theirs.
    pub fn into_input(self) -> (Input<'static>, Places) {
        let Sources { names, first, opening } = self;
        let starts = Arc::<Starts>::default();
        if names.len() == 1 {
            return (first.into_input(), Places { names, starts });
        }
        let rest = names.clone().into_iter().skip(1).map(move |name| -> io::Result<Input<'static>> {
            let source = Source::open(&name, &opening);
            Ok(named(source.map_err(|problem| io::Error::other(problem.0.message.clone()))?, &name))
        });
        let inputs = std::iter::once(Ok(named(first, &names[0]))).chain(rest);
        (Input::chain(inputs, &starts), Places { names, starts })
    }
}

/// The places of records in several sources.
pub struct Places {
    names: Vec<PathBuf>,
    starts: Arc<Starts>,
}

impl Places {
    /// Returns the source of a record, if there are several, and its number there.
    pub fn of(&self, number: u64) -> (Option<&Path>, u64) {
        if self.names.len() == 1 {
            return (None, number);
        }
        let (at, number) = self.starts.place_of(number);
        (self.names.get(at).map(PathBuf::as_path), number)
    }
}

/// The input of one of several sources, which is named where it cannot be read.
fn named(source: Source, name: &Path) -> Input<'static> {
    match source {
        // Compressed files are named anyway.
        Source::Text { text, packing: None } => Input::detached(Named { reader: text, path: name.into() }),
        source => source.into_input(),
    }
}

fn is_standard(name: &Path) -> bool {
    name == Path::new("-")
}

/// The files of a name: those that match it if it is a pattern and no file.
fn matching(name: &Path) -> Result<Vec<PathBuf>, Problem> {
    let pattern = name.to_str().filter(|text| text.contains(['*', '?', '[']) && !name.exists());
    let Some(pattern) = pattern else { return Ok(vec![name.into()]) };
    let found = glob::glob(pattern).map_err(|error| cannot("read", name, &error))?;
    // In the order of their names.
    let files: Result<Vec<PathBuf>, _> =
        found.filter(|found| !matches!(found, Ok(path) if path.is_dir())).collect();
    let files = files.map_err(|error| cannot("read", error.path(), &error))?;
    if files.is_empty() {
        return Err(cannot("read", name, &"no file matches it"));
    }
    Ok(files)
}
