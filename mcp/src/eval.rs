//! `lisp_eval`: one program, by itself.

use crate::args::EvalArgs;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::settings::Settings;
use ptc_agent::data::to_json;
use ptc_agent::lisp_eval::{Preview, Success};
use ptc_runtime::{Cancel, Failure, Frozen, Grants, Outcome, Runtime, Session, Tools};
use serde_json::{Map, Value};

/// Runs programs that know nothing of each other.
#[derive(Clone)]
pub struct Evaluator {
    session: Session,
    settings: Settings,
}

impl Evaluator {
    /// Programs run under this runtime, within the limits of the settings.
    pub fn new(runtime: &Runtime, settings: &Settings) -> Evaluator {
        let limits = ptc_runtime::Limits {
            timeout_ms: settings.program_timeout(false),
            memory_bytes: settings.program_memory(false),
            source_bytes: settings.max_program_bytes,
            ..*runtime.current_limits()
        };
        // A missing `data/x` is an error: what a client forgot to send is no nil.
        let runtime = runtime.clone().limits(limits).strict_data(true);
        Evaluator { session: runtime.session(), settings: settings.clone() }
    }

    /// With these tools.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> Evaluator {
        self.session.set_tools(tools);
        self
    }

    /// Runs the program of a call to its end, blocking.
    pub fn lisp_eval(&self, args: &Map<String, Value>) -> Payload {
        self.lisp_eval_until(args, &Cancel::new())
    }

    /// The same, unless it is cancelled first.
    pub fn lisp_eval_until(&self, args: &Map<String, Value>, cancel: &Cancel) -> Payload {
        let args = match EvalArgs::read(args, &self.settings) {
            Ok(args) => args,
            Err(message) => return Payload::error(Reason::ArgsError, message),
        };
        let mut grants = Grants::new().cancel(cancel);
        for (name, value) in args.context.into_iter().flatten() {
            match frozen(value) {
                Ok(value) => grants = grants.frozen(name, value),
                Err(message) => {
                    return Payload::error(Reason::ArgsError, format!("argument `context`: {message}"));
                }
            }
        }
        let mut session = self.session.clone();
        session.set_grants(grants);
        // Nothing is kept: the session goes when this returns.
        match session.eval(args.program) {
            Ok(outcome) => succeeded(&outcome, &args),
            Err(failure) => failed(&failure),
        }
    }
}

fn frozen(value: &Value) -> Result<Frozen, String> {
    ptc_runtime::bridge::freeze(value).map_err(|error| error.to_string())
}

fn succeeded(outcome: &Outcome, args: &EvalArgs<'_>) -> Payload {
    let value = match outcome.datum() {
        Ok(value) => value,
        Err(fault) => {
            let parts = fault.parts();
            let payload = Payload::error(Reason::of(parts.code), parts.message.clone());
            return Payload { prints: outcome.prints.clone(), ..payload };
        }
    };
    let mut redact = |text: &str| text.to_string();
    let told = Success::of(&value, &mut Preview::usual(&mut redact));
    let payload = Payload {
        result: told.result,
        prints: outcome.prints.clone(),
        truncated: told.truncated,
        ..Payload::default()
    };
    let Some(schema) = &args.schema else { return payload };
    let checked = match to_json(&value) {
        Ok(json) => schema.check(&json).map(|()| json),
        Err(error) => Err(error.to_string()),
    };
    match checked {
        Ok(json) => Payload { validated: Some(json), ..payload },
        Err(message) => {
            Payload { prints: payload.prints, ..Payload::error(Reason::ValidationError, message) }
        }
    }
}

fn failed(failure: &Failure) -> Payload {
    let diagnostic = failure.diagnostic();
    let reason = Reason::of(diagnostic.code);
    let mut payload =
        Payload { prints: failure.prints.clone(), ..Payload::error(reason, &diagnostic.message) };
    if reason == Reason::Fail {
        let mut redact = |text: &str| text.to_string();
        let shown = failure.value.as_ref().map(|value| Preview::usual(&mut redact).show(value));
        if let Some((shown, is_cut)) = shown {
            (payload.message, payload.truncated) = (shown.clone(), is_cut);
            payload.result = Some(shown);
        }
    }
    payload.feedback = failure.to_string();
    payload
}
