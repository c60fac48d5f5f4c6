//! Schemas as text: `id: int, price: float, lines: list<{name: text, amount: int32}>`.

use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};
use std::fmt;
use std::sync::Arc;

/// Maximum nesting of a type: reading it recurses.
const MAX_DEPTH: usize = 32;

/// A schema that cannot be read.
#[derive(Clone, PartialEq, Debug)]
pub struct SchemaError {
    /// Bytes of the text before the error.
    pub at: usize,
    message: String,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.message, self.at + 1)
    }
}

impl std::error::Error for SchemaError {}

/// Names of types, as they are written.
const TYPES: &[(&str, DataType)] = &[
    ("bool", DataType::Boolean),
    ("int", DataType::Int64),
    ("int8", DataType::Int8),
    ("int16", DataType::Int16),
    ("int32", DataType::Int32),
    ("int64", DataType::Int64),
    ("uint8", DataType::UInt8),
    ("uint16", DataType::UInt16),
    ("uint32", DataType::UInt32),
    ("uint64", DataType::UInt64),
    ("float", DataType::Float64),
    ("float32", DataType::Float32),
    ("float64", DataType::Float64),
    ("text", DataType::Utf8),
    ("date", DataType::Date32),
];

/// Reads a schema: names with types, separated by commas. Types are `bool`, `int` (also `int8` to `int64`, `uint8` to
/// `uint64`), `float` (also `float32`), `text`, `date`, `timestamp`, `decimal(P, S)`, `list<T>` and `{name: T, …}`.
///
/// ```
/// let schema = ptc_arrow::parse_schema("id: int, lines: list<{price: decimal(9, 2)}>").unwrap();
/// assert_eq!(schema.field(0).data_type().to_string(), "Int64");
/// let error = ptc_arrow::parse_schema("id: number").unwrap_err();
/// assert!(error.to_string().starts_with("`number` is no type; the types are bool, int, "));
/// ```
pub fn parse_schema(text: &str) -> Result<Schema, SchemaError> {
    let mut reader = Reader { text, at: 0 };
    let fields = reader.fields("", MAX_DEPTH)?;
    match reader.rest() {
        "" if fields.is_empty() => Err(reader.error("a schema has at least one column: `id: int`")),
        "" => Ok(Schema::new(fields)),
        _ => Err(reader.error("expected a comma or the end")),
    }
}

/// Writes a type as [`parse_schema`] reads it; None for types that schemas as text do not have.
///
/// ```
/// let schema = ptc_arrow::parse_schema("lines: list<{price: decimal(9, 2), \"a b\": int}>").unwrap();
/// let text = ptc_arrow::type_text(schema.field(0).data_type()).unwrap();
/// assert_eq!(text, "list<{price: decimal(9, 2), \"a b\": int}>");
/// assert_eq!(ptc_arrow::type_text(&arrow_schema::DataType::Binary), None);
/// ```
pub fn type_text(kind: &DataType) -> Option<String> {
    let text = written(kind, MAX_DEPTH)?;
    // Lists and structs say more than their text, such as the names of items.
    let is_same = parse_schema(&format!("value: {text}")).is_ok_and(|it| it.field(0).data_type() == kind);
    is_same.then_some(text)
}

fn written(kind: &DataType, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    Some(match kind {
        DataType::List(item) => format!("list<{}>", written(item.data_type(), depth)?),
        DataType::Struct(fields) => {
            let field = |field: &Arc<Field>| {
                let name = field.name();
                let is_plain = !name.is_empty() && !name.contains(is_end);
                let name = if is_plain { name.clone() } else { format!("\"{name}\"") };
                Some(format!("{name}: {}", written(field.data_type(), depth)?))
            };
            format!("{{{}}}", fields.iter().map(field).collect::<Option<Vec<_>>>()?.join(", "))
        }
        DataType::Timestamp(..) => "timestamp".to_string(),
        DataType::Decimal128(precision, scale) => format!("decimal({precision}, {scale})"),
        other => TYPES.iter().find(|(_, known)| known == other).map(|(name, _)| (*name).to_string())?,
    })
}

/// True for the characters that end a name without quotes.
fn is_end(c: char) -> bool {
    c.is_whitespace() || "<>{}():,\"".contains(c)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Reader<'t> {
    fn error(&self, message: impl Into<String>) -> SchemaError {
        SchemaError { at: self.at, message: message.into() }
    }

    /// Skips blanks, and returns the rest of the text.
    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn takes(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        self.at += if found { wanted.len() } else { 0 };
        found
    }

    fn expect(&mut self, wanted: &str) -> Result<(), SchemaError> {
        if self.takes(wanted) { Ok(()) } else { Err(self.error(format!("expected `{wanted}`"))) }
    }

    /// Reads a name: in quotes, or without blanks and signs.
    fn name(&mut self) -> Result<&'t str, SchemaError> {
        if self.takes("\"") {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('"') else { return Err(self.error("a name has no closing quote")) };
            self.at += end + 1;
            return Ok(&rest[..end]);
        }
        let rest = self.rest();
        let name = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        if name.is_empty() {
            return Err(self.error("expected a name"));
        }
        self.at += name.len();
        Ok(name)
    }

    /// Reads columns up to this end, which is taken.
    fn fields(&mut self, end: &str, depth: usize) -> Result<Fields, SchemaError> {
        let mut fields: Vec<Field> = Vec::new();
        loop {
            if !end.is_empty() && self.takes(end) || self.rest().is_empty() && end.is_empty() {
                return Ok(fields.into());
            }
            let start = self.at;
            let name = self.name()?;
            if fields.iter().any(|field| field.name() == name) {
                return Err(SchemaError {
                    at: start,
                    message: format!("the column `{name}` is there twice"),
                });
            }
            self.expect(":")?;
            fields.push(Field::new(name, self.data_type(depth)?, true));
            if !self.takes(",") {
                if end.is_empty() {
                    return Ok(fields.into());
                }
                self.expect(end)?;
                return Ok(fields.into());
            }
        }
    }

    fn data_type(&mut self, depth: usize) -> Result<DataType, SchemaError> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(self.error("the type is nested too deeply"));
        };
        if self.takes("{") {
            return Ok(DataType::Struct(self.fields("}", depth)?));
        }
        let start = self.at;
        let name = self.name()?;
        match name {
            "list" => {
                self.expect("<")?;
                let item = self.data_type(depth)?;
                self.expect(">")?;
                Ok(DataType::new_list(item, true))
            }
            "timestamp" => Ok(DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))),
            "decimal" => {
                self.expect("(")?;
                let precision: u8 = self.number(38)?;
                self.expect(",")?;
                let scale = self.number(precision)?;
                self.expect(")")?;
                Ok(DataType::Decimal128(precision.max(1), scale as i8))
            }
            _ => {
                let known = TYPES.iter().find(|(known, _)| *known == name);
                known.map(|(_, kind)| kind.clone()).ok_or_else(|| {
                    let names: Vec<&str> = TYPES.iter().map(|(name, _)| *name).collect();
                    let message = format!(
                        "`{name}` is no type; the types are {}, timestamp, decimal(P, S), list<T> and {{name: T}}",
                        names.join(", ")
                    );
                    SchemaError { at: start, message }
                })
            }
        }
    }

    fn number(&mut self, most: u8) -> Result<u8, SchemaError> {
        let digits = self.name()?;
        let number = digits.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.error(format!("`{digits}` is no number from 0 to {most}")))
    }
}

#[cfg(test)]
mod tests {
    use super::parse_schema;

    #[test]
    fn schemas_are_read_or_refused_with_a_place() {
        let shown = |text: &str| match parse_schema(text) {
            Ok(schema) => {
                let fields = schema.fields().iter();
                fields
                    .map(|field| format!("{} {}", field.name(), field.data_type()))
                    .collect::<Vec<_>>()
                    .join("; ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(shown("a:int,\"b c\" : text ,"), "a Int64; b c Utf8");
        assert_eq!(shown("d: decimal(9,2), t: timestamp"), "d Decimal128(9, 2); t Timestamp(µs, \"UTC\")");
        assert_eq!(shown(""), "a schema has at least one column: `id: int` (at character 1)");
        assert_eq!(shown("a int"), "expected `:` (at character 3)");
        assert_eq!(shown("a: int b: int"), "expected a comma or the end (at character 8)");
        assert_eq!(shown("a: int, a: text"), "the column `a` is there twice (at character 9)");
        assert_eq!(shown("a: list<int"), "expected `>` (at character 12)");
        assert_eq!(shown("a: {b: int"), "expected `}` (at character 11)");
        assert_eq!(shown("a: decimal(50, 2)"), "`50` is no number from 0 to 38 (at character 14)");
        assert_eq!(shown("\"a"), "a name has no closing quote (at character 2)");
        let deep = format!("a: {}int{}", "list<".repeat(100), ">".repeat(100));
        assert!(shown(&deep).starts_with("the type is nested too deeply"));
    }
}
