//! Deserialiser from values into `Deserialize` types.

use ptc_vm::{Heap, Ref, Value};
use serde::de::{self, DeserializeSeed, Visitor};
use serde::forward_to_deserialize_any;

use super::error::BridgeError;
use super::name::{NameDe, matching};
use super::{FromOptions, MAX_DEPTH};

/// Maximum wrappers (`Some`, newtypes) a type may put around one value. They use the stack as nesting does, but a
/// recursive type can have any number of them over the same value.
const MAX_WRAPS: u8 = 32;

/// A value to be deserialised.
#[derive(Clone, Copy)]
pub(super) struct De<'h> {
    heap: &'h Heap,
    value: Value,
    options: FromOptions,
    depth: usize,
    wraps: u8,
}

impl<'h> De<'h> {
    pub(super) fn new(heap: &'h Heap, value: Value, options: FromOptions) -> De<'h> {
        // The host sees firewalled values in full.
        De { heap, value: heap.bare(value), options, depth: 0, wraps: 0 }
    }

    /// Descends to an item of this collection.
    fn item(self, value: Value) -> De<'h> {
        De { value: self.heap.bare(value), wraps: 0, ..self }
    }

    /// Enters this collection, one level deeper.
    fn enter(self) -> Result<De<'h>, BridgeError> {
        if self.depth >= MAX_DEPTH {
            return Err(BridgeError::new(format!(
                "data nested deeper than {MAX_DEPTH} levels cannot become a Rust type"
            )));
        }
        Ok(De { depth: self.depth + 1, ..self })
    }

    fn wrapped(self) -> Result<De<'h>, BridgeError> {
        if self.wraps >= MAX_WRAPS {
            return Err(BridgeError::new("a type that wraps the same value too often"));
        }
        Ok(De { wraps: self.wraps + 1, ..self })
    }

    /// Counts an item taken out of a collection, and checks the clock now and then.
    fn look(&self) -> Result<(), BridgeError> {
        self.heap.owe(1);
        Ok(self.heap.look()?)
    }

    fn seq<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        let items = match self.value {
            Value::Vector(r) => Items::Vector(r),
            Value::Set(r) => Items::Set(r, 0),
            Value::Range(r) => Items::Range(self.heap.range_parts(r)),
            _ => return Err(BridgeError::new("not a collection")),
        };
        visitor.visit_seq(Seq { of: self.enter()?, items, index: 0 })
    }

    fn map<V: Visitor<'h>>(
        self,
        map: Ref,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        visitor.visit_map(Map { of: self.enter()?, map, cursor: 0, fields, value: None })
    }

    /// Returns the `str` form, for values that have no Rust counterpart.
    fn printed(self) -> Result<String, BridgeError> {
        let mut text = String::new();
        self.heap.display(self.value, &mut text, 1 << 20)?;
        Ok(text)
    }

    /// Reads an integer; whole floats count, since `/` gives them.
    fn integer<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        const TWO_63: f64 = 9_223_372_036_854_775_808.0;
        match self.value {
            Value::Float(x) if x.get().trunc() == x.get() && (-TWO_63..TWO_63).contains(&x.get()) => {
                visitor.visit_i64(x.get() as i64)
            }
            _ => de::Deserializer::deserialize_any(self, visitor),
        }
    }
}

macro_rules! integers {
    ($($name:ident)*) => {
        $(fn $name<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
            self.integer(visitor)
        })*
    };
}

impl<'h> de::Deserializer<'h> for De<'h> {
    type Error = BridgeError;

    fn deserialize_any<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        match self.value {
            Value::Nil => visitor.visit_unit(),
            value @ (Value::True | Value::False) => visitor.visit_bool(value.truthy()),
            Value::Int(n) => visitor.visit_i64(n),
            Value::Float(x) => visitor.visit_f64(x.get()),
            Value::Big(_) => match self.heap.to_bigint(self.value).map(|n| u64::try_from(&n)) {
                Some(Ok(n)) => visitor.visit_u64(n),
                _ => visitor.visit_f64(self.heap.to_float(self.value).unwrap_or(f64::NAN)),
            },
            Value::Str(r) | Value::Keyword(r) => visitor.visit_borrowed_str(self.heap.str(r)),
            Value::Vector(_) | Value::Set(_) | Value::Range(_) => self.seq(visitor),
            Value::Map(r) => self.map(r, &[], visitor),
            Value::Builder(_) => Err(BridgeError::new("a collection that is still being built")),
            _ => visitor.visit_string(self.printed()?),
        }
    }

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    fn deserialize_i128<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        match self.heap.to_bigint(self.value).map(|n| i128::try_from(&n)) {
            Some(Ok(n)) => visitor.visit_i128(n),
            _ => self.integer(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        match self.heap.to_bigint(self.value).map(|n| u128::try_from(&n)) {
            Some(Ok(n)) => visitor.visit_u128(n),
            _ => self.integer(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        match self.value {
            Value::Nil => visitor.visit_none(),
            _ => visitor.visit_some(self.wrapped()?),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'h>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        visitor.visit_newtype_struct(self.wrapped()?)
    }

    fn deserialize_bytes<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        match self.value {
            Value::Str(r) => visitor.visit_borrowed_bytes(self.heap.str(r).as_bytes()),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_struct<V: Visitor<'h>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        match self.value {
            Value::Map(r) if self.options.match_fields => self.map(r, fields, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'h>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        let (tag, value) = match self.value {
            Value::Map(r) if self.heap.map_len(r) == 1 => match self.heap.map_next(r, 0) {
                Some((tag, value, _)) => (tag, Some(value)),
                None => (Value::Nil, None),
            },
            tag => (tag, None),
        };
        let (Value::Str(name) | Value::Keyword(name)) = tag else {
            return Err(BridgeError::new(format!(
                "invalid type: {}, expected the name of a variant or a map of one to its data",
                self.value.type_word()
            )));
        };
        let name = matching(self.heap.str(name), variants);
        visitor.visit_enum(Variant { of: self.enter()?, name, value })
    }

    // Ignored values are skipped without looking inside.
    fn deserialize_ignored_any<V: Visitor<'h>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        <V: Visitor<'h>>
        bool f32 f64 char str string unit unit_struct seq tuple tuple_struct map identifier
    }
}

/// The source of a sequence.
enum Items {
    Vector(Ref),
    Set(Ref, usize),
    Range((i64, i64, u64)),
}

struct Seq<'h> {
    of: De<'h>,
    items: Items,
    index: usize,
}

impl Seq<'_> {
    fn next(&mut self) -> Option<Value> {
        let heap = self.of.heap;
        match &mut self.items {
            Items::Vector(r) => heap.vec_get(*r, self.index),
            Items::Set(r, cursor) => {
                let (item, next) = heap.set_next(*r, *cursor)?;
                *cursor = next;
                Some(item)
            }
            Items::Range((start, step, len)) => {
                let index = self.index as u64;
                (index < *len).then(|| Value::Int(start.wrapping_add(step.wrapping_mul(index as i64))))
            }
        }
    }
}

impl<'h> de::SeqAccess<'h> for Seq<'h> {
    type Error = BridgeError;

    fn next_element_seed<T: DeserializeSeed<'h>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, BridgeError> {
        let Some(item) = self.next() else { return Ok(None) };
        self.of.look()?;
        let index = self.index;
        self.index += 1;
        seed.deserialize(self.of.item(item)).map(Some).map_err(|error| error.at_index(index))
    }

    fn size_hint(&self) -> Option<usize> {
        let len = match self.items {
            Items::Vector(r) => self.of.heap.vec_len(r),
            Items::Set(r, _) => self.of.heap.set_len(r),
            Items::Range((_, _, len)) => usize::try_from(len).ok()?,
        };
        Some(len.saturating_sub(self.index))
    }
}

struct Map<'h> {
    of: De<'h>,
    map: Ref,
    cursor: usize,
    /// Fields of the struct being read, if it is one.
    fields: &'static [&'static str],
    /// Entry whose key was just read.
    value: Option<(Value, Value)>,
}

impl<'h> de::MapAccess<'h> for Map<'h> {
    type Error = BridgeError;

    fn next_key_seed<K: DeserializeSeed<'h>>(&mut self, seed: K) -> Result<Option<K::Value>, BridgeError> {
        let heap = self.of.heap;
        let Some((key, value, next)) = heap.map_next(self.map, self.cursor) else { return Ok(None) };
        self.of.look()?;
        self.cursor = next;
        self.value = Some((key, value));
        let name = match key {
            Value::Str(r) | Value::Keyword(r) => {
                let text = heap.str(r);
                if self.fields.is_empty() && self.of.options.snake_keys && text.contains('-') {
                    NameDe::Owned(text.replace('-', "_"))
                } else {
                    NameDe::Borrowed(matching(text, self.fields))
                }
            }
            _ => NameDe::Owned(self.of.item(key).printed()?),
        };
        seed.deserialize(name).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'h>>(&mut self, seed: T) -> Result<T::Value, BridgeError> {
        let Some((key, value)) = self.value.take() else {
            return Err(BridgeError::new("a `Deserialize` asked for a value before its key"));
        };
        seed.deserialize(self.of.item(value)).map_err(|error| match key {
            Value::Str(r) | Value::Keyword(r) => error.under_key(self.of.heap.str(r)),
            _ => error.under_key(&self.of.item(key).printed().unwrap_or_default()),
        })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.of.heap.map_len(self.map))
    }
}

/// An enum variant: its name alone, or with its data.
struct Variant<'h> {
    of: De<'h>,
    name: &'h str,
    value: Option<Value>,
}

impl<'h> de::EnumAccess<'h> for Variant<'h> {
    type Error = BridgeError;
    type Variant = Variant<'h>;

    fn variant_seed<V: DeserializeSeed<'h>>(self, seed: V) -> Result<(V::Value, Variant<'h>), BridgeError> {
        Ok((seed.deserialize(NameDe::Borrowed(self.name))?, self))
    }
}

impl<'h> Variant<'h> {
    fn data(&self) -> Result<De<'h>, BridgeError> {
        match self.value {
            Some(value) => Ok(self.of.item(value)),
            None => Err(BridgeError::new(format!("variant `{}` needs data: {{\"{0}\" …}}", self.name))),
        }
    }
}

impl<'h> de::VariantAccess<'h> for Variant<'h> {
    type Error = BridgeError;

    fn unit_variant(self) -> Result<(), BridgeError> {
        match self.value {
            None | Some(Value::Nil) => Ok(()),
            Some(_) => Err(BridgeError::new(format!("variant `{}` takes no data", self.name))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'h>>(self, seed: T) -> Result<T::Value, BridgeError> {
        let data = self.data()?;
        seed.deserialize(data).map_err(|error| error.under_key(self.name))
    }

    fn tuple_variant<V: Visitor<'h>>(self, _: usize, visitor: V) -> Result<V::Value, BridgeError> {
        let data = self.data()?;
        de::Deserializer::deserialize_seq(data, visitor).map_err(|error| error.under_key(self.name))
    }

    fn struct_variant<V: Visitor<'h>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        let data = self.data()?;
        de::Deserializer::deserialize_struct(data, "", fields, visitor)
            .map_err(|error| error.under_key(self.name))
    }
}
