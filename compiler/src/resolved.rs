//! Core forms: a small tree in which every name is resolved.
//!
//! Nodes live in the arena of one compilation and are `Copy`. A local is numbered within its function; the captures of
//! a function list everything it needs from outside, so it can be evaluated with only its captures, its arguments, the
//! definitions and the builtins.

use ptc_bytecode::{BuiltinId, Span, ToolName};

mod print;

/// A whole program or library.
#[derive(Clone, Copy, Debug)]
pub struct Resolved<'a> {
    /// The program as a function of no arguments; None for a library.
    pub entry: Option<&'a Lambda<'a>>,
    /// Functions of a library, by name, in source order.
    pub exports: &'a [(&'a str, &'a Lambda<'a>)],
    /// Definitions the program reads or writes; [`DefRef`] is an index here.
    pub defs: &'a [&'a str],
    /// Tools the program names; [`ToolRef`] is an index here.
    pub tools: &'a [Tool<'a>],
    /// Granted data the program names, with its first place.
    pub data: &'a [(&'a str, Span)],
}

/// A tool a program names.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Tool<'a> {
    /// A tool by the name it is granted under.
    Named(&'a str),
    /// An operation of an upstream server, with both names written out in a call of `tool/call`.
    Upstream(&'a str, &'a str),
}

impl From<Tool<'_>> for ToolName {
    fn from(tool: Tool<'_>) -> ToolName {
        match tool {
            Tool::Named(name) => ToolName::Named(name.into()),
            Tool::Upstream(server, tool) => ToolName::Upstream { server: server.into(), tool: tool.into() },
        }
    }
}

/// A local of one function, an index into [`Clause::locals`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct LocalId(pub u32);

/// An index into [`Resolved::defs`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct DefRef(pub u32);

/// An index into [`Resolved::tools`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct ToolRef(pub u32);

/// One core form with its place in the source.
#[derive(Clone, Copy, Debug)]
pub struct Node<'a> {
    /// Place in the source.
    pub span: Span,
    /// Kind of form, with its parts.
    pub kind: Kind<'a>,
}

impl<'a> Node<'a> {
    /// Calls `visit` with the forms directly inside this one, in order of evaluation. A function has none: its
    /// content belongs to it.
    pub(crate) fn for_each_child(&self, mut visit: impl FnMut(&Node<'a>)) {
        match self.kind {
            Kind::Const(_) | Kind::Name(_) | Kind::Fn(_) | Kind::Break => {}
            Kind::Call(callee, args) => {
                visit(callee);
                args.iter().for_each(visit);
            }
            Kind::Vector(items)
            | Kind::Map(items)
            | Kind::Set(items)
            | Kind::Cond(items)
            | Kind::And(items)
            | Kind::Or(items)
            | Kind::Do(items)
            | Kind::Recur(items) => items.iter().for_each(visit),
            Kind::Let(bindings, body) | Kind::Loop(bindings, body) => {
                bindings.iter().for_each(|(_, value)| visit(value));
                body.iter().for_each(visit);
            }
            Kind::Define(_, _, value)
            | Kind::Finish(value)
            | Kind::Fail(value)
            | Kind::Throw(value)
            | Kind::Exit(value)
            | Kind::Deliver(value)
            | Kind::Assign(_, value) => visit(value),
            Kind::Try(parts) => parts.iter().for_each(visit),
            Kind::Each(_, coll, body) => {
                visit(coll);
                body.iter().for_each(visit);
            }
        }
    }
}

/// The kinds of core forms.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// A constant.
    Const(Constant<'a>),
    /// A name.
    Name(Name<'a>),
    /// `callee` with arguments, evaluated left to right.
    Call(&'a Node<'a>, &'a [Node<'a>]),
    /// A vector literal.
    Vector(&'a [Node<'a>]),
    /// A map literal, keys and values in turn.
    Map(&'a [Node<'a>]),
    /// A set literal.
    Set(&'a [Node<'a>]),
    /// Tests and results in turn, then the default: the first truthy test decides. Always an odd
    /// number; `if` is the case of three.
    Cond(&'a [Node<'a>]),
    /// The first falsy value, or the last.
    And(&'a [Node<'a>]),
    /// The first truthy value, or the last.
    Or(&'a [Node<'a>]),
    /// Evaluates all in order; the value of the last, nil if there is none.
    Do(&'a [Node<'a>]),
    /// Binds locals in order, then the body as in `Do`.
    Let(&'a [(LocalId, Node<'a>)], &'a [Node<'a>]),
    /// Binds like `Let`; a `Recur` inside assigns the locals and starts the body again.
    Loop(&'a [(LocalId, Node<'a>)], &'a [Node<'a>]),
    /// New values for the nearest loop or function, which starts again. In tail position only.
    Recur(&'a [Node<'a>]),
    /// A closure.
    Fn(&'a Lambda<'a>),
    /// Sets a definition (with `true`: only if it has no value) and gives the var.
    Define(DefRef, bool, &'a Node<'a>),
    /// Ends the run with a value.
    Finish(&'a Node<'a>),
    /// Ends the run as a declared failure.
    Fail(&'a Node<'a>),
    /// Calls the function without arguments that the first node gives; on an exception, calls the function of the
    /// second with it.
    Try(&'a [Node<'a>; 2]),
    /// Stops with an exception.
    Throw(&'a Node<'a>),
    /// Runs the body with the local bound to each element in turn; nil.
    Each(LocalId, &'a Node<'a>, &'a [Node<'a>]),
    /// Leaves the innermost `Each` of the function.
    Break,
    /// Assigns a local; nil.
    Assign(LocalId, &'a Node<'a>),
    /// Returns from the function.
    Exit(&'a Node<'a>),
    /// Core library: returns to where the caller wants the value.
    Deliver(&'a Node<'a>),
}

/// The meaning of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Name<'a> {
    /// A local of the same function.
    Local(LocalId),
    /// A value the function captured, an index into [`Lambda::captures`].
    Capture(u32),
    /// The function itself.
    This,
    /// A definition; a fault if it has no value yet.
    Def(DefRef),
    /// A definition, or nil if it has no value yet: a bare name inside `or`.
    DefOrNil(DefRef),
    /// The var of a definition: `#'x`.
    Var(DefRef),
    /// A builtin.
    Builtin(BuiltinId),
    /// A tool.
    Tool(ToolRef),
    /// A function of the same prelude namespace, by its number.
    Sibling(u32),
    /// A constant of the same prelude namespace, by its number.
    Fixed(u32),
    /// Granted data: `data/x`.
    Data(&'a str),
    /// An earlier result: 1, 2 or 3.
    History(u8),
}

/// A constant value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Constant<'a> {
    /// The value nil.
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// A larger integer, in decimal.
    Big(&'a str),
    /// A float.
    Float(f64),
    /// A string.
    Str(&'a str),
    /// A keyword, without its colon.
    Keyword(&'a str),
    /// A pattern's source.
    Regex(&'a str),
    /// A point in time, microseconds since 1970.
    Instant(i64),
    /// A quoted symbol.
    Symbol(&'a str),
    /// A quoted vector or list.
    Vector(&'a [Constant<'a>]),
    /// A quoted map, keys and values in turn.
    Map(&'a [Constant<'a>]),
    /// A quoted set.
    Set(&'a [Constant<'a>]),
}

impl Constant<'_> {
    /// True if it counts as true in a test.
    pub(crate) fn is_truthy(&self) -> bool {
        !matches!(self, Constant::Nil | Constant::Bool(false))
    }
}

/// A function.
#[derive(Clone, Copy, Debug)]
pub struct Lambda<'a> {
    /// Place in the source.
    pub span: Span,
    /// Name, if it has one.
    pub name: Option<&'a str>,
    /// Doc string, if there is one.
    pub doc: Option<&'a str>,
    /// Names of the enclosing function captured when the closure is made: its [`Name::Local`], [`Name::Capture`] or
    /// [`Name::This`].
    pub captures: &'a [Name<'a>],
    /// Arities: fixed ones by rising parameter count, then at most one with a rest parameter.
    pub clauses: &'a [Clause<'a>],
}

/// One arity of a function.
#[derive(Clone, Copy, Debug)]
pub struct Clause<'a> {
    /// Parameters before any rest parameter.
    pub required: u8,
    /// True if further arguments are collected into one more parameter, as a vector or nil.
    pub rest: bool,
    /// All locals by [`LocalId`]; the parameters come first.
    pub locals: &'a [Local<'a>],
    /// True if a `Recur` starts this body again.
    pub restarts: bool,
    /// Body, evaluated as in [`Kind::Do`].
    pub body: &'a [Node<'a>],
}

impl Clause<'_> {
    /// Returns the number of parameters, the rest parameter included.
    pub fn params(&self) -> usize {
        usize::from(self.required) + usize::from(self.rest)
    }

    /// True if a call with `n` arguments runs it.
    pub(crate) fn takes(&self, n: usize) -> bool {
        let required = usize::from(self.required);
        if self.rest { n >= required } else { n == required }
    }
}

/// A local of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Local<'a> {
    /// Name in the program or the expansion.
    pub name: &'a str,
    /// True if an `Assign` changes it.
    pub assigned: bool,
}

/// A name of the program at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sighting<'a> {
    /// A local, which is bound at `bound`.
    Local { at: Span, bound: Span },
    /// A definition of the text, where it is defined or used.
    Definition { at: Span, name: &'a str },
}
