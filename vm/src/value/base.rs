//! The base space, which every heap has attached: the empty collections and the one-character ASCII strings. It is made
//! of plain cells, before there is a heap to make objects in.

use super::repr::{Ref, Two, Value};

/// Number of the base space in every heap.
pub(super) const BASE: u32 = 1;
pub(super) const EMPTY_TEXT: Ref = Ref::new(BASE, 0);
pub(super) const EMPTY_VECTOR: Ref = Ref::new(BASE, 129);
pub(super) const EMPTY_MAP: Ref = Ref::new(BASE, 130);
pub(super) const EMPTY_SET: Ref = Ref::new(BASE, 132);

/// Makes the cells of the base space, and its text.
pub(crate) fn base_objects() -> (Vec<Value>, String) {
    let text: String = (0u8..128).map(char::from).collect();
    let mut cells = vec![text_head("", 0)];
    cells.extend((0..128).map(|i| text_head(&text[i..i + 1], i)));
    cells.push(Value::FlatHead { len: 0 });
    cells.extend([Value::RecordHead { len: 0 }, Value::Nil]);
    cells.push(Value::FewHead { len: 0 });
    (cells, text)
}

/// Makes the head of a text that starts at `off` of its space.
pub(super) fn text_head(text: &str, off: usize) -> Value {
    // A carriage return may join with a line feed to one grapheme.
    let plain = text.bytes().fold(true, |plain, b| plain & b.is_ascii() & (b != b'\r'));
    // `Heap::room` keeps text below 2^32 bytes.
    text_head_of(plain, text.len(), off)
}

/// Makes the head of a text of `len` bytes; `plain` if each byte is one character.
pub(super) fn text_head_of(plain: bool, len: usize, off: usize) -> Value {
    let parts = Two::new(len as u32, off as u32);
    if plain { Value::PlainHead(parts) } else { Value::TextHead(parts) }
}
