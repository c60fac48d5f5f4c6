//! Tool calls of a mission: the path that every call takes, whatever kind of tool it is for.

use super::cache::{Cache, Flight, Landing, Lookup};
use super::calls::{RECORD_BYTES, brief, brief_answer, millis, recorded_answer, weight};
use super::delegate::Delegate;
use super::effects::MissionEffects;
use super::place::{Place, now};
use super::step::{CallRecord, Step};
use crate::Agent;
use crate::definition::RunOptions;
use crate::native_preview::{self, Preview};
use crate::tools::{
    Body, ExportTool, Layer, NativePreview, Tool, ToolBody, ToolCtx, ToolKind, ToolSet, Visibility,
};
use crate::trace::{Kind, Scope};
use ptc_bytecode::{Code, Datum, Effects};
use ptc_contract::data;
use ptc_contract::firewall::redact;
use ptc_contract::keys::{CacheKey, args_hash, canonical_cache_key, normalize_keys};
use ptc_contract::signature::Validation;
use ptc_runtime::effects::{EffectCall, EffectSlot, shown_args};
use ptc_runtime::{Fault, Frozen, PendingCall, Refusal, ToolAnswer, ToolArgs, ToolError, Tools};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::Deref;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Tools of one mission, with everything needed to call them.
pub(crate) struct Toolbox {
    shared: Arc<Shared>,
    pub place: Place,
    /// Scope of calls in the trace: of the current turn, or of an export.
    turn: Mutex<Scope>,
    /// Runner of exports, for calls of the model; programs call exports by their own names.
    exports: Option<Arc<dyn RunExports>>,
}

/// State shared by all callers of a mission's tools.
pub(crate) struct Shared {
    tools: ToolSet,
    /// Names of tools that are described but cannot be called.
    planning: Vec<String>,
    mode: Validation,
    pmap_timeout: u64,
    delegate: Delegate,
    cache: Mutex<Cache>,
    children: Mutex<Vec<Step>>,
    native: Mutex<NativeCalls>,
}

/// Calls that the model has made by itself in a turn: how often each, by the hash of tool and arguments.
#[derive(Default)]
struct NativeCalls {
    turn: u32,
    made: BTreeMap<String, u32>,
}

impl Deref for Toolbox {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// A pending answer of an export.
pub(crate) type ExportAnswer<'a> = Pin<Box<dyn Future<Output = Result<ToolAnswer, Refusal>> + Send + 'a>>;

/// Runner of prelude exports, as programs.
pub(crate) trait RunExports: Send + Sync {
    /// Calls an export with these arguments. Its own calls are under `scope` in the trace, and in this ledger.
    fn call<'c>(
        &'c self,
        export: &'c ExportTool,
        args: &'c Datum,
        scope: &'c Scope,
        effects: Option<MissionEffects>,
    ) -> ExportAnswer<'c>;
}

/// An incoming call.
struct ToolRequest<'c> {
    name: &'c str,
    args: Datum,
    by: Caller,
    /// Prelude export that makes the call.
    origin: Option<&'c str>,
    /// Flag: answers may be cached.
    may_cache: bool,
    /// Flag: the caller sees an outline, and the whole answer is kept for programs.
    is_previewed: bool,
}

/// Caller of a tool, and its time limits.
#[derive(Clone)]
struct Caller {
    layer: Layer,
    /// Effect that the calling export states.
    stated: Option<Effects>,
    /// Time at which the calling program's time is up.
    until: Option<Instant>,
    /// Time limit of the calling parallel branch, in milliseconds.
    branch: Option<u64>,
    /// Place of the call in the ledger of its program.
    slot: Option<EffectSlot>,
}

impl<'c> ToolRequest<'c> {
    fn by_program(call: &'c PendingCall, until: Option<Instant>, is_verbatim: bool) -> ToolRequest<'c> {
        ToolRequest {
            name: &call.name,
            args: if is_verbatim { call.args.clone() } else { normalize_keys(&call.args) },
            by: Caller {
                layer: Layer::PtcLisp,
                stated: call.stated_effect(),
                until,
                branch: None,
                slot: call.effect_slot().cloned(),
            },
            origin: call.origin.as_deref(),
            may_cache: true,
            is_previewed: false,
        }
    }
}

/// Outcome of a call.
pub(crate) struct CallOutcome {
    pub answer: Result<ToolAnswer, Refusal>,
    pub record: CallRecord,
    /// Preview for a model that made the call itself.
    pub preview: Option<Preview>,
}

/// Facts that are collected while a call runs.
#[derive(Default)]
struct Notes {
    warnings: Vec<String>,
    cached: bool,
    key: Option<CacheKey>,
    /// Hash of the key without secrets, for traces: a short secret could be guessed from the hash of the key itself.
    key_hash: Option<String>,
    retained: Option<usize>,
    child_trace_id: Option<String>,
    /// Arguments and result of the host's code, for traces that are replayed.
    replay: Option<Value>,
    /// Id of the call in the ledger of effects, and what the ledger said.
    effect: Option<Value>,
}

/// Returns the tools of a mission: the agent's own, and those for asking models.
fn tools_of(agent: &Agent) -> ToolSet {
    let mut tools = agent.tools().clone();
    if agent.options().llm_query && tools.get(super::delegate::LLM_QUERY).is_none() {
        tools.insert(Tool::of(super::delegate::LLM_QUERY, ToolKind::Described));
    }
    tools
}

/// Returns the tools of a mission as a session declares them to its programs.
pub(crate) fn declared(agent: &Agent) -> Tools {
    let mut declared = Tools::new();
    for tool in tools_of(agent).iter() {
        let is_private = tool.visibility == Visibility::Private;
        if !is_private && !tool.effective_expose(agent.is_text()).is_in_programs() {
            continue;
        }
        declared = declared.declared(&tool.name).effect(&tool.name, tool.effect.into());
        if let Some(signature) = &tool.signature {
            let mode = tool.validation.unwrap_or(agent.options().signature_validation);
            declared = declared.shaped(&tool.name, signature.tool_shape(mode));
        }
        if is_private {
            declared = declared.private(&tool.name, |_| Ok(()));
            let named = tool.private_to.iter().cloned();
            declared = named.fold(declared, |declared, prelude| declared.private_to(&tool.name, prelude));
        }
    }
    declared
}

impl Toolbox {
    pub fn new(agent: &Agent, run: &RunOptions, place: Place) -> Toolbox {
        let options = agent.options();
        let tools = tools_of(agent);
        let planning = options.tool_catalog.iter().map(|tool| tool.name.clone()).collect();
        let shared = Shared {
            planning,
            mode: options.signature_validation,
            pmap_timeout: options.pmap_timeout,
            delegate: Delegate::new(agent, run),
            tools,
            cache: Mutex::new(Cache::new(options.tool_cache_limit, &run.tool_cache)),
            children: Mutex::default(),
            native: Mutex::default(),
        };
        Toolbox { shared: Arc::new(shared), turn: Mutex::new(place.scope.clone()), place, exports: None }
    }

    /// Returns these tools for calls under `scope`, regardless of the mission's turn.
    pub fn within(&self, scope: Scope) -> Arc<Toolbox> {
        let (shared, place, turn) = (self.shared.clone(), self.place.clone(), Mutex::new(scope));
        Arc::new(Toolbox { shared, place, turn, exports: None })
    }

    /// Adds the runner of exports.
    pub fn with_exports(self, exports: Arc<dyn RunExports>) -> Toolbox {
        Toolbox { exports: Some(exports), ..self }
    }

    /// Begins a turn: calls from now on belong to it.
    pub fn begin_turn(&self, number: u32, turn: Scope) {
        self.delegate.begin_turn();
        let native = NativeCalls { turn: number, ..NativeCalls::default() };
        *self.native.lock().unwrap_or_else(PoisonError::into_inner) = native;
        self.enter(turn);
    }

    /// Sets the scope of further calls.
    pub fn enter(&self, turn: Scope) {
        *self.turn.lock().unwrap_or_else(PoisonError::into_inner) = turn;
    }

    /// Returns the scope of calls.
    pub fn scope(&self) -> Scope {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the tool of that name is described but cannot be called.
    pub fn is_planning_only(&self, name: &str) -> bool {
        self.planning.iter().any(|known| known == name) && self.tools.get(name).is_none()
    }

    /// Returns whether the tool asks models: the duration of such calls says nothing about the program.
    pub fn asks_models(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| {
            matches!(tool.kind, ToolKind::Llm(_) | ToolKind::Agent(_) | ToolKind::SelfAgent)
                || name == super::delegate::LLM_QUERY
        })
    }

    fn is_verbatim(&self, name: &str) -> bool {
        self.tools.get(name).is_some_and(|tool| tool.is_verbatim)
    }

    /// Returns the steps of all missions delegated so far.
    pub fn children(&self) -> Vec<Step> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of missions delegated so far.
    pub fn children_count(&self) -> usize {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns the traces of missions delegated after the first `count`, where they are traced.
    pub fn child_traces_since(&self, count: usize) -> Vec<String> {
        let children = self.children.lock().unwrap_or_else(PoisonError::into_inner);
        let traced = children.iter().skip(count).map(|step| step.trace_id.clone());
        traced.filter(|trace_id| !trace_id.is_empty()).collect()
    }

    /// Returns all cached results.
    pub fn kept(&self) -> BTreeMap<CacheKey, Frozen> {
        self.cache().all()
    }

    /// Returns all cached results, most recently used first.
    pub fn newest_kept(&self) -> Vec<(CacheKey, Frozen)> {
        self.cache().newest()
    }

    /// Restores a result from an earlier part of the mission.
    pub fn keep(&self, key: CacheKey, answer: Frozen) {
        self.place.secrets().learn_frozen(None, &answer);
        self.cache().insert(key, answer, None);
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes one call of a program, to its end. `until` is the time at which the program's time is up.
    pub async fn call(
        self: &Arc<Self>,
        declared: &Tools,
        call: &PendingCall,
        until: Option<Instant>,
    ) -> CallOutcome {
        let mut asked = ToolRequest::by_program(call, until, self.is_verbatim(&call.name));
        asked.by.branch = call.id.is_parallel().then_some(self.pmap_timeout);
        self.asked(asked, declared.authorize(call)).await
    }

    /// Makes one call for a model that calls tools itself.
    pub async fn call_native(
        self: &Arc<Self>,
        name: &str,
        args: Datum,
        may_cache: bool,
        is_previewed: bool,
    ) -> CallOutcome {
        let slot = self.native_slot(name, &args);
        let asked = ToolRequest {
            name,
            args,
            by: Caller { layer: Layer::Native, stated: None, until: None, branch: None, slot },
            origin: None,
            may_cache,
            is_previewed,
        };
        self.asked(asked, Ok(())).await
    }

    async fn asked(self: &Arc<Self>, asked: ToolRequest<'_>, authorized: Result<(), Fault>) -> CallOutcome {
        let (started, at) = (now(), SystemTime::now());
        let scope = self.scope().child();
        // Learned before the call, because a tool may quote its arguments.
        self.place.secrets().learn(&asked.args);
        scope.emit(Kind::ToolStart, |event| {
            event.tool_name = Some(asked.name.to_string());
            if let Some(operation) = self.operation(&asked) {
                event.data.insert("operation".to_string(), operation.into());
            }
            event.data.insert("args".to_string(), brief(&self.traced(&asked.args)).0);
        });
        let mut notes = Notes::default();
        let answer = match authorized {
            Ok(()) => self.answer(&asked, &scope, &mut notes).await,
            Err(fault) => Err(Refusal::Fault(fault)),
        };
        notes.effect = asked.by.slot.as_ref().and_then(|slot| {
            let said = slot.said()?;
            Some(json!({"id": slot.id().to_string(), "ledger": said}))
        });
        let mut record = self.record(&asked, &answer, &notes, at, started);
        let preview = match &answer {
            Ok(ToolAnswer::Frozen(frozen)) if asked.is_previewed && notes.retained.is_some() => {
                let kind = self.tools.get(asked.name).and_then(|tool| tool.native_result.as_ref());
                let kind = kind.unwrap_or(&NativePreview::Metadata);
                Some(native_preview::build(asked.name, &asked.args, frozen, kind))
            }
            _ => None,
        };
        record.is_cut |= preview.as_ref().is_some_and(|preview| preview.is_cut);
        let traced = self.traced_record(&record, &asked.args, &answer);
        self.tell(&scope, traced.as_ref().unwrap_or(&record), &notes);
        CallOutcome { answer, record, preview }
    }

    async fn answer(
        self: &Arc<Self>,
        asked: &ToolRequest<'_>,
        scope: &Scope,
        notes: &mut Notes,
    ) -> Result<ToolAnswer, Refusal> {
        let Some(tool) = self.tools.get(asked.name) else {
            let message = format!("there is no tool `{}`", asked.name);
            return Err(Refusal::Fault(Fault::new(Code::UnknownTool, message)));
        };
        let args = self.checked(tool, &asked.args, notes)?;
        notes.key = (tool.cache && asked.may_cache).then(|| canonical_cache_key(&tool.name, &args));
        notes.key_hash = notes.key.as_ref().map(|key| match self.traced(&args) {
            Cow::Owned(public) => canonical_cache_key(&tool.name, &public).hash(),
            Cow::Borrowed(_) => key.hash(),
        });
        let is_taped = scope.is_on() && matches!(tool.kind, ToolKind::Plain(_));
        let Some(key) = notes.key.clone() else {
            let tape = is_taped.then(|| canonical_cache_key(&tool.name, &args));
            let made = self.made(tool, args, &asked.by, scope, tape.as_ref(), notes);
            let made = self.in_time(tool, &asked.by, made).await;
            return made.unwrap_or_else(|late| {
                notes.replay = tape.map(|key| recorded_answer(&key, Err(&late)));
                Err(late)
            });
        };
        let looked_up =
            self.cache().look_up(&key, |id| self.fly(&key, id, tool, args, asked.by.clone(), scope));
        let (flight, is_first) = match looked_up {
            Lookup::Kept(known) => {
                notes.cached = true;
                notes.retained = Some(known.bytes());
                return Ok(ToolAnswer::Frozen(known));
            }
            Lookup::OnItsWay(flight) => (flight, false),
            Lookup::New(flight) => (flight, true),
        };
        let landing = self.in_time(tool, &asked.by, flight).await.inspect_err(|late| {
            notes.replay = is_taped.then(|| recorded_answer(&key, Err(late)));
        })?;
        notes.retained = landing.retained;
        notes.cached = !is_first && landing.answer.is_ok();
        if is_first {
            notes.child_trace_id = landing.child_trace_id.clone();
            notes.replay = landing.replay.clone();
        }
        landing.answer.clone().map(ToolAnswer::Frozen)
    }

    /// Starts a call that several callers may wait for. It runs as long as one of them waits.
    fn fly(
        self: &Arc<Self>,
        key: &CacheKey,
        id: u64,
        tool: &Tool,
        args: Datum,
        by: Caller,
        scope: &Scope,
    ) -> Flight {
        let (toolbox, key, tool, scope) = (Arc::clone(self), key.clone(), tool.clone(), scope.clone());
        Flight::new(async move {
            let over = FlightOver { toolbox: &toolbox, key: &key, id };
            let mut notes = Notes::default();
            let tape = scope.is_on().then_some(&key);
            let made = toolbox.made(&tool, args, &by, &scope, tape, &mut notes).await;
            let answer = made.and_then(|answer| match answer {
                ToolAnswer::Frozen(frozen) => Ok(frozen),
                ToolAnswer::Datum(datum) => Frozen::from_datum(&datum).map_err(Refusal::Fault),
            });
            let kept = answer.as_ref().ok().filter(|frozen| {
                toolbox.cache().insert(key.clone(), (*frozen).clone(), tool.max_cached_bytes)
            });
            let retained = kept.map(Frozen::bytes);
            drop(over);
            let Notes { child_trace_id, replay, .. } = notes;
            Landing { answer, retained, child_trace_id, replay }
        })
    }

    /// Awaits a call, unless the caller runs out of time first.
    async fn in_time<T>(
        &self,
        tool: &Tool,
        by: &Caller,
        call: impl Future<Output = T>,
    ) -> Result<T, Refusal> {
        // A child mission has its own limits, and the program's clock is stopped meanwhile.
        let deadline = match tool.kind {
            ToolKind::Plain(_) => self.place.deadline_in(by.branch).into_iter().chain(by.until).min(),
            _ => None,
        };
        let Some(deadline) = deadline else { return Ok(call.await) };
        tokio::time::timeout_at(deadline.into(), call).await.map_err(|_| {
            let (who, limit) = match by.layer {
                Layer::PtcLisp => ("program", "timeout"),
                Layer::Native => ("mission", "mission_timeout"),
            };
            let message = format!("the {who} ran out of time while it waited for `tool/{}`", tool.name);
            let hint = format!("ask for less at a time, or let the host raise `{limit}`");
            Refusal::Fault(Fault::new(Code::Timeout, message).hint(hint))
        })
    }

    /// Makes the call, for all its waiters. `tape` is the key by which a trace identifies it.
    async fn made(
        &self,
        tool: &Tool,
        args: Datum,
        by: &Caller,
        scope: &Scope,
        tape: Option<&CacheKey>,
        notes: &mut Notes,
    ) -> Result<ToolAnswer, Refusal> {
        let answer = match &tool.kind {
            ToolKind::Plain(body) => {
                let answer = self.plain(tool, body, args, by).await;
                notes.replay = tape.map(|key| recorded_answer(key, answer.as_ref()));
                answer?
            }
            ToolKind::Export(export) => {
                let Some(exports) = &self.exports else {
                    let message = format!("programs call it as `{}`", export.reference());
                    return Err(ToolError::new(message).into());
                };
                exports.call(export, &args, scope, self.effects_below(by)).await?
            }
            _ => {
                let place = Place { effects: self.effects_below(by), ..self.place.clone() };
                let made = self.delegate.call(tool, &args, &place, scope);
                let limited = tool.timeout.map(|ms| self.place.deadline_in(Some(ms)));
                let made = match limited.flatten() {
                    None => made.await,
                    Some(at) => tokio::time::timeout_at(at.into(), made)
                        .await
                        .unwrap_or_else(|_| Err(too_slow(tool).into())),
                };
                let delegated = made?;
                if let Some(step) = delegated.step {
                    notes.child_trace_id = Some(step.trace_id.clone());
                    self.children.lock().unwrap_or_else(PoisonError::into_inner).push(step.pruned());
                }
                delegated.value.map(ToolAnswer::Datum)?
            }
        };
        self.learn(&answer);
        self.held_to_signature(tool, &answer, notes)?;
        match answer {
            // Large answers are shared with programs: they count as granted data, not as data that programs made.
            ToolAnswer::Datum(datum) if weight(&datum) > RECORD_BYTES => {
                Frozen::from_datum(&datum).map(ToolAnswer::Frozen).map_err(Refusal::Fault)
            }
            answer => Ok(answer),
        }
    }

    /// Returns the ledger for what a call starts.
    fn effects_below(&self, by: &Caller) -> Option<MissionEffects> {
        let (effects, slot) = self.place.effects.as_ref().zip(by.slot.as_ref())?;
        Some(effects.below(slot))
    }

    /// Returns the place in the ledger of a call that the model makes by itself.
    fn native_slot(&self, name: &str, args: &Datum) -> Option<EffectSlot> {
        let effects = self.place.effects.as_ref()?;
        let mut native = self.native.lock().unwrap_or_else(PoisonError::into_inner);
        let of = effects.hash(name, args);
        let number = native.made.entry(of.clone()).or_default();
        *number += 1;
        let number = *number;
        Some(effects.native(native.turn, &of, number))
    }

    /// Refuses a result that does not fit the tool's signature; agents check their own results.
    fn held_to_signature(&self, tool: &Tool, answer: &ToolAnswer, notes: &mut Notes) -> Result<(), Refusal> {
        let Some(signature) = &tool.signature else { return Ok(()) };
        if matches!(tool.kind, ToolKind::Agent(_) | ToolKind::SelfAgent) {
            return Ok(());
        }
        match signature.check_answer(answer, tool.validation.unwrap_or(self.mode)) {
            Ok(tolerated) => {
                let told = tolerated.iter().map(|error| format!("result of tool/{}: {error}", tool.name));
                self.warn(tool, told.collect(), notes);
                Ok(())
            }
            Err(rejected) => {
                let lines = rejected.lines();
                let message =
                    format!("`tool/{}` returned what its signature does not allow. {lines}", tool.name);
                let hint = format!(
                    "it promises {}; the tool is at fault, not its arguments: work without this result, or `(fail …)`",
                    tool.signature_text()
                );
                Err(Refusal::Fault(Fault::new(Code::ValidationError, message).hint(hint)))
            }
        }
    }

    /// Records coercions and tolerated misfits, and emits them as warnings.
    fn warn(&self, tool: &Tool, warnings: Vec<String>, notes: &mut Notes) {
        for warning in &warnings {
            self.scope().emit(Kind::ValidationWarning, |event| {
                event.tool_name = Some(tool.name.clone());
                event.data.insert("message".to_string(), json!(warning));
            });
        }
        notes.warnings.extend(warnings);
    }

    /// Returns the arguments as the tool gets them: coerced and checked.
    fn checked(&self, tool: &Tool, args: &Datum, notes: &mut Notes) -> Result<Datum, Refusal> {
        let Some(signature) = &tool.signature else { return Ok(args.clone()) };
        match signature.check_input(args, tool.validation.unwrap_or(self.mode)) {
            Ok(checked) => {
                let tolerated = checked.tolerated.iter().map(ToString::to_string);
                self.warn(tool, checked.warnings.into_iter().chain(tolerated).collect(), notes);
                Ok(checked.value)
            }
            Err(rejected) => {
                let shown = tool.signature_text();
                let fault = Fault::new(
                    Code::ValidationError,
                    format!("`tool/{}` was not called. {}", tool.name, rejected.lines()),
                );
                Err(Refusal::Fault(fault.hint(format!("it takes {shown}"))))
            }
        }
    }

    /// Calls code of the host. Neither a panic nor a hanging call can bring down the mission.
    async fn plain(&self, tool: &Tool, body: &Body, args: Datum, by: &Caller) -> Result<ToolAnswer, Refusal> {
        let own = self.place.deadline_in(tool.timeout.into_iter().chain(by.branch).min());
        let deadline = own.into_iter().chain(by.until).min();
        let ctx =
            ToolCtx { depth: self.place.depth, deadline, cancel: self.place.cancel.clone(), layer: by.layer };
        let args = ToolArgs::new(args).stating(by.stated).recorded_in(by.slot.as_ref());
        let effect = args.effect(tool.effect.into());
        // The tool `call` writes to the ledger itself, once it knows which tool of a server is meant.
        let slot = by.slot.as_ref().filter(|_| effect.may_write() && !tool.is_of_servers());
        let whole = args.datum().clone();
        let answer = async {
            match body.get() {
                ToolBody::Async(body) => {
                    let made = std::panic::catch_unwind(AssertUnwindSafe(|| body(args, ctx)));
                    let made = made.map_err(|panic| panicked(&*panic))?;
                    let done = futures_util::FutureExt::catch_unwind(AssertUnwindSafe(made)).await;
                    done.unwrap_or_else(|panic| Err(panicked(&*panic)))
                }
                ToolBody::Blocking(body) => {
                    let (done, wait) = tokio::sync::oneshot::channel();
                    let body = Arc::clone(body);
                    // A thread of its own: waiters can give it up, and nobody has to join it.
                    let thread = std::thread::Builder::new().name(format!("tool {}", tool.name));
                    let spawned = thread.spawn(move || {
                        let called = std::panic::catch_unwind(AssertUnwindSafe(|| body(&args, &ctx)));
                        let _ = done.send(called.unwrap_or_else(|panic| Err(panicked(&*panic))));
                    });
                    spawned.map_err(|error| {
                        ToolError::new(format!("cannot start a thread for the tool: {error}"))
                    })?;
                    wait.await.unwrap_or_else(|_| Err(ToolError::new("the tool ended without a result")))
                }
            }
        };
        let limit = tool.timeout.and_then(|ms| now().checked_add(Duration::from_millis(ms)));
        let answer = async {
            let answer = match limit {
                None => answer.await,
                Some(at) => {
                    tokio::time::timeout_at(at.into(), answer).await.unwrap_or_else(|_| Err(too_slow(tool)))
                }
            };
            answer.map_err(Refusal::from)
        };
        let Some(slot) = slot else { return answer.await };
        let shown = shown_args(&whole);
        let original = slot.original().map(|original| match tool.is_verbatim {
            true => original.clone(),
            false => normalize_keys(original),
        });
        let call = EffectCall { tool: &tool.name, shown, args: &whole, original, effect, must_ask: false };
        slot.made(call, answer).await
    }

    /// Remembers firewalled values in a result, so that no text shows them.
    fn learn(&self, answer: &ToolAnswer) {
        match answer {
            ToolAnswer::Datum(datum) => self.place.secrets().learn(datum),
            ToolAnswer::Frozen(frozen) => self.place.secrets().learn_frozen(None, frozen),
        }
    }

    /// Returns the record of a call without a result yet.
    pub fn begun(&self, call: &PendingCall) -> CallRecord {
        let nothing = Err(Refusal::Error(ToolError::new("")));
        let record = self.record(
            &ToolRequest::by_program(call, None, self.is_verbatim(&call.name)),
            &nothing,
            &Notes::default(),
            SystemTime::now(),
            now(),
        );
        CallRecord { error: None, ..record }
    }

    fn record(
        &self,
        asked: &ToolRequest<'_>,
        answer: &Result<ToolAnswer, Refusal>,
        notes: &Notes,
        at: SystemTime,
        started: Instant,
    ) -> CallRecord {
        let (result, is_cut) = answer.as_ref().map_or((Value::Null, false), brief_answer);
        let error = match answer {
            Ok(_) => None,
            Err(Refusal::Error(error)) => Some(error.to_string()),
            Err(Refusal::Fault(fault)) => Some(fault.parts().message.clone()),
        };
        let effect = self.tools.get(asked.name).map_or(Effects::Unknown, |tool| tool.effect.into());
        let effect = asked.by.stated.map_or(effect, |stated| stated.max(effect));
        let export = match self.tools.get(asked.name).map(|tool| &tool.kind) {
            Some(ToolKind::Export(export)) => Some(export.reference()),
            _ => None,
        };
        CallRecord {
            name: asked.name.to_string(),
            operation: self.operation(asked),
            args: brief(&asked.args).0,
            public_args_hash: match self.traced(&asked.args) {
                Cow::Owned(public) => Some(args_hash(&brief(&public).0)),
                Cow::Borrowed(_) => None,
            },
            result,
            is_cut,
            error,
            timestamp_ms: millis(at),
            duration_ms: now().saturating_duration_since(started).as_millis() as u64,
            cached: notes.cached,
            layer: match asked.by.layer {
                Layer::Native => "native",
                Layer::PtcLisp => "ptc_lisp",
            }
            .to_string(),
            origin: asked.origin.or(export).map(str::to_string),
            child_trace_id: notes.child_trace_id.clone(),
            warnings: notes.warnings.clone(),
            effect: effect.name().to_string(),
            is_covered: asked.by.slot.as_ref().is_some_and(EffectSlot::is_covered),
        }
    }

    /// Returns the operation of an upstream server that a call is for, as `server/tool`. Names that are firewalled stay
    /// hidden.
    fn operation(&self, asked: &ToolRequest<'_>) -> Option<String> {
        let tool = self.tools.get(asked.name).filter(|tool| tool.is_of_servers())?;
        if tool.operation.is_some() {
            return tool.operation.clone();
        }
        let args = if self.place.shows_secrets { asked.args.clone() } else { redact(&asked.args) };
        let tree = data::Tree::new(&args);
        let named = |key: &str| tree.root().get(key).and_then(|view| view.name()).map(str::to_string);
        Some(format!("{}/{}", named("server")?, named("tool")?))
    }

    /// Returns data for a trace: without firewalled parts, unless the agent lets traces show them.
    fn traced<'d>(&self, datum: &'d Datum) -> Cow<'d, Datum> {
        match self.place.shows_secrets || datum.veiled().is_empty() {
            true => Cow::Borrowed(datum),
            false => Cow::Owned(redact(datum)),
        }
    }

    /// Returns the record of a call for a trace; None if it is the same.
    fn traced_record(
        &self,
        record: &CallRecord,
        args: &Datum,
        answer: &Result<ToolAnswer, Refusal>,
    ) -> Option<CallRecord> {
        let public = |datum: &Datum| match self.traced(datum) {
            Cow::Owned(public) => Some(brief(&public).0),
            Cow::Borrowed(_) => None,
        };
        let result = match answer {
            Ok(ToolAnswer::Datum(datum)) => public(datum),
            Ok(ToolAnswer::Frozen(frozen)) => {
                frozen.to_datum(RECORD_BYTES).ok().and_then(|datum| public(&datum))
            }
            Err(_) => None,
        };
        let args = public(args);
        (args.is_some() || result.is_some()).then(|| CallRecord {
            args: args.unwrap_or_else(|| record.args.clone()),
            result: result.unwrap_or_else(|| record.result.clone()),
            ..record.clone()
        })
    }

    fn tell(&self, scope: &Scope, record: &CallRecord, notes: &Notes) {
        let ended = if record.error.is_some() { Kind::ToolException } else { Kind::ToolStop };
        scope.emit(ended, |event| {
            event.tool_name = Some(record.name.clone());
            if let Some(operation) = &record.operation {
                event.data.insert("operation".to_string(), json!(operation));
            }
            match &record.error {
                Some(error) => event.data.insert("error".to_string(), json!(error)),
                None => event.data.insert("result".to_string(), record.result.clone()),
            };
            if let Some(child) = &record.child_trace_id {
                event.data.insert("child_trace_id".to_string(), json!(child));
            }
            if let Some(effect) = &notes.effect {
                event.data.insert("effect".to_string(), effect.clone());
            }
        });
        scope.emit(Kind::ToolCall, |event| {
            event.tool_name = Some(record.name.clone());
            event.status = Some(if record.error.is_some() { "error" } else { "ok" }.into());
            let data = [
                ("exposure_layer", json!(record.layer)),
                ("cached", json!(record.cached)),
                ("args", record.args.clone()),
                ("result", record.result.clone()),
                ("error", json!(record.error)),
                ("result_preview_truncated", json!(record.is_cut)),
                ("full_result_cached", json!(notes.retained.is_some())),
                ("cache_key_hash", json!(notes.key_hash)),
                ("retained_bytes", json!(notes.retained.unwrap_or(0))),
            ];
            if let Some(operation) = &record.operation {
                event.data.insert("operation".to_string(), json!(operation));
            }
            if let Some(replay) = &notes.replay {
                event.data.insert("replay".to_string(), replay.clone());
            }
            event.data.extend(data.into_iter().map(|(key, value)| (key.to_string(), value)));
        });
    }
}

/// Guard of a shared call that has ended, or that nobody waits for any more.
struct FlightOver<'f> {
    toolbox: &'f Toolbox,
    key: &'f CacheKey,
    id: u64,
}

impl Drop for FlightOver<'_> {
    fn drop(&mut self) {
        self.toolbox.cache().landed(self.key, self.id);
    }
}

fn too_slow(tool: &Tool) -> ToolError {
    ToolError::unanswered(format!("no result within {} ms", tool.timeout.unwrap_or_default()))
}

fn panicked(panic: &(dyn std::any::Any + Send)) -> ToolError {
    let said = ptc_runtime::panic_text(panic);
    ToolError::unanswered(format!("the tool panicked: {}", data::head(said, 200)))
}
