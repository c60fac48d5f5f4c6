//! Walk through a frozen value part by part, for hosts that measure or inspect data.

use crate::frozen::Frozen;
use crate::heap::Heap;
use crate::link::Module;
use crate::value::{Ref, RefSet, Value};
use ptc_bytecode::BuiltinId;
use std::ops::ControlFlow;
use std::sync::Arc;

/// One part of a value. The parts of a collection follow it: items, or keys and values in turn.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Part<'a> {
    /// The value nil.
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer of 64 bits.
    Int(i64),
    /// A larger integer, as its number of bytes without the sign.
    Big(usize),
    /// A float.
    Float(f64),
    /// A day, an instant or a duration.
    Time(i64),
    /// Text.
    Str(&'a str),
    /// A keyword, without its colon.
    Keyword(&'a str),
    /// The name of a symbol, a definition, a tool or a builtin.
    Name(&'a str),
    /// A pattern, by source.
    Regex(&'a str),
    /// A vector of this many items.
    List(usize),
    /// A set of this many members.
    Set(usize),
    /// A map of this many entries.
    Map(usize),
    /// A function: the approximate bytes of its source, and the number of captured values, which follow.
    Function(usize, usize),
    /// An endless sequence, an atom, or the state of a transducer; its content follows.
    Other,
}

/// A value still to be walked.
enum Frame {
    Items(Value, usize),
    Entries(Ref, usize),
    Members(Ref, usize),
    Captures(Ref, usize),
    One(Value),
    /// End of the content of a place.
    Leave(Ref),
}

impl Frozen {
    /// Walks the value and everything in it, depth first, until `each` breaks; returns the break value. A shared
    /// part is visited each time it is reached, so a small value may have an astronomical number of parts: break in
    /// time.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// use ptc_vm::{Frozen, Part};
    /// use std::ops::ControlFlow;
    /// let rows = Datum::new(vec![Node::Int(1), Node::Str("two".into()), Node::Vector(2)]).unwrap();
    /// let mut seen = Vec::new();
    /// Frozen::from_datum(&rows).unwrap().parts(|part| {
    ///     seen.push(format!("{part:?}"));
    ///     ControlFlow::<()>::Continue(())
    /// });
    /// assert_eq!(seen, ["List(2)", "Int(1)", "Str(\"two\")"]);
    /// ```
    pub fn parts<B>(&self, each: impl FnMut(Part<'_>) -> ControlFlow<B>) -> Option<B> {
        let mut heap = Heap::with_limit(u64::MAX);
        let mut modules = Vec::new();
        let id = heap.attach(self.space().clone(), &mut modules);
        let root = heap.import(id, self.root());
        let mut walk =
            Walk { heap: &heap, modules: &modules, frames: Vec::new(), inside: RefSet::default(), each };
        walk.whole(root).break_value()
    }
}

struct Walk<'h, F> {
    heap: &'h Heap,
    modules: &'h [Arc<Module>],
    frames: Vec<Frame>,
    /// Places being walked: the only values that can lead back to themselves.
    inside: RefSet<Ref>,
    each: F,
}

impl<B, F: FnMut(Part<'_>) -> ControlFlow<B>> Walk<'_, F> {
    fn whole(&mut self, root: Value) -> ControlFlow<B> {
        self.value(root)?;
        while let Some(frame) = self.frames.pop() {
            self.go_on(frame)?;
        }
        ControlFlow::Continue(())
    }

    fn value(&mut self, v: Value) -> ControlFlow<B> {
        let heap = self.heap;
        let (part, frame) = match v {
            Value::True | Value::False => (Part::Bool(v.truthy()), None),
            Value::Int(n) => (Part::Int(n), None),
            Value::Float(x) => (Part::Float(x.get()), None),
            Value::Day(n) | Value::Instant(n) | Value::Duration(n) => (Part::Time(n), None),
            Value::Builtin(id) => {
                let row = u32::try_from(id).ok().and_then(|id| BuiltinId(id).row());
                (Part::Name(row.map_or("", |row| row.name)), None)
            }
            Value::Str(r) => (Part::Str(heap.str(r)), None),
            Value::Keyword(r) => (Part::Keyword(heap.str(r)), None),
            Value::Symbol(r) | Value::Var(r) | Value::Tool(r) => (Part::Name(heap.str(r)), None),
            Value::Regex(r) => (Part::Regex(heap.str(r)), None),
            Value::Big(r) => (Part::Big(self.big_bytes(r)), None),
            Value::Vector(_) | Value::Range(_) => (Part::List(heap.seq_len(v)), Some(Frame::Items(v, 0))),
            Value::Map(r) => (Part::Map(heap.map_len(r)), Some(Frame::Entries(r, 0))),
            Value::Set(r) => (Part::Set(heap.set_len(r)), Some(Frame::Members(r, 0))),
            Value::Closure(r) => {
                let captures = heap.capture_len(r);
                (Part::Function(self.source_bytes(r), captures), Some(Frame::Captures(r, 0)))
            }
            Value::Endless(r) => {
                let parts = match heap.link_parts(r) {
                    Some((first, rest)) => vec![first, rest],
                    None => heap.step_parts(r),
                };
                self.frames.extend(parts.into_iter().rev().map(Frame::One));
                (Part::Other, None)
            }
            Value::State(r) if self.inside.insert(r) => {
                self.frames.push(Frame::Leave(r));
                (Part::Other, Some(Frame::One(heap.state(r))))
            }
            Value::State(_) => (Part::Other, None),
            // The host measures actual content.
            Value::Veiled(_) => return self.value(heap.unveil(v)),
            Value::Exception(r) => return self.value(Value::Map(heap.exception_map(r))),
            // A builder is finished before it is visible; the rest are no values.
            _ => (Part::Nil, None),
        };
        self.frames.extend(frame);
        (self.each)(part)
    }

    fn go_on(&mut self, frame: Frame) -> ControlFlow<B> {
        match frame {
            Frame::Items(v, at) => {
                let Some(item) = self.heap.seq_get(v, at) else { return ControlFlow::Continue(()) };
                self.frames.push(Frame::Items(v, at + 1));
                self.value(item)
            }
            Frame::Entries(r, cursor) => {
                let Some((key, value, next)) = self.heap.map_next(r, cursor) else {
                    return ControlFlow::Continue(());
                };
                self.frames.extend([Frame::Entries(r, next), Frame::One(value)]);
                self.value(key)
            }
            Frame::Members(r, cursor) => {
                let Some((item, next)) = self.heap.set_next(r, cursor) else {
                    return ControlFlow::Continue(());
                };
                self.frames.push(Frame::Members(r, next));
                self.value(item)
            }
            Frame::Captures(r, at) if at < self.heap.capture_len(r) => {
                self.frames.push(Frame::Captures(r, at + 1));
                self.value(self.heap.capture(r, at))
            }
            Frame::Captures(..) => ControlFlow::Continue(()),
            Frame::One(value) => self.value(value),
            Frame::Leave(r) => {
                self.inside.remove(&r);
                ControlFlow::Continue(())
            }
        }
    }

    fn big_bytes(&self, r: Ref) -> usize {
        let limbs = self.heap.big_limbs(r);
        let top = match limbs.last() {
            Some(Value::Int(n)) => (*n as u64).leading_zeros() as usize / 8,
            _ => 0,
        };
        limbs.len() * 8 - top
    }

    /// Returns the length of name, parameters and source span of a function: artifacts hold no text.
    fn source_bytes(&self, r: Ref) -> usize {
        let (module, function) = self.heap.closure_code(r);
        let Some(artifact) = self.modules.get(module as usize).map(|module| module.artifact()) else {
            return 0;
        };
        let Some(function) = artifact.functions.get(function as usize) else { return 0 };
        let mut bytes = function.name.as_ref().map_or(0, |name| name.len());
        for arity in &function.arities {
            let spans = artifact.blocks.get(arity.block as usize).map_or(&[][..], |block| &block.spans);
            let start = spans.iter().map(|(_, span)| span.start).min().unwrap_or(0);
            let end = spans.iter().map(|(_, span)| span.end).max().unwrap_or(0);
            bytes += arity.params.len() + end.saturating_sub(start) as usize;
        }
        bytes
    }
}
