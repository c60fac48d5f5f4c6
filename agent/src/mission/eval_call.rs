//! Programs in calls of `lisp_eval`: outcomes are as for programs in text, but sent as the result of the call.

use super::native::unknown;
use super::state::{Continuation, EvalReport, Mission, TurnOutcome, fail_datum};
use super::step::{Fail, Turn, TurnKind};
use crate::lisp_eval::{self, ErrorReply, Memory, Preview, Success};
use crate::protocol::{MultipleBlocks, extract_program};
use ptc_bytecode::Datum;
use ptc_model::LlmResponse;

impl Mission {
    /// Handles a reply of an agent that sends its programs through `lisp_eval`.
    pub(super) async fn program_call_reply(
        &mut self,
        reply: &LlmResponse,
        kind: TurnKind,
        turn: &mut Turn,
    ) -> Result<TurnOutcome, Fail> {
        let [call] = &reply.tool_calls[..] else {
            if reply.tool_calls.is_empty() {
                return self.words(reply, turn);
            }
            let message =
                format!("{} tools were called at once; call lisp_eval once per turn", reply.tool_calls.len());
            return Ok(self.refuse_all(reply, "multiple_tool_calls", &message, turn).into());
        };
        if call.name != lisp_eval::NAME {
            let message = unknown(&call.name);
            return Ok(self.refuse_all(reply, "unknown_tool", &message, turn).into());
        }
        let program = match lisp_eval::program(call) {
            Ok(program) => program.to_string(),
            Err(error) => return Ok(self.refuse_all(reply, &error.reason, &error.message, turn).into()),
        };
        self.called(reply);
        let ran = self.run_program(&program, kind, turn).await;
        let mut parts = Vec::new();
        let content = match &ran {
            Ok(TurnOutcome::Continue(next)) => {
                parts.clone_from(&next.parts);
                self.envelope(next, turn)
            }
            Ok(TurnOutcome::Done(value)) => {
                let success = self.success(value, &[]);
                Success { prints: self.public_prints(turn), memory: None, ..success }.render()
            }
            Err(fail) => {
                let message = self.place.secrets().redact(&fail.public().message);
                ErrorReply::new("fail", message).render()
            }
        };
        self.answered(call, content, parts);
        // The feedback went with the answer.
        ran.map(|outcome| match outcome {
            TurnOutcome::Continue(next) => {
                Continuation { feedback: String::new(), parts: Vec::new(), ..next }.into()
            }
            done => done,
        })
    }

    /// Handles text without a call: a program in the wrong place, or the answer.
    fn words(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<TurnOutcome, Fail> {
        let is_fenced = reply.text().contains("```") || reply.text().contains("<clojure>");
        if is_fenced && extract_program(reply.text(), MultipleBlocks::Do).is_ok() {
            self.state.messages.push(reply.to_message());
            let fail = Fail::new("no_code_found", "the program is in the text, not in a call of lisp_eval");
            turn.result = fail_datum(&fail);
            let feedback = self.feedback(|feedback| feedback.use_lisp_eval().finish(None));
            return Ok(Continuation::failed(feedback).into());
        }
        self.text_reply(reply, turn)
    }

    /// Returns the reply of `lisp_eval` to a program that did not end the mission.
    pub(super) fn envelope(&self, next: &Continuation, turn: &Turn) -> String {
        match &next.report {
            EvalReport::Error { reason, message } => {
                let message = self.place.secrets().redact(message);
                ErrorReply::new(*reason, message).feedback(next.feedback.clone()).render()
            }
            EvalReport::Value(success) => {
                let stored = self.engine.as_ref().map(|engine| engine.session.defined().map(str::to_string));
                let memory = success.memory.clone().map(|memory| Memory {
                    stored_keys: stored.map(Iterator::collect).unwrap_or_default(),
                    ..memory
                });
                Success {
                    prints: self.public_prints(turn),
                    feedback: next.feedback.clone(),
                    memory,
                    ..(**success).clone()
                }
                .render()
            }
            EvalReport::Nothing => Success { feedback: next.feedback.clone(), ..Success::default() }.render(),
        }
    }

    pub(super) fn public_prints(&self, turn: &Turn) -> Vec<String> {
        let mut secrets = self.place.secrets();
        turn.prints.iter().map(|line| secrets.redact(line)).collect()
    }

    /// Formats a value and definitions as replies of `lisp_eval` show them.
    pub(super) fn success(&self, value: &Datum, definitions: &[(String, Datum)]) -> Success {
        let format = self.agent.options().format_options;
        let mut secrets = self.place.secrets();
        let mut preview = Preview {
            items: format.result_limit,
            chars: format.preview_max_chars,
            redact: &mut |text| secrets.redact(text),
        };
        let mut success = Success::of(value, &mut preview);
        success.memory = Some(Memory::of(definitions, &mut preview));
        success
    }
}
