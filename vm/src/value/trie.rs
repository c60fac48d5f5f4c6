//! Trie form of vectors: 16-way nodes over blocks of 16 items, with the last block apart.
//!
//! All blocks are tail objects, so a full tail becomes a leaf, and a leaf a tail, without copying. A tail stores how
//! much of it some vector uses; the vector that uses all of it may append in place, since shorter vectors sharing it
//! never read past their own length.
//!
//! Entries of large maps and sets are tries too, with a stride of two or one cells: items that belong together are
//! pushed and set together and always share a block.

use crate::heap::Heap;
use crate::value::{Ref, Two, Value};

const BITS: u32 = 4;
/// Number of items in a block, and of children of a node.
pub(crate) const WIDTH: usize = 1 << BITS;

/// Returns the maximum cells of a trie of `len` items.
pub(crate) fn trie_cells(len: usize) -> usize {
    len + len / 4 + 64
}

/// Returns the start of the last block.
fn tail_start(len: usize) -> usize {
    if len == 0 { 0 } else { (len - 1) & !(WIDTH - 1) }
}

fn node_ref(cell: Value) -> Ref {
    // Cells of nodes are always references; the default is never used.
    cell.reference().unwrap_or(Ref::new(0, 0))
}

impl Heap {
    /// Returns the maximum cells for one push, set or pop, with some to spare for the caller's own head.
    pub(crate) fn trie_push_cells(&self, shift: u32) -> usize {
        (WIDTH + 1) * (shift / BITS + 3) as usize + 8
    }

    /// Returns the block with item `i`.
    pub(crate) fn trie_leaf(&self, r: Ref, len: usize, shift: u32, i: usize) -> Ref {
        let none = Ref::new(0, 0);
        if i >= tail_start(len) {
            return self.child(r, 1).unwrap_or(none);
        }
        // Cells of nodes are always references; the default is never used.
        let mut node = self.child(r, 0).unwrap_or(none);
        let mut level = shift;
        while level > 0 {
            node = self.child(node, (i >> level) % WIDTH).unwrap_or(none);
            level -= BITS;
        }
        node
    }

    /// Makes a trie of `len` items. Room for [`trie_cells`] must be reserved.
    pub(crate) fn build_trie(&mut self, len: usize, get: impl Fn(&Heap, usize) -> Value) -> Ref {
        let tail_at = tail_start(len);
        let mut level: Vec<Value> = Vec::with_capacity(tail_at / WIDTH);
        let mut i = 0;
        while i < tail_at {
            let leaf = self.push_head(Value::TailHead(Two::new(WIDTH as u32, WIDTH as u32)));
            for at in i..i + WIDTH {
                let item = get(self, at);
                self.own.cells.push(item);
            }
            level.push(Value::TailRef(leaf));
            i += WIDTH;
        }
        let mut shift = BITS;
        while level.len() > WIDTH {
            level = level
                .chunks(WIDTH)
                .map(|nodes| {
                    Value::Vector(self.push_object(Value::FlatHead { len: nodes.len() as u64 }, nodes))
                })
                .collect();
            shift += BITS;
        }
        let root = match level.len() {
            0 => Value::Nil,
            n => Value::Vector(self.push_object(Value::FlatHead { len: n as u64 }, &level)),
        };
        let tail = self.push_head(Value::TailHead(Two::new((len - tail_at) as u32, WIDTH as u32)));
        for at in tail_at..tail_at + WIDTH {
            let item = if at < len { get(self, at) } else { Value::Nil };
            self.own.cells.push(item);
        }
        self.push_trie(len, shift, root, Value::TailRef(tail))
    }

    fn push_trie(&mut self, len: usize, shift: u32, root: Value, tail: Value) -> Ref {
        self.push_object(Value::TrieHead(Two::new(len as u32, shift)), &[root, tail])
    }

    /// Appends `items`, which must fit one block together.
    pub(crate) fn trie_push(&mut self, r: Ref, len: usize, shift: u32, items: &[Value]) -> Ref {
        let (root, tail) = (self.field(r, 0), self.field(r, 1));
        let used = len - tail_start(len);
        if used + items.len() <= WIDTH {
            let tail = self.tail_append(node_ref(tail), used, items);
            return self.push_trie(len + items.len(), shift, root, Value::TailRef(tail));
        }
        let (root, shift) = self.add_leaf(root, shift, len - WIDTH, tail);
        let tail = self.new_tail(items);
        self.push_trie(len + items.len(), shift, root, Value::TailRef(tail))
    }

    fn new_tail(&mut self, items: &[Value]) -> Ref {
        let tail = self.push_object(Value::TailHead(Two::new(items.len() as u32, WIDTH as u32)), items);
        self.own.cells.resize(tail.at() as usize + 1 + WIDTH, Value::Nil);
        tail
    }

    fn tail_append(&mut self, tail: Ref, used: usize, items: &[Value]) -> Ref {
        let at = tail.at() as usize;
        if tail.space() == 0
            && let Some(Value::TailHead(counts)) = self.own.cells.get(at)
            && counts.get().0 as usize == used
        {
            self.own.cells[at] = Value::TailHead(Two::new((used + items.len()) as u32, WIDTH as u32));
            self.own.cells[at + 1 + used..at + 1 + used + items.len()].copy_from_slice(items);
            return tail;
        }
        let copy = self.copy_block(tail, used);
        let at = copy.at() as usize;
        self.own.cells[at] = Value::TailHead(Two::new((used + items.len()) as u32, WIDTH as u32));
        self.own.cells[at + 1 + used..at + 1 + used + items.len()].copy_from_slice(items);
        copy
    }

    /// Copies the first `used` items of a block.
    fn copy_block(&mut self, block: Ref, used: usize) -> Ref {
        let copy = self.push_head(Value::TailHead(Two::new(used as u32, WIDTH as u32)));
        for i in 0..used {
            let item = self.field(block, i);
            self.own.cells.push(item);
        }
        self.own.cells.resize(copy.at() as usize + 1 + WIDTH, Value::Nil);
        copy
    }

    /// Appends a full block, whose items start at `i`, to the tree.
    fn add_leaf(&mut self, root: Value, shift: u32, i: usize, leaf: Value) -> (Value, u32) {
        if root.reference().is_none() {
            return (Value::Vector(self.push_object(Value::FlatHead { len: 1 }, &[leaf])), shift);
        }
        if i >> BITS == 1 << shift {
            let path = self.new_path(shift, leaf);
            let head = Value::FlatHead { len: 2 };
            return (Value::Vector(self.push_object(head, &[root, path])), shift + BITS);
        }
        (self.add_below(root, shift, i, leaf), shift)
    }

    /// Adds a leaf below a node. The recursion here and below is as deep as the tree is high: at most eight.
    fn add_below(&mut self, node: Value, level: u32, i: usize, leaf: Value) -> Value {
        let r = node_ref(node);
        let len = self.vec_len(r);
        let at = (i >> level) % WIDTH;
        let child = if level == BITS {
            leaf
        } else if at < len {
            let below = self.field(r, at);
            self.add_below(below, level - BITS, i, leaf)
        } else {
            self.new_path(level - BITS, leaf)
        };
        let copy = self.push_head(Value::FlatHead { len: len.max(at + 1) as u64 });
        self.push_items(r, 0, at.min(len));
        self.own.cells.push(child);
        Value::Vector(copy)
    }

    /// Puts a leaf under single-child nodes up to `level`.
    fn new_path(&mut self, level: u32, leaf: Value) -> Value {
        let mut node = leaf;
        for _ in 0..level / BITS {
            node = Value::Vector(self.push_object(Value::FlatHead { len: 1 }, &[node]));
        }
        node
    }

    /// Replaces the items at `i…`, which are all in one block.
    pub(crate) fn trie_set(&mut self, r: Ref, len: usize, shift: u32, i: usize, items: &[Value]) -> Ref {
        let (root, tail) = (self.field(r, 0), self.field(r, 1));
        let tail_at = tail_start(len);
        if i >= tail_at {
            let tail = self.set_block(node_ref(tail), len - tail_at, i % WIDTH, items);
            return self.push_trie(len, shift, root, tail);
        }
        let root = self.set_below(root, shift, i, items);
        self.push_trie(len, shift, root, tail)
    }

    fn set_block(&mut self, block: Ref, used: usize, i: usize, items: &[Value]) -> Value {
        let copy = self.copy_block(block, used);
        let at = copy.at() as usize + 1 + i;
        self.own.cells[at..at + items.len()].copy_from_slice(items);
        Value::TailRef(copy)
    }

    fn set_below(&mut self, node: Value, level: u32, i: usize, items: &[Value]) -> Value {
        let r = node_ref(node);
        if level == 0 {
            return self.set_block(r, WIDTH, i % WIDTH, items);
        }
        let at = (i >> level) % WIDTH;
        let below = self.field(r, at);
        let child = self.set_below(below, level - BITS, i, items);
        let len = self.vec_len(r);
        let copy = self.push_head(Value::FlatHead { len: len as u64 });
        self.push_items(r, 0, len);
        self.own.cells[copy.at() as usize + 1 + at] = child;
        Value::Vector(copy)
    }

    /// Removes the last item; there are at least two.
    pub(crate) fn trie_pop(&mut self, r: Ref, len: usize, shift: u32) -> Ref {
        let (root, tail) = (self.field(r, 0), self.field(r, 1));
        let tail_at = tail_start(len);
        if len - tail_at > 1 {
            return self.push_trie(len - 1, shift, root, tail);
        }
        let leaf = self.trie_leaf(r, len, shift, tail_at - 1);
        let mut root = self.drop_leaf(root, shift);
        let mut shift = shift;
        // A root with one child is not needed.
        while shift > BITS && root.reference().is_some_and(|r| self.vec_len(r) == 1) {
            root = self.field(node_ref(root), 0);
            shift -= BITS;
        }
        self.push_trie(len - 1, shift, root, Value::TailRef(leaf))
    }

    /// Returns the tree without its last block; nil if that was the only one.
    fn drop_leaf(&mut self, node: Value, level: u32) -> Value {
        let r = node_ref(node);
        let len = self.vec_len(r);
        let child = if level == BITS {
            Value::Nil
        } else {
            let below = self.field(r, len - 1);
            self.drop_leaf(below, level - BITS)
        };
        let left = if child.reference().is_some() { len } else { len - 1 };
        if left == 0 {
            return Value::Nil;
        }
        let copy = self.push_head(Value::FlatHead { len: left as u64 });
        self.push_items(r, 0, len - 1);
        if left == len {
            self.own.cells.push(child);
        }
        Value::Vector(copy)
    }
}
