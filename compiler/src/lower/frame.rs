//! Frames: the function being lowered, and those inlined in it.

use super::regs::Place;
use super::{Dest, Lower};
use crate::resolved::{Constant, Kind, Lambda, Local, LocalId, Name, Node};

/// A function whose body is being lowered into the current code.
pub(super) struct Frame<'a> {
    pub(super) locals: &'a [Local<'a>],
    /// Place of each local, by its number.
    pub(super) places: Vec<Place>,
    /// True for each local that is known not to be an endless sequence.
    pub(super) finite: Vec<bool>,
    /// Captures, as names of the enclosing frame.
    captures: &'a [Name<'a>],
}

impl<'a> Frame<'a> {
    pub(super) fn new(locals: &'a [Local<'a>], captures: &'a [Name<'a>]) -> Frame<'a> {
        let n = locals.len();
        Frame { locals, places: vec![Place::Nowhere; n], finite: vec![false; n], captures }
    }
}

impl<'a> Lower<'_, 'a> {
    /// Enters a frame: from here on, names are those of an inlined function with these locals.
    pub(super) fn enter_frame(&mut self, lambda: &'a Lambda<'a>, locals: &'a [Local<'a>]) {
        let inner = Frame::new(locals, lambda.captures);
        self.around.push(std::mem::replace(&mut self.frame, inner));
    }

    /// Ends a frame opened by [`enter_frame`](Self::enter_frame).
    pub(super) fn leave_frame(&mut self) {
        if let Some(outer) = self.around.pop() {
            self.frame = outer;
        }
    }

    /// Runs `read` in the enclosing frame with the name behind a capture of an inlined function.
    fn in_outer<T>(&mut self, index: u32, read: impl FnOnce(&mut Self, Name<'a>) -> T) -> Option<T> {
        let name = *self.frame.captures.get(index as usize)?;
        let outer = self.around.pop()?;
        let inner = std::mem::replace(&mut self.frame, outer);
        let result = read(self, name);
        self.around.push(std::mem::replace(&mut self.frame, inner));
        Some(result)
    }

    /// Lowers a capture of an inlined function.
    pub(super) fn outer_name(&mut self, index: u32, dest: Dest) -> u8 {
        match self.in_outer(index, |this, name| this.name(name, dest)) {
            Some(reg) => reg,
            None => self.constant(Constant::Nil, dest),
        }
    }

    /// True if a value is known not to be an endless sequence.
    pub(super) fn is_finite(&mut self, node: &Node<'a>) -> bool {
        match node.kind {
            Kind::Const(_) | Kind::Vector(_) | Kind::Map(_) | Kind::Set(_) => true,
            Kind::Name(Name::Data(_)) => true,
            Kind::Name(Name::Local(LocalId(id))) => {
                self.frame.finite.get(id as usize).copied().unwrap_or(false)
            }
            Kind::Name(Name::Capture(index)) if !self.around.is_empty() => {
                let read =
                    |this: &mut Self, name| this.is_finite(&Node { span: node.span, kind: Kind::Name(name) });
                self.in_outer(index, read).unwrap_or(false)
            }
            Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) => {
                let name = id.row().map_or("", |row| row.name);
                match name {
                    "range" => !args.is_empty(),
                    _ if GIVES_FINITE.contains(&name) => true,
                    _ if KEEPS_FINITE.contains(&name) => {
                        args.len() > 1 && args.last().is_some_and(|coll| self.is_finite(coll))
                    }
                    _ => false,
                }
            }
            _ => false,
        }
    }
}

/// Functions that never return an endless sequence.
const GIVES_FINITE: &[&str] = &[
    "filterv",
    "frequencies",
    "group-by",
    "keys",
    "mapv",
    "parse-long",
    "re-seq",
    "select-keys",
    "sort",
    "sort-by",
    "split",
    "split-lines",
    "str",
    "subvec",
    "take",
    "vals",
    "vec",
    "zipmap",
];

/// Functions that return an endless sequence only if the last of several arguments is one.
const KEEPS_FINITE: &[&str] =
    &["drop", "drop-while", "filter", "keep", "map", "map-indexed", "remove", "take-while"];
