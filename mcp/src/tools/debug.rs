//! `lisp_debug`: looks up recent calls.

use crate::args;
use crate::debug::DebugArgs;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::tool::{Hints, Tool, ToolCall, Work};

pub(super) const TOOL: Tool = Tool {
    name: "lisp_debug",
    title: "Inspect recent calls",
    is_offered: |offer| offer.settings.debug_tool,
    description: |offer| {
        let whose = if offer.settings.debug_all_owners { "all clients" } else { "you" };
        format!(
            "Shows what {whose} asked this server recently: `stats` over calls, `recent` calls, or `get` one of them by `request_id`."
        )
    },
    hints: |_| Hints::READS,
    input: || args::schema(&[DebugArgs::FIELDS]),
    output: |_| None,
    args_reason: Reason::ArgsError,
    // Reading the records is not recorded itself.
    is_recorded: false,
    run,
};

fn run(call: ToolCall<'_>) -> Work {
    Work::done(match &call.server.debug {
        Some(debug) => debug.call(&call.args, call.owner, call.frame_bytes),
        None => Payload::error(Reason::UnknownTool, "the server was started without --debug-tool"),
    })
}
