//! Data passed between a call and the wire, bypassing the SDK.
//!
//! The SDK parses replies into its own types and knows only protocol errors. A ticket travels with a request,
//! in a field that is never sent; the code that reads the wire puts the raw reply into it, or the fault, and
//! the number of bytes received.

use crate::fault::{Fault, Reason};
use rmcp::model::RequestId;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One request in flight.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// Maximum size of its reply, in bytes.
    pub(crate) max_bytes: u64,
    /// True if the SDK must see the reply too: from lists of tools it learns which arguments are sent as headers.
    pub(crate) shown: bool,
    received: Mutex<WireAnswer>,
}

/// Data received for a request.
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

    /// Sets the reply.
    pub(crate) fn answer(&self, result: Box<RawValue>) {
        self.update(|received| received.result = Some(result));
    }

    /// Sets the fault. Only the first one counts.
    pub(crate) fn fail(&self, reason: Reason, message: impl Into<String>) {
        let message = message.into();
        self.update(|received| {
            received.fault.get_or_insert_with(|| Fault::new(reason, message));
        });
    }

    /// Clears the fault, because the request is sent once more.
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

    /// Returns whether there is a reply or a fault.
    pub(crate) fn is_settled(&self) -> bool {
        let received = self.received.lock().unwrap_or_else(PoisonError::into_inner);
        received.result.is_some() || received.fault.is_some()
    }

    /// Takes the data received so far.
    pub(crate) fn take(&self) -> WireAnswer {
        std::mem::take(&mut *self.received.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets the fault of a reply that is too long.
    pub(crate) fn too_large(&self) {
        let max = self.max_bytes;
        self.fail(
            Reason::ResponseTooLarge,
            format!("the reply has more than {max} bytes (max_response_bytes)"),
        );
    }
}

/// Requests without a reply so far. Replies to other ids are late or made up, and are skipped.
#[derive(Default, Debug)]
pub(crate) struct Waiting(Mutex<HashMap<RequestId, Option<Weak<Ticket>>>>);

/// Receiver of a reply.
pub(crate) enum Waiter {
    /// The SDK itself.
    Sdk,
    /// One of our calls.
    Call(Arc<Ticket>),
}

/// Number of requests from which abandoned calls are removed.
const SWEEP: usize = 256;

impl Waiting {
    pub(crate) fn expect(&self, id: RequestId, ticket: Option<&Arc<Ticket>>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() >= SWEEP {
            waiting.retain(|_, ticket| ticket.as_ref().is_none_or(|ticket| ticket.strong_count() > 0));
        }
        waiting.insert(id, ticket.map(Arc::downgrade));
    }

    /// Removes and returns the waiter for an id. Some servers turn numbers into strings.
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

    /// Returns whether a reply to this id is expected.
    #[cfg(feature = "http")]
    pub(crate) fn expects(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }
}
