//! `lisp_session_close`: ends a session.

use super::session_tool::{self, SessionId, ShortText};
use crate::args::{self, arguments};
use crate::reply::Payload;
use crate::sessions::{Owner, Sessions};
use crate::tool::{Hints, Tool};
use serde_json::{Map, Value};

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_close",
    title: "Close a session",
    description: |_| "Ends a session; a program that runs in it is stopped.".to_string(),
    hints: |_| Hints::REMOVES,
    input: || args::schema(&[SessionCloseArgs::FIELDS]),
    run: |call| session_tool::run(call, answer),
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of `lisp_session_close`.
    struct SessionCloseArgs {
        session_id: SessionId, "The id that lisp_session_start returned.";
        reason: ShortText;
    }
}

/// Ends a session, stopping its program without keeping anything of it.
pub fn answer(sessions: &Sessions, owner: &Owner, args: Map<String, Value>) -> Payload {
    session_tool::answer(sessions, args, SessionCloseArgs::read, |args| {
        sessions.close(owner, &args.session_id, args.reason.as_deref())
    })
}
