//! Text: strings, keywords, symbols, vars, tools and regexes are one head cell each, and a piece of the space's one
//! `String`, so that reading gives a `&str` without checking UTF-8 again.

use unicode_segmentation::UnicodeSegmentation;

use super::base::{BASE, EMPTY_MAP, EMPTY_SET, EMPTY_TEXT, EMPTY_VECTOR, text_head, text_head_of};
use crate::fault::Stop;
use crate::heap::{Heap, LONG_TEXT, STEP_BYTES};
use crate::value::{Ref, Value};

/// The kind of a piece of text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextKind {
    /// A string.
    Str,
    /// A keyword, without its colon.
    Keyword,
    /// A symbol.
    Symbol,
    /// A var, by name.
    Var,
    /// A tool, by name.
    Tool,
    /// A regex, by source.
    Regex,
}

impl TextKind {
    #[inline]
    fn value(self, r: Ref) -> Value {
        match self {
            TextKind::Str => Value::Str(r),
            TextKind::Keyword => Value::Keyword(r),
            TextKind::Symbol => Value::Symbol(r),
            TextKind::Var => Value::Var(r),
            TextKind::Tool => Value::Tool(r),
            TextKind::Regex => Value::Regex(r),
        }
    }
}

/// Steps per byte of a text in which characters are searched: a character may be any number of code points.
pub const CHAR_STEPS: usize = 6;

/// Steps per byte of a text known to have one character per byte.
const PLAIN_CHAR_STEPS: usize = 2;

/// Returns the steps for comparing so many bytes of text, if they are more than the instruction pays for.
#[inline(always)]
pub(crate) fn comparing_steps(bytes: usize) -> Option<usize> {
    (bytes > LONG_TEXT).then_some(bytes / STEP_BYTES)
}

/// Makes the head of a text that was moved.
pub(crate) fn moved_text(head: Value, off: usize) -> Value {
    match head {
        Value::TextHead(parts) => text_head_of(false, parts.get().0 as usize, off),
        Value::PlainHead(parts) => text_head_of(true, parts.get().0 as usize, off),
        other => other,
    }
}

/// Writer of text directly at the end of the arena. Dropped unfinished it leaves nothing behind.
pub struct TextWriter<'h> {
    heap: &'h mut Heap,
    start: usize,
}

impl TextWriter<'_> {
    /// Requests room for `more` bytes, including all written so far, since a retry starts over.
    fn room(&self, more: usize) -> Result<(), Stop> {
        match self.heap.room(1, more) {
            Ok(()) => Ok(()),
            Err(_) => Err(Stop::room(1, self.len().saturating_add(more))),
        }
    }

    /// Returns the bytes written so far.
    pub fn len(&self) -> usize {
        self.heap.own.text.len() - self.start
    }

    /// True if nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends text.
    #[inline]
    pub fn push_str(&mut self, text: &str) -> Result<(), Stop> {
        self.room(text.len())?;
        self.heap.own.text.push_str(text);
        Ok(())
    }

    /// Appends the text of an object of the same heap.
    pub fn push_text(&mut self, r: Ref) -> Result<(), Stop> {
        let (_, len, off) = self.heap.text_head(r);
        self.room(len)?;
        self.heap.append_text(r.space(), off, len);
        Ok(())
    }

    /// Returns the text as a value.
    pub fn finish(self, kind: TextKind) -> Result<Value, Stop> {
        self.room(0)?;
        let text = &self.heap.own.text[self.start..];
        if kind == TextKind::Str
            && let Some(short) = short_text(text)
        {
            return Ok(short);
        }
        let head = text_head(text, self.start);
        let r = self.heap.push_head(head);
        // Nothing is left for `drop` to undo.
        let mut writer = self;
        writer.start = writer.heap.own.text.len();
        Ok(kind.value(r))
    }
}

impl Drop for TextWriter<'_> {
    fn drop(&mut self) {
        self.heap.own.text.truncate(self.start);
    }
}

/// Returns the empty string or a one-character ASCII string from the base space.
#[inline]
fn short_text(text: &str) -> Option<Value> {
    match text.as_bytes() {
        [] => Some(Value::Str(EMPTY_TEXT)),
        [byte] => Some(Value::Str(Ref::new(BASE, 1 + u32::from(*byte)))),
        _ => None,
    }
}

impl Heap {
    /// Returns the empty vector.
    pub fn empty_vec(&self) -> Value {
        Value::Vector(EMPTY_VECTOR)
    }

    /// Returns the empty map.
    pub fn empty_map(&self) -> Value {
        Value::Map(EMPTY_MAP)
    }

    /// Returns the empty set.
    pub fn empty_set(&self) -> Value {
        Value::Set(EMPTY_SET)
    }

    /// Returns whether a text is plain, its length and its offset.
    #[inline]
    pub(crate) fn text_head(&self, r: Ref) -> (bool, usize, usize) {
        match self.head(r) {
            Value::TextHead(parts) => (false, parts.get().0 as usize, parts.get().1 as usize),
            Value::PlainHead(parts) => (true, parts.get().0 as usize, parts.get().1 as usize),
            _ => (true, 0, 0), // heads are trusted
        }
    }

    /// Returns the bytes of a text, whose bounds were checked when it was made.
    #[inline]
    pub(crate) fn text_bytes(&self, r: Ref) -> &[u8] {
        let space = self.space(r.space());
        match space.cells[r.at() as usize] {
            Value::TextHead(parts) | Value::PlainHead(parts) => {
                let (len, off) = (parts.get().0 as usize, parts.get().1 as usize);
                &space.text.as_bytes()[off..off + len]
            }
            _ => &[],
        }
    }

    /// True if a text equals `text`.
    #[inline]
    pub(crate) fn text_is(&self, r: Ref, text: &str) -> bool {
        self.text_bytes(r) == text.as_bytes()
    }

    /// Returns the text of a string, keyword, symbol, var, tool or regex.
    #[inline]
    pub fn str(&self, r: Ref) -> &str {
        let space = self.space(r.space());
        match space.cells[r.at() as usize] {
            Value::TextHead(parts) | Value::PlainHead(parts) => {
                let (len, off) = (parts.get().0 as usize, parts.get().1 as usize);
                &space.text[off..off + len]
            }
            _ => "",
        }
    }

    /// Returns the text if `v` is a string.
    #[inline]
    pub fn as_str(&self, v: Value) -> Option<&str> {
        match v {
            Value::Str(r) => Some(self.str(r)),
            _ => None,
        }
    }

    /// True if each byte is known to be one grapheme: ASCII without carriage returns.
    #[inline]
    pub fn text_is_ascii(&self, r: Ref) -> bool {
        self.text_head(r).0
    }

    /// Returns the number of graphemes in the text.
    pub fn text_len(&self, r: Ref) -> usize {
        let (plain, len, _) = self.text_head(r);
        if plain {
            return len;
        }
        self.charge(len * CHAR_STEPS);
        self.str(r).graphemes(true).count()
    }

    /// True if two texts have the same characters.
    #[inline]
    pub(crate) fn same_text(&self, a: Ref, b: Ref) -> bool {
        if a == b {
            return true;
        }
        let (x, y) = (self.text_bytes(a), self.text_bytes(b));
        if x.len() != y.len() {
            return false;
        }
        if let Some(steps) = comparing_steps(x.len()) {
            self.owe(steps);
        }
        x == y
    }

    /// Returns the bytes of a text.
    #[inline]
    pub fn text_bytes_len(&self, r: Ref) -> usize {
        self.text_head(r).1
    }

    /// True if comparing a text has a price of its own.
    #[inline]
    pub(crate) fn is_long(&self, r: Ref) -> bool {
        self.text_head(r).1 > LONG_TEXT
    }

    /// Returns the steps for testing two texts for equality, if they are long. Different lengths are decided at
    /// once; a shared object makes it no cheaper.
    #[inline]
    pub(crate) fn equality_price(&self, a: Ref, b: Ref) -> Option<usize> {
        let len = self.text_head(a).1;
        comparing_steps(len).filter(|_| len == self.text_head(b).1)
    }

    /// Charges for ordering two texts, if they are long: by their lengths, whether or not they are the same object.
    #[inline]
    pub(crate) fn charge_texts(&self, a: Ref, b: Ref) {
        if let Some(steps) = comparing_steps(self.text_head(a).1.min(self.text_head(b).1)) {
            self.charge(steps);
        }
    }

    /// Makes a string.
    pub fn new_str(&mut self, text: &str) -> Result<Value, Stop> {
        match short_text(text) {
            Some(short) => Ok(short),
            None => self.new_text(TextKind::Str, text),
        }
    }

    /// Makes a keyword, without its colon.
    pub fn new_keyword(&mut self, text: &str) -> Result<Value, Stop> {
        self.new_text(TextKind::Keyword, text)
    }

    /// Makes a symbol.
    pub(crate) fn new_symbol(&mut self, text: &str) -> Result<Value, Stop> {
        self.new_text(TextKind::Symbol, text)
    }

    /// Makes a var, by name.
    pub fn new_var(&mut self, text: &str) -> Result<Value, Stop> {
        self.new_text(TextKind::Var, text)
    }

    /// Makes a tool, by name.
    pub fn new_tool(&mut self, text: &str) -> Result<Value, Stop> {
        self.new_text(TextKind::Tool, text)
    }

    /// Makes a regex, by source.
    pub fn new_regex(&mut self, text: &str) -> Result<Value, Stop> {
        self.new_text(TextKind::Regex, text)
    }

    /// Makes text of any kind.
    pub(crate) fn new_text(&mut self, kind: TextKind, text: &str) -> Result<Value, Stop> {
        self.room(1, text.len())?;
        let off = self.own.text.len();
        self.own.text.push_str(text);
        let r = self.push_head(text_head(text, off));
        Ok(kind.value(r))
    }

    /// Makes text of another kind, e.g. a keyword from a string.
    pub fn retext(&mut self, r: Ref, kind: TextKind) -> Result<Value, Stop> {
        let (plain, len, from) = self.text_head(r);
        self.room(1, len)?;
        let off = self.own.text.len();
        // Copied, since text shared by two heads would take twice the room after a collection.
        self.append_text(r.space(), from, len);
        Ok(kind.value(self.push_head(text_head_of(plain, len, off))))
    }

    /// Makes a string of bytes `from..to` of a text; both must be character boundaries.
    pub fn new_substr(&mut self, r: Ref, from: usize, to: usize) -> Result<Value, Stop> {
        let (plain, _, off) = self.text_head(r);
        let Some(text) = self.str(r).get(from..to) else { return Ok(Value::Str(EMPTY_TEXT)) };
        if let Some(short) = short_text(text) {
            return Ok(short);
        }
        self.room(1, to - from)?;
        // A part of a plain text is plain.
        let to_off = self.own.text.len();
        let head = if plain { text_head_of(true, text.len(), to_off) } else { text_head(text, to_off) };
        self.append_text(r.space(), off + from, to - from);
        Ok(Value::Str(self.push_head(head)))
    }

    /// Makes a vector of strings from parts of a text: bytes `from..to`, in order and disjoint. Their text is
    /// copied in one piece, with the bytes between them.
    pub fn new_parts(&mut self, r: Ref, parts: &[(usize, usize)]) -> Result<Value, Stop> {
        let (Some((start, _)), Some((_, end))) = (parts.first(), parts.last()) else {
            return Ok(self.empty_vec());
        };
        let (plain, len, off) = self.text_head(r);
        self.room(1 + parts.len() * 2, len)?;
        let base = self.own.text.len();
        self.append_text(r.space(), off + start, end - start);
        self.own.cells.reserve(1 + parts.len() * 2);
        let items = self.push_head(Value::FlatHead { len: parts.len() as u64 });
        let first = self.own.cells.len();
        self.own.cells.resize(first + parts.len(), Value::Nil);
        for (i, (from, to)) in parts.iter().enumerate() {
            let at = base + from - start;
            let part = match to - from {
                0 | 1 => short_text(&self.own.text[at..at + to - from]),
                _ => None,
            };
            let part = part.unwrap_or_else(|| {
                // A part of a plain text is plain.
                let head = match plain {
                    true => text_head_of(true, to - from, at),
                    false => text_head(&self.own.text[at..at + to - from], at),
                };
                Value::Str(self.push_head(head))
            });
            self.own.cells[first + i] = part;
        }
        Ok(Value::Vector(items))
    }

    /// Returns a writer at the end of the arena.
    pub fn text_writer(&mut self) -> TextWriter<'_> {
        let start = self.own.text.len();
        TextWriter { heap: self, start }
    }

    fn append_text(&mut self, space: u32, off: usize, len: usize) {
        if space == 0 {
            self.own.text.extend_from_within(off..off + len);
        } else {
            self.own.text.push_str(&self.attached[space as usize - 1].space.text[off..off + len]);
        }
    }

    /// Returns a string's graphemes as strings.
    pub(crate) fn graphemes(&mut self, r: Ref) -> Result<Value, Stop> {
        let (plain, len, off) = self.text_head(r);
        self.charge(len * if plain { PLAIN_CHAR_STEPS } else { CHAR_STEPS });
        self.look()?;
        if plain {
            self.room(1 + len, 0)?;
            let at = self.push_head(Value::FlatHead { len: len as u64 });
            for i in 0..len {
                let byte = self.space(r.space()).text.as_bytes()[off + i];
                self.own.cells.push(Value::Str(Ref::new(BASE, 1 + u32::from(byte))));
            }
            return Ok(Value::Vector(at));
        }
        // One string each: a head and a cell, and all the text once more.
        let sizes: Vec<u32> = self.str(r).graphemes(true).map(|g| g.len() as u32).collect();
        self.room(1 + 2 * sizes.len(), len)?;
        let mut items = Vec::with_capacity(sizes.len());
        let mut from = 0;
        for size in sizes {
            items.push(self.new_substr(r, from, from + size as usize)?);
            from += size as usize;
        }
        self.new_vec(&items)
    }

    /// Returns grapheme `i` of a string.
    pub(crate) fn grapheme(&mut self, r: Ref, i: usize) -> Result<Option<Value>, Stop> {
        let (plain, len, off) = self.text_head(r);
        if plain {
            let byte = (i < len).then(|| self.space(r.space()).text.as_bytes()[off + i]);
            return Ok(byte.map(|byte| Value::Str(Ref::new(BASE, 1 + u32::from(byte)))));
        }
        // By its length and not by the position: so the price does not depend on how far the walk goes.
        self.charge(len * CHAR_STEPS);
        self.look()?;
        let found = self.str(r).grapheme_indices(true).nth(i).map(|(at, g)| (at, at + g.len()));
        found.map(|(from, to)| self.new_substr(r, from, to)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(heap: &Heap, v: Value) -> &str {
        heap.str(v.reference().unwrap())
    }

    #[test]
    fn text_is_kept() {
        let mut heap = Heap::unbounded();
        for s in ["", "a", "hello", "naïve", "e\u{301}x", "a\r\nb"] {
            let v = heap.new_str(s).unwrap();
            assert_eq!(text(&heap, v), s);
            let k = heap.new_keyword(s).unwrap();
            assert_eq!(text(&heap, k), s);
            let Value::Str(r) = v else { panic!() };
            assert_eq!(heap.text_len(r), s.graphemes(true).count());
            let Value::Vector(parts) = heap.graphemes(r).unwrap() else { panic!() };
            let joined: String = (0..heap.vec_len(parts))
                .map(|i| text(&heap, heap.vec_get(parts, i).unwrap()).to_owned())
                .collect();
            assert_eq!(joined, s);
            for (i, g) in s.graphemes(true).enumerate() {
                let v = heap.grapheme(r, i).unwrap().unwrap();
                assert_eq!(text(&heap, v), g);
            }
        }
    }

    #[test]
    fn a_writer_builds_in_place_and_can_be_dropped() {
        let mut heap = Heap::unbounded();
        let Value::Str(ab) = heap.new_str("ab").unwrap() else { panic!() };
        let Value::Str(x) = heap.new_str("x").unwrap() else { panic!() };
        let mut writer = heap.text_writer();
        writer.push_text(ab).unwrap();
        writer.push_str("-").unwrap();
        writer.push_text(x).unwrap();
        let v = writer.finish(TextKind::Str).unwrap();
        assert_eq!(text(&heap, v), "ab-x");
        let used = heap.used();
        heap.text_writer().push_str("gone").unwrap();
        assert_eq!(heap.used(), used);
        let mut writer = heap.text_writer();
        writer.push_str("y").unwrap();
        let v = writer.finish(TextKind::Str).unwrap();
        assert_eq!((text(&heap, v), heap.used()), ("y", used));
    }

    #[test]
    fn a_writer_asks_for_all_of_its_text() {
        let mut heap = Heap::with_limit(100);
        let mut writer = heap.text_writer();
        writer.push_str(&"a".repeat(60)).unwrap();
        let stop = writer.push_str(&"b".repeat(60)).unwrap_err();
        assert!(matches!(stop.into_kind(), crate::fault::StopKind::Room { cells: 1, text: 120 }));
    }
}
