//! One request to the model.

use super::place::now;
use super::start::fail_of;
use super::step::{Fail, Turn, TurnKind};
use super::turns::{Ended, Mission, memory_of};
use crate::compaction::compact;
use crate::data::{Shown, Tree, show_public};
use crate::definition::{Output, no_prices};
use crate::firewall::{FIREWALLED, is_firewalled};
use crate::model::{LlmError, LlmRequest, LlmResponse, Message, Model, Pricing, ToolSpec};
use crate::prompt::{MissionLogIn, PromptCtx};
use crate::trace::Kind;
use serde_json::{Value, json};
use std::sync::Arc;

impl Mission {
    /// Asks, with all that was said so far. The error is how the mission ends.
    pub(super) async fn ask(&mut self, kind: TurnKind, turn: &mut Turn) -> Result<LlmResponse, Ended> {
        let number = turn.number;
        let request = self.request(kind, number);
        turn.system_prompt = Some(self.told_system(&request.system));
        let scope = self.place.scope.child();
        let started = now();
        scope.emit(Kind::LlmStart, |event| self.tell_request(event, &request));
        let asked = self.place.within(self.model.call(&request)).await;
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
        let failed = match &reply {
            Ok(response) => response.retries,
            Err(error) => error.retries,
        };
        let tokens = reply.as_ref().ok().and_then(|response| response.tokens);
        self.state.llm_requests += u64::from(failed) + 1;
        self.place.budget.spend(u64::from(failed) + 1, tokens.as_ref());
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
        // A reply that is late because the clock of the mission ran out is no fault of the model.
        let mut response = reply.map_err(|error| match self.place.check() {
            Err(stopped) => stopped.into(),
            Ok(()) => Ended::Fail(self.no_reply(&error)),
        })?;
        let is_free = self.model.pricing() == Pricing::Free;
        let has_cost = tokens.is_some_and(|tokens| tokens.total_cost.is_some());
        if self.place.budget.needs_costs() && !has_cost && !is_free {
            return Err(Ended::Fail(fail_of(&[no_prices(&self.model_name)])));
        }
        response.name_calls(&mut self.state.call_ids);
        Ok(response)
    }

    /// The system message for the record of a turn: one text as long as it stays the same.
    fn told_system(&self, system: &str) -> Arc<str> {
        let last = self.state.turns.last().and_then(|turn| turn.system_prompt.as_ref());
        last.filter(|last| ***last == *system).cloned().unwrap_or_else(|| system.into())
    }

    fn no_reply(&self, error: &LlmError) -> Fail {
        let message = self.place.secrets().redact(&error.message);
        let fail = Fail::new(error.reason(), message);
        fail.details(json!({
            "class": error.class(), "status": error.status, "cause": error.cause, "retries": error.retries,
        }))
    }

    fn request(&mut self, kind: TurnKind, number: u32) -> LlmRequest {
        let options = self.agent.options().clone();
        let is_program = options.output == Output::PtcLisp;
        let mut messages = self.state.messages.clone();
        if let Some(rule) = &options.compaction {
            let (kept, stats) = compact(&messages, Some(rule), number);
            if stats.triggered {
                self.place.scope.emit(Kind::CompactionTriggered, |event| {
                    event.turn = Some(number);
                    if let Ok(Value::Object(stats)) = serde_json::to_value(&stats) {
                        event.data.extend(stats);
                    }
                });
            }
            self.state.compaction = serde_json::to_value(&stats).ok();
            messages = kept;
        }
        let mut system = self.system(number);
        if options.format_options.mission_log_in == MissionLogIn::SystemPrompt
            && let Some(log) = self.mission_log()
        {
            system = format!("{system}\n\n{log}");
        }
        let tool_names = match kind {
            TurnKind::Normal if is_program => {
                self.agent.tools().in_programs(false).map(|tool| tool.name.clone()).collect()
            }
            _ => Vec::new(),
        };
        let tools = self.prompt.tool_schemas.iter();
        let tools = tools.filter_map(|tool| serde_json::from_value::<ToolSpec>(tool.clone()).ok()).collect();
        LlmRequest {
            system,
            messages,
            turn: number,
            prompt: self.prompt.mission.clone(),
            tool_names,
            llm_opts: options.llm_opts.clone(),
            output: options.output,
            cache: self.run.cache,
            tools,
            schema: self.prompt.schema.clone(),
            depth: self.place.depth,
            agent_name: options.name.clone(),
            stream: self.run.on_chunk.clone().filter(|_| !is_program),
            deadline: self.place.deadline,
            cancel: self.place.cancel.clone(),
        }
    }

    /// The system message of a turn.
    fn system(&mut self, number: u32) -> String {
        let Some(varying) = &self.prompt.varying else { return self.prompt.system.clone() };
        let memory = self.engine.as_ref().map(memory_of).unwrap_or_default();
        let ctx = PromptCtx {
            turn: number,
            model: &self.model_name,
            memory: &memory,
            messages: &self.state.messages,
        };
        varying.system(&ctx).unwrap_or_else(|| {
            self.state.warnings.push(format!("`language_spec` panicked before turn {number}"));
            self.prompt.system.clone()
        })
    }

    /// What a trace keeps of a request: what is new in it, and enough to know it again.
    fn tell_request(&self, event: &mut crate::trace::Event, request: &LlmRequest) {
        event.turn = Some(request.turn);
        event.model = Some(self.model_name.clone());
        let new = match request.turn {
            1 => &request.messages[..],
            _ => {
                let last = request.messages.iter().rposition(|m| m.role == crate::model::Role::Assistant);
                &request.messages[last.map_or(0, |at| at + 1)..]
            }
        };
        let mut put = |key: &str, value: Value| event.data.insert(key.to_string(), value);
        if request.turn == 1 {
            put("system_prompt", json!(request.system));
        }
        put("messages", json!(new));
        put("messages_count", json!(request.messages.len()));
        put("request_hash", json!(request_hash(request)));
    }

    /// The log of finished tasks.
    pub(super) fn mission_log(&self) -> Option<String> {
        let engine = self.engine.as_ref().filter(|_| self.agent.options().journaling)?;
        let tasks = engine.journal.tasks();
        if tasks.is_empty() {
            return None;
        }
        let lines: Vec<String> = tasks
            .iter()
            .map(|(id, value)| {
                let shown = match value.to_datum(1 << 16) {
                    _ if is_firewalled(id) => FIREWALLED.to_string(),
                    Ok(datum) => show_public(
                        Tree::new(&datum).root(),
                        Shown { items: 5, string: 200, chars: 200, depth: 4 },
                    ),
                    Err(_) => format!("({} bytes)", value.bytes()),
                };
                format!("- {id}: {shown}")
            })
            .collect();
        let text = self.place.secrets().redact(&lines.join("\n"));
        Some(format!("Finished tasks:\n{}", crate::prompt::untrusted(crate::prompt::Source::Memory, &text)))
    }
}

/// A request in sixteen hex digits: equal for requests that say the same.
pub(crate) fn request_hash(request: &LlmRequest) -> String {
    use sha2::{Digest, Sha256};
    let text = serde_json::to_string(request).unwrap_or_default();
    ptc_bytecode::hex(&Sha256::digest(text.as_bytes()).into())[..16].to_string()
}

/// What the model said, as the history keeps it.
pub(super) fn said(content: impl Into<String>) -> Message {
    Message::assistant(content)
}
