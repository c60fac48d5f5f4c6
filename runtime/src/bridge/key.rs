//! Keys of Rust maps as strings: text, integers, booleans and the names of enum variants.

use std::fmt::Display;

use serde::ser::{Impossible, Serialize, Serializer};

use super::error::BridgeError;
use super::ser::Items;
use super::sink::Sink;

/// Serialiser for a key of a map.
pub(super) struct KeySer<'i, 's, S: Sink>(pub(super) &'i mut Items<'s, S>);

impl<S: Sink> KeySer<'_, '_, S> {
    fn shown(self, key: impl Display) -> Result<(), BridgeError> {
        self.0.key(&key.to_string())
    }

    fn refused(self, what: &str) -> BridgeError {
        BridgeError::new(format!("a map key must be a string, a number, a boolean or a variant, not {what}"))
    }
}

macro_rules! shown {
    ($($name:ident: $type:ty;)*) => {
        $(fn $name(self, key: $type) -> Result<(), BridgeError> {
            self.shown(key)
        })*
    };
}

macro_rules! refused {
    ($($name:ident ($($type:ty),*) -> $result:ty, $what:literal;)*) => {
        $(fn $name(self, $(_: $type),*) -> Result<$result, BridgeError> {
            Err(self.refused($what))
        })*
    };
}

impl<S: Sink> Serializer for KeySer<'_, '_, S> {
    type Ok = ();
    type Error = BridgeError;
    type SerializeSeq = Impossible<(), BridgeError>;
    type SerializeTuple = Impossible<(), BridgeError>;
    type SerializeTupleStruct = Impossible<(), BridgeError>;
    type SerializeTupleVariant = Impossible<(), BridgeError>;
    type SerializeMap = Impossible<(), BridgeError>;
    type SerializeStruct = Impossible<(), BridgeError>;
    type SerializeStructVariant = Impossible<(), BridgeError>;

    shown! {
        serialize_bool: bool;
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
        serialize_f32: f32;
        serialize_f64: f64;
        serialize_char: char;
    }

    fn serialize_str(self, key: &str) -> Result<(), BridgeError> {
        self.0.key(key)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), BridgeError> {
        self.0.key(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        key: &T,
    ) -> Result<(), BridgeError> {
        key.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<(), BridgeError> {
        key.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), BridgeError> {
        Err(self.refused("a variant with data"))
    }

    refused! {
        serialize_bytes(&[u8]) -> (), "bytes";
        serialize_none() -> (), "nothing";
        serialize_unit() -> (), "nothing";
        serialize_unit_struct(&'static str) -> (), "nothing";
        serialize_seq(Option<usize>) -> Self::SerializeSeq, "a sequence";
        serialize_tuple(usize) -> Self::SerializeTuple, "a tuple";
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct, "a tuple";
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant, "a variant with data";
        serialize_map(Option<usize>) -> Self::SerializeMap, "a map";
        serialize_struct(&'static str, usize) -> Self::SerializeStruct, "a struct";
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant, "a variant with data";
    }
}
