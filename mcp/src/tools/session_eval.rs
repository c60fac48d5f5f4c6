//! `lisp_session_eval`: runs a program in a session.

use super::{program, session_tool};
use crate::args::{self, EvalArgs, arguments};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::{Owner, Reservation, Sessions};
use crate::tool::{Hints, ProgramWork, Tool, ToolCall, Work};
use serde_json::{Map, Value, json};
use session_tool::SessionId;

pub(super) const TOOL: Tool = Tool {
    name: "lisp_session_eval",
    title: "Run a program in a session",
    description: |offer| {
        program::description(offer, include_str!("../../prompts/session_eval.md").trim_ascii())
    },
    // A session keeps definitions, so running a program twice is not the same as once.
    hints: |offer| match Hints::of_servers(offer) {
        Some(hints) => Hints { is_read_only: false, ..hints },
        None => Hints::ADDS,
    },
    input: || args::schema(&[SessionEvalArgs::FIELDS, EvalArgs::FIELDS]),
    output: |offer| {
        let object = json!({"type": "object"});
        let more =
            [("memory", object.clone()), ("session", object), ("history_notices", json!({"type": "array"}))];
        program::output(offer, &more)
    },
    run,
    ..session_tool::TOOL
};

arguments! {
    /// Arguments of a program in a session, in addition to those of every program.
    struct SessionEvalArgs {
        session_id: SessionId, "The id that lisp_session_start returned.";
    }
}

fn run(call: ToolCall<'_>) -> Work {
    let Some(sessions) = &call.server.sessions else { return Work::done(session_tool::disabled()) };
    // A caller without access to the session is told so first, with or without a permit. Without a permit, the
    // reservation is dropped.
    let exact = call.exact_context;
    match reserve(sessions, call.owner, call.args) {
        Ok(reservation) => Work::Program(ProgramWork {
            job: Box::new(move |scope| Box::pin(reservation.run_exactly(exact, scope))),
            left: call.server.host.timeout(),
            may_ask: true,
            refusal: Payload::error,
        }),
        Err(payload) => Work::Done(payload),
    }
}

/// Checks the arguments and reserves the session: no other program runs in it until the reservation is used or dropped.
pub fn reserve(
    sessions: &Sessions,
    owner: &Owner,
    args: Map<String, Value>,
) -> Result<Reservation, Box<Payload>> {
    let (id, args) =
        read(sessions, args).map_err(|(reason, message)| Box::new(Payload::error(reason, message)))?;
    sessions.reserve(owner, &id, args)
}

fn read(sessions: &Sessions, mut args: Map<String, Value>) -> Result<(String, EvalArgs), (Reason, String)> {
    args.remove("owner");
    let names = ["session_id", "program", "context", "output_schema", "signature"];
    let (names, reason) = match args.contains_key("signature") {
        true => (&names[..], Reason::SessionArgsError),
        false => (&names[..4], Reason::ArgsError),
    };
    args::refuse_unknown(&args, names).map_err(|message| (reason, message))?;
    let mut of_session = Map::new();
    of_session.extend(args.remove_entry("session_id"));
    let SessionEvalArgs { session_id } = SessionEvalArgs::read(of_session, sessions.settings())
        .map_err(|message| (Reason::SessionArgsError, message))?;
    let args =
        EvalArgs::of_call(args, sessions.settings()).map_err(|message| (Reason::ArgsError, message))?;
    Ok((session_id, args))
}
