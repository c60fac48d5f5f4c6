//! Deserialiser for map keys, field names and variant names.

use serde::de::{self, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::error::BridgeError;

/// Returns the member of `names` that `name` is a spelling of, with `-` and `_` taken as equal; `name` itself if
/// there is none.
pub(super) fn matching<'n>(name: &'n str, names: &'static [&'static str]) -> &'n str {
    if names.contains(&name) {
        return name;
    }
    let plain = |b: u8| if b == b'-' { b'_' } else { b };
    let same =
        |known: &&&str| known.len() == name.len() && known.bytes().map(plain).eq(name.bytes().map(plain));
    names.iter().find(same).copied().unwrap_or(name)
}

/// A name. Numbers and booleans are parsed from its text, as in JSON keys.
pub(super) enum NameDe<'n> {
    Borrowed(&'n str),
    Owned(String),
}

impl NameDe<'_> {
    fn text(&self) -> &str {
        match self {
            NameDe::Borrowed(text) => text,
            NameDe::Owned(text) => text,
        }
    }
}

macro_rules! parsed {
    ($($name:ident $visit:ident;)*) => {
        $(fn $name<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, BridgeError> {
            match self.text().parse() {
                Ok(parsed) => visitor.$visit(parsed),
                Err(_) => self.deserialize_any(visitor),
            }
        })*
    };
}

impl<'n> de::Deserializer<'n> for NameDe<'n> {
    type Error = BridgeError;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        match self {
            NameDe::Borrowed(text) => visitor.visit_borrowed_str(text),
            NameDe::Owned(text) => visitor.visit_string(text),
        }
    }

    parsed! {
        deserialize_bool visit_bool;
        deserialize_i8 visit_i8;
        deserialize_i16 visit_i16;
        deserialize_i32 visit_i32;
        deserialize_i64 visit_i64;
        deserialize_i128 visit_i128;
        deserialize_u8 visit_u8;
        deserialize_u16 visit_u16;
        deserialize_u32 visit_u32;
        deserialize_u64 visit_u64;
        deserialize_u128 visit_u128;
        deserialize_f32 visit_f32;
        deserialize_f64 visit_f64;
    }

    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, BridgeError> {
        // A type that wraps itself would recurse forever; a name can only be text.
        visitor.visit_some(self.text().to_string().into_deserializer())
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, BridgeError> {
        visitor.visit_enum(matching(self.text(), variants).to_string().into_deserializer())
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier
        ignored_any
    }
}
