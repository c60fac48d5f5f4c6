//! A run in progress, held by its host: it computes until it ends or needs tools, and continues once it has their results.

use crate::bridge::{self, BridgeError};
use crate::call::{CallId, PendingCall};
use crate::effects::{Approvals, Approver, CallSite, EffectSlot, Plan, Planner, RunEffects};
use crate::parallel::{self, InFlight, Progress, Reply, Trail, deliver};
use crate::pool::{Pool, Reservation};
use crate::prelude::{Attached, PreludeTrace};
use crate::program::Program;
use crate::saved::Envelope;
use crate::schedule::Schedule;
use crate::tally::Tally;
use crate::tools::{ToolAnswer, ToolError, Tools};
use crate::watch::StopWatch;
use crate::{check, explain, json};
use ptc_bytecode::{Code, Datum, Diagnostic, Span, place_of};
use ptc_vm::{Ending, FLAT_PARTS, Fault, Frozen, Value, Vm};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The result of stepping a run.
#[derive(Debug)]
pub enum Step {
    /// The run ended.
    Done(Result<Outcome, Failure>),
    /// The run needs the results of these calls, in any order; it can continue after each.
    NeedsTools(Vec<PendingCall>),
}

/// A run between two steps. Plain data: keep it, send it to another thread, or write it to bytes.
///
/// ```
/// use ptc_runtime::{Runtime, Step};
/// let runtime = Runtime::with_core(ptc_preludes::core())?;
/// let program = runtime.compile("(+ 1 (tool/answer {}))")?;
/// let mut run = runtime.start(&program)?;
/// let Step::NeedsTools(calls) = run.step() else { panic!() };
/// assert_eq!(calls[0].name, "answer");
/// run.resume(&calls[0].id, &41)?;
/// assert_eq!(run.finish()?.print()?, "42");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run {
    pub(crate) vm: Option<Box<Vm>>,
    /// Machine of a run that failed, which still has the definitions made until then.
    pub(crate) left: Option<Box<Vm>>,
    pub(crate) program: Program,
    pub(crate) tools: Arc<Tools>,
    pub(crate) watch: Arc<StopWatch>,
    /// Memory reserved from a pool shared with other runs.
    pub(crate) reserved: Option<Reservation>,
    /// Tally shared by many runs of the program: a field that one did not find, another may.
    pub(crate) tally: Option<Arc<Tally>>,
    /// Oversight of its effects.
    pub(crate) effects: Option<RunEffects>,
    /// Name of the run in the ledger that it was written with, before it was saved.
    pub(crate) ledger_run: Option<Arc<str>>,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("pending", &self.pending().len()).finish_non_exhaustive()
    }
}

impl Run {
    pub(crate) fn new(vm: Box<Vm>, program: Program, tools: Arc<Tools>, watch: Arc<StopWatch>) -> Run {
        let (left, reserved, tally) = (None, None, None);
        let vm = Some(vm);
        Run { vm, left, program, tools, watch, reserved, tally, effects: None, ledger_run: None }
    }

    /// Runs until the run ends or everything in it waits for tools.
    pub fn step(&mut self) -> Step {
        loop {
            if let Some(step) = self.slice() {
                return step;
            }
        }
    }

    /// Steps like [`Run::step`], but for one slice of time only, if the run has a [schedule](Run::scheduled); None
    /// if it could then continue.
    pub fn slice(&mut self) -> Option<Step> {
        let Some(vm) = &mut self.vm else {
            return Some(Step::Done(Err(Failure::of(
                Fault::new(Code::InvalidConfig, "the run has ended already, and its outcome was given once")
                    .hint("keep the outcome of `Step::Done`; `Runtime::start` runs the program again"),
                None,
                self.program.clone(),
            ))));
        };
        // The machine checks the flags now and then; a run that was just answered might end, or call, before that.
        let reserved = self.reserved.as_mut();
        let fault = self.watch.cancelled().or_else(|| reserved?.set_computing(vm).err());
        let mut progress = match fault {
            Some(fault) => Progress::Ended(Err(fault)),
            None => self.watch.clone().during(|| parallel::advance(vm)),
        };
        if let Some(reserved) = &mut self.reserved
            && let Err(fault) = reserve_rest(reserved, vm, &progress)
        {
            progress = Progress::Ended(Err(fault));
        }
        Some(match progress {
            Progress::Paused => return None,
            Progress::Waiting => Step::NeedsTools(self.pending()),
            Progress::Ended(outcome) => {
                let vm = self.vm.take();
                Step::Done(self.end(outcome, vm))
            }
        })
    }

    /// Sets the schedule, which decides when and where the run computes.
    #[must_use]
    pub fn scheduled(mut self, schedule: Arc<dyn Schedule>) -> Run {
        if let Some(pool) = schedule.pool() {
            self.reserve_from(pool);
        }
        self.watch.set_schedule(schedule);
        self
    }

    /// Sets the oversight of the run, which keeps the name that it was saved with.
    pub(crate) fn overseen(mut self, effects: Option<RunEffects>) -> Run {
        if let Some(RunEffects { oversight, run }) = effects {
            let run = self.ledger_run.get_or_insert(run).clone();
            self.effects = Some(RunEffects { oversight, run });
        }
        self
    }

    /// Returns who is asked about its calls, if its driver is to ask.
    pub(crate) fn approver(&self) -> Option<Arc<dyn Approver>> {
        self.effects.as_ref()?.oversight.approvals()?.approver()
    }

    /// Returns the name of the run in its ledger, if it has one or had one before it was saved.
    pub fn recorded_as(&self) -> Option<&str> {
        self.ledger_run.as_deref()
    }

    /// Returns the approvals of its calls.
    pub(crate) fn approvals(&self) -> Option<Approvals> {
        self.effects.as_ref()?.oversight.approvals().cloned()
    }

    /// True if everything in it waits for tools.
    pub(crate) fn is_waiting(&self) -> bool {
        self.vm.as_ref().is_some_and(|vm| !vm.can_advance())
    }

    /// Makes the run take its memory from `pool` from now on: as much as it holds while it waits, and as much as
    /// `limits.memory_bytes` allows while it computes. If the pool has too little left, the run ends
    /// `memory_exceeded` when it continues; the reservation is released with the run and its outcome.
    ///
    /// ```
    /// use ptc_runtime::{Limits, Pool, Runtime, Step};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let pool = Pool::new(Limits::default().memory_bytes / 2);
    /// let mut run = runtime.start(&runtime.compile("(+ 1 2)")?)?;
    /// run.reserve_from(&pool);
    /// let Step::Done(Err(failure)) = run.step() else { panic!("there is not enough") };
    /// assert_eq!(failure.reason(), "memory_exceeded");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve_from(&mut self, pool: &Arc<Pool>) {
        self.reserved = Some(pool.reserve());
    }

    /// Returns the calls in flight.
    pub fn pending(&self) -> Vec<PendingCall> {
        let mut found = Vec::new();
        if let Some(vm) = &self.vm {
            parallel::pending(vm, &mut Trail::default(), None, None, &mut found);
        }
        let max_answer_bytes = self.vm.as_ref().map_or(0, |vm| vm.limits().granted_bytes);
        found
            .into_iter()
            .map(|InFlight { id, key, call, origin, span }| {
                let prelude = origin.and_then(|origin| self.program.attached()?.owner(origin));
                // Tools that it reaches through other preludes are for those to call.
                let export = origin.and_then(|origin| prelude?.own_export(origin));
                let slot =
                    self.effects.as_ref().map(|effects| EffectSlot::new(effects, &key, self.site(span)));
                let (args, slot) = with_edits(&call.name, &call.args, slot);
                PendingCall {
                    id,
                    name: call.name.clone(),
                    args,
                    origin: origin.map(str::to_string),
                    is_declared: export.is_some_and(|export| export.tool_refs.contains(&call.name)),
                    max_answer_bytes,
                    prelude: prelude.cloned(),
                    slot,
                }
            })
            .collect()
    }

    /// Returns the place in the program that makes a call.
    fn site(&self, span: Option<Span>) -> Option<CallSite> {
        let (source, span) = (self.program.source(), span?);
        let place = place_of(source, span.start);
        let code = source.lines().nth(place.line.saturating_sub(1) as usize).unwrap_or_default();
        let code = code.trim().chars().take(MAX_CODE).collect();
        Some(CallSite { place: (place.line, place.column), code })
    }

    /// True if a call still waits for its result: its branch is gone once an earlier one has failed.
    pub fn waits_for(&self, id: &CallId) -> bool {
        self.vm.as_ref().is_some_and(|vm| parallel::call_at(vm, id.path()).is_some())
    }

    /// Supplies the result of one call in flight, from anything that serialises; [`Run::step`] then continues.
    pub fn resume<T: Serialize + ?Sized>(&mut self, id: &CallId, value: &T) -> Result<(), Failure> {
        self.answer(id, ToolAnswer::from_serialize(value))
    }

    /// Supplies the result of one call in flight as a tool would, with shared data or an error.
    pub fn answer(&mut self, id: &CallId, answer: Result<ToolAnswer, ToolError>) -> Result<(), Failure> {
        let Some(call) = self.vm.as_ref().and_then(|vm| parallel::call_at(vm, id.path())) else {
            let waiting: Vec<String> = self.pending().iter().map(|call| format!("`{}`", call.id)).collect();
            let fault = not_waiting(id, &waiting, self.vm.is_some());
            return Err(Failure::of(fault, None, self.program.clone()));
        };
        let reply = match answer {
            Ok(ToolAnswer::Datum(datum)) => Reply::Datum(datum),
            Ok(ToolAnswer::Frozen(frozen)) => {
                let added =
                    self.reserved.as_mut().map_or(Ok(()), |reserved| reserved.add(frozen.bytes() as u64));
                added.map_or_else(Reply::Fault, |()| Reply::Frozen(frozen))
            }
            Err(error) if let Some(write) = error.planned_write() => Reply::Unknown(write),
            Err(error) => Reply::Fault(error.to_fault(&call.name)),
        };
        let delivered = self.vm.as_mut().map_or(Ok(()), |vm| deliver(vm, id.path(), reply));
        delivered.map_err(|fault| Failure::of(fault, None, self.program.clone()))
    }

    /// Returns the definitions a failed run had made, for hosts that keep them.
    ///
    /// ```
    /// use ptc_runtime::{Runtime, Step};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let mut run = runtime.start(&runtime.compile("(def n 20) (+ n nil)")?)?;
    /// let Step::Done(Err(_)) = run.step() else { panic!() };
    /// assert_eq!(run.left_definitions()[0].0, "n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn left_definitions(&self) -> Vec<(String, Frozen)> {
        self.left.as_ref().map(|vm| vm.freeze_changed()).unwrap_or_default()
    }

    /// Ends one call in flight with a fault, which stops the program there.
    pub fn refuse(&mut self, id: &CallId, fault: Fault) {
        if let Some(vm) = &mut self.vm {
            let _ = deliver(vm, id.path(), Reply::Fault(fault));
        }
    }

    /// Writes the run to bytes, to continue later or elsewhere: see [`Runtime::load`](crate::Runtime::load). They name
    /// the preludes that the run needs.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let program = runtime.compile("(pmap (fn [x] (tool/price {:of x})) [1 2])")?;
    /// let mut run = runtime.start(&program)?;
    /// run.step();
    /// let bytes = run.snapshot()?;                       // two calls in flight
    /// drop(run);
    /// let mut run = runtime.load(&bytes, &Grants::new())?;
    /// for call in run.pending() {
    ///     run.resume(&call.id, &5)?;
    /// }
    /// assert_eq!(run.finish()?.print()?, "[5 5]");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn snapshot(&self) -> Result<Vec<u8>, Failure> {
        let fail = |fault| Failure::of(fault, None, self.program.clone());
        let ended = || Fault::new(Code::SnapshotInvalid, "the run has ended; there is nothing to save");
        let machine = self.vm.as_ref().ok_or_else(ended).and_then(|vm| vm.snapshot()).map_err(fail)?;
        Ok(Envelope::new(&self.program, self.recorded_as()).seal(&machine))
    }

    /// Returns the fuel spent so far, including finished branches once they are joined.
    pub fn fuel(&self) -> u64 {
        self.vm.as_ref().map_or(0, |vm| vm.budget().spent())
    }

    pub(crate) fn into_vm(self, program: &Program) -> Result<Box<Vm>, Failure> {
        let gone = || Fault::new(Code::Internal, "the run has no machine");
        self.vm.ok_or_else(|| Failure::of(gone(), None, program.clone()))
    }

    /// Returns the program it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// Maximum length of a line of code that a person is shown, in characters.
const MAX_CODE: usize = 400;

/// Returns the arguments of a call, with those that a person set instead of the program's.
fn with_edits(name: &str, given: &Datum, slot: Option<EffectSlot>) -> (Datum, Option<EffectSlot>) {
    let Some(mut slot) = slot else { return (given.clone(), None) };
    let edited = slot.edited().and_then(|edited| {
        let edited = serde_json::Value::Object(edited);
        // Programs call tools of servers with a map that has their arguments as one field.
        let whole = match name == ptc_bytecode::ToolName::CALL {
            false => edited,
            true => {
                let mut whole = bridge::datum_to_json(&ptc_vm::host_args(given)).ok()?;
                whole["args"] = edited;
                whole
            }
        };
        bridge::json_to_datum(&whole).ok()
    });
    match edited {
        None => (given.clone(), Some(slot)),
        Some(edited) => {
            slot.instead_of(given.clone());
            (edited, Some(slot))
        }
    }
}

/// Makes the fault of an answer to a call that does not wait for one.
fn not_waiting(id: &CallId, waiting: &[String], is_running: bool) -> Fault {
    let why = match (is_running, waiting) {
        (false, _) => "the run has ended".to_string(),
        (true, []) => "it was answered already, and `step` continues the run".to_string(),
        (true, _) => {
            format!("it was answered already, or its branch has ended; waiting: {}", waiting.join(", "))
        }
    };
    Fault::new(Code::InvalidTool, format!("the tool call `{id}` is not waiting for a result: {why}"))
        .hint("answer each call of `pending()` once, then call `step`")
}

/// Reserves the actual memory of a run that waits or has ended, instead of the maximum. If there is too little
/// room, some of its memory may be garbage, which is only collected here.
fn reserve_rest(reserved: &mut Reservation, vm: &mut Vm, progress: &Progress) -> Result<(), Fault> {
    match progress {
        Progress::Ended(_) => {
            // Less than before, so there is room for it.
            let _ = reserved.set_waiting(vm);
            Ok(())
        }
        Progress::Paused => reserved.set_waiting(vm),
        Progress::Waiting => {
            vm.trim();
            reserved.set_waiting(vm).or_else(|_| {
                vm.shrink();
                vm.trim();
                reserved.set_waiting(vm)
            })
        }
    }
}

impl Run {
    fn end(&mut self, ending: Result<Ending, Fault>, vm: Option<Box<Vm>>) -> Result<Outcome, Failure> {
        let program = self.program.clone();
        let Some(mut vm) = vm else {
            return Err(Failure::of(Fault::new(Code::Internal, "the run has no machine"), None, program));
        };
        let fault = match ending {
            Ok(Ending::Failed(value)) => failed_with(&vm, value),
            Err(fault) => fault,
            Ok(ending) => {
                return Ok(Outcome {
                    warnings: warnings(&program, Some(&*vm).filter(|_| self.tally.is_none())),
                    source: program.source().clone(),
                    returned: matches!(ending, Ending::Returned(_)),
                    value: ending.value(),
                    clear_prints: vm.take_clear_prints(),
                    prints: vm.take_prints(),
                    fuel: vm.budget().spent(),
                    compile_fuel: program.compile_fuel(),
                    price: AtomicU64::new(UNKNOWN),
                    tool_calls: vm.tool_calls(),
                    attached: program.attached().cloned(),
                    vm,
                    watch: self.watch.clone(),
                    _reserved: self.reserved.take(),
                });
            }
        };
        let before = program.warnings().to_vec();
        let mut failure = Failure::of(fault, Some(&mut vm), program);
        if let Some(tally) = &self.tally {
            tally.add(&vm);
            failure = failure.with_warnings(before);
        }
        self.left = Some(vm);
        Err(failure)
    }
}

/// Returns the warnings that accompany the result of a program.
fn warnings(program: &Program, vm: Option<&Vm>) -> Vec<Diagnostic> {
    let before = program.warnings();
    let missed = vm.map(Vm::missed_fields).unwrap_or_default();
    // For the same place, a warning from before the run says more.
    let news = missed.iter().filter(|missed| !before.iter().any(|told| told.span == Some(missed.field.span)));
    // A tool may answer with more fields than it declares, and then the field was found.
    let found = vm.map(Vm::found_fields).unwrap_or_default();
    let is_refuted = |told: &&Diagnostic| {
        told.code == Code::UndeclaredField && told.span.is_some_and(|span| found.contains(&span))
    };
    let before = before.iter().filter(|told| !is_refuted(told));
    news.map(check::missed).chain(before.cloned()).collect()
}

/// Makes the fault of a program that called `(fail value)`.
fn failed_with(vm: &Vm, value: Value) -> Fault {
    let mut shown = String::new();
    if vm.heap().print(value, &mut shown, 400).is_err() {
        shown.push('…');
    }
    let fault = Fault::new(Code::Fail, format!("the program failed with {shown}")).at(vm.user_span());
    // A value that is too expensive to write out is only shown by its beginning.
    if !matches!(vm.heap().text_price(value, vm.limits().result_fuel), Ok(Some(_))) {
        return fault;
    }
    match vm.heap().to_datum(value, vm.limits().result_bytes as usize) {
        Ok(datum) => fault.with_value(datum),
        Err(_) => fault,
    }
}

/// Bytes held by a program from which on its result may be large.
const LARGE: usize = 1 << 20;

/// Bytes of text to start with for a result of a small heap: most need no more.
const SMALL: usize = 128;

/// Maximum price of a result that is written without checking the clock: about a millisecond.
const AT_ONCE: u64 = 1 << 16;

/// Price not counted yet; every value has a price above it.
const UNKNOWN: u64 = 0;

/// Price above any limit.
const TOO_MUCH: u64 = u64::MAX;

/// Maximum bytes of a value in `{:?}`.
const MAX_DEBUG: usize = 200;

/// A run that ended well: its value, still in the run's heap, and the facts of the run.
pub struct Outcome {
    pub(crate) vm: Box<Vm>,
    pub(crate) watch: Arc<StopWatch>,
    /// Reservation held as long as the value.
    _reserved: Option<Reservation>,
    attached: Option<Arc<Attached>>,
    pub(crate) value: Value,
    /// Units of `limits.result_fuel` for writing the value, once counted; otherwise [`UNKNOWN`] or [`TOO_MUCH`].
    /// Threads that count at the same time find the same number.
    price: AtomicU64,
    /// True if it ended by `(return v)`.
    pub returned: bool,
    clear_prints: Vec<(usize, String)>,
    /// Printed output, one entry per `println`.
    pub prints: Vec<String>,
    /// Fuel spent on running it, without compiling it or writing its value out.
    pub fuel: u64,
    /// Units of `limits.compile_fuel` that compiling took.
    pub compile_fuel: u64,
    /// Number of tool calls made.
    pub tool_calls: u64,
    warnings: Vec<Diagnostic>,
    source: Arc<str>,
}

impl Outcome {
    /// Returns the trace of the preludes the program ran with.
    pub fn prelude_trace(&self) -> Option<PreludeTrace> {
        self.attached.as_ref().map(|attached| attached.trace())
    }

    /// Returns the printed output with firewalled values in clear: for the host, not for a model.
    pub fn clear_prints(&self) -> Vec<String> {
        cleared(&self.prints, &self.clear_prints)
    }

    /// Returns warnings that did not keep the program from giving its value, the most useful first. They point into
    /// [`Outcome::source`] and quote no values, so models may see them.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, warning_lines};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let outcome = runtime.eval("(+ 1 2))", &Grants::new())?;
    /// assert_eq!(outcome.get::<i64>()?, 3);
    /// let lines = warning_lines(outcome.warnings(), outcome.source());
    /// assert!(lines[0].contains("this `)` closes nothing, so it was skipped (line 1, column 8)"));
    ///
    /// // Failures have them, too: here the bracket is what went wrong.
    /// let failure = runtime.eval("(let [x 1] (inc x)) (dec x))", &Grants::new()).unwrap_err();
    /// assert_eq!(failure.reason(), "unbound_var");
    /// assert_eq!(failure.warnings()[0].code.reason(), "surplus_bracket");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// True if the value depends on the answer of a write that was planned and not sent.
    pub fn is_unknown(&self) -> bool {
        !matches!(self.vm.heap().find_unknown(self.value), Ok(None))
    }

    /// Returns the program's text, which places of warnings point into.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Prints the value as PTC-Lisp with firewalled values in clear: for the host, not for a model.
    pub fn print(&self) -> Result<String, Fault> {
        let print = || {
            let mut text = String::with_capacity(self.expected_bytes());
            self.vm.heap().print_clear(self.value, &mut text, self.limit()).map(|()| text)
        };
        match self.written(print) {
            Err(fault) if self.is_affordable() && fault.code() == Code::OutputExceeded => {
                Err(self.too_long())
            }
            printed => printed,
        }
    }

    /// Returns the units of `limits.result_fuel` for writing the value out, whatever the format: one for each part
    /// and for every 8 bytes of text, and large integers by the square of their length. A fault if that exceeds the
    /// limit.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Limits, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let outcome = runtime.eval("[1 2 {:a \"b\"}]", &Grants::new())?;
    /// assert_eq!(outcome.result_fuel()?, 6);
    ///
    /// let strict = runtime.limits(Limits { result_fuel: 5, ..Limits::default() });
    /// let outcome = strict.eval("[1 2 {:a \"b\"}]", &Grants::new())?;
    /// assert!(outcome.json().unwrap_err().to_string().contains("limits.result_fuel"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn result_fuel(&self) -> Result<u64, Fault> {
        let limit = self.vm.limits().result_fuel;
        let price = match self.price.load(Ordering::Relaxed) {
            UNKNOWN => {
                let price = self.vm.heap().text_price(self.value, limit)?;
                self.price.store(price.unwrap_or(TOO_MUCH), Ordering::Relaxed);
                price
            }
            known => Some(known).filter(|price| *price != TOO_MUCH),
        };
        price.ok_or_else(|| {
            let message = format!(
                "turning the result into text takes more work than {limit} units (limits.result_fuel)"
            );
            Fault::new(Code::OutputExceeded, message)
                .hint("return less: a few rows or fields, `(count rows)`, or floats instead of huge integers")
        })
    }

    fn is_affordable(&self) -> bool {
        self.result_fuel().is_ok()
    }

    /// Writes the value out, if that is within `limits.result_fuel`. A long write has to finish in the time the run
    /// has left.
    fn written<T, E: From<Fault>>(&self, write: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        // The limit on its length bounds the work of writing a small flat value, so most results need not be counted.
        let limits = self.vm.limits();
        if limits.result_fuel >= FLAT_PARTS + limits.result_bytes / 8 && self.vm.heap().is_flat(self.value) {
            return write();
        }
        match self.result_fuel()? {
            ..=AT_ONCE => write(),
            _ => self.watch.during(write),
        }
    }

    /// Returns the beginning of [`Outcome::print`], about `most` bytes, and whether that is all: for places that
    /// show only part of a value of any size.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let outcome = runtime.eval("(range 1000)", &Grants::new())?;
    /// assert_eq!(outcome.print_start(8)?, ("[0 1 2 3".to_string(), false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn print_start(&self, most: usize) -> Result<(String, bool), Fault> {
        let most = most.min(self.limit());
        let mut text = String::new();
        match self.vm.heap().print_clear(self.value, &mut text, most) {
            Ok(()) => Ok((text, true)),
            Err(fault) if fault.code() == Code::OutputExceeded => {
                text.truncate(text.floor_char_boundary(most));
                Ok((text, false))
            }
            Err(fault) => Err(fault),
        }
    }

    /// Returns the value as JSON text; a fault if it has no JSON form.
    pub fn json(&self) -> Result<String, Fault> {
        let mut text = String::new();
        self.write_json(&mut text, |text| text.reserve_exact(self.expected_bytes()))?;
        Ok(text)
    }

    /// Appends the value as JSON text. On a fault, the text is as it was before.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let mut text = String::from("[");
    /// runtime.eval("{:a 1}", &Grants::new())?.append_json(&mut text)?;
    /// assert!(runtime.eval("[1 inc]", &Grants::new())?.append_json(&mut text).is_err());
    /// assert_eq!(text, r#"[{"a":1}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn append_json(&self, text: &mut String) -> Result<(), Fault> {
        let before = text.len();
        let written = self.write_json(text, |_| ());
        if written.is_err() {
            text.truncate(before);
        }
        written
    }

    fn write_json(&self, text: &mut String, reserve: impl FnOnce(&mut String)) -> Result<(), Fault> {
        self.written(|| {
            reserve(text);
            let options = json::WriteOptions { limit: self.limit(), ..json::WriteOptions::data() };
            json::write_json(self.vm.heap(), self.value, text, &options)
        })
    }

    /// Estimates the text size of a large result, since a buffer grown in steps is held twice at each step.
    fn expected_bytes(&self) -> usize {
        if self.vm.heap().used() < LARGE {
            return SMALL.min(self.limit());
        }
        let bytes = self.result_fuel().unwrap_or(0).saturating_mul(8);
        usize::try_from(bytes).unwrap_or(usize::MAX).min(self.limit())
    }

    /// Returns the value as a Rust type.
    pub fn get<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        let value = self.written(|| bridge::from_value(self.vm.heap(), self.value));
        value.map_err(|error: BridgeError| {
            let fault = match error.to_fault() {
                fault if fault.code() == Code::InvalidData => Fault::new(
                    Code::TypeError,
                    format!("the result does not have the requested type: {error}"),
                ),
                limit => limit,
            };
            Failure::from(fault).after_compiling(self.compile_fuel).with(self.attached.as_ref())
        })
    }

    /// Returns the value as owned data, with firewalled parts marked.
    pub fn datum(&self) -> Result<Datum, Fault> {
        self.written(|| self.vm.heap().to_datum(self.value, self.limit()))
    }

    /// Returns the value as shared data, for other runs.
    pub fn freeze(&self) -> Frozen {
        self.vm.freeze(self.value)
    }

    /// Returns the values of a map whose keys are strings or keywords, as shared data; None for any other value.
    pub fn freeze_fields(&self) -> Option<Vec<(String, Frozen)>> {
        self.vm.freeze_fields(self.value)
    }

    /// Returns the names the program defined or redefined, with their values.
    pub fn definitions(&self) -> Vec<(String, Frozen)> {
        self.vm.freeze_changed()
    }

    #[cold]
    fn too_long(&self) -> Fault {
        let message = format!("the result is longer than {} bytes (limits.result_bytes)", self.limit());
        Fault::new(Code::OutputExceeded, message)
            .hint("return less: `(take 20 rows)`, `(count rows)`, a few fields")
    }

    fn limit(&self) -> usize {
        self.vm.limits().result_bytes as usize
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Logs take the beginning of a value of any size, without what is firewalled.
        let mut value = String::new();
        let is_whole = self.vm.heap().print(self.value, &mut value, MAX_DEBUG).is_ok();
        value.truncate(value.floor_char_boundary(MAX_DEBUG));
        if !is_whole {
            value.push('…');
        }
        f.debug_struct("Outcome")
            .field("value", &format_args!("{value}"))
            .field("fuel", &self.fuel)
            .finish_non_exhaustive()
    }
}

/// A failed run: its errors, and the facts of the run until then.
#[derive(Clone)]
pub struct Failure {
    /// Errors; several for a program that does not compile.
    pub diagnostics: Vec<Diagnostic>,
    /// Value given to `(fail v)`.
    pub value: Option<Datum>,
    /// Output printed before the failure.
    pub prints: Vec<String>,
    /// Fuel spent on running before the failure.
    pub fuel: u64,
    /// Units of `limits.compile_fuel` that compiling took, or had taken when it was given up.
    pub compile_fuel: u64,
    /// Boxed, since every result may be a failure.
    rare: Option<Box<Rare>>,
    source: Arc<str>,
    attached: Option<Arc<Attached>>,
}

/// Parts that most failures do not have.
#[derive(Clone, Default)]
struct Rare {
    /// Clear text of the firewalled entries in the printed output, by number.
    clear_prints: Vec<(usize, String)>,
    warnings: Vec<Diagnostic>,
}

impl Rare {
    fn boxed(self) -> Option<Box<Rare>> {
        let is_empty = self.clear_prints.is_empty() && self.warnings.is_empty();
        (!is_empty).then(|| Box::new(self))
    }
}

/// Replaces prints by their clear text.
fn cleared(prints: &[String], clear: &[(usize, String)]) -> Vec<String> {
    let mut all = prints.to_vec();
    for (at, text) in clear {
        if let Some(print) = all.get_mut(*at) {
            print.clone_from(text);
        }
    }
    all
}

impl Failure {
    /// Returns the output printed before, with firewalled values in clear: for the host, not for a model.
    pub fn clear_prints(&self) -> Vec<String> {
        cleared(&self.prints, self.rare.as_ref().map_or(&[], |rare| &rare.clear_prints[..]))
    }

    /// Returns warnings about the program besides its errors, the most useful first: see [`Outcome::warnings`].
    pub fn warnings(&self) -> &[Diagnostic] {
        self.rare.as_ref().map_or(&[], |rare| &rare.warnings[..])
    }

    pub(crate) fn of(fault: Fault, mut vm: Option<&mut Vm>, program: Program) -> Failure {
        let diagnostic = explain::with_source(fault.to_diagnostic(), program.source());
        let clear_prints = vm.as_mut().map(|vm| vm.take_clear_prints()).unwrap_or_default();
        Failure {
            rare: Rare { clear_prints, warnings: warnings(&program, vm.as_deref()) }.boxed(),
            diagnostics: vec![diagnostic],
            value: fault.into_value(),
            fuel: vm.as_ref().map_or(0, |vm| vm.budget().spent()),
            compile_fuel: program.compile_fuel(),
            prints: vm.map(Vm::take_prints).unwrap_or_default(),
            source: program.source().clone(),
            attached: program.attached().cloned(),
        }
    }

    pub(crate) fn compile(diagnostics: Vec<Diagnostic>, source: &str) -> Failure {
        let source = source.into();
        let (fuel, compile_fuel) = (0, 0);
        let (prints, rare) = (Vec::new(), None);
        Failure { diagnostics, value: None, prints, fuel, compile_fuel, rare, source, attached: None }
    }

    /// Sets the warnings of compiling.
    pub(crate) fn with_warnings(mut self, warnings: Vec<Diagnostic>) -> Failure {
        let clear_prints = self.rare.take().map(|rare| rare.clear_prints).unwrap_or_default();
        self.rare = Rare { clear_prints, warnings }.boxed();
        self
    }

    /// Sets the fuel of compiling.
    pub(crate) fn after_compiling(self, compile_fuel: u64) -> Failure {
        Failure { compile_fuel, ..self }
    }

    /// Sets the preludes that were attached to the program.
    pub(crate) fn with(mut self, attached: Option<&Arc<Attached>>) -> Failure {
        self.attached = attached.cloned();
        self
    }

    /// Returns the trace of the preludes the program was to run with; None if attaching failed.
    pub fn prelude_trace(&self) -> Option<PreludeTrace> {
        self.attached.as_ref().map(|attached| attached.trace())
    }

    /// Returns the first and most useful diagnostic.
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.diagnostics[0]
    }

    /// Returns its stable reason, such as `type_error`.
    pub fn reason(&self) -> &'static str {
        self.diagnostic().code.reason()
    }

    /// Returns the program's text, which spans point into.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.diagnostics.iter().try_for_each(|d| f.write_str(&d.to_text(&self.source)))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Failure {}

impl From<Diagnostic> for Failure {
    fn from(problem: Diagnostic) -> Failure {
        Failure::compile(vec![problem], "")
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        fault.to_diagnostic().into()
    }
}

impl From<BridgeError> for Failure {
    fn from(error: BridgeError) -> Failure {
        error.to_fault().into()
    }
}

impl Planner {
    /// Returns the plan of a program, once it has ended.
    pub fn plan(&self, source: &str, ended: &Result<(), Failure>) -> Plan {
        let end = ended.as_ref().err().map(|failure| self.end_of(failure.diagnostic(), failure.source()));
        self.plan_until(source, end)
    }
}
