//! Tables of files as Rust types. All wrong keys are reported at once, each with the name that was probably meant.

use super::values::unread;
use ptc_bytecode::nearest;
use serde::de::value::Error;
use serde::de::{DeserializeOwned, Error as _, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::{Map, Value};

/// Longest part of an unknown key that is shown, in characters.
const MAX_SHOWN: usize = 60;

/// Problem of one key of a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FieldError {
    /// The key; empty for a problem of the whole table.
    pub key: String,
    /// Description of the problem, and how to fix it.
    pub message: String,
}

/// Reads a table as a struct whose fields all have defaults, or returns the problems of all its keys.
///
/// ```
/// use ptc_agent::definition::read_fields;
/// #[derive(serde::Deserialize, Default, Debug)]
/// #[serde(default, deny_unknown_fields)]
/// struct Case { name: String, turns: u32 }
/// let table = serde_json::json!({"nam": "a", "turns": "three"});
/// let problems = read_fields::<Case>(table.as_object().unwrap()).unwrap_err();
/// assert_eq!(problems[0].message, "there is no key `nam`; did you mean `name`?");
/// assert!(problems[1].message.starts_with("`turns` cannot be read"));
/// ```
pub fn read_fields<T: DeserializeOwned>(table: &Map<String, Value>) -> Result<T, Vec<FieldError>> {
    let known = field_names::<T>();
    let mut problems = Vec::new();
    for (key, value) in table {
        let message = if !known.contains(&key.as_str()) {
            no_key(key, known)
        } else {
            // By itself, since reading a whole table ends at its first wrong key.
            let alone = Map::from_iter([(key.clone(), value.clone())]);
            match serde_json::from_value::<T>(Value::Object(alone)) {
                Ok(_) => continue,
                Err(error) => format!("`{key}` {}", unread(error)),
            }
        };
        problems.push(FieldError { key: key.clone(), message });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    serde_json::from_value(Value::Object(table.clone()))
        .map_err(|error| vec![FieldError { key: String::new(), message: unread(error) }])
}

/// Describes a key that does not exist, with the name that was probably meant, or else all names.
fn no_key(key: &str, known: &[&str]) -> String {
    let shown: String = key.chars().take(MAX_SHOWN).collect();
    match nearest(key, known.iter().copied()) {
        Some(meant) => format!("there is no key `{shown}`; did you mean `{meant}`?"),
        None => format!("there is no key `{shown}`; the keys are {}", known.join(", ")),
    }
}

/// Returns the names of a struct's fields in files; empty if the type is not a struct.
fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // Always an error: the names are all that is wanted.
    let _ = T::deserialize(NameReader(&mut names));
    names
}

/// A deserializer that has no data, and notes the fields it is asked for.
struct NameReader<'n>(&'n mut &'static [&'static str]);

impl<'de> Deserializer<'de> for NameReader<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("no data"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::{field_names, read_fields};
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Deserialize, Default, Debug)]
    #[serde(default, deny_unknown_fields)]
    struct Table {
        first: Option<u32>,
        #[serde(rename = "second-one")]
        second: Vec<String>,
    }

    #[test]
    fn names_are_those_of_files() {
        assert_eq!(field_names::<Table>(), ["first", "second-one"]);
        assert_eq!(field_names::<u32>(), [""; 0]);
    }

    #[test]
    fn every_wrong_key_is_told() {
        let wrong = json!({"frist": 1, "second-one": 3, "zzzzzz": 1});
        let problems = read_fields::<Table>(wrong.as_object().unwrap()).unwrap_err();
        let told: Vec<&str> = problems.iter().map(|problem| &*problem.message).collect();
        assert_eq!(told[0], "there is no key `frist`; did you mean `first`?");
        assert!(told[1].starts_with("`second-one` cannot be read: invalid type: integer `3`"), "{told:?}");
        assert_eq!(told[2], "there is no key `zzzzzz`; the keys are first, second-one");
        let good = json!({"first": 1, "second-one": ["a"]});
        let read = read_fields::<Table>(good.as_object().unwrap()).unwrap();
        assert_eq!((read.first, read.second.len()), (Some(1), 1));
    }
}
