//! When an input is all there.

use super::commands;
use ptc_compiler::{PieceKind, Reading, pieces};

/// An input that is longer is over, whatever is open: no limit lets such a program run.
const MAX_BYTES: usize = 256 << 20;

/// An input that comes line by line.
#[derive(Default)]
pub struct Input {
    text: String,
    reading: Reading,
    /// A command that takes no code: it is one line, whatever is open in it.
    is_line: bool,
}

impl Input {
    /// Takes one more line, with its line end; gives the input once it is all there.
    pub fn push(&mut self, line: &str) -> Option<String> {
        if self.text.is_empty() {
            self.is_line = commands::find(line).is_some_and(|(command, _)| !command.takes_code);
        }
        self.text.push_str(line);
        self.reading.push(line);
        if !self.is_line && self.reading.is_unfinished() && self.text.len() < MAX_BYTES {
            return None;
        }
        Some(std::mem::take(self).text)
    }

    /// The unfinished input when no more lines come.
    pub fn rest(&mut self) -> Option<String> {
        let text = std::mem::take(self).text;
        (!text.is_empty()).then_some(text)
    }

    /// True if the next line continues an input.
    pub fn is_open(&self) -> bool {
        !self.text.is_empty()
    }
}

/// True if a text needs more lines.
pub fn is_unfinished(text: &str) -> bool {
    let mut input = Input::default();
    input.push(text).is_none()
}

/// True if there is nothing to run in a text.
pub fn is_blank(text: &str) -> bool {
    pieces(text).iter().all(|piece| piece.kind == PieceKind::Comment)
}

#[cfg(test)]
mod tests {
    use super::{Input, is_blank, is_unfinished};

    #[test]
    fn an_input_ends_where_its_brackets_do() {
        let mut input = Input::default();
        assert_eq!(input.push("(+ 1\n"), None);
        assert!(input.is_open());
        assert_eq!(input.push("2)\n").as_deref(), Some("(+ 1\n2)\n"));
        assert_eq!(input.push("(never\n"), None);
        assert_eq!(input.rest().as_deref(), Some("(never\n"));
        assert_eq!(input.rest(), None);
    }

    #[test]
    fn commands_are_one_line_unless_they_take_code() {
        assert!(!is_unfinished(":load a(b.clj") && !is_unfinished(":apropos \"x"));
        assert!(is_unfinished(":time (+ 1"));
        assert!(is_unfinished("(:load"));
    }

    #[test]
    fn comments_are_nothing_to_run() {
        assert!(is_blank("") && is_blank(" , ; one\n ;; two") && !is_blank("; one\n2"));
    }
}
