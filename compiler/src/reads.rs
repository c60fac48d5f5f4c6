//! Reads: the fields a program looks up, and in which granted data, answers of tools and definitions of the session,
//! as far as its text tells.
//!
//! Values are not known yet, so a program is gone through once with paths in their place: `(:total (first
//! data/orders))` reads `:total` of `data/orders`, then `Each`. Functions of the program are gone through where they
//! are called. Whoever has the values holds them against [`Reads`] before the run. Where a value comes from somewhere
//! else, or from several places, it is not known, and nothing is said of it.

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

/// The most nodes that are looked at; a program that takes more is only known in part, and nothing is said of it.
const MAX_STEPS: u32 = 20_000;

/// What a program reads.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Reads {
    /// Where values come from; a [`PathId`] is an index here, and parents come before their children.
    pub paths: Vec<Path>,
    /// Fields that are looked up, by their place in the text.
    pub lookups: Vec<Lookup>,
    /// Comparisons with a constant.
    pub comparisons: Vec<Comparison>,
    /// Calls of tools.
    pub calls: Vec<ToolCall>,
    /// What is computed with.
    pub operands: Vec<Operand>,
}

/// One [`Path`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

/// Where a value comes from: a step from another, or a beginning.
#[derive(Clone, PartialEq, Debug)]
pub struct Path {
    /// None for a beginning.
    pub parent: Option<PathId>,
    /// The step.
    pub step: Step,
    /// Whether the program is prepared to find nothing here: it tests for that, or has something to put in its place.
    pub guarded: bool,
}

/// A step of a [`Path`].
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Granted data.
    Data(Box<str>),
    /// A definition of the session.
    Definition(Box<str>),
    /// The answer of a tool.
    Answer(ToolName),
    /// The value of a field.
    Field(Key),
    /// Every element of a list; every entry of a map.
    Each,
    /// An element by its position; of an entry, 0 is the key and 1 the value.
    Nth(u32),
    /// Every value of a map.
    Values,
}

/// A place in the text that looks a field up.
#[derive(Clone, PartialEq, Debug)]
pub struct Lookup {
    /// The place.
    pub span: Span,
    /// The field.
    pub key: Key,
    /// The maps it is looked up in.
    pub of: Vec<Of>,
    /// Whether it may be looked up in others as well.
    pub is_open: bool,
    /// Whether the program has something to put in its place, or reads a map whose keys are data.
    pub guarded: bool,
    /// Whether it is taken out, which takes the very key: a look-up also finds a string by its keyword.
    pub is_removed: bool,
}

/// Maps that a field is looked up in.
#[derive(Clone, PartialEq, Debug)]
pub enum Of {
    /// Those at a path.
    Path(PathId),
    /// Those the program makes, or an export of a prelude does, which have these keys and no others.
    Made {
        /// The keys.
        keys: Vec<Key>,
        /// The export that gives them back; None for the program itself.
        by: Option<Box<str>>,
    },
}

/// A value that is compared with a constant.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The place.
    pub span: Span,
    /// By order, or whether they are equal.
    pub by: Relation,
    /// The values that are compared.
    pub of: Compared,
    /// What they are compared with.
    pub constant: Compared,
}

/// How values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Relation {
    /// `=`, `not=`
    Equal,
    /// `<`, `>`, `<=`, `>=`
    Order,
}

/// A side of a comparison.
#[derive(Clone, PartialEq, Debug)]
pub enum Compared {
    /// What is at a path.
    Path(PathId),
    /// A string or a keyword.
    Text(Key),
    /// A number.
    Number,
    /// nil, written as such.
    Nil,
}

/// A value that is computed with, where the program certainly comes by. Those inside `try` are left out.
#[derive(Clone, PartialEq, Debug)]
pub struct Operand {
    /// The place.
    pub span: Span,
    /// What computes with it.
    pub builtin: &'static str,
    /// The values.
    pub path: PathId,
}

/// A call of a tool. Those inside `try` are left out: a program may well mean them to fail.
#[derive(Clone, PartialEq, Debug)]
pub struct ToolCall {
    /// The place.
    pub span: Span,
    /// The tool.
    pub tool: ToolName,
    /// Its arguments.
    pub args: Given,
}

/// What a program hands over, as far as its text tells.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Anything.
    Anything,
    /// nil
    Nil,
    /// true or false.
    Boolean,
    /// An integer.
    Integer,
    /// Some number.
    Number,
    /// A keyword or a string.
    Text(Box<str>),
    /// A list of any kind.
    List,
    /// A map.
    Map {
        /// Its entries whose keys are known.
        fields: Vec<(Key, Given)>,
        /// Whether there are no others.
        is_whole: bool,
    },
    /// A function.
    Function,
}

impl Reads {
    /// Fields a run may watch: those that the program looks up without being prepared not to find them.
    /// Each with the first place that does.
    pub fn watched(&self) -> impl Iterator<Item = (&Key, Span)> {
        let lookups = self.lookups.iter().enumerate().filter(|(_, lookup)| !lookup.is_removed);
        lookups.filter_map(|(i, lookup)| {
            let same = |other: &&Lookup| other.key.name == lookup.key.name && !other.is_removed;
            let is_first = !self.lookups[..i].iter().any(|other| same(&other));
            // Asked for the first place of a name alone, since a program may repeat it very often.
            let is_guarded = || self.lookups.iter().filter(same).any(|other| self.is_guarded(other));
            (is_first && !is_guarded()).then_some((&lookup.key, lookup.span))
        })
    }

    /// Whether the program is prepared not to find a field.
    pub fn is_guarded(&self, lookup: &Lookup) -> bool {
        lookup.guarded
            || lookup.of.iter().any(|of| matches!(of, Of::Path(path) if self.tests(*path, &lookup.key)))
    }

    /// Whether the program tests somewhere whether there is such a field.
    fn tests(&self, parent: PathId, key: &Key) -> bool {
        self.paths.iter().any(|path| {
            path.guarded
                && path.parent == Some(parent)
                && matches!(&path.step, Step::Field(field) if field.name == key.name)
        })
    }
}

/// What a program reads. The interface tells what exports of preludes give back.
pub(crate) fn reads<'a>(program: &Resolved<'a>, interface: Option<&'a Interface>, arena: &'a Bump) -> Reads {
    walk::Walk::over(program, interface, arena, MAX_STEPS)
}

/// What each function of a namespace gives back, whatever it is called with. Functions name each other by their numbers.
pub(crate) fn returns<'a>(
    functions: &[&'a Lambda<'a>],
    tools: &'a [Tool<'a>],
    arena: &'a Bump,
) -> Vec<Returns> {
    walk::Walk::over_namespace(functions, tools, arena, MAX_STEPS)
}
