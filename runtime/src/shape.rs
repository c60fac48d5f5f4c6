//! Shapes of arguments and results of tools, as declared or as seen. A shape holds the names of fields and the kinds of
//! values, never a value.

mod learned;
mod outline;
mod schema;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(crate) use learned::Learned;

/// Maximum fields of a record: the keys of a larger map are data.
const MAX_FIELDS: usize = 40;

/// The shape of a group of values.
///
/// ```
/// use ptc_runtime::Shape;
/// let seen = Shape::of_json(r#"{"items": [{"id": 1}, {"id": 2.5, "tag": null}]}"#).unwrap();
/// assert_eq!(seen.to_string(), "{:items [{:id number :tag null?}]}");
/// let also = Shape::of_json(r#"{"items": [], "next": "b"}"#).unwrap();
/// assert_eq!(seen.or(also).to_string(), "{:items [{:id number :tag null?}] :next string?}");
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Shape {
    /// No value was seen, as in an empty list.
    Nothing,
    /// Any value, or several kinds.
    #[default]
    Anything,
    /// Booleans.
    Boolean,
    /// Integers.
    Integer,
    /// Integers and floats.
    Number,
    /// Strings.
    Text,
    /// Lists whose elements have this shape.
    List(Box<Shape>),
    /// Maps with these fields.
    Record(RecordShape),
    /// Maps whose keys are data.
    Map,
    /// Values of this shape, or nil.
    Nullable(Box<Shape>),
}

/// The fields of a record.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordShape {
    /// Fields by name.
    pub fields: BTreeMap<String, FieldShape>,
    /// True if there are certainly no other fields.
    pub is_closed: bool,
}

/// One field of a record.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldShape {
    /// Shape of its values.
    pub shape: Shape,
    /// True if every map has the field.
    pub is_always: bool,
}

/// The arguments and the result of a tool. Cheap to clone.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolShape {
    takes: Arc<Shape>,
    answers: Arc<Shape>,
}

impl ToolShape {
    /// Makes the shape of a tool from the map of its arguments and its result.
    pub fn new(takes: impl Into<Arc<Shape>>, answers: impl Into<Arc<Shape>>) -> ToolShape {
        ToolShape { takes: takes.into(), answers: answers.into() }
    }

    /// Returns the shape of the map of arguments.
    pub fn takes(&self) -> &Arc<Shape> {
        &self.takes
    }

    /// Returns the shape of the result.
    pub fn answers(&self) -> &Arc<Shape> {
        &self.answers
    }
}

impl Shape {
    /// Returns the shape of values that have one of the two shapes.
    #[must_use]
    pub fn or(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Nothing, shape) | (shape, Shape::Nothing) => shape,
            (Shape::Nullable(a), Shape::Nullable(b)) => a.or(*b).nullable(),
            (Shape::Nullable(a), b) | (b, Shape::Nullable(a)) => a.or(b).nullable(),
            (Shape::List(a), Shape::List(b)) => Shape::List(Box::new(a.or(*b))),
            (Shape::Record(a), Shape::Record(b)) => a.or(b),
            (Shape::Record(_) | Shape::Map, Shape::Record(_) | Shape::Map) => Shape::Map,
            (a, b) if a == b => a,
            (Shape::Integer | Shape::Number, Shape::Integer | Shape::Number) => Shape::Number,
            _ => Shape::Anything,
        }
    }

    /// Returns the shape of values that have this shape or are nil.
    #[must_use]
    pub fn nullable(self) -> Shape {
        match self {
            Shape::Nullable(_) | Shape::Anything => self,
            shape => Shape::Nullable(Box::new(shape)),
        }
    }
}

impl RecordShape {
    fn or(mut self, other: RecordShape) -> Shape {
        for (name, field) in &mut self.fields {
            field.is_always &= other.fields.contains_key(name);
        }
        for (name, field) in other.fields {
            let (known, is_always) = match self.fields.remove(&name) {
                Some(known) => (known.shape, known.is_always && field.is_always),
                None => (Shape::Nothing, false),
            };
            self.fields.insert(name, FieldShape { shape: known.or(field.shape), is_always });
        }
        match self.fields.len() > MAX_FIELDS {
            true => Shape::Map,
            false => Shape::Record(RecordShape { is_closed: self.is_closed && other.is_closed, ..self }),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match self {
            Shape::Nothing | Shape::Anything => "any",
            Shape::Boolean => "boolean",
            Shape::Integer => "integer",
            Shape::Number => "number",
            Shape::Text => "string",
            Shape::Map => "object",
            Shape::List(items) if **items == Shape::Anything => "array",
            Shape::List(items) => return write!(f, "[{items}]"),
            Shape::Nullable(shape) if **shape == Shape::Nothing => "null",
            Shape::Nullable(shape) => return write!(f, "{shape}"),
            Shape::Record(record) => return write!(f, "{record}"),
        };
        f.write_str(word)
    }
}

impl fmt::Display for RecordShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (n, (name, field)) in self.fields.iter().enumerate() {
            let is_optional = !field.is_always || matches!(field.shape, Shape::Nullable(_));
            let (gap, mark) = (if n == 0 { "" } else { " " }, if is_optional { "?" } else { "" });
            write!(f, "{gap}:{name} {}{mark}", field.shape)?;
        }
        f.write_str("}")
    }
}
