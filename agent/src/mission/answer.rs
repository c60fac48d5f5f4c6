//! Answers of tools as a model sees that made the calls itself: whole, or as much as a message has room for.

use super::state::{Mission, Mode};
use super::toolbox::CallOutcome;
use crate::lisp_eval::ErrorReply;
use crate::native_preview::call_text;
use crate::tools::Tool;
use ptc_bytecode::{Code, Datum};
use ptc_contract::data::{Excerpt, to_json};
use ptc_contract::firewall::redact;
use ptc_runtime::{Frozen, Refusal, ToolAnswer};
use serde_json::{Value, json};

/// Bytes of an answer, as data, up to which a message holds all of it.
const WHOLE_BYTES: usize = 256 << 10;

/// Bytes of text that a message holds of a larger answer.
const PART_BYTES: usize = 32 << 10;

/// How much of a larger answer is looked at for that.
const LOOKED_AT_BYTES: usize = 64 << 20;

/// Items that are looked at of a list which is larger still, and how large one of them may be.
const LOOKED_AT: (usize, usize) = (1_000, 64 << 10);

impl Mission {
    /// The content of the message that answers a call.
    pub(super) fn answer_text(&mut self, tool: Option<&Tool>, args: &Datum, called: &CallOutcome) -> String {
        let text = match &called.answer {
            Err(refusal) => refused(refusal).render(),
            Ok(_) if called.preview.is_some() => {
                let preview = called.preview.as_ref().map(|made| Value::Object(made.json.clone()));
                preview.unwrap_or_default().to_string()
            }
            Ok(ToolAnswer::Datum(datum)) => whole(datum),
            Ok(ToolAnswer::Frozen(frozen)) => match frozen.to_datum(WHOLE_BYTES) {
                Ok(datum) => whole(&datum),
                Err(_) => {
                    let name = called.record.name.as_str();
                    let warning = format!(
                        "the model saw a part of what `{name}` answered: it is too large for a message"
                    );
                    if !self.state.warnings.contains(&warning) {
                        self.state.warnings.push(warning);
                    }
                    self.part(tool, name, args, frozen)
                }
            },
        };
        self.place.secrets().redact(&text)
    }

    /// An excerpt, what is missing of the whole, and how to get that.
    fn part(&self, tool: Option<&Tool>, name: &str, args: &Datum, frozen: &Frozen) -> String {
        let total = frozen.outline(0, 0).len;
        // The beginning of a list that is too large even to be looked at, and the whole of everything else.
        let (datum, is_beginning) = match frozen.to_datum(LOOKED_AT_BYTES) {
            Ok(datum) => (Some(datum), false),
            Err(_) => (beginning(frozen), true),
        };
        let Some(datum) = datum else {
            let message = format!("the answer is a {}", super::excerpt::described(frozen));
            return json!({"status": "ok", "truncated": true, "left_out": message, "hint": self.narrower(tool)})
                .to_string();
        };
        let Excerpt { cut, .. } = Excerpt::of(&redact(&datum), PART_BYTES);
        let (excerpt, left_out) = match &cut {
            Some((excerpt, left_out)) => (excerpt, Some(left_out)),
            None => (&datum, None),
        };
        let mut words = left_out.map(|left_out| left_out.in_words()).unwrap_or_default();
        if is_beginning {
            words = format!("all but the beginning of {total} items");
        }
        let is_callable = self.mode == Mode::Combined
            && tool.is_some_and(|tool| tool.effective_expose(true).is_in_programs());
        let hint = match is_callable {
            true => {
                let call = call_text(name, args);
                let next = left_out.and_then(|left_out| left_out.fetch(&call)).unwrap_or(call);
                format!("Call lisp_eval to work on all of it; the next part is {next}")
            }
            false => self.narrower(tool),
        };
        match to_json(&redact(excerpt)) {
            Ok(result) => json!({
                "status": "ok", "truncated": true, "result": result,
                "left_out": words, "hint": hint,
            })
            .to_string(),
            Err(wrong) => ErrorReply::protocol("tool_error", wrong.to_string()).render(),
        }
    }

    /// How a model gets at what is missing where no program can read it.
    fn narrower(&self, tool: Option<&Tool>) -> String {
        let params = tool.and_then(|tool| tool.signature.as_ref()).map(|signature| &signature.params);
        match params {
            Some(params) if params.is_empty() => {
                "This tool takes no arguments, so the rest cannot be had: say in the answer that you saw a part.".to_string()
            }
            Some(params) => {
                let names: Vec<String> = params.iter().map(|field| format!("`{}`", field.name)).collect();
                let names = names.join(", ");
                format!("Call it again with arguments that select less, or the part you miss, by {names}.")
            }
            None => "Call it again with arguments that select less, or the part you miss.".to_string(),
        }
    }
}

/// An answer that a message has room for.
fn whole(datum: &Datum) -> String {
    match to_json(&redact(datum)) {
        Ok(json) => json.to_string(),
        Err(wrong) => ErrorReply::protocol("tool_error", wrong.to_string()).render(),
    }
}

/// The first items of a list, those that are not too large themselves.
fn beginning(frozen: &Frozen) -> Option<Datum> {
    let (count, bytes) = LOOKED_AT;
    let items = frozen.first_items(count, bytes)?;
    let items: Vec<Datum> = items.into_iter().map_while(|item| item).collect();
    let (mut nodes, mut veiled) = (Vec::new(), Vec::new());
    for item in &items {
        veiled.extend(item.veiled().iter().map(|place| place + nodes.len() as u32));
        nodes.extend_from_slice(item.nodes());
    }
    nodes.push(ptc_bytecode::Node::Vector(items.len() as u32));
    Some(Datum::new(nodes)?.with_veiled(veiled)).filter(|_| !items.is_empty())
}

fn refused(refusal: &Refusal) -> ErrorReply {
    let (reason, message) = match refusal {
        Refusal::Error(error) => ("tool_error", error.to_string()),
        Refusal::Fault(fault) if fault.code() == Code::ValidationError => {
            ("validation_error", fault.parts().message.clone())
        }
        Refusal::Fault(fault) if fault.code() == Code::ToolCallLimitExceeded => {
            ("tool_call_limit_exceeded", fault.parts().message.clone())
        }
        Refusal::Fault(fault) => ("tool_error", fault.parts().message.clone()),
    };
    ErrorReply::protocol(reason, message)
}
