//! Parser of one JSON text: strict RFC 8259, one pass, no recursion.
//!
//! Open arrays and objects are frames on a stack, and values without a container yet wait on another. For wrong text,
//! the error says what was expected there.

use ptc_vm::{CELL_BYTES, Value};

use super::error::JsonError;
use super::names::ROOT;
use super::number::{BadNumber, Number, big, read_number};
use super::plan::{SKIPPED, WHOLE};
use super::read::{JsonReader, JsonSession};
use super::scan::plain_end;

/// An array or object whose end has not been read. Heaps have fewer than 2³² cells, and `Cursor::check` bounds the
/// stack of values likewise, so 32 bits are enough.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// Index of its first value.
    start: u32,
    /// Node of the key it is found under, through arrays.
    owner: u32,
    kind: Kind,
    /// Part of the plan that its members belong to; WHOLE for an array.
    part: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Array,
    /// An object at this node of the tree of keys.
    Shaped(u32),
    /// An object that repeats a key or has too many keys.
    Plain,
}

pub(super) struct Cursor<'c, 't, 'r, 'h> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) pos: usize,
    pub(super) session: &'c mut JsonSession<'r, 'h>,
}

impl<'c, 't, 'r, 'h> Cursor<'c, 't, 'r, 'h> {
    pub(super) fn new(text: &'t str, session: &'c mut JsonSession<'r, 'h>) -> Cursor<'c, 't, 'r, 'h> {
        Cursor { text, bytes: text.as_bytes(), pos: 0, session }
    }

    /// Reads the whole text as one value.
    pub(super) fn document(&mut self) -> Result<Value, JsonError> {
        // Texts that are read in full, which are most, do not pay for the plan.
        let value = match self.session.reader.plan.root() {
            WHOLE => self.value::<false>()?,
            _ => self.value::<true>()?,
        };
        self.peek_dark();
        if self.pos < self.bytes.len() { Err(self.expected("the end of the text")) } else { Ok(value) }
    }

    /// Returns the current byte; 0 at the end, which JSON allows nowhere outside strings.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.pos).copied().unwrap_or(0)
    }

    /// Returns the next byte that is not blank.
    #[inline]
    pub(super) fn peek_dark(&mut self) -> u8 {
        loop {
            match self.peek() {
                b' ' | b'\n' | b'\t' | b'\r' => self.pos += 1,
                byte => return byte,
            }
        }
    }

    /// Reads a value. `PLANNED` says that the reader's plan leaves out some of it.
    fn value<const PLANNED: bool>(&mut self) -> Result<Value, JsonError> {
        // The innermost open container; None at the top level.
        let mut open: Option<Frame> = None;
        // The part of the plan that the next value belongs to.
        let mut part = if PLANNED { self.session.reader.plan.root() } else { WHOLE };
        loop {
            let mut value = match self.peek_dark() {
                _ if PLANNED && part == SKIPPED => {
                    self.skip()?;
                    Value::Nil
                }
                b'"' => self.string()?,
                b'-' | b'0'..=b'9' => self.number()?,
                b'{' => {
                    self.pos += 1;
                    match self.peek_dark() {
                        b'}' => {
                            self.pos += 1;
                            self.session.heap.empty_map()
                        }
                        b'"' => {
                            let mut frame = self.open(open, Kind::Shaped(ROOT), part)?;
                            part = self.key::<PLANNED>(&mut frame)?;
                            open = Some(frame);
                            continue;
                        }
                        _ => return Err(self.expected("a key in double quotes or `}`")),
                    }
                }
                b'[' => {
                    self.pos += 1;
                    if self.peek_dark() == b']' {
                        self.pos += 1;
                        self.session.heap.empty_vec()
                    } else {
                        // Items are not told apart, so they are read in full.
                        part = WHOLE;
                        open = Some(self.open(open, Kind::Array, WHOLE)?);
                        continue;
                    }
                }
                b't' => self.word("true", Value::True)?,
                b'f' => self.word("false", Value::False)?,
                b'n' => self.word("null", Value::Nil)?,
                _ => return Err(self.expected("a value")),
            };
            // A value is complete: it may complete its container, and that one the next.
            loop {
                let Some(frame) = &mut open else { return Ok(value) };
                self.session.reader.values.push(value);
                if self.session.reader.values.len().is_multiple_of(1024) {
                    self.check()?;
                }
                match (self.peek_dark(), frame.kind) {
                    (b',', Kind::Array) => {
                        self.pos += 1;
                        part = WHOLE;
                        break;
                    }
                    (b',', _) => {
                        self.pos += 1;
                        if self.peek_dark() != b'"' {
                            return Err(self.expected("a key in double quotes"));
                        }
                        part = self.key::<PLANNED>(frame)?;
                        break;
                    }
                    (b']', Kind::Array) | (b'}', Kind::Shaped(_) | Kind::Plain) => {
                        self.pos += 1;
                        value = self.close(*frame)?;
                        open = self.session.reader.frames.pop();
                    }
                    (_, Kind::Array) => return Err(self.expected("`,` or `]`")),
                    (_, _) => return Err(self.expected("`,` or `}`")),
                }
            }
        }
    }

    /// Opens a new container inside `outer`, which is pushed on the stack.
    #[inline(always)]
    fn open(&mut self, outer: Option<Frame>, kind: Kind, part: u32) -> Result<Frame, JsonError> {
        let reader = &mut *self.session.reader;
        let start = reader.values.len() as u32;
        let Some(outer) = outer else { return Ok(Frame { start, owner: ROOT, kind, part }) };
        if reader.frames.len() + 1 >= self.session.options.max_depth {
            return Err(self.too_deep());
        }
        reader.frames.push(outer);
        let owner = match outer.kind {
            Kind::Shaped(node) => node,
            Kind::Array | Kind::Plain => outer.owner,
        };
        if reader.frames.len().is_multiple_of(1024) {
            self.check()?;
        }
        Ok(Frame { start, owner, kind, part })
    }

    /// Makes the error for a container that opened just before this place.
    #[cold]
    pub(super) fn too_deep(&self) -> JsonError {
        let message = format!("nested deeper than {} levels", self.session.options.max_depth);
        JsonError::syntax(self.text, self.pos - 1, message)
    }

    /// Makes the array or object from the values read since it was opened.
    #[inline(always)]
    fn close(&mut self, frame: Frame) -> Result<Value, JsonError> {
        let JsonSession { reader, heap, .. } = &mut *self.session;
        let JsonReader { names, values, spare, .. } = &mut **reader;
        let start = frame.start as usize;
        let items = &values[start..];
        let value = match frame.kind {
            Kind::Array => heap.new_vec(items)?,
            Kind::Plain => heap.new_map(items)?,
            Kind::Shaped(node) => match names.shape(heap, node, spare)? {
                Some(keys) => heap.new_record(keys, items)?,
                None => {
                    spare.clear();
                    names.keys_of(heap, node, spare)?;
                    let pairs: Vec<Value> = spare.iter().zip(items).flat_map(|(k, v)| [*k, *v]).collect();
                    heap.new_map(&pairs)?
                }
            },
        };
        values.truncate(start);
        self.check_size()?;
        Ok(value)
    }

    /// Reads a key and the colon after it, from the quote on; returns the part of the plan that its value belongs to.
    #[inline]
    fn key<const PLANNED: bool>(&mut self, frame: &mut Frame) -> Result<u32, JsonError> {
        self.pos += 1;
        if let Kind::Shaped(node) = frame.kind {
            let JsonReader { names, plan, .. } = &mut *self.session.reader;
            let rest = &self.bytes[self.pos..];
            let guess = if node == ROOT {
                names.guess_first(frame.owner, rest)
            } else {
                names.guess_next(node, rest)
            };
            if let Some((next, len)) = guess {
                self.pos += len + 1;
                frame.kind = Kind::Shaped(next);
                let is_whole = !PLANNED || frame.part == WHOLE;
                let part = if is_whole { WHOLE } else { names.part(plan, frame.part, next) };
                self.colon()?;
                return Ok(part);
            }
        }
        let part = self.new_key(frame)?;
        self.colon()?;
        Ok(part)
    }

    #[inline]
    pub(super) fn colon(&mut self) -> Result<(), JsonError> {
        if self.peek_dark() != b':' {
            return Err(self.expected("`:`"));
        }
        self.pos += 1;
        Ok(())
    }

    /// Reads a key that was not predicted.
    #[inline(never)]
    fn new_key(&mut self, frame: &mut Frame) -> Result<u32, JsonError> {
        let end = plain_end(self.bytes, self.pos);
        let plain = if self.bytes.get(end) == Some(&b'"') {
            let text = &self.text[self.pos..end];
            self.pos = end + 1;
            Some(text)
        } else {
            self.decode()?;
            None
        };
        let JsonSession { reader, heap, .. } = &mut *self.session;
        let JsonReader { names, values, buffer, spare, plan, .. } = &mut **reader;
        let text = plain.unwrap_or(buffer);
        let part = plan.member(frame.part, text);
        if let Kind::Shaped(node) = frame.kind {
            if let Some(next) = names.step(node, text) {
                if node == ROOT {
                    names.set_first(frame.owner, next);
                }
                frame.kind = Kind::Shaped(next);
                return Ok(part);
            }
            // From here on, this object keeps its keys between its values.
            spare.clear();
            names.keys_of(heap, node, spare)?;
            let start = frame.start as usize;
            let own: Vec<Value> = values.drain(start..).collect();
            values.extend(spare.iter().zip(own).flat_map(|(key, value)| [*key, value]));
            frame.kind = Kind::Plain;
        }
        // Far into a large object, keys are data and not worth remembering.
        let many = values.len() - frame.start as usize > 2048;
        let key = if many { names.new_key(heap, text)? } else { names.value(heap, text)? };
        values.push(key);
        Ok(part)
    }

    #[inline(always)]
    fn string(&mut self) -> Result<Value, JsonError> {
        self.pos += 1;
        let end = plain_end(self.bytes, self.pos);
        let value = if self.bytes.get(end) == Some(&b'"') {
            let text = &self.text[self.pos..end];
            self.pos = end + 1;
            self.session.heap.new_str(text)?
        } else {
            self.decode()?;
            self.session.heap.new_str(&self.session.reader.buffer)?
        };
        self.check_size()?;
        Ok(value)
    }

    /// Reads a string with escapes into the buffer.
    fn decode(&mut self) -> Result<(), JsonError> {
        self.session.reader.buffer.clear();
        loop {
            let end = plain_end(self.bytes, self.pos);
            self.session.reader.buffer.push_str(&self.text[self.pos..end]);
            self.pos = end;
            match self.bytes.get(end) {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    let decoded = self.escape()?;
                    self.session.reader.buffer.push(decoded);
                }
                other => return Err(self.unended(other.copied())),
            }
        }
    }

    /// Makes the error for a byte that cannot be in a string, or for the end of the text, at this place.
    #[cold]
    pub(super) fn unended(&self, byte: Option<u8>) -> JsonError {
        let Some(byte) = byte else { return self.expected("`\"` to end the string") };
        let message = format!("expected `\\u{byte:04x}` for a control character inside a string");
        JsonError::syntax(self.text, self.pos, message)
    }

    /// Reads one escape, or two that make one character, from the backslash on.
    pub(super) fn escape(&mut self) -> Result<char, JsonError> {
        self.pos += 1;
        let simple = match self.peek() {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode(),
            _ => return Err(self.expected("one of `\"\\/bfnrtu` after a backslash")),
        };
        self.pos += 1;
        Ok(simple)
    }

    /// Reads `uXXXX`, and the second half of a pair of surrogates after it.
    fn unicode(&mut self) -> Result<char, JsonError> {
        self.pos += 1;
        let unit = self.hex4()?;
        let mut code = unit;
        if (0xd800..0xdc00).contains(&unit) && self.bytes[self.pos..].starts_with(b"\\u") {
            let back = self.pos;
            self.pos += 2;
            let low = self.hex4()?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
            } else {
                // Not a pair; the second escape stands for itself.
                self.pos = back;
            }
        }
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = char::from(self.peek()).to_digit(16) else {
                return Err(self.expected("four hexadecimal digits after `\\u`"));
            };
            code = code * 16 + digit;
            self.pos += 1;
        }
        Ok(code)
    }

    #[inline(always)]
    fn number(&mut self) -> Result<Value, JsonError> {
        match read_number(self.text, self.pos) {
            Ok((Number::Int(n), end)) => {
                self.pos = end;
                Ok(Value::Int(n))
            }
            Ok((Number::Float(x), end)) => {
                self.pos = end;
                Ok(Value::float(x))
            }
            Ok((Number::Big(digits), end)) => self.big(digits, end),
            Err(BadNumber { offset, expected }) => {
                self.pos = offset;
                Err(self.expected(expected))
            }
        }
    }

    #[cold]
    fn big(&mut self, digits: &'t str, end: usize) -> Result<Value, JsonError> {
        self.check_digits(digits)?;
        self.pos = end;
        let integer = self.session.heap.new_integer(&big(digits))?;
        self.check_size()?;
        Ok(integer)
    }

    /// Checks the length of a big integer at this place.
    pub(super) fn check_digits(&self, digits: &str) -> Result<(), JsonError> {
        let max = self.session.options.max_digits;
        if digits.len() <= max {
            return Ok(());
        }
        let message = format!("an integer of {} digits, more than the {max} allowed", digits.len());
        Err(JsonError::syntax(self.text, self.pos, message))
    }

    pub(super) fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        if !self.bytes[self.pos..].starts_with(word.as_bytes()) {
            return Err(self.expected("a value"));
        }
        self.pos += word.len();
        Ok(value)
    }

    /// Checks the heap against the size limit of the options.
    #[inline]
    fn check_size(&self) -> Result<(), JsonError> {
        if self.session.heap.used() - self.session.start > self.session.options.limit_bytes {
            return Err(JsonError::too_large(self.session.options.limit_bytes));
        }
        Ok(())
    }

    /// Checks the heap and the values waiting for it against the limits; called as the stacks grow.
    #[cold]
    fn check(&self) -> Result<(), JsonError> {
        let JsonSession { reader, heap, options, start, .. } = &*self.session;
        // Every value becomes a cell of a container, and every container has a header.
        let cells = reader.values.len() + reader.frames.len();
        heap.room(cells, 0)?;
        let total = cells.saturating_mul(CELL_BYTES).saturating_add(heap.used() - start);
        if total > options.limit_bytes { Err(JsonError::too_large(options.limit_bytes)) } else { Ok(()) }
    }

    /// Makes the error "expected X, but found Y" at this place.
    #[cold]
    pub(super) fn expected(&self, what: &str) -> JsonError {
        let found = match self.text.get(self.pos..).and_then(|rest| rest.chars().next()) {
            None => "the text ends".to_string(),
            Some(c) if c.is_control() => format!("found U+{:04X}", u32::from(c)),
            Some(c) => format!("found `{c}`"),
        };
        JsonError::syntax(self.text, self.pos, format!("expected {what}, but {found}"))
    }
}
