//! Shapes: what answers of tools and their arguments look like, as far as somebody says or they were seen. A shape
//! holds the names of fields and the kinds of values, never a value.

mod learned;
mod outline;
mod schema;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

pub(crate) use learned::Learned;

/// A map with more fields than this is one whose keys are data.
const MAX_FIELDS: usize = 40;

/// What values look like.
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
    /// Nothing was seen, as in an empty list.
    Nothing,
    /// Anything, or several kinds.
    #[default]
    Anything,
    /// true and false.
    Boolean,
    /// Integers.
    Integer,
    /// Integers and floats.
    Number,
    /// Strings.
    Text,
    /// Lists of these.
    List(Box<Shape>),
    /// Maps with these fields.
    Record(RecordShape),
    /// Maps whose keys are data.
    Map,
    /// These, or nil.
    Nullable(Box<Shape>),
}

/// The fields of maps.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RecordShape {
    /// By name.
    pub fields: BTreeMap<String, FieldShape>,
    /// Whether there are certainly no others.
    pub is_closed: bool,
}

/// One field.
#[derive(Clone, PartialEq, Debug)]
pub struct FieldShape {
    /// Of its values.
    pub shape: Shape,
    /// Whether every map has it.
    pub is_always: bool,
}

/// What a tool takes and answers. Cheap to clone.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ToolShape {
    takes: Arc<Shape>,
    answers: Arc<Shape>,
}

impl ToolShape {
    /// With the map of its arguments, and its answer.
    pub fn new(takes: impl Into<Arc<Shape>>, answers: impl Into<Arc<Shape>>) -> ToolShape {
        ToolShape { takes: takes.into(), answers: answers.into() }
    }

    /// The map of its arguments.
    pub fn takes(&self) -> &Arc<Shape> {
        &self.takes
    }

    /// Its answer.
    pub fn answers(&self) -> &Arc<Shape> {
        &self.answers
    }
}

impl Shape {
    /// What is like one or the other.
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

    /// This, or nil.
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
