//! `lisp_session_forget`: removes contents from a session.

use super::session_tool::{self, SessionId};
use crate::args::{self, Argument, arguments};
use crate::cut;
use crate::reply::Payload;
use crate::sessions::{Clearable, Owner, Sessions};
use crate::settings::Settings;
use crate::tool::{Hints, Tool};
use ptc_upstream::json_kind;
use serde_json::{Map, Value, json};

/// Maximum number of names per call.
const MAX_NAMES: usize = 1000;

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_forget",
    title: "Forget parts of a session",
    description: |_| {
        "Removes definitions from a session (`bindings`), or clears `memory`, `history`, `prints`, `tool_calls` or `upstream_calls`."
            .to_string()
    },
    hints: |_| Hints::REMOVES,
    input: || args::schema(&[SessionForgetArgs::FIELDS]),
    run: |call| session_tool::run(call, answer),
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of `lisp_session_forget`.
    struct SessionForgetArgs {
        session_id: SessionId, "The id that lisp_session_start returned.";
        bindings: Names, "Names to forget.";
        clear: Clear;
    }
}

/// Removes definitions, or everything of some kinds, from a session in which no program runs.
pub fn answer(sessions: &Sessions, owner: &Owner, args: Map<String, Value>) -> Payload {
    session_tool::answer(sessions, args, SessionForgetArgs::read, |args| {
        sessions.forget(owner, &args.session_id, &args.bindings, &args.clear)
    })
}

/// Kind of argument: names of definitions.
struct Names;

impl Argument for Names {
    type Value = Vec<String>;

    fn schema() -> Value {
        json!({"type": "array", "items": {"type": "string"}})
    }

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Vec<String>, String> {
        let Some(sent) = args::given(sent) else { return Ok(Vec::new()) };
        let Value::Array(items) = sent else {
            return Err(format!("argument `{name}` must be an array of strings, got {}", json_kind(&sent)));
        };
        if items.len() > MAX_NAMES {
            return Err(format!("argument `{name}` may have at most {MAX_NAMES} items"));
        }
        let text = |item: Value| match item {
            Value::String(text) => Ok(text),
            other => Err(format!(
                "argument `{name}` must be an array of strings; one of them is {}",
                json_kind(&other)
            )),
        };
        items.into_iter().map(text).collect()
    }
}

/// Kind of argument: kinds of contents to clear.
struct Clear;

impl Argument for Clear {
    type Value = Vec<Clearable>;

    fn schema() -> Value {
        json!({"type": "array", "items": {"type": "string", "enum": Clearable::ALL.map(Clearable::name)}})
    }

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<Vec<Clearable>, String> {
        let known = |wanted: String| {
            Clearable::ALL.into_iter().find(|kind| kind.name() == wanted).ok_or_else(|| {
                let wanted = cut::chars(&wanted, 80).0;
                let all = Clearable::ALL.map(Clearable::name).join(", ");
                format!("argument `{name}` takes {all}, got {wanted:?}")
            })
        };
        Names::read(name, sent, settings)?.into_iter().map(known).collect()
    }
}
