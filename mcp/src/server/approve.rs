//! Approval of calls: asking a person, and keeping the program meanwhile.
//!
//! Clients with a handshake are asked on the stream of the call (`elicitation/create`). Revisions without a
//! handshake have no such way: the call's result contains the question (`input_required`), and the client makes
//! the call again with the answers.

use super::Server;
use super::calling::{Answers, Calling};
use super::work::{CallOutcome, TOO_MANY_OPEN};
use crate::client::Unasked;
use crate::frame::RpcError;
use crate::pending::PendingProgram;
use crate::reason::Reason;
use crate::reply::Payload;
use crate::sessions::Owner;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ptc_runtime::Reservation;
use ptc_upstream::{ApprovalRequest, Verdict};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of programs waiting for clients.
const MOST: usize = 64;

/// Reason for denying a program's requests because too many programs wait.
const TOO_MANY: &str = "too many programs are waiting for approval";

/// Result of asking for approval.
pub enum Decision {
    /// The answers are known.
    Now(Vec<Verdict>),
    /// The client asks and makes the call again.
    ByClient,
}

/// Fingerprint of a call: only an identical call of the same owner continues a program.
#[derive(PartialEq, Eq)]
pub struct CallFingerprint([u8; 32]);

impl CallFingerprint {
    pub fn new(tool: &str, args: &Map<String, Value>, owner: &Owner) -> CallFingerprint {
        let mut hash = Sha256::new();
        hash.update(owner.bytes());
        hash.update(tool);
        hash.update([0]);
        // A value in memory can always be written.
        hash.update(serde_json::to_vec(args).unwrap_or_default());
        CallFingerprint(hash.finalize().into())
    }
}

/// Programs waiting for a person, whom the client asks.
#[derive(Default)]
pub struct Parking(Mutex<HashMap<String, Parked>>);

struct Parked {
    fingerprint: CallFingerprint,
    until: Instant,
    waiting: PendingProgram,
    /// Memory reserved for it in the budget of all programs.
    reserved: Reservation,
}

impl Parking {
    fn parked(&self) -> MutexGuard<'_, HashMap<String, Parked>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops programs whose person took too long.
    pub fn sweep(&self) {
        let now = Instant::now();
        let over: Vec<Parked> =
            self.parked().extract_if(|_, program| program.until <= now).map(|(_, program)| program).collect();
        // Dropped without the lock: freeing sessions must not delay other calls.
        drop(over);
    }

    /// Takes the program that waits for this answer, if it belongs to this call. It can be taken once.
    fn take(&self, state: &str, fingerprint: &CallFingerprint) -> Option<(PendingProgram, Reservation)> {
        let mut parked = self.parked();
        let is_here = parked
            .get(state)
            .is_some_and(|program| program.fingerprint == *fingerprint && program.until > Instant::now());
        if !is_here {
            return None;
        }
        parked.remove(state).map(|program| (program.waiting, program.reserved))
    }

    /// Keeps a program; returns it if there is no room.
    fn put(&self, state: String, program: Parked) -> Result<(), PendingProgram> {
        let mut parked = self.parked();
        if parked.len() >= MOST {
            return Err(program.waiting);
        }
        parked.insert(state, program);
        Ok(())
    }
}

impl Server {
    fn approval_timeout(&self) -> Duration {
        Duration::from_millis(self.0.parts.settings.approval_timeout_ms)
    }

    /// Reserves memory for a program that must wait; None if its payer has not enough left.
    pub(super) fn reserve_waiting(&self, waiting: &PendingProgram, payer: &Owner) -> Option<Reservation> {
        let mut reserved = self.0.memory.of(payer).reserve();
        reserved.set(waiting.bytes()).then_some(reserved)
    }

    /// Asks the client for approval, if it can be asked.
    pub(super) async fn decide(&self, requests: &[ApprovalRequest], calling: &Calling<'_>) -> Decision {
        if !calling.capabilities.has_forms() {
            let why = "the call needs a person's approval, but this client cannot ask for it (it does not \
                       support elicitation)";
            return Decision::Now(vec![denial(why); requests.len()]);
        }
        if requests.iter().all(|request| request.unaskable_by_client().is_some()) {
            let denied = requests.iter().filter_map(ApprovalRequest::unaskable_by_client).map(denial);
            return Decision::Now(denied.collect());
        }
        if calling.revision.is_modern() {
            return Decision::ByClient;
        }
        let mut verdicts = Vec::new();
        for request in requests {
            verdicts.push(self.ask(request, calling).await);
        }
        Decision::Now(verdicts)
    }

    async fn ask(&self, request: &ApprovalRequest, calling: &Calling<'_>) -> Verdict {
        if let Some(why) = request.unaskable_by_client() {
            return denial(why);
        }
        let within = self.approval_timeout();
        let asked = calling.flight.client().ask("elicitation/create", question(request));
        tokio::select! {
            answered = tokio::time::timeout(within, asked) => match answered {
                Ok(Ok(answer)) => verdict(&answer),
                Ok(Err(Unasked::Unreachable)) => Verdict::Denied(Verdict::UNAVAILABLE.to_string()),
                Ok(Err(Unasked::Refused(_))) => denial("the client could not ask for approval"),
                Err(_) => denial(format!("nobody approved the call within {} ms", within.as_millis())),
            },
            () = calling.flight.cancel().cancelled() => denial("the call was cancelled"),
            never = calling.report(within, || "waiting for approval".to_string()) => match never {},
        }
    }

    /// Keeps a program until its client has asked; returns the question for the client. Without room, returns
    /// the program to continue, denied.
    pub(super) fn park(
        &self,
        waiting: PendingProgram,
        reserved: Reservation,
        calling: &Calling<'_>,
        fingerprint: Option<CallFingerprint>,
    ) -> Result<Map<String, Value>, (PendingProgram, Vec<Verdict>)> {
        let mut random = [0; 24];
        let (Some(fingerprint), Ok(())) = (fingerprint, getrandom::fill(&mut random)) else {
            let verdicts = denied(&waiting, Verdict::UNAVAILABLE);
            return Err((waiting, verdicts));
        };
        let state = format!("ptcw_{}", URL_SAFE_NO_PAD.encode(random));
        let asks: Map<String, Value> = waiting
            .requests()
            .enumerate()
            .filter(|(_, request)| request.unaskable_by_client().is_none())
            .map(|(n, request)| {
                let asked = json!({"method": "elicitation/create", "params": question(request)});
                (name(n), asked)
            })
            .collect();
        let no_room = |waiting: PendingProgram| {
            let verdicts = denied(&waiting, TOO_MANY);
            (waiting, verdicts)
        };
        let until = Instant::now() + self.approval_timeout();
        let program = Parked { fingerprint, until, waiting, reserved };
        self.0.parking.put(state.clone(), program).map_err(no_room)?;
        tracing::debug!(waiting = asks.len(), revision = calling.revision.name(), "approval.asked");
        let mut result = Map::new();
        result.insert("resultType".to_string(), json!("input_required"));
        result.insert("inputRequests".to_string(), Value::Object(asks));
        result.insert("requestState".to_string(), json!(state));
        Ok(result)
    }

    /// Handles a call that is made again with a person's answers.
    pub(super) async fn answered_call(
        &self,
        answers: Answers,
        fingerprint: Option<CallFingerprint>,
        calling: &Calling<'_>,
    ) -> Result<CallOutcome, RpcError> {
        // First, so that the program stays in place if no further call may be open.
        let Some(open) = self.0.open.of(calling.flight.connection().payer()) else {
            return Ok(CallOutcome::Finished(Payload::error(Reason::Busy, TOO_MANY_OPEN)));
        };
        let waiting =
            fingerprint.as_ref().and_then(|fingerprint| self.0.parking.take(&answers.state, fingerprint));
        let Some((waiting, reserved)) = waiting else {
            let message =
                "Invalid params: no call is waiting for this `requestState`; make the call without it";
            return Err(RpcError::new(RpcError::INVALID_PARAMS, message));
        };
        let verdicts: Vec<Verdict> = waiting
            .requests()
            .enumerate()
            .map(|(n, request)| match (request.unaskable_by_client(), answers.responses.get(&name(n))) {
                // Such a call was never asked about, whatever the client says.
                (Some(why), _) => denial(why),
                (None, Some(answer)) => verdict(answer),
                (None, None) => denial("there was no answer to the question whether the call may be made"),
            })
            .collect();
        let Some(program) = self.next_slot(calling.flight).await else {
            return Ok(CallOutcome::Finished(Payload::cancelled()));
        };
        let left = waiting.left();
        drop(reserved);
        let job = Box::new(move |scope| waiting.go_on(verdicts, scope));
        self.see_through(program, open, calling, job, left, fingerprint).await
    }
}

/// Returns the key of a question among those of one call.
fn name(n: usize) -> String {
    format!("approve-{}", n + 1)
}

fn denial(why: impl Into<String>) -> Verdict {
    Verdict::Denied(why.into())
}

/// Builds the denials for a program for which there is no memory while it waits.
pub(super) fn denied_for_room(waiting: &PendingProgram) -> Vec<Verdict> {
    denied(waiting, TOO_MANY)
}

fn denied(waiting: &PendingProgram, why: &str) -> Vec<Verdict> {
    vec![denial(why); waiting.requests().len()]
}

/// Builds the form shown to a person.
fn question(request: &ApprovalRequest) -> Value {
    let args = request.shown_args();
    let gap = if args.contains('\n') { "\n" } else { " " };
    json!({
        "mode": "form",
        "message": format!("A program wants to call {} of the server {} with{gap}{args}", request.tool, request.server),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": {"type": "boolean", "title": "Allow this call", "default": false},
            },
            "required": ["approve"],
        },
    })
}

/// Reads a person's answer: only an explicit yes approves.
fn verdict(answer: &Value) -> Verdict {
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") if answer["content"]["approve"] == true => Verdict::Approved,
        Some("accept") => denial("the person did not tick \"Allow this call\""),
        Some("decline") => denial("a person declined the call"),
        Some("cancel") => denial("the question was closed without an answer"),
        _ => denial("the client's answer could not be read"),
    }
}
