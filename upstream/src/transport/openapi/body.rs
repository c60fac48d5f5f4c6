//! Bodies of requests: JSON, forms, files, and text.

use super::refs::Document;
use super::style::{How, Style, plain};
use crate::schema::merge::merge_all_of;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Name of the argument that holds a body that is not spread over arguments.
const WHOLE: &str = "body";

/// Maximum length of a file's name, in characters.
const FILE_NAME: usize = 255;

/// Format of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Json,
    Form,
    Multipart,
    /// One text or file.
    Raw,
}

impl Format {
    fn of(media: &str) -> Format {
        match essence(media).as_str() {
            "application/x-www-form-urlencoded" => Format::Form,
            "multipart/form-data" => Format::Multipart,
            media if is_json(media) => Format::Json,
            _ => Format::Raw,
        }
    }
}

/// Returns a media type without its parameters, in lower case.
pub(super) fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Returns whether a media type is JSON.
pub(super) fn is_json(media: &str) -> bool {
    let media = essence(media);
    media == "application/json" || media.ends_with("+json") || media == "*/*"
}

/// The body of an operation, ready to be filled.
#[derive(Clone, Debug)]
pub(super) struct Body {
    format: Format,
    media: String,
    is_required: bool,
    /// True if the argument `body` holds it; otherwise its fields are arguments.
    is_whole: bool,
    /// Names of its fields.
    fields: HashSet<String>,
    /// True if it takes fields that are not declared.
    is_open: bool,
    /// Ways of writing fields of a form.
    encodings: BTreeMap<String, How>,
}

/// An argument made from a body.
pub(super) struct Argument {
    pub name: String,
    pub schema: Value,
    pub is_required: bool,
}

impl Body {
    /// Reads the body of an operation, and the arguments that fill it. `taken` holds the names of the other arguments.
    pub fn read(
        document: &Document<'_>,
        request: &Value,
        taken: &HashSet<String>,
    ) -> Result<Option<(Body, Vec<Argument>)>, String> {
        let Some(content) = request.get("content").and_then(Value::as_object).filter(|all| !all.is_empty())
        else {
            return Ok(None);
        };
        // The formats in which programs say most, first.
        let rank = |media: &str| match Format::of(media) {
            Format::Json => 0,
            Format::Form => 1,
            Format::Multipart => 2,
            Format::Raw => 3,
        };
        let Some((media, described)) = content.iter().min_by_key(|(media, _)| rank(media)) else {
            return Ok(None);
        };
        if !crate::config::is_header_value(media) {
            return Err("its body has a type that no header can hold".to_string());
        }
        let format = Format::of(media);
        let media = if essence(media) == "*/*" { "application/json" } else { media.as_str() };
        let is_required = request.get("required") == Some(&Value::Bool(true));
        let mut schema = match document.schema(described.get("schema").unwrap_or(&json!({}))) {
            Value::Object(schema) => merge_all_of(schema),
            _ => Map::new(),
        };
        hide_read_only(&mut schema);
        if matches!(format, Format::Multipart | Format::Raw) {
            allow_files(&mut schema, format);
        }
        let mut encodings = BTreeMap::new();
        for (name, encoding) in described.get("encoding").and_then(Value::as_object).into_iter().flatten() {
            let media = encoding.get("contentType").and_then(Value::as_str);
            let how = match media.filter(|media| is_json(media)) {
                Some(_) => How { style: Style::Json, explode: false, keeps_reserved: false },
                None => How::read(encoding, Style::Form)
                    .map_err(|why| format!("the field '{name}' of its body {why}"))?,
            };
            encodings.insert(name.clone(), how);
        }
        let mut body = Body {
            format,
            media: media.to_string(),
            is_required,
            is_whole: true,
            fields: HashSet::new(),
            is_open: matches!(schema.get("additionalProperties"), Some(Value::Bool(true) | Value::Object(_))),
            encodings,
        };
        if let Some(properties) = spreadable(&schema, taken).filter(|_| format != Format::Raw) {
            body.is_whole = false;
            body.fields = properties.keys().cloned().collect();
            if properties.is_empty() && !body.is_open {
                // An empty form, as generators write for operations that take none.
                return Ok(None);
            }
            let required: Vec<&str> =
                if is_required { texts(schema.get("required")).collect() } else { Vec::new() };
            // Required ones in the order of the schema, as tools list them.
            let first = required.iter().filter_map(|name| properties.get_key_value(*name));
            let others = properties.iter().filter(|(name, _)| !required.contains(&&***name));
            let argument = |(name, schema): (&String, &Value)| Argument {
                name: name.clone(),
                schema: schema.clone(),
                is_required: required.contains(&&**name),
            };
            return Ok(Some((body, first.chain(others).map(argument).collect())));
        }
        let name = if taken.contains(WHOLE) { "request_body" } else { WHOLE };
        if taken.contains(name) {
            return Err(format!("it has parameters named '{WHOLE}' and '{name}', and a body"));
        }
        if let (Some(about), None) = (request.get("description"), schema.get("description")) {
            schema.insert("description".to_string(), about.clone());
        }
        body.fields.insert(name.to_string());
        let argument = Argument { name: name.to_string(), schema: Value::Object(schema), is_required };
        Ok(Some((body, vec![argument])))
    }

    /// Returns whether an argument belongs to the body.
    pub fn takes(&self, arg: &str) -> bool {
        self.fields.contains(arg) || self.is_open && !self.is_whole
    }

    /// Returns type and bytes of the body; None if there is none.
    pub fn encode(
        &self,
        args: &Map<String, Value>,
        others: &HashSet<&str>,
    ) -> Result<Option<(String, Vec<u8>)>, String> {
        let mut given = args.iter().filter(|(name, _)| self.takes(name) && !others.contains(&***name));
        let whole;
        let fields: Map<String, Value> = match self.is_whole {
            true => match given.next() {
                None if self.is_required => return Err("needs a body".to_string()),
                None => return Ok(None),
                Some((_, value)) => {
                    whole = value;
                    match (self.format, whole) {
                        (Format::Json, value) => {
                            return Ok(Some((self.media.clone(), value.to_string().into_bytes())));
                        }
                        (Format::Raw, value) => {
                            let file = File::of("body", value)?;
                            return Ok(Some((file.media.unwrap_or_else(|| self.media.clone()), file.bytes)));
                        }
                        (_, Value::Object(fields)) => fields.clone(),
                        _ => return Err("takes a map as its body".to_string()),
                    }
                }
            },
            false => given.map(|(name, value)| (name.clone(), value.clone())).collect(),
        };
        if fields.is_empty() && !self.is_required {
            return Ok(None);
        }
        Ok(Some(match self.format {
            Format::Json | Format::Raw => {
                (self.media.clone(), Value::Object(fields).to_string().into_bytes())
            }
            Format::Form => {
                let mut pairs = Vec::new();
                for (name, value) in &fields {
                    let how = self.encodings.get(name).copied().unwrap_or(match value {
                        // Nested values have no other form that servers agree on.
                        Value::Object(_) => How { style: Style::Deep, ..How::FORM },
                        Value::Array(items)
                            if items.iter().any(|item| item.is_object() || item.is_array()) =>
                        {
                            How { style: Style::Deep, ..How::FORM }
                        }
                        _ => How::FORM,
                    });
                    pairs.extend(how.pairs(name, value)?);
                }
                let pairs: Vec<String> =
                    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
                (self.media.clone(), pairs.join("&").into_bytes())
            }
            Format::Multipart => multipart(&fields)?,
        }))
    }
}

/// Returns the properties of an object whose fields can be arguments: none has the name of another argument, and no
/// alternative adds others.
fn spreadable(schema: &Map<String, Value>, taken: &HashSet<String>) -> Option<Map<String, Value>> {
    let only_requires = |variant: &Value| {
        variant
            .as_object()
            .is_some_and(|keys| keys.keys().all(|key| matches!(&**key, "required" | "type" | "title")))
    };
    for word in ["anyOf", "oneOf"] {
        let variants = schema.get(word).and_then(Value::as_array);
        if variants.is_some_and(|variants| !variants.iter().all(only_requires)) {
            return None;
        }
    }
    if schema.contains_key("allOf")
        || schema.contains_key("not")
        || schema.get("type").is_some_and(|kind| kind != "object")
    {
        return None;
    }
    let properties = match schema.get("properties") {
        Some(Value::Object(properties)) => properties.clone(),
        _ if schema.get("type").is_some() && !schema.contains_key("additionalProperties") => Map::new(),
        _ => return None,
    };
    (!properties.keys().any(|name| taken.contains(name))).then_some(properties)
}

fn texts(value: Option<&Value>) -> impl Iterator<Item = &str> {
    value.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Leaves out what only answers have.
fn hide_read_only(schema: &mut Map<String, Value>) {
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    let hidden: Vec<String> = properties
        .iter()
        .filter(|(_, property)| property.get("readOnly") == Some(&Value::Bool(true)))
        .map(|(name, _)| name.clone())
        .collect();
    properties.retain(|name, _| !hidden.contains(name));
    if let Some(Value::Array(required)) = schema.get_mut("required") {
        required.retain(|name| !hidden.iter().any(|hidden| name == hidden));
    }
}

/// Lets programs send files, which JSON has no type for.
fn allow_files(schema: &mut Map<String, Value>, format: Format) {
    let is_file = |schema: &Map<String, Value>| {
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        text("format") == Some("binary") || schema.contains_key("contentMediaType") || schema.is_empty()
    };
    if format == Format::Raw {
        if is_file(schema) {
            *schema = file_schema(schema);
        }
        return;
    }
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return };
    for property in properties.values_mut().filter_map(Value::as_object_mut) {
        if let Some(Value::Object(items)) = property.get_mut("items")
            && is_file(items)
        {
            *items = file_schema(items);
        } else if is_file(property) {
            *property = file_schema(property);
        }
    }
}

fn file_schema(before: &Map<String, Value>) -> Map<String, Value> {
    let text = json!({"type": "string"});
    let file = json!({
        "type": "object", "required": ["base64"], "additionalProperties": false,
        "properties": {"base64": text, "filename": text, "content_type": text},
    });
    let mut schema = Map::from_iter([("anyOf".to_string(), json!([text, file]))]);
    let about = before.get("description").and_then(Value::as_str).unwrap_or_default();
    let how = "text, or {:base64 \"…\" :filename \"…\" :content_type \"…\"}";
    let about = if about.is_empty() { how.to_string() } else { format!("{about} ({how})") };
    schema.insert("description".to_string(), about.into());
    schema
}

/// A file, or a field of a form with files.
struct File {
    bytes: Vec<u8>,
    name: Option<String>,
    media: Option<String>,
}

impl File {
    fn of(field: &str, value: &Value) -> Result<File, String> {
        if let Value::Object(file) = value
            && let Some(base64) = file.get("base64").and_then(Value::as_str)
        {
            let bytes = STANDARD.decode(base64).map_err(|_| format!("takes Base64 for '{field}'"))?;
            let text = |key: &str| file.get(key).and_then(Value::as_str).map(str::to_string);
            let media = text("content_type");
            if media.as_ref().is_some_and(|media| !crate::config::is_header_value(media)) {
                return Err(format!("takes a media type as `content_type` of '{field}'"));
            }
            return Ok(File { bytes, name: text("filename").or_else(|| Some(field.to_string())), media });
        }
        let (bytes, media) = match value {
            Value::Object(_) | Value::Array(_) => (value.to_string(), Some("application/json".to_string())),
            scalar => (plain(scalar), None),
        };
        Ok(File { bytes: bytes.into_bytes(), name: None, media })
    }
}

/// Writes a form with files. By hand, since the support for it in the HTTP client would add three crates for these lines.
fn multipart(fields: &Map<String, Value>) -> Result<(String, Vec<u8>), String> {
    let mut parts = Vec::new();
    for (name, value) in fields {
        match value {
            Value::Null => {}
            Value::Array(items) => {
                for item in items {
                    parts.push((name, File::of(name, item)?));
                }
            }
            value => parts.push((name, File::of(name, value)?)),
        }
    }
    // As HTML does it: what would end the quotes or the line is encoded.
    let quoted = |text: &str| text.replace('\r', "%0D").replace('\n', "%0A").replace('"', "%22");
    let boundary = loop {
        let boundary = format!("ptc-{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let is_in =
            |(_, file): &(&String, File)| memchr::memmem::find(&file.bytes, boundary.as_bytes()).is_some();
        if !parts.iter().any(is_in) {
            break boundary;
        }
    };
    let mut bytes = Vec::new();
    for (name, file) in parts {
        let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name));
        if let Some(name) = &file.name {
            let name: String = name.chars().take(FILE_NAME).collect();
            head.push_str(&format!("; filename=\"{}\"", quoted(&name)));
        }
        let media = file.media.or_else(|| file.name.map(|_| "application/octet-stream".to_string()));
        if let Some(media) = media {
            head.push_str(&format!("\r\nContent-Type: {media}"));
        }
        bytes.extend_from_slice(head.as_bytes());
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes.extend_from_slice(&file.bytes);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(format!("--{boundary}--\r\n").as_bytes());
    Ok((format!("multipart/form-data; boundary={boundary}"), bytes))
}
