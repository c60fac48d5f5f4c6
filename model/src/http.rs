//! Clients of providers, over HTTP.
//!
//! Each wire format is a pure translation ([`anthropic`], [`chat`], [`responses`]): a request to a body, a
//! body or events to a reply. [`send`] is the only code that touches the network.

mod anthropic;
mod chat;
mod errors;
mod options;
mod responses;
mod send;
mod wire;

pub use options::{Api, HttpOptions};

use crate::retry::now;
use crate::{Caps, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Pricing, Tokens};
use serde_json::{Map, Value};
use wire::Wire;

/// What only the client itself may put in a request.
const OWN: [&str; 11] = [
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
];

/// The format that an API speaks.
fn wire(api: Api) -> &'static dyn Wire {
    match api {
        Api::Anthropic => &anthropic::Messages,
        Api::Chat => &chat::Chat { compatible: false },
        Api::Compatible => &chat::Chat { compatible: true },
        Api::Responses => &responses::Responses,
    }
}

/// A model of a provider. Its calls need a tokio runtime with time and I/O.
#[derive(Clone, Debug)]
pub struct HttpModel {
    options: HttpOptions,
    http: send::Http,
}

impl HttpModel {
    /// A client with these options. Nothing is sent yet. If the process has no cryptography for TLS
    /// (`rustls::crypto::CryptoProvider`), it has `ring` from now on.
    pub fn new(options: HttpOptions) -> Result<HttpModel, LlmError> {
        Ok(HttpModel { http: send::Http::new(&options, wire(options.api))?, options })
    }

    fn body(&self, request: &LlmRequest, stream: bool) -> Result<Map<String, Value>, LlmError> {
        let wire = wire(self.options.api);
        let mut body = wire.body(&self.options, request, stream);
        if let Some(tokens) = self.options.max_tokens {
            body.insert(wire.max_tokens().to_string(), tokens.into());
        }
        if let Some(temperature) = self.options.temperature {
            body.insert("temperature".to_string(), temperature.into());
        }
        for (name, value) in &request.llm_opts {
            match name.as_str() {
                own if OWN.contains(&own) => {
                    let message =
                        format!("`llm_opts` cannot set `{own}`: the client fills it from the request");
                    return Err(LlmError::unsupported(message));
                }
                "max_tokens" => body.insert(wire.max_tokens().to_string(), value.clone()),
                _ => body.insert(name.clone(), value.clone()),
            };
        }
        Ok(body)
    }

    async fn ask(&self, request: &LlmRequest) -> Result<LlmResponse, LlmError> {
        let wire = wire(self.options.api);
        // Whether calls follow is not known before the end, and turns with calls are not shown.
        let sink = request.stream.as_ref().filter(|_| request.tools.is_empty());
        let body = self.body(request, sink.is_some())?;
        let mut response = match sink {
            None => wire.read(&self.http.whole(wire, &self.options, &body).await?)?,
            Some(sink) => {
                let price = |tokens| self.priced(tokens);
                self.http.stream(wire, &self.options, &body, sink, &price).await?
            }
        };
        response.tokens = self.priced(response.tokens);
        Ok(response)
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
            let end = now().checked_add(self.options.timeout);
            let end = [end, request.deadline].into_iter().flatten().min();
            match end {
                None => self.ask(request).await,
                Some(end) => {
                    tokio::time::timeout_at(end.into(), self.ask(request)).await.unwrap_or_else(|_| {
                        let message = format!("`{}` did not answer in time", self.options.model);
                        Err(LlmError::new(ErrorKind::Timeout, message))
                    })
                }
            }
        })
    }

    fn supports(&self) -> Caps {
        Caps::ALL
    }

    fn name(&self) -> String {
        self.options.model.clone()
    }

    fn pricing(&self) -> Pricing {
        let is_known = self.options.prices.is_some() || self.options.reports_cost;
        if is_known { Pricing::Reported } else { Pricing::Unknown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wires() -> [&'static dyn Wire; 4] {
        [Api::Anthropic, Api::Chat, Api::Compatible, Api::Responses].map(wire)
    }

    /// JSON with the words of the formats in unlikely places.
    fn json() -> impl Strategy<Value = Value> {
        let words = [
            "type",
            "content",
            "text",
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
            for wire in wires() {
                let _ = wire.read(&whole);
                let mut reply = wire.assemble();
                if events.iter().all(|event| reply.event(event).is_ok()) {
                    let complete = reply.is_complete();
                    prop_assert!(reply.finish().is_ok() || !complete || wire.path() == "/responses");
                }
            }
        }
    }
}
