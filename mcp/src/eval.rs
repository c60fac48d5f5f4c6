//! `lisp_eval`: one program, by itself.

use crate::args::EvalArgs;
use crate::host::Host;
use crate::pending::{PendingProgram, ProgramState, RunScope};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::result_value::ResultValue;
use crate::settings::Settings;
use ptc_agent::lisp_eval::PROMPT;
use ptc_bytecode::{Datum, Node};
use ptc_contract::{data::to_json, firewall};
use ptc_runtime::{Cancel, Failure, Frozen, Grants, Outcome, Runtime, Session};
use ptc_upstream::{JsonSchema, ProgramHost, RunOutcome};
use serde_json::{Map, Value};

/// Runs programs that know nothing of each other.
#[derive(Clone)]
pub struct Evaluator {
    host: Host,
    settings: Settings,
}

impl Evaluator {
    /// Programs run under this runtime, within the limits of the settings, and call no servers.
    pub fn new(runtime: &Runtime, settings: &Settings) -> Evaluator {
        Evaluator::of(Host::new(runtime, settings, None), settings)
    }

    /// Programs run with what the host gives them.
    pub fn of(host: Host, settings: &Settings) -> Evaluator {
        Evaluator { host, settings: settings.clone() }
    }

    /// Runs the program of a call to its end, blocking. Calls that need a person's approval are denied.
    pub fn lisp_eval(&self, args: &Map<String, Value>) -> Payload {
        let scope = RunScope::default();
        match EvalArgs::of_call(args.clone(), &self.settings) {
            Ok(args) => self.run(args, &scope).to_end(&scope),
            Err(message) => Payload::error(Reason::ArgsError, message),
        }
    }

    /// Runs a program whose arguments were read, until it ends, is cancelled or waits for somebody's decision.
    pub fn run(&self, args: EvalArgs, scope: &RunScope) -> ProgramState {
        let grants = match granted(&args.context, &scope.cancel) {
            Ok(grants) => grants,
            Err(payload) => return ProgramState::Finished(*payload),
        };
        let host = self.host.begin();
        scope.note(&host);
        let mut session = host.runtime(self.host.runtime().clone()).session();
        session.set_grants(grants);
        let ran = host.eval(&mut session, &args.program, &scope.cancel, self.host.timeout());
        self.proceed(ran, host, session, args)
    }

    /// Nothing is kept: the session goes when the program is over.
    fn proceed(&self, ran: RunOutcome, host: ProgramHost, session: Session, args: EvalArgs) -> ProgramState {
        let payload = match ran {
            RunOutcome::Ended(Ok(outcome)) => {
                succeeded(&outcome, args.output_schema.as_ref(), self.settings.max_result_bytes)
            }
            RunOutcome::Ended(Err(failure)) => failed(&failure, self.settings.max_result_bytes),
            RunOutcome::Cancelled => Payload::cancelled(),
            RunOutcome::Suspended(suspended) => {
                let evaluator = self.clone();
                return ProgramState::Waiting(PendingProgram::new(
                    suspended,
                    move |suspended, verdicts, scope| {
                        let grants = match granted(&args.context, &scope.cancel) {
                            Ok(grants) => grants,
                            Err(payload) => return ProgramState::Finished(*payload),
                        };
                        let ran = host.resume(&session, &grants, suspended, verdicts, &scope.cancel);
                        evaluator.proceed(ran, host, session, args)
                    },
                ));
            }
        };
        ProgramState::Finished(self.host.account(payload, &host))
    }
}

/// The data of a call as `data/…`.
pub(crate) fn granted(context: &Map<String, Value>, cancel: &Cancel) -> Result<Grants, Box<Payload>> {
    // Whoever calls a tool of the server is a model, or shows it to one.
    let mut grants = Grants::new().cancel(cancel).firewall(true);
    for (name, value) in context {
        let wrong = |message| Payload::error(Reason::ArgsError, format!("argument `context`: {message}"));
        let value = frozen(value).map_err(|message: String| Box::new(wrong(message)))?;
        grants = grants.frozen(name, value);
    }
    Ok(grants)
}

fn frozen(value: &Value) -> Result<Frozen, String> {
    ptc_runtime::bridge::freeze(value).map_err(|error| error.to_string())
}

/// What a program that ended well gives: its value, whole if it takes at most so many bytes of text, and checked if the
/// client asked for a shape.
pub(crate) fn succeeded(outcome: &Outcome, schema: Option<&JsonSchema>, most: u64) -> Payload {
    let value = match outcome.datum() {
        Ok(value) => value,
        Err(fault) => {
            let parts = fault.parts();
            let payload = Payload::error(Reason::of(parts.code), parts.message.clone());
            return Payload { prints: outcome.prints.clone(), ..payload };
        }
    };
    let (text, shown) = ResultValue::of(&value, most);
    let payload = Payload {
        result: (!is_nil(&value)).then(|| format!("{PROMPT}{text}")),
        prints: outcome.prints.clone(),
        truncated: !shown.is_whole(),
        value: Some(shown),
        ..Payload::default()
    };
    let Some(schema) = schema else { return payload };
    let checked = match to_json(&value) {
        // The value as it is must fit; what is told of it is without what is firewalled.
        Ok(json) => {
            schema.check(&json, "return").map(|()| to_json(&firewall::redact(&value)).unwrap_or_default())
        }
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(json) => Payload { validated: Some(json), ..payload },
        Err(message) => {
            Payload { prints: payload.prints, ..Payload::error(Reason::ValidationError, message) }
        }
    }
}

fn is_nil(value: &Datum) -> bool {
    value.nodes() == [Node::Nil]
}

/// What a program that did not end well gives.
pub(crate) fn failed(failure: &Failure, most: u64) -> Payload {
    let diagnostic = failure.diagnostic();
    let reason = Reason::of(diagnostic.code);
    let mut payload =
        Payload { prints: failure.prints.clone(), ..Payload::error(reason, &diagnostic.message) };
    if reason == Reason::Fail
        && let Some(value) = &failure.value
    {
        let (text, shown) = ResultValue::of(value, most);
        payload.message.clone_from(&text);
        payload.truncated = !shown.is_whole();
        (payload.result, payload.value) = (Some(text), Some(shown));
    }
    payload.feedback = failure.to_string();
    payload
}
