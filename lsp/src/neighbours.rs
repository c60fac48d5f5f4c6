//! Neighbours: preludes in the folder of a document, which may use each other as those of one `ptc check FOLDER` do.

use crate::project::Project;
use crate::verdict::of_prelude;
use ptc_runtime::{Prelude, PreludeOutline, order_of_preludes};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Maximum number of files of a folder whose names are looked at.
const MAX_NAMES: usize = 20_000;
/// Maximum number of sources of a folder that are read.
const MAX_FILES: usize = 500;
/// Maximum size of all of them.
const MAX_BYTES: u64 = 32 << 20;
/// End of the names of test files, which are no preludes.
pub const TESTS: &str = "_test.clj";

/// A source beside a document.
#[derive(Clone)]
pub struct Neighbour {
    pub path: PathBuf,
    pub text: String,
    outline: PreludeOutline,
}

/// The sources of folders, and those that were compiled. All of it is forgotten whenever a file may have changed.
#[derive(Default)]
pub struct Neighbours {
    folders: HashMap<PathBuf, Vec<Neighbour>>,
    compiled: HashMap<(PathBuf, Vec<String>), Vec<Prelude>>,
}

impl Neighbours {
    pub fn forget(&mut self) {
        self.folders.clear();
        self.compiled.clear();
    }

    /// Returns the neighbour that declares a namespace.
    pub fn declaring(&mut self, project: &Project, path: &Path, namespace: &str) -> Option<&Neighbour> {
        let found = self.folder(project, path)?;
        found.iter().find(|neighbour| neighbour.outline.declares.iter().any(|name| name == namespace))
    }

    /// Returns what the source in this file declares and requires, if it is a prelude.
    pub fn outline(&mut self, project: &Project, path: &Path) -> Option<PreludeOutline> {
        let found = self.folder(project, path)?;
        Some(found.iter().find(|neighbour| neighbour.path == path)?.outline.clone())
    }

    /// Returns the preludes in the folder of a document that declare these namespaces, and those that they use. They
    /// are left out if they do not compile: that is reported where they are.
    pub fn preludes(&mut self, project: &Project, path: &Path, namespaces: &[String]) -> Vec<Prelude> {
        let declared = |name: &String| {
            let mut spaces = project.usable.iter().flat_map(|prelude| prelude.namespaces());
            spaces.any(|space| space.name == *name)
        };
        let missing: Vec<String> = namespaces.iter().filter(|name| !declared(name)).cloned().collect();
        if missing.is_empty() {
            return Vec::new();
        }
        let key = (path.to_path_buf(), missing.clone());
        if let Some(compiled) = self.compiled.get(&key) {
            return compiled.clone();
        }
        let Some(all) = self.folder(project, path) else { return Vec::new() };
        let mut needed: Vec<&Neighbour> = Vec::new();
        let mut open = missing;
        while let Some(name) = open.pop() {
            let is_needed = |neighbour: &&Neighbour| neighbour.outline.declares.contains(&name);
            if declared(&name) || needed.iter().any(is_needed) {
                continue;
            }
            if let Some(found) = all.iter().filter(|neighbour| neighbour.path != path).find(is_needed) {
                open.extend(found.outline.requires.iter().cloned());
                needed.push(found);
            }
        }
        let named =
            |neighbour: &&Neighbour| (neighbour.path.display().to_string(), neighbour.outline.clone());
        let outlines: Vec<(String, PreludeOutline)> = needed.iter().map(named).collect();
        let mut uses = project.usable.clone();
        let mut found = Vec::new();
        for at in order_of_preludes(&outlines).unwrap_or_default() {
            if let (Some(prelude), _) = of_prelude(&needed[at].text, &project.runtime, &uses) {
                found.push(prelude.clone());
                uses.insert(0, prelude);
            }
        }
        self.compiled.insert(key, found.clone());
        found
    }

    fn folder(&mut self, project: &Project, path: &Path) -> Option<&Vec<Neighbour>> {
        let folder = path.parent()?;
        if !self.folders.contains_key(folder) {
            let found = sources(project, folder);
            self.folders.insert(folder.to_path_buf(), found);
        }
        self.folders.get(folder)
    }
}

/// Returns the sources of preludes in a folder, by name.
fn sources(project: &Project, folder: &Path) -> Vec<Neighbour> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .take(MAX_NAMES)
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.ends_with(".clj") && !name.ends_with(TESTS) && !name.starts_with('.')
        })
        .collect();
    files.sort_unstable();
    files.truncate(MAX_FILES);
    let mut left = MAX_BYTES;
    let most = project.runtime.current_limits().source_bytes;
    let source = |path: PathBuf| {
        let about = std::fs::metadata(&path).ok()?;
        if !about.is_file() || about.len() > most {
            return None;
        }
        left = left.checked_sub(about.len())?;
        let text = std::fs::read_to_string(&path).ok()?;
        let outline = Prelude::outline_of(&project.runtime, &text).ok()?;
        Some(Neighbour { path, text, outline })
    };
    files.into_iter().filter_map(source).collect()
}
