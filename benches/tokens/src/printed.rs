//! Reads values as `ptc` prints them, to compare them with JSON.

use serde_json::{Map, Number, Value};

/// The value of a text such as `{:a [1 nil] "b" "x"}`; keywords are strings.
pub fn read(text: &str) -> Option<Value> {
    let mut reader = Reader { text, at: 0 };
    let value = reader.value()?;
    reader.skip();
    (reader.at == text.len()).then_some(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\n', ',']).len();
    }

    fn value(&mut self) -> Option<Value> {
        self.skip();
        match self.rest().chars().next()? {
            '[' => self.items(1, ']').map(Value::Array),
            '(' => self.items(1, ')').map(Value::Array),
            '#' => self.items(2, '}').map(Value::Array),
            '{' => {
                let items = self.items(1, '}')?;
                let key = |key: &Value| key.as_str().map_or_else(|| key.to_string(), str::to_string);
                let pairs = items.chunks(2).map(|pair| Some((key(&pair[0]), pair.get(1)?.clone())));
                pairs.collect::<Option<Map<_, _>>>().map(Value::Object)
            }
            '"' => {
                let mut stream = serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
                let value = stream.next()?.ok()?;
                self.at += stream.byte_offset();
                Some(value)
            }
            _ => {
                let end = self.rest().find([' ', '\n', ',', ']', '}', ')']).unwrap_or(self.rest().len());
                let word = self.rest()[..end].to_string();
                self.at += end;
                match &*word {
                    "nil" => Some(Value::Null),
                    "true" => Some(true.into()),
                    "false" => Some(false.into()),
                    _ if word.starts_with(':') => Some(word[1..].into()),
                    _ => word.parse::<Number>().ok().map(Value::Number),
                }
            }
        }
    }

    fn items(&mut self, opening: usize, close: char) -> Option<Vec<Value>> {
        self.at += opening;
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.rest().starts_with(close) {
                self.at += 1;
                return Some(items);
            }
            items.push(self.value()?);
        }
    }
}

/// Whether two values are the same to a reader: numbers by value, and to nine digits.
pub fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
            (one - other).abs() <= 1e-9 * one.abs().max(1.0)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let found =
                |(key, value): (&String, &Value)| other.get(key).is_some_and(|other| same(value, other));
            one.len() == other.len() && one.iter().all(found)
        }
        _ => one == other,
    }
}
