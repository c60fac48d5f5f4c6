//! Local names in scope, with fast lookup by name.

use crate::resolved::{Name, ToolRef};
use ptc_bytecode::{KeyedState, Span};
use std::collections::HashMap;
use std::ops::Index;

/// A local name in scope.
#[derive(Clone, Copy)]
pub(super) struct Binding<'a> {
    pub(super) name: &'a str,
    /// Index of the function that owns it.
    pub(super) level: usize,
    /// `Local` or `This`.
    pub(super) what: Name<'a>,
    /// Tool that the name stands for: in preludes such a name is the tool itself, so that the reach of a call stays
    /// known.
    pub(super) tool: Option<ToolRef>,
    /// Place of the name where it is bound.
    pub(super) span: Span,
}

/// Local names in scope, inner ones last.
#[derive(Default)]
pub(super) struct Bindings<'a> {
    /// Bindings, each with the index of the one that it hides in `innermost`.
    all: Vec<(Binding<'a>, Option<usize>)>,
    /// Innermost binding of each name, except the first [`FEW`] bindings. The program chooses the names, so the
    /// hash is unpredictable to it.
    innermost: HashMap<&'a str, usize, KeyedState>,
}

/// Number of bindings that are searched as quickly as a name is hashed; most programs have no more.
const FEW: usize = 8;

impl<'a> Bindings<'a> {
    /// Returns the number of bindings.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the index of the innermost binding called `name`.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let first = &self.all[..self.all.len().min(FEW)];
        let inner = if self.innermost.is_empty() { None } else { self.innermost.get(name).copied() };
        inner.or_else(|| first.iter().rposition(|(binding, _)| binding.name == name))
    }

    pub(super) fn push(&mut self, binding: Binding<'a>) {
        let here = self.all.len();
        let hidden = if here < FEW { None } else { self.innermost.insert(binding.name, here) };
        self.all.push((binding, hidden));
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut Binding<'a>> {
        self.all.last_mut().map(|(binding, _)| binding)
    }

    /// Ends the scope of all but the first `len` bindings.
    pub(super) fn truncate(&mut self, len: usize) {
        for (binding, hidden) in self.all.drain(len.max(FEW).min(self.all.len())..).rev() {
            match hidden {
                Some(hidden) => self.innermost.insert(binding.name, hidden),
                None => self.innermost.remove(binding.name),
            };
        }
        self.all.truncate(len);
    }

    /// Iterates over the bindings, outer ones first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Binding<'a>> {
        self.all.iter().map(|(binding, _)| binding)
    }
}

impl<'a> Index<usize> for Bindings<'a> {
    type Output = Binding<'a>;

    fn index(&self, index: usize) -> &Binding<'a> {
        &self.all[index].0
    }
}
