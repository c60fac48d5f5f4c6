//! Where serialised data goes: into a heap, or into an owned [`Datum`].

use std::collections::HashMap;

use num_bigint::BigInt;
use ptc_bytecode::{Datum, Node};
use ptc_vm::{Heap, Ref, Value};

use super::error::BridgeError;

/// Takes data, parts before the whole.
pub(super) trait Sink {
    /// What stands for a finished part.
    type Item: Copy;

    fn nil(&mut self) -> Self::Item;
    fn bool(&mut self, b: bool) -> Self::Item;
    fn int(&mut self, n: i64) -> Self::Item;
    fn big(&mut self, n: &BigInt) -> Result<Self::Item, BridgeError>;
    fn float(&mut self, x: f64) -> Self::Item;
    fn str(&mut self, text: &str) -> Result<Self::Item, BridgeError>;
    /// A string that is a key and may come again.
    fn key(&mut self, text: &str) -> Result<Self::Item, BridgeError>;
    fn vector(&mut self, items: &[Self::Item]) -> Result<Self::Item, BridgeError>;
    /// Keys and values in turn.
    fn map(&mut self, items: &[Self::Item]) -> Result<Self::Item, BridgeError>;
}

/// Most keys a record may have (see `Heap::new_keys`).
const RECORD_KEYS: usize = 16;
// How many names and shapes are looked for again.
const MAX_NAMES: usize = 4096;
const MAX_SHAPES: usize = 32;

/// Builds values. Keys are made once, and maps of the same keys share them.
pub(super) struct HeapSink<'h> {
    heap: &'h mut Heap,
    names: HashMap<Box<str>, Value>,
    shapes: Vec<(Vec<Value>, Ref)>,
    spare: Vec<Value>,
}

impl<'h> HeapSink<'h> {
    pub(super) fn new(heap: &'h mut Heap) -> HeapSink<'h> {
        HeapSink { heap, names: HashMap::new(), shapes: Vec::new(), spare: Vec::new() }
    }

    /// The keys object of a small map, if it is or may be shared.
    fn shape(&mut self, items: &[Value]) -> Result<Option<Ref>, BridgeError> {
        let n = items.len() / 2;
        if n == 0 || n > RECORD_KEYS {
            return Ok(None);
        }
        let keys = || items.iter().step_by(2);
        let same = |known: &[Value]| known.len() == n && known.iter().zip(keys()).all(|(a, b)| a.same(*b));
        // The last one first: rows of a table follow each other.
        if let Some((_, shape)) = self.shapes.iter().rev().find(|(known, _)| same(known)) {
            return Ok(Some(*shape));
        }
        let own: Vec<Value> = keys().copied().collect();
        let repeats = (1..n).any(|i| own[..i].iter().any(|known| self.heap.exact(*known, own[i])));
        if repeats || self.shapes.len() >= MAX_SHAPES {
            return Ok(None);
        }
        let shape = self.heap.new_keys(&own)?;
        self.shapes.push((own, shape));
        Ok(Some(shape))
    }
}

impl Sink for HeapSink<'_> {
    type Item = Value;

    fn nil(&mut self) -> Value {
        Value::Nil
    }

    fn bool(&mut self, b: bool) -> Value {
        Value::Bool(b)
    }

    fn int(&mut self, n: i64) -> Value {
        Value::Int(n)
    }

    fn big(&mut self, n: &BigInt) -> Result<Value, BridgeError> {
        Ok(self.heap.new_integer(n)?)
    }

    fn float(&mut self, x: f64) -> Value {
        Value::Float(x)
    }

    fn str(&mut self, text: &str) -> Result<Value, BridgeError> {
        Ok(self.heap.new_str(text)?)
    }

    fn key(&mut self, text: &str) -> Result<Value, BridgeError> {
        if let Some(known) = self.names.get(text) {
            return Ok(*known);
        }
        let value = self.heap.new_str(text)?;
        if self.names.len() < MAX_NAMES {
            self.names.insert(text.into(), value);
        }
        Ok(value)
    }

    fn vector(&mut self, items: &[Value]) -> Result<Value, BridgeError> {
        Ok(self.heap.new_vec(items)?)
    }

    fn map(&mut self, items: &[Value]) -> Result<Value, BridgeError> {
        let Some(shape) = self.shape(items)? else { return Ok(self.heap.new_map(items)?) };
        self.spare.clear();
        self.spare.extend(items.iter().skip(1).step_by(2));
        Ok(self.heap.new_record(shape, &self.spare)?)
    }
}

/// Builds owned data. Items are in the list of nodes already, so nothing stands for them.
#[derive(Default)]
pub(super) struct DatumSink {
    nodes: Vec<Node>,
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

    fn key(&mut self, text: &str) -> Result<(), BridgeError> {
        self.str(text)
    }

    fn vector(&mut self, items: &[()]) -> Result<(), BridgeError> {
        self.nodes.push(Node::Vector(DatumSink::count(items.len())?));
        Ok(())
    }

    fn map(&mut self, items: &[()]) -> Result<(), BridgeError> {
        self.nodes.push(Node::Map(DatumSink::count(items.len() / 2)?));
        Ok(())
    }
}
