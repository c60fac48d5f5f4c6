//! Calls that may change something outside, each made once: the dispatch of tools asks the ledger before it sends one.

mod approval;
mod oversight;
mod plan;

use crate::bridge;
use crate::tools::{Refusal, ToolAnswer, ToolError};
use approval::Consent;
pub use approval::{
    Answer, Answers, Approvals, Approver, Decision, Earlier, MAX_SHOWN_BYTES, Policy, Question,
    shown as shown_json,
};
pub use oversight::Oversight;
use plan::WriteCall;
pub use plan::{CarriedPlan, Plan, PlanEnd, PlanKey, PlannedWrite, Planner};
use ptc_bytecode::{Code, Datum, Effects, Node};
use ptc_effects::Book;
#[doc(inline)]
pub use ptc_effects::{
    Begun, EffectId, Entry, FileLedger, Filter, Forget, Intent, Ledger, LedgerError, LedgerFuture, Outcome,
    State, Verdict, new_run_id,
};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Largest answer that is kept in the ledger, in bytes of JSON.
const MAX_KEPT: usize = 1 << 20;

/// Largest size of shown arguments that are kept, in bytes of JSON.
const MAX_ARGS: usize = 64 << 10;

/// The oversight of a run, and the name of the run in ledgers and plans.
#[derive(Clone, Debug)]
pub(crate) struct RunEffects {
    pub oversight: Oversight,
    pub run: Arc<str>,
}

/// Place in a program that makes a call.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    /// Line and column, from 1.
    pub place: (u32, u32),
    /// Text of the line.
    pub code: String,
}

/// A call's place in its run, and the oversight of the run.
#[derive(Clone, Debug)]
pub struct EffectSlot {
    oversight: Oversight,
    id: EffectId,
    site: Option<CallSite>,
    /// Arguments that the program gave, if a person set others.
    original: Option<Datum>,
    /// True from the moment at which the ledger is asked until there is an outcome.
    is_open: Arc<AtomicBool>,
    /// What the ledger said when it was asked.
    said: Arc<OnceLock<&'static str>>,
}

/// What happened to a call that was sent, or not.
#[derive(Debug)]
pub enum Sent {
    /// The tool answered, with a value or an error.
    Answered(Result<ToolAnswer, ToolError>),
    /// Nothing was sent: the call was refused, or its tool cannot be reached.
    NotSent(Result<ToolAnswer, ToolError>),
    /// The call waits for a decision, and is made after it.
    Held(ToolError),
    /// Sent, and no answer came; holds what was seen instead.
    NoAnswer(String),
}

/// What the ledger says about a call.
#[derive(Debug)]
pub enum Settled {
    /// This answer was given before.
    Known(Result<ToolAnswer, ToolError>),
    /// An operator said that the call was made, and what its answer is to be.
    Said(Value),
    /// The call may have had its effect, and is not sent again; holds what is known.
    Unknown(String),
    /// Sent now, with what came of it.
    Sent(Result<ToolAnswer, ToolError>),
}

/// A call as the ledger records it.
#[derive(Debug)]
pub struct EffectCall<'c> {
    /// Name of the tool, or `server.tool`.
    pub tool: &'c str,
    /// Arguments as people may see them.
    pub shown: Value,
    /// All arguments, for their hash.
    pub args: &'c Datum,
    /// Arguments that the program gave, if a person set others.
    pub original: Option<Datum>,
    /// Effect of the tool.
    pub effect: Effects,
    /// True if a person has to approve the call, whatever the policy of the run says.
    pub must_ask: bool,
}

impl Sent {
    /// Returns what the ledger and the program are told.
    fn settled(self) -> (Outcome, Settled) {
        match self {
            Sent::Answered(Ok(answer)) => {
                let outcome = match kept(&answer) {
                    Some(answer) => Outcome::done(answer),
                    None => Outcome::Done { answer: Value::Null, is_dropped: true },
                };
                (outcome, Settled::Sent(Ok(answer)))
            }
            Sent::Answered(Err(error)) => {
                (Outcome::Failed { error: error_json(&error) }, Settled::Sent(Err(error)))
            }
            Sent::NotSent(answer) => {
                let error = match &answer {
                    Ok(answer) => json!({"answer": kept(answer)}),
                    Err(error) => error_json(error),
                };
                (Outcome::Refused { error }, Settled::Sent(answer))
            }
            Sent::Held(error) => (Outcome::Held, Settled::Sent(Err(error))),
            Sent::NoAnswer(why) => (Outcome::Unknown { why: why.clone() }, Settled::Unknown(why)),
        }
    }

    /// Returns the word for what became of the call.
    fn outcome(&self) -> &'static str {
        match self {
            Sent::Answered(Ok(_)) => "done",
            Sent::Answered(Err(_)) => "failed",
            Sent::NotSent(_) | Sent::Held(_) => "refused",
            Sent::NoAnswer(_) => "unknown",
        }
    }
}

impl EffectSlot {
    pub(crate) fn new(of: &RunEffects, key: &str, site: Option<CallSite>) -> EffectSlot {
        EffectSlot {
            oversight: of.oversight.clone(),
            id: EffectId::new(&of.run, key),
            site,
            original: None,
            is_open: Arc::default(),
            said: Arc::default(),
        }
    }

    /// Makes the place of a call that no program makes, such as one that a model makes by itself. Its id must be the same
    /// when the call is made again.
    pub fn of(oversight: &Oversight, id: EffectId) -> EffectSlot {
        let (site, original) = (None, None);
        let oversight = oversight.clone();
        EffectSlot { oversight, id, site, original, is_open: Arc::default(), said: Arc::default() }
    }

    /// Returns what the ledger said about the call: `sent`, `known`, `settled`, `unknown` or `diverged`. None for a call that
    /// it was not asked about, such as one that only reads.
    pub fn said(&self) -> Option<&'static str> {
        self.said.get().copied()
    }

    /// Returns what came of the call before, if the ledger knows it; None if it has to be made, or if nobody knows.
    /// For calls of which the tool cannot be reached now.
    pub async fn recalled(&self, tool: &str, args: &Datum) -> Option<Settled> {
        let entry = self.oversight.ledger.as_ref()?.get(&self.id).await.ok().flatten()?;
        let is_same = entry.intent.tool == tool && entry.intent.args_hash == self.hash(args);
        if !is_same {
            return None;
        }
        let _ = self.said.set("known");
        match entry.outcome {
            Some(Outcome::Done { answer, .. }) if entry.is_settled => Some(Settled::Said(answer)),
            Some(outcome @ (Outcome::Done { .. } | Outcome::Failed { .. })) => Some(known(outcome)),
            _ => None,
        }
    }

    /// Returns the hash of all arguments, with the key of the ledger if there is one.
    fn hash(&self, args: &Datum) -> String {
        self.oversight.hash(&serde_json::to_vec(args.nodes()).unwrap_or_default())
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &EffectId {
        &self.id
    }

    /// Returns the arguments that a person set for this call.
    pub(crate) fn edited(&self) -> Option<Map<String, Value>> {
        self.oversight.approvals.as_ref()?.edited_args(&self.id)
    }

    /// Records that a person set other arguments than these.
    pub(crate) fn instead_of(&mut self, original: Datum) {
        self.original = Some(original);
    }

    /// Returns the arguments that the program gave, if a person set others.
    pub fn original(&self) -> Option<&Datum> {
        self.original.as_ref()
    }

    /// True if the ledger holds the call, or a person approved it: then nobody makes it again by mistake.
    pub fn is_covered(&self) -> bool {
        let is_approved = |approvals: &Approvals| approvals.is_approved(&self.id);
        self.oversight.ledger.is_some() || self.oversight.approvals.as_ref().is_some_and(is_approved)
    }

    /// True if a person was asked about the call and has answered: it comes a second time then.
    pub fn is_answered(&self) -> bool {
        self.oversight.approvals.as_ref().is_some_and(|approvals| approvals.is_answered(&self.id))
    }

    /// True if a plan or a person decides about the call: see [`EffectSlot::once`].
    pub fn decides(&self) -> bool {
        self.oversight.planner.is_some() || self.oversight.approvals.is_some()
    }

    /// Decides about a call, and makes it unless it was made before: it is compared with the plan that the run carries out, or
    /// listed in the one that it makes; a person is asked if the policy says so; and it is written down before `send` begins, and
    /// its outcome after. If the future is dropped in between, the ledger says that the outcome is unknown.
    pub async fn once(
        &self,
        call: EffectCall<'_>,
        send: impl Future<Output = Sent>,
    ) -> Result<Settled, ToolError> {
        let unusable = |error: LedgerError| ToolError::new(format!("nothing was sent: {error}"));
        let intent = self.intent(&call);
        if self.oversight.decides_first() {
            // Nobody is asked about a call that is not made again, and its answer is known to a plan.
            if let Some(ledger) = &self.oversight.ledger
                && let Some(entry) = ledger.get(&self.id).await.map_err(unusable)?
            {
                let mut book = Book::default();
                entry.to_records().into_iter().try_for_each(|record| book.apply(record)).map_err(unusable)?;
                let begun = book.begin(&intent).0;
                if !matches!(begun, Begun::Send { .. }) {
                    let _ = self.said.set(begun.name());
                }
                if let Some(settled) = self.before(begun, call.tool)? {
                    // A plan that was carried out in part before has it, too.
                    let _ = self.follow_plan(&call);
                    return Ok(settled);
                }
            }
            self.follow_plan(&call)?;
            self.list(&call)?;
            self.ask(&call, &intent.args_hash)?;
        }
        let approvals = self.oversight.approvals.as_ref();
        let note = |sent: &Sent| {
            let approvals = approvals.filter(|_| !matches!(sent, Sent::Held(_)));
            approvals.iter().for_each(|approvals| approvals.note(call.tool, &call.shown, sent.outcome()));
        };
        let Some(ledger) = &self.oversight.ledger else {
            let sent = send.await;
            note(&sent);
            return Ok(sent.settled().1);
        };
        let open = Open::new(self);
        let begun = ledger.begin(intent).await.map_err(unusable)?;
        let _ = self.said.set(begun.name());
        let Begun::Send { attempt } = begun else {
            open.close();
            return self.before(begun, call.tool).map(|settled| {
                settled.unwrap_or_else(|| Settled::Unknown("the ledger changed".to_string()))
            });
        };
        let sent = send.await;
        note(&sent);
        let (outcome, verdict) = sent.settled();
        // The answer is there: if it cannot be written down, the ledger says "unknown", which is safe.
        let _ = ledger.end(&self.id, attempt, outcome).await;
        open.close();
        Ok(verdict)
    }

    /// Returns what the ledger has of a call; None if it is to be sent.
    fn before(&self, begun: Begun, tool: &str) -> Result<Option<Settled>, ToolError> {
        Ok(Some(match begun {
            Begun::Send { .. } => return Ok(None),
            Begun::Known(outcome) => known(outcome),
            Begun::Settled(answer) => Settled::Said(answer),
            Begun::Unknown { why } => Settled::Unknown(why),
            Begun::Diverged { tool: recorded } => return Err(self.diverged(tool, &recorded)),
        }))
    }

    /// Stops the run if this is not the call that its plan has here.
    fn follow_plan(&self, call: &EffectCall<'_>) -> Result<(), ToolError> {
        let Some(carried) = &self.oversight.carried else { return Ok(()) };
        carried.check(&self.write(call)).map_err(|why| {
            ToolError::stop(Code::PlanDiffers, format!("nothing was sent: {why}"))
                .hint("look at what the program does now, and make a new plan")
        })
    }

    /// Lists a call in the plan that the run makes, instead of sending it.
    fn list(&self, call: &EffectCall<'_>) -> Result<(), ToolError> {
        let Some(planner) = &self.oversight.planner else { return Ok(()) };
        let Some(number) = planner.add(&self.write(call)) else {
            return Err(ToolError::stop(Code::OutputExceeded, "the plan is larger than 32 MiB"));
        };
        Err(ToolError::planned(number))
    }

    /// Holds or refuses a call that needs approval.
    fn ask(&self, call: &EffectCall<'_>, hash: &str) -> Result<(), ToolError> {
        let Some(approvals) = &self.oversight.approvals else {
            return if call.must_ask { Err(ToolError::denied(Approvals::UNAVAILABLE)) } else { Ok(()) };
        };
        match approvals.consent(self.question(call), &whole_json(call.args), hash, call.must_ask) {
            Consent::Given => Ok(()),
            Consent::Asked(question) => Err(ToolError::hold(json!(question))),
            Consent::Refused(why) => {
                approvals.note(call.tool, &call.shown, "denied");
                Err(ToolError::denied(why))
            }
        }
    }

    fn question(&self, call: &EffectCall<'_>) -> Question {
        Question {
            id: self.id.clone(),
            tool: call.tool.to_string(),
            args: call.shown.clone(),
            effect: call.effect.name().to_string(),
            line: self.site.as_ref().map(|site| site.place.0),
            code: self.site.as_ref().map(|site| site.code.clone()),
            editable: Vec::new(),
            is_firewalled: !call.args.veiled().is_empty(),
        }
    }

    fn write<'c>(&'c self, call: &'c EffectCall<'_>) -> WriteCall<'c> {
        WriteCall {
            id: &self.id,
            tool: call.tool,
            shown: &call.shown,
            is_shown_whole: call.args.veiled().is_empty() && whole_json(call.args) == call.shown,
            args: call.args,
            effect: call.effect,
            place: self.site.as_ref().map(|site| site.place),
        }
    }

    /// Writes down that nobody waits for the call any more, if it has begun and has no outcome, and returns whether that is so.
    /// An answer that comes later still settles it.
    pub fn abandon(&self) -> bool {
        let is_open = self.is_open.load(Ordering::SeqCst);
        if is_open && let Some(ledger) = &self.oversight.ledger {
            ledger.abandon(&self.id, "its run ended before there was an answer");
        }
        is_open
    }

    /// Makes a call of a host's tool, unless the ledger knows it. A program sees an error if its outcome is unknown.
    pub async fn made(
        &self,
        call: EffectCall<'_>,
        send: impl Future<Output = Result<ToolAnswer, Refusal>>,
    ) -> Result<ToolAnswer, Refusal> {
        let mut stopped = None;
        let sent = async {
            match send.await {
                Ok(answer) => Sent::Answered(Ok(answer)),
                Err(Refusal::Error(error)) if error.question().is_some() => Sent::Held(error),
                Err(Refusal::Error(error)) if error.is_unanswered() => Sent::NoAnswer(error.to_string()),
                Err(Refusal::Error(error)) => Sent::Answered(Err(error)),
                Err(Refusal::Fault(fault)) => {
                    Sent::NoAnswer(stopped.insert(fault).parts().message.to_string())
                }
            }
        };
        let verdict = self.once(call, sent).await?;
        match (verdict, stopped) {
            (_, Some(fault)) => Err(fault.into()),
            (Settled::Known(answer) | Settled::Sent(answer), None) => answer.map_err(Refusal::from),
            (Settled::Said(answer), None) => answer_of(&answer).map_err(Refusal::from),
            (Settled::Unknown(why), None) => Err(self.unknown_outcome(&why).into()),
        }
    }

    fn intent(&self, call: &EffectCall<'_>) -> Intent {
        let shown = match call.shown.to_string().len() > MAX_ARGS {
            true => json!({"…": "more than 64 KiB of arguments"}),
            false => call.shown.clone(),
        };
        let mut intent = Intent::new(self.id.clone(), call.tool, shown);
        let given = call.original.as_ref().unwrap_or(call.args);
        intent.args_hash = self.hash(given);
        intent.effect = call.effect.name().to_string();
        intent.line = self.site.as_ref().map(|site| site.place.0);
        intent
    }

    /// Returns the error with which a program sees that a call has no known outcome.
    fn unknown_outcome(&self, why: &str) -> ToolError {
        ToolError::unknown(format!(
            "the outcome is unknown: {why}; it may have been done, so it is not sent again"
        ))
        .hint(format!("an operator who knows can settle it: `ptc effects settle {} done|not-done`", self.id))
    }

    fn diverged(&self, tool: &str, recorded: &str) -> ToolError {
        let what = match tool == recorded {
            true => format!("other arguments for `{tool}`"),
            false => format!("a call of `{recorded}`, not of `{tool}`"),
        };
        let message = format!("the ledger has {what} at this place of the run (effect `{}`)", self.id);
        let hint = "the program, its data or its answers differ from those of the first run; give a changed program a \
                    run of its own";
        ToolError::stop(Code::EffectDiverged, message).hint(hint)
    }
}

/// A call in progress.
struct Open<'s>(&'s EffectSlot);

impl<'s> Open<'s> {
    fn new(slot: &'s EffectSlot) -> Open<'s> {
        slot.is_open.store(true, Ordering::SeqCst);
        Open(slot)
    }

    /// The ledger has what is to be said about the call.
    fn close(&self) {
        self.0.is_open.store(false, Ordering::SeqCst);
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.abandon();
        self.close();
    }
}

/// Abandons a call that others carry on with, unless it is kept.
pub(crate) struct Waiting(pub Option<EffectSlot>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(slot) = &self.0 {
            slot.abandon();
        }
    }
}

/// Returns an answer as the ledger keeps it; None if it is too large.
fn kept(answer: &ToolAnswer) -> Option<Value> {
    let datum = match answer {
        ToolAnswer::Datum(datum) => datum.clone(),
        ToolAnswer::Frozen(frozen) => frozen.to_datum(MAX_KEPT).ok()?,
    };
    let nodes = serde_json::to_value(datum.nodes()).ok()?;
    if nodes.to_string().len() > MAX_KEPT {
        return None;
    }
    let mut kept = json!({"nodes": nodes});
    if !datum.veiled().is_empty() {
        kept["veiled"] = datum.veiled().into();
    }
    Some(kept)
}

/// Reads an answer of the ledger. An operator may have written plain JSON.
fn answer_of(kept: &Value) -> Result<ToolAnswer, ToolError> {
    let nodes = kept.get("nodes").and_then(|nodes| serde_json::from_value::<Vec<Node>>(nodes.clone()).ok());
    let Some(datum) = nodes.and_then(Datum::new) else {
        return ToolAnswer::from_json(kept.to_string());
    };
    let veiled = kept.get("veiled").and_then(|veiled| serde_json::from_value(veiled.clone()).ok());
    Ok(ToolAnswer::Datum(datum.with_veiled(veiled.unwrap_or_default())))
}

/// Returns an answer of the ledger as JSON, for people and other programs. Firewalled parts are hidden.
pub fn answer_json(kept: &Value) -> Value {
    match answer_of(kept) {
        Ok(ToolAnswer::Datum(datum)) => shown_args(&datum),
        _ => kept.clone(),
    }
}

fn error_json(error: &ToolError) -> Value {
    let (text, hint, is_raised) = error.parts();
    json!({"text": text, "hint": hint, "raised": is_raised})
}

fn error_of(kept: &Value) -> ToolError {
    let text = kept["text"].as_str().unwrap_or("the call failed");
    let error = match kept["raised"] == true {
        true => ToolError::raise(text),
        false => ToolError::new(text),
    };
    match kept["hint"].as_str() {
        Some(hint) => error.hint(hint),
        None => error,
    }
}

/// Returns what the run was told before.
fn known(outcome: Outcome) -> Settled {
    match outcome {
        Outcome::Done { is_dropped: true, .. } => {
            let error = ToolError::new("the call was done before, and its answer was too large to keep");
            Settled::Known(Err(error))
        }
        Outcome::Done { answer, .. } => Settled::Known(answer_of(&answer)),
        Outcome::Refused { error } if !error["answer"].is_null() => {
            Settled::Known(answer_of(&error["answer"]))
        }
        Outcome::Failed { error } | Outcome::Refused { error } => Settled::Known(Err(error_of(&error))),
        Outcome::Unknown { why } => Settled::Unknown(why),
        // The ledger sends such a call again.
        Outcome::Held => Settled::Unknown("it waits for a decision".to_string()),
    }
}

/// Returns a hash of these bytes.
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    plan::hex(&Sha256::digest(bytes))
}

/// Returns arguments as people may see them: firewalled parts are hidden.
pub fn shown_args(args: &Datum) -> Value {
    match args.veiled().is_empty() {
        true => whole_json(args),
        false => whole_json(&args.redacted(crate::FIREWALLED)),
    }
}

/// Returns arguments in full.
fn whole_json(args: &Datum) -> Value {
    bridge::datum_to_json(args).unwrap_or_else(|_| "#<no JSON>".into())
}
