//! Interface of attached preludes: the exports a program may call, as the compiler needs them.

use ptc_bytecode::Returns;
use std::collections::{BTreeSet, HashMap};

/// The exports of preludes by their qualified names.
///
/// ```
/// use ptc_compiler::{Interface, Scope, Shape, compile, Options};
/// let find = Shape { constant: None, arities: vec![(1, false)], tools: vec![], returns: Default::default() };
/// let interface = Interface::new(["crm"], [("crm/find", find)]);
/// let scope = Scope::default().with_interface(Some(interface.into()));
/// let limits = ptc_bytecode::Limits::default();
/// assert!(compile("(crm/find 7)", &scope, &limits, Options::default()).is_ok());
/// let problems = compile("(crm/find 7 8)", &scope, &limits, Options::default()).unwrap_err();
/// assert_eq!(problems[0].message, "`crm/find` expects 1 argument(s), got 2");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    namespaces: BTreeSet<Box<str>>,
    exports: HashMap<Box<str>, Shape>,
}

/// The shape of one export.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Form of a constant's value; None for a function.
    pub constant: Option<Held>,
    /// For each arity, the number of required parameters and true for a rest parameter.
    pub arities: Vec<(u8, bool)>,
    /// Tools it may call.
    pub tools: Vec<Box<str>>,
    /// Return value, as far as it is known.
    pub returns: Returns,
}

/// The form of a constant's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Held {
    /// The value itself.
    Value,
    /// A function without parameters that makes the value, which holds functions.
    Made,
}

impl Interface {
    /// Makes an interface of these namespaces and exports.
    pub fn new<'n>(
        namespaces: impl IntoIterator<Item = &'n str>,
        exports: impl IntoIterator<Item = (&'n str, Shape)>,
    ) -> Interface {
        Interface {
            namespaces: namespaces.into_iter().map(Into::into).collect(),
            exports: exports.into_iter().map(|(name, shape)| (name.into(), shape)).collect(),
        }
    }

    /// Joins it with another interface, which has no namespace in common with it.
    ///
    /// ```
    /// use ptc_compiler::Interface;
    /// let both = Interface::new(["crm"], []).beside(&Interface::new(["shop"], []));
    /// assert_eq!(both.namespaces().collect::<Vec<_>>(), ["crm", "shop"]);
    /// ```
    #[must_use]
    pub fn beside(&self, other: &Interface) -> Interface {
        let mut both = self.clone();
        both.namespaces.extend(other.namespaces.iter().cloned());
        both.exports.extend(other.exports.iter().map(|(name, shape)| (name.clone(), shape.clone())));
        both
    }

    /// Returns the part in these namespaces.
    ///
    /// ```
    /// use ptc_compiler::Interface;
    /// let both = Interface::new(["crm", "shop"], []);
    /// assert_eq!(both.only(&["crm"]).namespaces().collect::<Vec<_>>(), ["crm"]);
    /// ```
    #[must_use]
    pub fn only(&self, namespaces: &[&str]) -> Interface {
        let is_in = |name: &str| namespaces.contains(&name);
        let exports = self.exports.iter().filter(|(name, _)| name.split('/').next().is_some_and(is_in));
        Interface {
            namespaces: self.namespaces.iter().filter(|name| is_in(name)).cloned().collect(),
            exports: exports.map(|(name, shape)| (name.clone(), shape.clone())).collect(),
        }
    }

    /// True if a prelude declares this namespace.
    pub(crate) fn has_namespace(&self, name: &str) -> bool {
        self.namespaces.contains(name)
    }

    /// Returns the namespaces, sorted.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.namespaces.iter().map(|name| &**name)
    }

    /// Returns the export with this qualified name.
    pub fn export(&self, name: &str) -> Option<&Shape> {
        self.exports.get(name)
    }

    /// Returns the names of the exports, in no order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.exports.keys().map(|name| &**name)
    }
}

impl Shape {
    /// True if it takes `n` arguments.
    pub fn takes(&self, n: usize) -> bool {
        self.arities.iter().any(|(required, rest)| match rest {
            true => n >= usize::from(*required),
            false => n == usize::from(*required),
        })
    }

    /// Formats the argument counts for messages: "1", "at least 2", "1 or 2".
    pub(crate) fn arity_words(&self) -> String {
        let word = |(required, rest): &(u8, bool)| match rest {
            true => format!("at least {required}"),
            false => required.to_string(),
        };
        self.arities.iter().map(word).collect::<Vec<_>>().join(" or ")
    }
}
