//! Calls that may change something outside, each made once: the dispatch of tools asks the ledger before it sends one.

use crate::bridge;
use crate::tools::{Refusal, ToolAnswer, ToolError};
use ptc_bytecode::{Code, Datum, Effects, Node};
#[doc(inline)]
pub use ptc_effects::{
    Begun, EffectId, Entry, FileLedger, Filter, Forget, Intent, Ledger, LedgerError, LedgerFuture, Outcome,
    State, Verdict, new_run_id,
};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Largest answer that is kept in the ledger, in bytes of JSON.
const MAX_KEPT: usize = 1 << 20;

/// Largest size of shown arguments that are kept, in bytes of JSON.
const MAX_ARGS: usize = 64 << 10;

/// The ledger that a run writes its effects to, and the name of the run there.
#[derive(Clone, Debug)]
pub(crate) struct RunLedger {
    pub ledger: Arc<dyn Ledger>,
    pub run: Arc<str>,
}

/// A call's place in the ledger of its run.
#[derive(Clone, Debug)]
pub struct EffectSlot {
    ledger: Arc<dyn Ledger>,
    id: EffectId,
    line: Option<u32>,
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
    /// Effect of the tool.
    pub effect: Effects,
}

impl EffectSlot {
    pub(crate) fn new(of: &RunLedger, key: &str, line: Option<u32>) -> EffectSlot {
        EffectSlot {
            ledger: of.ledger.clone(),
            id: EffectId::new(&of.run, key),
            line,
            is_open: Arc::default(),
            said: Arc::default(),
        }
    }

    /// Makes the place of a call that no program makes, such as one that a model makes by itself. Its id must be the same
    /// when the call is made again.
    pub fn of(ledger: Arc<dyn Ledger>, id: EffectId) -> EffectSlot {
        EffectSlot { ledger, id, line: None, is_open: Arc::default(), said: Arc::default() }
    }

    /// Returns what the ledger said about the call: `sent`, `known`, `settled`, `unknown` or `diverged`. None for a call that
    /// it was not asked about, such as one that only reads.
    pub fn said(&self) -> Option<&'static str> {
        self.said.get().copied()
    }

    /// Returns what came of the call before, if the ledger knows it; None if it has to be made, or if nobody knows.
    /// For calls of which the tool cannot be reached now.
    pub async fn recalled(&self, tool: &str, args: &Datum) -> Option<Settled> {
        let entry = self.ledger.get(&self.id).await.ok().flatten()?;
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

    /// Returns the keyed hash of all arguments.
    fn hash(&self, args: &Datum) -> String {
        self.ledger.keyed_hash(&serde_json::to_vec(args.nodes()).unwrap_or_default())
    }

    /// Returns the id of the call.
    pub fn id(&self) -> &EffectId {
        &self.id
    }

    /// Makes a call, unless the ledger knows it: it is written down before `send` begins, and its outcome after. If the
    /// future is dropped in between, the ledger says that the outcome is unknown.
    pub async fn once(
        &self,
        call: EffectCall<'_>,
        send: impl Future<Output = Sent>,
    ) -> Result<Settled, ToolError> {
        let unusable = |error: LedgerError| ToolError::new(format!("nothing was sent: {error}"));
        let open = Open::new(self);
        let begun = self.ledger.begin(self.intent(&call)).await.map_err(unusable)?;
        let _ = self.said.set(begun.name());
        if !matches!(begun, Begun::Send { .. }) {
            open.close();
        }
        let attempt = match begun {
            Begun::Send { attempt } => attempt,
            Begun::Known(outcome) => return Ok(known(outcome)),
            Begun::Settled(answer) => return Ok(Settled::Said(answer)),
            Begun::Unknown { why } => return Ok(Settled::Unknown(why)),
            Begun::Diverged { tool } => return Err(self.diverged(call.tool, &tool)),
        };
        let sent = send.await;
        let (outcome, verdict) = match sent {
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
        };
        // The answer is there: if it cannot be written down, the ledger says "unknown", which is safe.
        let _ = self.ledger.end(&self.id, attempt, outcome).await;
        open.close();
        Ok(verdict)
    }

    /// Writes down that nobody waits for the call any more, if it has begun and has no outcome, and returns whether that is so.
    /// An answer that comes later still settles it.
    pub fn abandon(&self) -> bool {
        let is_open = self.is_open.load(Ordering::SeqCst);
        if is_open {
            self.ledger.abandon(&self.id, "its run ended before there was an answer");
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
        intent.args_hash = self.hash(call.args);
        intent.effect = call.effect.name().to_string();
        intent.line = self.line;
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

/// Returns arguments as people may see them: nothing of them if a part is firewalled.
pub(crate) fn shown_args(args: &Datum) -> Value {
    match args.veiled().is_empty() {
        true => bridge::datum_to_json(args).unwrap_or_else(|_| "#<no JSON>".into()),
        false => crate::FIREWALLED.into(),
    }
}
