//! Reads: the fields a program looks up in granted data, replies of tools and definitions of the session, as far as its
//! text tells.
//!
//! Values are not known yet, so a program is walked once with paths in their place: `(:total (first data/orders))`
//! reads `:total` of `data/orders`, then `Each`. Functions of the program are walked at their calls. The runtime checks
//! [`Reads`] against the values before the run. A value from elsewhere, or from several places, is unknown, and nothing
//! is reported about it.

mod builtin;
mod known;
mod returns;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use crate::interface::Interface;
use crate::resolved::{Lambda, Resolved, Tool};
use bumpalo::Bump;
pub use ptc_bytecode::Key;
use ptc_bytecode::{Returns, Span, ToolName};

/// Maximum nodes that are walked; a longer program is known only in part, and nothing is reported about the rest.
const MAX_STEPS: u32 = 20_000;

/// The reads of a program.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reads {
    /// Origins of values; a [`PathId`] is an index here, and parents come before their children.
    pub paths: Vec<Path>,
    /// Field lookups, by their place in the text.
    pub lookups: Vec<Lookup>,
    /// Comparisons with a constant.
    pub comparisons: Vec<Comparison>,
    /// Calls of tools.
    pub calls: Vec<ToolCall>,
    /// Operands of arithmetic.
    pub operands: Vec<Operand>,
}

/// Index of a [`Path`] in [`Reads::paths`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

/// The origin of a value: a step from another path, or a root.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// Path before this step; None for a root.
    pub parent: Option<PathId>,
    /// Last step.
    pub step: Step,
    /// True if the program handles a missing value here: it tests for it, or has a default.
    pub guarded: bool,
}

/// A step of a [`Path`].
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Granted data.
    Data(Box<str>),
    /// A definition of the session.
    Definition(Box<str>),
    /// The reply of a tool.
    Answer(ToolName),
    /// The value of a field.
    Field(Key),
    /// Every element of a list, or every entry of a map.
    Each,
    /// The element at a position; of an entry, 0 is the key and 1 the value.
    Nth(u32),
    /// Every value of a map.
    Values,
}

/// A lookup of a field at a place in the text.
#[derive(Clone, PartialEq, Debug)]
pub struct Lookup {
    /// Place of the lookup.
    pub span: Span,
    /// Field.
    pub key: Key,
    /// Maps it is looked up in.
    pub of: Vec<Of>,
    /// True if it may be looked up in other maps as well.
    pub is_open: bool,
    /// True if the program has a default, or reads a map whose keys are data.
    pub guarded: bool,
    /// True if the field is removed, which needs the exact key: a lookup also finds a string by its keyword.
    pub is_removed: bool,
}

/// The maps of a lookup.
#[derive(Clone, PartialEq, Debug)]
pub enum Of {
    /// The maps at a path.
    Path(PathId),
    /// Maps made by the program or by an export of a prelude, with these keys and no others.
    Made {
        /// Keys of the maps.
        keys: Vec<Key>,
        /// Export that returns them; None for the program itself.
        by: Option<Box<str>>,
    },
}

/// A value that is compared with a constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Place of the comparison.
    pub span: Span,
    /// Kind of comparison.
    pub by: Relation,
    /// Compared values.
    pub of: Compared,
    /// Constant they are compared with.
    pub constant: Compared,
}

/// The kind of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// Equality: `=`, `not=`.
    Equal,
    /// Order: `<`, `>`, `<=`, `>=`.
    Order,
}

/// A side of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub enum Compared {
    /// The value at a path.
    Path(PathId),
    /// A string or a keyword.
    Text(Key),
    /// A number.
    Number,
    /// nil, written literally.
    Nil,
}

/// An operand of arithmetic that the program certainly evaluates. Those inside `try` are left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Operand {
    /// Place of the operand.
    pub span: Span,
    /// Builtin that computes with it.
    pub builtin: &'static str,
    /// Path of the values.
    pub path: PathId,
}

/// A call of a tool. Those inside `try` are left out: the program may expect them to fail.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolCall {
    /// Place of the call.
    pub span: Span,
    /// Called tool.
    pub tool: ToolName,
    /// Arguments, as far as they are known.
    pub args: Given,
}

/// A value that a program passes, as far as its text tells.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Any value.
    Anything,
    /// nil
    Nil,
    /// A boolean.
    Boolean,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A keyword or a string.
    Text(Box<str>),
    /// A list of any kind.
    List,
    /// A map.
    Map {
        /// Entries with known keys.
        fields: Vec<(Key, Given)>,
        /// True if there are no other entries.
        is_whole: bool,
    },
    /// A function.
    Function,
}

impl Reads {
    /// Returns the fields a run may watch: those that the program looks up without handling their absence, each
    /// with its first place.
    pub fn watched(&self) -> impl Iterator<Item = (&Key, Span)> {
        let lookups = self.lookups.iter().enumerate().filter(|(_, lookup)| !lookup.is_removed);
        lookups.filter_map(|(i, lookup)| {
            let same = |other: &&Lookup| other.key.name == lookup.key.name && !other.is_removed;
            let is_first = !self.lookups[..i].iter().any(|other| same(&other));
            // Checked for the first place of a name only, since a program may repeat it very often.
            let is_guarded = || self.lookups.iter().filter(same).any(|other| self.is_guarded(other));
            (is_first && !is_guarded()).then_some((&lookup.key, lookup.span))
        })
    }

    /// True if the program handles the absence of a field.
    pub fn is_guarded(&self, lookup: &Lookup) -> bool {
        lookup.guarded
            || lookup.of.iter().any(|of| matches!(of, Of::Path(path) if self.tests(*path, &lookup.key)))
    }

    /// True if the program tests for this field anywhere.
    fn tests(&self, parent: PathId, key: &Key) -> bool {
        self.paths.iter().any(|path| {
            path.guarded
                && path.parent == Some(parent)
                && matches!(&path.step, Step::Field(field) if field.name == key.name)
        })
    }
}

/// Computes the reads of a program. The interface gives the return values of exports.
pub(crate) fn reads<'a>(program: &Resolved<'a>, interface: Option<&'a Interface>, arena: &'a Bump) -> Reads {
    walk::Walk::over(program, interface, arena, MAX_STEPS)
}

/// Computes the return values of the functions of a namespace, for any arguments. Functions refer to each other by
/// number.
pub(crate) fn returns<'a>(
    functions: &[&'a Lambda<'a>],
    tools: &'a [Tool<'a>],
    arena: &'a Bump,
) -> Vec<Returns> {
    walk::Walk::over_namespace(functions, tools, arena, MAX_STEPS)
}
