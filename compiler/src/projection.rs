//! Projection: the parts of a record that a program can observe, so that readers of records may leave out the others.
//!
//! [`Reads`](crate::Reads) reports likely mistakes and may miss a use. This is a promise: the program gives the same result if
//! everything outside the projection is nil. So a value is followed only through constant keys, names and calls of
//! functions of the program; whatever else gets hold of it may observe all of it.

mod condition;
#[cfg(test)]
mod tests;
mod walk;

use crate::scope::Scope;
use crate::{Options, resolve_source};
use bumpalo::Bump;
pub use condition::{Condition, Literal, Order, conditions};
use ptc_bytecode::{Key, Limits};

/// The parts of a record that a program can observe.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Projection {
    is_whole: bool,
    members: Vec<(Key, Projection)>,
}

impl Projection {
    /// Returns the projection of everything.
    pub fn whole() -> Projection {
        Projection { is_whole: true, members: Vec::new() }
    }

    /// True if the program may observe everything: the record as a whole goes somewhere.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Returns the observed part of a member of a record; None if the program cannot observe it. A member whose part is
    /// empty is only tested for nil.
    ///
    /// ```
    /// use ptc_compiler::{Scope, projections};
    /// let source = "(* (:unit-price data/row) (-> data/row :of :amount))";
    /// let found = projections(source, &Scope::default(), &Default::default());
    /// let row = found.data("row");
    /// assert!(row.member("unit_price").is_some_and(|part| part.is_whole()));
    /// assert!(row.member("of").is_some_and(|part| part.member("amount").is_some() && !part.is_whole()));
    /// assert!(row.member("note").is_none());
    /// ```
    pub fn member(&self, name: &str) -> Option<Projection> {
        if self.is_whole {
            return Some(Projection::whole());
        }
        let found = self.members.iter().filter(|(key, _)| finds(key, name));
        found.map(|(_, part)| part).fold(None, |all, part| Some(all.unwrap_or_default().and(part.clone())))
    }

    /// Returns the keys that the program looks up, in the order of its text; none if it may observe everything.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.members.iter().map(|(key, _)| key)
    }

    /// Returns the members that the program looks up, with the observed part of each; none if it may observe everything.
    pub fn members(&self) -> impl Iterator<Item = (&Key, &Projection)> {
        self.members.iter().map(|(key, part)| (key, part))
    }

    /// Returns what at least one of two projections observes.
    #[must_use]
    pub fn and(mut self, other: Projection) -> Projection {
        if self.is_whole || other.is_whole {
            return Projection::whole();
        }
        for (key, part) in other.members {
            self = self.with(key, part);
        }
        self
    }

    /// Adds the observed part of a member.
    #[must_use]
    pub fn with(mut self, key: Key, part: Projection) -> Projection {
        if !self.is_whole {
            match self.members.iter_mut().find(|(known, _)| *known == key) {
                Some((_, known)) => *known = std::mem::take(known).and(part),
                None => self.members.push((key, part)),
            }
        }
        self
    }
}

/// True if a lookup of this key may find a member of this name: a keyword also finds it with `_` for `-`.
pub fn finds(key: &Key, name: &str) -> bool {
    let underscored = key.name.bytes().map(|byte| if byte == b'-' { b'_' } else { byte });
    *key.name == *name || (key.name.len() == name.len() && underscored.eq(name.bytes()))
}

/// The projections of everything that a program gets from outside.
#[derive(Clone, PartialEq, Debug)]
pub struct Projections {
    data: Vec<(Box<str>, Projection)>,
    step: Projection,
    /// True if the program could not be followed, so it may observe everything.
    is_unknown: bool,
}

impl Projections {
    /// Returns the projections of a program that may observe everything.
    fn unknown() -> Projections {
        Projections { data: Vec::new(), step: Projection::whole(), is_unknown: true }
    }

    /// Returns the observed part of granted data, empty for data that the program does not name.
    pub fn data(&self, name: &str) -> Projection {
        if self.is_unknown {
            return Projection::whole();
        }
        // `data/unit-price` is also the data `unit_price`.
        let is_same = |known: &str| finds(&Key { name: known.into(), is_keyword: true }, name);
        let found = self.data.iter().filter(|(known, _)| is_same(known)).map(|(_, part)| part.clone());
        found.fold(Projection::default(), Projection::and)
    }

    /// Returns all data that the program names, with the observed part; None if it may observe anything.
    pub fn all_data(&self) -> Option<&[(Box<str>, Projection)]> {
        (!self.is_unknown).then_some(&self.data)
    }

    /// Returns the observed part of the second argument of the function `step`, the record of a fold.
    pub fn step(&self) -> &Projection {
        &self.step
    }
}

/// Computes the parts of its data that a program can observe. A source that does not compile may observe everything.
pub fn projections(source: &str, scope: &Scope, limits: &Limits) -> Projections {
    let arena = Bump::new();
    match resolve_source(source, scope, limits, Options::default(), &arena) {
        Ok(resolved) => walk::Walk::over(&resolved),
        Err(_) => Projections::unknown(),
    }
}
