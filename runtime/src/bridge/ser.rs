//! Serialiser from `Serialize` types into a sink.

use num_bigint::BigInt;
use serde::ser::{self, Serialize};

use super::MAX_DEPTH;
use super::error::BridgeError;
use super::key::KeySer;
use super::sink::{Place, Sink};
use crate::json::names::ROOT;

/// Serialises `data` into `sink`.
pub(super) fn serialize<S: Sink, T: Serialize + ?Sized>(
    sink: &mut S,
    data: &T,
) -> Result<S::Item, BridgeError> {
    sink.parts().clear();
    data.serialize(Ser { sink, depth: 0, owner: ROOT })
}

struct Ser<'s, S> {
    sink: &'s mut S,
    depth: usize,
    /// Node of the key this value is under.
    owner: u32,
}

impl<'s, S: Sink> Ser<'s, S> {
    /// Returns a serialiser for inner data. Every recursion counts, even a step that adds no data.
    fn inner(self) -> Result<Ser<'s, S>, BridgeError> {
        if self.depth >= MAX_DEPTH {
            return Err(BridgeError::new(format!("data nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Ser { depth: self.depth + 1, ..self })
    }

    /// Makes the key of a variant with contents.
    fn tag(&mut self, variant: &str) -> Result<Tag<S>, BridgeError> {
        let mut at = Place::below(self.owner);
        let key = self.sink.key(&mut at, variant)?;
        self.owner = at.inside();
        Ok((key, at))
    }

    fn items(self, tag: Option<Tag<S>>) -> Result<Items<'s, S>, BridgeError> {
        let Ser { sink, depth, owner } = self.inner()?;
        let start = sink.parts().len();
        Ok(Items { sink, depth, start, at: Place::below(owner), tag })
    }
}

/// Key of a variant, and the place it leads to.
type Tag<S> = (<S as Sink>::Item, Place);

/// The parts of a sequence, map, struct or variant: the sink's parts from `start` on.
pub(super) struct Items<'s, S: Sink> {
    sink: &'s mut S,
    depth: usize,
    start: usize,
    at: Place,
    tag: Option<Tag<S>>,
}

impl<S: Sink> Items<'_, S> {
    fn len(&mut self) -> usize {
        self.sink.parts().len() - self.start
    }

    fn push<T: Serialize + ?Sized>(&mut self, item: &T, owner: u32) -> Result<(), BridgeError> {
        let item = item.serialize(Ser { sink: &mut *self.sink, depth: self.depth, owner })?;
        self.sink.parts().push(item);
        Ok(())
    }

    /// Serialises a key of a map or struct.
    pub(super) fn key(&mut self, key: &str) -> Result<(), BridgeError> {
        let item = self.sink.key(&mut self.at, key)?;
        self.sink.parts().push(item);
        Ok(())
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), BridgeError> {
        self.key(key)?;
        self.push(value, self.at.inside()).map_err(|error| error.under_key(key))
    }

    fn vector(self) -> Result<S::Item, BridgeError> {
        let Items { sink, start, tag, .. } = self;
        let parts = std::mem::take(sink.parts());
        let inner = sink.vector(&parts[start..]);
        finish(sink, parts, start, tag, inner)
    }

    fn map(self) -> Result<S::Item, BridgeError> {
        let Items { sink, start, tag, at, .. } = self;
        let parts = std::mem::take(sink.parts());
        let inner = sink.map(at, &parts[start..]);
        finish(sink, parts, start, tag, inner)
    }
}

/// Truncates the parts to `start` after they were combined into a whole.
fn finish<S: Sink>(
    sink: &mut S,
    mut parts: Vec<S::Item>,
    start: usize,
    tag: Option<Tag<S>>,
    inner: Result<S::Item, BridgeError>,
) -> Result<S::Item, BridgeError> {
    parts.truncate(start);
    *sink.parts() = parts;
    tagged(sink, tag, inner?)
}

fn tagged<S: Sink>(sink: &mut S, tag: Option<Tag<S>>, inner: S::Item) -> Result<S::Item, BridgeError> {
    match tag {
        Some((key, at)) => sink.map(at, &[key, inner]),
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
        self.sink.key(&mut Place::nowhere(), variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<S::Item, BridgeError> {
        value.serialize(self.inner()?)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Item, BridgeError> {
        let tag = self.tag(variant)?;
        let Ser { sink, depth, owner } = self.inner()?;
        let inner = value.serialize(Ser { sink: &mut *sink, depth, owner })?;
        tagged(sink, Some(tag), inner)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'s, S>, BridgeError> {
        self.items(None)
    }

    fn serialize_tuple(self, _: usize) -> Result<Items<'s, S>, BridgeError> {
        self.items(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'s, S>, BridgeError> {
        self.items(None)
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'s, S>, BridgeError> {
        let tag = self.tag(variant)?;
        self.items(Some(tag))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Items<'s, S>, BridgeError> {
        self.items(None)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Items<'s, S>, BridgeError> {
        self.items(None)
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'s, S>, BridgeError> {
        let tag = self.tag(variant)?;
        self.items(Some(tag))
    }
}

macro_rules! sequences {
    ($($trait:ident $method:ident;)*) => {
        $(impl<S: Sink> ser::$trait for Items<'_, S> {
            type Ok = S::Item;
            type Error = BridgeError;

            fn $method<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), BridgeError> {
                let (index, owner) = (self.len(), self.at.owner);
                self.push(item, owner).map_err(|error| error.at_index(index))
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
        key.serialize(KeySer(self))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), BridgeError> {
        self.push(value, self.at.inside())
    }

    fn end(mut self) -> Result<S::Item, BridgeError> {
        if self.len() % 2 == 1 {
            return Err(BridgeError::new("a map with a key but no value"));
        }
        self.map()
    }
}
