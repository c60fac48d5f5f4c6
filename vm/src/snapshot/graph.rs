//! Walk over the values of all machines of a run, which lists each object once, children first.

use super::image::{Home, LotImage, Obj, Val};
use crate::heap::{Heap, Space};
use crate::value::{Ref, TextKind, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The object lists of a snapshot while they grow.
#[derive(Default)]
pub(super) struct Graph {
    /// Machine that lent each arena, by address.
    lent: HashMap<usize, u32>,
    /// Grant that lives in each space, by address.
    grants: HashMap<usize, u32>,
    /// Module whose constants live in each space, by address.
    consts: HashMap<usize, u32>,
    /// Other spaces that the run had before it received anything, by address.
    earlier: HashSet<usize>,
    /// Lot that is each space, by address.
    lots: HashMap<usize, u32>,
    /// Lots that each lot refers to.
    lot_deps: Vec<Vec<u32>>,
    lists: HashMap<Home, Vec<Obj>>,
    known: HashMap<Key, u32>,
    pub builtins: Vec<Box<str>>,
}

/// Identity of an object for all machines: its home and its cell there. Spaces without an owner are told apart by
/// address.
type Key = (Home, usize, u32);

/// A heap to read values with, and the home of its own arena in the snapshot.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub heap: &'a Heap,
    pub own: Home,
    /// For an ended branch: the number of the parent's arena, which the heap can no longer read, and a view that can.
    pub lender: Option<(u32, &'a View<'a>, u32)>,
}

enum Place {
    Grant(u32),
    Const(u32),
    At(Key),
}

impl Graph {
    pub fn add_lent(&mut self, space: &Arc<Space>, machine: u32) {
        self.lent.insert(Arc::as_ptr(space) as usize, machine);
    }

    pub fn add_grant(&mut self, space: &Arc<Space>, grant: u32) {
        self.grants.insert(Arc::as_ptr(space) as usize, grant);
    }

    pub fn add_consts(&mut self, space: &Arc<Space>, module: u32) {
        self.consts.insert(Arc::as_ptr(space) as usize, module);
    }

    pub fn add_earlier(&mut self, space: &Arc<Space>) {
        self.earlier.insert(Arc::as_ptr(space) as usize);
    }

    /// Adds a lot and returns its number; lots it refers to have lower numbers.
    pub fn add_lot(&mut self, space: &Arc<Space>) -> u32 {
        let mut todo = vec![(space, false)];
        while let Some((next, is_expanded)) = todo.pop() {
            let address = Arc::as_ptr(next) as usize;
            if self.lots.contains_key(&address) {
                continue;
            }
            let others = next.deps.iter().filter(|dep| self.is_loose(dep));
            if is_expanded {
                let number = |dep: &Arc<Space>| self.lots.get(&(Arc::as_ptr(dep) as usize)).copied();
                let deps = others.filter_map(number).collect();
                self.lots.insert(address, self.lot_deps.len() as u32);
                self.lot_deps.push(deps);
            } else {
                todo.push((next, true));
                todo.extend(others.map(|dep| (dep, false)));
            }
        }
        self.lots.get(&(Arc::as_ptr(space) as usize)).copied().unwrap_or_default()
    }

    /// True if a space has no home of its own yet.
    fn is_loose(&self, space: &Arc<Space>) -> bool {
        let address = Arc::as_ptr(space) as usize;
        let is_known = |known: &HashMap<usize, u32>| known.contains_key(&address);
        !Arc::ptr_eq(space, Space::base())
            && !is_known(&self.lent)
            && !is_known(&self.grants)
            && !is_known(&self.consts)
            && !self.earlier.contains(&address)
    }

    /// Returns all lots, in order, once everything is listed.
    pub fn take_lots(&mut self) -> Vec<LotImage> {
        let deps = std::mem::take(&mut self.lot_deps).into_iter().enumerate();
        deps.map(|(number, deps)| LotImage { objects: self.take(Home::Lot(number as u32)), deps }).collect()
    }

    /// Returns the objects of one home, in order.
    pub fn take(&mut self, home: Home) -> Vec<Obj> {
        self.lists.remove(&home).unwrap_or_default()
    }

    /// Returns the home and cell of the object of a value, which is a reference to `r`.
    fn place(&self, view: &View<'_>, value: Value, r: Ref) -> Place {
        if r.space() == 0 {
            return Place::At((view.own, 0, r.at()));
        }
        let address = view.heap.attached(r.space()).map_or(0, |space| Arc::as_ptr(space) as usize);
        if let Some(machine) = self.lent.get(&address) {
            Place::At((Home::Machine(*machine), 0, r.at()))
        } else if let Some(grant) = self.grants.get(&address) {
            Place::Grant(*grant)
        } else if let Some(module) = self.consts.get(&address).filter(|_| kind(value) != 0) {
            Place::Const(*module)
        } else if let Some(lot) = self.lots.get(&address) {
            Place::At((Home::Lot(*lot), 0, r.at()))
        } else {
            Place::At((Home::Shared, address, r.at()))
        }
    }

    /// Lists `value` and everything it leads to.
    pub fn value(&mut self, view: &View<'_>, value: Value) -> Val {
        // Each object is visited twice: first its children are put on the stack, then it is listed.
        let mut todo = vec![(*view, value, false)];
        // Places may contain themselves: they are listed at once and filled at the end.
        let mut places: Vec<(View<'_>, Ref, Home, u32)> = Vec::new();
        while let Some((view, value, expanded)) = todo.pop() {
            let (view, value) = readable(view, value);
            let Some(r) = value.reference() else { continue };
            let Place::At(key) = self.place(&view, value, r) else { continue };
            if self.known.contains_key(&key) {
                continue;
            }
            if let Value::State(place) = value {
                let list = self.lists.entry(key.0).or_default();
                self.known.insert(key, list.len() as u32);
                places.push((view, place, key.0, list.len() as u32));
                list.push(Obj::State { kind: 0, held: Val::Nil });
                todo.push((view, view.heap.state(place), false));
                continue;
            }
            let children = view.heap.children(value);
            if expanded {
                let vals = children.iter().map(|child| self.listed(&view, *child)).collect();
                let object = object(view.heap, value, vals);
                let list = self.lists.entry(key.0).or_default();
                self.known.insert(key, list.len() as u32);
                list.push(object);
            } else {
                todo.push((view, value, true));
                todo.extend(children.into_iter().map(|child| (view, child, false)));
            }
        }
        for (view, place, home, index) in places {
            let held = self.listed(&view, view.heap.state(place));
            let kind = view.heap.state_kind(place).number() as u8;
            if let Some(listed) = self.lists.get_mut(&home).and_then(|list| list.get_mut(index as usize)) {
                *listed = Obj::State { kind, held };
            }
        }
        self.listed(view, value)
    }

    /// Returns a value whose object is already listed.
    fn listed(&mut self, view: &View<'_>, value: Value) -> Val {
        match value {
            Value::True | Value::False => Val::Bool(value.truthy()),
            Value::Int(n) => Val::Int(n),
            Value::Float(x) => Val::Float(x.get().to_bits()),
            Value::Day(n) => Val::Day(n as i32),
            Value::Instant(n) => Val::Instant(n),
            Value::Duration(n) => Val::Duration(n),
            Value::Builtin(id) => Val::Builtin(self.builtin(id as u32)),
            _ => {
                let (view, value) = readable(*view, value);
                let Some(r) = value.reference() else { return Val::Nil };
                match self.place(&view, value, r) {
                    Place::Grant(grant) => Val::Grant { grant, kind: kind(value), at: r.at() },
                    Place::Const(module) => Val::Const { module, kind: kind(value), at: r.at() },
                    Place::At(key) => match self.known.get(&key) {
                        Some(index) => Val::Obj { home: key.0, index: *index },
                        None => Val::Nil,
                    },
                }
            }
        }
    }

    fn builtin(&mut self, id: u32) -> u32 {
        let name = ptc_bytecode::BuiltinId(id).row().map_or("", |row| row.name);
        let known = self.builtins.iter().position(|known| &**known == name);
        known.unwrap_or_else(|| {
            self.builtins.push(name.into());
            self.builtins.len() - 1
        }) as u32
    }
}

/// Returns the value in a view that can read it: an ended branch has released its parent's arena.
fn readable<'a>(view: View<'a>, mut value: Value) -> (View<'a>, Value) {
    if let (Some((lender, parent, lent)), Some(r)) = (view.lender, value.reference_mut())
        && r.space() == lender
    {
        *r = Ref::new(lent, r.at());
        return (*parent, value);
    }
    (view, value)
}

/// Returns the variant of a reference, for values that stay where they are.
pub(super) fn kind(value: Value) -> u8 {
    match value {
        Value::Str(_) => 1,
        Value::Keyword(_) => 2,
        Value::Symbol(_) => 3,
        Value::Big(_) => 4,
        Value::Vector(_) => 5,
        Value::Map(_) => 6,
        Value::Set(_) => 7,
        Value::Range(_) => 8,
        Value::Regex(_) => 9,
        Value::Veiled(_) => 10,
        _ => 0,
    }
}

/// Reverses [`kind`].
pub(super) fn of_kind(kind: u8, r: Ref) -> Option<Value> {
    Some(match kind {
        1 => Value::Str(r),
        2 => Value::Keyword(r),
        3 => Value::Symbol(r),
        4 => Value::Big(r),
        5 => Value::Vector(r),
        6 => Value::Map(r),
        7 => Value::Set(r),
        8 => Value::Range(r),
        9 => Value::Regex(r),
        10 => Value::Veiled(r),
        _ => return None,
    })
}

fn object(heap: &Heap, value: Value, vals: Vec<Val>) -> Obj {
    let text = |r: Ref, kind: TextKind| Obj::Text { kind: kind as u8, text: heap.str(r).into() };
    match value {
        Value::Str(r) => text(r, TextKind::Str),
        Value::Keyword(r) => text(r, TextKind::Keyword),
        Value::Symbol(r) => text(r, TextKind::Symbol),
        Value::Var(r) => text(r, TextKind::Var),
        Value::Tool(r) => text(r, TextKind::Tool),
        Value::Regex(r) => text(r, TextKind::Regex),
        Value::Big(_) => Obj::Big(heap.to_bigint(value).unwrap_or_default().to_string().into()),
        Value::Map(r) | Value::Set(r) if let Some(descending) = heap.sorted_order(r) => {
            Obj::Sorted { set: matches!(value, Value::Set(_)), descending, items: vals }
        }
        Value::Map(r) | Value::Set(r) if let Some(gone) = heap.gaps(value, r) => {
            Obj::Gaps { set: matches!(value, Value::Set(_)), items: vals, gone }
        }
        Value::Map(r) if heap.map_shape(r).is_some() => Obj::Record(vals),
        Value::Map(_) => Obj::Map(vals),
        Value::Vector(r) if let (Some((_, start, len)), [whole]) = (heap.slice_parts(r), &vals[..]) => {
            Obj::Slice { whole: *whole, start, len }
        }
        Value::Vector(r) if matches!(heap.head(r), Value::TrieHead(_)) => Obj::Trie(vals),
        Value::Set(_) => Obj::Set(vals),
        Value::Builder(_) => Obj::Builder(vals),
        Value::Exception(_) => Obj::Exception(vals),
        Value::Veiled(_) => Obj::Veil(vals.first().copied().unwrap_or(Val::Nil)),
        Value::Endless(r) => match vals[..] {
            [first, rest] if heap.link_parts(r).is_some() => Obj::Link(first, rest),
            _ => Obj::Step(vals),
        },
        Value::Closure(r) => {
            let (module, code) = heap.closure_code(r);
            Obj::Closure { module, code, captures: vals }
        }
        Value::Range(r) => {
            let (start, step, len) = heap.range_parts(r);
            let end =
                i64::try_from(i128::from(start) + i128::from(step) * i128::from(len)).unwrap_or(i64::MAX);
            Obj::Range { start, end, step }
        }
        _ => Obj::Vector(vals),
    }
}
