//! Values as the text of a path, query, header, cookie or form: the styles of OpenAPI.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Characters of a value that stay unescaped.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Reserved characters stay unescaped too, except for those that end a value or begin another.
const RESERVED: &AsciiSet = &UNRESERVED
    .remove(b':')
    .remove(b'/')
    .remove(b'?')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b',')
    .remove(b';');

/// Maximum nesting of an object in a query.
const DEPTH: usize = 16;

/// Way of writing a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Style {
    /// `a,b`
    Simple,
    /// `.a.b`
    Label,
    /// `;x=a;x=b`
    Matrix,
    /// `x=a&x=b`, or `x=a,b`
    Form,
    /// `x=a%20b`
    Space,
    /// `x=a|b`
    Pipe,
    /// `x[k]=v`
    Deep,
    /// JSON text.
    Json,
}

/// Style with its options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct How {
    pub style: Style,
    /// True if items and fields are written one by one.
    pub explode: bool,
    /// True if reserved characters stay as they are.
    pub keeps_reserved: bool,
}

impl How {
    pub const FORM: How = How { style: Style::Form, explode: true, keeps_reserved: false };

    /// Reads `style`, `explode` and `allowReserved` of a parameter or of an encoding.
    pub fn read(value: &Value, default: Style) -> Result<How, String> {
        let style = match value.get("style").and_then(Value::as_str) {
            None => default,
            Some("simple") => Style::Simple,
            Some("label") => Style::Label,
            Some("matrix") => Style::Matrix,
            Some("form") => Style::Form,
            Some("spaceDelimited") => Style::Space,
            Some("pipeDelimited") => Style::Pipe,
            Some("deepObject") => Style::Deep,
            Some(other) => return Err(format!("has the style '{other}', which is not known")),
        };
        let flag = |key: &str| value.get(key).and_then(Value::as_bool);
        let explode = flag("explode").unwrap_or(style == Style::Form);
        Ok(How { style, explode, keeps_reserved: flag("allowReserved").unwrap_or(false) })
    }

    /// Returns the names and values of a parameter of a query or form, encoded.
    pub fn pairs(self, name: &str, value: &Value) -> Result<Vec<(String, String)>, String> {
        let encode = |text: &str| self.in_query(text);
        let one = |text: String| vec![(in_form(name), text)];
        let join = |separator: &str, texts: Vec<String>| texts.join(separator);
        Ok(match (self.style, value) {
            (_, Value::Null) => Vec::new(),
            (Style::Json, value) => one(encode(&value.to_string())),
            (Style::Deep, value @ (Value::Array(_) | Value::Object(_))) => {
                let mut pairs = Vec::new();
                self.deep(name, value, DEPTH, &mut pairs)?;
                pairs
            }
            (Style::Space | Style::Pipe, Value::Array(items)) if !self.explode => {
                let separator = if self.style == Style::Space { "%20" } else { "%7C" };
                one(join(separator, items.iter().map(|item| encode(&plain(item))).collect()))
            }
            (_, Value::Array(items)) if self.explode => {
                items.iter().map(|item| (in_form(name), encode(&plain(item)))).collect()
            }
            (_, Value::Array(items)) if items.is_empty() => Vec::new(),
            (_, Value::Array(items)) => {
                one(join(",", items.iter().map(|item| encode(&plain(item))).collect()))
            }
            (_, Value::Object(fields)) if self.explode => {
                fields.iter().map(|(key, value)| (in_form(key), encode(&plain(value)))).collect()
            }
            (_, Value::Object(fields)) => {
                let parts = fields.iter().flat_map(|(key, value)| [encode(key), encode(&plain(value))]);
                one(join(",", parts.collect()))
            }
            (_, scalar) => one(encode(&plain(scalar))),
        })
    }

    fn deep(
        self,
        name: &str,
        value: &Value,
        depth: usize,
        pairs: &mut Vec<(String, String)>,
    ) -> Result<(), String> {
        if depth == 0 {
            return Err(format!("takes objects nested at most {DEPTH} deep in a query"));
        }
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    self.deep(&format!("{name}[{n}]"), item, depth - 1, pairs)?;
                }
            }
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.deep(&format!("{name}[{key}]"), value, depth - 1, pairs)?;
                }
            }
            scalar => pairs.push((in_form(name), self.in_query(&plain(scalar)))),
        }
        Ok(())
    }

    fn in_query(self, text: &str) -> String {
        match self.keeps_reserved {
            true => utf8_percent_encode(text, RESERVED).to_string(),
            false => in_form(text),
        }
    }

    /// Returns the text that replaces a placeholder in a path.
    pub fn in_path(self, name: &str, value: &Value) -> String {
        let encode = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
        self.expand(name, value, &encode)
    }

    /// Returns the value of a header.
    pub fn in_header(self, name: &str, value: &Value) -> String {
        self.expand(name, value, &str::to_string)
    }

    /// Expands as RFC 6570 does: simple, label and matrix.
    fn expand(self, name: &str, value: &Value, encode: &dyn Fn(&str) -> String) -> String {
        let (start, separator) = match (self.style, self.explode) {
            (Style::Label, true) => (".", "."),
            (Style::Label, false) => (".", ","),
            (Style::Matrix, true) => (";", ";"),
            (Style::Matrix, false) => (";", ","),
            _ => ("", ","),
        };
        if self.style == Style::Json {
            return encode(&value.to_string());
        }
        let is_matrix = self.style == Style::Matrix;
        let named = |text: String| if is_matrix { format!("{}={text}", encode(name)) } else { text };
        let parts: Vec<String> = match value {
            Value::Array(items) => items.iter().map(|item| encode(&plain(item))).collect(),
            Value::Object(fields) if self.explode => {
                let field =
                    |(key, value): (&String, &Value)| format!("{}={}", encode(key), encode(&plain(value)));
                return format!("{start}{}", fields.iter().map(field).collect::<Vec<_>>().join(separator));
            }
            Value::Object(fields) => {
                fields.iter().flat_map(|(key, value)| [encode(key), encode(&plain(value))]).collect()
            }
            scalar => vec![encode(&plain(scalar))],
        };
        let text = match self.explode && is_matrix {
            true => parts.into_iter().map(named).collect::<Vec<_>>().join(separator),
            false => named(parts.join(separator)),
        };
        format!("{start}{text}")
    }

    /// Returns the cookies of a value, as in the header `Cookie`.
    pub fn cookies(self, name: &str, value: &Value) -> Vec<String> {
        let encode = |text: &str| utf8_percent_encode(text, UNRESERVED).to_string();
        let cookie = |value: String| format!("{name}={value}");
        match value {
            Value::Null => Vec::new(),
            _ if self.style == Style::Json => vec![cookie(encode(&value.to_string()))],
            Value::Array(items) if self.explode => {
                items.iter().map(|item| cookie(encode(&plain(item)))).collect()
            }
            Value::Object(fields) if self.explode => fields
                .iter()
                .map(|(key, value)| format!("{}={}", encode(key), encode(&plain(value))))
                .collect(),
            value => vec![cookie(How { style: Style::Simple, ..self }.expand(name, value, &encode))],
        }
    }
}

/// Encodes a text as forms do.
fn in_form(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Returns a value as text: scalars without quotes, lists and objects as JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn how(style: &str, explode: bool) -> How {
        How::read(&json!({"style": style, "explode": explode}), Style::Form).unwrap()
    }

    fn query(style: &str, explode: bool, value: Value) -> String {
        let pairs = how(style, explode).pairs("color", &value).unwrap();
        pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("&")
    }

    /// The table of the OpenAPI specification; fields come in the order of their names.
    #[test]
    fn the_styles_of_the_specification() {
        let array = json!(["blue", "black", "brown"]);
        let object = json!({"R": 100, "G": 200, "B": 150});
        let path = |style, explode, value: &Value| how(style, explode).in_path("color", value);
        for (style, explode, of_array, of_object) in [
            ("simple", false, "blue,black,brown", "B,150,G,200,R,100"),
            ("simple", true, "blue,black,brown", "B=150,G=200,R=100"),
            ("label", false, ".blue,black,brown", ".B,150,G,200,R,100"),
            ("label", true, ".blue.black.brown", ".B=150.G=200.R=100"),
            ("matrix", false, ";color=blue,black,brown", ";color=B,150,G,200,R,100"),
            ("matrix", true, ";color=blue;color=black;color=brown", ";B=150;G=200;R=100"),
        ] {
            assert_eq!(path(style, explode, &array), of_array, "{style} {explode}");
            assert_eq!(path(style, explode, &object), of_object, "{style} {explode}");
        }
        assert_eq!(query("form", false, array.clone()), "color=blue,black,brown");
        assert_eq!(query("form", true, array.clone()), "color=blue&color=black&color=brown");
        assert_eq!(query("form", false, object.clone()), "color=B,150,G,200,R,100");
        assert_eq!(query("form", true, object.clone()), "B=150&G=200&R=100");
        assert_eq!(query("spaceDelimited", false, array.clone()), "color=blue%20black%20brown");
        assert_eq!(query("pipeDelimited", false, array.clone()), "color=blue%7Cblack%7Cbrown");
        assert_eq!(query("deepObject", true, object), "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100");
        assert_eq!(query("deepObject", true, json!([{"a": [1]}])), "color%5B0%5D%5Ba%5D%5B0%5D=1");
        assert_eq!(how("form", true).cookies("c", &array), ["c=blue", "c=black", "c=brown"]);
        assert_eq!(how("form", false).cookies("c", &array), ["c=blue,black,brown"]);
    }

    #[test]
    fn values_cannot_leave_their_place() {
        let nasty = json!(["a,b&c=d", "x y/../#?"]);
        assert_eq!(query("form", false, nasty.clone()), "color=a%2Cb%26c%3Dd,x+y%2F..%2F%23%3F");
        assert_eq!(how("simple", false).in_path("x", &nasty), "a%2Cb%26c%3Dd,x%20y%2F..%2F%23%3F");
        assert_eq!(how("form", true).cookies("c", &json!("a; admin=1")), ["c=a%3B%20admin%3D1"]);
        let kept = How { keeps_reserved: true, ..How::FORM };
        assert_eq!(kept.pairs("q", &json!("a/b:c&d#e+f")).unwrap()[0].1, "a/b:c%26d%23e%2Bf");
    }
}
