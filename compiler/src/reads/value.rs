//! Abstract values, as far as a text tells them.

use super::{Given, Key, PathId};
use crate::resolved::{Constant, DefRef, Lambda, ToolRef};
use bumpalo::Bump;
use ptc_bytecode::BuiltinId;

/// Maximum entries of a passed map that are recorded; a larger one is recorded in part.
const MAX_GIVEN: usize = 64;

/// Maximum parts of two values that are compared for equality. Values share parts, so a few lines may expand to an
/// astronomical number of them.
const MAX_COMPARED: u32 = 300;

/// An abstract value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    /// Any value.
    Unknown,
    /// No value: the program continues elsewhere.
    Never,
    /// A constant.
    Const(Constant<'a>),
    /// The value at a path.
    Path(PathId),
    /// A number.
    Number,
    /// A list of such values.
    List(&'a Value<'a>),
    /// A vector of exactly these.
    Tuple(&'a [Value<'a>]),
    /// A map whose keys are literals of the program.
    Record(&'a Record<'a>),
    /// A map whose keys are data, with such values.
    Index(&'a Value<'a>),
    /// A function of the program.
    Fn(&'a Closure<'a>),
    /// A builtin.
    Builtin(BuiltinId),
    /// A tool.
    Tool(ToolRef),
    /// A function of a prelude, by its number among the definitions the program names.
    Export(DefRef),
    /// A function composed of others.
    Made(Combination, &'a [Value<'a>]),
    /// A list under construction, by its number.
    Builder(u32),
}

/// A map whose keys are literals of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// Map it was made from, whose other keys it has.
    pub base: Option<PathId>,
    pub fields: &'a [(Name<'a>, Value<'a>)],
    /// Export that returns it; None for the program itself.
    pub by: Option<&'a str>,
}

/// A literal key of the program: its text, and true for a keyword.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Name<'a> {
    pub text: &'a str,
    pub is_keyword: bool,
}

impl<'a> Name<'a> {
    pub fn of(value: Value<'a>) -> Option<Name<'a>> {
        match value {
            Value::Const(Constant::Keyword(text)) => Some(Name { text, is_keyword: true }),
            Value::Const(Constant::Str(text)) => Some(Name { text, is_keyword: false }),
            _ => None,
        }
    }

    /// Returns it as an owned key.
    pub fn key(self) -> Key {
        Key { name: self.text.into(), is_keyword: self.is_keyword }
    }

    /// True if a lookup of this key finds an entry with the other, as in maps: a keyword finds the string, also
    /// with `_` for `-`, and a string finds the keyword.
    pub fn finds(self, other: Name<'_>) -> bool {
        self.text == other.text
            || (self.is_keyword
                && !other.is_keyword
                && self.text.len() == other.text.len()
                && self.text.bytes().map(|b| if b == b'-' { b'_' } else { b }).eq(other.text.bytes()))
    }
}

/// A function of the program with the values it captured.
#[derive(Debug)]
pub(super) struct Closure<'a> {
    pub lambda: &'a Lambda<'a>,
    pub captures: &'a [Value<'a>],
}

/// Compares with little effort: equal only if that is seen quickly.
impl PartialEq for Value<'_> {
    fn eq(&self, other: &Self) -> bool {
        same(*self, *other, &mut { MAX_COMPARED })
    }
}

fn same(a: Value<'_>, b: Value<'_>, left: &mut u32) -> bool {
    *left = left.saturating_sub(1);
    if *left == 0 {
        return false;
    }
    match (a, b) {
        (Value::Unknown, Value::Unknown) | (Value::Never, Value::Never) => true,
        (Value::Number, Value::Number) => true,
        (Value::Const(a), Value::Const(b)) => same_constant(a, b, left),
        (Value::Path(a), Value::Path(b)) => a == b,
        (Value::List(a), Value::List(b)) | (Value::Index(a), Value::Index(b)) => {
            std::ptr::eq(a, b) || same(*a, *b, left)
        }
        (Value::Tuple(a), Value::Tuple(b)) => all_same(a, b, left),
        (Value::Record(a), Value::Record(b)) => {
            let is_same_field = |((key, a), (other, b)): (&(Name<'_>, Value<'_>), &(Name<'_>, Value<'_>))| {
                key == other && same(*a, *b, left)
            };
            std::ptr::eq(a, b)
                || (a.base == b.base
                    && a.by == b.by
                    && a.fields.len() == b.fields.len()
                    && a.fields.iter().zip(b.fields).all(is_same_field))
        }
        (Value::Fn(a), Value::Fn(b)) => {
            std::ptr::eq(a, b) || (std::ptr::eq(a.lambda, b.lambda) && all_same(a.captures, b.captures, left))
        }
        (Value::Builtin(a), Value::Builtin(b)) => a == b,
        (Value::Tool(a), Value::Tool(b)) => a == b,
        (Value::Export(a), Value::Export(b)) => a == b,
        (Value::Made(how, a), Value::Made(other, b)) => how == other && all_same(a, b, left),
        (Value::Builder(a), Value::Builder(b)) => a == b,
        _ => false,
    }
}

fn all_same(a: &[Value<'_>], b: &[Value<'_>], left: &mut u32) -> bool {
    std::ptr::eq(a, b) || (a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(*a, *b, left)))
}

fn same_constant(a: Constant<'_>, b: Constant<'_>, left: &mut u32) -> bool {
    match (a, b) {
        (Constant::Vector(a), Constant::Vector(b))
        | (Constant::Map(a), Constant::Map(b))
        | (Constant::Set(a), Constant::Set(b)) => {
            let mut pairs = a.iter().zip(b);
            std::ptr::eq(a, b)
                || (a.len() == b.len() && pairs.all(|(a, b)| same(Value::Const(*a), Value::Const(*b), left)))
        }
        (a, b) => a == b,
    }
}

/// The way a function is composed of others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Combination {
    /// `juxt`
    Juxt,
    /// `comp`
    Comp,
    /// `partial`: the function, then arguments.
    Partial,
    /// `complement`, `every-pred`, `some-fn`: tests each.
    Asks,
    /// `fnil`: the function accepts nil.
    TakesNil,
    /// `constantly`
    Constantly,
}

pub(super) const NIL: Value<'static> = Value::Const(Constant::Nil);

impl<'a> Value<'a> {
    /// Makes a list of such values.
    pub fn list(self, arena: &'a Bump) -> Value<'a> {
        Value::List(arena.alloc(self))
    }

    /// True if it holds nothing that could be looked up.
    fn is_bare(self) -> bool {
        match self {
            Value::Const(Constant::Nil) => true,
            Value::Const(Constant::Vector(items) | Constant::Map(items) | Constant::Set(items)) => {
                items.is_empty()
            }
            Value::Tuple(items) => items.is_empty(),
            Value::Record(record) => record.base.is_none() && record.fields.is_empty(),
            _ => false,
        }
    }

    /// Joins two values, of which a run has one. A value without fields yields to the other.
    pub fn or(self, other: Value<'a>) -> Value<'a> {
        match (self, other) {
            (Value::Never, value) | (value, Value::Never) => value,
            (a, b) if a == b => a,
            (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
            (bare, value) | (value, bare) if bare.is_bare() => value,
            (Value::List(a), Value::List(b)) if *a == *b => Value::List(a),
            _ => Value::Unknown,
        }
    }

    /// Converts it for recording as an argument.
    pub fn given(self, depth: u32, left: &mut u32) -> Given {
        *left = left.saturating_sub(1);
        let Some(depth) = depth.checked_sub(1).filter(|_| *left > 0) else { return Given::Anything };
        match self {
            Value::Const(constant) => constant_given(constant, depth, left),
            Value::Number => Given::Number,
            Value::List(_) | Value::Tuple(_) => Given::List,
            Value::Record(record) => {
                let field = |(name, value): &(Name<'a>, Value<'a>)| (name.key(), value.given(depth, left));
                let fields = record.fields.iter().take(MAX_GIVEN).map(field).collect();
                Given::Map { fields, is_whole: record.base.is_none() && record.fields.len() <= MAX_GIVEN }
            }
            Value::Index(_) => Given::Map { fields: Vec::new(), is_whole: false },
            Value::Fn(_) | Value::Builtin(_) | Value::Tool(_) | Value::Export(_) | Value::Made(..) => {
                Given::Function
            }
            Value::Unknown | Value::Never | Value::Path(_) | Value::Builder(_) => Given::Anything,
        }
    }
}

fn constant_given(constant: Constant<'_>, depth: u32, left: &mut u32) -> Given {
    match constant {
        Constant::Nil => Given::Nil,
        Constant::Bool(_) => Given::Boolean,
        Constant::Int(_) | Constant::Big(_) => Given::Integer,
        Constant::Float(_) => Given::Number,
        Constant::Str(text) | Constant::Keyword(text) => Given::Text(text.into()),
        Constant::Vector(_) | Constant::Set(_) => Given::List,
        Constant::Map(items) => {
            let pairs = items.as_chunks::<2>().0;
            let field = |[key, value]: &[Constant<'_>; 2]| {
                Some((Name::of(Value::Const(*key))?.key(), Value::Const(*value).given(depth, left)))
            };
            let fields: Vec<_> = pairs.iter().take(MAX_GIVEN).filter_map(field).collect();
            let is_whole = fields.len() == pairs.len();
            Given::Map { fields, is_whole }
        }
        _ => Given::Anything,
    }
}
