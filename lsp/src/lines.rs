//! Lines of a document: conversion between bytes, which the compiler counts, and lines and UTF-16 units, which the
//! protocol counts.

use crate::protocol::{Position, Range};
use ptc_bytecode::Span;

/// The beginnings of the lines of a text.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Finds the lines, which end with `\n`, `\r\n` or `\r`.
    pub fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, byte) in bytes.iter().enumerate() {
            let is_end = *byte == b'\n' || *byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
            if is_end {
                starts.push(at as u32 + 1);
            }
        }
        Lines { starts }
    }

    /// Returns the place of a byte.
    pub fn position(&self, text: &str, offset: u32) -> Position {
        let mut end = (offset as usize).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let line = self.starts.partition_point(|start| *start as usize <= end).saturating_sub(1);
        let start = self.starts.get(line).map_or(0, |start| *start as usize);
        let units: usize = text[start..end].chars().map(char::len_utf16).sum();
        Position { line: line as u32, character: units as u32 }
    }

    /// Returns the byte at a place. A place behind the end of its line is that end, one inside of a character its
    /// beginning.
    pub fn offset(&self, text: &str, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).map(|start| *start as usize) else {
            return text.len();
        };
        let end = self.starts.get(position.line as usize + 1).map_or(text.len(), |end| *end as usize);
        let line = text[start..end].trim_end_matches(['\n', '\r']);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            units += c.len_utf16() as u32;
            if units > position.character {
                return start + at;
            }
        }
        start + line.len()
    }

    /// Returns the range of a span.
    pub fn range(&self, text: &str, span: Span) -> Range {
        Range { start: self.position(text, span.start), end: self.position(text, span.end.max(span.start)) }
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use crate::protocol::Position;

    #[test]
    fn columns_are_in_utf16_units() {
        let text = "(é\r\n \"🦀x\"\r日\n";
        let lines = Lines::of(text);
        let at = |line, character| Position { line, character };
        for (offset, place) in [
            (0, at(0, 0)),
            (1, at(0, 1)),
            (3, at(0, 2)),
            (5, at(1, 0)),
            (7, at(1, 2)),
            (11, at(1, 4)),
            (12, at(1, 5)),
            (14, at(2, 0)),
            (17, at(2, 1)),
            (18, at(3, 0)),
        ] {
            assert_eq!(lines.position(text, offset), place, "{offset}");
            assert_eq!(lines.offset(text, place), offset as usize, "{place:?}");
        }
        // Inside of characters, and behind the ends of lines and of the text.
        assert_eq!(lines.position(text, 2), at(0, 1));
        assert_eq!(lines.position(text, 999), at(3, 0));
        assert_eq!(lines.offset(text, at(1, 3)), 7);
        assert_eq!(lines.offset(text, at(0, 99)), 3);
        assert_eq!(lines.offset(text, at(9, 0)), text.len());
        assert_eq!(lines.offset(text, at(u32::MAX, u32::MAX)), text.len());
    }
}
