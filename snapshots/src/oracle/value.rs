//! Values of the evaluator: owned, shared by reference count, compared naively.

use num_bigint::BigInt;
use num_traits::FromPrimitive;
use ptc_compiler::resolved::Lambda;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use unicode_segmentation::UnicodeSegmentation;

/// Reason of an evaluator without an opinion: the program is too long for it, or needs something it does not
/// support. This agrees with every answer.
pub const NO_OPINION: &str = "no_opinion";

/// Reason why a program stops.
pub type Fault = &'static str;

/// Fault of a value of the wrong type.
pub const TYPE: Fault = "type_error";

/// Panic payload of the evaluator when its work limit is reached. Comparing and printing cannot return errors,
/// and data that shares its parts may take forever to walk.
pub struct GaveUp;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Sets the amount of work this thread may do.
pub fn allow(steps: u64) {
    STEPS.set(steps);
}

/// Counts work; panics with [`GaveUp`] at the limit.
pub fn work(steps: usize) {
    match STEPS.get().checked_sub(steps as u64) {
        Some(left) => STEPS.set(left),
        None => std::panic::resume_unwind(Box::new(GaveUp)),
    }
}

/// A value of the evaluator. Functions borrow the forms they were made from.
#[derive(Clone)]
pub enum Value<'a> {
    Nil,
    Bool(bool),
    /// Any integer: without a fast path that could be wrong.
    Int(BigInt),
    Float(f64),
    Str(Rc<str>),
    Keyword(Rc<str>),
    Symbol(Rc<str>),
    Vector(Rc<Vec<Value<'a>>>),
    /// Pairs in insertion order.
    Map(Rc<Vec<(Value<'a>, Value<'a>)>>),
    Set(Rc<Vec<Value<'a>>>),
    Var(&'a str),
    Builtin(&'static str),
    Closure(Rc<Closure<'a>>),
    /// Function returned by `comp`, `partial` and their kin.
    Made(Rc<Made<'a>>),
    /// The vector that a `for` is filling.
    Builder(Rc<RefCell<Vec<Value<'a>>>>),
    /// Result of `reduced`.
    Reduced(Rc<Value<'a>>),
}

/// A function with its captured values.
pub struct Closure<'a> {
    pub lambda: &'a Lambda<'a>,
    pub captures: Vec<Value<'a>>,
}

/// A function made from functions.
pub enum Made<'a> {
    Comp(Vec<Value<'a>>),
    Partial(Value<'a>, Vec<Value<'a>>),
    Complement(Value<'a>),
    Constantly(Value<'a>),
    Juxt(Vec<Value<'a>>),
    Fnil(Value<'a>, Vec<Value<'a>>),
    EveryPred(Vec<Value<'a>>),
    SomeFn(Vec<Value<'a>>),
}

impl<'a> Value<'a> {
    pub fn int(n: impl Into<BigInt>) -> Value<'a> {
        Value::Int(n.into())
    }

    pub fn str(text: &str) -> Value<'a> {
        Value::Str(text.into())
    }

    pub fn vector(items: Vec<Value<'a>>) -> Value<'a> {
        Value::Vector(Rc::new(items))
    }

    /// Creates a map of these pairs; a repeated key keeps its place and takes the later value.
    pub fn map(pairs: impl IntoIterator<Item = (Value<'a>, Value<'a>)>) -> Value<'a> {
        let mut kept = Vec::new();
        for (key, value) in pairs {
            put(&mut kept, key, value);
        }
        Value::Map(Rc::new(kept))
    }

    /// Creates a set of these members.
    pub fn set(items: impl IntoIterator<Item = Value<'a>>) -> Value<'a> {
        let mut kept: Vec<Value<'a>> = Vec::new();
        for item in items {
            if !kept.iter().any(|known| known.is(&item)) {
                kept.push(item);
            }
        }
        Value::Set(Rc::new(kept))
    }

    pub fn truthy(&self) -> bool {
        !matches!(self, Value::Nil | Value::Bool(false))
    }

    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }

    pub fn is_number(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Float(_))
    }

    /// Returns the elements, if it is a collection.
    pub fn items(&self) -> Result<Vec<Value<'a>>, Fault> {
        work(match self {
            Value::Vector(items) | Value::Set(items) => items.len(),
            Value::Str(text) => text.len(),
            Value::Map(pairs) => pairs.len(),
            _ => 1,
        });
        Ok(match self {
            Value::Nil => Vec::new(),
            Value::Vector(items) | Value::Set(items) => items.to_vec(),
            Value::Str(text) => text.graphemes(true).map(Value::str).collect(),
            Value::Map(pairs) => {
                pairs.iter().map(|(k, v)| Value::vector(vec![k.clone(), v.clone()])).collect()
            }
            _ => return Err(TYPE),
        })
    }

    /// Compares as `=` does: numbers by value at any depth, but keys and members exactly.
    pub fn equals(&self, other: &Value<'a>) -> bool {
        work(1);
        match (self, other) {
            (Value::Int(n), Value::Float(x)) | (Value::Float(x), Value::Int(n)) => {
                x.fract() == 0.0 && BigInt::from_f64(*x).as_ref() == Some(n)
            }
            (Value::Vector(a), Value::Vector(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.equals(b))
            }
            (Value::Map(a), Value::Map(b)) => same_entries(a, b, Value::equals),
            _ => self.is(other),
        }
    }

    /// Compares as keys and members do: 1 is not 1.0.
    pub fn is(&self, other: &Value<'a>) -> bool {
        work(1);
        match (self, other) {
            (Value::Nil, Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Str(a), Value::Str(b))
            | (Value::Keyword(a), Value::Keyword(b))
            | (Value::Symbol(a), Value::Symbol(b)) => a == b,
            (Value::Var(a), Value::Var(b)) => a == b,
            (Value::Builtin(a), Value::Builtin(b)) => a == b,
            (Value::Vector(a), Value::Vector(b)) => {
                a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is(b))
            }
            (Value::Map(a), Value::Map(b)) => same_entries(a, b, Value::is),
            (Value::Set(a), Value::Set(b)) => {
                a.len() == b.len() && a.iter().all(|item| b.iter().any(|other| other.is(item)))
            }
            (Value::Closure(a), Value::Closure(b)) => Rc::ptr_eq(a, b),
            (Value::Made(a), Value::Made(b)) => Rc::ptr_eq(a, b),
            (Value::Builder(a), Value::Builder(b)) => Rc::ptr_eq(a, b),
            (Value::Reduced(a), Value::Reduced(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

type Pairs<'a> = Vec<(Value<'a>, Value<'a>)>;

/// Returns whether two maps have exactly equal keys, with values that are `same`.
fn same_entries<'a>(a: &Rc<Pairs<'a>>, b: &Rc<Pairs<'a>>, same: fn(&Value<'a>, &Value<'a>) -> bool) -> bool {
    a.len() == b.len()
        && a.iter().all(|(key, value)| {
            b.iter().find(|(known, _)| known.is(key)).is_some_and(|(_, other)| same(value, other))
        })
}

/// Sets one entry.
pub fn put<'a>(pairs: &mut Pairs<'a>, key: Value<'a>, value: Value<'a>) {
    match pairs.iter_mut().find(|(known, _)| known.is(&key)) {
        Some((_, place)) => *place = value,
        None => pairs.push((key, value)),
    }
}
