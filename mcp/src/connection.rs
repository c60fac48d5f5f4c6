//! One client: what was agreed on with it, and which of its requests are under way.

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

/// Streams that one client may have open at once, besides those of its requests.
const LISTENERS: usize = 4;

/// One client, for as long as it stays.
#[derive(Debug)]
pub struct Connection {
    owner: Owner,
    payer: Owner,
    state: Mutex<State>,
    /// Rung whenever a request is over.
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
    /// A client whose sessions belong to `owner`, who also pays.
    pub fn new(owner: Owner) -> Arc<Connection> {
        Connection::paid_by(owner.clone(), owner)
    }

    /// A client whose sessions belong to `owner`, and whose programs count for somebody who may have more clients.
    pub fn paid_by(payer: Owner, owner: Owner) -> Arc<Connection> {
        Arc::new(Connection { owner, payer, state: Mutex::default(), landed: Notify::new() })
    }

    /// Who the sessions of the client belong to.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The owner that the client's programs count for, where clients share places and memory.
    pub fn payer(&self) -> &Owner {
        &self.payer
    }

    /// What `initialize` agreed on.
    pub fn agreed(&self) -> Option<Revision> {
        self.state().agreed
    }

    /// What the client can do, as it said in `initialize`.
    pub fn capabilities(&self) -> Capabilities {
        self.state().capabilities.clone()
    }

    /// Remembers what `initialize` agreed on.
    pub fn agree(&self, revision: Revision, capabilities: Capabilities) {
        let mut state = self.state();
        (state.agreed, state.capabilities) = (Some(revision), capabilities);
    }

    /// The least important thing that the client wants to hear of calls; None if it has not said.
    pub(crate) fn log_level(&self) -> Option<Level> {
        self.state().log_level
    }

    pub(crate) fn set_log_level(&self, level: Level) {
        self.state().log_level = Some(level);
    }

    /// The client answers a question of ours.
    pub fn answered(&self, id: &Id, result: Result<Value, Value>) {
        self.state().questions.answer(id, result);
    }

    /// A stream of what the client is told while it asks nothing; None if it has as many as it may.
    pub fn listen(&self) -> Option<mpsc::Receiver<Value>> {
        let (out, told) = mpsc::channel(OUTBOX);
        let listeners = &mut self.state().listeners;
        listeners.retain(|listener| !listener.is_closed());
        (listeners.len() < LISTENERS).then(|| {
            listeners.push(out);
            told
        })
    }

    /// Tells the client something that belongs to no request, on one of its streams; nothing if it has none.
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

    /// Takes a request up; what else the client is to hear until it is answered goes to `out`. Refused if one of the same
    /// id is under way: its answer could not be told apart.
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

    /// How many requests are under way.
    pub fn in_flight(&self) -> usize {
        self.state().in_flight.len()
    }

    /// Cancels a request; one that is not there, or not there any more, is nobody's loss.
    pub fn cancel(&self, id: &Id) {
        if let Some(cancel) = self.state().in_flight.get(id) {
            cancel.cancel();
        }
    }

    /// Cancels all requests.
    pub fn cancel_all(&self) {
        self.state().in_flight.values().for_each(Cancel::cancel);
    }

    /// Waits until no request is under way.
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

/// A request that is under way. Dropped, it is over; if that is before its end, the program stops.
#[derive(Debug)]
pub struct Flight {
    connection: Arc<Connection>,
    client: Client,
    id: Id,
    cancel: Cancel,
}

impl Flight {
    /// Whose it is.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The way back to who asked.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// What stops it.
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
