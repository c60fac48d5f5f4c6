//! `lisp_session_inspect`: shows the contents of a session.

use super::session_tool::{self, SessionId};
use crate::args::{self, Argument, arguments};
use crate::reply::Payload;
use crate::sessions::{Owner, SessionView, Sessions};
use crate::settings::Settings;
use crate::tool::Tool;
use serde_json::{Map, Value, json};

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_inspect",
    title: "Show what a session holds",
    description: |_| {
        "Shows what a session holds: an overview, its definitions (`memory`), `prints`, `tool_calls`, results (`history`) or `limits`."
            .to_string()
    },
    input: || args::schema(&[SessionInspectArgs::FIELDS]),
    run: |call| session_tool::run(call, answer),
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of `lisp_session_inspect`.
    struct SessionInspectArgs {
        session_id: SessionId, "The id that lisp_session_start returned.";
        view: View;
    }
}

/// Returns the last committed state, also while a program runs.
pub fn answer(sessions: &Sessions, owner: &Owner, args: Map<String, Value>) -> Payload {
    session_tool::answer(sessions, args, SessionInspectArgs::read, |args| {
        sessions.inspect(owner, &args.session_id, args.view)
    })
}

/// Kind of argument: the part of a session to show; unknown names mean the overview.
struct View;

impl Argument for View {
    type Value = SessionView;

    fn schema() -> Value {
        json!({"type": "string", "enum": SessionView::ALL.map(SessionView::name)})
    }

    fn read(_: &str, sent: Option<Value>, _: &Settings) -> Result<SessionView, String> {
        let wanted = sent.as_ref().and_then(Value::as_str);
        let found = SessionView::ALL.into_iter().find(|view| Some(view.name()) == wanted);
        Ok(found.unwrap_or(SessionView::Overview))
    }
}
