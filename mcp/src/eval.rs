//! `lisp_eval`: one independent program.

use crate::args::EvalArgs;
use crate::budget::ProgramBudget;
use crate::context_data::ContextData;
use crate::host::Host;
use crate::pending::{ProgramState, RunScope};
use crate::program::{self, Program};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::result_value::{self, ResultLimits, ResultValue, ShownValue};
use crate::settings::Settings;
use ptc_agent::lisp_eval::PROMPT;
use ptc_bytecode::{Datum, Node, warning_lines};
use ptc_contract::{data::to_json, firewall};
use ptc_runtime::{Failure, Outcome, Runtime, Session};
use ptc_upstream::{Begun, JsonSchema, ProgramHost, Suspension, UnderWay, Verdict};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

/// Runs independent programs.
#[derive(Clone)]
pub struct Evaluator {
    host: Host,
    settings: Arc<Settings>,
}

impl Evaluator {
    /// Creates an evaluator with this runtime and the limits of the settings, without servers.
    pub fn new(runtime: &Runtime, settings: &Settings) -> Evaluator {
        Evaluator::of(Host::new(runtime, settings, None), settings)
    }

    /// Creates an evaluator for a host.
    pub fn of(host: Host, settings: &Settings) -> Evaluator {
        Evaluator { host, settings: Arc::new(settings.clone()) }
    }

    /// Runs the program of a call to its end, blocking. Calls that need a person's approval are denied.
    pub fn lisp_eval(&self, args: &Map<String, Value>) -> Payload {
        let scope = RunScope::default();
        match EvalArgs::of_call(args.clone(), &self.settings) {
            Ok(args) => pollster::block_on(async { self.run(args, &scope).await.to_end(&scope).await }),
            Err(message) => Payload::error(Reason::ArgsError, message),
        }
    }

    /// Runs a program until it ends, is cancelled or waits for approvals.
    pub async fn run(&self, args: EvalArgs, scope: &RunScope) -> ProgramState {
        self.run_exactly(args, None, scope).await
    }

    /// Runs a program with the text of its context, if the arguments round numbers.
    pub(crate) async fn run_exactly(
        &self,
        mut args: EvalArgs,
        exact_context: Option<String>,
        scope: &RunScope,
    ) -> ProgramState {
        let host = self.host.begin();
        let session = host.runtime(self.host.runtime().clone()).session();
        let context = ContextData::new(std::mem::take(&mut args.context), exact_context);
        program::run(Evaluation { evaluator: self.clone(), host, session, args, context }, scope.clone())
            .await
    }
}

/// Evaluation of an independent program; its session ends with it.
struct Evaluation {
    evaluator: Evaluator,
    host: ProgramHost,
    session: Session,
    args: EvalArgs,
    context: ContextData,
}

impl Program for Evaluation {
    fn host(&self) -> &ProgramHost {
        &self.host
    }

    fn timeout(&self) -> Duration {
        self.evaluator.host.timeout()
    }

    fn begin(&mut self, scope: &RunScope) -> Result<Result<Begun, Failure>, Box<Payload>> {
        scope.note(&self.host);
        let budget = ProgramBudget::of(&self.host, self.timeout());
        self.session.set_grants(self.context.grants(scope)?.turn_host(budget));
        Ok(self.host.start(&mut self.session, &self.args.program, scope.schedule.as_ref()))
    }

    fn resume(
        &mut self,
        suspended: Suspension,
        verdicts: Vec<Verdict>,
        scope: &RunScope,
    ) -> Result<Result<UnderWay, Failure>, Box<Payload>> {
        let budget = ProgramBudget::of(&self.host, suspended.left);
        let grants = self.context.grants(scope)?.turn_host(budget);
        Ok(self.host.resume(&self.session, &grants, suspended, verdicts, scope.schedule.as_ref()))
    }

    fn kept_bytes(&self) -> u64 {
        self.context.bytes()
    }

    fn end(self, ended: Option<Result<Outcome, Failure>>, _: &RunScope) -> Payload {
        let most = ResultLimits::of(&self.evaluator.settings);
        let payload = match ended {
            Some(Ok(outcome)) => succeeded(&outcome, self.args.output_schema.as_ref(), most),
            Some(Err(failure)) => failed(&failure, most),
            None => Payload::cancelled(),
        };
        self.evaluator.host.account(payload, &self.host)
    }
}

/// Builds the reply to a successful program: its value, in full if it is within the limits, and checked against
/// the schema if the client sent one.
pub(crate) fn succeeded(outcome: &Outcome, schema: Option<&JsonSchema>, most: ResultLimits) -> Payload {
    let warnings = warning_lines(outcome.warnings(), outcome.source());
    Payload { warnings, ..valued(outcome, schema, most) }
}

fn valued(outcome: &Outcome, schema: Option<&JsonSchema>, most: ResultLimits) -> Payload {
    let value = match outcome.datum() {
        Ok(value) => value,
        Err(fault) => {
            let parts = fault.parts();
            let payload = Payload::error(Reason::of(parts.code), parts.message.clone());
            return Payload { prints: outcome.prints.clone(), ..payload };
        }
    };
    let ShownValue { text, value: shown, public } = ResultValue::of(&value, most);
    let payload = Payload {
        result: (!is_nil(&value)).then(|| format!("{PROMPT}{text}")),
        prints: outcome.prints.clone(),
        truncated: !shown.is_whole(),
        value: Some(shown),
        ..Payload::default()
    };
    let Some(schema) = schema else { return payload };
    match checked(&value, &public, schema) {
        Ok(json) => Payload { validated: Some(json), ..payload },
        Err(message) => {
            Payload { prints: payload.prints, ..Payload::error(Reason::ValidationError, message) }
        }
    }
}

/// Checks the full value against the schema. Returns the value as it is `shown`, without firewalled parts; errors
/// do not reveal those either.
fn checked(value: &Datum, shown: &Datum, schema: &JsonSchema) -> Result<Value, String> {
    if result_value::has_long_integers(value) {
        return Err(
            "return: JSON readers round integers of more than 64 bits; return them as text, `(str n)`"
                .to_string(),
        );
    }
    let json = to_json(value).map_err(|error| error.to_string())?;
    let Err(wrong) = schema.check(&json, "return") else { return Ok(to_json(shown).unwrap_or_default()) };
    let public = to_json(&firewall::redact(value)).unwrap_or_default();
    // An error that is identical for the public value quotes nothing firewalled.
    if json == public || schema.check(&public, "return").as_ref() == Err(&wrong) {
        return Err(wrong);
    }
    Err("return: a firewalled part of the value does not fit the schema".to_string())
}

fn is_nil(value: &Datum) -> bool {
    value.nodes() == [Node::Nil]
}

/// Builds the reply to a failed program.
pub(crate) fn failed(failure: &Failure, most: ResultLimits) -> Payload {
    let diagnostic = failure.diagnostic();
    let reason = Reason::of(diagnostic.code);
    let mut payload =
        Payload { prints: failure.prints.clone(), ..Payload::error(reason, &diagnostic.message) };
    if reason == Reason::Fail
        && let Some(value) = &failure.value
    {
        let ShownValue { text, value: shown, .. } = ResultValue::of(value, most);
        payload.message.clone_from(&text);
        payload.truncated = !shown.is_whole();
        (payload.result, payload.value) = (Some(text), Some(shown));
    }
    payload.feedback = failure.to_string();
    payload.warnings = warning_lines(failure.warnings(), failure.source());
    payload
}
