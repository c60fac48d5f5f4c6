//! The arguments of the tools that are about sessions.

use crate::args::{kind, known};
use crate::cut;
use ptc_runtime::StoreRef;
use serde_json::{Map, Value};

/// What may be forgotten at once.
pub(super) const CLEARABLE: [&str; 5] = ["memory", "history", "prints", "tool_calls", "upstream_calls"];
/// The ways to look at a session.
pub(super) const VIEWS: [&str; 6] = ["overview", "memory", "prints", "tool_calls", "history", "limits"];
/// The longest title or reason, in characters.
const MAX_TEXT: usize = 256;
/// The most names one call takes.
const MAX_NAMES: usize = 1000;

/// The arguments of one call. What a client says of owners counts for nothing.
pub(super) struct Asked<'a>(&'a Map<String, Value>);

impl<'a> Asked<'a> {
    pub fn new(args: &'a Map<String, Value>, names: &[&str]) -> Result<Asked<'a>, String> {
        let stranger = args.keys().any(|key| key != "owner" && !names.contains(&key.as_str()));
        if stranger {
            let mut args = args.clone();
            args.remove("owner");
            match names.is_empty() {
                true => return Err("this tool takes no arguments".to_string()),
                false => known(&args, names)?,
            }
        }
        Ok(Asked(args))
    }

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that may be missing.
    fn text(&self, name: &str) -> Result<Option<&'a str>, String> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(format!("argument `{name}` must be a string, got {}", kind(other))),
        }
    }

    /// A short one.
    pub fn short(&self, name: &str) -> Result<Option<&'a str>, String> {
        let text = self.text(name)?;
        match text.is_some_and(|text| !cut::chars(text, MAX_TEXT).1) {
            true => Err(format!("argument `{name}` may have at most {MAX_TEXT} characters")),
            false => Ok(text),
        }
    }

    pub fn session_id(&self) -> Result<&'a str, String> {
        let missing = "argument `session_id` is required; lisp_session_start gives one";
        self.session_id_if_given()?.ok_or_else(|| missing.to_string())
    }

    pub fn session_id_if_given(&self) -> Result<Option<&'a str>, String> {
        match self.text("session_id")? {
            Some("") => Err("argument `session_id` must be a non-empty string".to_string()),
            text => Ok(text),
        }
    }

    pub fn ttl_ms(&self) -> Result<Option<u64>, String> {
        let Some(value) = self.get("ttl_ms") else { return Ok(None) };
        let whole = value.as_u64().filter(|ms| *ms >= 1);
        let shown = value.to_string();
        let wrong =
            || format!("argument `ttl_ms` must be a whole number above 0, got {}", cut::chars(&shown, 80).0);
        whole.map(Some).ok_or_else(wrong)
    }

    pub fn is_write_capable(&self) -> Result<bool, String> {
        match self.text("mode")? {
            None | Some("read_only") => Ok(false),
            Some("write_capable") => Ok(true),
            Some(other) => {
                let other = cut::chars(other, 80).0;
                Err(format!("argument `mode` must be read_only or write_capable, got {other:?}"))
            }
        }
    }

    pub fn preludes(&self) -> Result<Option<Vec<StoreRef>>, String> {
        let Some(value) = self.get("preludes") else { return Ok(None) };
        let Value::Array(items) = value else {
            return Err(format!("argument `preludes` must be an array, got {}", kind(value)));
        };
        items.iter().map(prelude).collect::<Result<Vec<_>, _>>().map(Some)
    }

    /// Names of definitions.
    pub fn bindings(&self) -> Result<Vec<String>, String> {
        self.names("bindings")
    }

    pub fn clear(&self) -> Result<Vec<&'static str>, String> {
        let known = |name: String| {
            CLEARABLE.into_iter().find(|known| *known == name).ok_or_else(|| {
                let name = cut::chars(&name, 80).0;
                format!("argument `clear` takes {}, got {name:?}", CLEARABLE.join(", "))
            })
        };
        self.names("clear")?.into_iter().map(known).collect()
    }

    fn names(&self, name: &str) -> Result<Vec<String>, String> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let wrong = || format!("argument `{name}` must be an array of strings, got {}", kind(value));
        let items = value.as_array().ok_or_else(wrong)?;
        if items.len() > MAX_NAMES {
            return Err(format!("argument `{name}` may have at most {MAX_NAMES} items"));
        }
        let text = |item: &Value| match item {
            Value::String(text) => Ok(text.clone()),
            other => {
                Err(format!("argument `{name}` must be an array of strings; one of them is {}", kind(other)))
            }
        };
        items.iter().map(text).collect()
    }

    /// The way to look at a session; one that nobody knows is the first.
    pub fn view(&self) -> &'static str {
        let asked = self.get("view").and_then(Value::as_str);
        VIEWS.into_iter().find(|view| Some(*view) == asked).unwrap_or(VIEWS[0])
    }
}

/// `"id"`, `"id@n"` or `{id, version, checksum?}`.
fn prelude(value: &Value) -> Result<StoreRef, String> {
    match value {
        Value::String(text) => StoreRef::parse(text).map_err(|error| format!("argument `preludes`: {error}")),
        Value::Object(fields) => {
            known(fields, &["id", "version", "checksum"])
                .map_err(|error| format!("argument `preludes`: {error}"))?;
            let id = fields.get("id").and_then(Value::as_str);
            let version = fields.get("version").and_then(Value::as_u64).filter(|version| *version > 0);
            let (Some(id), Some(version)) = (id, version) else {
                return Err("argument `preludes`: an object needs `id` and `version`".to_string());
            };
            let found = StoreRef::parse(&format!("{id}@{version}"));
            let found = found.map_err(|error| format!("argument `preludes`: {error}"))?;
            match fields.get("checksum") {
                None | Some(Value::Null) => Ok(found),
                Some(Value::String(checksum)) => Ok(found.checksum(checksum)),
                Some(other) => {
                    Err(format!("argument `preludes`: `checksum` must be a string, got {}", kind(other)))
                }
            }
        }
        other => Err(format!(
            "argument `preludes` takes \"id\", \"id@2\" or {{\"id\": …, \"version\": 2}}, got {}",
            kind(other)
        )),
    }
}
