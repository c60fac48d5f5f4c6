//! `Serialize` types into a sink.

use num_bigint::BigInt;
use serde::ser::{self, Serialize};

use super::MAX_DEPTH;
use super::error::BridgeError;
use super::key::KeySer;
use super::sink::Sink;

/// What `data` becomes in `sink`.
pub(super) fn serialize<S: Sink, T: Serialize + ?Sized>(
    sink: &mut S,
    data: &T,
) -> Result<S::Item, BridgeError> {
    data.serialize(Ser { sink, depth: 0 })
}

struct Ser<'s, S> {
    sink: &'s mut S,
    depth: usize,
}

impl<'s, S: Sink> Ser<'s, S> {
    /// For what is inside. Every step of recursion counts, also those that leave no trace.
    fn inner(self) -> Result<Ser<'s, S>, BridgeError> {
        if self.depth >= MAX_DEPTH {
            return Err(BridgeError::new(format!("data nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Ser { sink: self.sink, depth: self.depth + 1 })
    }

    fn items(self, len: Option<usize>, tag: Option<S::Item>) -> Result<Items<'s, S>, BridgeError> {
        let Ser { sink, depth } = self.inner()?;
        // The length is what the type says of itself, so it is not trusted far.
        Ok(Items { sink, depth, items: Vec::with_capacity(len.unwrap_or(0).min(1024)), tag })
    }
}

/// The parts of a sequence, map, struct or variant.
struct Items<'s, S: Sink> {
    sink: &'s mut S,
    depth: usize,
    items: Vec<S::Item>,
    /// The key of the variant these are the contents of.
    tag: Option<S::Item>,
}

impl<S: Sink> Items<'_, S> {
    fn push<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), BridgeError> {
        let item = item.serialize(Ser { sink: &mut *self.sink, depth: self.depth })?;
        self.items.push(item);
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), BridgeError> {
        let item = self.sink.key(key)?;
        self.items.push(item);
        self.push(value).map_err(|error| error.under_key(key))
    }

    fn vector(self) -> Result<S::Item, BridgeError> {
        let inner = self.sink.vector(&self.items)?;
        tagged(self.sink, self.tag, inner)
    }

    fn map(self) -> Result<S::Item, BridgeError> {
        let inner = self.sink.map(&self.items)?;
        tagged(self.sink, self.tag, inner)
    }
}

fn tagged<S: Sink>(sink: &mut S, tag: Option<S::Item>, inner: S::Item) -> Result<S::Item, BridgeError> {
    match tag {
        Some(tag) => sink.map(&[tag, inner]),
        None => Ok(inner),
    }
}

macro_rules! integers {
    ($($name:ident: $type:ty;)*) => {
        $(fn $name(self, n: $type) -> Result<S::Item, BridgeError> {
            match i64::try_from(n) {
                Ok(n) => Ok(self.sink.int(n)),
                Err(_) => self.sink.big(&BigInt::from(n)),
            }
        })*
    };
}

impl<'s, S: Sink> ser::Serializer for Ser<'s, S> {
    type Ok = S::Item;
    type Error = BridgeError;
    type SerializeSeq = Items<'s, S>;
    type SerializeTuple = Items<'s, S>;
    type SerializeTupleStruct = Items<'s, S>;
    type SerializeTupleVariant = Items<'s, S>;
    type SerializeMap = Items<'s, S>;
    type SerializeStruct = Items<'s, S>;
    type SerializeStructVariant = Items<'s, S>;

    integers! {
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_i128: i128;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
        serialize_u128: u128;
    }

    fn serialize_bool(self, b: bool) -> Result<S::Item, BridgeError> {
        Ok(self.sink.bool(b))
    }

    fn serialize_f32(self, x: f32) -> Result<S::Item, BridgeError> {
        Ok(self.sink.float(f64::from(x)))
    }

    fn serialize_f64(self, x: f64) -> Result<S::Item, BridgeError> {
        Ok(self.sink.float(x))
    }

    fn serialize_char(self, c: char) -> Result<S::Item, BridgeError> {
        self.sink.str(c.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, text: &str) -> Result<S::Item, BridgeError> {
        self.sink.str(text)
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<S::Item, BridgeError> {
        let items: Vec<S::Item> = bytes.iter().map(|b| self.sink.int(i64::from(*b))).collect();
        self.sink.vector(&items)
    }

    fn serialize_none(self) -> Result<S::Item, BridgeError> {
        Ok(self.sink.nil())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Item, BridgeError> {
        value.serialize(self.inner()?)
    }

    fn serialize_unit(self) -> Result<S::Item, BridgeError> {
        Ok(self.sink.nil())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<S::Item, BridgeError> {
        Ok(self.sink.nil())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<S::Item, BridgeError> {
        self.sink.key(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<S::Item, BridgeError> {
        value.serialize(self.inner()?)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Item, BridgeError> {
        let tag = self.sink.key(variant)?;
        let Ser { sink, depth } = self.inner()?;
        let inner = value.serialize(Ser { sink: &mut *sink, depth })?;
        tagged(sink, Some(tag), inner)
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Items<'s, S>, BridgeError> {
        self.items(len, None)
    }

    fn serialize_tuple(self, len: usize) -> Result<Items<'s, S>, BridgeError> {
        self.items(Some(len), None)
    }

    fn serialize_tuple_struct(self, _: &'static str, len: usize) -> Result<Items<'s, S>, BridgeError> {
        self.items(Some(len), None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items<'s, S>, BridgeError> {
        let tag = self.sink.key(variant)?;
        self.items(Some(len), Some(tag))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Items<'s, S>, BridgeError> {
        self.items(len.map(|n| n.saturating_mul(2)), None)
    }

    fn serialize_struct(self, _: &'static str, len: usize) -> Result<Items<'s, S>, BridgeError> {
        self.items(Some(len.saturating_mul(2)), None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Items<'s, S>, BridgeError> {
        let tag = self.sink.key(variant)?;
        self.items(Some(len.saturating_mul(2)), Some(tag))
    }
}

macro_rules! sequences {
    ($($trait:ident $method:ident;)*) => {
        $(impl<S: Sink> ser::$trait for Items<'_, S> {
            type Ok = S::Item;
            type Error = BridgeError;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), BridgeError> {
                let index = self.items.len();
                self.push(item).map_err(|error| error.at_index(index))
            }

            fn end(self) -> Result<S::Item, BridgeError> {
                self.vector()
            }
        })*
    };
}

sequences! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! structs {
    ($($trait:ident;)*) => {
        $(impl<S: Sink> ser::$trait for Items<'_, S> {
            type Ok = S::Item;
            type Error = BridgeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), BridgeError> {
                self.field(key, value)
            }

            fn end(self) -> Result<S::Item, BridgeError> {
                self.map()
            }
        })*
    };
}

structs! {
    SerializeStruct;
    SerializeStructVariant;
}

impl<S: Sink> ser::SerializeMap for Items<'_, S> {
    type Ok = S::Item;
    type Error = BridgeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), BridgeError> {
        let item = key.serialize(KeySer(&mut *self.sink))?;
        self.items.push(item);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), BridgeError> {
        self.push(value)
    }

    fn end(self) -> Result<S::Item, BridgeError> {
        if self.items.len() % 2 == 1 {
            return Err(BridgeError::new("a map with a key but no value"));
        }
        self.map()
    }
}
