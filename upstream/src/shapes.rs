//! What tools answer that do not say so themselves: the shape of what they have answered so far. Shapes hold the
//! names of fields and the kinds of values, never a value.

use ptc_contract::firewall::is_firewalled;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A map with more fields than this is one whose keys are data.
const FIELDS: usize = 40;

/// How many items of a list are looked at.
const ITEMS: usize = 20;

/// How deep is looked.
const DEPTH: usize = 5;

/// The longest name of a field, in bytes; longer ones are data.
const NAME: usize = 64;

/// What values look like.
#[derive(Clone, PartialEq, Debug)]
enum Shape {
    /// Nothing was seen, as in an empty list.
    Nothing,
    /// A kind of scalar, or a map or list that is not looked into.
    Word(&'static str),
    List(Box<Shape>),
    /// Fields, with how often each was seen, and how many maps there were.
    Map(BTreeMap<String, (Shape, u64)>, u64),
    /// This or null.
    Nullable(Box<Shape>),
    /// Several kinds.
    Any,
}

/// Reads the shape of JSON text so many levels deep.
struct Outline(usize);

impl<'de> DeserializeSeed<'de> for Outline {
    type Value = Shape;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Shape, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Outline {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape::Nullable(Box::new(Shape::Nothing)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Word("boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Word("integer"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::Word("integer"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Word("number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Word("string"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut shape = Shape::Nothing;
        if let Some(depth) = self.0.checked_sub(1) {
            for _ in 0..ITEMS {
                match items.next_element_seed(Outline(depth))? {
                    Some(item) => shape = shape.with(item),
                    None => return Ok(Shape::List(Box::new(shape))),
                }
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(if self.0 == 0 { Shape::Word("array") } else { Shape::List(Box::new(shape)) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut fields = BTreeMap::new();
        let mut is_whole = self.0 > 0;
        while let Some(key) = map.next_key::<String>()? {
            let is_new = !fields.contains_key(&key);
            is_whole &= key.len() <= NAME && (fields.len() < FIELDS || !is_new);
            if is_whole {
                // Firewalled values are not looked into: keys may be data, too.
                let depth = if is_firewalled(&key) { 0 } else { self.0 - 1 };
                fields.insert(key, (map.next_value_seed(Outline(depth))?, 1));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(if is_whole { Shape::Map(fields, 1) } else { Shape::Word("object") })
    }
}

impl Shape {
    /// What is like both.
    fn with(self, other: Shape) -> Shape {
        match (self, other) {
            (Shape::Nothing, shape) | (shape, Shape::Nothing) => shape,
            (Shape::Nullable(a), Shape::Nullable(b)) => Shape::Nullable(Box::new(a.with(*b))),
            (Shape::Nullable(a), b) | (b, Shape::Nullable(a)) => Shape::Nullable(Box::new(a.with(b))),
            (Shape::List(a), Shape::List(b)) => Shape::List(Box::new(a.with(*b))),
            (Shape::Map(mut a, times), Shape::Map(b, more)) => {
                for (key, (shape, seen)) in b {
                    let (known, count) = a.remove(&key).unwrap_or((Shape::Nothing, 0));
                    a.insert(key, (known.with(shape), count + seen));
                }
                if a.len() > FIELDS { Shape::Word("object") } else { Shape::Map(a, times + more) }
            }
            (Shape::Map(..), Shape::Word("object")) | (Shape::Word("object"), Shape::Map(..)) => {
                Shape::Word("object")
            }
            (a, b) if a == b => a,
            (Shape::Word("integer" | "number"), Shape::Word("integer" | "number")) => Shape::Word("number"),
            _ => Shape::Any,
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Nothing | Shape::Any => f.write_str("any"),
            Shape::Word(word) => f.write_str(word),
            Shape::List(items) => write!(f, "[{items}]"),
            Shape::Nullable(shape) if **shape == Shape::Nothing => f.write_str("null"),
            Shape::Nullable(shape) => write!(f, "{shape}"),
            Shape::Map(fields, times) => {
                f.write_str("{")?;
                for (n, (name, (shape, seen))) in fields.iter().enumerate() {
                    let is_optional = seen < times || matches!(shape, Shape::Nullable(_));
                    let gap = if n == 0 { "" } else { " " };
                    write!(f, "{gap}:{name} {shape}{}", if is_optional { "?" } else { "" })?;
                }
                f.write_str("}")
            }
        }
    }
}

/// What one tool has answered so far.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    seen: Mutex<Option<(Shape, u64)>>,
}

impl Shapes {
    /// Learns from an answer: the text of JSON, of which no more than the shape is ever held.
    pub fn learn(&self, answer: &str) {
        let mut reader = serde_json::Deserializer::from_str(answer);
        let Ok(shape) = Outline(DEPTH).deserialize(&mut reader) else { return };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let (known, times) = seen.take().unwrap_or((Shape::Nothing, 0));
        *seen = Some((known.with(shape), times + 1));
    }

    /// The shape as text, and of how many answers it is.
    pub fn seen(&self) -> Option<(String, u64)> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.as_ref().map(|(shape, times)| (shape.to_string(), *times))
    }

    /// What another has learned.
    pub fn take_over(&self, other: &Shapes) {
        let known = other.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn shapes_grow_with_what_is_seen() {
        let shapes = Shapes::default();
        assert_eq!(shapes.seen(), None);
        shapes.learn(r#"{"items": [{"id": 1, "tag": "a"}, {"id": 2.5, "tag": null}], "next": null}"#);
        assert_eq!(shapes.seen().unwrap().0, "{:items [{:id number :tag string?}] :next null?}");
        shapes.learn(r#"{"items": []}"#);
        assert_eq!(shapes.seen(), Some(("{:items [{:id number :tag string?}] :next null?}".into(), 2)));
        shapes.learn("\"text\"");
        assert_eq!(shapes.seen().unwrap().0, "any");
    }

    #[test]
    fn keys_that_are_data_are_not_kept() {
        let shapes = Shapes::default();
        let many: serde_json::Map<String, Value> = (0..100).map(|n| (format!("user{n}"), json!(n))).collect();
        shapes.learn(&json!({"users": many}).to_string());
        assert_eq!(shapes.seen().unwrap().0, "{:users object}");
    }

    #[test]
    fn nothing_inside_of_a_firewalled_field_is_kept() {
        let shapes = Shapes::default();
        shapes.learn(r#"{"n": 1, "_team": {"ada": {"pin": 1}}, "_mails": ["x"]}"#);
        assert_eq!(shapes.seen().unwrap().0, "{:_mails array :_team object :n integer}");
    }
}
