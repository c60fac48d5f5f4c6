//! `lisp_session_start`: starts a session.

use super::session_tool::{self, ShortText};
use crate::args::{self, Argument, arguments, refuse_unknown, shown};
use crate::cut;
use crate::reply::Payload;
use crate::sessions::{NewSession, Owner, Sessions};
use crate::settings::Settings;
use crate::tool::{Hints, Tool};
use ptc_runtime::StoreRef;
use ptc_upstream::json_kind;
use serde_json::{Map, Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_start",
    title: "Start a session",
    description: |_| {
        "Starts a session in which definitions and results stay between programs. Gives the `session_id` for `lisp_session_eval`."
            .to_string()
    },
    hints: |_| Hints::ADDS,
    input: || args::schema(&[SessionStartArgs::FIELDS]),
    run: |call| session_tool::run(call, answer),
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of `lisp_session_start`.
    struct SessionStartArgs {
        title: ShortText, "What the session is for.";
        ttl_ms: Lifetime, "Maximum lifetime of the session, in milliseconds.";
        mode: Mode, "Whether its programs may write preludes.";
        preludes: Preludes, "Stored preludes to start with: \"id\", \"id@version\", or {id, version, checksum}.";
    }
}

/// Starts a session, if the limits allow one more.
pub fn answer(sessions: &Sessions, owner: &Owner, args: Map<String, Value>) -> Payload {
    session_tool::answer(sessions, args, SessionStartArgs::read, |args| {
        let SessionStartArgs { title, ttl_ms, mode: is_write_capable, preludes } = args;
        sessions.start(owner, NewSession { title, ttl_ms, is_write_capable, preludes })
    })
}

/// Kind of argument: a time in milliseconds.
struct Lifetime;

impl Argument for Lifetime {
    type Value = Option<u64>;

    fn schema() -> Value {
        json!({"type": "integer", "minimum": 1})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<u64>, String> {
        let Some(sent) = args::given(sent) else { return Ok(None) };
        let wrong = || format!("argument `{name}` must be a whole number above 0, got {}", shown(&sent));
        sent.as_u64().filter(|ms| *ms >= 1).map(Some).ok_or_else(wrong)
    }
}

/// Kind of argument: the session's mode, true if it may write preludes.
struct Mode;

impl Argument for Mode {
    type Value = bool;

    fn schema() -> Value {
        json!({"type": "string", "enum": ["read_only", "write_capable"]})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<bool, String> {
        match args::text(name, sent)?.as_deref() {
            None | Some("read_only") => Ok(false),
            Some("write_capable") => Ok(true),
            Some(other) => {
                let other = cut::chars(other, 80).0;
                Err(format!("argument `{name}` must be read_only or write_capable, got {other:?}"))
            }
        }
    }
}

/// Kind of argument: stored preludes.
struct Preludes;

impl Argument for Preludes {
    type Value = Option<Vec<StoreRef>>;

    fn schema() -> Value {
        json!({
            "type": "array",
            "items": {
                "anyOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "version": {"type": "integer"},
                            "checksum": {"type": "string"},
                        },
                        "required": ["id", "version"],
                    },
                ],
            },
        })
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<Vec<StoreRef>>, String> {
        match args::given(sent) {
            None => Ok(None),
            Some(Value::Array(items)) => items.iter().map(prelude).collect::<Result<Vec<_>, _>>().map(Some),
            Some(other) => Err(format!("argument `{name}` must be an array, got {}", json_kind(&other))),
        }
    }
}

/// Reads a reference to a stored prelude: `"id"`, `"id@n"` or `{id, version, checksum?}`.
fn prelude(value: &Value) -> Result<StoreRef, String> {
    match value {
        Value::String(text) => StoreRef::parse(text).map_err(|error| format!("argument `preludes`: {error}")),
        Value::Object(fields) => {
            refuse_unknown(fields, &["id", "version", "checksum"])
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
                    Err(format!("argument `preludes`: `checksum` must be a string, got {}", json_kind(other)))
                }
            }
        }
        other => Err(format!(
            "argument `preludes` takes \"id\", \"id@2\" or {{\"id\": …, \"version\": 2}}, got {}",
            json_kind(other)
        )),
    }
}
