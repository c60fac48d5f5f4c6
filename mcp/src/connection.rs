//! One client: what was agreed on with it, and which of its requests are under way.

use crate::frame::{Id, RpcError};
use crate::protocol::Revision;
use crate::sessions::Owner;
use ptc_runtime::Cancel;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// One client, for as long as it stays.
#[derive(Debug)]
pub struct Connection {
    owner: Owner,
    state: Mutex<State>,
    /// Rung whenever a request is over.
    landed: Notify,
}

#[derive(Debug, Default)]
struct State {
    agreed: Option<Revision>,
    in_flight: HashMap<Id, Cancel>,
}

impl Connection {
    /// A client whose sessions belong to `owner`.
    pub fn new(owner: Owner) -> Arc<Connection> {
        Arc::new(Connection { owner, state: Mutex::default(), landed: Notify::new() })
    }

    /// Who the sessions of the client belong to.
    pub fn owner(&self) -> &Owner {
        &self.owner
    }

    /// What `initialize` agreed on.
    pub fn agreed(&self) -> Option<Revision> {
        self.state().agreed
    }

    /// Remembers what `initialize` agreed on.
    pub fn agree(&self, revision: Revision) {
        self.state().agreed = Some(revision);
    }

    /// Takes a request up. Refused if one of the same id is under way: its answer could not be told apart.
    pub fn begin(self: &Arc<Self>, id: &Id) -> Result<Flight, RpcError> {
        let mut state = self.state();
        if state.in_flight.contains_key(id) {
            let shown = crate::cut::chars(&id.to_string(), 80).0.to_string();
            let message = format!("Invalid Request: id {shown} is already in flight");
            return Err(RpcError::new(RpcError::INVALID_REQUEST, message));
        }
        let cancel = Cancel::new();
        state.in_flight.insert(id.clone(), cancel.clone());
        Ok(Flight { connection: self.clone(), id: id.clone(), cancel })
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
    id: Id,
    cancel: Cancel,
}

impl Flight {
    /// Whose it is.
    pub fn connection(&self) -> &Connection {
        &self.connection
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
