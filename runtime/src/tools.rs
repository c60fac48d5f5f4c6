//! Tools: functions that a program may call besides the library. A tool is a Rust closure, blocking or async, that
//! takes one map and returns a value or an error.

use crate::bridge;
use crate::call::PendingCall;
use crate::effects::{EffectCall, EffectSlot, shown_args};
use crate::prelude::{Prelude, PreludeId};
use crate::shape::{Learned, Shape, ToolShape};
use ptc_bytecode::{Code, Datum, Effects, ExportRecord, Limits, ToolName};
use ptc_vm::{Fault, Frozen};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// The arguments of one tool call: a map with string keys.
#[derive(Clone, Debug)]
pub struct ToolArgs {
    datum: Datum,
    stated: Option<Effects>,
    max_answer_bytes: u64,
    slot: Option<EffectSlot>,
}

impl ToolArgs {
    /// Makes arguments from a map with string keys, for a host that calls its tools itself.
    pub fn new(datum: Datum) -> ToolArgs {
        ToolArgs { datum, stated: None, max_answer_bytes: Limits::default().granted_bytes, slot: None }
    }

    /// Returns the same call with other arguments.
    #[must_use]
    pub fn with_datum(&self, datum: Datum) -> ToolArgs {
        ToolArgs { datum, ..self.clone() }
    }

    /// Sets the maximum size of the result in bytes.
    #[must_use]
    pub fn answered_within(mut self, max_answer_bytes: u64) -> ToolArgs {
        self.max_answer_bytes = max_answer_bytes;
        self
    }

    /// Returns the maximum size of the result as data in bytes: `limits.granted_bytes` of the run. A larger result
    /// ends the run, so a tool that reads untrusted data stops there.
    pub fn max_answer_bytes(&self) -> u64 {
        self.max_answer_bytes
    }

    /// Sets the place of the call in the ledger of its run.
    #[must_use]
    pub fn recorded_in(mut self, slot: Option<&EffectSlot>) -> ToolArgs {
        self.slot = slot.cloned();
        self
    }

    /// Returns the place of the call in the ledger of its run, for tools that [write to it](Tools::records_itself) themselves.
    pub fn effect_slot(&self) -> Option<&EffectSlot> {
        self.slot.as_ref()
    }

    /// Sets the effect stated by the calling export: see [`PendingCall::stated_effect`].
    #[must_use]
    pub fn stating(mut self, effect: Option<Effects>) -> ToolArgs {
        self.stated = effect;
        self
    }

    /// Returns the effect of the call: the stronger of the tool's effect and the one the calling export states.
    pub fn effect(&self, of_tool: Effects) -> Effects {
        self.stated.map_or(of_tool, |stated| stated.max(of_tool))
    }

    /// Returns the arguments as owned data.
    pub fn datum(&self) -> &Datum {
        &self.datum
    }

    /// Returns the arguments as a Rust type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        bridge::from_datum(&self.datum).map_err(|error| ToolError::new(format!("bad arguments: {error}")))
    }

    /// Returns the arguments as JSON.
    pub fn json(&self) -> Result<serde_json::Value, ToolError> {
        bridge::datum_to_json(&self.datum).map_err(ToolError::new)
    }
}

/// The result of a tool.
#[derive(Clone, Debug)]
pub enum ToolAnswer {
    /// Owned data, copied into the run.
    Datum(Datum),
    /// Shared data, not copied: for large results, or ones given to many runs.
    Frozen(Frozen),
}

impl ToolAnswer {
    /// Makes a result from JSON text, read straight into data that runs share.
    ///
    /// ```
    /// let answer = ptc_runtime::ToolAnswer::from_json("[1, 2");
    /// assert!(answer.unwrap_err().to_string().contains("line 1, column 6"));
    /// ```
    pub fn from_json(text: impl AsRef<[u8]>) -> Result<ToolAnswer, ToolError> {
        // The size is checked later, against the limits of the run.
        crate::json::freeze_json(text, u64::MAX)
            .map(ToolAnswer::Frozen)
            .map_err(|error| ToolError::new(format!("the result is not valid JSON: {error}")))
    }

    /// Makes a result from anything that serialises.
    pub fn from_serialize<T: Serialize + ?Sized>(value: &T) -> Result<ToolAnswer, ToolError> {
        bridge::to_datum(value).map(ToolAnswer::Datum).map_err(ToolError::new)
    }
}

impl From<Datum> for ToolAnswer {
    fn from(datum: Datum) -> ToolAnswer {
        ToolAnswer::Datum(datum)
    }
}

impl From<Frozen> for ToolAnswer {
    fn from(frozen: Frozen) -> ToolAnswer {
        ToolAnswer::Frozen(frozen)
    }
}

/// An error of a tool; the program stops with `tool_error` and this text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    text: String,
    hint: Option<String>,
    /// True if the call itself was wrong: the text is then reported alone, as `runtime_error`.
    is_raised: bool,
    /// Question to be decided before the call is made.
    question: Option<Box<serde_json::Value>>,
    /// True if the call may have been made all the same.
    is_unanswered: bool,
    /// True if the ledger of the run does not know what came of the call.
    is_unknown: bool,
    /// Code of a fault that ends the program, which cannot catch it.
    stops: Option<Code>,
    /// Number of the write in a plan that the call became, instead of being sent.
    planned: Option<u64>,
    /// True if the call was not approved.
    is_denied: bool,
}

impl ToolError {
    /// Makes an error with this text.
    pub fn new(message: impl ToString) -> ToolError {
        ToolError {
            text: message.to_string(),
            hint: None,
            is_raised: false,
            question: None,
            is_unanswered: false,
            is_unknown: false,
            stops: None,
            planned: None,
            is_denied: false,
        }
    }

    /// Makes an error that ends the program with this code: it cannot catch it.
    pub(crate) fn stop(code: Code, message: impl ToString) -> ToolError {
        ToolError { stops: Some(code), ..ToolError::new(message) }
    }

    /// Marks a call that was listed in a plan instead of being sent: the program gets an unknown value as its answer.
    pub(crate) fn planned(write: u64) -> ToolError {
        let text = "the call is planned, and was not sent";
        ToolError { planned: Some(write), ..ToolError::new(text) }
    }

    /// Returns the number of the write in a plan that the call became, if it was not sent for that reason.
    pub fn planned_write(&self) -> Option<u64> {
        self.planned
    }

    /// Makes the error of a call that a policy or a person did not approve.
    pub fn denied(message: impl ToString) -> ToolError {
        ToolError { is_denied: true, ..ToolError::new(message) }
    }

    /// True if a policy or a person did not approve the call.
    pub fn is_denied(&self) -> bool {
        self.is_denied
    }

    /// Makes the error of a call that was sent and not answered, after a time limit for example: it may have had its effect. The
    /// ledger of a run, if it has one, keeps it from being sent again.
    pub fn unanswered(message: impl ToString) -> ToolError {
        ToolError { is_unanswered: true, ..ToolError::new(message) }
    }

    /// Makes the error of a call whose outcome the ledger does not know: programs see `outcome_unknown`.
    pub(crate) fn unknown(message: impl ToString) -> ToolError {
        ToolError { is_unknown: true, ..ToolError::new(message) }
    }

    /// Makes an error that is a mistake of the program: it stops with `runtime_error` and exactly this text.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, ToolError, Tools};
    /// let tools = Tools::new().with("get", |_| Err::<(), _>(ToolError::raise("no shelf 'x'").hint("shelves: a, b")));
    /// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
    /// let failure = runtime.eval("(tool/get {})", &Grants::new()).err().unwrap();
    /// assert_eq!((failure.reason(), &*failure.diagnostic().message), ("runtime_error", "no shelf 'x'"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn raise(message: impl ToString) -> ToolError {
        ToolError { is_raised: true, ..ToolError::new(message) }
    }

    /// Puts the call on hold until a decision is made: see [`until_held`](crate::until_held). A driver that cannot
    /// wait for it makes it an error of the tool.
    pub fn hold(question: serde_json::Value) -> ToolError {
        let text = "the call needs a decision, and nobody can be asked here";
        ToolError { question: Some(Box::new(question)), ..ToolError::new(text) }
    }

    /// Returns the question to be decided before the call is made, if it is on hold.
    pub fn question(&self) -> Option<&serde_json::Value> {
        self.question.as_deref()
    }

    /// True if the call may have been made all the same: see [`ToolError::unanswered`].
    pub fn is_unanswered(&self) -> bool {
        self.is_unanswered
    }

    /// Returns the text, the hint, and whether the call itself was wrong.
    pub(crate) fn parts(&self) -> (&str, Option<&str>, bool) {
        (&self.text, self.hint.as_deref(), self.is_raised)
    }

    /// Sets a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl ToString) -> ToolError {
        self.hint = Some(hint.to_string());
        self
    }

    /// Returns the fault with which a program stops when a call of `tool` fails with this error, unless it catches it.
    /// For hosts that keep what caused an error: [`Failure::diagnostic`](crate::Failure::diagnostic) has its message.
    ///
    /// ```
    /// let fault = ptc_runtime::ToolError::new("no such city").to_fault("weather");
    /// assert_eq!(fault.parts().message, "`tool/weather` failed: no such city");
    /// ```
    pub fn to_fault(&self, tool: &str) -> Fault {
        let fault = match self.stops {
            Some(code) => Fault::new(code, brief(&self.text)),
            None if self.is_raised => Fault::new(Code::RuntimeError, brief(&self.text)),
            None => {
                let code = if self.is_unknown { Code::OutcomeUnknown } else { Code::ToolError };
                Fault::new(code, format!("`tool/{tool}` failed: {}", brief(&self.text)))
            }
        };
        match &self.hint {
            Some(hint) => fault.hint(brief(hint)),
            None => fault,
        }
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for ToolError {}

/// The reason a call has no result.
#[derive(Clone, Debug)]
pub enum Refusal {
    /// An error of the tool; the program stops with `tool_error`.
    Error(ToolError),
    /// The tool was not called, or did not return; the program stops with this fault.
    Fault(Fault),
}

impl From<ToolError> for Refusal {
    fn from(error: ToolError) -> Refusal {
        match error.stops {
            Some(_) => Refusal::Fault(error.to_fault("")),
            None => Refusal::Error(error),
        }
    }
}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Refusal {
        Refusal::Fault(fault)
    }
}

/// The future an async tool returns: boxed, so that tools of all kinds fit one table.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolAnswer, ToolError>> + Send>>;

/// The function behind an async tool.
pub(crate) type AsyncBody = dyn Fn(ToolArgs) -> ToolFuture + Send + Sync;

/// The way a tool is called.
#[derive(Clone)]
pub(crate) enum Body {
    Blocking(Arc<dyn Fn(ToolArgs) -> Result<ToolAnswer, ToolError> + Send + Sync>),
    Async(Arc<AsyncBody>),
    /// Carried out by the host that drives the run.
    Elsewhere,
}

/// The tools granted to a run, by name.
///
/// ```
/// use ptc_runtime::Tools;
/// let tools = Tools::new()
///     .with("double", |args| {
///         let n: std::collections::HashMap<String, i64> = args.parse()?;
///         Ok(n["n"] * 2)
///     });
/// assert_eq!(tools.names().collect::<Vec<_>>(), ["double"]);
/// ```
#[derive(Clone, Default)]
pub struct Tools {
    bodies: BTreeMap<String, Body>,
    /// Tools that only preludes may call.
    private: BTreeMap<String, PrivateTool>,
    /// Effects of tools, as far as the host declared them.
    effects: Arc<BTreeMap<String, Effects>>,
    /// True if `call` receives keys as the program spells them.
    is_verbatim: bool,
    /// Tools that write to the ledger of a run themselves.
    recording: BTreeSet<String>,
    /// Redactions for the arguments and results of tools in ledgers.
    redacted: BTreeMap<String, Redact>,
    /// Observer of every call that was made.
    observer: Option<Observer>,
    /// Declared shapes of arguments and results.
    shapes: Arc<BTreeMap<String, ToolShape>>,
    /// Shapes learned from results of the other tools; shared by all clones.
    learned: Arc<Learned>,
}

/// A tool that only preludes may call.
#[derive(Clone)]
struct PrivateTool {
    /// Check of the arguments before a call.
    check: Check,
    /// Preludes it is for; empty for every prelude that the host attaches, except those out of a store.
    preludes: Vec<PreludeId>,
}

impl PrivateTool {
    fn unchecked() -> PrivateTool {
        PrivateTool { check: Arc::new(|_| Ok(())), preludes: Vec::new() }
    }

    /// True if exports in this namespace of the prelude may call it.
    fn is_for(&self, prelude: &Prelude, namespace: &str) -> bool {
        match self.preludes.is_empty() {
            true => PreludeId::default().fits(prelude, namespace),
            false => self.preludes.iter().any(|id| id.fits(prelude, namespace)),
        }
    }
}

/// A call that was made.
#[derive(Debug)]
pub struct SeenCall<'c> {
    /// The call.
    pub call: &'c PendingCall,
    /// Result, or the error as text: the tool's own, or the reason it was not called.
    pub answer: Result<&'c ToolAnswer, String>,
    /// Duration of the call.
    pub took: std::time::Duration,
}

type Observer = Arc<dyn Fn(&SeenCall<'_>) + Send + Sync>;

/// Redaction of arguments or a result for ledgers.
type Redact = Arc<dyn Fn(serde_json::Value) -> serde_json::Value + Send + Sync>;

/// Check of the arguments of a private tool before it is called; the error says what is wrong.
type Check = Arc<dyn Fn(&ToolArgs) -> Result<(), ToolError> + Send + Sync>;

impl Tools {
    /// Makes an empty set of tools.
    pub fn new() -> Tools {
        Tools::default()
    }

    /// Adds a tool that blocks while it works. Anything that serialises is a result.
    #[must_use]
    pub fn with<T: Serialize>(
        self,
        name: &str,
        tool: impl Fn(ToolArgs) -> Result<T, ToolError> + Send + Sync + 'static,
    ) -> Tools {
        self.with_answer(name, move |args| ToolAnswer::from_serialize(&tool(args)?))
    }

    /// Adds a blocking tool that builds its result itself, for shared data.
    #[must_use]
    pub fn with_answer(
        mut self,
        name: &str,
        tool: impl Fn(ToolArgs) -> Result<ToolAnswer, ToolError> + Send + Sync + 'static,
    ) -> Tools {
        self.insert(name, Body::Blocking(Arc::new(tool)));
        self
    }

    /// Adds an async tool. Anything that serialises is a result.
    #[must_use]
    pub fn with_async<T, F>(
        mut self,
        name: &str,
        tool: impl Fn(ToolArgs) -> F + Send + Sync + 'static,
    ) -> Tools
    where
        T: Serialize,
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let body = move |args: ToolArgs| -> ToolFuture {
            let answer = tool(args);
            Box::pin(async move { ToolAnswer::from_serialize(&answer.await?) })
        };
        self.insert(name, Body::Async(Arc::new(body)));
        self
    }

    /// Adds an async tool that builds its result itself.
    #[must_use]
    pub fn with_async_answer(
        mut self,
        name: &str,
        tool: impl Fn(ToolArgs) -> ToolFuture + Send + Sync + 'static,
    ) -> Tools {
        self.insert(name, Body::Async(Arc::new(tool)));
        self
    }

    /// Declares a tool that programs can name and whose calls are carried out by the host that drives the run: see
    /// [`Dispatch`](crate::Dispatch).
    #[must_use]
    pub fn declared(mut self, name: &str) -> Tools {
        self.insert(name, Body::Elsewhere);
        self
    }

    fn insert(&mut self, name: &str, body: Body) {
        if self.bodies.insert(name.to_string(), body).is_some() {
            // The name now means another tool.
            self.learned = Arc::default();
        }
    }

    /// Declares the arguments and the result of a tool, so that a program that reads missing fields, or passes
    /// arguments the tool refuses, gets an error or a warning before it runs. Without this, results are learned.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, Shape, ToolShape, Tools};
    /// use serde_json::json;
    /// let takes = json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]});
    /// let answers = json!({"type": "object", "properties": {"total": {"type": "number"}}, "additionalProperties": false});
    /// let shape = ToolShape::new(Shape::of_json_schema(&takes), Shape::of_json_schema(&answers));
    /// let tools = Tools::new().with("order", |_| Ok(json!({"total": 5}))).shaped("order", shape);
    /// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
    /// let wrong = |source| runtime.eval(source, &Grants::new()).err().unwrap().diagnostic().message.to_string();
    /// assert_eq!(wrong("(:totl (tool/order {:id 7}))"), "no map as the result of `tool/order` has `:totl`");
    /// let why = "`tool/order` refuses its arguments: it is called without `:id`, which it needs";
    /// assert_eq!(wrong("(tool/order {})"), why);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn shaped(mut self, name: &str, shape: ToolShape) -> Tools {
        Arc::make_mut(&mut self.shapes).insert(name.to_string(), shape);
        self
    }

    /// Returns the arguments and the result of a tool, as far as declared by the host or learned from results.
    pub fn shape_of(&self, name: &str) -> Option<ToolShape> {
        match self.shapes.get(name) {
            Some(shape) if **shape.answers() != Shape::Anything => Some(shape.clone()),
            Some(shape) => match self.learned.of(name) {
                Some(answers) => Some(ToolShape::new(shape.takes().clone(), answers)),
                None => Some(shape.clone()),
            },
            None => Some(ToolShape::new(Shape::Anything, self.learned.of(name)?)),
        }
    }

    /// Learns from the result of a tool without a declared one, for a host that carries out calls itself.
    pub fn learn(&self, name: &str, answer: &ToolAnswer) {
        let is_said = self.shapes.get(name).is_some_and(|shape| **shape.answers() != Shape::Anything);
        // Results of servers are learned by the code that knows the servers.
        if !is_said && name != ToolName::CALL {
            self.learned.look(name, answer);
        }
    }

    /// Reserves a tool for preludes: programs cannot name or see it, and it can be called only while an export that
    /// requires it is running. `check` sees the arguments first. Every prelude that the host attaches may call it,
    /// unless [`Tools::private_to`] names some; those out of a store never may, since a model may have written them.
    ///
    /// ```
    /// use ptc_runtime::{ToolError, Tools};
    /// let tools = Tools::new().with("store_write", |_| Ok(true)).private("store_write", |args| {
    ///     let args = args.json()?;
    ///     args["id"].is_string().then_some(()).ok_or(ToolError::new("`id` must be a string"))
    /// });
    /// assert_eq!(tools.names().count(), 0);
    /// assert_eq!(tools.private_names().collect::<Vec<_>>(), ["store_write"]);
    /// ```
    #[must_use]
    pub fn private(
        mut self,
        name: &str,
        check: impl Fn(&ToolArgs) -> Result<(), ToolError> + Send + Sync + 'static,
    ) -> Tools {
        self.private.entry(name.to_string()).or_insert_with(PrivateTool::unchecked).check = Arc::new(check);
        self
    }

    /// Reserves a tool for one prelude: the namespace of this name, or a match of a [`PreludeId`]. Repeatable; one
    /// match is enough. A prelude that needs the tool and matches none is not attached, and one out of a store
    /// never matches.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Grants, Prelude, Runtime, Tools};
    /// let tools = Tools::new().with("price", |_| Ok(5)).private_to("price", "shop");
    /// let runtime = Runtime::with_core(ptc_preludes::core())?.with_tools(tools);
    /// let attach = |source: &str| runtime.attach(&Prelude::compile(&runtime, source).unwrap(), &Attach::new());
    /// let shop = attach("(ns shop) (defn tea [] (tool/price {:of \"tea\"}))")?;
    /// assert_eq!(shop.eval("(shop/tea)", &Grants::new())?.print()?, "5");
    /// assert_eq!(attach("(ns other) (defn tea [] (tool/price {}))").err().unwrap().reason(), "prelude_attach_failed");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn private_to(mut self, name: &str, prelude: impl Into<PreludeId>) -> Tools {
        let kept = self.private.entry(name.to_string()).or_insert_with(PrivateTool::unchecked);
        kept.preludes.push(prelude.into());
        self
    }

    /// Declares the effect of calling a tool; without it the effect is unknown, which counts as a write.
    #[must_use]
    pub fn effect(mut self, name: &str, effect: Effects) -> Tools {
        Arc::make_mut(&mut self.effects).insert(name.to_string(), effect);
        self
    }

    /// Declares that a tool writes to the ledger of a run itself, with [`ToolArgs::effect_slot`]: it knows only during the
    /// call what that changes.
    #[must_use]
    pub fn records_itself(mut self, name: &str) -> Tools {
        self.recording.insert(name.to_string());
        self
    }

    /// Makes a call as `send` makes it; if it may change something and its run has a ledger, only if the ledger does not know it.
    /// Drivers call this; a host that carries out calls by hand should call it, too.
    pub async fn once(
        &self,
        call: &PendingCall,
        send: impl Future<Output = Result<ToolAnswer, Refusal>>,
    ) -> Result<ToolAnswer, Refusal> {
        let of_tool = self.effects.get(&call.name).copied().unwrap_or(Effects::Unknown);
        let effect = call.stated_effect().map_or(of_tool, |stated| stated.max(of_tool));
        let slot = call.slot.as_ref().filter(|_| effect.may_write() && !self.recording.contains(&call.name));
        let Some(slot) = slot else { return send.await };
        let shown = self.recorded(&call.name, shown_args(&call.args));
        let original = slot.original().cloned();
        let call =
            EffectCall { tool: &call.name, shown, args: &call.args, original, effect, must_ask: false };
        slot.made(call, send).await
    }

    pub(crate) fn effects(&self) -> &Arc<BTreeMap<String, Effects>> {
        &self.effects
    }

    /// Returns the first export that calls a private tool which is not for its prelude, with the name of the tool.
    pub(crate) fn kept_from<'p>(&self, prelude: &'p Prelude) -> Option<(usize, &'p str)> {
        if self.private.is_empty() {
            return None;
        }
        let is_kept = |(export, name): (&ExportRecord, &String)| {
            let kept = self.private.get(name).filter(|_| self.bodies.contains_key(name));
            kept.is_some_and(|kept| !kept.is_for(prelude, &export.namespace))
        };
        prelude.manifest().exports.iter().enumerate().find_map(|(index, export)| {
            let name = export.tool_refs.iter().find(|name| is_kept((export, name)))?;
            Some((index, name.as_str()))
        })
    }

    /// Passes `call` its arguments as the program spells them, including keywords: only the host knows how a server
    /// spells its keys. Other tools always get strings with `_`.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Node, Runtime, Tools};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let tools = Tools::new().with("call", |args| Ok(args.datum().nodes()[0] == Node::Keyword("user-id".into())));
    /// let eval = |tools| runtime.clone().with_tools(tools).eval("(tool/call {:user-id 7})", &Grants::new());
    /// assert_eq!(eval(tools.clone())?.print()?, "false");
    /// assert_eq!(eval(tools.verbatim())?.print()?, "true");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn verbatim(mut self) -> Tools {
        self.is_verbatim = true;
        self
    }

    /// Returns the arguments that a tool receives for a call.
    pub fn args(&self, call: &PendingCall) -> ToolArgs {
        let is_raw = call.name == ToolName::CALL && !self.is_verbatim;
        let datum = if is_raw { ptc_vm::host_args(&call.args) } else { call.args.clone() };
        ToolArgs::new(datum)
            .stating(call.stated_effect())
            .answered_within(call.max_answer_bytes)
            .recorded_in(call.slot.as_ref())
    }

    /// Sets the redaction of the arguments and the result of a tool in ledgers and traces.
    ///
    /// ```
    /// use ptc_runtime::Tools;
    /// use serde_json::json;
    /// let tools = Tools::new().with("login", |_| Ok(true)).redacted("login", |mut args| {
    ///     args["password"] = "…".into();
    ///     args
    /// });
    /// let args = json!({"user": "ada", "password": "secret"});
    /// assert_eq!(tools.recorded("login", args), json!({"user": "ada", "password": "…"}));
    /// assert_eq!(tools.recorded("other", json!(1)), json!(1));
    /// ```
    #[must_use]
    pub fn redacted(
        mut self,
        name: &str,
        redact: impl Fn(serde_json::Value) -> serde_json::Value + Send + Sync + 'static,
    ) -> Tools {
        self.redacted.insert(name.to_string(), Arc::new(redact));
        self
    }

    /// Sets an observer, which is called after every call, on the thread of that call.
    ///
    /// ```
    /// use ptc_runtime::{Grants, Runtime, Tools};
    /// use std::sync::{Arc, Mutex};
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let names = seen.clone();
    /// let tools = Tools::new()
    ///     .with("one", |_| Ok(1))
    ///     .observed(move |seen| names.lock().unwrap().push(seen.call.name.clone()));
    /// Runtime::with_core(ptc_preludes::core())?.with_tools(tools).eval("(tool/one {})", &Grants::new())?;
    /// assert_eq!(*seen.lock().unwrap(), ["one"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn observed(mut self, observer: impl Fn(&SeenCall<'_>) + Send + Sync + 'static) -> Tools {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Learns from the result, and calls the observer if there is one.
    pub(crate) fn tell(
        &self,
        call: &PendingCall,
        answer: &Result<ToolAnswer, Refusal>,
        since: std::time::Instant,
    ) {
        if let Ok(answer) = answer {
            self.learn(&call.name, answer);
        }
        let Some(observer) = &self.observer else { return };
        let answer = match answer {
            Ok(answer) => Ok(answer),
            Err(Refusal::Error(error)) => Err(error.to_string()),
            Err(Refusal::Fault(fault)) => Err(fault.parts().message.clone()),
        };
        observer(&SeenCall { call, answer, took: since.elapsed() });
    }

    /// Redacts the arguments or the result of a tool for a ledger or trace.
    pub fn recorded(&self, name: &str, value: serde_json::Value) -> serde_json::Value {
        match self.redacted.get(name) {
            Some(redact) => redact(value),
            None => value,
        }
    }

    /// Returns the names of the tools programs may call, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.bodies.keys().map(String::as_str).filter(|name| !self.private.contains_key(*name))
    }

    /// Returns the names of the tools only preludes may call, sorted.
    pub fn private_names(&self) -> impl Iterator<Item = &str> {
        self.private.keys().map(String::as_str).filter(|name| self.bodies.contains_key(*name))
    }

    /// True if a tool of that name is granted, to programs or to preludes.
    pub fn grants(&self, name: &str) -> bool {
        self.bodies.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Body> {
        self.bodies.get(name)
    }

    /// Checks that a call may be made: always for public tools, for private ones only on behalf of an export that
    /// declares it and with the right arguments. Drivers call this; a host that carries out calls by hand should call it, too.
    pub fn authorize(&self, call: &PendingCall) -> Result<(), Fault> {
        let Some(kept) = self.private.get(&call.name) else { return Ok(()) };
        let name = &call.name;
        let namespace =
            call.origin.as_deref().and_then(|origin| origin.split_once('/')).map(|(name, _)| name);
        let is_for = |prelude: &Prelude| namespace.is_some_and(|namespace| kept.is_for(prelude, namespace));
        // The tools of a run may differ from those its prelude was attached with.
        if !call.is_declared || !call.prelude.as_ref().is_some_and(is_for) {
            let message = format!("`tool/{name}` may only be called by a prelude that the host allows");
            return Err(Fault::new(Code::PrivateToolUnauthorized, message));
        }
        (kept.check)(&self.args(call)).map_err(|error| {
            let origin = call.origin.as_deref().unwrap_or("a prelude");
            let message =
                format!("`tool/{name}`, called by {origin}, refused its arguments: {}", brief(&error.text));
            Fault::new(Code::PrivateToolArgsError, message)
        })
    }
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// Cuts a text to fit a message.
fn brief(text: &str) -> String {
    const MOST: usize = 500;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…(+{} chars)", &text[..at], text[at..].chars().count()),
        None => text.to_string(),
    }
}

/// Makes the fault of a call to a tool nobody granted, which only a program compiled for other tools can make.
pub(crate) fn unknown_tool(name: &str, tools: &Tools) -> Fault {
    let granted: Vec<&str> = tools.names().collect();
    let list = if granted.is_empty() { "none".to_string() } else { granted.join(", ") };
    Fault::new(Code::UnknownTool, format!("there is no tool `{name}`; granted tools: {list}"))
}
