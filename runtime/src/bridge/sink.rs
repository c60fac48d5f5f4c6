//! Sinks of serialised data: a heap, or an owned [`Datum`].

use num_bigint::BigInt;
use ptc_bytecode::{Datum, Node};
use ptc_vm::{Heap, Value};

use super::error::BridgeError;
use crate::json::names::{NOWHERE, Names, ROOT};

/// Receiver of serialised data, parts before the whole.
pub(super) trait Sink {
    /// Handle for a finished part.
    type Item: Copy;

    fn nil(&mut self) -> Self::Item;
    fn bool(&mut self, b: bool) -> Self::Item;
    fn int(&mut self, n: i64) -> Self::Item;
    fn big(&mut self, n: &BigInt) -> Result<Self::Item, BridgeError>;
    fn float(&mut self, x: f64) -> Self::Item;
    fn str(&mut self, text: &str) -> Result<Self::Item, BridgeError>;
    /// Adds a string that is a key and may repeat: the next one at this place.
    fn key(&mut self, at: &mut Place, text: &str) -> Result<Self::Item, BridgeError>;
    fn vector(&mut self, items: &[Self::Item]) -> Result<Self::Item, BridgeError>;
    /// Adds a map of keys and values in turn; the keys have led to this place.
    fn map(&mut self, at: Place, items: &[Self::Item]) -> Result<Self::Item, BridgeError>;
    /// Returns the parts that are not yet in a whole, the innermost last.
    fn parts(&mut self) -> &mut Vec<Self::Item>;
}

/// Position in the tree of keys that [`Names`] holds: the keys of a map seen so far, and the key it is under.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) owner: u32,
    pub(super) node: u32,
}

impl Place {
    /// Returns the place before the first key of a map under the key of `owner`.
    pub(super) fn below(owner: u32) -> Place {
        Place { owner, node: ROOT }
    }

    /// Returns the place for a key that belongs to no record.
    pub(super) fn nowhere() -> Place {
        Place { owner: ROOT, node: NOWHERE }
    }

    /// Returns the owner for data under the key seen last.
    pub(super) fn inside(self) -> u32 {
        if self.node == NOWHERE { self.owner } else { self.node }
    }
}

/// Sink that builds values in a heap. Keys are made once, and maps with equal keys share them.
pub(super) struct HeapSink<'h> {
    pub(super) heap: &'h mut Heap,
    pub(super) names: &'h mut Names,
    pub(super) parts: &'h mut Vec<Value>,
    pub(super) spare: &'h mut Vec<Value>,
}

impl Sink for HeapSink<'_> {
    type Item = Value;

    fn nil(&mut self) -> Value {
        Value::Nil
    }

    fn bool(&mut self, b: bool) -> Value {
        Value::bool(b)
    }

    fn int(&mut self, n: i64) -> Value {
        Value::Int(n)
    }

    fn big(&mut self, n: &BigInt) -> Result<Value, BridgeError> {
        Ok(self.heap.new_integer(n)?)
    }

    fn float(&mut self, x: f64) -> Value {
        Value::float(x)
    }

    fn str(&mut self, text: &str) -> Result<Value, BridgeError> {
        Ok(self.heap.new_str(text)?)
    }

    fn key(&mut self, at: &mut Place, text: &str) -> Result<Value, BridgeError> {
        let (key, node) = self.names.next_key(self.heap, at.owner, at.node, text)?;
        at.node = node;
        Ok(key)
    }

    fn vector(&mut self, items: &[Value]) -> Result<Value, BridgeError> {
        Ok(self.heap.new_vec(items)?)
    }

    fn map(&mut self, at: Place, items: &[Value]) -> Result<Value, BridgeError> {
        let shaped = !items.is_empty() && self.names.len_of(at.node) * 2 == items.len();
        let shape = if shaped { self.names.shape(self.heap, at.node, self.spare)? } else { None };
        let Some(shape) = shape else { return Ok(self.heap.new_map(items)?) };
        self.spare.clear();
        self.spare.extend(items.iter().skip(1).step_by(2));
        Ok(self.heap.new_record(shape, self.spare)?)
    }

    fn parts(&mut self) -> &mut Vec<Value> {
        self.parts
    }
}

/// Sink that builds owned data. Items are already in the list of nodes, so they need no handle.
#[derive(Default)]
pub(super) struct DatumSink {
    nodes: Vec<Node>,
    parts: Vec<()>,
}

impl DatumSink {
    pub(super) fn finish(self) -> Result<Datum, BridgeError> {
        Datum::new(self.nodes).ok_or_else(|| BridgeError::new("a `Serialize` gave no value, or several"))
    }

    fn count(n: usize) -> Result<u32, BridgeError> {
        u32::try_from(n).map_err(|_| BridgeError::new("a collection of 2³² items or more"))
    }
}

impl Sink for DatumSink {
    type Item = ();

    fn nil(&mut self) {
        self.nodes.push(Node::Nil);
    }

    fn bool(&mut self, b: bool) {
        self.nodes.push(Node::Bool(b));
    }

    fn int(&mut self, n: i64) {
        self.nodes.push(Node::Int(n));
    }

    fn big(&mut self, n: &BigInt) -> Result<(), BridgeError> {
        let node = i64::try_from(n).map_or_else(|_| Node::Big(n.to_string().into()), Node::Int);
        self.nodes.push(node);
        Ok(())
    }

    fn float(&mut self, x: f64) {
        self.nodes.push(Node::Float(x));
    }

    fn str(&mut self, text: &str) -> Result<(), BridgeError> {
        self.nodes.push(Node::Str(text.into()));
        Ok(())
    }

    fn key(&mut self, _: &mut Place, text: &str) -> Result<(), BridgeError> {
        self.str(text)
    }

    fn vector(&mut self, items: &[()]) -> Result<(), BridgeError> {
        self.nodes.push(Node::Vector(DatumSink::count(items.len())?));
        Ok(())
    }

    fn map(&mut self, _: Place, items: &[()]) -> Result<(), BridgeError> {
        self.nodes.push(Node::Map(DatumSink::count(items.len() / 2)?));
        Ok(())
    }

    fn parts(&mut self) -> &mut Vec<()> {
        &mut self.parts
    }
}
