//! The model of a task, observed: requests are scrubbed, limited in time and recorded.

use crate::reason::Reason;
use ptc_model::LlmRetry;
use ptc_model::{Client, ErrorKind, LlmError, LlmRequest, LlmResponse, Model, ModelFuture, Retry};
use ptc_upstream::redact::Redactor;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One request to the model.
#[derive(Clone, Default, Debug)]
pub(super) struct PlannerCall {
    turn: u32,
    duration_ms: u64,
    prompt_bytes: u64,
    completion_bytes: u64,
    /// Numbers of tokens read and written, according to the provider.
    tokens: Option<(u64, u64)>,
    /// Reason and message if there was no reply.
    failed: Option<(Reason, String)>,
    is_over: bool,
    /// Texts of request and reply, if they are to be traced.
    texts: Option<Value>,
}

/// Record of a task's requests to the model.
#[derive(Debug)]
pub(super) struct Log {
    asked: Mutex<Vec<PlannerCall>>,
    model: Mutex<String>,
    keeps_texts: bool,
}

impl Log {
    pub fn new(keeps_texts: bool) -> Log {
        Log { asked: Mutex::default(), model: Mutex::default(), keeps_texts }
    }

    fn asked(&self) -> MutexGuard<'_, Vec<PlannerCall>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, request: &LlmRequest) -> usize {
        let said = request.messages.iter().map(|message| message.content.len()).sum::<usize>();
        let texts = self.keeps_texts.then(|| {
            let messages: Vec<Value> =
                request.messages.iter().map(|m| json!({"role": m.role, "content": m.content})).collect();
            json!({"system": request.system, "messages": messages})
        });
        let mut asked = self.asked();
        asked.push(PlannerCall {
            turn: request.turn,
            prompt_bytes: (request.system.len() + said) as u64,
            texts,
            ..PlannerCall::default()
        });
        asked.len() - 1
    }

    fn end(&self, at: usize, began: Instant, reply: &Result<LlmResponse, LlmError>) {
        let mut asked = self.asked();
        let Some(entry) = asked.get_mut(at) else { return };
        entry.is_over = true;
        entry.duration_ms = began.elapsed().as_millis() as u64;
        match reply {
            Ok(reply) => {
                entry.completion_bytes = reply.text().len() as u64;
                entry.tokens = reply.tokens.and_then(|tokens| Some((tokens.input?, tokens.output?)));
                if let Some(texts) = &mut entry.texts {
                    texts["reply"] = json!(reply.text());
                }
            }
            Err(error) => {
                let reason = match error {
                    error if is_config(error) => Reason::AgenticConfigError,
                    error if error.kind == ErrorKind::Timeout => Reason::PlannerTimeout,
                    _ => Reason::PlannerError,
                };
                entry.failed = Some((reason, error.message.clone()));
            }
        }
    }

    /// Returns why the last request has no reply.
    pub fn failure(&self) -> Option<(Reason, String)> {
        self.asked().last().and_then(|asked| asked.failed.clone())
    }

    pub fn set_model(&self, name: String) {
        *self.model.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }

    /// Returns the number of requests.
    pub fn len(&self) -> usize {
        self.asked().len()
    }

    /// `planner`: the model, the number of requests, their duration and cost.
    pub fn planner(&self) -> Value {
        let llm = self.server_side_llm();
        let asked = self.asked();
        let mut planner = json!({
            "model": *self.model.lock().unwrap_or_else(PoisonError::into_inner),
            "calls": asked.len(),
            "duration_ms": asked.iter().map(|asked| asked.duration_ms).sum::<u64>(),
        });
        for key in ["prompt_bytes", "completion_bytes", "prompt_tokens", "completion_tokens", "total_tokens"]
        {
            planner[key] = llm[key].clone();
        }
        if let Some((reason, _)) = asked.last().and_then(|asked| asked.failed.as_ref()) {
            planner["error"] = json!(reason.name());
        }
        planner
    }

    /// `server_side_llm`: token counts are included only if the provider reported them for every request.
    pub fn server_side_llm(&self) -> Value {
        let asked = self.asked();
        let prompt: u64 = asked.iter().map(|asked| asked.prompt_bytes).sum();
        let completion: u64 = asked.iter().map(|asked| asked.completion_bytes).sum();
        let tokens: Option<Vec<(u64, u64)>> = asked.iter().map(|asked| asked.tokens).collect();
        let tokens = tokens.filter(|tokens| !tokens.is_empty());
        let read = tokens.as_ref().map(|tokens| tokens.iter().map(|(read, _)| read).sum::<u64>());
        let written = tokens.as_ref().map(|tokens| tokens.iter().map(|(_, written)| written).sum::<u64>());
        json!({
            "planner_calls": asked.len(),
            "provider_reported": tokens.is_some(),
            "prompt_tokens": read,
            "completion_tokens": written,
            "total_tokens": read.zip(written).map(|(read, written)| read + written),
            "prompt_bytes": prompt,
            "completion_bytes": completion,
            "total_bytes": prompt + completion,
            "estimated_prompt_tokens": prompt.div_ceil(4),
            "estimated_completion_tokens": completion.div_ceil(4),
            "estimated_total_tokens": prompt.div_ceil(4) + completion.div_ceil(4),
            "token_estimate_method": "utf8_bytes_div_4",
        })
    }

    /// Returns all requests, for traces.
    pub fn calls(&self) -> Vec<Value> {
        let told = |asked: &PlannerCall| {
            let mut told = json!({
                "turn": asked.turn,
                "status": if asked.is_over && asked.failed.is_none() { "ok" } else { "error" },
                "duration_ms": asked.duration_ms,
                "prompt_bytes": asked.prompt_bytes,
                "completion_bytes": asked.completion_bytes,
                "prompt_tokens": asked.tokens.map(|(read, _)| read),
                "completion_tokens": asked.tokens.map(|(_, written)| written),
            });
            if let Some((reason, message)) = &asked.failed {
                told["reason"] = json!(reason.name());
                told["message"] = json!(message);
            }
            if let Some(Value::Object(texts)) = &asked.texts {
                texts.iter().for_each(|(key, text)| told[key] = text.clone());
            }
            told
        };
        self.asked().iter().map(told).collect()
    }
}

/// A model that retries failed requests as long as there is time.
pub(super) struct WatchedModel {
    model: Retry<Client>,
    within: Duration,
    redactor: Arc<Redactor>,
    log: Arc<Log>,
}

impl WatchedModel {
    pub fn new(model: Client, within: Duration, redactor: Arc<Redactor>, log: Arc<Log>) -> WatchedModel {
        log.set_model(model.name());
        WatchedModel { model: Retry::new(model, LlmRetry::default()), within, redactor, log }
    }

    /// Returns the scrubbed request, with a deadline for the reply.
    fn clean(&self, request: &LlmRequest, began: Instant) -> LlmRequest {
        let mut request = request.clone();
        let scrub = |text: &mut String| *text = self.redactor.scrub(text).into_owned();
        scrub(&mut request.system);
        scrub(&mut request.prompt);
        request.messages.iter_mut().for_each(|message| scrub(&mut message.content));
        let until = began.checked_add(self.within);
        request.deadline = match (request.deadline, until) {
            (Some(deadline), Some(until)) => Some(deadline.min(until)),
            (deadline, until) => deadline.or(until),
        };
        request
    }
}

impl Model for WatchedModel {
    fn call<'a>(&'a self, request: &'a LlmRequest) -> ModelFuture<'a> {
        Box::pin(async move {
            let began = Instant::now();
            let clean = self.clean(request, began);
            let at = self.log.begin(&clean);
            // The deadline of the request ends it; earlier failures keep their own message.
            let reply = self.model.call(&clean).await.map_err(|error| {
                let is_late = error.kind == ErrorKind::Timeout && began.elapsed() >= self.within;
                let ms = self.within.as_millis();
                let message =
                    format!("the model did not reply within {ms} ms (--agentic-planner-timeout-ms)");
                if is_late { LlmError { message, ..error } } else { error }
            });
            self.log.end(at, began, &reply);
            reply
        })
    }

    fn wrapped(&self) -> Option<&dyn Model> {
        Some(&self.model)
    }
}

/// Returns whether the error means that the model cannot be used at all.
fn is_config(error: &LlmError) -> bool {
    use ptc_model::ErrorKind;
    matches!(error.kind, ErrorKind::ModelNotFound | ErrorKind::LlmRequired | ErrorKind::MissingKey)
}
