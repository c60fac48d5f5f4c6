//! `lisp_session_list_preludes`: lists the preludes of a session, or all in the store.

use super::session_tool::{self, OptionalSessionId};
use crate::args::{self, arguments};
use crate::reply::Payload;
use crate::sessions::{Owner, Sessions};
use crate::tool::Tool;
use serde_json::{Map, Value};

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_list_preludes",
    title: "List preludes",
    description: |_| {
        "Lists the preludes a session was started with; without `session_id` those a session can be started with."
            .to_string()
    },
    input: || args::schema(&[SessionListPreludesArgs::FIELDS]),
    run: |call| session_tool::run(call, answer),
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of `lisp_session_list_preludes`.
    struct SessionListPreludesArgs {
        session_id: OptionalSessionId, "The id that lisp_session_start returned.";
    }
}

/// Lists the preludes of a session, or all in the store.
pub fn answer(sessions: &Sessions, owner: &Owner, args: Map<String, Value>) -> Payload {
    session_tool::answer(sessions, args, SessionListPreludesArgs::read, |args| {
        sessions.list_preludes(owner, args.session_id.as_deref())
    })
}
