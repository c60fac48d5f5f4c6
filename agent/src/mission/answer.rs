//! Answers of tools as a model sees that made the calls itself: whole, or as much as a message has room for.

use super::state::{Mission, Mode};
use super::toolbox::CallOutcome;
use crate::attachments::Attachments;
use crate::lisp_eval::ErrorReply;
use crate::native_preview::call_text;
use crate::tools::Tool;
use ptc_bytecode::{Code, Datum};
use ptc_contract::data::{Excerpt, to_json};
use ptc_contract::firewall::without_media;
use ptc_model::Part;
use ptc_runtime::bridge::json_to_datum;
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
    /// The content of the message that answers a call, and the images and documents in it.
    pub(super) fn answer_text(
        &mut self,
        tool: Option<&Tool>,
        args: &Datum,
        called: &CallOutcome,
    ) -> (String, Vec<Part>) {
        let mut attachments = Attachments::default();
        let text = match &called.answer {
            Err(refusal) => refused(refusal).render(),
            Ok(_) if called.preview.is_some() => {
                let preview = called.preview.as_ref().map(|made| Value::Object(made.json.clone()));
                let preview = preview.unwrap_or_default();
                let shown = json_to_datum(&preview).ok().filter(|datum| without_media(datum) != *datum);
                shown.map_or_else(
                    || preview.to_string(),
                    |datum| whole(&self.public(&datum, &mut attachments)),
                )
            }
            Ok(ToolAnswer::Datum(datum)) => whole(&self.public(datum, &mut attachments)),
            Ok(ToolAnswer::Frozen(frozen)) => match self.visible(frozen, &mut attachments) {
                Visible::Whole(datum) => whole(&datum),
                visible => {
                    let name = called.record.name.as_str();
                    let warning = format!(
                        "the model saw a part of what `{name}` answered: it is too large for a message"
                    );
                    if !self.state.warnings.contains(&warning) {
                        self.state.warnings.push(warning);
                    }
                    self.part(tool, name, args, frozen, visible)
                }
            },
        };
        (self.place.secrets().redact(&text), attachments.into_parts())
    }

    fn public(&self, datum: &Datum, attachments: &mut Attachments) -> Datum {
        attachments.public(datum, &mut self.place.secrets())
    }

    /// What a model may see of an answer. Images and documents take no room in the words.
    fn visible(&self, frozen: &Frozen, attachments: &mut Attachments) -> Visible {
        if let Ok(datum) = frozen.to_datum(WHOLE_BYTES) {
            return Visible::Whole(self.public(&datum, attachments));
        }
        match frozen.to_datum(LOOKED_AT_BYTES) {
            Ok(datum) => match self.public(&datum, attachments) {
                public if public.bytes() <= WHOLE_BYTES => Visible::Whole(public),
                public => Visible::Large(public),
            },
            Err(_) => match beginning(frozen) {
                Some(datum) => Visible::Beginning(self.public(&datum, attachments)),
                None => Visible::Nothing,
            },
        }
    }

    /// An excerpt, what is missing of the whole, and how to get that.
    fn part(
        &self,
        tool: Option<&Tool>,
        name: &str,
        args: &Datum,
        frozen: &Frozen,
        visible: Visible,
    ) -> String {
        let total = frozen.outline(0, 0).len;
        let is_beginning = matches!(visible, Visible::Beginning(_));
        let (Visible::Whole(datum) | Visible::Large(datum) | Visible::Beginning(datum)) = visible else {
            let message = format!("the answer is a {}", super::excerpt::described(frozen));
            return json!({"status": "ok", "truncated": true, "left_out": message, "hint": self.narrower(tool)})
                .to_string();
        };
        let Excerpt { cut, .. } = Excerpt::of(&datum, PART_BYTES);
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
        match to_json(excerpt) {
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

/// As much of an answer as a model may see, without what is firewalled.
enum Visible {
    /// All of it.
    Whole(Datum),
    /// All of it, which is more than a message has room for.
    Large(Datum),
    /// The beginning of a list that is too large even to be looked at.
    Beginning(Datum),
    /// It is too large even to be looked at.
    Nothing,
}

/// An answer that a message has room for.
fn whole(datum: &Datum) -> String {
    match to_json(datum) {
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
