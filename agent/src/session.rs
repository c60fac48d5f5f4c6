//! Sessions that a host drives itself: programs one after the other, as steps, with a record of each.
//!
//! A session is a value. Running a program gives another one and leaves it as it was, so going back is keeping
//! the old one.
//!
//! ```
//! use ptc_agent::session::{EvalOptions, Session};
//! let runtime = ptc_runtime::Runtime::with_core(ptc_preludes::core())?;
//! let start = Session::new(runtime.session());
//! let (step, session) = start.eval("(def n 20)", &EvalOptions::new());
//! assert!(step.is_ok());
//! let (failed, session) = session.eval("(+ n nil)", &EvalOptions::new());
//! assert_eq!(failed.unwrap_err().reason(), "eval_error");
//! let (step, session) = session.eval("(* n 2)", &EvalOptions::new());
//! assert_eq!(step.unwrap().get::<i64>()?, 40);
//! assert_eq!((session.turn(), session.attempts()), (2, 3));
//! assert_eq!(start.turn(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::mission::calls::{brief, brief_answer, millis};
use crate::mission::fault::{limit_of, program_fail};
use crate::mission::record::{RESULT, memory_diff};
use crate::mission::{CallRecord, Fail, Step};
use crate::trace::{AgentLabel, Event, Kind, Scope, Tracer};
use crate::{data, memory};
use ptc_bytecode::Datum;
use ptc_runtime::{Failure, Frozen, Grants, Limits, Outcome, SeenCall, Tools};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// A session. Cheap to clone; what clones remember is shared.
#[derive(Clone)]
pub struct Session {
    inner: ptc_runtime::Session,
    id: Arc<str>,
    turn: u64,
    attempts: u64,
    scope: Scope,
}

/// What one program runs with; what is not set is the session's own.
#[derive(Clone, Default)]
pub struct EvalOptions {
    grants: Option<Grants>,
    tools: Option<Tools>,
    limits: Option<Limits>,
}

impl EvalOptions {
    /// As the session has it.
    pub fn new() -> EvalOptions {
        EvalOptions::default()
    }

    /// With this data, and a way to cancel.
    #[must_use]
    pub fn grants(mut self, grants: Grants) -> EvalOptions {
        self.grants = Some(grants);
        self
    }

    /// With these tools.
    #[must_use]
    pub fn tools(mut self, tools: Tools) -> EvalOptions {
        self.tools = Some(tools);
        self
    }

    /// Within these limits.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> EvalOptions {
        self.limits = Some(limits);
        self
    }
}

impl Session {
    /// A session that goes on from this one. Its preludes, tools, data and limits are the defaults for every program.
    pub fn new(inner: ptc_runtime::Session) -> Session {
        let id = format!("{:032x}", fastrand::u128(..));
        Session { inner, id: id.into(), turn: 0, attempts: 0, scope: Scope::off() }
    }

    /// Under another name.
    #[must_use]
    pub fn id(mut self, id: &str) -> Session {
        self.id = id.into();
        self
    }

    /// Records every attempt as a turn.
    #[must_use]
    pub fn tracer(mut self, tracer: &Tracer) -> Session {
        self.scope = tracer.mission(AgentLabel::new(None, "session"), None);
        self
    }

    /// What it is called by.
    pub fn session_id(&self) -> &str {
        &self.id
    }

    /// How many programs ended well.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// How many programs were run, or refused.
    pub fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Definitions.
    pub fn memory(&self) -> BTreeMap<String, Frozen> {
        let defined = self.inner.defined();
        defined.filter_map(|name| Some((name.to_string(), self.inner.definition(name)?.clone()))).collect()
    }

    /// The last results, newest first.
    pub fn history(&self) -> &[Frozen] {
        self.inner.history()
    }

    /// The machinery below.
    pub fn inner(&self) -> &ptc_runtime::Session {
        &self.inner
    }

    /// Runs a program to its end, blocking. The session that comes back has what it defined, and its value as `*1`;
    /// after an error only one attempt more.
    pub fn eval(&self, source: &str, options: &EvalOptions) -> (Result<Step, Box<Step>>, Session) {
        let (mut next, calls) = self.prepared(options);
        let since = Instant::now();
        let ran = next.inner.eval(source);
        next.ended(self, source, ran, &calls, since)
    }

    /// The same without blocking the thread that polls it.
    pub async fn eval_async(
        &self,
        source: &str,
        options: &EvalOptions,
    ) -> (Result<Step, Box<Step>>, Session) {
        let (mut next, calls) = self.prepared(options);
        let since = Instant::now();
        let ran = next.inner.eval_async(source).await;
        next.ended(self, source, ran, &calls, since)
    }

    fn prepared(&self, options: &EvalOptions) -> (Session, Calls) {
        let mut next = self.clone();
        let calls = Calls::default();
        let tools = options.tools.as_ref().unwrap_or(self.inner.tools()).clone();
        next.inner.set_tools(calls.watch(tools));
        if let Some(grants) = &options.grants {
            next.inner.set_grants(grants.clone());
        }
        if let Some(limits) = options.limits {
            next.inner.set_limits(limits);
        }
        (next, calls)
    }

    /// The step of a program, the session after it, and the record of both.
    fn ended(
        self,
        before: &Session,
        source: &str,
        ran: Result<Outcome, Failure>,
        calls: &Calls,
        since: Instant,
    ) -> (Result<Step, Box<Step>>, Session) {
        let mut step = Step { tool_calls: calls.take(), ..Step::default() };
        let mut limit = None;
        let value = match &ran {
            Ok(outcome) => {
                step.prints = outcome.prints.clone();
                step.prelude_trace = outcome.prelude_trace().map(Arc::new);
                outcome.datum().map_err(|fault| Fail::new("eval_error", fault.parts().message.clone()))
            }
            Err(failed) => {
                step.prints = failed.prints.clone();
                step.prelude_trace = failed.prelude_trace().map(Arc::new);
                limit = limit_of(failed.diagnostic().code);
                Err(program_fail(failed))
            }
        };
        let mut next = match &value {
            Ok(_) => Session { inner: self.restored(before), turn: before.turn + 1, ..before.clone() },
            Err(_) => before.clone(),
        };
        next.attempts += 1;
        match value {
            Ok(value) => step.returned = Some(value),
            Err(fail) => step.fail = Some(fail),
        }
        step.memory = next.memory();
        step.usage.turns = u32::try_from(next.turn).unwrap_or(u32::MAX);
        step.usage.duration_ms = since.elapsed().as_millis() as u64;
        step.usage.memory_bytes =
            memory::total(step.memory.iter().map(|(name, value)| (name.as_str(), value)), u64::MAX / 4);
        if next.scope.is_on() {
            step.trace_id = next.scope.trace_id().to_string();
        }
        next.scope.emit(Kind::Turn, |event| {
            event.put("memory_diff", memory_diff(&before.memory(), &step.memory));
            event.put("limits_hit", json!(limit.into_iter().collect::<Vec<_>>()));
            next.record(event, source, &step);
        });
        (if step.is_ok() { Ok(step) } else { Err(Box::new(step)) }, next)
    }

    /// The session below with the tools, data and limits it had before one program was run with others.
    fn restored(self, before: &Session) -> ptc_runtime::Session {
        let mut inner = before.inner.clone();
        inner.remember_all(&self.inner);
        inner
    }

    fn record(&self, event: &mut Event, source: &str, step: &Step) {
        event.turn = u32::try_from(self.turn).ok();
        event.status = Some(if step.is_ok() { "ok" } else { "error" }.to_string());
        event.duration = Some(Duration::from_millis(step.usage.duration_ms));
        let shown = |value: &Datum| data::show_public(data::Tree::new(value).root(), RESULT);
        let calls: Vec<Value> = step.tool_calls.iter().map(CallRecord::summary).collect();
        let preludes: Vec<Value> = step.prelude_trace.iter().map(|prelude| prelude.brief()).collect();
        event.put("driver", "session");
        event.put("session_id", self.session_id());
        event.put("attempt", self.attempts);
        event.put("committed", step.is_ok());
        event.put("program", source);
        event.put("result_preview", json!(step.returned.as_ref().map(shown)));
        event.put("prints", json!(step.prints));
        event.put("tool_calls", calls);
        event.put("preludes", preludes);
        event.put("fail", json!(step.fail));
        event.put("turn_type", "normal");
    }
}

/// The calls of one program.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<CallRecord>>>);

impl Calls {
    fn watch(&self, tools: Tools) -> Tools {
        let (calls, redacts) = (self.clone(), tools.clone());
        tools.observed(move |seen| {
            let record = recorded(seen, &redacts);
            calls.0.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        })
    }

    fn take(&self) -> Vec<CallRecord> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn recorded(seen: &SeenCall<'_>, tools: &Tools) -> CallRecord {
    let name = &seen.call.name;
    let (args, args_cut) = brief(&seen.call.args);
    let (result, is_cut) = seen.answer.as_ref().map_or((Value::Null, false), |answer| brief_answer(answer));
    CallRecord {
        name: name.clone(),
        args: tools.recorded(name, args),
        result: tools.recorded(name, result),
        is_cut: is_cut || args_cut,
        error: seen.answer.as_ref().err().cloned(),
        timestamp_ms: millis(SystemTime::now()),
        duration_ms: seen.took.as_millis() as u64,
        layer: "ptc_lisp".to_string(),
        origin: seen.call.origin.clone(),
        ..CallRecord::default()
    }
}
