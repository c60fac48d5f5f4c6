//! One program of a session: run on a copy, then committed as a whole or not at all.

use super::calls::Calls;
use super::state::{SessionState, TurnResults};
use super::table::{self, Entry};
use super::turns::TurnRecord;
use super::{Owner, SessionHeader, Sessions};
use crate::args::EvalArgs;
use crate::budget::ProgramBudget;
use crate::context_data::ContextData;
use crate::eval;
use crate::pending::{ProgramState, RunScope};
use crate::program::{self, Program};
use crate::reason::Reason;
use crate::reply::{InSession, Payload};
use crate::result_value::ResultLimits;
use ptc_agent::lisp_eval::Preview;
use ptc_runtime::{Cancel, Failure, Frozen, Outcome, Part, Session};
use ptc_upstream::{Begun, ProgramHost, Suspension, UnderWay, Verdict};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Number of maps in a list from which a hint is given.
const MANY_MAPS: usize = 20;

/// A session reserved for one program, released when dropped.
#[must_use]
pub struct Reservation {
    sessions: Sessions,
    id: String,
    owner: Owner,
    number: u64,
    programs: Arc<ProgramHost>,
    kept: Arc<SessionState>,
    args: EvalArgs,
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let now = self.sessions.0.now();
        let mut table = self.sessions.0.table();
        if let Some(entry) = self.own(&mut table) {
            entry.running = None;
            // The session was in use until now.
            entry.used = now;
        }
    }
}

impl Reservation {
    pub(super) fn new(sessions: Sessions, entry: &Entry, number: u64, args: EvalArgs) -> Reservation {
        Reservation {
            sessions,
            id: entry.id.clone(),
            owner: entry.owner.clone(),
            number,
            programs: entry.programs.clone(),
            kept: entry.kept.clone(),
            args,
        }
    }

    /// Returns the arguments of the program to run.
    pub fn args(&self) -> &EvalArgs {
        &self.args
    }

    /// Returns the session's entry, unless the session has ended.
    fn own<'t>(&self, table: &'t mut table::Table) -> Option<&'t mut Entry> {
        let entry = table.live.get_mut(&table::key(&self.id))?;
        let is_mine = entry.running.as_ref().is_some_and(|running| running.number == self.number);
        is_mine.then_some(entry)
    }

    /// Runs the program to its end, blocking; calls that need approval are denied. The program's state is kept
    /// as a whole or not at all.
    pub fn eval(self, cancel: &Cancel) -> Payload {
        let scope = RunScope::of(cancel);
        pollster::block_on(async { self.run(scope.clone()).await.to_end(&scope).await })
    }

    /// Runs the program until it ends or waits for approvals; the session is busy until then. If the session
    /// ends meanwhile, the program is stopped by the same `cancel`, and the payload says that the session is
    /// closed.
    pub async fn run(self, scope: RunScope) -> ProgramState {
        self.run_exactly(None, scope).await
    }

    /// Runs the program with the text of its context, if the arguments round numbers.
    pub(crate) async fn run_exactly(self, exact_context: Option<String>, scope: RunScope) -> ProgramState {
        if !self.begin(&scope.cancel, true) {
            return ProgramState::Finished(self.closed());
        }
        let (session, calls) = (self.kept.session.clone(), Calls::default());
        let mut reserved = self;
        let context = ContextData::new(std::mem::take(&mut reserved.args.context), exact_context);
        program::run(Turn { session, calls, context, since: Instant::now(), reserved }, scope).await
    }

    /// Writes to the log of turns.
    fn log(&self, payload: &Payload, calls: &Calls, since: Instant) {
        let inner = &self.sessions.0;
        let Some(log) = &inner.turns else { return };
        let attempt = self.own(&mut inner.table()).map_or(0, |entry| entry.attempts);
        let ended = TurnRecord {
            session_id: &self.id,
            attempt,
            program: &inner.scrubbed(&self.args.program),
            payload,
            calls: calls.all(),
            preludes: self.kept.session.frozen(),
            took: since.elapsed(),
        };
        log.write(&ended);
    }

    /// Registers `cancel`, so that ending the session stops the program; false if it has already ended. A new
    /// program is counted.
    fn begin(&self, cancel: &Cancel, is_new: bool) -> bool {
        let now = self.sessions.0.now();
        let mut table = self.sessions.0.table();
        let Some(entry) = self.own(&mut table).filter(|entry| now < entry.expires) else { return false };
        entry.attempts += u64::from(is_new);
        if let Some(running) = &mut entry.running {
            running.cancel = Some(cancel.clone());
        }
        true
    }

    /// Adds the state of the session to a payload.
    fn told(&self, mut payload: Payload) -> Payload {
        if payload.session.is_some() {
            return payload;
        }
        let mut table = self.sessions.0.table();
        let Some(entry) = self.own(&mut table) else {
            drop(table);
            // The calls were made, even though the session is gone.
            let closed = self.closed();
            return Payload {
                reason: closed.reason,
                message: closed.message,
                feedback: String::new(),
                ..payload
            };
        };
        let in_session = InSession { rolled_back: true, ..of_session(&entry.id, &entry.kept) };
        payload.session = Some(Box::new(in_session));
        if payload.feedback.is_empty() {
            payload.feedback.clone_from(&payload.message);
        }
        payload
    }

    fn closed(&self) -> Payload {
        match self.sessions.0.table().find(&self.owner, &self.id) {
            Err(refusal) => Payload::error(refusal.reason, refusal.message),
            // It has expired, but has not been swept yet.
            Ok(_) => Payload::error(
                Reason::SessionClosed,
                "the session is over: its time was up; start another one",
            ),
        }
    }

    /// Commits the program's definitions and result.
    fn commit(&self, mut payload: Payload, outcome: &Outcome, tool_calls: Vec<Value>) -> Payload {
        let inner = &self.sessions.0;
        let definitions = outcome.definitions();
        let mut changed_keys: Vec<String> = definitions.iter().map(|(name, _)| name.clone()).collect();
        changed_keys.sort();
        let value = outcome.freeze();
        let added = TurnResults {
            definitions: definitions.clone(),
            value: value.clone(),
            prints: payload.prints.clone(),
            tool_calls,
            upstream_calls: payload.upstream_calls.clone(),
        };
        let mut redact = |text: &str| inner.scrubbed(text);
        let mut preview = Preview::usual(&mut redact);
        let (next, history_notices) = match self.kept.and(added, &inner.settings, &mut preview, inner.now()) {
            Ok(next) => next,
            Err(breach) => {
                let failed = Payload::error(Reason::SessionLimitExceeded, breach.message());
                return Payload { detail: Some(breach.detail()), ..rolled_back(payload, failed) };
            }
        };
        // Nothing may fail after committing, so the reply is built first.
        let next = Arc::new(next);
        payload.feedback = self.hint(&payload, &definitions, &value, &history_notices);
        let mut in_session = InSession {
            changed_keys,
            stored_keys: next.stored_keys(),
            history_notices,
            ..of_session(&self.id, &next)
        };
        for (name, value) in &definitions {
            let (shown, is_cut) = inner.shown(Some(name), value);
            in_session.memory_truncated |= is_cut;
            in_session.changed.insert(name.clone(), json!(shown));
        }
        match self.keep(&next) {
            Ok(true) => {}
            Ok(false) => return rolled_back(payload, self.closed()),
            Err(problem) => {
                let message = format!("nothing was kept: the session could not be written: {problem}");
                return rolled_back(payload, Payload::error(Reason::RuntimeError, message));
            }
        }
        payload.session = Some(Box::new(in_session));
        payload
    }

    /// Makes a state the session's own; false if the session has ended. The file is written first, so that
    /// everything a reply calls kept is on disk.
    fn keep(&self, next: &Arc<SessionState>) -> Result<bool, String> {
        let inner = &self.sessions.0;
        let found = self.own(&mut inner.table()).map(|entry| (SessionHeader::of(entry), entry.gate.clone()));
        let Some((described, gate)) = found else { return Ok(false) };
        let is_closed = gate.enter();
        if *is_closed {
            return Ok(false);
        }
        inner.persist(&described, next)?;
        let now = inner.now();
        let mut table = inner.table();
        // Ending a session deletes its file only after this gate is released.
        let Some(entry) = self.own(&mut table).filter(|entry| now < entry.expires) else { return Ok(false) };
        entry.kept = next.clone();
        Ok(true)
    }

    /// Returns a hint for a result that is longer than its shown part.
    fn hint(
        &self,
        payload: &Payload,
        definitions: &[(String, Frozen)],
        value: &Frozen,
        notices: &[Value],
    ) -> String {
        if self.sessions.0.settings.collection_hint {
            let binding = definitions.iter().find(|(_, value)| has_many_maps(value)).map(|(name, _)| &**name);
            let is_kept = notices.is_empty() && has_many_maps(value);
            if let Some(name) = binding.or_else(|| is_kept.then_some("*1")) {
                return format!("many maps: (describe {name} {{:paths true}}) shows what is in them");
            }
        }
        // In this case `*1` is not the value.
        if let Some(message) = notices.first().and_then(|notice| notice["message"].as_str()) {
            return message.to_string();
        }
        match payload.truncated {
            true => "the result is longer than what is shown: (describe *1) shows what is in it".to_string(),
            false => String::new(),
        }
    }
}

/// A program of a session, running or waiting.
struct Turn {
    reserved: Reservation,
    session: Session,
    calls: Calls,
    context: ContextData,
    since: Instant,
}

impl Program for Turn {
    fn host(&self) -> &ProgramHost {
        &self.reserved.programs
    }

    fn timeout(&self) -> Duration {
        self.reserved.sessions.0.host.timeout()
    }

    fn begin(&mut self, scope: &RunScope) -> Result<Result<Begun, Failure>, Box<Payload>> {
        unbroken(|| {
            let grants = self.context.grants(scope)?;
            let reserved = &self.reserved;
            self.session.set_tools(self.calls.watch(self.session.tools().clone()));
            reserved.programs.begin(self.timeout());
            // The budget is that of the run that has just begun.
            let budget = ProgramBudget::of(&reserved.programs, self.timeout());
            self.session.set_grants(grants.turn_host(budget));
            scope.note(&reserved.programs);
            let program = &reserved.args.program;
            Ok(reserved.programs.start(&mut self.session, program, scope.schedule.as_ref()))
        })
    }

    fn resume(
        &mut self,
        suspended: Suspension,
        verdicts: Vec<Verdict>,
        scope: &RunScope,
    ) -> Result<Result<UnderWay, Failure>, Box<Payload>> {
        if !self.reserved.begin(&scope.cancel, false) {
            return Err(Box::new(self.reserved.closed()));
        }
        unbroken(|| {
            let programs = &self.reserved.programs;
            let budget = ProgramBudget::of(programs, suspended.left);
            let grants = self.context.grants(scope)?.turn_host(budget);
            Ok(programs.resume(&self.session, &grants, suspended, verdicts, scope.schedule.as_ref()))
        })
    }

    fn kept_bytes(&self) -> u64 {
        self.context.bytes()
    }

    fn end(self, ended: Option<Result<Outcome, Failure>>, scope: &RunScope) -> Payload {
        let payload = unbroken(|| Ok(self.ended(ended, &scope.cancel))).unwrap_or_else(|broken| *broken);
        self.refused(payload)
    }

    fn refused(self, payload: Payload) -> Payload {
        let payload = self.reserved.told(payload);
        self.reserved.log(&payload, &self.calls, self.since);
        payload
    }
}

/// Runs a part of the work. A panic is a bug of the server and must not leave the session busy.
fn unbroken<T>(part: impl FnOnce() -> Result<T, Box<Payload>>) -> Result<T, Box<Payload>> {
    catch_unwind(AssertUnwindSafe(part)).unwrap_or_else(|_| Err(Box::new(broken())))
}

impl Turn {
    /// Builds the payload of a program that has ended or was cancelled, and commits its state if it succeeded.
    fn ended(&self, ran: Option<Result<Outcome, Failure>>, cancel: &Cancel) -> Payload {
        let (reserved, inner) = (&self.reserved, &self.reserved.sessions.0);
        let most = ResultLimits::of(&inner.settings);
        let payload = match &ran {
            Some(Ok(outcome)) => eval::succeeded(outcome, reserved.args.output_schema.as_ref(), most),
            Some(Err(failure)) => {
                let payload = eval::failed(failure, most);
                let known = payload.reason.map(Reason::name);
                Payload { detail_reason: Some(failure.reason()).filter(|own| known != Some(own)), ..payload }
            }
            None => Payload::cancelled(),
        };
        let payload = inner.host.account(payload, &reserved.programs);
        match ran {
            // A cancelled call gets no reply, so its state must not be kept.
            Some(Ok(_)) if cancel.is_cancelled() => rolled_back(payload, Payload::cancelled()),
            Some(Ok(outcome)) if !payload.is_error() => {
                let tool_calls = self.calls.kept(|text| inner.scrubbed(text));
                let payload = reserved.commit(payload, &outcome, tool_calls);
                match payload.is_error() {
                    // Nothing reached the client, so nothing was saved.
                    true => Payload { metrics: inner.host.metrics(&payload, &reserved.programs), ..payload },
                    false => payload,
                }
            }
            _ => payload,
        }
    }
}

/// Builds the failure for a bug of the server.
fn broken() -> Payload {
    let message = "the server failed while it ran the program; nothing of it was kept";
    Payload::error(Reason::RuntimeError, message)
}

/// Builds the failure of a program that ran but whose state is not kept.
fn rolled_back(ran: Payload, failed: Payload) -> Payload {
    Payload {
        prints: ran.prints,
        upstream_calls: ran.upstream_calls,
        upstream_results: ran.upstream_results,
        metrics: ran.metrics,
        ..failed
    }
}

fn of_session(id: &str, kept: &SessionState) -> InSession {
    let mut about = Map::new();
    about.insert("session_id".to_string(), json!(id));
    about.insert("turn".to_string(), json!(kept.turn));
    about.insert("memory_bytes".to_string(), json!(kept.memory_bytes));
    about.insert("binding_count".to_string(), json!(kept.binding_count()));
    let preludes = kept.session.frozen().iter().map(|prelude| json!(prelude)).collect();
    InSession { about, preludes, ..InSession::default() }
}

/// Returns whether a value is a collection that begins with many maps.
fn has_many_maps(value: &Frozen) -> bool {
    let (mut depth_one, mut is_list) = (0, false);
    // Only the size and the first item are looked at.
    value.parts(|part| {
        if !is_list {
            is_list = matches!(part, Part::List(n) | Part::Set(n) if n >= MANY_MAPS);
            return if is_list { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
        }
        depth_one += usize::from(matches!(part, Part::Map(_)));
        ControlFlow::Break(())
    });
    is_list && depth_one > 0
}
