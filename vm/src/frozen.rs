//! Data that outlives a run: granted input, tool results, session definitions.

use crate::fault::{Fault, StopKind};
use crate::heap::{Heap, Space};
use crate::value::{Value, is_firewalled};
use ptc_bytecode::{Code, Datum, Node};
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum bytes of data in which firewalled fields are veiled one by one; larger data is veiled as a whole.
const MAX_SEALED: usize = 1 << 30;

/// An immutable value that many runs on many threads may read at once without copying it.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// use ptc_vm::Frozen;
/// let rows = Datum::new(vec![Node::Int(1), Node::Int(2), Node::Vector(2)]).unwrap();
/// let frozen = Frozen::from_datum(&rows).unwrap();
/// assert_eq!(frozen.to_datum(1_000).unwrap(), rows);
/// ```
#[derive(Clone)]
pub struct Frozen {
    space: Arc<Space>,
    root: Value,
}

impl Frozen {
    /// Makes a frozen value; `root` must be a value of `space`.
    pub(crate) fn new(space: Arc<Space>, root: Value) -> Frozen {
        Frozen { space, root }
    }

    /// Freezes the value that `build` makes in a new heap.
    pub fn build<E: From<Fault>>(build: impl FnOnce(&mut Heap) -> Result<Value, E>) -> Result<Frozen, E> {
        let mut heap = Heap::unbounded();
        let root = build(&mut heap)?;
        Ok(Frozen { space: heap.into_space(), root })
    }

    /// Freezes owned data.
    pub fn from_datum(datum: &Datum) -> Result<Frozen, Fault> {
        Frozen::build(|heap| {
            heap.from_datum(datum).map_err(|stop| match stop.into_kind() {
                StopKind::Fault(fault) => fault,
                StopKind::Room { .. } => Fault::new(Code::MemoryExceeded, "the data is larger than 4 GiB"),
            })
        })
    }

    /// Applies the firewall: values under names that begin with `_` are veiled, and the whole if it has such a name
    /// itself. Data that cannot be taken apart is veiled as a whole.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// use ptc_vm::Frozen;
    /// let user = vec![Node::Str("_mail".into()), Node::Str("a@b.c".into()), Node::Map(1)];
    /// let user = Frozen::from_datum(&Datum::new(user).unwrap()).unwrap().firewalled(None);
    /// assert!(user.to_datum(1_000).unwrap().is_veiled(1));
    /// ```
    #[must_use]
    pub fn firewalled(&self, name: Option<&str>) -> Frozen {
        let is_open =
            matches!(self.root, Value::Vector(_) | Value::Map(_) | Value::Set(_)) && !self.space.is_sealed();
        let sealed = if is_open { self.sealed() } else { self.clone() };
        match name.is_some_and(is_firewalled) {
            true => sealed.veiled(),
            false => sealed,
        }
    }

    /// Returns a copy made behind the firewall.
    fn sealed(&self) -> Frozen {
        let Ok(datum) = self.to_datum(MAX_SEALED) else { return self.veiled() };
        // Functions would not survive the conversion to data.
        if datum.nodes().iter().any(|node| matches!(node, Node::Opaque(_))) {
            return self.veiled();
        }
        let made = Frozen::build(|heap| {
            heap.set_firewall(true);
            heap.from_datum(&datum)
                .map_err(|_| Fault::new(Code::MemoryExceeded, "the data is larger than 4 GiB"))
        });
        made.unwrap_or_else(|_| self.veiled())
    }

    /// Veils it as a whole.
    pub(crate) fn veiled(&self) -> Frozen {
        let mut heap = Heap::unbounded();
        heap.set_firewall(true);
        let mut modules = Vec::new();
        let id = heap.attach(self.space.clone(), &mut modules);
        // A few cells always fit.
        let root = heap.import(id, self.root);
        let root = heap.veil(root).unwrap_or(Value::Nil);
        Frozen { space: heap.into_space_with(&modules), root }
    }

    /// Converts to owned data, unless it is larger than `limit` bytes. Veiled parts are marked.
    pub fn to_datum(&self, limit: usize) -> Result<Datum, Fault> {
        self.read(|heap, value| heap.to_datum(value, limit))
    }

    /// Reads it through a temporary heap.
    pub fn read<T>(&self, read: impl FnOnce(&mut Heap, Value) -> T) -> T {
        let mut heap = Heap::with_limit(u64::MAX);
        let id = heap.attach(self.space.clone(), &mut Vec::new());
        let value = heap.import(id, self.root);
        read(&mut heap, value)
    }

    /// Returns the value of a field of a map, by the name of its keyword or string, without a copy.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// let map = Datum::new(vec![Node::Keyword("n".into()), Node::Int(7), Node::Map(1)]).unwrap();
    /// let map = ptc_vm::Frozen::from_datum(&map).unwrap();
    /// assert_eq!(map.field("n").unwrap().to_datum(100).unwrap(), Datum::scalar(Node::Int(7)));
    /// assert!(map.field("m").is_none());
    /// ```
    pub fn field(&self, name: &str) -> Option<Frozen> {
        let mut heap = Heap::unbounded();
        let mut modules = Vec::new();
        let id = heap.attach(self.space.clone(), &mut modules);
        let Value::Map(map) = heap.import(id, self.root) else { return None };
        let mut cursor = 0;
        while let Some((key, value, next)) = heap.map_next(map, cursor) {
            if let Value::Str(text) | Value::Keyword(text) = key
                && heap.str(text) == name
            {
                return Some(Frozen { space: heap.into_space_with(&modules), root: value });
            }
            cursor = next;
        }
        None
    }

    /// Returns the items of a vector, each a value of its own in the same memory; None for anything else.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// let rows = Datum::new(vec![Node::Int(1), Node::Str("two".into()), Node::Vector(2)]).unwrap();
    /// let rows = ptc_vm::Frozen::from_datum(&rows).unwrap().items().unwrap();
    /// assert_eq!(rows[1].to_datum(100).unwrap(), Datum::scalar(Node::Str("two".into())));
    /// ```
    pub fn items(&self) -> Option<Vec<Frozen>> {
        self.read(|heap, value| {
            let Value::Vector(items) = value else { return None };
            // The temporary heap has only this space and those it refers to.
            let id = heap.known_as(&self.space)?;
            let stored = |item| Frozen { space: self.space.clone(), root: heap.stored_in(id, item) };
            Some(heap.vec_items(items).into_iter().map(stored).collect())
        })
    }

    /// Returns the bytes of memory it counts for.
    pub fn bytes(&self) -> usize {
        self.space.bytes()
    }

    /// Returns the bytes of memory all of these count for together, with the data they refer to: shared data counts
    /// once.
    pub fn bytes_of_all<'a>(values: impl Iterator<Item = &'a Frozen>) -> usize {
        let mut todo: Vec<&Arc<Space>> = values.map(|value| &value.space).collect();
        let mut known = HashSet::new();
        let mut bytes = 0;
        while let Some(space) = todo.pop() {
            if known.insert(Arc::as_ptr(space)) {
                bytes += space.bytes();
                todo.extend(&space.deps);
            }
        }
        bytes
    }

    /// True if both are the same object, without comparing content.
    pub fn is_same(&self, other: &Frozen) -> bool {
        Arc::ptr_eq(&self.space, &other.space) && self.root.same(other.root)
    }

    pub(crate) fn space(&self) -> &Arc<Space> {
        &self.space
    }

    pub(crate) fn root(&self) -> Value {
        self.root
    }
}

impl std::fmt::Debug for Frozen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Frozen({} bytes)", self.bytes())
    }
}
