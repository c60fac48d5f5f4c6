//! Outline of a frozen value: its outermost parts, read without the rest, for previews.

use crate::frozen::Frozen;
use crate::heap::Heap;
use crate::value::Value;
use ptc_bytecode::Datum;
use std::ops::ControlFlow;

/// The kind and the beginning of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    /// Kind: `null`, `boolean`, `integer`, `number`, `string`, `array`, `object`, or `any` for values JSON does not
    /// have.
    pub kind: &'static str,
    /// Number of items or entries.
    pub len: usize,
    /// First fields of a map and the kinds of their values; only names, other keys are left out.
    pub fields: Vec<(String, &'static str)>,
    /// First items of a list.
    pub items: Vec<Outline>,
}

impl Frozen {
    /// Makes an outline with at most `items` items, and at most `fields` fields of the value and of each item. Its
    /// cost does not depend on the size of the value.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// let row = vec![Node::Str("id".into()), Node::Int(7), Node::Map(1)];
    /// let rows = Datum::new([row.clone(), row, vec![Node::Vector(2)]].concat()).unwrap();
    /// let outline = ptc_vm::Frozen::from_datum(&rows).unwrap().outline(1, 20);
    /// assert_eq!((outline.kind, outline.len, outline.items.len()), ("array", 2, 1));
    /// assert_eq!(outline.items[0].fields, [("id".to_string(), "integer")]);
    /// ```
    pub fn outline(&self, items: usize, fields: usize) -> Outline {
        self.read(|heap, value| {
            let mut outline = outline_of(heap, value, fields);
            if outline.kind == "array" {
                let first = (0..items).map_while(|i| heap.seq_get(value, i));
                outline.items = first.map(|item| outline_of(heap, item, fields)).collect();
            }
            outline
        })
    }

    /// Returns the first items of a list as owned data, None for each that is larger than `bytes`; None for
    /// anything but a list.
    pub fn first_items(&self, count: usize, bytes: usize) -> Option<Vec<Option<Datum>>> {
        self.read(|heap, value| {
            if kind(value) != "array" {
                return None;
            }
            let items: Vec<Value> = (0..count).map_while(|i| heap.seq_get(value, i)).collect();
            Some(items.into_iter().map(|item| heap.to_datum(item, bytes).ok()).collect())
        })
    }
}

impl Frozen {
    /// Calls `each` with the items of a list as owned data, one after the other, until it breaks: at most one item
    /// is copied at a time. False for anything but a list.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// use std::ops::ControlFlow;
    /// let rows = Datum::new(vec![Node::Int(3), Node::Int(4), Node::Vector(2)]).unwrap();
    /// let mut seen = Vec::new();
    /// let is_list = ptc_vm::Frozen::from_datum(&rows).unwrap().each_item(|i, item| {
    ///     seen.push((i, item.nodes().to_vec()));
    ///     ControlFlow::Continue(())
    /// });
    /// assert!(is_list && seen == [(0, vec![Node::Int(3)]), (1, vec![Node::Int(4)])]);
    /// ```
    pub fn each_item(&self, mut each: impl FnMut(usize, Datum) -> ControlFlow<()>) -> bool {
        self.read(|heap, value| {
            if !matches!(value, Value::Vector(_) | Value::Range(_)) {
                return false;
            }
            for i in 0..heap.seq_len(value) {
                let item = heap.seq_get(value, i).and_then(|item| heap.to_datum(item, usize::MAX).ok());
                if item.is_none_or(|item| each(i, item).is_break()) {
                    break;
                }
            }
            true
        })
    }
}

fn outline_of(heap: &Heap, value: Value, most: usize) -> Outline {
    let mut fields = Vec::new();
    let mut len = 0;
    match value {
        Value::Map(map) => {
            len = heap.map_len(map);
            let mut cursor = 0;
            while fields.len() < most
                && let Some((key, value, next)) = heap.map_next(map, cursor)
            {
                if let Value::Str(name) | Value::Keyword(name) = key {
                    fields.push((heap.str(name).to_string(), kind(value)));
                }
                cursor = next;
            }
        }
        Value::Vector(_) | Value::Range(_) => len = heap.seq_len(value),
        Value::Set(set) => len = heap.set_len(set),
        _ => {}
    }
    Outline { kind: kind(value), len, fields, items: Vec::new() }
}

fn kind(value: Value) -> &'static str {
    match value {
        Value::Nil => "null",
        Value::True | Value::False => "boolean",
        Value::Int(_) | Value::Big(_) => "integer",
        Value::Float(_) => "number",
        Value::Str(_) | Value::Keyword(_) | Value::Day(_) | Value::Instant(_) => "string",
        Value::Vector(_) | Value::Range(_) | Value::Set(_) => "array",
        Value::Map(_) => "object",
        _ => "any",
    }
}
