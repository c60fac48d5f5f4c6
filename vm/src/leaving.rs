//! Atoms and volatiles that leave their run, in results and in definitions of a session: they are replaced by their
//! content.
//!
//! Two kinds stay, and can be read but not written to: a place that leads back to itself, since values are not cyclic,
//! and a place in a key of a map or a member of a set, since those are found by hashes that would change.

use crate::heap::Heap;
use crate::value::{Ref, RefMap, RefSet, StateKind, Value};

/// Replacements for the places of the own arena, for those that do not stay.
#[derive(Default)]
pub(crate) struct Leaving {
    values: RefMap<Ref, Value>,
}

impl Leaving {
    /// Computes the replacements for all places that `roots` lead to.
    pub fn new(heap: &Heap, roots: &[Value]) -> Leaving {
        let mut search = Search {
            heap,
            kept: places_in_keys(heap, roots),
            numbers: RefMap::default(),
            lowest: Vec::new(),
            open: Vec::new(),
            leaving: Leaving::default(),
        };
        roots.iter().for_each(|root| search.run(*root));
        search.leaving
    }

    /// Returns the replacement of a value.
    #[inline]
    pub fn value(&self, v: Value) -> Value {
        match v {
            Value::State(r) => self.values.get(&r).copied().unwrap_or(v),
            _ => v,
        }
    }
}

/// Returns the object of a value, if it is in the own arena: all others are frozen.
fn own(v: Value) -> Option<Ref> {
    v.reference().filter(|r| r.space() == 0)
}

/// Returns the values directly inside a value.
fn inside(heap: &Heap, v: Value) -> Vec<Value> {
    match v {
        Value::State(r) => vec![heap.state(r)],
        _ => heap.children(v),
    }
}

/// Finds the places inside keys of maps and members of sets.
fn places_in_keys(heap: &Heap, roots: &[Value]) -> RefSet<Ref> {
    let (mut met, mut met_in_keys, mut found) = (RefSet::default(), RefSet::default(), RefSet::default());
    let mut todo: Vec<(Value, bool)> = roots.iter().map(|root| (*root, false)).collect();
    while let Some((v, in_key)) = todo.pop() {
        let Some(r) = own(v) else { continue };
        let is_new = if in_key { met_in_keys.insert(r) } else { met.insert(r) };
        if !is_new {
            continue;
        }
        match v {
            // An atom is compared by identity, so its value is not part of the key.
            Value::State(_) if in_key => {
                found.insert(r);
                todo.push((v, false));
            }
            Value::Map(map) if !in_key => {
                let mut cursor = 0;
                while let Some((key, value, next)) = heap.map_next(map, cursor) {
                    todo.extend([(key, true), (value, false)]);
                    cursor = next;
                }
            }
            Value::Set(_) if !in_key => todo.extend(heap.children(v).into_iter().map(|item| (item, true))),
            _ => todo.extend(inside(heap, v).into_iter().map(|part| (part, in_key))),
        }
    }
    found
}

/// Search for objects that lead back to themselves, after Tarjan: each is numbered when it is met, and stores the
/// lowest number it leads back to.
struct Search<'h> {
    heap: &'h Heap,
    kept: RefSet<Ref>,
    numbers: RefMap<Ref, usize>,
    /// Lowest numbers by number; None once the object's group is known.
    lowest: Vec<Option<usize>>,
    /// Objects whose group is not known yet, by number.
    open: Vec<(usize, Value)>,
    leaving: Leaving,
}

/// An object that is being walked.
struct Walked {
    number: usize,
    parts: std::vec::IntoIter<Value>,
    /// True if it is a part of itself.
    is_own_part: bool,
}

impl Search<'_> {
    fn run(&mut self, root: Value) {
        let mut stack: Vec<Walked> = self.meet(root).into_iter().collect();
        while let Some(top) = stack.last_mut() {
            let number = top.number;
            match top.parts.next() {
                Some(part) => match own(part).and_then(|r| self.numbers.get(&r).copied()) {
                    Some(known) => {
                        top.is_own_part |= known == number;
                        if self.lowest[known].is_some() {
                            self.lower(number, known);
                        }
                    }
                    None => stack.extend(self.meet(part)),
                },
                None => {
                    let is_own_part = top.is_own_part;
                    stack.pop();
                    let lowest = self.lowest[number].unwrap_or(number);
                    if lowest == number {
                        self.close(number, is_own_part);
                    } else if let Some(above) = stack.last() {
                        self.lower(above.number, lowest);
                    }
                }
            }
        }
    }

    /// Numbers an object of the own arena that was not met before.
    fn meet(&mut self, v: Value) -> Option<Walked> {
        let r = own(v)?;
        if self.numbers.contains_key(&r) {
            return None;
        }
        let number = self.lowest.len();
        self.numbers.insert(r, number);
        self.lowest.push(Some(number));
        self.open.push((number, v));
        Some(Walked { number, parts: inside(self.heap, v).into_iter(), is_own_part: false })
    }

    fn lower(&mut self, number: usize, to: usize) {
        if let Some(lowest) = &mut self.lowest[number] {
            *lowest = (*lowest).min(to);
        }
    }

    /// Closes a group: this object and those met after it that are still open lead to each other. Everything else
    /// they lead to is known.
    fn close(&mut self, number: usize, is_own_part: bool) {
        let first = self.open.iter().rposition(|(open, _)| *open == number).unwrap_or(self.open.len());
        let is_circle = is_own_part || self.open.len() - first > 1;
        for (number, v) in self.open.split_off(first) {
            self.lowest[number] = None;
            if let Value::State(place) = v
                && !is_circle
                && !self.kept.contains(&place)
                && self.heap.state_kind(place) != StateKind::Memory
            {
                let held = self.leaving.value(self.heap.state(place));
                self.leaving.values.insert(place, held);
            }
        }
    }
}
