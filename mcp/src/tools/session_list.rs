//! `lisp_session_list`: lists the sessions of the client.

use super::session_tool;
use crate::args::{self, arguments};
use crate::reply::Payload;
use crate::sessions::{Owner, Sessions};
use crate::tool::Tool;
use serde_json::{Map, Value};

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_list",
    title: "List sessions",
    description: |_| "Lists your sessions, newest first.".to_string(),
    input: || args::schema(&[SessionListArgs::FIELDS]),
    run: |call| session_tool::run(call, answer),
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of `lisp_session_list`: none.
    struct SessionListArgs {}
}

/// Lists the client's sessions, newest first. Listing does not count as use.
pub fn answer(sessions: &Sessions, owner: &Owner, args: Map<String, Value>) -> Payload {
    session_tool::answer(sessions, args, SessionListArgs::read, |SessionListArgs {}| Ok(sessions.list(owner)))
}
