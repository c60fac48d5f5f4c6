//! The way back to a client while one of its requests is under way: what it is told, and what it is asked.

use crate::connection::Connection;
use crate::frame::Id;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// Messages that a client has not read yet; then it is told no more until it has.
pub(crate) const OUTBOX: usize = 64;

/// Where messages to a client go.
pub type Outbox = mpsc::Sender<Value>;

/// The client whose request is under way. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Client {
    connection: Arc<Connection>,
    /// None if nothing but the answer can be sent.
    out: Option<Outbox>,
}

/// Why a client has not answered.
#[derive(Clone, PartialEq, Debug)]
pub enum Unasked {
    /// It cannot be asked: it reads nothing but the answer, or is gone.
    Unreachable,
    /// It answered with an error.
    Refused(Value),
}

impl Client {
    pub(crate) fn new(connection: Arc<Connection>, out: Option<Outbox>) -> Client {
        Client { connection, out }
    }

    /// Whether it can be told anything before the answer.
    pub fn is_reachable(&self) -> bool {
        self.out.as_ref().is_some_and(|out| !out.is_closed())
    }

    /// Tells it something. A client that does not read is told less, and holds up nobody.
    pub fn tell(&self, method: &str, params: Value) {
        if let Some(out) = &self.out {
            let _ = out.try_send(json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
    }

    /// Asks it something and waits for the answer, however long that takes. Dropped, the question is taken back.
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

/// A question that waits. Dropped before its answer, the client is told that nobody wants it any more.
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

/// Questions that wait for their answers.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    asked: u64,
    waiting: std::collections::HashMap<Id, oneshot::Sender<Result<Value, Value>>>,
}

impl Questions {
    /// A new question.
    pub fn open(&mut self) -> (Id, oneshot::Receiver<Result<Value, Value>>) {
        self.asked += 1;
        // No number: clients that count their own requests must not take one for the other.
        let id = Id::Text(format!("ptc-{}", self.asked));
        let (answer, answered) = oneshot::channel();
        self.waiting.insert(id.clone(), answer);
        (id, answered)
    }

    /// The answer to one of them; an answer to nothing is nobody's loss.
    pub fn answer(&mut self, id: &Id, result: Result<Value, Value>) {
        if let Some(waiting) = self.waiting.remove(id) {
            let _ = waiting.send(result);
        }
    }

    pub fn close(&mut self, id: &Id) {
        self.waiting.remove(id);
    }
}

/// What a client can do, as it says.
#[derive(Clone, Default, Debug)]
pub struct Capabilities(Map<String, Value>);

impl Capabilities {
    /// As they stand in a message.
    pub fn read(value: Option<&Value>) -> Capabilities {
        Capabilities(value.and_then(Value::as_object).cloned().unwrap_or_default())
    }

    /// Whether it can put a form before its user. Saying nothing about the mode means forms.
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
