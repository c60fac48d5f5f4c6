//! Replies in which a model calls tools itself. Each call gets exactly one result, in order, however the turn ends.

use super::calls::millis;
use super::effects::MissionEffects;
use super::place::StopCause;
use super::state::{Continuation, Mission, Mode, TurnOutcome, fail_datum};
use super::step::{CallRecord, Fail, Turn};
use super::toolbox::CallOutcome;
use crate::lisp_eval::{self, ErrorReply};
use crate::tools::{Effect, Expose, ToolKind};
use ptc_bytecode::{Code, Datum, Node};
use ptc_model::{LlmResponse, Message, Part, ToolCall};
use ptc_runtime::bridge::json_to_datum;
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

impl Mission {
    /// Handles a reply with calls from an agent that answers in text.
    pub(super) async fn native_reply(
        &mut self,
        reply: &LlmResponse,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        let is_eval = |call: &&ToolCall| call.name == lisp_eval::NAME;
        let evals = match self.mode {
            Mode::Combined => reply.tool_calls.iter().filter(is_eval).count(),
            _ => 0,
        };
        match (evals, &reply.tool_calls[..]) {
            (0, _) => self.app_calls(reply, turn).await,
            (1, [call]) => self.program_beside(reply, call, turn).await,
            (1, _) => {
                let message =
                    "lisp_eval was called together with other tools; nothing was run. Call it alone.";
                Ok(self.refuse_quietly(reply, "mixed_with_lisp_eval", message, turn).into())
            }
            (count, _) => {
                let message =
                    format!("lisp_eval was called {count} times at once; nothing was run. Call it once.");
                Ok(self.refuse_quietly(reply, "multiple_tool_calls", &message, turn).into())
            }
        }
    }

    /// Appends the model's calls to the history.
    pub(super) fn called(&mut self, reply: &LlmResponse) {
        let message = reply.to_message().calls(reply.tool_calls.clone());
        self.state.messages.push(message);
    }

    /// Appends the answer to a call to the history.
    pub(super) fn answered(&mut self, call: &ToolCall, content: String, parts: Vec<Part>) {
        let id = call.id.clone().unwrap_or_default();
        self.state.messages.push(Message { parts, ..Message::tool(id, content) });
    }

    /// Answers every call with the same refusal, and states it as feedback.
    pub(super) fn refuse_all(
        &mut self,
        reply: &LlmResponse,
        reason: &str,
        message: &str,
        turn: &mut Turn,
    ) -> Continuation {
        let error = ErrorReply::new(reason, message);
        let goes = self.refuse(reply, &error, turn);
        Continuation { feedback: message.to_string(), ..goes }
    }

    /// Answers every call with the same refusal, without feedback.
    pub(super) fn refuse_quietly(
        &mut self,
        reply: &LlmResponse,
        reason: &str,
        message: &str,
        turn: &mut Turn,
    ) -> Continuation {
        let error = ErrorReply::protocol(reason, message);
        self.refuse(reply, &error, turn)
    }

    fn refuse(&mut self, reply: &LlmResponse, error: &ErrorReply, turn: &mut Turn) -> Continuation {
        self.called(reply);
        for call in &reply.tool_calls {
            self.answered(call, error.render(), Vec::new());
        }
        turn.result = fail_datum(&Fail::new(error.reason.clone(), error.message.clone()));
        Continuation::failed(String::new())
    }

    /// Runs tool calls concurrently.
    async fn app_calls(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<TurnOutcome, Fail> {
        self.called(reply);
        let Some(engine) = &self.engine else {
            return Err(Fail::new("internal_error", "there are no tools to call"));
        };
        engine.journal.set_budget(self.budget_datum());
        let limit = self.agent.options().max_tool_calls.map(u64::from);
        let is_combined = self.mode == Mode::Combined;
        // For each call: a pending answer, or an immediate refusal.
        let mut going = Vec::new();
        for call in &reply.tool_calls {
            let tool = self.agent.tools().native_named(&call.name);
            let tool =
                tool.filter(|tool| self.agent.tools().native(true).any(|known| known.name == tool.name));
            let Some(tool) = tool else {
                going.push(Err(ErrorReply::protocol("unknown_tool", unknown(&call.name))));
                continue;
            };
            let args = match &call.args {
                Ok(args) => json_to_datum(&Value::Object(args.clone())).map_err(|error| error.to_string()),
                Err(error) => Err(error.clone()),
            };
            let args = match args {
                Ok(args) => args,
                Err(error) => {
                    going.push(Err(ErrorReply::protocol("args_error", error)));
                    continue;
                }
            };
            if limit.is_some_and(|limit| self.state.native_calls >= limit) {
                let most = limit.unwrap_or_default();
                let message = format!("no more tool calls: at most {most} may be made (`max_tool_calls`)");
                going.push(Err(ErrorReply::protocol("tool_call_limit_exceeded", message)));
                continue;
            }
            self.state.native_calls += 1;
            let is_previewed = is_combined && tool.expose == Some(Expose::Both) && tool.cache;
            going.push(Ok(engine.toolbox.call_native(&tool.name, args, is_combined, is_previewed)));
        }
        let done: Mutex<Vec<Option<Result<CallOutcome, ErrorReply>>>> =
            Mutex::new(reply.tool_calls.iter().map(|_| None).collect());
        let keep = |at: usize, called| {
            done.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(called);
        };
        let all =
            futures_util::future::join_all(going.into_iter().enumerate().map(|(at, going)| async move {
                keep(
                    at,
                    match going {
                        Ok(call) => Ok(call.await),
                        Err(error) => Err(error),
                    },
                );
            }));
        let planned_before = self.planned();
        let stopped = self.place.within(all).await.err();
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut success = true;
        for (call, done) in reply.tool_calls.iter().zip(done) {
            let mut parts = Vec::new();
            let content = match done {
                None => {
                    success = false;
                    let error = "cancelled before there was a result".to_string();
                    turn.tool_calls.push(self.given_up(call, error.clone()));
                    let reason = if stopped == Some(StopCause::Cancelled) { "cancelled" } else { "timeout" };
                    ErrorReply::protocol(reason, error).render()
                }
                Some(Err(error)) => {
                    success = false;
                    error.render()
                }
                Some(Ok(called)) => {
                    success &= called.answer.is_ok();
                    self.state.warnings.extend(called.record.warnings.iter().cloned());
                    self.state.warnings.extend(called.preview.as_ref().and_then(|made| made.warning.clone()));
                    let args = match &call.args {
                        Ok(args) => json_to_datum(&Value::Object(args.clone())).ok(),
                        Err(_) => None,
                    };
                    let args = args.unwrap_or_else(|| Datum::scalar(Node::Map(0)));
                    let tool = self.agent.tools().native_named(&call.name).cloned();
                    let content;
                    (content, parts) = self.answer_text(tool.as_ref(), &args, &called);
                    turn.tool_calls.push(called.record);
                    content
                }
            };
            self.answered(call, content, parts);
        }
        self.of_exports(turn);
        self.state.calls.extend(turn.tool_calls.iter().cloned());
        let planned = self.planned();
        if planned > planned_before {
            let message = "the model would see the answer of a write that was planned and not sent";
            let fail = Fail::new(Code::UnknownAnswer.reason(), message);
            return Err(fail.details(json!({"write": planned})));
        }
        match stopped {
            Some(stopped) => Err(stopped.into()),
            None => Ok(Continuation { success, ..Continuation::failed(String::new()) }.into()),
        }
    }

    /// Returns the number of writes that were planned so far.
    pub(super) fn planned(&self) -> usize {
        self.place.effects.as_ref().map_or(0, MissionEffects::planned)
    }

    /// Records the calls and prints of exports that were called by name, as for programs.
    fn of_exports(&mut self, turn: &mut Turn) {
        let Some(engine) = &self.engine else { return };
        let (calls, prints) = engine.exports.take();
        let warnings = calls.iter().flat_map(|call| call.warnings.iter().cloned());
        self.state.warnings.extend(warnings);
        self.state.summaries.extend(engine.journal.take_reported());
        turn.tool_calls.extend(calls);
        if !prints.is_empty() {
            turn.prints.extend_from_slice(&prints);
            self.state.prints = prints;
        }
    }

    /// Returns the record of an abandoned call. Its effects are unknown.
    fn given_up(&self, call: &ToolCall, error: String) -> CallRecord {
        let tool = self.agent.tools().native_named(&call.name);
        CallRecord {
            name: tool.map_or(call.name.clone(), |tool| tool.name.clone()),
            args: call.args.clone().map(Value::Object).unwrap_or_default(),
            error: Some(error),
            layer: "native".to_string(),
            origin: match tool.map(|tool| &tool.kind) {
                Some(ToolKind::Export(export)) => Some(export.reference().to_string()),
                _ => None,
            },
            effect: tool.map_or(Effect::Unknown, |tool| tool.effect).name().to_string(),
            timestamp_ms: millis(std::time::SystemTime::now()),
            ..CallRecord::default()
        }
    }
}

pub(super) fn unknown(name: &str) -> String {
    format!("No native tool named `{}`.", ptc_contract::data::head(name, 100))
}
