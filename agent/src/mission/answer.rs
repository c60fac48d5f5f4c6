//! Results of tools for models that called the tools themselves: whole, or as much as fits into a message.

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

/// Maximum bytes, as data, of a result that a message holds whole.
const WHOLE_BYTES: usize = 256 << 10;

/// Maximum bytes of text that a message holds of a larger result.
const PART_BYTES: usize = 32 << 10;

/// Maximum bytes of a larger result that are read to make an excerpt.
const LOOKED_AT_BYTES: usize = 64 << 20;

/// Maximum items read of a list that is larger still, and maximum bytes of one item.
const LOOKED_AT: (usize, usize) = (1_000, 64 << 10);

impl Mission {
    /// Returns the content of the message that answers a call, with its images and documents.
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
                        "the model saw only a part of the result of `{name}`: it is too large for a message"
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

    /// Returns the part of a result that a model may see. Images and documents take no room in the text.
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

    /// Returns an excerpt, with notes on what is missing and how to get it.
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
            let message = format!("the result is a {}", super::excerpt::described(frozen));
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

    /// Returns advice for reading the rest if no program can read it.
    fn narrower(&self, tool: Option<&Tool>) -> String {
        let params = tool.and_then(|tool| tool.signature.as_ref()).map(|signature| &signature.params);
        match params {
            Some(params) if params.is_empty() => {
                "This tool takes no arguments, so you cannot get the rest: say in the answer that you saw only a part.".to_string()
            }
            Some(params) => {
                let names: Vec<String> = params.iter().map(|field| format!("`{}`", field.name)).collect();
                let names = names.join(", ");
                format!("Call it again with other arguments ({names}), to select less or to get the part that is missing.")
            }
            None => "Call it again with other arguments, to select less or to get the part that is missing.".to_string(),
        }
    }
}

/// The part of an answer that a model may see, without firewalled values.
enum Visible {
    /// The whole answer.
    Whole(Datum),
    /// The whole result, which does not fit into a message.
    Large(Datum),
    /// The beginning of a list that is too large to be read whole.
    Beginning(Datum),
    /// Nothing: the result is too large to be read.
    Nothing,
}

/// Formats a result that fits into a message.
fn whole(datum: &Datum) -> String {
    match to_json(datum) {
        Ok(json) => json.to_string(),
        Err(wrong) => ErrorReply::protocol("tool_error", wrong.to_string()).render(),
    }
}

/// Returns the first items of a list, leaving out those that are too large themselves.
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
