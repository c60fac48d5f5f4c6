//! What a call and the wire tell each other past the SDK.
//!
//! The SDK reads answers into its own types and knows errors of the protocol only. A ticket travels with a
//! request, in a field that is never sent; whoever reads the wire puts the answer into it as it came, or
//! why there is none, and how many bytes that took.

use crate::fault::{Fault, Reason};
use rmcp::model::RequestId;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One request that is on its way.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// How many bytes its answer may have.
    pub(crate) max_bytes: u64,
    /// Whether the SDK is to see the answer too: it learns from lists of tools which arguments are sent as
    /// headers.
    pub(crate) shown: bool,
    received: Mutex<WireAnswer>,
}

/// What has come for a request.
#[derive(Default, Debug)]
pub(crate) struct WireAnswer {
    pub(crate) result: Option<Box<RawValue>>,
    pub(crate) fault: Option<Fault>,
    pub(crate) wire_bytes: u64,
    pub(crate) http_status: Option<u16>,
}

impl Ticket {
    pub(crate) fn new(max_bytes: u64, shown: bool) -> Arc<Ticket> {
        Arc::new(Ticket { max_bytes, shown, received: Mutex::default() })
    }

    fn update(&self, change: impl FnOnce(&mut WireAnswer)) {
        change(&mut self.received.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The answer.
    pub(crate) fn answer(&self, result: Box<RawValue>) {
        self.update(|received| received.result = Some(result));
    }

    /// Why there is none. The first reason is the one that counts.
    pub(crate) fn fail(&self, reason: Reason, message: impl Into<String>) {
        let message = message.into();
        self.update(|received| {
            received.fault.get_or_insert_with(|| Fault::new(reason, message));
        });
    }

    /// Forgets a failure: the request is sent once more.
    #[cfg(feature = "http")]
    pub(crate) fn again(&self) {
        self.update(|received| received.fault = None);
    }

    pub(crate) fn count(&self, bytes: u64) {
        self.update(|received| received.wire_bytes += bytes);
    }

    #[cfg(feature = "http")]
    pub(crate) fn status(&self, status: u16) {
        self.update(|received| received.http_status = Some(status));
    }

    /// Whether there is an answer, or a reason why there is none.
    pub(crate) fn is_settled(&self) -> bool {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.result.is_some() || received.fault.is_some()
    }

    /// What has come by now.
    pub(crate) fn take(&self) -> WireAnswer {
        std::mem::take(&mut *self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Says that the answer is too long.
    pub(crate) fn too_large(&self) {
        let max = self.max_bytes;
        self.fail(
            Reason::ResponseTooLarge,
            format!("the answer has more than {max} bytes (max_response_bytes)"),
        );
    }
}

/// The requests nobody has answered yet. Answers to others are late, or made up, and are skipped.
#[derive(Default, Debug)]
pub(crate) struct Waiting(Mutex<HashMap<RequestId, Option<Weak<Ticket>>>>);

/// Who waits for an answer.
pub(crate) enum Waiter {
    /// The SDK itself.
    Sdk,
    /// A call of ours.
    Call(Arc<Ticket>),
}

/// When to look for calls that were given up without a word.
const SWEEP: usize = 256;

impl Waiting {
    pub(crate) fn expect(&self, id: RequestId, ticket: Option<&Arc<Ticket>>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= SWEEP {
            waiting.retain(|_, ticket| ticket.as_ref().is_none_or(|ticket| ticket.strong_count() > 0));
        }
        waiting.insert(id, ticket.map(Arc::downgrade));
    }

    /// Whoever waits for this id waits no longer. Some servers make strings of numbers.
    pub(crate) fn take(&self, id: &RequestId) -> Option<Waiter> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = match waiting.remove(id) {
            Some(found) => found,
            None => match id {
                RequestId::String(text) => waiting.remove(&RequestId::Number(text.parse().ok()?))?,
                RequestId::Number(_) => return None,
            },
        };
        match found {
            None => Some(Waiter::Sdk),
            Some(ticket) => ticket.upgrade().map(Waiter::Call),
        }
    }

    /// Whether somebody waits for it.
    #[cfg(feature = "http")]
    pub(crate) fn expects(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}
