//! The parser's way past values that nobody observes: everything is checked as if it were built, and nothing is.

use super::cursor::Cursor;
use super::error::JsonError;
use super::number::{BadNumber, skip_number};
use super::scan::plain_end;
use ptc_vm::Value;

impl Cursor<'_, '_, '_, '_> {
    /// Passes over a member's value. Its errors are those of reading it, except that it needs no memory.
    pub(super) fn skip(&mut self) -> Result<(), JsonError> {
        self.session.reader.skipped.clear();
        loop {
            match self.peek_dark() {
                b'"' => self.skip_string()?,
                b'-' | b'0'..=b'9' => self.skip_number()?,
                b'{' => {
                    self.pos += 1;
                    match self.peek_dark() {
                        b'}' => self.pos += 1,
                        b'"' => {
                            self.skip_into(true)?;
                            self.skip_key()?;
                            continue;
                        }
                        _ => return Err(self.expected("a key in double quotes or `}`")),
                    }
                }
                b'[' => {
                    self.pos += 1;
                    if self.peek_dark() == b']' {
                        self.pos += 1;
                    } else {
                        self.skip_into(false)?;
                        continue;
                    }
                }
                b't' => drop(self.word("true", Value::Nil)?),
                b'f' => drop(self.word("false", Value::Nil)?),
                b'n' => drop(self.word("null", Value::Nil)?),
                _ => return Err(self.expected("a value")),
            }
            // A value is complete: it may complete its container, and that one the next.
            loop {
                let Some(is_object) = self.session.reader.skipped.last().copied() else { return Ok(()) };
                match (self.peek_dark(), is_object) {
                    (b',', false) => {
                        self.pos += 1;
                        break;
                    }
                    (b',', true) => {
                        self.pos += 1;
                        if self.peek_dark() != b'"' {
                            return Err(self.expected("a key in double quotes"));
                        }
                        self.skip_key()?;
                        break;
                    }
                    (b']', false) | (b'}', true) => {
                        self.pos += 1;
                        self.session.reader.skipped.pop();
                    }
                    (_, false) => return Err(self.expected("`,` or `]`")),
                    (_, true) => return Err(self.expected("`,` or `}`")),
                }
            }
        }
    }

    /// Enters a container, inside those that are read and those that are skipped.
    fn skip_into(&mut self, is_object: bool) -> Result<(), JsonError> {
        let reader = &mut *self.session.reader;
        if reader.frames.len() + 1 + reader.skipped.len() >= self.session.options.max_depth {
            return Err(self.too_deep());
        }
        reader.skipped.push(is_object);
        Ok(())
    }

    fn skip_key(&mut self) -> Result<(), JsonError> {
        self.skip_string()?;
        self.colon()
    }

    /// Passes over a string, from the quote on.
    #[inline]
    fn skip_string(&mut self) -> Result<(), JsonError> {
        self.pos = plain_end(self.bytes, self.pos + 1);
        if self.peek() == b'"' {
            self.pos += 1;
            return Ok(());
        }
        self.skip_escapes()
    }

    /// Passes over the rest of a string, from its first byte that is special.
    #[inline(never)]
    fn skip_escapes(&mut self) -> Result<(), JsonError> {
        loop {
            match self.bytes.get(self.pos) {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => drop(self.escape()?),
                other => return Err(self.unended(other.copied())),
            }
            self.pos = plain_end(self.bytes, self.pos);
        }
    }

    #[inline]
    fn skip_number(&mut self) -> Result<(), JsonError> {
        match skip_number(self.text, self.pos) {
            Ok((digits, end)) => {
                if let Some(digits) = digits {
                    self.check_digits(digits)?;
                }
                self.pos = end;
                Ok(())
            }
            Err(BadNumber { offset, expected }) => {
                self.pos = offset;
                Err(self.expected(expected))
            }
        }
    }
}
