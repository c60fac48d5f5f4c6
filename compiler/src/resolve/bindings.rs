//! The local names in scope, found by name however many there are.

use crate::resolved::{Name, ToolRef};
use ptc_bytecode::KeyedState;
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
    /// The tool it stands for: in preludes such a name is the tool itself, so that what a call
    /// reaches stays known.
    pub(super) tool: Option<ToolRef>,
}

/// Local names in scope, inner ones last.
#[derive(Default)]
pub(super) struct Bindings<'a> {
    /// Each with the place of the one that it hides in `innermost`.
    all: Vec<(Binding<'a>, Option<usize>)>,
    /// The innermost binding of each name, the first [`FEW`] bindings left out. Names are up to the program,
    /// so the hash is one it cannot predict.
    innermost: HashMap<&'a str, usize, KeyedState>,
}

/// So few bindings are looked through as quickly as a name is hashed, and most programs have no more.
const FEW: usize = 8;

impl<'a> Bindings<'a> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Index of the innermost one called `name`.
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

    /// Ends the scope of all but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        for (binding, hidden) in self.all.drain(len.max(FEW).min(self.all.len())..).rev() {
            match hidden {
                Some(hidden) => self.innermost.insert(binding.name, hidden),
                None => self.innermost.remove(binding.name),
            };
        }
        self.all.truncate(len);
    }

    /// All of them, outer ones first.
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
