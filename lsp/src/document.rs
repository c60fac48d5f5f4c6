//! A document that is open in the editor.

use crate::catalogue::catalogue;
use crate::findings::{Findings, check};
use crate::lines::Lines;
use crate::neighbours::Neighbours;
use crate::project::Project;
use crate::protocol::{Change, Position, Range};
use ptc_bytecode::Span;
use ptc_compiler::Meter;
use ptc_compiler::names::{Names, names};
use ptc_runtime::Catalog;
use std::path::PathBuf;
use url::Url;

/// A document with what is known about it. Facts are found when they are first asked for, and forgotten with the next
/// change.
pub struct Document {
    pub uri: String,
    pub version: Option<i64>,
    pub text: String,
    pub path: Option<PathBuf>,
    pub lines: Lines,
    /// True if its findings have not been sent yet.
    pub is_unsent: bool,
    names: Option<Names>,
    findings: Option<Findings>,
}

impl Document {
    pub fn new(uri: String, version: Option<i64>, text: String) -> Document {
        let path = Url::parse(&uri).ok().and_then(|uri| uri.to_file_path().ok());
        let lines = Lines::of(&text);
        Document { uri, version, text, path, lines, is_unsent: true, names: None, findings: None }
    }

    /// Makes a change: of a range, or of everything.
    pub fn change(&mut self, change: Change) {
        match change.range {
            None => self.text = change.text,
            Some(range) => {
                let start = self.offset(range.start);
                let end = self.offset(range.end).max(start);
                self.text.replace_range(start..end, &change.text);
            }
        }
        self.lines = Lines::of(&self.text);
        self.names = None;
        self.forget();
    }

    /// Forgets its findings, which depend on other files.
    pub fn forget(&mut self) {
        self.findings = None;
        self.is_unsent = true;
    }

    pub fn offset(&self, position: Position) -> usize {
        self.lines.offset(&self.text, position)
    }

    pub fn range(&self, span: Span) -> Range {
        self.lines.range(&self.text, span)
    }

    pub fn names(&mut self, project: &Project) -> &Names {
        let text = &self.text;
        self.names.get_or_insert_with(|| {
            let limits = project.runtime.current_limits();
            names(text, limits, &Meter::new(limits, &|| false))
        })
    }

    pub fn findings(&mut self, project: &Project, beside: &mut Neighbours) -> &Findings {
        let (text, path) = (&self.text, self.path.as_deref());
        self.findings.get_or_insert_with(|| check(text, path, project, beside))
    }

    /// Returns the names that are documented, besides those of the text itself.
    pub fn catalogue(&mut self, project: &Project, beside: &mut Neighbours) -> Catalog {
        let preludes = self.findings(project, beside).preludes.clone();
        let names = self.names(project);
        catalogue(project, &preludes, names)
    }

    /// True if it is too large to be compiled; nothing but its size is then told.
    pub fn is_too_large(&self, project: &Project) -> bool {
        self.text.len() as u64 > project.runtime.current_limits().source_bytes
    }
}
