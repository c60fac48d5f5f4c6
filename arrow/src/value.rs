//! Values of results, owned and of limited depth.

use ptc_bytecode::{Code, Datum, Node};
use ptc_runtime::{Fault, bridge};
use std::collections::BTreeSet;

/// Maximum nesting: types of columns nest as deeply as their values, and readers of files recurse over types.
const MAX_DEPTH: usize = 32;

/// A value that columns can hold.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// nil
    Nil,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
    /// A string, or the name of a keyword.
    Text(Box<str>),
    /// A calendar day: days since 1970-01-01.
    Day(i32),
    /// A point in time: microseconds since 1970-01-01T00:00Z.
    Instant(i64),
    /// A vector or set.
    List(Vec<Value>),
    /// A map, by the names of its keys.
    Map(Vec<(Box<str>, Value)>),
}

impl Value {
    /// Converts owned data. A fault for what columns have no types for: functions, integers of more than 38 digits, maps
    /// with two keys of one name, deep nesting.
    ///
    /// ```
    /// use ptc_arrow::Value;
    /// use ptc_bytecode::{Datum, Node};
    /// let datum = Datum::new(vec![Node::Keyword("id".into()), Node::Int(7), Node::Map(1)]).unwrap();
    /// assert_eq!(Value::of(&datum).unwrap(), Value::Map(vec![("id".into(), Value::Int(7))]));
    /// ```
    pub fn of(datum: &Datum) -> Result<Value, Fault> {
        // Each with its depth, so that none is built that cannot be dropped.
        let mut stack: Vec<(Value, usize)> = Vec::new();
        for node in datum.nodes() {
            let value = match node {
                Node::Vector(count) | Node::Set(count) => {
                    let items = stack.split_off(stack.len().saturating_sub(*count as usize));
                    let depth = deeper(&items)?;
                    (Value::List(items.into_iter().map(|(item, _)| item).collect()), depth)
                }
                Node::Map(count) => {
                    let parts = stack.split_off(stack.len().saturating_sub(2 * *count as usize));
                    let depth = deeper(&parts)?;
                    (Value::Map(entries(parts)?), depth)
                }
                scalar => (scalar_value(scalar)?, 0),
            };
            stack.push(value);
        }
        stack.pop().map(|(value, _)| value).ok_or_else(|| Fault::new(Code::Internal, "a value without parts"))
    }

    /// Names its type, for messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Value::Nil => "nil",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "a string",
            Value::Day(_) => "a date",
            Value::Instant(_) => "a point in time",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

fn deeper(parts: &[(Value, usize)]) -> Result<usize, Fault> {
    let depth = 1 + parts.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
    if depth <= MAX_DEPTH {
        return Ok(depth);
    }
    let message = format!("the result is nested deeper than {MAX_DEPTH} levels, and columns are not");
    Err(Fault::new(Code::InvalidData, message))
}

fn scalar_value(node: &Node) -> Result<Value, Fault> {
    let refused = |what: &str| Fault::new(Code::InvalidData, format!("{what} cannot be put in a column"));
    Ok(match node {
        Node::Nil => Value::Nil,
        Node::Bool(truth) => Value::Bool(*truth),
        Node::Int(n) => Value::Int(i128::from(*n)),
        Node::Big(digits) => match digits.parse() {
            Ok(n) => Value::Int(n),
            Err(_) => return Err(refused("an integer of more than 38 digits")),
        },
        Node::Float(x) => Value::Float(*x),
        Node::Str(text) | Node::Keyword(text) => Value::Text(text.clone()),
        Node::Day(day) => Value::Day(*day),
        Node::Instant(micros) => Value::Instant(*micros),
        Node::Duration(_) => Value::Text(printed(node)?),
        Node::Symbol(name) => return Err(refused(&format!("the symbol `{name}`"))),
        Node::Regex(_) => return Err(refused("a pattern")),
        Node::Opaque(shown) => return Err(refused(shown)),
        Node::Vector(_) | Node::Set(_) | Node::Map(_) => return Err(refused("a collection")),
    })
}

/// Returns a value as JSON has it, without the quotes.
fn printed(node: &Node) -> Result<Box<str>, Fault> {
    let text = bridge::datum_to_json_text(&Datum::scalar(node.clone()), 1 << 10)?;
    Ok(text.trim_matches('"').into())
}

fn entries(parts: Vec<(Value, usize)>) -> Result<Vec<(Box<str>, Value)>, Fault> {
    let mut seen = BTreeSet::new();
    let mut entries = Vec::with_capacity(parts.len() / 2);
    let mut parts = parts.into_iter().map(|(part, _)| part);
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        let name: Box<str> = match key {
            Value::Text(name) => name,
            Value::Int(n) => n.to_string().into(),
            other => {
                let message =
                    format!("columns have names, but {} is a key of a map in the result", other.word());
                return Err(Fault::new(Code::InvalidData, message));
            }
        };
        if !seen.insert(name.clone()) {
            let message = format!("two keys of a map in the result are called `{name}`");
            return Err(Fault::new(Code::InvalidData, message));
        }
        entries.push((name, value));
    }
    Ok(entries)
}
