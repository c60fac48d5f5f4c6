//! Sorted maps and sets: a balanced tree in the order of `compare`, or its reverse.
//!
//! A head refers to the root. Nodes hold key, value, left and right, and in their head the number of nodes below and
//! including them; so an entry is found by its position as well as by its key. A change copies the path to it. The tree
//! is balanced by weight, which bounds its height by 2.5 times the logarithm of its size: functions here may recurse
//! over levels.

use std::cmp::Ordering;

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::index::Probe;
use crate::value::{Ref, Two, Value, merge_sort};
use crate::work::Work;

/// Steps for finding the side of a node that a key belongs to, besides the comparison.
const ORDER_STEPS: usize = 2;

/// Steps for descending to the entry at a position.
const PLACE_STEPS: usize = 32;

/// Number of cells of a node.
const NODE: usize = 5;

/// Maximum levels of a tree of 2^32 nodes.
const LEVELS: usize = 80;

/// Maximum ratio of the weights of a node's sides.
const DELTA: usize = 3;

/// Ratio of an inner to an outer grandchild's weight from which two rotations are needed.
const GAMMA: usize = 2;

type Tree = Option<Ref>;

impl Heap {
    /// Makes a sorted map of keys and values in turn; of equal keys the last gives the value.
    pub fn new_sorted_map(&mut self, items: &[Value], descending: bool) -> Result<Value, Stop> {
        if self.guarded
            && let Some((items, is_secret)) = self.guard_entries(items)?
        {
            let entries = items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            let map = Value::Map(self.new_sorted(entries, false, descending)?);
            return if is_secret { self.veil(map) } else { Ok(map) };
        }
        let entries = items.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        Ok(Value::Map(self.new_sorted(entries, false, descending)?))
    }

    /// Makes a sorted set of these.
    pub fn new_sorted_set(&mut self, items: &[Value], descending: bool) -> Result<Value, Stop> {
        if self.guarded
            && let Some(items) = self.guard_members(items)
        {
            let entries = items.into_iter().map(|item| (item, Value::Nil)).collect();
            let set = Value::Set(self.new_sorted(entries, true, descending)?);
            return self.veil(set);
        }
        let entries = items.iter().map(|item| (*item, Value::Nil)).collect();
        Ok(Value::Set(self.new_sorted(entries, true, descending)?))
    }

    /// Makes a map of these items, sorted if `like` is.
    pub fn new_map_like(&mut self, like: Ref, items: &[Value]) -> Result<Value, Stop> {
        match self.sorted_order(like) {
            Some(descending) => self.new_sorted_map(items, descending),
            None => self.new_map(items),
        }
    }

    /// Makes a set of these items, sorted if `like` is.
    pub fn new_set_like(&mut self, like: Ref, items: &[Value]) -> Result<Value, Stop> {
        match self.sorted_order(like) {
            Some(descending) => self.new_sorted_set(items, descending),
            None => self.new_set(items),
        }
    }

    /// Returns whether a sorted map or set is in reverse order; None if it is not sorted.
    pub fn sorted_order(&self, r: Ref) -> Option<bool> {
        match self.head(r) {
            Value::SortedHead(flags) => Some(flags.get().1 == 1),
            _ => None,
        }
    }

    fn new_sorted(&mut self, entries: Vec<(Value, Value)>, set: bool, descending: bool) -> Result<Ref, Stop> {
        for (key, _) in &entries {
            check_key(*key)?;
        }
        self.room(2 + NODE * entries.len(), 0)?;
        let mut entries = merge_sort(entries, |a, b| {
            self.look()?;
            Ok::<bool, Stop>(self.key_order(a.0, b.0, descending).is_gt())
        })?;
        // The sort is stable, so the last of equal keys is the last one given; the first of them is the key that stays.
        entries.dedup_by(|later, kept| {
            let same = self.key_order(later.0, kept.0, descending).is_eq();
            if same {
                kept.1 = later.1;
            }
            same
        });
        let root = self.build_tree(&entries);
        Ok(self.push_sorted(root, set, descending))
    }

    fn push_sorted(&mut self, root: Tree, set: bool, descending: bool) -> Ref {
        let root = root.map_or(Value::Nil, Value::IndexRef);
        self.push_object(Value::SortedHead(Two::new(u32::from(set), u32::from(descending))), &[root])
    }

    fn build_tree(&mut self, entries: &[(Value, Value)]) -> Tree {
        let (before, rest) = entries.split_at(entries.len() / 2);
        let ((key, value), after) = rest.split_first()?;
        let left = self.build_tree(before);
        let right = self.build_tree(after);
        Some(self.push_node((*key, *value), left, right))
    }

    fn key_order(&self, a: Value, b: Value, descending: bool) -> Ordering {
        // Charged like any other comparison; code that compares many keys checks the charges in between.
        let mut work = Work::unlimited();
        let order = self.compare(a, b, &mut work).unwrap_or(Ordering::Equal);
        self.charge(work.steps as usize + ORDER_STEPS);
        if descending { order.reverse() } else { order }
    }

    fn root(&self, r: Ref) -> Tree {
        self.child(r, 0)
    }

    fn tree_len(&self, tree: Tree) -> usize {
        match tree.map(|node| self.head(node)) {
            Some(Value::TreeHead { size }) => size as usize,
            _ => 0,
        }
    }

    /// Returns the number of entries.
    pub(crate) fn sorted_len(&self, r: Ref) -> usize {
        self.tree_len(self.root(r))
    }

    /// Returns the position of an entry, or the position it would have.
    pub(crate) fn sorted_find(&self, r: Ref, probe: Probe<'_>) -> Result<usize, usize> {
        let descending = self.sorted_order(r).unwrap_or(false);
        let (mut tree, mut before) = (self.root(r), 0);
        while let Some(node) = tree {
            let left = self.child(node, 2);
            let place = before + self.tree_len(left);
            let key = self.field(node, 0);
            let order = match probe {
                Probe::Key(wanted) | Probe::Known(wanted, _) => self.key_order(wanted, key, descending),
                Probe::Text { keyword, text, .. } => {
                    let order = self.text_order(keyword, text, key);
                    if descending { order.reverse() } else { order }
                }
            };
            match order {
                Ordering::Less => tree = left,
                Ordering::Equal => return Ok(place),
                Ordering::Greater => (tree, before) = (self.child(node, 3), place + 1),
            }
        }
        Err(before)
    }

    /// Returns key and value of the entry at a position.
    pub(crate) fn sorted_entry(&self, r: Ref, place: usize) -> Option<(Value, Value)> {
        self.charge(PLACE_STEPS);
        let (mut tree, mut place) = (self.root(r), place);
        while let Some(node) = tree {
            let left = self.child(node, 2);
            let before = self.tree_len(left);
            match place.cmp(&before) {
                Ordering::Less => tree = left,
                Ordering::Equal => return Some((self.field(node, 0), self.field(node, 1))),
                Ordering::Greater => (tree, place) = (self.child(node, 3), place - before - 1),
            }
        }
        None
    }

    /// Adds an entry. Faults for a key without an order.
    pub(crate) fn sorted_assoc(&mut self, r: Ref, key: Value, value: Value) -> Result<Ref, Stop> {
        check_key(key)?;
        self.room(2 + NODE * 3 * LEVELS, 0)?;
        let Value::SortedHead(flags) = self.head(r) else { return Ok(r) };
        let (set, descending) = (flags.get().0 == 1, flags.get().1 == 1);
        let root = self.root(r);
        let root = match self.sorted_find(r, Probe::Key(key)) {
            Ok(_) if set => return Ok(r),
            Ok(place) => self.tree_set(root, place, value),
            Err(place) => Some(self.tree_insert(root, place, (key, value))),
        };
        Ok(self.push_sorted(root, set, descending))
    }

    /// Removes the entry at a position.
    pub(crate) fn sorted_remove(&mut self, r: Ref, place: usize) -> Result<Ref, Stop> {
        self.room(2 + NODE * 3 * LEVELS, 0)?;
        let Value::SortedHead(flags) = self.head(r) else { return Ok(r) };
        let (set, descending) = (flags.get().0 == 1, flags.get().1 == 1);
        let root = self.root(r).and_then(|root| self.tree_remove(root, place));
        Ok(self.push_sorted(root, set, descending))
    }

    // Room for the rest is reserved.

    fn push_node(&mut self, entry: (Value, Value), left: Tree, right: Tree) -> Ref {
        let size = (1 + self.tree_len(left) + self.tree_len(right)) as u32;
        let side = |tree: Tree| tree.map_or(Value::Nil, Value::IndexRef);
        self.push_object(
            Value::TreeHead { size: u64::from(size) },
            &[entry.0, entry.1, side(left), side(right)],
        )
    }

    fn node(&self, node: Ref) -> ((Value, Value), Tree, Tree) {
        ((self.field(node, 0), self.field(node, 1)), self.child(node, 2), self.child(node, 3))
    }

    fn tree_set(&mut self, tree: Tree, place: usize, value: Value) -> Tree {
        let (entry, left, right) = self.node(tree?);
        let before = self.tree_len(left);
        let (entry, left, right) = match place.cmp(&before) {
            Ordering::Less => (entry, self.tree_set(left, place, value), right),
            Ordering::Equal => ((entry.0, value), left, right),
            Ordering::Greater => (entry, left, self.tree_set(right, place - before - 1, value)),
        };
        Some(self.push_node(entry, left, right))
    }

    fn tree_insert(&mut self, tree: Tree, place: usize, new: (Value, Value)) -> Ref {
        let Some(node) = tree else { return self.push_node(new, None, None) };
        let (entry, left, right) = self.node(node);
        let before = self.tree_len(left);
        if place <= before {
            let left = self.tree_insert(left, place, new);
            self.balanced(entry, Some(left), right)
        } else {
            let right = self.tree_insert(right, place - before - 1, new);
            self.balanced(entry, left, Some(right))
        }
    }

    fn tree_remove(&mut self, node: Ref, place: usize) -> Tree {
        let (entry, left, right) = self.node(node);
        let before = self.tree_len(left);
        match (place.cmp(&before), left, right) {
            (Ordering::Less, Some(side), _) => {
                let left = self.tree_remove(side, place);
                Some(self.balanced(entry, left, right))
            }
            (Ordering::Greater, _, Some(side)) => {
                let right = self.tree_remove(side, place - before - 1);
                Some(self.balanced(entry, left, right))
            }
            (Ordering::Equal, None, other) | (Ordering::Equal, other, None) => other,
            (Ordering::Equal, _, Some(side)) => {
                // The next entry replaces it.
                let mut first = side;
                while let Some(before) = self.child(first, 2) {
                    first = before;
                }
                let entry = self.node(first).0;
                let right = self.tree_remove(side, 0);
                Some(self.balanced(entry, left, right))
            }
            _ => Some(node),
        }
    }

    /// Makes a node whose sides differ in weight by no more than one insertion or removal.
    fn balanced(&mut self, entry: (Value, Value), left: Tree, right: Tree) -> Ref {
        let weight = |heap: &Heap, tree: Tree| heap.tree_len(tree) + 1;
        let (left_weight, right_weight) = (weight(self, left), weight(self, right));
        if let Some(node) = right.filter(|_| right_weight > DELTA * left_weight) {
            let (up, inner, outer) = self.node(node);
            if let Some(middle) = inner.filter(|_| weight(self, inner) >= GAMMA * weight(self, outer)) {
                let (top, before, after) = self.node(middle);
                let (left, right) = (self.push_node(entry, left, before), self.push_node(up, after, outer));
                return self.push_node(top, Some(left), Some(right));
            }
            let left = self.push_node(entry, left, inner);
            return self.push_node(up, Some(left), outer);
        }
        if let Some(node) = left.filter(|_| left_weight > DELTA * right_weight) {
            let (up, outer, inner) = self.node(node);
            if let Some(middle) = inner.filter(|_| weight(self, inner) >= GAMMA * weight(self, outer)) {
                let (top, before, after) = self.node(middle);
                let (left, right) = (self.push_node(up, outer, before), self.push_node(entry, after, right));
                return self.push_node(top, Some(left), Some(right));
            }
            let right = self.push_node(entry, inner, right);
            return self.push_node(up, outer, Some(right));
        }
        self.push_node(entry, left, right)
    }
}

/// Refuses keys that `compare` cannot tell apart, which would replace each other.
fn check_key(key: Value) -> Result<(), Stop> {
    match key {
        Value::Map(_)
        | Value::Set(_)
        | Value::Closure(_)
        | Value::Endless(_)
        | Value::Builder(_)
        | Value::State(_)
        | Value::Exception(_) => Err(Fault::type_error(format!(
            "a sorted collection needs keys that have an order, but found {}",
            key.type_phrase()
        ))
        .hint("`hash-map` and `hash-set` take any key")
        .into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks order and balance of every node; returns the size.
    fn check(heap: &Heap, tree: Tree) -> usize {
        let Some(node) = tree else { return 0 };
        let (_, left, right) = heap.node(node);
        let (l, r) = (check(heap, left), check(heap, right));
        assert_eq!(heap.tree_len(tree), l + r + 1);
        assert!(DELTA * (l + 1) > r && DELTA * (r + 1) > l, "{l} beside {r}");
        l + r + 1
    }

    #[test]
    fn a_tree_stays_sorted_and_balanced() {
        let mut heap = Heap::unbounded();
        for descending in [false, true] {
            let mut set = heap.new_sorted_set(&[], descending).unwrap().reference().unwrap();
            let mut model = std::collections::BTreeSet::new();
            let mut seed = 7u64;
            for round in 0..3000 {
                seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let n = (seed >> 40) as i64 % 500;
                if round % 3 == 2 {
                    if let Ok(place) = heap.sorted_find(set, Probe::Key(Value::Int(n))) {
                        set = heap.sorted_remove(set, place).unwrap();
                    }
                    model.remove(&n);
                } else {
                    set = heap.sorted_assoc(set, Value::Int(n), Value::Nil).unwrap();
                    model.insert(n);
                }
                if round % 100 == 0 {
                    check(&heap, heap.root(set));
                }
            }
            let mut wanted: Vec<i64> = model.into_iter().collect();
            if descending {
                wanted.reverse();
            }
            let found: Vec<i64> = (0..heap.sorted_len(set))
                .map(|i| match heap.sorted_entry(set, i) {
                    Some((Value::Int(n), _)) => n,
                    other => panic!("{other:?}"),
                })
                .collect();
            assert_eq!(found, wanted);
            let items: Vec<Value> = found.iter().rev().chain(&found).map(|n| Value::Int(*n)).collect();
            let built = heap.new_sorted_set(&items, descending).unwrap().reference().unwrap();
            assert_eq!(check(&heap, heap.root(built)), found.len());
        }
    }
}
