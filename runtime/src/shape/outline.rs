//! Outlines: the shape of a value read through serde, from JSON text without building it, and from data.

use super::{FieldShape, MAX_FIELDS, RecordShape, Shape};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;

/// Maximum items inspected per list.
const ITEMS: usize = 20;

/// Maximum depth inspected.
const DEPTH: usize = 5;

/// Maximum length of a field name in bytes; longer ones are data.
const NAME: usize = 64;

impl Shape {
    /// Returns the shape of JSON text; None if it is not JSON.
    pub fn of_json(text: &str) -> Option<Shape> {
        serde_json::from_str::<Outlined>(text).ok().map(|Outlined(shape)| shape)
    }
}

/// Deserialised value of which only the shape is kept.
pub(super) struct Outlined(pub Shape);

impl<'de> Deserialize<'de> for Outlined {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Outlined, D::Error> {
        Outline(DEPTH).deserialize(reader).map(Outlined)
    }
}

/// Seed that reads the shape of a value up to this depth.
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
        Ok(Shape::Nothing.nullable())
    }

    fn visit_none<E>(self) -> Result<Shape, E> {
        Ok(Shape::Nothing.nullable())
    }

    fn visit_some<D: Deserializer<'de>>(self, reader: D) -> Result<Shape, D::Error> {
        self.deserialize(reader)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape::Boolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape::Integer)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape::Integer)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Shape, E> {
        Ok(Shape::Integer)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape::Number)
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut shape = Shape::Nothing;
        if let Some(depth) = self.0.checked_sub(1) {
            for _ in 0..ITEMS {
                match items.next_element_seed(Outline(depth))? {
                    Some(item) => shape = shape.or(item),
                    None => return Ok(Shape::List(Box::new(shape))),
                }
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Shape::List(Box::new(if self.0 == 0 { Shape::Anything } else { shape })))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Shape, A::Error> {
        let mut fields = BTreeMap::new();
        let mut is_whole = self.0 > 0;
        while let Some(key) = map.next_key::<String>()? {
            let is_new = !fields.contains_key(&key);
            is_whole &= key.len() <= NAME && (fields.len() < MAX_FIELDS || !is_new);
            if is_whole {
                // Values under `_` are firewalled and not inspected: their keys may be data, too.
                let depth = if key.starts_with('_') { 0 } else { self.0 - 1 };
                let shape = map.next_value_seed(Outline(depth))?;
                fields.insert(key, FieldShape { shape, is_always: true });
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(if is_whole { Shape::Record(RecordShape { fields, is_closed: false }) } else { Shape::Map })
    }
}
