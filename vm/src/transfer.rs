//! Transfer of values across heaps: to and from owned data, out into a frozen space, and in from another heap.

use std::collections::HashMap;
use std::sync::Arc;

use num_bigint::BigInt;
use ptc_bytecode::{Code, Datum, Node};

use crate::collect::payload;
use crate::fault::{Fault, Stop};
use crate::heap::{Heap, Space};
use crate::leaving::Leaving;
use crate::link::Module;
use crate::value::{
    CELL_BYTES, MOST_DIGITS, Ref, RefMap, RefSet, StateKind, Value, closure_head, map_cells, moved_text,
    set_cells,
};

/// The rest of a collection to be written.
enum Frame {
    Items {
        v: Value,
        next: usize,
    },
    Entries {
        r: Ref,
        cursor: usize,
        len: u32,
    },
    Members {
        r: Ref,
        cursor: usize,
        len: u32,
    },
    After(Value),
    /// End of a veiled value.
    Veil,
    /// End of the content of an atom or a volatile.
    Leave(Ref),
}

impl Heap {
    /// Copies to owned data. Faults `output_exceeded` past `limit` bytes.
    pub fn to_datum(&self, v: Value, limit: usize) -> Result<Datum, Fault> {
        let (nodes, veiled) = self.to_marked_nodes(&[v], limit)?;
        let datum = Datum::new(nodes)
            .ok_or_else(|| Fault::new(Code::Internal, "a value did not become one datum"))?;
        Ok(if veiled.is_empty() { datum } else { datum.with_veiled(veiled) })
    }

    /// Copies values side by side to owned data of up to `limit` bytes together, and lists where veiled ones end.
    pub(crate) fn to_marked_nodes(
        &self,
        values: &[Value],
        limit: usize,
    ) -> Result<(Vec<Node>, Vec<u32>), Fault> {
        let (nodes, frames, veiled, inside) = (Vec::new(), Vec::new(), Vec::new(), RefSet::default());
        let mut writer = DatumWriter { heap: self, nodes, frames, veiled, inside, bytes: 0, limit };
        for value in values {
            writer.value(*value)?;
            while let Some(frame) = writer.frames.pop() {
                self.owe(1);
                self.look()?;
                writer.go_on(frame)?;
            }
        }
        Ok((writer.nodes, writer.veiled))
    }

    /// Makes a value from a scalar node; nil from a collection.
    pub(crate) fn new_leaf(&mut self, node: &Node) -> Result<Value, Stop> {
        match node {
            Node::Nil | Node::Vector(_) | Node::Map(_) | Node::Set(_) => Ok(Value::Nil),
            Node::Bool(b) => Ok(Value::bool(*b)),
            Node::Int(n) => Ok(Value::Int(*n)),
            Node::Float(x) => Ok(Value::float(*x)),
            Node::Day(n) => Ok(Value::day(*n)),
            Node::Instant(n) => Ok(Value::Instant(*n)),
            Node::Duration(n) => Ok(Value::Duration(*n)),
            Node::Big(digits) if digits.len() > MOST_DIGITS => Err(Heap::too_long().into()),
            Node::Big(digits) => match digits.parse::<BigInt>() {
                Ok(n) => self.new_integer(&n),
                Err(_) => {
                    Err(Fault::new(Code::InvalidData, "a large integer is not written in digits").into())
                }
            },
            // A value without data form comes back as its printed text.
            Node::Str(s) | Node::Opaque(s) => self.new_str(s),
            Node::Keyword(s) => self.new_keyword(s),
            Node::Symbol(s) => self.new_symbol(s),
            Node::Regex(s) => self.new_regex(s),
        }
    }

    /// Makes a value from owned data.
    pub fn from_datum(&mut self, datum: &Datum) -> Result<Value, Stop> {
        let (mut cells, mut text) = (0usize, 0usize);
        for node in datum.nodes() {
            let (more_cells, more_text) = match node {
                Node::Str(s) | Node::Keyword(s) | Node::Symbol(s) | Node::Regex(s) | Node::Opaque(s) => {
                    (1, s.len())
                }
                Node::Big(digits) => (2 + digits.len() / 19, 0),
                Node::Vector(n) => (1 + *n as usize, 0),
                Node::Map(n) => (map_cells(*n as usize), 0),
                Node::Set(n) => (set_cells(*n as usize), 0),
                _ => (0, 0),
            };
            cells = cells.saturating_add(more_cells);
            text += more_text;
        }
        self.room(cells + 2 * datum.veiled().len(), text)?;

        // Constants repeat keywords, and records repeat their keys: make each once.
        let mut keywords: HashMap<&str, Value> = HashMap::new();
        let mut last_keys: Option<Ref> = None;
        let mut stack: Vec<Value> = Vec::new();
        for (place, node) in datum.nodes().iter().enumerate() {
            let value = match node {
                Node::Keyword(name) => match keywords.get(&**name) {
                    Some(known) => *known,
                    None => *keywords.entry(name).insert_entry(self.new_keyword(name)?).get(),
                },
                Node::Vector(n) => {
                    let items = stack.split_off(stack.len() - *n as usize);
                    self.new_vec(&items)?
                }
                Node::Set(n) => {
                    let items = stack.split_off(stack.len() - *n as usize);
                    self.new_set(&items)?
                }
                Node::Map(n) => {
                    let items = stack.split_off(stack.len() - 2 * *n as usize);
                    self.map_like(&items, &mut last_keys)?
                }
                scalar => self.new_leaf(scalar)?,
            };
            let value = if datum.is_veiled(place) { self.veil(value)? } else { value };
            stack.push(value);
        }
        Ok(stack.pop().unwrap_or(Value::Nil))
    }

    /// Makes a map, with the keys of the previous one if they are equal.
    fn map_like(&mut self, items: &[Value], last_keys: &mut Option<Ref>) -> Result<Value, Stop> {
        if let Some(keys) = *last_keys
            && self.vec_len(keys) * 2 == items.len()
            && (0..items.len() / 2).all(|i| self.is_same_name(keys, i, items[i * 2]))
        {
            let values: Vec<Value> = items.iter().skip(1).step_by(2).copied().collect();
            return self.new_record(keys, &values);
        }
        let map = self.new_map(items)?;
        *last_keys = map.reference().and_then(|r| self.map_shape(r));
        Ok(map)
    }

    /// True if key `i` of a record is this name. Other keys may be deep, and are not compared.
    fn is_same_name(&self, keys: Ref, i: usize, key: Value) -> bool {
        match (self.vec_get(keys, i), key) {
            (Some(Value::Keyword(known)), Value::Keyword(r)) | (Some(Value::Str(known)), Value::Str(r)) => {
                self.same_text(known, r)
            }
            _ => false,
        }
    }

    /// Copies the objects in the own arena that `roots` lead to into a new frozen space, with atoms and volatiles
    /// replaced by their values, and makes the roots relative to it ([`Heap::import`] them once it is attached).
    /// Attached spaces that are still referred to become its dependencies. `modules` are those of this run.
    pub(crate) fn copy_out(&self, roots: &mut [Value], modules: &[Arc<Module>]) -> Arc<Space> {
        let mut space =
            Space { veils: self.veils, unknowns: self.unknowns, sealed: self.firewall, ..Space::default() };
        let mut deps: HashMap<u32, u32> = HashMap::new();
        let mut modules_to: HashMap<u32, u32> = HashMap::new();
        let mut plan = Plan::new(self, roots, |id| id == 0);
        if plan.has_places {
            plan = Plan::with(self, roots, |id| id == 0, Leaving::new(self, roots));
        }
        space.cells.reserve_exact(plan.cells);
        space.text.reserve_exact(plan.text);
        plan.write(
            self,
            &mut space.cells,
            &mut space.text,
            0,
            |id| {
                let next = deps.len() as u32 + 1;
                *deps.entry(id).or_insert_with(|| {
                    space.deps.extend(self.attached(id).cloned());
                    next
                })
            },
            |module| {
                let next = modules_to.len() as u32;
                *modules_to.entry(module).or_insert_with(|| {
                    space.modules.extend(modules.get(module as usize).cloned());
                    next
                })
            },
            roots,
        );
        Arc::new(space)
    }

    /// True if a value leads to an atom or a volatile of this run.
    pub fn has_places(&self, v: Value) -> bool {
        Plan::new(self, &[v], |id| id == 0).has_places
    }

    /// Returns the bytes of the own arena that `roots` keep alive.
    pub fn reach(&self, roots: &[Value]) -> usize {
        let plan = Plan::new(self, roots, |id| id == 0);
        plan.cells * CELL_BYTES + plan.text
    }

    /// Copies a value of another heap. `spaces` returns this heap's number (0 for its own arena) of a space of
    /// `child`, or None for one to be copied, as the child's own arena always is; `modules` returns this run's
    /// number of a module of the child's.
    pub(crate) fn copy_in(
        &mut self,
        child: &Heap,
        v: Value,
        spaces: impl Fn(u32) -> Option<u32>,
        modules: impl Fn(u32) -> u32,
    ) -> Result<Value, Stop> {
        let mut root = [v];
        let plan = Plan::new(child, &root, |id| id == 0 || spaces(id).is_none());
        self.room(plan.cells, plan.text)?;
        self.meet_veils(child.veils);
        self.meet_unknowns(child.unknowns);
        let start = self.own.cells.len();
        let Space { cells, text, .. } = &mut self.own;
        plan.write(child, cells, text, start, |id| spaces(id).unwrap_or(0), modules, &mut root);
        Ok(root[0])
    }
}

struct DatumWriter<'h> {
    heap: &'h Heap,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    veiled: Vec<u32>,
    /// Places being written: the only values that can lead back to themselves.
    inside: RefSet<Ref>,
    bytes: usize,
    limit: usize,
}

impl DatumWriter<'_> {
    fn node(&mut self, node: Node, text: usize) -> Result<(), Fault> {
        self.bytes = self.bytes.saturating_add(size_of::<Node>() + text);
        if self.bytes > self.limit {
            let message = format!("the result is larger than {} bytes (limits.result_bytes)", self.limit);
            return Err(Fault::new(Code::OutputExceeded, message));
        }
        self.nodes.push(node);
        Ok(())
    }

    fn text(&mut self, r: Ref, make: fn(Box<str>) -> Node) -> Result<(), Fault> {
        let text = self.heap.str(r);
        self.node(make(text.into()), text.len())
    }

    /// Writes a leaf, or leaves a collection to be written item by item.
    fn value(&mut self, v: Value) -> Result<(), Fault> {
        match v {
            Value::Nil => self.node(Node::Nil, 0),
            Value::True | Value::False => self.node(Node::Bool(v.truthy()), 0),
            Value::Int(n) => self.node(Node::Int(n), 0),
            Value::Float(x) => self.node(Node::Float(x.get()), 0),
            Value::Day(n) => self.node(Node::Day(n as i32), 0),
            Value::Instant(n) => self.node(Node::Instant(n), 0),
            Value::Duration(n) => self.node(Node::Duration(n), 0),
            Value::Str(r) => self.text(r, Node::Str),
            Value::Keyword(r) => self.text(r, Node::Keyword),
            Value::Symbol(r) => self.text(r, Node::Symbol),
            Value::Regex(r) => self.text(r, Node::Regex),
            Value::Vector(_) | Value::Range(_) => {
                self.frames.push(Frame::Items { v, next: 0 });
                Ok(())
            }
            Value::Map(r) => {
                self.frames.push(Frame::Entries { r, cursor: 0, len: self.heap.map_len(r) as u32 });
                Ok(())
            }
            Value::Set(r) => {
                self.frames.push(Frame::Members { r, cursor: 0, len: self.heap.set_len(r) as u32 });
                Ok(())
            }
            Value::Exception(r) => self.value(Value::Map(self.heap.exception_map(r))),
            Value::State(r) if self.inside.insert(r) => {
                self.frames.extend([Frame::Leave(r), Frame::After(self.heap.state(r))]);
                Ok(())
            }
            Value::State(r) => {
                let text = self.heap.state_kind(r).cut_short();
                self.node(Node::Opaque(text.into()), text.len())
            }
            Value::Unknown(_) => self.heap.check_known(v),
            Value::Veiled(r) => {
                self.frames.push(Frame::Veil);
                self.value(self.heap.field(r, 0))
            }
            _ => {
                let mut text = String::new();
                self.heap.print(v, &mut text, self.limit)?;
                let len = text.len();
                let text = text.into_boxed_str();
                self.node(if matches!(v, Value::Big(_)) { Node::Big(text) } else { Node::Opaque(text) }, len)
            }
        }
    }

    fn go_on(&mut self, frame: Frame) -> Result<(), Fault> {
        match frame {
            Frame::Items { v, next } => match self.heap.seq_get(v, next) {
                Some(item) => {
                    self.frames.push(Frame::Items { v, next: next + 1 });
                    self.value(item)
                }
                None => self.node(Node::Vector(next as u32), 0),
            },
            Frame::Entries { r, cursor, len } => match self.heap.map_next(r, cursor) {
                Some((key, value, cursor)) => {
                    self.frames.push(Frame::Entries { r, cursor, len });
                    self.frames.push(Frame::After(value));
                    self.value(key)
                }
                None => self.node(Node::Map(len), 0),
            },
            Frame::Members { r, cursor, len } => match self.heap.set_next(r, cursor) {
                Some((item, cursor)) => {
                    self.frames.push(Frame::Members { r, cursor, len });
                    self.value(item)
                }
                None => self.node(Node::Set(len), 0),
            },
            Frame::After(value) => self.value(value),
            Frame::Leave(r) => {
                self.inside.remove(&r);
                Ok(())
            }
            Frame::Veil => {
                self.veiled.extend(self.nodes.len().checked_sub(1).map(|last| last as u32));
                Ok(())
            }
        }
    }
}

/// The objects to be copied, in order, with their offsets from the start of the copy.
struct Plan {
    order: Vec<Ref>,
    /// Offset plus one, by cell of the own arena; zeroed memory is not touched until used.
    own: Vec<u32>,
    others: RefMap<Ref, u32>,
    cells: usize,
    text: usize,
    /// True if atoms or volatiles are among the objects.
    has_places: bool,
    leaving: Leaving,
}

impl Plan {
    fn new(heap: &Heap, roots: &[Value], copied: impl Fn(u32) -> bool) -> Plan {
        Plan::with(heap, roots, copied, Leaving::default())
    }

    /// Makes a plan in which places are replaced by their values.
    fn with(heap: &Heap, roots: &[Value], copied: impl Fn(u32) -> bool, leaving: Leaving) -> Plan {
        let mut plan = Plan {
            order: Vec::new(),
            own: vec![0; heap.own.cells.len()],
            others: RefMap::default(),
            cells: 0,
            text: 0,
            has_places: false,
            leaving,
        };
        for root in roots {
            plan.add(heap, *root, &copied);
        }
        let mut next = 0;
        while next < plan.order.len() {
            let r = plan.order[next];
            next += 1;
            for i in 0..payload(heap.head(r)) {
                plan.add(heap, heap.field(r, i), &copied);
            }
        }
        plan
    }

    /// Returns the offset of the copy of an object, if it is copied.
    #[inline]
    fn place(&self, r: Ref) -> Option<usize> {
        match r.space() {
            0 => self.own.get(r.at() as usize).and_then(|place| (*place as usize).checked_sub(1)),
            _ => self.others.get(&r).map(|place| *place as usize),
        }
    }

    fn add(&mut self, heap: &Heap, cell: Value, copied: &impl Fn(u32) -> bool) {
        if let Some(r) = self.leaving.value(cell).reference()
            && copied(r.space())
            && self.place(r).is_none()
        {
            match r.space() {
                0 => self.own[r.at() as usize] = self.cells as u32 + 1,
                _ => drop(self.others.insert(r, self.cells as u32)),
            }
            self.order.push(r);
            let head = heap.head(r);
            self.cells += 1 + payload(head);
            if let Value::TextHead(parts) | Value::PlainHead(parts) = head {
                self.text += parts.get().0 as usize;
            }
            self.has_places |=
                matches!(head, Value::StateHead { kind } if kind != StateKind::Memory.number());
        }
    }

    /// Appends the copies to `cells`, which has `start` of them, and `text`.
    #[allow(clippy::too_many_arguments)] // two callers, each with every part at hand
    fn write(
        &self,
        heap: &Heap,
        cells: &mut Vec<Value>,
        text: &mut String,
        start: usize,
        mut spaces: impl FnMut(u32) -> u32,
        mut modules: impl FnMut(u32) -> u32,
        roots: &mut [Value],
    ) {
        let mut translate = |cell: Value| {
            let mut cell = self.leaving.value(cell);
            if let Some(r) = cell.reference_mut() {
                *r = match self.place(*r) {
                    Some(at) => Ref::own(start + at),
                    None => Ref::new(spaces(r.space()), r.at()),
                };
            }
            cell
        };
        for r in &self.order {
            let head = heap.head(*r);
            cells.push(match head {
                Value::TextHead(_) | Value::PlainHead(_) => {
                    let off = text.len();
                    text.push_str(heap.str(*r));
                    moved_text(head, off)
                }
                Value::ClosureHead(_) => {
                    let (module, code) = heap.closure_code(*r);
                    closure_head(modules(module), heap.capture_len(*r), code)
                }
                head => head,
            });
            cells.extend((0..payload(head)).map(|i| translate(heap.field(*r, i))));
        }
        for root in roots {
            *root = translate(*root);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Work;

    fn print(heap: &Heap, v: Value) -> String {
        let mut out = String::new();
        heap.print(v, &mut out, 10_000).unwrap();
        out
    }

    /// Returns `[{:a 1 "b" [2.5 nil]} … #{:a}]`, with a large map at the end.
    fn sample() -> Datum {
        let mut nodes = Vec::new();
        for i in 0..3 {
            let text = |s: &str| s.into();
            nodes.extend([Node::Keyword(text("a")), Node::Int(i), Node::Str(text("b"))]);
            nodes.extend([Node::Float(2.5), Node::Nil, Node::Vector(2), Node::Map(2)]);
        }
        nodes.extend([Node::Keyword("a".into()), Node::Set(1)]);
        nodes.push(Node::Big("123456789012345678901234567890".into()));
        for i in 0..50 {
            nodes.extend([Node::Int(i), Node::Day(i as i32)]);
        }
        nodes.extend([Node::Map(50), Node::Vector(6)]);
        Datum::new(nodes).unwrap()
    }

    #[test]
    fn data_comes_back_as_it_was() {
        let mut heap = Heap::unbounded();
        let datum = sample();
        let v = heap.from_datum(&datum).unwrap();
        assert_eq!(heap.to_datum(v, 100_000).unwrap(), datum);
        assert_eq!(heap.to_datum(v, 100).unwrap_err().code(), Code::OutputExceeded);
        // Equal records share their keys.
        let Value::Vector(r) = v else { panic!() };
        let shape = |i| heap.vec_get(r, i).and_then(|v| v.reference()).and_then(|r| heap.map_shape(r));
        assert!(shape(0).is_some() && shape(0) == shape(2));
    }

    #[test]
    fn what_is_not_data_is_printed() {
        let mut heap = Heap::unbounded();
        let f = heap.new_closure(0, 0, &[]).unwrap();
        assert_eq!(heap.to_datum(f, 100).unwrap().nodes(), [Node::Opaque("#fn[...]".into())]);
    }

    #[test]
    fn frozen_spaces_lead_to_each_other() {
        // Three turns of a session, each referring to values of the previous one.
        let mut modules = Vec::new();
        let mut first = Heap::unbounded();
        let mut roots = [first.from_datum(&sample()).unwrap()];
        let text = print(&first, roots[0]);
        let one = first.copy_out(&mut roots, &[]);
        let mut second = Heap::unbounded();
        let id = second.attach(one.clone(), &mut modules);
        let a = second.import(id, roots[0]);
        assert_eq!(print(&second, a), text);
        let mut roots = [second.new_vec(&[a, a]).unwrap()];
        second.new_str("not kept").unwrap();
        let two = second.copy_out(&mut roots, &[]);
        assert!(two.bytes() < 100, "only the new vector is copied");
        assert!(two.deps.iter().any(|dep| Arc::ptr_eq(dep, &one)));
        let mut third = Heap::unbounded();
        let id = third.attach(two, &mut modules);
        let both = third.import(id, roots[0]);
        assert_eq!(print(&third, both), format!("[{text} {text}]"));
        assert!(third.known_as(&one).is_some());
        let again = third.attach(one.clone(), &mut modules);
        assert_eq!(third.known_as(&one), Some(again));
    }

    #[test]
    fn branches_read_a_lent_arena_and_give_results_back() {
        let mut parent = Heap::unbounded();
        let items: Vec<Value> = (0..100).map(Value::Int).collect();
        let flat = parent.new_vec(&items).unwrap();
        let shared = parent.vec_conj(flat.reference().unwrap(), Value::Int(100)).unwrap();
        let text = print(&parent, shared);
        let lent = parent.lend(&[]);
        let mut results = Vec::new();
        for i in 0..2 {
            let mut child = Heap::unbounded();
            let id = child.attach(lent.clone(), &mut Vec::new());
            let seen = child.import(id, shared);
            let longer = child.vec_conj(seen.reference().unwrap(), Value::Int(i)).unwrap();
            let name = child.new_str("branch").unwrap();
            results.push((child.new_vec(&[longer, name, seen]).unwrap(), child, id));
        }
        parent.reclaim(lent);
        for (i, (v, child, id)) in results.iter().enumerate() {
            let spaces = |space| match space {
                _ if space == *id => Some(0),
                1 => Some(1),
                _ => None,
            };
            let v = parent.copy_in(child, *v, spaces, |m| m).unwrap();
            let Value::Vector(r) = v else { panic!() };
            assert!(parent.vec_get(r, 2).unwrap().same(shared));
            let longer = text.replace(']', &format!(" {i}]"));
            assert_eq!(print(&parent, v), format!("[{longer} \"branch\" {text}]"));
        }
        assert_eq!(print(&parent, shared), text);
    }

    #[test]
    fn limits_hold_for_transfers() {
        let mut small = Heap::with_limit(500);
        assert!(small.from_datum(&sample()).is_err());
        assert_eq!(small.used(), 0, "nothing is half done");
        let mut large = Heap::unbounded();
        let v = large.from_datum(&sample()).unwrap();
        assert!(small.copy_in(&large, v, |_| Some(1), |m| m).is_err());
        assert_eq!(small.used(), 0);
        let w = large.from_datum(&sample()).unwrap();
        assert!(large.equal(v, w, &mut Work::new(1000)).unwrap());
    }
}
