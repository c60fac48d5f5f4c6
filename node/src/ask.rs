//! Questions to JavaScript from other threads: calls of tools in batches and missions, and requests to models.

use crate::packed::{Packed, pack};
use crate::reader;
use napi::Status;
use napi::bindgen_prelude::{FnArgs, Promise};
use napi::threadsafe_function::ThreadsafeFunction;
use napi_derive::napi;
use ptc::ToolError;
use ptc::runtime::{Datum, Frozen, ToolAnswer};
use std::sync::Arc;

/// A function of JavaScript that answers questions: it takes a name and arguments, and never rejects. Weak, so that it
/// does not keep the process alive.
pub type AskFunction = ThreadsafeFunction<Question, Promise<Reply>, Question, Status, false, true>;

type Question = FnArgs<(String, Packed)>;

/// What JavaScript tells of an error of a tool.
#[napi(object)]
pub struct ToolFailure {
    pub message: String,
    pub hint: Option<String>,
    /// True if the program called the tool in a wrong way.
    pub is_mistake: bool,
}

impl ToolFailure {
    /// Makes the error that a program sees.
    pub fn error(self) -> ToolError {
        let error =
            if self.is_mistake { ToolError::raise(self.message) } else { ToolError::new(self.message) };
        match self.hint {
            Some(hint) => error.hint(hint),
            None => error,
        }
    }
}

/// What JavaScript answers.
#[napi(object)]
pub struct Reply {
    pub value: Option<Packed>,
    pub failure: Option<ToolFailure>,
}

/// Asks JavaScript.
#[derive(Clone)]
pub struct Ask(Arc<AskFunction>);

impl Ask {
    pub fn new(function: AskFunction) -> Ask {
        Ask(Arc::new(function))
    }

    /// Calls a tool.
    pub async fn tool(&self, name: String, args: &Datum) -> Result<ToolAnswer, ToolError> {
        let reply = self.ask(name, pack(args)).await.map_err(ToolError::new)?;
        match (reply.value, reply.failure) {
            (_, Some(failure)) => Err(failure.error()),
            (Some(value), None) => frozen(&value).map(ToolAnswer::Frozen).map_err(ToolError::new),
            (None, None) => Err(ToolError::new("the tool gave no answer")),
        }
    }

    /// Asks a model with the JSON of a request; returns the JSON of its reply.
    pub async fn model(&self, request: String) -> Result<String, String> {
        let packed = Packed::new(Vec::new(), request);
        let reply = self.ask(String::new(), packed).await.map_err(|error| error.to_string())?;
        match (reply.value, reply.failure) {
            (_, Some(failure)) => Err(failure.message),
            (Some(value), None) => Ok(value.text),
            (None, None) => Err("the model gave no reply".to_string()),
        }
    }

    async fn ask(&self, name: String, packed: Packed) -> napi::Result<Reply> {
        self.0.call_async((name, packed).into()).await?.await
    }
}

fn frozen(value: &Packed) -> napi::Result<Frozen> {
    reader::frozen(value.numbers(), &value.text)
}
