//! Code shared by the session tools.

use crate::args::{self, Argument};
use crate::cut;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::{Owner, Refusal, Sessions};
use crate::settings::Settings;
use crate::tool::{Hints, Tool, ToolCall, Work};
use serde_json::{Map, Value};

/// Maximum length of a title or reason, in characters.
const MAX_TEXT: usize = 256;

/// Defaults of all session tools.
pub(super) const TOOL: Tool = Tool {
    name: "",
    title: "",
    is_offered: |offer| offer.settings.sessions,
    description: |_| String::new(),
    hints: |_| Hints::READS,
    input: || Value::Null,
    output: |_| None,
    args_reason: Reason::SessionArgsError,
    is_recorded: true,
    run: |_| Work::done(disabled()),
};

/// Builds the failure for a server without sessions.
pub(super) fn disabled() -> Payload {
    Payload::error(Reason::SessionsDisabled, "the server was started without --sessions")
}

/// Runs a session tool that runs no program.
pub(super) fn run(call: ToolCall<'_>, tool: fn(&Sessions, &Owner, Map<String, Value>) -> Payload) -> Work {
    let Some(sessions) = call.server.sessions.clone() else { return Work::done(disabled()) };
    match call.server.settings.session_dir {
        None => Work::done(tool(&sessions, call.owner, call.args)),
        // Threads that serve connections must not block on disk access.
        Some(_) => {
            let (owner, args) = (call.owner.clone(), call.args);
            Work::Blocking(Box::new(move || tool(&sessions, &owner, args)))
        }
    }
}

/// Reads arguments, then answers. An owner sent by the client is ignored.
pub(super) fn answer<A>(
    sessions: &Sessions,
    mut args: Map<String, Value>,
    read: fn(Map<String, Value>, &Settings) -> Result<A, String>,
    answer: impl FnOnce(A) -> Result<Value, Refusal>,
) -> Payload {
    args.remove("owner");
    let answer = read(args, sessions.settings()).map_err(Refusal::args).and_then(answer);
    match answer {
        Ok(Value::Object(answer)) => Payload::answered(answer),
        Ok(_) => Payload::refused(Reason::RuntimeError, "the result is not a JSON object"),
        Err(Refusal { reason, message, detail }) => {
            let mut payload = Payload::refused(reason, message);
            if let (Some(detail), Some(answer)) = (&detail, &mut payload.answer) {
                answer.insert("detail".to_string(), detail.clone());
            }
            Payload { detail, ..payload }
        }
    }
}

/// Kind of argument: the id of a session.
pub(super) struct SessionId;

impl Argument for SessionId {
    type Value = String;
    const IS_REQUIRED: bool = true;

    fn read(name: &str, sent: Option<Value>, settings: &Settings) -> Result<String, String> {
        let missing = || format!("argument `{name}` is required; lisp_session_start gives one");
        OptionalSessionId::read(name, sent, settings)?.ok_or_else(missing)
    }
}

/// Kind of argument: the id of a session, optional.
pub(super) struct OptionalSessionId;

impl Argument for OptionalSessionId {
    type Value = Option<String>;

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<String>, String> {
        match args::text(name, sent)? {
            Some(id) if id.is_empty() => Err(format!("argument `{name}` must be a non-empty string")),
            id => Ok(id),
        }
    }
}

/// Kind of argument: a short text for people.
pub(super) struct ShortText;

impl Argument for ShortText {
    type Value = Option<String>;

    fn read(name: &str, sent: Option<Value>, _: &Settings) -> Result<Option<String>, String> {
        let text = args::text(name, sent)?;
        match text.as_ref().is_some_and(|text| !cut::chars(text, MAX_TEXT).1) {
            true => Err(format!("argument `{name}` may have at most {MAX_TEXT} characters")),
            false => Ok(text),
        }
    }
}
