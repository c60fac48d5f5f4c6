//! Clients of providers, over HTTP.
//!
//! Each wire format is a pure translation ([`anthropic`], [`chat`], [`responses`], [`gemini`], [`ollama`]): a request
//! to a body, a body or events to a reply. [`send`] is the only code that touches the network.

mod anthropic;
mod bounds;
mod chat;
mod continuation;
mod errors;
mod gemini;
mod lines;
mod ollama;
mod options;
mod pieces;
mod responses;
mod send;
mod wire;

pub use options::{Api, HttpOptions};

use crate::retry::now;
use crate::stream::{Chunk, ChunkSink};
use crate::{
    Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Part, Pricing, Role, Tokens,
};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::Wire;

/// What only the client itself may put in a request.
const OWN: [&str; 14] = [
    "model",
    "messages",
    "input",
    "instructions",
    "system",
    "tools",
    "stream",
    "stream_options",
    "response_format",
    "text",
    "output_config",
    "contents",
    "systemInstruction",
    "format",
];

/// The format that an API speaks.
fn wire(api: Api) -> &'static dyn Wire {
    match api {
        Api::Anthropic => &anthropic::Messages,
        Api::Chat => &chat::Chat { compatible: false },
        Api::Compatible => &chat::Chat { compatible: true },
        Api::Responses => &responses::Responses,
        Api::Gemini => &gemini::Gemini,
        Api::Ollama => &ollama::Ollama,
    }
}

/// A model of a provider. Its calls need a tokio runtime with time and I/O.
#[derive(Clone, Debug)]
pub struct HttpModel {
    options: HttpOptions,
    http: send::Http,
    refuses: Arc<Refuses>,
}

/// What the server has refused so far, and is not asked for again.
#[derive(Debug, Default)]
struct Refuses {
    schemas: AtomicBool,
    continuations: AtomicBool,
}

/// A reply, and whether its text was shown as it arrived.
struct Answer {
    reply: LlmResponse,
    is_shown: bool,
}

impl HttpModel {
    /// A client with these options. Nothing is sent yet. If the process has no cryptography for TLS
    /// (`rustls::crypto::CryptoProvider`), it has `ring` from now on.
    pub fn new(options: HttpOptions) -> Result<HttpModel, LlmError> {
        Ok(HttpModel {
            http: send::Http::new(&options, wire(options.api))?,
            options,
            refuses: Arc::default(),
        })
    }

    /// Whether the format can say all that messages hold. What a single model cannot see, its provider says.
    fn check_parts(&self, request: &LlmRequest) -> Result<(), LlmError> {
        let takes_documents = wire(self.options.api).takes_documents();
        for message in request.messages.iter().filter(|message| !message.parts.is_empty()) {
            if message.role != Role::User {
                let message =
                    "only messages of the user hold images and documents; give them with the next one";
                return Err(LlmError::unsupported(message));
            }
            let document = message.parts.iter().find_map(|part| match part {
                Part::Document { name, .. } if !takes_documents => Some(name),
                _ => None,
            });
            if let Some(name) = document {
                return Err(LlmError::unsupported(format!(
                    "`{}` takes images, but no documents; give the text of `{name}` in words, or ask a model of another \
                     provider",
                    self.options.model
                )));
            }
        }
        Ok(())
    }

    fn body(&self, request: &LlmRequest, stream: bool) -> Result<Map<String, Value>, LlmError> {
        let wire = wire(self.options.api);
        let mut body = wire.body(&self.options, request, stream);
        if let Some(tokens) = self.options.max_tokens {
            set(&mut body, wire, wire.max_tokens(), tokens.into());
        }
        if let Some(temperature) = self.options.temperature {
            set(&mut body, wire, "temperature", temperature.into());
        }
        for (name, value) in &request.llm_opts {
            match name.as_str() {
                own if OWN.contains(&own) => {
                    let message =
                        format!("`llm_opts` cannot set `{own}`: the client fills it from the request");
                    return Err(LlmError::unsupported(message));
                }
                "max_tokens" => set(&mut body, wire, wire.max_tokens(), value.clone()),
                "temperature" => set(&mut body, wire, name, value.clone()),
                _ => match (body.get_mut(name), value) {
                    // The client has fields of its own in there.
                    (Some(Value::Object(own)), Value::Object(more)) => own.extend(more.clone()),
                    _ => {
                        body.insert(name.clone(), value.clone());
                    }
                },
            }
        }
        Ok(body)
    }

    /// One reply. A server that refuses the schema is asked once more without it: the answer is checked anyway.
    async fn ask(&self, request: &LlmRequest, sink: Option<&ChunkSink>) -> Result<Answer, LlmError> {
        let mut body = self.body(request, sink.is_some())?;
        let wire = wire(self.options.api);
        if !self.options.json_schema || self.refuses.schemas.load(Ordering::Relaxed) {
            wire.drop_schema(&mut body);
        }
        let error = match self.send(&body, sink).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        if !is_refusal(&error) || !wire.drop_schema(&mut body) {
            return Err(error);
        }
        let mut answer = self.send(&body, sink).await.map_err(|mut error| {
            error.retries += 1;
            error
        })?;
        self.refuses.schemas.store(true, Ordering::Relaxed);
        answer.reply.retries += 1;
        Ok(answer)
    }

    /// One request.
    async fn send(&self, body: &Map<String, Value>, sink: Option<&ChunkSink>) -> Result<Answer, LlmError> {
        let wire = wire(self.options.api);
        let (mut reply, is_shown) = match sink {
            None => (self.http.whole(wire, &self.options, body).await?, false),
            Some(sink) => self.http.stream(wire, &self.options, body, sink).await?,
        };
        reply = bounds::check(reply)?;
        reply.tokens = self.priced(reply.tokens);
        Ok(Answer { reply, is_shown })
    }

    /// Whether a model that was cut here can be made to go on. Thinking and schemas exclude it.
    fn may_continue(&self, request: &LlmRequest, reply: &LlmResponse) -> bool {
        let is_bound = request.schema.is_some() || request.llm_opts.contains_key("thinking");
        let is_refused = self.refuses.continuations.load(Ordering::Relaxed);
        wire(self.options.api).goes_on() && !is_bound && !is_refused && continuation::is_cut_text(reply)
    }

    /// The reply and its rest. Without a rest, the reply stays as it was cut.
    async fn continued(&self, request: &LlmRequest, answer: Answer, sink: Option<&ChunkSink>) -> Answer {
        let Answer { mut reply, is_shown } = answer;
        let next = continuation::request(request, &reply);
        let sink = sink.filter(|_| is_shown).map(|sink| continuation::sink(sink, &reply));
        let reply = match self.in_time(&next, self.ask(&next, sink.as_ref())).await {
            Ok(rest) => continuation::joined(reply, rest.reply),
            Err(error) => {
                if is_refusal(&error) {
                    self.refuses.continuations.store(true, Ordering::Relaxed);
                }
                reply.retries += error.retries.saturating_add(1);
                reply
            }
        };
        Answer { reply, is_shown }
    }

    /// What a request comes to before its time is over.
    async fn in_time<T>(
        &self,
        request: &LlmRequest,
        asked: impl Future<Output = Result<T, LlmError>>,
    ) -> Result<T, LlmError> {
        let end = now().checked_add(self.options.timeout);
        match [end, request.deadline].into_iter().flatten().min() {
            None => asked.await,
            Some(end) => tokio::time::timeout_at(end.into(), asked).await.unwrap_or_else(|_| {
                let message = format!("`{}` did not answer in time", self.options.model);
                Err(LlmError::new(ErrorKind::Timeout, message))
            }),
        }
    }

    /// The cost that the provider tells, or the one that the prices give.
    fn priced(&self, tokens: Option<Tokens>) -> Option<Tokens> {
        let mut tokens = tokens?;
        if let (None, Some(prices)) = (tokens.total_cost, &self.options.prices) {
            tokens.total_cost = Some(prices.cost(&tokens));
        }
        Some(tokens)
    }
}

impl Model for HttpModel {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            if tokio::runtime::Handle::try_current().is_err() {
                return Err(LlmError::unsupported("asking a provider needs a tokio runtime"));
            }
            self.check_parts(request)?;
            let sink = request.stream.as_ref();
            let mut answer = self.in_time(request, self.ask(request, sink)).await?;
            if self.may_continue(request, &answer.reply) {
                answer = self.continued(request, answer, sink).await;
            }
            if let Some(sink) = sink.filter(|_| answer.is_shown) {
                sink.send(Chunk::Done(answer.reply.tokens));
            }
            Ok(answer.reply)
        })
    }

    fn supports(&self) -> Caps {
        Caps { schema: self.options.json_schema, ..Caps::ALL }
    }

    fn name(&self) -> String {
        self.options.model.clone()
    }

    fn pricing(&self) -> Pricing {
        let is_known = self.options.prices.is_some() || self.options.reports_cost;
        if is_known { Pricing::Reported } else { Pricing::Unknown }
    }
}

/// Sets a number where the format has it.
fn set(body: &mut Map<String, Value>, wire: &dyn Wire, name: &str, value: Value) {
    let Some(settings) = wire.settings() else {
        body.insert(name.to_string(), value);
        return;
    };
    let settings = body.entry(settings).or_insert_with(|| Map::new().into());
    if let Value::Object(settings) = settings {
        settings.insert(name.to_string(), value);
    }
}

/// Whether a server does not know, or does not want, something in a request.
fn is_refusal(error: &LlmError) -> bool {
    matches!(error.status, Some(400 | 422 | 501))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wires() -> [(Api, &'static dyn Wire); 6] {
        [Api::Anthropic, Api::Chat, Api::Compatible, Api::Responses, Api::Gemini, Api::Ollama]
            .map(|api| (api, wire(api)))
    }

    /// JSON with the words of the formats in unlikely places.
    fn json() -> impl Strategy<Value = Value> {
        let words = [
            "type",
            "content",
            "text",
            "thinking",
            "signature",
            "reasoning",
            "reasoning_details",
            "encrypted_content",
            "extra_content",
            "tool_use",
            "choices",
            "message",
            "delta",
            "index",
            "output",
            "usage",
            "error",
            "function_call",
            "content_block_start",
            "content_block_delta",
            "message_delta",
            "message_stop",
            "response.completed",
            "finish_reason",
            "tool_calls",
            "function",
            "arguments",
            "input_tokens",
            "response",
            "candidates",
            "parts",
            "thoughtSignature",
            "functionCall",
            "finishReason",
            "promptFeedback",
            "blockReason",
            "usageMetadata",
            "done",
            "done_reason",
        ];
        let word = proptest::sample::select(words.to_vec()).prop_map(str::to_string);
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            word.clone().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((word.clone(), inner), 0..6)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever a provider sends, there is a reply or an error.
        #[test]
        fn any_json_is_read_or_refused(whole in json(), events in proptest::collection::vec(json(), 0..6)) {
            for (api, wire) in wires() {
                let _ = wire.read(&whole);
                let mut reply = wire.assemble();
                if events.iter().all(|event| reply.event(event).is_ok()) {
                    let complete = reply.is_complete();
                    prop_assert!(reply.finish().is_ok() || !complete || api == Api::Responses);
                }
            }
        }
    }
}
