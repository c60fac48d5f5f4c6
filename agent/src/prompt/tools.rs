//! Descriptions of tools for prompts and providers.

use crate::tools::{Tool, native_name};
use ptc_contract::data::cut;
use serde_json::{Value, json};
use std::fmt::Write;

/// Maximum characters of a description.
const DESCRIPTION: usize = 1000;

/// Maximum characters of a parameter's description. Providers get all of it.
const PARAMETER: usize = 200;

/// Maximum number of parameters described in one entry.
const PARAMETERS: usize = 30;

/// Returns one entry per tool, in the order given: signature, firewalled fields, descriptions. The first tool with
/// parameters also has an example of a call.
///
/// ```
/// use ptc_agent::{prompt::tool_list, tools::Tool};
/// let tool = Tool::described("lookup_order", "(order_id :int, with_items :bool?) -> {state :string, _card_token :string}")
///     .description("Load one order.");
/// assert_eq!(tool_list([&tool].into_iter(), true), "\
/// lookup_order(order_id :int, with_items :bool?) -> {state :string}
///   firewalled: _card_token :string
///   Load one order.
///   e.g. (tool/lookup_order {:order_id ... :with_items ...})");
/// ```
pub fn tool_list<'t>(tools: impl Iterator<Item = &'t Tool>, with_example: bool) -> String {
    let mut text = String::new();
    let mut wants_example = with_example;
    for tool in tools {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = write!(text, "{}{}", tool.name, tool.signature_text());
        let firewalled = tool.signature.as_ref().map(|signature| signature.firewalled()).unwrap_or_default();
        if !firewalled.is_empty() {
            let _ = write!(text, "\n  firewalled: {}", firewalled.join(", "));
        }
        if let Some(summary) = tool.summary() {
            for line in cut(summary.trim(), DESCRIPTION).lines() {
                let _ = write!(text, "\n  {line}");
            }
        }
        for line in param_lines(tool) {
            let _ = write!(text, "\n  {line}");
        }
        let params = tool.signature.as_ref().map_or(&[][..], |signature| &signature.params);
        if wants_example && !params.is_empty() {
            wants_example = false;
            let args: Vec<String> = params.iter().map(|param| format!(":{} ...", param.name)).collect();
            let _ = write!(text, "\n  e.g. (tool/{} {{{}}})", tool.name, args.join(" "));
        }
    }
    text
}

/// Returns a line for each described parameter of a tool. Servers write descriptions, so each is kept to one line.
pub(super) fn param_lines(tool: &Tool) -> Vec<String> {
    let described = tool.signature.iter().flat_map(|signature| signature.param_descriptions());
    let line = |text: &str| cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), PARAMETER);
    described.take(PARAMETERS).map(|(path, text)| format!("{path}: {}", line(text))).collect()
}

/// Returns a tool's schema for providers.
pub fn native_schema(tool: &Tool) -> Value {
    let parameters = match (&tool.input_schema, &tool.signature) {
        (Some(schema), _) => schema.clone(),
        (None, Some(signature)) => signature.params_json_schema(),
        (None, None) => json!({"type": "object"}),
    };
    json!({
        "type": "function",
        "function": {
            "name": native_name(&tool.name),
            "description": tool.summary().unwrap_or_default(),
            "parameters": parameters,
        }
    })
}
