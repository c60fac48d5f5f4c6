//! Schemas inferred from values.

use crate::value::Value;
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use std::fmt;

/// Largest integers that floats hold exactly.
const MAX_EXACT: i128 = 1 << 53;

/// Largest integer of a decimal of 38 digits.
const MAX_DECIMAL: i128 = 10_i128.pow(38) - 1;

/// Values of one column that have no common type.
#[derive(Clone, PartialEq, Debug)]
pub struct Conflict {
    /// Name of the column, with those of the structs around it; `value` for results that are no maps.
    pub column: String,
    why: String,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the column `{}` {}", self.column, self.why)
    }
}

impl std::error::Error for Conflict {}

/// The common type of some values.
#[derive(Clone, PartialEq, Debug)]
enum Shape {
    Nothing,
    Bool,
    Int(i128, i128),
    /// Floats, and the range of integers among them.
    Float(i128, i128),
    Text,
    Day,
    Instant,
    List(Box<Shape>),
    Map(Vec<(Box<str>, Shape)>),
}

/// Infers a schema from results: the members of maps are columns, other values are the column `value`. Every column may
/// hold nulls; one with nothing else is of text, since many readers do not know columns without a type.
///
/// ```
/// use ptc_arrow::{Value, infer};
/// let row = |n| Value::Map(vec![("n".into(), n)]);
/// let schema = infer(&[row(Value::Int(1)), Value::Nil, row(Value::Float(0.5))]).unwrap();
/// assert_eq!(schema.field(0).data_type().to_string(), "Float64");
/// let error = infer(&[row(Value::Int(1)), row(Value::Text("x".into()))]).unwrap_err();
/// assert_eq!(error.to_string(), "the column `n` has integers and strings");
/// ```
pub fn infer(results: &[Value]) -> Result<Schema, Conflict> {
    let mut inference = Inference::default();
    results.iter().try_for_each(|result| inference.add(result))?;
    inference.schema()
}

/// [Inference](infer) of a schema from results that are not all in memory at the same time.
///
/// ```
/// use ptc_arrow::{Inference, Value};
/// let mut inference = Inference::default();
/// for n in 0..3 {
///     inference.add(&Value::Int(n)).unwrap();
/// }
/// assert_eq!(inference.schema().unwrap().field(0).name(), "value");
/// ```
#[derive(Debug)]
pub struct Inference {
    shape: Shape,
    /// True if results are rows of columns by name: the first that is not nil is a map. None before that one.
    are_maps: Option<bool>,
}

impl Default for Inference {
    fn default() -> Inference {
        Inference { shape: Shape::Nothing, are_maps: None }
    }
}

impl Inference {
    /// Takes one more result into account.
    pub fn add(&mut self, result: &Value) -> Result<(), Conflict> {
        if *result == Value::Nil {
            return Ok(());
        }
        let are_maps = *self.are_maps.get_or_insert(matches!(result, Value::Map(_)));
        let name = if are_maps { "" } else { "value" };
        let before = std::mem::replace(&mut self.shape, Shape::Nothing);
        self.shape = before.and(Shape::of(result, name)?, name)?;
        Ok(())
    }

    /// Returns the schema of all results.
    pub fn schema(self) -> Result<Schema, Conflict> {
        match (self.shape, self.are_maps) {
            (Shape::Map(members), Some(true)) => Ok(Schema::new(fields(members, "")?)),
            (shape, _) => Ok(Schema::new(vec![Field::new("value", shape.data_type("value")?, true)])),
        }
    }
}

impl Shape {
    fn of(value: &Value, name: &str) -> Result<Shape, Conflict> {
        Ok(match value {
            Value::Nil => Shape::Nothing,
            Value::Bool(_) => Shape::Bool,
            Value::Int(n) => Shape::Int(*n, *n),
            Value::Float(_) => Shape::Float(0, 0),
            Value::Text(_) => Shape::Text,
            Value::Day(_) => Shape::Day,
            Value::Instant(_) => Shape::Instant,
            Value::List(items) => {
                let name = format!("{name}.*");
                let mut all = Shape::Nothing;
                for item in items {
                    all = all.and(Shape::of(item, &name)?, &name)?;
                }
                Shape::List(Box::new(all))
            }
            Value::Map(entries) => {
                let member =
                    |(key, value): &(Box<str>, Value)| Ok((key.clone(), Shape::of(value, &join(name, key))?));
                Shape::Map(entries.iter().map(member).collect::<Result<_, _>>()?)
            }
        })
    }

    fn and(self, other: Shape, name: &str) -> Result<Shape, Conflict> {
        Ok(match (self, other) {
            (Shape::Nothing, shape) | (shape, Shape::Nothing) => shape,
            (Shape::Int(a, b), Shape::Int(c, d)) => Shape::Int(a.min(c), b.max(d)),
            (Shape::Float(a, b) | Shape::Int(a, b), Shape::Float(c, d) | Shape::Int(c, d)) => {
                Shape::Float(a.min(c), b.max(d))
            }
            (Shape::List(a), Shape::List(b)) => Shape::List(Box::new(a.and(*b, &format!("{name}.*"))?)),
            (Shape::Map(mut all), Shape::Map(more)) => {
                for (key, shape) in more {
                    match all.iter_mut().find(|(known, _)| *known == key) {
                        Some((_, known)) => {
                            let before = std::mem::replace(known, Shape::Nothing);
                            *known = before.and(shape, &join(name, &key))?;
                        }
                        None => all.push((key, shape)),
                    }
                }
                Shape::Map(all)
            }
            (a, b) if a == b => a,
            (a, b) => {
                let column = if name.is_empty() { "value" } else { name }.to_string();
                return Err(Conflict { column, why: format!("has {} and {}", a.words(), b.words()) });
            }
        })
    }

    fn words(&self) -> &'static str {
        match self {
            Shape::Nothing => "nulls",
            Shape::Bool => "booleans",
            Shape::Int(..) => "integers",
            Shape::Float(..) => "floats",
            Shape::Text => "strings",
            Shape::Day => "dates",
            Shape::Instant => "points in time",
            Shape::List(_) => "lists",
            Shape::Map(_) => "maps",
        }
    }

    fn data_type(self, name: &str) -> Result<DataType, Conflict> {
        let refused = |why: &str| Conflict { column: name.to_string(), why: why.to_string() };
        Ok(match self {
            Shape::Nothing | Shape::Text => DataType::Utf8,
            Shape::Bool => DataType::Boolean,
            Shape::Int(min, max) if i64::try_from(min).is_ok() && i64::try_from(max).is_ok() => {
                DataType::Int64
            }
            Shape::Int(0.., max) if u64::try_from(max).is_ok() => DataType::UInt64,
            Shape::Int(min, max) if -MAX_DECIMAL <= min && max <= MAX_DECIMAL => DataType::Decimal128(38, 0),
            Shape::Int(..) => return Err(refused("has integers of more than 38 digits")),
            Shape::Float(min, max) if -MAX_EXACT <= min && max <= MAX_EXACT => DataType::Float64,
            Shape::Float(..) => return Err(refused("has floats, and integers that are no floats exactly")),
            Shape::Day => DataType::Date32,
            Shape::Instant => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Shape::List(shape) => DataType::new_list(shape.data_type(&format!("{name}.*"))?, true),
            Shape::Map(members) => DataType::Struct(fields(members, name)?),
        })
    }
}

fn fields(members: Vec<(Box<str>, Shape)>, name: &str) -> Result<Fields, Conflict> {
    let field =
        |(key, shape): (Box<str>, Shape)| Ok(Field::new(&*key, shape.data_type(&join(name, &key))?, true));
    members.into_iter().map(field).collect()
}

fn join(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_string() } else { format!("{name}.{key}") }
}
