//! The tools of the server. Each has a file with its name, description, arguments and function. To add a tool,
//! add a file and a row of `TOOLS`.

mod debug;
mod eval;
mod program;
pub mod session_close;
pub mod session_eval;
pub mod session_forget;
pub mod session_inspect;
pub mod session_list;
pub mod session_list_preludes;
pub mod session_start;
mod session_tool;
mod task;

use crate::tool::Tool;

/// All tools, in the order of the list.
pub(crate) static TOOLS: &[Tool] = &[
    eval::TOOL,
    task::TOOL,
    debug::TOOL,
    session_start::TOOL,
    session_list::TOOL,
    session_list_preludes::TOOL,
    session_eval::TOOL,
    session_inspect::TOOL,
    session_forget::TOOL,
    session_close::TOOL,
];

/// Returns the names of all tools, offered or not.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    TOOLS.iter().map(|tool| tool.name)
}
