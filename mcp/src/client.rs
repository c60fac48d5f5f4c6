//! Messages to a client while one of its requests is in progress: notifications and requests.

use crate::connection::Connection;
use crate::frame::Id;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Maximum number of messages a client has not read yet; further notifications are dropped.
pub(crate) const OUTBOX: usize = 64;

/// Sender of messages to a client.
pub type Outbox = mpsc::Sender<Value>;

/// The client of a request in progress. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Arc<Connection>,
    /// None if only the reply can be sent.
    out: Option<Outbox>,
}

/// Reason why a client has not answered a request.
#[derive(Clone, PartialEq, Debug)]
pub enum Unasked {
    /// The client cannot be asked: it reads only the reply, or is gone.
    Unreachable,
    /// The client replied with an error.
    Refused(Value),
}

impl Client {
    pub(crate) fn new(connection: Arc<Connection>, out: Option<Outbox>) -> Client {
        Client { connection, out }
    }

    /// Returns whether messages can be sent before the reply.
    pub fn is_reachable(&self) -> bool {
        self.out.as_ref().is_some_and(|out| !out.is_closed())
    }

    /// Sends a notification, or drops it if the client does not read: a slow client must not delay others.
    pub fn tell(&self, method: &str, params: Value) {
        if let Some(out) = &self.out {
            let _ = out.try_send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
    }

    /// Sends a request and waits for the reply, without a time limit. Dropping the future cancels the request
    /// at the client.
    pub async fn ask(&self, method: &str, params: Value) -> Result<Value, Unasked> {
        let out = self.out.as_ref().ok_or(Unasked::Unreachable)?;
        let (id, answered) = self.connection.expect_answer();
        let mut question = Question { client: self, id: id.clone(), is_open: true };
        let message = json!({"jsonrpc": "2.0", "id": id.to_json(), "method": method, "params": params});
        out.send(message).await.map_err(|_| Unasked::Unreachable)?;
        let answer = answered.await;
        question.is_open = false;
        answer.map_err(|_| Unasked::Unreachable)?.map_err(Unasked::Refused)
    }
}

/// A request to the client. If it is dropped before its reply, the client is told that it is cancelled.
struct Question<'c> {
    client: &'c Client,
    id: Id,
    is_open: bool,
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.client.connection.forget_answer(&self.id);
        if self.is_open {
            self.client.tell("notifications/cancelled", json!({"requestId": self.id.to_json()}));
        }
    }
}

/// Requests to the client that wait for their replies.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    asked: u64,
    waiting: std::collections::HashMap<Id, oneshot::Sender<Result<Value, Value>>>,
}

impl Questions {
    /// Opens a new request.
    pub fn open(&mut self) -> (Id, oneshot::Receiver<Result<Value, Value>>) {
        self.asked += 1;
        // Not a number: clients that number their own requests must not confuse the two.
        let id = Id::Text(format!("ptc-{}", self.asked));
        let (answer, answered) = oneshot::channel();
        self.waiting.insert(id.clone(), answer);
        (id, answered)
    }

    /// Passes on the reply to an open request; other replies are ignored.
    pub fn answer(&mut self, id: &Id, result: Result<Value, Value>) {
        if let Some(waiting) = self.waiting.remove(id) {
            let _ = waiting.send(result);
        }
    }

    pub fn close(&mut self, id: &Id) {
        self.waiting.remove(id);
    }
}

/// Capabilities that a client declares.
#[derive(Clone, Default, Debug)]
pub struct Capabilities(Map<String, Value>);

impl Capabilities {
    /// Reads the capabilities of a message.
    pub fn read(value: Option<&Value>) -> Capabilities {
        Capabilities(value.and_then(Value::as_object).cloned().unwrap_or_default())
    }

    /// Returns whether the client can show a form to its user. A missing mode means forms.
    ///
    /// ```
    /// use ptc_mcp::client::Capabilities;
    /// let says = |value: serde_json::Value| Capabilities::read(Some(&value)).has_forms();
    /// assert!(says(serde_json::json!({"elicitation": {}})));
    /// assert!(says(serde_json::json!({"elicitation": {"form": {}, "url": {}}})));
    /// assert!(!says(serde_json::json!({"elicitation": {"url": {}}})));
    /// assert!(!says(serde_json::json!({"sampling": {}})));
    /// ```
    pub fn has_forms(&self) -> bool {
        match self.0.get("elicitation") {
            Some(Value::Object(modes)) => modes.is_empty() || modes.contains_key("form"),
            _ => false,
        }
    }
}
