//! Typed access to the fields of an object; unknown fields are refused.

use super::error::ConfigError;
use ptc_bytecode::nearest;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::fmt;

/// One object of the file.
pub(super) struct Fields<'v> {
    /// The object's name in errors.
    pub place: String,
    /// Prefix of field names in errors: `auth[0].`
    prefix: String,
    map: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    pub fn new(place: &str, prefix: &str, value: &'v Value) -> Result<Fields<'v>, ConfigError> {
        match value {
            Value::Object(map) => Ok(Fields { place: place.to_string(), prefix: prefix.to_string(), map }),
            other => Err(ConfigError::new(
                place,
                prefix.trim_end_matches('.'),
                format!("must be an object, but is {}", kind(other)),
            )),
        }
    }

    /// Refuses fields that are not among `known`; `elsewhere` says where a field would belong.
    pub fn only(
        &self,
        known: &[&str],
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Result<(), ConfigError> {
        for key in self.map.keys() {
            if known.contains(&&**key) {
                continue;
            }
            let key: &str = &key.chars().take(60).collect::<String>();
            let hint = match (elsewhere(key), nearest(key, known.iter().copied())) {
                (Some(place), _) => format!("; it is a field of {place}"),
                (None, Some(near)) => format!("; did you mean `{near}`?"),
                (None, None) => format!("; known fields: {}", known.join(", ")),
            };
            return Err(self.error(key, format!("is not a known field here{hint}")));
        }
        Ok(())
    }

    pub fn error(&self, key: &str, message: impl Into<String>) -> ConfigError {
        ConfigError::new(&self.place, &format!("{}{key}", self.prefix), message)
    }

    /// Returns a field; null counts as missing.
    pub fn get(&self, key: &str) -> Option<&'v Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn must(&self, key: &str, what: &str, value: &Value) -> ConfigError {
        self.error(key, format!("must be {what}, but is {}", kind(value)))
    }

    pub fn text(&self, key: &str) -> Result<Option<&'v str>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.must(key, "a string", other)),
        }
    }

    /// Returns a required string that is not blank.
    pub fn required(&self, key: &str) -> Result<&'v str, ConfigError> {
        match self.text(key)? {
            None => Err(self.error(key, "is required")),
            Some(text) if text.trim().is_empty() => Err(self.error(key, "must not be blank")),
            Some(text) => Ok(text),
        }
    }

    pub fn flag(&self, key: &str) -> Result<Option<bool>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => Err(self.must(key, "true or false", other)),
        }
    }

    /// Returns a whole number from 1 to `most`.
    pub fn number(&self, key: &str, default: u64, most: u64) -> Result<u64, ConfigError> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Number(number)) => match number.as_u64().filter(|n| (1..=most).contains(n)) {
                Some(n) => Ok(n),
                None => {
                    Err(self.error(key, format!("must be a whole number from 1 to {most}, got {number}")))
                }
            },
            Some(other) => Err(self.must(key, "a whole number", other)),
        }
    }

    pub fn list(&self, key: &str) -> Result<&'v [Value], ConfigError> {
        match self.get(key) {
            None => Ok(&[]),
            Some(Value::Array(items)) => Ok(items),
            Some(other) => Err(self.must(key, "a list", other)),
        }
    }

    pub fn texts(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        let text = |(n, value): (usize, &Value)| match value {
            Value::String(text) => Ok(text.clone()),
            other => Err(self.must(&format!("{key}[{n}]"), "a string", other)),
        };
        self.list(key)?.iter().enumerate().map(text).collect()
    }

    /// Returns an object, if present.
    pub fn map(&self, key: &str) -> Result<Option<&'v Map<String, Value>>, ConfigError> {
        match self.get(key) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(map)),
            Some(other) => Err(self.must(key, "an object", other)),
        }
    }

    /// Returns the entries of an object whose values are strings.
    pub fn text_map(&self, key: &str) -> Result<Vec<(&'v str, &'v str)>, ConfigError> {
        let one = |(name, value): (&'v String, &'v Value)| match value {
            Value::String(text) => Ok((&**name, &**text)),
            other => Err(self.must(&format!("{key}.{name}"), "a string", other)),
        };
        self.map(key)?.into_iter().flatten().map(one).collect()
    }
}

/// Returns the type of a value for errors, which never show the value.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Parses JSON. Duplicate keys are refused: one of them would be lost silently.
pub(super) fn strict(text: &str) -> Result<Value, String> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = reader.deserialize_any(Strict).map_err(|error| error.to_string())?;
    reader.end().map_err(|error| error.to_string())?;
    Ok(value)
}

struct Strict;

impl<'de> serde::de::DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value, E> {
        Ok(n.into())
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value, E> {
        Ok(n.into())
    }

    fn visit_f64<E>(self, n: f64) -> Result<Value, E> {
        Ok(n.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Strict)?;
            if map.contains_key(&key) {
                let key: String = key.chars().take(60).collect();
                return Err(A::Error::custom(format!("the key `{key}` occurs twice in one object")));
            }
            map.insert(key, value);
        }
        Ok(Value::Object(map))
    }
}
