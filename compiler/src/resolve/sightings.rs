//! Sightings: places of names with what each means there, for editors.
//!
//! They are noted where names are resolved, so an editor and the compiler cannot disagree about shadowing,
//! destructuring or what a form expands to.

use super::{Binding, Definition, FunctionScope, Resolver, Siblings};
use crate::form::Form;
use crate::meter::Meter;
use crate::resolved::{Name, Sighting};
use crate::scope::Scope;
use crate::testing::TestPart;
use bumpalo::Bump;
use ptc_bytecode::Span;

/// Returns the places of names in a program. Errors are ignored: a form with one has no names, and the others do.
pub(crate) fn sightings<'a>(forms: &'a [Form<'a>], arena: &'a Bump, meter: &Meter<'_>) -> Vec<Sighting<'a>> {
    // The forms of test files are known too: to any other text they are errors, which do not count here.
    let scope = Scope::default().with_test(TestPart::Checks);
    let mut resolver = Resolver::new(forms, &scope, false, arena, meter);
    resolver.sightings = Some(Vec::new());
    resolver.program(forms);
    resolver.sightings.unwrap_or_default()
}

/// Returns the places of names in the definitions of a namespace of a prelude, which see each other in any order.
pub(crate) fn sightings_in<'a>(
    namespace: &'a str,
    definitions: &[Definition<'a>],
    arena: &'a Bump,
    meter: &Meter<'_>,
) -> Vec<Sighting<'a>> {
    let scope = Scope::default();
    let mut resolver = Resolver::new(&[], &scope, false, arena, meter);
    resolver.sightings = Some(Vec::new());
    resolver.siblings = Some(Siblings::of(namespace, &[], definitions));
    resolver.functions.push(FunctionScope::new(0));
    for (i, definition) in definitions.iter().enumerate() {
        if let Some(siblings) = &mut resolver.siblings {
            siblings.current = i as u32;
        }
        resolver.definition(definition);
    }
    resolver.sightings.unwrap_or_default()
}

impl Resolver<'_, '_> {
    /// Notes a local at a place.
    pub(super) fn sight_local(&mut self, at: Span, index: usize) {
        let Some(sightings) = &mut self.sightings else { return };
        let Binding { name, span, .. } = self.bindings[index];
        // Names that expansion made up have the places of what they hold.
        if !name.contains('·') {
            sightings.push(Sighting::Local { at, bound: span });
        }
    }
}

impl<'a> Resolver<'a, '_> {
    /// Notes a definition of the text at a place.
    pub(super) fn sight_definition(&mut self, name: &'a str, at: Span) {
        if let Some(sightings) = &mut self.sightings {
            sightings.push(Sighting::Definition { at, name });
        }
    }

    /// Notes the meaning of a bare name that is no local, if it is a definition of the text.
    pub(super) fn sight_global(&mut self, found: Name<'a>, name: &'a str, at: Span) {
        if matches!(found, Name::Def(_) | Name::Sibling(_) | Name::Fixed(_) | Name::This) {
            self.sight_definition(name, at);
        }
    }
}
