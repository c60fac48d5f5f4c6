//! Assembly of the first two messages from agent and data.

use super::inventory::{Inventory, context_fields};
use super::varying::{Varying, limited};
use super::{PromptCtx, compact_card, native_schema, plan_text, reference_card, tool_list};
use crate::Agent;
use crate::attachments::Attachments;
use crate::definition::{
    CompletionMode, ContextPlacement, LanguageParts, LanguageSpec, PromptParts, SystemPrompt, Transport,
};
use crate::lisp_eval::Profile;
use ptc_bytecode::Datum;
use ptc_contract::data::{Tree, View};
use ptc_contract::firewall::Secrets;
use ptc_contract::signature::{Signature, Style, Type};
use ptc_contract::template::{Filling, OnMissing, TemplateError};
use ptc_model::{Output, Part};
use ptc_runtime::{Inventory as PreludeInventory, OfferedExport};
use serde_json::Value;
use std::collections::BTreeMap;

const ROLE: &str = include_str!("../../prompts/role.md");
const RETURN_EXPLICIT: &str = include_str!("../../prompts/return_explicit.md");
const RETURN_SINGLE: &str = include_str!("../../prompts/return_single.md");
const JOURNAL: &str = include_str!("../../prompts/journal.md");
const LLM_QUERY: &str = include_str!("../../prompts/llm_query.md");
const OUTPUT_CONTENT: &str = include_str!("../../prompts/output_content.md");
const OUTPUT_THINKING: &str = include_str!("../../prompts/output_thinking.md");
const OUTPUT_TOOL_CALL: &str = include_str!("../../prompts/output_tool_call.md");
const TEXT_ROLE: &str = include_str!("../../prompts/text_role.md");
const TEXT_TOOLS: &str = include_str!("../../prompts/text_tools.md");
const TEXT_JSON: &str = include_str!("../../prompts/text_json.md");

/// Input for the first messages of a run.
pub struct PromptInput<'p> {
    /// Agent of the run.
    pub agent: &'p Agent,
    /// Data of the mission: a map.
    pub context: View<'p>,
    /// Types of the context, if other than the agent's parameters.
    pub context_signature: Option<&'p Signature>,
    /// Descriptions of fields that an earlier agent passed on.
    pub upstream_descriptions: Option<&'p BTreeMap<String, String>>,
    /// Definitions from earlier messages of a chat.
    pub definitions: &'p [(String, Datum)],
    /// Inventory of the attached prelude; that of the agent's own prelude if unset.
    pub prelude: Option<&'p str>,
    /// Treatment of placeholders without a value, if other than the agent's.
    pub on_missing: Option<OnMissing>,
    /// Text of the mission in place of the agent's template, without placeholders.
    pub mission: Option<&'p str>,
}

impl<'p> PromptInput<'p> {
    /// Returns input with an agent and its data; everything else is unset.
    pub fn new(agent: &'p Agent, context: View<'p>) -> PromptInput<'p> {
        PromptInput {
            agent,
            context,
            context_signature: None,
            upstream_descriptions: None,
            definitions: &[],
            prelude: None,
            on_missing: None,
            mission: None,
        }
    }
}

/// Parts of the first request of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Prompt {
    /// System message; the same for every turn, unless `varying` is set.
    pub system: String,
    /// First user message.
    pub user: String,
    /// Images and documents of the first user message.
    pub parts: Vec<Part>,
    /// Mission, with its placeholders filled.
    pub mission: String,
    /// Schemas of tools offered through the provider.
    pub tool_schemas: Vec<Value>,
    /// JSON schema of the answer, where the provider checks it.
    pub schema: Option<Value>,
    /// Notes on cut parts.
    pub warnings: Vec<String>,
    /// Maker of the system message for each turn, where the host wants that.
    pub varying: Option<Varying>,
}

/// Returns the messages of the first turn, without sending them. Placeholders without a value stay.
pub fn preview_prompt(agent: &Agent, context: &Datum) -> Prompt {
    let agent = &match agent.options().offers_exports() {
        true => agent.offering(OfferedExport::all_of(agent.preludes()), context).0,
        false => agent.clone(),
    };
    let tree = Tree::new(context);
    let mut secrets = Secrets::default();
    secrets.learn(context);
    let input = PromptInput { on_missing: Some(OnMissing::Keep), ..PromptInput::new(agent, tree.root()) };
    assemble(&input, &mut secrets).unwrap_or_else(|error| Prompt {
        system: String::new(),
        user: agent.prompt().to_string(),
        parts: Vec::new(),
        mission: agent.prompt().to_string(),
        tool_schemas: Vec::new(),
        schema: None,
        warnings: vec![error.to_string()],
        varying: None,
    })
}

/// Returns the parts of the first request. Fails if the mission cannot be filled in.
pub fn assemble(input: &PromptInput<'_>, secrets: &mut Secrets) -> Result<Prompt, TemplateError> {
    let agent = input.agent;
    let options = agent.options();
    let filling = Filling {
        style: options.template_style,
        on_missing: input.on_missing.unwrap_or(options.on_missing_template),
        limit: options.prompt_limit,
        is_program: options.output == Output::PtcLisp,
        is_literal: false,
    };
    let declared = options.context_signature.as_ref().and_then(|text| Signature::parse(text).ok());
    let context_signature = input.context_signature.or(declared.as_ref());
    let input = &PromptInput { context_signature, ..*input };
    let mut attachments = Attachments::default();
    let mission = match input.mission {
        Some(mission) => mission.to_string(),
        None => agent
            .template()
            .fill_with(input.context, &filling, &mut |media| attachments.place(media, secrets))?,
    };
    let mission = secrets.redact(&mission);
    let mut warnings = Vec::new();
    if options.output == Output::Text {
        return Ok(text(input, mission, secrets, attachments));
    }
    let parts = match &options.system_prompt {
        Some(SystemPrompt::Parts(parts)) => parts.clone(),
        _ => PromptParts::default(),
    };
    let about = about(input, secrets, &mut attachments);
    let (in_system, in_user) = match options.context_placement {
        ContextPlacement::System => (about, Vec::new()),
        ContextPlacement::User => (Vec::new(), about),
    };
    let mut sections: Vec<String> = parts.prefix.iter().cloned().collect();
    sections.push(ROLE.trim().to_string());
    sections.extend(reference(agent, &parts));
    let before = sections.len();
    sections.extend(finishing(agent, &parts));
    sections.extend(in_system);
    sections.push(parts.output_format.clone().unwrap_or_else(|| output(agent).trim().to_string()));
    sections.extend(parts.suffix.clone());
    let varying = match &parts.language_spec {
        LanguageSpec::Function(explain) => Some(Varying {
            before: sections[..before].join("\n\n"),
            after: sections[before..].join("\n\n"),
            explain: explain.clone(),
            most: options.prompt_limit.max_chars,
        }),
        _ => None,
    };
    let first = PromptCtx { turn: 1, model: "", memory: &BTreeMap::new(), messages: &[] };
    let mut system = match varying.as_ref().and_then(|varying| varying.system(&first)) {
        Some(system) => system,
        None => sections.join("\n\n"),
    };
    match &options.system_prompt {
        Some(SystemPrompt::Replace(text)) => system = text.clone(),
        Some(SystemPrompt::Transform(transform)) => system = transform(system),
        _ => {}
    }
    let (system, told) = limited(system, options.prompt_limit.max_chars);
    warnings.extend(told);
    let mut user = in_user;
    user.push(format!("<mission>\n{}\n</mission>", mission.trim().replace("</mission>", "<\\/mission>")));
    if !options.plan.is_empty() {
        user.push(plan_text(&options.plan, &[]));
    }
    Ok(Prompt {
        system,
        user: user.join("\n\n"),
        parts: attachments.into_parts(),
        mission,
        tool_schemas: lisp_eval_schema(options.ptc_transport),
        schema: None,
        warnings,
        varying,
    })
}

/// Returns the tools offered to the model of an agent that writes programs.
fn lisp_eval_schema(transport: Option<Transport>) -> Vec<Value> {
    match transport {
        Some(Transport::ToolCall) => serde_json::to_value(Profile::AppTools.spec()).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns the explanation of the language.
fn reference(agent: &Agent, parts: &PromptParts) -> Option<String> {
    match &parts.language_spec {
        LanguageSpec::Full => Some(reference_card().to_string()),
        LanguageSpec::Compact => Some(compact_card(agent.tools().in_programs(false))),
        LanguageSpec::None | LanguageSpec::Function(_) => None,
        LanguageSpec::Text(text) => Some(text.clone()),
        LanguageSpec::Parts(own) => {
            Some(own.reference.clone().unwrap_or_else(|| reference_card().to_string()))
        }
    }
}

/// Returns the instructions for finishing, and the explanation of tasks.
fn finishing(agent: &Agent, parts: &PromptParts) -> Vec<String> {
    let options = agent.options();
    let own = match &parts.language_spec {
        LanguageSpec::Parts(own) => own.clone(),
        _ => LanguageParts::default(),
    };
    let is_single = options.max_turns == 1
        && options.retry_turns == 0
        && options.completion_mode == CompletionMode::Implicit
        && agent.tools().is_empty();
    let behavior = if is_single { RETURN_SINGLE } else { RETURN_EXPLICIT };
    let mut sections = vec![own.behavior.unwrap_or_else(|| behavior.trim().to_string())];
    if options.journaling {
        sections.push(own.journal.unwrap_or_else(|| JOURNAL.trim().to_string()));
    }
    sections
}

/// Returns the sections on tools, data, preludes, expected output, and further notes.
fn about(input: &PromptInput<'_>, secrets: &mut Secrets, attachments: &mut Attachments) -> Vec<String> {
    let agent = input.agent;
    let options = agent.options();
    let mut sections = Vec::new();
    let tools = tool_list(agent.tools().in_programs(false), true);
    if !tools.is_empty() {
        sections.push(format!("## Tools you can call\n\n{tools}"));
    }
    let catalog = tool_list(options.tool_catalog.iter(), false);
    if !catalog.is_empty() {
        sections.push(format!("## Tools for planning (do not call)\n\n{catalog}"));
    }
    sections.extend(inventory(input).section(secrets, attachments));
    sections.extend(library(input));
    sections.extend(expected(agent));
    if options.llm_query {
        sections.push(LLM_QUERY.trim().to_string());
    }
    if let Some(most) = options.max_tool_calls {
        sections.push(format!("A program may make at most {most} tool calls."));
    }
    sections
}

/// Returns the section on the exports that attached preludes offer to programs.
fn library(input: &PromptInput<'_>) -> Option<String> {
    let own = || PreludeInventory::default().of(input.agent.preludes());
    let prelude = input.prelude.map(str::to_string).or_else(own)?;
    Some(format!("## Library\n\n{}", prelude.trim_end()))
}

/// Returns the data of the mission, by name and type.
fn inventory<'p>(input: &'p PromptInput<'_>) -> Inventory<'p> {
    let options = input.agent.options();
    let mut types = Vec::new();
    types.extend(input.context_signature.map(context_fields));
    types.push(&input.agent.signature().params);
    let mut descriptions: Vec<&BTreeMap<String, String>> = input.upstream_descriptions.into_iter().collect();
    descriptions.push(&options.context_descriptions);
    Inventory {
        context: input.context,
        types,
        descriptions,
        definitions: input.definitions,
        limit: options.prompt_limit,
    }
}

/// Returns the type of the result, descriptions of its fields, and an example.
fn expected(agent: &Agent) -> Option<String> {
    let returns = &agent.signature().returns;
    if *returns == Type::Any {
        return None;
    }
    let mut text = format!("## Expected output\n\n{}", returns.render(Style::Kebab));
    let told = &agent.options().field_descriptions;
    for (name, description) in told {
        text.push_str(&format!("\n- {}: {description}", ptc_contract::keys::kebab_key(name)));
    }
    for field in returns.fields().unwrap_or_default() {
        let is_told = told.keys().any(|name| ptc_contract::keys::same(name, &field.name));
        if let Some(description) = field.description.as_ref().filter(|_| !is_told) {
            text.push_str(&format!("\n- {}: {description}", ptc_contract::keys::kebab_key(&field.name)));
        }
    }
    text.push_str(&format!("\n\nFor example: (return {})", returns.sample_text()));
    Some(text)
}

fn output(agent: &Agent) -> &'static str {
    let options = agent.options();
    match options.ptc_transport {
        Some(Transport::ToolCall) => OUTPUT_TOOL_CALL,
        _ if options.thinking => OUTPUT_THINKING,
        _ => OUTPUT_CONTENT,
    }
}

/// Returns the prompt of an agent that answers in text.
fn text(
    input: &PromptInput<'_>,
    mission: String,
    secrets: &mut Secrets,
    mut attachments: Attachments,
) -> Prompt {
    let agent = input.agent;
    let options = agent.options();
    let is_combined = options.ptc_transport == Some(Transport::ToolCall);
    let mut tool_schemas: Vec<Value> = agent.tools().native(true).map(native_schema).collect();
    let has_tools = !tool_schemas.is_empty() || is_combined;
    let mut role = vec![TEXT_ROLE.trim().to_string()];
    role.extend(has_tools.then(|| TEXT_TOOLS.trim().to_string()));
    let mut system = match &options.system_prompt {
        Some(SystemPrompt::Replace(text)) => text.clone(),
        Some(SystemPrompt::Transform(transform)) => transform(role.join("\n\n")),
        Some(SystemPrompt::Parts(parts)) => {
            let whole = [parts.prefix.clone(), Some(role.join("\n\n")), parts.suffix.clone()];
            whole.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
        }
        None => role.join("\n\n"),
    };
    if is_combined {
        // A model that is offered `lisp_eval` must know how to use it, even if the host replaces the prompt.
        system = format!("{system}\n\n{}", compact_card(agent.tools().in_programs(true)));
        if let Some(library) = library(input) {
            system = format!("{system}\n\n{library}");
        }
        tool_schemas.push(serde_json::to_value(Profile::Text.spec()).unwrap_or_default());
    }
    let wants_json = !agent.signature().returns.required().is_text();
    let schema = agent.signature().to_json_schema();
    let mut user = Vec::new();
    user.extend(has_tools.then(|| inventory(input).section(secrets, &mut attachments)).flatten());
    user.push(mission.clone());
    if wants_json {
        // Stated in words too: not every model is held to a schema, and none is while it is offered tools.
        let fields = options.field_descriptions.iter();
        let fields: Vec<String> = fields.map(|(name, text)| format!("- {name}: {text}")).collect();
        user.push(format!("{}\n{schema}", TEXT_JSON.trim()));
        user.extend((!fields.is_empty()).then(|| fields.join("\n")));
    }
    let schema = (wants_json && !has_tools).then_some(schema);
    Prompt {
        system,
        user: user.join("\n\n"),
        parts: attachments.into_parts(),
        mission,
        tool_schemas,
        schema,
        warnings: Vec::new(),
        varying: None,
    }
}
