//! HTTP clients of providers.
//!
//! Each wire format is a pure translation from a request to a body and from a body or events to a reply: [`anthropic`],
//! [`bedrock`], [`chat`], [`responses`], [`gemini`], [`ollama`]. [`send`] is the only code that touches the network.

mod anthropic;
mod bedrock;
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
    Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Message, Model, ModelFuture, Part, Pricing, Role,
    Tokens,
};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::Wire;

/// Fields of a request that only the client itself may set.
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

/// Returns the wire format of an API.
fn wire(api: Api) -> &'static dyn Wire {
    match api {
        Api::Anthropic => &anthropic::Messages,
        Api::BedrockAnthropic => &bedrock::Invoke,
        Api::Chat => &chat::Chat { compatible: false },
        Api::Compatible => &chat::Chat { compatible: true },
        Api::Responses => &responses::Responses,
        Api::Gemini => &gemini::Gemini,
        Api::Ollama => &ollama::Ollama,
    }
}

/// A model of a provider. Calls need a tokio runtime with time and I/O.
#[derive(Clone, Debug)]
pub struct HttpModel {
    options: HttpOptions,
    http: send::Http,
    refuses: Arc<Refuses>,
}

/// Features that the server has refused, and that further requests leave out.
#[derive(Debug, Default)]
struct Refuses {
    schemas: AtomicBool,
    continuations: AtomicBool,
}

/// A reply, and a flag: its text was shown as it arrived.
struct Answer {
    reply: LlmResponse,
    is_shown: bool,
}

impl HttpModel {
    /// Makes a client with these options, without sending anything. If the process has no TLS cryptography
    /// (`rustls::crypto::CryptoProvider`), installs `ring`.
    pub fn new(options: HttpOptions) -> Result<HttpModel, LlmError> {
        Ok(HttpModel {
            http: send::Http::new(&options, wire(options.api))?,
            options,
            refuses: Arc::default(),
        })
    }

    /// Prepares a request for the format, and returns the number of images and documents that are described in words
    /// because the format cannot hold them. Limits of single models are left to the provider.
    fn sayable<'r>(&self, request: &'r LlmRequest) -> Result<(Cow<'r, LlmRequest>, usize), LlmError> {
        let has_parts = |message: &&Message| !message.parts.is_empty();
        if request.messages.iter().filter(has_parts).any(|message| message.role == Role::Assistant) {
            let message = "images and documents can only be in messages of the user and in answers to \
                           calls; give them with the next one";
            return Err(LlmError::unsupported(message));
        }
        let takes_documents = wire(self.options.api).takes_documents();
        let refused = |part: &&Part| !takes_documents && matches!(part, Part::Document { .. });
        match request.messages.iter().flat_map(|message| &message.parts).find(refused) {
            None => Ok((Cow::Borrowed(request), 0)),
            Some(_) if request.tells_unseen => {
                let why = |part: &Part| refused(&part).then(|| "this model takes no documents".to_string());
                let (told, unseen) = told_in_words(request, why);
                Ok((Cow::Owned(told), unseen))
            }
            Some(document) => Err(LlmError::unsupported(format!(
                "`{}` takes images, but no documents; give the text of `{}` in words, or ask a model of \
                 another provider",
                self.options.model,
                document.file_name()
            ))),
        }
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
                    // The client has fields of its own in this object.
                    (Some(Value::Object(own)), Value::Object(more)) => own.extend(more.clone()),
                    _ => {
                        body.insert(name.clone(), value.clone());
                    }
                },
            }
        }
        Ok(body)
    }

    /// Requests one reply. If the server may have refused images, retries once with words in their places: a reply to
    /// those is better than none.
    async fn ask(&self, request: &LlmRequest, sink: Option<&ChunkSink>) -> Result<Answer, LlmError> {
        let error = match self.ask_as_is(request, sink).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let is_refusal = match error.status {
            // Providers refuse images with many statuses, be it for the model or for the single image.
            Some(400 | 404 | 413 | 415 | 422 | 501) => true,
            Some(500) => wire(self.options.api).fails_at_parts(),
            _ => false,
        };
        let has_parts = request.messages.iter().any(|message| !message.parts.is_empty());
        if !is_refusal || !has_parts || !request.tells_unseen {
            return Err(error);
        }
        let why = |_: &Part| Some("the provider refuses it".to_string());
        let (told, unseen) = told_in_words(request, why);
        let mut answer = self.ask_as_is(&told, sink).await.map_err(|mut again| {
            again.retries += 1 + error.retries;
            again
        })?;
        answer.reply.retries += 1 + error.retries;
        answer.reply.unseen_parts += unseen;
        Ok(answer)
    }

    /// Requests one reply. If the server refuses the schema, retries once without it: the reply is checked anyway.
    async fn ask_as_is(&self, request: &LlmRequest, sink: Option<&ChunkSink>) -> Result<Answer, LlmError> {
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

    /// Sends one request.
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

    /// Returns whether a cut reply can be continued. Thinking and schemas exclude it.
    fn may_continue(&self, request: &LlmRequest, reply: &LlmResponse) -> bool {
        let is_bound = request.schema.is_some() || request.llm_opts.contains_key("thinking");
        let is_refused = self.refuses.continuations.load(Ordering::Relaxed);
        wire(self.options.api).goes_on() && !is_bound && !is_refused && continuation::is_cut_text(reply)
    }

    /// Returns the reply with its continuation. If there is none, the reply stays cut.
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

    /// Awaits a request until its deadline.
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

    /// Adds the cost: the one that the provider reports, or else the one by the configured prices.
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
            let (request, unseen) = self.sayable(request)?;
            let request = &*request;
            let sink = request.stream.as_ref();
            let mut answer = self.in_time(request, self.ask(request, sink)).await?;
            if self.may_continue(request, &answer.reply) {
                answer = self.continued(request, answer, sink).await;
            }
            if let Some(sink) = sink.filter(|_| answer.is_shown) {
                sink.send(Chunk::Done(answer.reply.tokens));
            }
            answer.reply.unseen_parts += unseen;
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

/// Replaces the images and documents that `why` gives a reason for by words, and returns their number.
fn told_in_words(request: &LlmRequest, why: impl Fn(&Part) -> Option<String>) -> (LlmRequest, usize) {
    let mut told = request.clone();
    let taken = told.messages.iter_mut().map(|message| message.take_parts(&why)).sum();
    (told, taken)
}

/// Sets a number in the object that the format puts it in.
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

/// Returns whether a server does not know, or does not accept, part of a request.
fn is_refusal(error: &LlmError) -> bool {
    matches!(error.status, Some(400 | 422 | 501))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wires() -> [(Api, &'static dyn Wire); 7] {
        [
            Api::Anthropic,
            Api::BedrockAnthropic,
            Api::Chat,
            Api::Compatible,
            Api::Responses,
            Api::Gemini,
            Api::Ollama,
        ]
        .map(|api| (api, wire(api)))
    }

    /// Generates JSON with the words of the formats in unlikely places.
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
        /// Checks that any JSON from a provider gives a reply or an error.
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
