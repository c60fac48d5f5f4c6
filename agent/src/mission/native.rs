//! Replies in which a model calls tools itself. Every call gets exactly one answer, in the order of the calls,
//! whatever becomes of the turn.

use super::calls::millis;
use super::engine::{Ending, Executed};
use super::place::Stopped;
use super::step::{CallRecord, Fail, Turn, TurnKind};
use super::toolbox::{Called, Refusal};
use super::turns::{Ended, Goes, Mission, Mode, Told, fail_datum};
use crate::data::{Shown, Tree, show_public, to_json};
use crate::definition::MemoryStrategy;
use crate::firewall::redact;
use crate::lisp_eval::{self, ErrorReply, Memory, Success, wire_reason};
use crate::mission::fault::{MEMORY_LIMIT, too_much};
use crate::model::{LlmResponse, Message, ToolCall};
use crate::protocol::{MultipleBlocks, extract_program};
use crate::tools::{Effect, Expose};
use ptc_bytecode::{Code, Datum, Node};
use ptc_runtime::bridge::json_to_datum;
use ptc_runtime::{Failure, ToolAnswer};
use serde_json::{Value, json};
use std::sync::{Mutex, PoisonError};

/// How much of an answer goes into a message where there is no preview.
const ANSWER_BYTES: usize = 256 << 10;

impl Mission {
    /// A reply of an agent that sends its programs through `lisp_eval`.
    pub(super) async fn program_call_reply(
        &mut self,
        reply: &LlmResponse,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        let [call] = &reply.tool_calls[..] else {
            if reply.tool_calls.is_empty() {
                return self.words(reply, turn);
            }
            let message =
                format!("{} tools were called at once; call lisp_eval once per turn", reply.tool_calls.len());
            return Ok(self.refuse_all(reply, "multiple_tool_calls", &message, turn));
        };
        if call.name != lisp_eval::NAME {
            let message = unknown(&call.name);
            return Ok(self.refuse_all(reply, "unknown_tool", &message, turn));
        }
        let program = match lisp_eval::program(call) {
            Ok(program) => program.to_string(),
            Err(error) => return Ok(self.refuse_all(reply, &error.reason, &error.message, turn)),
        };
        self.called(reply);
        let ran = self.run_program(&program, kind, turn).await;
        let content = match &ran {
            Ok(goes) => self.envelope(goes, turn),
            Err(Ended::Value(value)) => {
                let told = self.told_value(value, &[]);
                Success { prints: self.public_prints(turn), memory: None, ..told }.render()
            }
            Err(Ended::Fail(fail)) => {
                let message = self.place.secrets().redact(&fail.message);
                ErrorReply::new("fail", message).render()
            }
        };
        self.answered(call, content);
        // The words went with the answer.
        ran.map(|goes| Goes { feedback: String::new(), ..goes })
    }

    /// Words without a call: a program in the wrong place, or the answer.
    fn words(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<Goes, Ended> {
        let is_fenced = reply.text().contains("```") || reply.text().contains("<clojure>");
        if is_fenced && extract_program(reply.text(), MultipleBlocks::Do).is_ok() {
            self.state.messages.push(Message::assistant(reply.text()));
            let fail = Fail::new("no_code_found", "the program is in the words, not in a call of lisp_eval");
            turn.result = fail_datum(&fail);
            let feedback = self.feedback(|feedback| feedback.use_lisp_eval().finish(None));
            return Ok(Goes::failed(feedback));
        }
        self.text_reply(reply, turn)
    }

    /// A reply of an agent that answers in words, with calls in it.
    pub(super) async fn native_reply(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<Goes, Ended> {
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
                Ok(self.refuse_quietly(reply, "mixed_with_lisp_eval", message, turn))
            }
            (count, _) => {
                let message =
                    format!("lisp_eval was called {count} times at once; nothing was run. Call it once.");
                Ok(self.refuse_quietly(reply, "multiple_tool_calls", &message, turn))
            }
        }
    }

    /// Puts the model's calls into the history.
    fn called(&mut self, reply: &LlmResponse) {
        let message = Message::assistant(reply.text()).calls(reply.tool_calls.clone());
        self.state.messages.push(message);
    }

    /// Puts the answer to a call into the history.
    fn answered(&mut self, call: &ToolCall, content: String) {
        let id = call.id.clone().unwrap_or_default();
        self.state.messages.push(Message::tool(id, content));
    }

    /// Answers every call with the same refusal, and says so in words, too.
    fn refuse_all(&mut self, reply: &LlmResponse, reason: &str, message: &str, turn: &mut Turn) -> Goes {
        let error = ErrorReply::new(reason, message);
        let goes = self.refuse(reply, &error, turn);
        Goes { feedback: message.to_string(), ..goes }
    }

    /// The same without words.
    fn refuse_quietly(&mut self, reply: &LlmResponse, reason: &str, message: &str, turn: &mut Turn) -> Goes {
        let error = ErrorReply::protocol(reason, message);
        self.refuse(reply, &error, turn)
    }

    fn refuse(&mut self, reply: &LlmResponse, error: &ErrorReply, turn: &mut Turn) -> Goes {
        self.called(reply);
        for call in &reply.tool_calls {
            self.answered(call, error.render());
        }
        turn.result = fail_datum(&Fail::new(error.reason.clone(), error.message.clone()));
        Goes::failed(String::new())
    }

    /// What `lisp_eval` answers for a program that did not end the mission.
    fn envelope(&self, goes: &Goes, turn: &Turn) -> String {
        match &goes.told {
            Told::Error { reason, message } => {
                let message = self.place.secrets().redact(message);
                ErrorReply::new(*reason, message).feedback(goes.feedback.clone()).render()
            }
            Told::Value(told) => {
                let stored = self.engine.as_ref().map(|engine| engine.session.defined().map(str::to_string));
                let memory = told.memory.clone().map(|memory| Memory {
                    stored_keys: stored.map(Iterator::collect).unwrap_or_default(),
                    ..memory
                });
                Success {
                    prints: self.public_prints(turn),
                    feedback: goes.feedback.clone(),
                    memory,
                    ..(**told).clone()
                }
                .render()
            }
            Told::Nothing => Success { feedback: goes.feedback.clone(), ..Success::default() }.render(),
        }
    }

    fn public_prints(&self, turn: &Turn) -> Vec<String> {
        let mut secrets = self.place.secrets();
        turn.prints.iter().map(|line| secrets.redact(line)).collect()
    }

    /// Calls of the host's tools, side by side.
    async fn app_calls(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<Goes, Ended> {
        self.called(reply);
        let Some(engine) = &self.engine else {
            return Err(Fail::new("internal_error", "there are no tools to call").into());
        };
        let limit = self.agent.options().max_tool_calls.map(u64::from);
        let is_combined = self.mode == Mode::Combined;
        // What each call comes to: an answer on its way, or a refusal at once.
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
        let done: Mutex<Vec<Option<Result<Called, ErrorReply>>>> =
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
        let stopped = self.place.within(all).await.err();
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut success = true;
        for (call, done) in reply.tool_calls.iter().zip(done) {
            let content = match done {
                None => {
                    success = false;
                    let error = "given up before there was an answer".to_string();
                    turn.tool_calls.push(self.given_up(call, error.clone()));
                    let reason = if stopped == Some(Stopped::Cancelled) { "cancelled" } else { "timeout" };
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
                    let content = self.answer_text(&called);
                    turn.tool_calls.push(called.record);
                    content
                }
            };
            self.answered(call, content);
        }
        self.state.calls.extend(turn.tool_calls.iter().cloned());
        match stopped {
            Some(stopped) => Err(stopped.into()),
            None => Ok(Goes { feedback: String::new(), success, told: Told::Nothing }),
        }
    }

    /// The record of a call that nobody waited for to the end. What it did by then is not known.
    fn given_up(&self, call: &ToolCall, error: String) -> CallRecord {
        let tool = self.agent.tools().native_named(&call.name);
        CallRecord {
            name: tool.map_or(call.name.clone(), |tool| tool.name.clone()),
            args: call.args.clone().map(Value::Object).unwrap_or_default(),
            error: Some(error),
            layer: "native".to_string(),
            effect: tool.map_or(Effect::Unknown, |tool| tool.effect).name().to_string(),
            timestamp_ms: millis(std::time::SystemTime::now()),
            ..CallRecord::default()
        }
    }

    /// An answer as the model gets it.
    fn answer_text(&self, called: &Called) -> String {
        let text = match &called.answer {
            Err(refusal) => {
                let (reason, message) = match refusal {
                    Refusal::Error(error) => ("tool_error", error.to_string()),
                    Refusal::Fault(fault) if fault.code() == Code::ValidationError => {
                        ("validation_error", fault.parts().message.clone())
                    }
                    Refusal::Fault(fault) => ("tool_error", fault.parts().message.clone()),
                };
                ErrorReply::protocol(reason, message).render()
            }
            Ok(_) if called.preview.is_some() => {
                let preview = called.preview.as_ref().map(|made| Value::Object(made.json.clone()));
                preview.unwrap_or_default().to_string()
            }
            Ok(answer) => {
                let datum = match answer {
                    ToolAnswer::Datum(datum) => Some(datum.clone()),
                    ToolAnswer::Frozen(frozen) => frozen.to_datum(ANSWER_BYTES).ok(),
                };
                match datum {
                    Some(datum) => match to_json(&redact(&datum)) {
                        Ok(json) => json.to_string(),
                        Err(wrong) => ErrorReply::protocol("tool_error", wrong.to_string()).render(),
                    },
                    None => {
                        json!({"status": "ok", "truncated": true, "result": called.record.result}).to_string()
                    }
                }
            }
        };
        self.place.secrets().redact(&text)
    }

    /// A program of an agent that answers in words: what it comes to is an answer to the call, never the end.
    async fn program_beside(
        &mut self,
        reply: &LlmResponse,
        call: &ToolCall,
        turn: &mut Turn,
    ) -> Result<Goes, Ended> {
        self.called(reply);
        let program = match lisp_eval::program(call) {
            Ok(program) => program.to_string(),
            Err(error) => {
                self.answered(call, error.render());
                turn.result = fail_datum(&Fail::new(error.reason.clone(), error.message.clone()));
                return Ok(Goes::failed(String::new()));
            }
        };
        let ran = match self.executed(&program, turn).await {
            Ok((executed, warnings)) => self.beside(executed, &warnings, turn),
            Err(ended) => Err(ended),
        };
        match ran {
            Ok((content, success)) => {
                self.answered(call, content);
                Ok(Goes { feedback: String::new(), success, told: Told::Nothing })
            }
            Err(ended) => {
                let message = match &ended {
                    Ended::Fail(fail) => self.place.secrets().redact(&fail.message),
                    Ended::Value(_) => String::new(),
                };
                let is_memory = turn.limits_hit.iter().any(|limit| limit == MEMORY_LIMIT);
                let reason = if is_memory { MEMORY_LIMIT } else { "runtime_error" };
                self.answered(call, ErrorReply::new(reason, message).render());
                Err(ended)
            }
        }
    }

    /// The reply to a program, and whether it ended well.
    fn beside(
        &mut self,
        executed: Executed,
        warnings: &[String],
        turn: &mut Turn,
    ) -> Result<(String, bool), Ended> {
        let Executed { ending, definitions, .. } = executed;
        let Some(engine) = &mut self.engine else {
            return Err(Fail::new("internal_error", "there is nothing to run programs with").into());
        };
        let value = match &ending {
            Ending::Failed(_) => Ok(None),
            Ending::Value(outcome) | Ending::Returned(outcome) => engine.value(outcome).map(Some),
        };
        let reported = engine.journal.take_reported();
        // Only a plain value is remembered: what a program returned is on its way to the model.
        let remembered = match (&ending, &value) {
            (Ending::Value(outcome), Ok(Some(value))) => Some((&**outcome, value)),
            _ => None,
        };
        let kept = match self.keep(definitions, remembered) {
            Ok(kept) => kept,
            Err((bytes, limit)) => {
                turn.limits_hit.push(MEMORY_LIMIT.to_string());
                let fail = too_much(bytes, limit);
                turn.result = fail_datum(&fail);
                if self.agent.options().memory_strategy == MemoryStrategy::Strict {
                    return Err(fail.into());
                }
                let text = self.feedback(|feedback| feedback.rolled_back(bytes, limit).finish(None));
                return Ok((ErrorReply::new(MEMORY_LIMIT, fail.message).feedback(text).render(), false));
            }
        };
        let value = match value {
            Ok(value) => value,
            // Too large to be handed on; definitions stay.
            Err(fail) => {
                turn.result = fail_datum(&fail);
                return Ok((ErrorReply::new("runtime_error", fail.message).render(), false));
            }
        };
        match (ending, value) {
            (Ending::Failed(failure), _) => Ok((self.failed_beside(&failure, warnings, turn), false)),
            (_, Some(value)) => {
                self.state.summaries.extend(reported);
                turn.result = Some(crate::keys::normalize_keys(&value));
                let feedback = self.feedback(|feedback| {
                    let progress = crate::feedback::Progress {
                        result: Some(&value),
                        prints: &turn.prints,
                        definitions: &kept.definitions,
                        ..Default::default()
                    };
                    let feedback = feedback.progress(&progress).coerced(warnings);
                    match kept.unread {
                        Some((bytes, limit)) => feedback.unread(bytes, limit).finish(None),
                        None => feedback.finish(None),
                    }
                });
                let told = Told::Value(Box::new(self.told_value(&value, &kept.definitions)));
                Ok((self.envelope(&Goes { feedback, success: true, told }, turn), true))
            }
            (_, None) => Ok((Success::default().render(), true)),
        }
    }

    fn failed_beside(&mut self, failure: &Failure, warnings: &[String], turn: &mut Turn) -> String {
        let code = failure.diagnostic().code;
        if code == Code::Fail {
            let nil = Datum::scalar(Node::Nil);
            let value = failure.value.as_ref().unwrap_or(&nil);
            turn.result = Some(value.clone());
            let limits = Shown { items: 50, string: 1000, chars: 2000, depth: 8 };
            let printed = show_public(Tree::new(value).root(), limits);
            let printed = self.place.secrets().redact(&printed);
            return ErrorReply::new("fail", printed.clone()).result(printed).render();
        }
        let hint = self.tool_hint(failure);
        let message = failure.diagnostic().message.clone();
        let message = match &hint {
            Some(hint) => format!("{message}. {hint}"),
            None => message,
        };
        turn.result = fail_datum(&Fail::new(super::fault::reason_of(code), message.clone()));
        let text = self.feedback(|feedback| {
            let feedback = feedback.program_error(failure).coerced(warnings);
            match hint {
                Some(hint) => feedback.note(hint).finish(None),
                None => feedback.finish(None),
            }
        });
        let message = self.place.secrets().redact(&message);
        ErrorReply::new(wire_reason(code), message).feedback(text).render()
    }
}

fn unknown(name: &str) -> String {
    format!("No native tool named `{}`.", crate::data::head(name, 100))
}
