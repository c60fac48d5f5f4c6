//! Text with one JSON value per line, as in logs and batches.

use ptc_vm::{Frozen, Value};

use super::error::JsonError;
use super::read::{JsonSession, ReadOptions, freeze_with, utf8};

/// Iterates over the lines of a text that are not blank, with their numbers from 1. Lines end with `\n`, `\r\n` or
/// `\r`.
///
/// ```
/// let lines: Vec<_> = ptc_runtime::json::json_lines("1\r\n\n [2]\n").collect();
/// assert_eq!(lines, [(1, "1"), (3, " [2]")]);
/// ```
pub fn json_lines(text: &str) -> JsonLines<'_> {
    JsonLines { rest: text, line: 0 }
}

/// Iterator of [`json_lines`].
#[derive(Clone, Debug)]
pub struct JsonLines<'t> {
    rest: &'t str,
    line: u64,
}

impl<'t> Iterator for JsonLines<'t> {
    type Item = (u64, &'t str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.rest.is_empty() {
                return None;
            }
            self.line += 1;
            let end = memchr::memchr2(b'\n', b'\r', self.rest.as_bytes());
            let (line, rest) = match end {
                Some(end) => {
                    let ending = if self.rest[end..].starts_with("\r\n") { 2 } else { 1 };
                    (&self.rest[..end], &self.rest[end + ending..])
                }
                None => (self.rest, ""),
            };
            self.rest = rest;
            if line.bytes().any(|b| !matches!(b, b' ' | b'\t')) {
                return Some((self.line, line));
            }
        }
    }
}

impl JsonSession<'_, '_> {
    /// Reads the values of all lines into a vector; nil for a line that is not JSON, as in `json/parse-lines`.
    ///
    /// ```
    /// use ptc_runtime::json::{JsonReader, ReadOptions};
    /// let (mut heap, mut reader) = (ptc_vm::Heap::unbounded(), JsonReader::default());
    /// let rows = reader.session(&mut heap, ReadOptions::default()).parse_lines("1\nbad\n3")?;
    /// assert!(matches!(rows, ptc_vm::Value::Vector(r) if heap.vec_len(r) == 3));
    /// # Ok::<(), ptc_runtime::json::JsonError>(())
    /// ```
    pub fn parse_lines(&mut self, text: &str) -> Result<Value, JsonError> {
        self.collect_lines(text, |_, error| if error.is_syntax() { Ok(Value::Nil) } else { Err(error) })
    }

    /// Reads these texts, each one JSON value, into a vector.
    pub(crate) fn parse_rows(&mut self, texts: &[&[u8]]) -> Result<Value, JsonError> {
        let rows = texts.iter().map(|text| self.parse_bytes(text)).collect::<Result<Vec<_>, _>>()?;
        self.vector(&rows)
    }

    fn collect_lines(
        &mut self,
        text: &str,
        mut bad: impl FnMut(u64, JsonError) -> Result<Value, JsonError>,
    ) -> Result<Value, JsonError> {
        let mut rows = Vec::new();
        for (line, text) in json_lines(text) {
            rows.push(self.parse(text).or_else(|error| bad(line, error))?);
        }
        self.vector(&rows)
    }
}

/// Reads a text of one JSON value per line into a frozen vector. The first line that is not JSON is an error with
/// its line number.
///
/// ```
/// use ptc_runtime::json::freeze_json_lines;
/// let error = freeze_json_lines("{\"a\":1}\n{\"a\":}\n", 1_000).unwrap_err();
/// assert_eq!(error.to_string(), "expected a value, but found `}` (line 2, column 6)");
/// ```
pub fn freeze_json_lines(text: impl AsRef<[u8]>, limit_bytes: u64) -> Result<Frozen, JsonError> {
    let limit_bytes = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
    let options = ReadOptions { limit_bytes, ..ReadOptions::default() };
    freeze_with(options, |session| {
        session.collect_lines(utf8(text.as_ref())?, |line, error| Err(error.on_line(line)))
    })
}
