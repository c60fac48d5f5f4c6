//! Positions in source text: byte ranges, and lines and columns for people.

use serde::{Deserialize, Serialize};

/// A byte range `start..end` of one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes the range from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Span {
        // Sources are capped far below 4 GiB (`limits.source_bytes`), so saturating never shows.
        let clip = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { start: clip(start), end: clip(end) }
    }

    /// Returns the smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Returns the length of the text under this span, in bytes.
    pub fn bytes(self) -> usize {
        self.end.saturating_sub(self.start) as usize
    }

    /// Returns the text under this span; empty if the span does not fit `source`.
    pub fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }
}

/// A place as people count: line and column from 1, columns in characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Returns line and column of byte `offset` in `source`.
///
/// ```
/// use ptc_bytecode::{place_of, Place};
/// assert_eq!(place_of("(let\n  [é x])", 11), Place { line: 2, column: 6 });
/// ```
pub fn place_of(source: &str, offset: u32) -> Place {
    let mut end = (offset as usize).min(source.len());
    while !source.is_char_boundary(end) {
        end -= 1;
    }
    let before = without_mark(&source[..end]);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    Place {
        line: before.bytes().filter(|b| *b == b'\n').count() as u32 + 1,
        column: before[line_start..].chars().count() as u32 + 1,
    }
}

/// Strips a byte order mark, which is no character of the first line.
fn without_mark(source: &str) -> &str {
    source.strip_prefix('\u{feff}').unwrap_or(source)
}

/// Returns the whole source line (1-based) without its line break; empty if there is no such line.
pub(crate) fn line_text(source: &str, line: u32) -> &str {
    without_mark(source).split('\n').nth(line.saturating_sub(1) as usize).unwrap_or("").trim_end_matches('\r')
}
