//! Incomplete replies: cut at the token limit, refused, or held back by a filter.

use super::state::{Continuation, Mission, Mode, TurnOutcome, fail_datum};
use super::step::{Fail, Turn};
use crate::lisp_eval;
use crate::protocol::has_whole_program;
use ptc_contract::data::cut;
use ptc_model::{LlmResponse, StopReason};
use serde_json::json;

/// Maximum characters of the model's text that a failure repeats.
const WORDS: usize = 2000;

impl Mission {
    /// Handles an incomplete reply. None if the reply is complete, or if the program in it is.
    pub(super) fn unfinished(
        &mut self,
        reply: &LlmResponse,
        turn: &mut Turn,
    ) -> Result<Option<TurnOutcome>, Fail> {
        match &reply.stop {
            Some(StopReason::Refusal) => {
                let words = self.last_words(reply);
                let message = if words.is_empty() { "the model refused to answer" } else { &words };
                Err(Fail::new("model_refused", message))
            }
            Some(StopReason::Filtered) => {
                let words = self.last_words(reply);
                let fail = Fail::new("reply_filtered", "a filter of the provider blocked the reply");
                Err(if words.is_empty() { fail } else { fail.details(json!({"said": words})) })
            }
            Some(StopReason::MaxTokens) if !self.is_whole(reply) => self.cut(reply, turn).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the text of a reply that ends the mission. Its calls are dropped, since nobody will make them.
    fn last_words(&mut self, reply: &LlmResponse) -> String {
        self.state.messages.push(reply.to_message());
        // Redact before cutting: half a secret would not be found.
        cut(&self.place.secrets().redact(reply.text().trim()), WORDS)
    }

    /// Returns whether only text around a program is missing.
    fn is_whole(&self, reply: &LlmResponse) -> bool {
        self.mode == Mode::Program && has_whole_program(reply.text())
    }

    /// Handles a cut reply. Nothing of it is run: half a program may be a valid program, and do half of what was meant.
    fn cut(&mut self, reply: &LlmResponse, turn: &mut Turn) -> Result<TurnOutcome, Fail> {
        let tokens = reply.tokens.and_then(|tokens| tokens.output);
        let place = tokens.map_or("its limit of tokens".to_string(), |tokens| format!("{tokens} tokens"));
        let has_program = match self.mode {
            Mode::Program | Mode::ProgramCall => true,
            Mode::Text | Mode::Combined => reply.tool_calls.iter().any(|call| call.name == lisp_eval::NAME),
        };
        let shorter = if has_program { "program" } else { "answer" };
        let told = format!("Your reply was cut at {place}; write a shorter {shorter}.");
        self.state.was_bad_return = false;
        if !reply.tool_calls.is_empty() {
            let told = format!("{told} Nothing was run.");
            return Ok(self.refuse_quietly(reply, "reply_cut", &told, turn).into());
        }
        self.state.messages.push(reply.to_message());
        let fail = Fail::new("reply_cut", format!("the reply was cut at {place}"));
        turn.result = fail_datum(&fail);
        let left = self.left_after();
        let is_last = self.mode != Mode::Program && left.work_left == 0 && left.retry_left == 0;
        if is_last || self.is_single_shot() {
            return Err(fail);
        }
        let turns = self.turns_line();
        let feedback = self.feedback(|feedback| feedback.note(told).finish(turns.as_ref()));
        Ok(Continuation::failed(feedback).into())
    }
}
