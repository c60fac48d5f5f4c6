//! State of one client: negotiated protocol and requests in progress.

use crate::client::{Capabilities, Client, OUTBOX, Outbox, Questions};
use crate::frame::{Id, RpcError};
use crate::protocol::Revision;
use crate::server::Level;
use crate::sessions::Owner;
use ptc_runtime::Cancel;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, oneshot};

/// Maximum number of streams open at once for one client, besides those of its requests.
const LISTENERS: usize = 4;

/// One connected client.
#[derive(Debug)]
pub struct Connection {
    owner: Owner,
    payer: Owner,
    state: Mutex<State>,
    /// Notified whenever a request ends.
    landed: Notify,
}

#[derive(Debug, Default)]
struct State {
    agreed: Option<Revision>,
    capabilities: Capabilities,
    log_level: Option<Level>,
    in_flight: HashMap<Id, Cancel>,
    questions: Questions,
    listeners: Vec<Outbox>,
}

impl Connection {
    /// Creates a client whose sessions and programs belong to `owner`.
    pub fn new(owner: Owner) -> Arc<Connection> {
        Connection::paid_by(owner.clone(), owner)
    }

    /// Creates a client whose sessions belong to `owner`, and whose programs count for `payer`, who may have
    /// more clients.
    pub fn paid_by(payer: Owner, owner: Owner) -> Arc<Connection> {
        Arc::new(Connection { owner, payer, state: Mutex::default(), landed: Notify::new() })
    }

    /// Returns the owner of the client's sessions.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Returns the owner that the client's programs count for in shared limits of slots and memory.
    pub fn payer(&self) -> &Owner {
        &self.payer
    }

    /// Returns the revision that `initialize` agreed on.
    pub fn agreed(&self) -> Option<Revision> {
        self.state().agreed
    }

    /// Returns the capabilities that the client declared in `initialize`.
    pub fn capabilities(&self) -> Capabilities {
        self.state().capabilities.clone()
    }

    /// Stores the result of `initialize`.
    pub fn agree(&self, revision: Revision, capabilities: Capabilities) {
        let mut state = self.state();
        (state.agreed, state.capabilities) = (Some(revision), capabilities);
    }

    /// Returns the lowest level of log messages that the client wants; None if it has not said.
    pub(crate) fn log_level(&self) -> Option<Level> {
        self.state().log_level
    }

    pub(crate) fn set_log_level(&self, level: Level) {
        self.state().log_level = Some(level);
    }

    /// Handles a client's reply to one of our requests.
    pub fn answered(&self, id: &Id, result: Result<Value, Value>) {
        self.state().questions.answer(id, result);
    }

    /// Opens a stream for messages that belong to no request; None if the client has the maximum number of streams.
    pub fn listen(&self) -> Option<mpsc::Receiver<Value>> {
        let (out, told) = mpsc::channel(OUTBOX);
        let listeners = &mut self.state().listeners;
        listeners.retain(|listener| !listener.is_closed());
        (listeners.len() < LISTENERS).then(|| {
            listeners.push(out);
            told
        })
    }

    /// Sends the client a notification that belongs to no request, on one of its streams; drops it if there are none.
    pub fn tell(&self, method: &str, params: Value) {
        let message = serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params});
        let mut state = self.state();
        state.listeners.retain(|listener| !listener.is_closed());
        if let Some(listener) = state.listeners.last() {
            let _ = listener.try_send(message);
        }
    }

    /// Ends the streams of the client.
    pub fn hang_up(&self) {
        self.state().listeners.clear();
    }

    pub(crate) fn expect_answer(&self) -> (Id, oneshot::Receiver<Result<Value, Value>>) {
        self.state().questions.open()
    }

    pub(crate) fn forget_answer(&self, id: &Id) {
        self.state().questions.close(id);
    }

    /// Begins a request; other messages until its reply go to `out`. Refused if a request with this id is in
    /// progress, because their replies could not be told apart.
    pub fn begin(self: &Arc<Self>, id: &Id, out: Option<Outbox>) -> Result<Flight, RpcError> {
        let mut state = self.state();
        if state.in_flight.contains_key(id) {
            let shown = crate::cut::chars(&id.to_string(), 80).0.to_string();
            let message = format!("Invalid Request: id {shown} is already in flight");
            return Err(RpcError::new(RpcError::INVALID_REQUEST, message));
        }
        let cancel = Cancel::new();
        state.in_flight.insert(id.clone(), cancel.clone());
        let client = Client::new(self.clone(), out);
        Ok(Flight { connection: self.clone(), client, id: id.clone(), cancel })
    }

    /// Returns the number of requests in progress.
    pub fn in_flight(&self) -> usize {
        self.state().in_flight.len()
    }

    /// Cancels a request; does nothing if it is not in progress.
    pub fn cancel(&self, id: &Id) {
        if let Some(cancel) = self.state().in_flight.get(id) {
            cancel.cancel();
        }
    }

    /// Cancels all requests.
    pub fn cancel_all(&self) {
        self.state().in_flight.values().for_each(Cancel::cancel);
    }

    /// Waits until no request is in progress.
    pub async fn idle(&self) {
        loop {
            let landed = self.landed.notified();
            if self.in_flight() == 0 {
                return;
            }
            landed.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in progress, which ends when this is dropped; its program then stops if it is still running.
#[derive(Debug)]
pub struct Flight {
    connection: Arc<Connection>,
    client: Client,
    id: Id,
    cancel: Cancel,
}

impl Flight {
    /// Returns the client's connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Returns the sender to the client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the flag that stops the request.
    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.connection.state().in_flight.remove(&self.id);
        self.connection.landed.notify_waiters();
    }
}
