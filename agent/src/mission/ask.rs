//! Model calls of a mission: a request becomes a reply.

use super::fault::fail_of;
use super::pieces::Pieces;
use super::place::now;
use super::state::Mission;
use super::step::{Fail, Turn};
use crate::definition::no_prices;
use crate::trace::{Kind, Scope};
use ptc_model::{Chunk, LlmError, LlmRequest, LlmResponse, Message, Model, Pricing};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

impl Mission {
    /// Asks the model, with retries as the agent's options say. Without a reply the mission fails.
    pub(super) async fn ask(&mut self, request: &LlmRequest, turn: &mut Turn) -> Result<LlmResponse, Fail> {
        let number = turn.number;
        turn.system_prompt = Some(self.told_system(&request.system));
        let scope = self.place.scope.child();
        let started = now();
        scope.emit(Kind::LlmStart, |event| self.tell_request(event, request));
        let (answers, pieces) = self.streamed(request, &scope);
        let watched = pieces.as_ref().map(|pieces| pieces.of(&answers));
        let asked = self.place.within(self.model.call(watched.as_ref().unwrap_or(&*answers))).await;
        if let Ok(Ok(response)) = &asked {
            pieces.iter().for_each(|pieces| pieces.finish(response));
            answered_whole(request, response);
        }
        let reply = match asked {
            Ok(reply) => reply,
            Err(stopped) => {
                self.state.llm_requests += 1;
                self.place.budget.spend(1, None);
                scope.emit(Kind::LlmStop, |event| {
                    event.turn = Some(number);
                    event.status = Some("error".into());
                    event.data.insert("error".to_string(), json!(stopped.fail()));
                });
                return Err(stopped.into());
            }
        };
        let (failed, asked) = match &reply {
            Ok(response) => (response.retries, 1 + u64::from(response.continued)),
            Err(error) => (error.retries, 1),
        };
        let requests = asked + u64::from(failed);
        let tokens = reply.as_ref().ok().and_then(|response| response.tokens);
        self.state.llm_requests += requests;
        self.place.budget.spend(requests, tokens.as_ref());
        if let Some(tokens) = tokens {
            self.state.tokens += tokens;
        }
        scope.emit(Kind::LlmStop, |event| {
            event.turn = Some(number);
            event.duration = Some(now().saturating_duration_since(started));
            event.tokens = tokens;
            event.model = Some(self.model_name.clone());
            event.status = Some(if reply.is_ok() { "ok" } else { "error" }.into());
            match &reply {
                Ok(response) => event.data.insert("response".to_string(), json!(response)),
                Err(error) => event.data.insert("error".to_string(), json!(error)),
            };
            if failed > 0 {
                event.data.insert("retries".to_string(), json!(failed));
            }
        });
        // If the mission's time is up, a late reply is not the model's fault.
        let mut response = reply.map_err(|error| match self.place.check() {
            Err(stopped) => stopped.into(),
            Ok(()) => self.no_reply(&error),
        })?;
        let is_free = self.model.pricing() == Pricing::Free;
        let has_cost = tokens.is_some_and(|tokens| tokens.total_cost.is_some());
        if self.place.budget.needs_costs() && !has_cost && !is_free {
            return Err(fail_of(&[no_prices(&self.model_name)]));
        }
        response.name_calls(&mut self.state.call_ids);
        self.note_unseen(request, &response);
        Ok(response)
    }

    /// Tells the host about images and documents that the model could not be shown, and stops sending them.
    fn note_unseen(&mut self, request: &LlmRequest, response: &LlmResponse) {
        if response.unseen_parts == 0 {
            return;
        }
        let warning = format!(
            "`{}` could not be shown images or documents, and got a text in their place",
            self.model_name
        );
        if !self.state.warnings.contains(&warning) {
            self.state.warnings.push(warning);
        }
        let sent: usize = request.messages.iter().map(|message| message.parts.len()).sum();
        if response.unseen_parts == sent {
            for message in &mut self.state.messages {
                message.take_parts(|_| Some("this model could not be shown it".to_string()));
            }
        }
    }

    /// Returns the request as the model gets it, and the watcher of the reply's pieces. The host's stream is for
    /// answers; text next to tool calls is not an answer, which is only known at the end of a reply.
    fn streamed<'r>(&self, request: &'r LlmRequest, scope: &Scope) -> (Cow<'r, LlmRequest>, Option<Pieces>) {
        let secrets = (!self.place.shows_secrets).then(|| self.place.secrets.clone());
        let pieces = Pieces::watched(scope, secrets);
        let request = match request.stream.is_some() && !request.tools.is_empty() {
            true => Cow::Owned(LlmRequest { stream: None, ..request.clone() }),
            false => Cow::Borrowed(request),
        };
        (request, pieces)
    }

    /// Returns the system message for the record of a turn, shared with the last turn while it stays the same.
    fn told_system(&self, system: &str) -> Arc<str> {
        let last = self.state.turns.last().and_then(|turn| turn.system_prompt.as_ref());
        last.filter(|last| ***last == *system).cloned().unwrap_or_else(|| system.into())
    }

    fn no_reply(&self, error: &LlmError) -> Fail {
        let message = self.place.secrets().redact(&error.message);
        let fail = Fail::new(error.reason(), message);
        fail.details(json!({
            "class": error.class(), "status": error.status, "cause": error.cause, "retries": error.retries,
            "attempts": error.retries.saturating_add(1),
        }))
    }

    /// Records a request in a trace: its new parts, and enough to recognise it.
    fn tell_request(&self, event: &mut crate::trace::Event, request: &LlmRequest) {
        event.turn = Some(request.turn);
        event.model = Some(self.model_name.clone());
        let new = match request.turn {
            1 => &request.messages[..],
            _ => {
                let last = request.messages.iter().rposition(|m| m.role == ptc_model::Role::Assistant);
                &request.messages[last.map_or(0, |at| at + 1)..]
            }
        };
        let mut put = |key: &str, value: Value| event.data.insert(key.to_string(), value);
        if request.turn == 1 {
            put("system_prompt", json!(request.system));
        }
        put("messages", new.iter().map(without_parts).collect());
        put("messages_count", json!(request.messages.len()));
        put("request_hash", json!(request_hash(request)));
    }
}

/// Returns a message with placeholders for its images and documents: a trace has no room for them.
fn without_parts(message: &Message) -> Value {
    let mut told = json!(Message { parts: Vec::new(), ..message.clone() });
    if !message.parts.is_empty() {
        told["parts"] = message.parts.iter().map(ToString::to_string).collect();
    }
    told
}

/// Sends an answer to the host's stream whole, if it could have turned out to be tool calls.
fn answered_whole(request: &LlmRequest, response: &LlmResponse) {
    let stream = request.stream.as_ref().filter(|_| !request.tools.is_empty());
    if let Some(stream) = stream.filter(|_| response.tool_calls.is_empty()) {
        stream.send(Chunk::Delta(response.text().to_string()));
        stream.send(Chunk::Done(response.tokens));
    }
}

/// Hashes a request into 16 hex digits: equal for requests with equal content.
pub(crate) fn request_hash(request: &LlmRequest) -> String {
    use sha2::{Digest, Sha256};
    let text = serde_json::to_string(request).unwrap_or_default();
    ptc_bytecode::hex(&Sha256::digest(text.as_bytes()).into())[..16].to_string()
}
