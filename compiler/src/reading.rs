//! Incremental reading: tells a prompt whether a text entered line by line is complete.

use crate::lexer::{bracket_text, closes};
use crate::token::Raw;
use logos::Logos;

/// The state of a text that arrives line by line. Each line is scanned once, so a long form costs no more than its
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
    /// Openers and marks that wait for a form, outermost first.
    waiting: Vec<Waiting>,
    /// Number of brackets among them.
    brackets: usize,
    /// True inside a string or a regular expression.
    quoted: bool,
    /// True just after a backslash in a string.
    escaped: bool,
    /// True if a bracket closed a wrong opener: more lines would not help.
    broken: bool,
}

/// An opener or mark that waits for a form.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    /// An open bracket, until it is closed.
    Bracket(OpenBracket),
    /// `'` or `#inst`, which makes one form together with its form.
    Mark,
    /// `#_` or `^`, which drops its form.
    Drop,
}

/// A bracket that is still open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenBracket {
    token: Raw,
    /// Number of characters before it on its line.
    pub column: usize,
}

impl OpenBracket {
    /// Returns its text: `(`, `[`, `{`, `#{` or `#(`.
    pub fn text(self) -> &'static str {
        bracket_text(self.token)
    }
}

impl Reading {
    /// Makes the state of an empty text.
    pub fn new() -> Reading {
        Reading::default()
    }

    /// Adds complete lines, with their line ends.
    pub fn push(&mut self, lines: &str) {
        let mut start = 0;
        if self.quoted {
            let Some(end) = self.closing_quote(lines) else { return };
            self.quoted = false;
            self.form();
            start = end;
        }
        let mut lexer = Raw::lexer(&lines[start..]);
        while let Some(raw) = lexer.next() {
            let raw = raw.unwrap_or(Raw::Other);
            match raw {
                Raw::ListOpen | Raw::VectorOpen | Raw::MapOpen | Raw::SetOpen | Raw::FnOpen => {
                    let before = &lines[..start + lexer.span().start];
                    let line = before.rfind('\n').map_or(0, |at| at + 1);
                    let column = before[line..].chars().count();
                    self.waiting.push(Waiting::Bracket(OpenBracket { token: raw, column }));
                    self.brackets += 1;
                }
                Raw::ListClose | Raw::VectorClose | Raw::MapClose => self.close(raw),
                Raw::StrUnclosed | Raw::RegexUnclosed => {
                    self.quoted = true;
                    let text = lexer.slice();
                    let quote = text.find('"').map_or(text.len(), |at| at + 1);
                    self.escaped = false;
                    self.closing_quote(&text[quote..]);
                }
                Raw::Quote | Raw::Inst | Raw::Deref => self.waiting.push(Waiting::Mark),
                Raw::Discard | Raw::Meta => self.waiting.push(Waiting::Drop),
                // Marks of other Lisps, which the reader skips.
                Raw::SyntaxQuote | Raw::Unquote | Raw::Dispatch | Raw::Other => {}
                _ => self.form(),
            }
        }
    }

    /// Handles a closing bracket and its opener. At top level a surplus one is skipped, as in the reader.
    fn close(&mut self, closer: Raw) {
        let is_bracket = |waiting: &Waiting| matches!(waiting, Waiting::Bracket(_));
        if self.brackets == 0 {
            return;
        }
        self.brackets -= 1;
        if let Some(at) = self.waiting.iter().rposition(is_bracket) {
            // A mark inside never gets a form.
            self.broken |= at + 1 < self.waiting.len();
            if let Waiting::Bracket(open) = self.waiting[at] {
                self.broken |= !closes(closer, open.token);
            }
            self.waiting.truncate(at);
            self.form();
        }
    }

    /// Handles a complete form.
    fn form(&mut self) {
        while let Some(Waiting::Mark) = self.waiting.last() {
            self.waiting.pop();
        }
        if let Some(Waiting::Drop) = self.waiting.last() {
            self.waiting.pop();
        }
    }

    /// True if more lines are needed: something is open, and there is no error yet.
    pub fn is_unfinished(&self) -> bool {
        !self.broken && (self.quoted || !self.waiting.is_empty())
    }

    /// True if the text ends inside a string or a regular expression.
    pub fn is_quoted(&self) -> bool {
        self.quoted
    }

    /// Returns the bracket to close next.
    pub fn innermost(&self) -> Option<OpenBracket> {
        self.waiting.iter().rev().find_map(|waiting| match waiting {
            Waiting::Bracket(open) => Some(*open),
            Waiting::Mark | Waiting::Drop => None,
        })
    }

    /// Returns the index after the quote that ends the string.
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
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

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
            // A line break is a character, and the next line does not continue it.
            &["\\", "'"],
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

    proptest! {
        /// Splitting the lines differently changes nothing, and the reader agrees: it reports open brackets exactly
        /// where more lines are expected.
        #[test]
        fn the_reader_agrees(words in vec(select(WORDS), 0..30)) {
            let text = words.concat() + "\n";
            let mut whole = Reading::new();
            whole.push(&text);
            let mut lines = Reading::new();
            text.split_inclusive('\n').for_each(|line| lines.push(line));
            prop_assert_eq!(whole.is_unfinished(), lines.is_unfinished());
            let arena = bumpalo::Bump::new();
            let errors = crate::parse(&text, &arena, &ptc_bytecode::Limits::default()).err().unwrap_or_default();
            let is_open = |error: &ptc_bytecode::Diagnostic| {
                let message = &error.message;
                message.contains("never closed") || message.ends_with("but found the end of the program")
            };
            let is_broken = errors.iter().any(|error| {
                error.message.starts_with("expected `") || error.message.contains(", but found `")
            });
            prop_assert!(
                is_broken || whole.is_unfinished() == errors.iter().any(is_open),
                "{text}: {errors:?}"
            );
        }
    }

    const WORDS: &[&str] = &[
        "(", ")", "[", "]", "{", "}", "#{", "#(", "\"", "#\"", "\\\"", "\\(", "\\n", "\\\\", "; c", "\n",
        " ", "'", "#_", "a ", ":k ", "1 ",
    ];
}
