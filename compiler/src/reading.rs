//! Whether a text that comes line by line is all there: what a prompt needs to know.

use crate::lexer::{bracket_text, closes};
use crate::token::Raw;
use logos::Logos;

/// A text that comes line by line. Each line is looked at once, so a long form costs no more than its
/// length.
///
/// ```
/// use ptc_compiler::Reading;
/// let mut reading = Reading::new();
/// reading.push("(str \"a (\n");
/// assert!(reading.is_unfinished());          // inside a string
/// reading.push("b\" \\)\n");
/// assert!(reading.is_unfinished());          // `\)` is a character
/// reading.push(")\n");
/// assert!(!reading.is_unfinished());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reading {
    open: Vec<OpenBracket>,
    /// Inside a string or a regular expression.
    quoted: bool,
    /// There, just behind a backslash.
    escaped: bool,
    /// Behind a prefix, such as `'`, that waits for its form.
    prefixed: bool,
    /// A bracket closed what it does not fit: more lines would not help.
    broken: bool,
}

/// A bracket that is not closed yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenBracket {
    token: Raw,
    /// How many characters stand before it on its line.
    pub column: usize,
}

impl OpenBracket {
    /// As it is written: `(`, `[`, `{`, `#{` or `#(`.
    pub fn text(self) -> &'static str {
        bracket_text(self.token)
    }
}

impl Reading {
    /// Nothing so far.
    pub fn new() -> Reading {
        Reading::default()
    }

    /// Takes whole lines, with their line ends.
    pub fn push(&mut self, lines: &str) {
        let mut start = 0;
        if self.quoted {
            let Some(end) = self.closing_quote(lines) else { return };
            self.quoted = false;
            start = end;
        }
        let mut lexer = Raw::lexer(&lines[start..]);
        while let Some(raw) = lexer.next() {
            let raw = raw.unwrap_or(Raw::Other);
            match raw {
                Raw::ListOpen | Raw::VectorOpen | Raw::MapOpen | Raw::SetOpen | Raw::FnOpen => {
                    let before = &lines[..start + lexer.span().start];
                    let line = before.rfind('\n').map_or(0, |at| at + 1);
                    self.open.push(OpenBracket { token: raw, column: before[line..].chars().count() });
                }
                // A stray closer at top level is skipped by the reader too.
                Raw::ListClose | Raw::VectorClose | Raw::MapClose => {
                    self.broken |= self.open.pop().is_some_and(|open| !closes(raw, open.token));
                }
                Raw::StrUnclosed | Raw::RegexUnclosed => {
                    self.quoted = true;
                    let text = lexer.slice();
                    let quote = text.find('"').map_or(text.len(), |at| at + 1);
                    self.escaped = false;
                    self.closing_quote(&text[quote..]);
                }
                _ => {}
            }
            self.prefixed = matches!(raw, Raw::Quote | Raw::Discard | Raw::Meta | Raw::Inst);
        }
    }

    /// Whether more lines are needed: something is open, and nothing is wrong yet.
    pub fn is_unfinished(&self) -> bool {
        !self.broken && (self.quoted || self.prefixed || !self.open.is_empty())
    }

    /// Whether the end is inside a string or a regular expression.
    pub fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// The bracket that would be closed next.
    pub fn innermost(&self) -> Option<OpenBracket> {
        self.open.last().copied()
    }

    /// Behind the quote that ends the string.
    fn closing_quote(&mut self, text: &str) -> Option<usize> {
        for (at, byte) in text.bytes().enumerate() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => return Some(at + 1),
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Reading;

    fn unfinished(lines: &[&str]) -> bool {
        let mut reading = Reading::new();
        lines.iter().for_each(|line| reading.push(&format!("{line}\n")));
        reading.is_unfinished()
    }

    #[test]
    fn open_brackets_strings_and_prefixes_wait() {
        for lines in [
            &["("][..],
            &["(a [b {c #{d #(e"],
            &["\"a"],
            &["#\"a"],
            &["'"],
            &["(f 1) #_"],
            &["(f ; )"],
            &["(f \\)"],
            &["\"a\\\""],
            &["\"a\\", "\"\""],
            &["\"a", "\\\"", "b"],
            &["(\"a", "\""],
        ] {
            assert!(unfinished(lines), "{lines:?}");
        }
    }

    #[test]
    fn what_is_closed_or_wrong_does_not() {
        for lines in [
            &[""][..],
            &["; ("],
            &["1 2"],
            &["(a [b {c #{d #(e)}}])"],
            &["\"(\""],
            &["\"a", "\\\"", "b\""],
            &["\"a\\", "\""],
            &["(f", "\"(", "\" 1", ")"],
            &["'", "x"],
            &["(]"],
            &["(f [1)"],
            &[")"],
        ] {
            assert!(!unfinished(lines), "{lines:?}");
        }
    }

    #[test]
    fn the_innermost_bracket_has_a_column() {
        let mut reading = Reading::new();
        reading.push("(let [é 1\n");
        let open = reading.innermost().expect("open");
        assert_eq!((open.text(), open.column), ("[", 5));
        reading.push("  ]\n  (f #{\n");
        let open = reading.innermost().expect("open");
        assert_eq!((open.text(), open.column), ("#{", 5));
    }

    /// The same answer as the reader gives, however the lines come.
    #[test]
    fn one_push_or_many() {
        let text = "(a \"b\n c\\\" (\" [\n1 2]\n {:x \\]} #\"[\n\")\n";
        let mut whole = Reading::new();
        whole.push(text);
        let mut lines = Reading::new();
        text.split_inclusive('\n').for_each(|line| lines.push(line));
        assert!(!whole.is_unfinished() && !lines.is_unfinished());
    }
}
