//! Definitions beside the one being resolved, when a prelude is compiled.

use crate::form::Form;
use ptc_bytecode::Span;
use std::collections::HashMap;

/// One definition of a prelude namespace.
#[derive(Clone, Copy)]
pub(crate) struct Definition<'a> {
    pub name: &'a str,
    /// Qualified name, `ns/name`.
    pub reference: &'a str,
    pub form: Form<'a>,
    /// Value of a constant; None for a function.
    pub value: Option<Form<'a>>,
}

/// The namespace whose definitions are being resolved.
pub(crate) struct Siblings<'a> {
    pub(super) namespace: &'a str,
    /// All namespaces of the source.
    pub(super) namespaces: &'a [&'a str],
    /// Number of each definition, and true for a constant.
    pub(super) names: HashMap<&'a str, (u32, bool)>,
    /// The definition being resolved.
    pub(super) current: u32,
    /// Calls of functions by their numbers, checked when all have been seen.
    pub(super) calls: Vec<(u32, usize, Span)>,
}

impl<'a> Siblings<'a> {
    /// Makes the siblings of the first definition.
    pub(super) fn of(
        namespace: &'a str,
        namespaces: &'a [&'a str],
        definitions: &[Definition<'a>],
    ) -> Siblings<'a> {
        let numbers = definitions.iter().enumerate();
        let names = numbers.map(|(i, d)| (d.name, (i as u32, d.value.is_some()))).collect();
        Siblings { namespace, namespaces, names, current: 0, calls: Vec::new() }
    }

    /// Returns the definitions, in no order; a suggestion picks the nearest.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.names.keys().copied().collect();
        names.sort_unstable();
        names.into_iter()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }
}
