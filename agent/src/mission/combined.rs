//! Programs of agents that answer in text: the outcome of a program is the result of its call, and never ends the mission.

use super::commit::{ProgramEnd, ProgramOutcome};
use super::fault::{MEMORY_LIMIT, reason_of, too_much};
use super::program::undone;
use super::state::{Continuation, EvalReport, Mission, TurnOutcome, fail_datum};
use super::step::{Fail, Turn};
use crate::definition::MemoryStrategy;
use crate::feedback::{ProgramWarnings, Progress};
use crate::lisp_eval::{self, ErrorReply, wire_reason};
use ptc_bytecode::{Code, Datum, Node};
use ptc_contract::data::{Shown, Tree, show_public};
use ptc_contract::keys::normalize_keys;
use ptc_model::{LlmResponse, Part, ToolCall};
use ptc_runtime::Failure;

/// Answer to a program.
struct EvalAnswer {
    content: String,
    /// Images and documents of the values in it.
    parts: Vec<Part>,
    /// Flag: the program succeeded.
    success: bool,
}

impl EvalAnswer {
    fn failed(content: String) -> EvalAnswer {
        EvalAnswer { content, parts: Vec::new(), success: false }
    }
}

impl Mission {
    /// Runs the program of the only call in a reply, and answers the call.
    pub(super) async fn program_beside(
        &mut self,
        reply: &LlmResponse,
        call: &ToolCall,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        self.called(reply);
        let program = match lisp_eval::program(call) {
            Ok(program) => program.to_string(),
            Err(error) => {
                self.answered(call, error.render(), Vec::new());
                turn.result = fail_datum(&Fail::new(error.reason.clone(), error.message.clone()));
                return Ok(Continuation::failed(String::new()).into());
            }
        };
        match self.answer_of(&program, turn).await {
            Ok(EvalAnswer { content, parts, success }) => {
                self.answered(call, content, parts);
                Ok(Continuation { success, ..Continuation::failed(String::new()) }.into())
            }
            Err(fail) => {
                let message = self.place.secrets().redact(&fail.public().message);
                let is_memory = turn.limits_hit.iter().any(|limit| limit == MEMORY_LIMIT);
                let reason = if is_memory { MEMORY_LIMIT } else { "runtime_error" };
                self.answered(call, ErrorReply::new(reason, message).render(), Vec::new());
                Err(fail)
            }
        }
    }

    /// Runs a program and returns the answer to it.
    async fn answer_of(&mut self, program: &str, turn: &mut Turn) -> Result<EvalAnswer, Fail> {
        let execution = self.execute(program, turn).await?;
        let ProgramOutcome { end, kept, warnings, reported } = self.commit(execution, turn)?;
        let kept = match kept {
            Ok(kept) => kept,
            Err(overflow) => {
                let fail = too_much(overflow);
                turn.result = fail_datum(&fail);
                if self.agent.options().memory_strategy == MemoryStrategy::Strict {
                    return Err(fail);
                }
                let text = self.feedback(|feedback| undone(feedback, Some(overflow)).finish(None));
                let reply = ErrorReply::new(MEMORY_LIMIT, fail.message).feedback(text);
                return Ok(EvalAnswer::failed(reply.render()));
            }
        };
        let value = match end {
            ProgramEnd::Value(value) | ProgramEnd::Returned(value) => value,
            ProgramEnd::Failed(failure) => {
                return Ok(EvalAnswer::failed(self.failed_beside(&failure, &warnings, turn)));
            }
            // The value is too large to be passed on; definitions stay.
            ProgramEnd::Unusable(fail) => {
                turn.result = fail_datum(&fail);
                return Ok(EvalAnswer::failed(ErrorReply::new("runtime_error", fail.message).render()));
            }
        };
        self.state.summaries.extend(reported);
        turn.result = Some(normalize_keys(&value));
        let (feedback, parts) = self.feedback(|feedback| {
            let progress = Progress {
                result: Some(&value),
                prints: &turn.prints,
                definitions: &kept.definitions,
                forgotten: kept.forgotten.as_deref(),
                ..Progress::default()
            };
            let feedback = feedback.progress(&progress).warned(&warnings);
            match kept.unread {
                Some(over) => feedback.unread(over.bytes, over.limit).finish_with_parts(None),
                None => feedback.finish_with_parts(None),
            }
        });
        let report = EvalReport::Value(Box::new(self.success(&value, &kept.definitions)));
        let next = Continuation { feedback, parts, success: true, report };
        Ok(EvalAnswer { content: self.envelope(&next, turn), parts: next.parts, success: true })
    }

    fn failed_beside(&mut self, failure: &Failure, warnings: &ProgramWarnings, turn: &mut Turn) -> String {
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
        let hint = self.why_missing(failure);
        let message = failure.diagnostic().message.clone();
        let message = match &hint {
            Some(hint) => format!("{message}. {hint}"),
            None => message,
        };
        turn.result = fail_datum(&Fail::new(reason_of(code), message.clone()));
        let text = self.feedback(|feedback| {
            let feedback = feedback.program_error(failure).warned(warnings);
            match hint {
                Some(hint) => feedback.note(hint).finish(None),
                None => feedback.finish(None),
            }
        });
        let message = self.place.secrets().redact(&message);
        ErrorReply::new(wire_reason(code), message).feedback(text).render()
    }
}
