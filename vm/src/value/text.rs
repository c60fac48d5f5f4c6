//! Text.
use crate::fault::Stop;
use crate::heap::{Heap, Space};
use crate::value::{Ref, Value};
pub(crate) fn base_space() -> Space {
    todo!()
}
/// What a piece of text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum TextKind {
    Str,
    Keyword,
    Symbol,
    Var,
    Tool,
    Regex,
}
/// Builds text directly at the end of the arena; dropped unfinished it leaves nothing.
pub struct TextWriter<'h> {
    heap: &'h mut Heap,
    start: usize,
}
impl TextWriter<'_> {
    /// Appends text.
    pub fn push_str(&mut self, _text: &str) -> Result<(), Stop> {
        todo!()
    }
    /// Appends the text of an object of the same heap.
    pub fn push_text(&mut self, _r: Ref) -> Result<(), Stop> {
        todo!()
    }
    /// The text as a value.
    pub fn finish(self, _kind: TextKind) -> Result<Value, Stop> {
        let _ = (&self.heap, self.start);
        todo!()
    }
}
impl Heap {
    /// The text of a string, keyword, symbol, var, tool or regex.
    pub fn str(&self, _r: Ref) -> &str {
        todo!()
    }
    /// Whether each byte is one grapheme (ASCII without carriage returns).
    pub fn text_is_plain(&self, _r: Ref) -> bool {
        todo!()
    }
    /// Graphemes in the text.
    pub fn text_len(&self, _r: Ref) -> usize {
        todo!()
    }
    /// A string.
    pub fn new_str(&mut self, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// A keyword, without its colon.
    pub fn new_keyword(&mut self, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// A symbol.
    pub fn new_symbol(&mut self, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// A var, by name.
    pub fn new_var(&mut self, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// A tool, by name.
    pub fn new_tool(&mut self, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// A regex, by source.
    pub fn new_regex(&mut self, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// Text of any kind.
    pub fn new_text(&mut self, _kind: TextKind, _text: &str) -> Result<Value, Stop> {
        todo!()
    }
    /// The same text as another kind, e.g. a keyword from a string.
    pub fn retext(&mut self, _r: Ref, _kind: TextKind) -> Result<Value, Stop> {
        todo!()
    }
    /// A writer at the end of the arena.
    pub fn text_writer(&mut self) -> TextWriter<'_> {
        todo!()
    }
}
