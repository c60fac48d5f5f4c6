//! Tools from files, without code.

use super::{Effect, Expose, LlmRef, LlmTool, NativePreview, Tool, ToolKind, Visibility};
use crate::definition::{Agent, AgentBuilder, BuildError, Reason};
use ptc_contract::signature::{Signature, Validation};
use ptc_contract::template::Template;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A tool in JSON or TOML. With `prompt` it asks a model; with `prompt` and `tools`, or with `agent` (a whole
/// definition), it is a separate agent; with `answer` or `source` it needs no model. With none of these it can only
/// be described, in `tool_catalog`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolConfig {
    /// Mission or question.
    pub prompt: Option<String>,
    /// Signature: shorthand, or Malli data.
    pub signature: Option<Value>,
    /// Descriptions of parameters, by name: see [`Tool::param`].
    pub params: BTreeMap<String, String>,
    /// Model to ask.
    pub llm: Option<LlmRef>,
    /// Tools of the tool's own agent.
    pub tools: Option<BTreeMap<String, Value>>,
    /// Whole agent: its options, or the name of its file, which [`AgentFile`](crate::definition::AgentFile) reads.
    pub agent: Option<Value>,
    /// Constant result; `null` is a result, too.
    #[serde(deserialize_with = "present")]
    pub answer: Option<Value>,
    /// File with the constant result, which `AgentFile` reads.
    pub answer_file: Option<String>,
    /// Program that computes the result: see [`Tool::program`].
    pub source: Option<String>,
    /// File with the program, which `AgentFile` reads.
    pub program: Option<String>,
    /// One-line description for models.
    pub description: Option<String>,
    /// Signature of the model's answer, if other than the tool's.
    pub json_signature: Option<String>,
    /// Program that computes the result from the answer.
    pub response_template: Option<String>,
    /// Flag: results are cached. See [`Tool::cache`].
    pub cache: bool,
    /// Callers of the tool. See [`Tool::expose`].
    pub expose: Option<Expose>,
    /// Preview of results. See [`Tool::native_result`].
    pub native_result: Option<PreviewConfig>,
    /// Visibility to programs and models. See [`Tool::visibility`].
    pub visibility: Visibility,
    /// Namespaces of the preludes that the tool is reserved for. See [`Tool::private_to`].
    pub private_to: Vec<String>,
    /// Strictness of checks. See [`Tool::validation`].
    pub validation: Option<Validation>,
    /// Maximum bytes of cached results. See [`Tool::max_cached_bytes`].
    pub max_cached_bytes: Option<u64>,
    /// Time limit of a call, in milliseconds. See [`Tool::timeout`].
    pub timeout: Option<u64>,
    /// Effect of a call. See [`Tool::effect`].
    pub effect: Effect,
}

/// The option `native_result` in a file: `{preview: rows, limit: 20}`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreviewConfig {
    preview: PreviewName,
    limit: Option<usize>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum PreviewName {
    Metadata,
    Rows,
}

/// Reads a value that is present, even if it is `null`.
fn present<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Default number of rows shown.
const ROWS: usize = 20;

impl Tool {
    /// Reads an entry of a file: a table, or the word `self`.
    pub fn from_json(name: &str, entry: &Value) -> Result<Tool, BuildError> {
        if entry.as_str() == Some("self") {
            return Ok(Tool::self_agent(name));
        }
        let wrong =
            |message: String| BuildError::new(Reason::InvalidTool, format!("the tool `{name}`: {message}"));
        let config: ToolConfig =
            serde_json::from_value(entry.clone()).map_err(|error| wrong(error.to_string()))?;
        config.into_tool(name)
    }
}

impl ToolConfig {
    /// Converts the entry to a tool.
    pub fn into_tool(self, name: &str) -> Result<Tool, BuildError> {
        let wrong =
            |reason, message: String| BuildError::new(reason, format!("the tool `{name}`: {message}"));
        let signature = match &self.signature {
            None => None,
            Some(value) => Some(
                Signature::from_json(value)
                    .map_err(|error| wrong(Reason::InvalidSignature, error.to_string()))?,
            ),
        };
        let mut signature = signature;
        self.one_of().map_err(|message| wrong(Reason::InvalidTool, message))?;
        let mut description = self.description;
        let kind = match (&self.prompt, self.tools) {
            (None, None) if self.agent.is_some() => {
                let table = self.agent.unwrap_or_default();
                let builder = named(AgentBuilder::from_json(&table), name);
                let agent = built(builder).map_err(|(reason, message)| wrong(reason, message))?;
                signature = signature.or_else(|| Some(super::signature_of(&agent)));
                description = description.or_else(|| agent.options().description.clone());
                ToolKind::Agent(Box::new(agent))
            }
            (None, None) if self.answer.is_some() => {
                Tool::answering(name, &self.answer.unwrap_or_default())?.kind
            }
            (None, None) if self.source.is_some() => {
                Tool::program(name, &self.source.unwrap_or_default())?.kind
            }
            (Some(prompt), Some(tools)) => {
                let tools: Result<Vec<Tool>, BuildError> =
                    tools.iter().map(|(name, entry)| Tool::from_json(name, entry)).collect();
                let mut builder = Agent::builder().prompt(prompt).name(name);
                for tool in tools? {
                    builder = builder.tool(tool);
                }
                if let Some(signature) = signature.clone() {
                    builder = builder.signature(signature);
                }
                if let Some(llm) = self.llm {
                    builder = builder.llm(llm);
                }
                let agent = built(builder).map_err(|(reason, message)| wrong(reason, message))?;
                ToolKind::Agent(Box::new(agent))
            }
            (Some(prompt), None) => {
                let prompt = Template::parse(prompt)
                    .map_err(|error| wrong(Reason::TemplateError, error.to_string()))?;
                let json_signature = match &self.json_signature {
                    None => None,
                    Some(text) => Some(
                        Signature::parse(text)
                            .map_err(|error| wrong(Reason::InvalidSignature, error.to_string()))?,
                    ),
                };
                ToolKind::Llm(Box::new(LlmTool {
                    prompt,
                    signature: signature.clone(),
                    json_signature,
                    llm: self.llm.unwrap_or_default(),
                    description: None,
                    response_template: self.response_template,
                    validator: None,
                }))
            }
            (None, Some(_)) => {
                return Err(wrong(Reason::InvalidTool, "`tools` needs a `prompt`".to_string()));
            }
            (None, None) => ToolKind::Described,
        };
        let mut tool = Tool::of(name, kind);
        tool.signature = signature.or(tool.signature);
        tool.description = description;
        tool.cache = self.cache;
        tool.expose = self.expose;
        tool.native_result = self.native_result.map(|config| match config.preview {
            PreviewName::Metadata => NativePreview::Metadata,
            PreviewName::Rows => NativePreview::Rows { limit: config.limit.unwrap_or(ROWS) },
        });
        tool.visibility = self.visibility;
        tool = self.private_to.into_iter().fold(tool, Tool::private_to);
        tool.validation = self.validation;
        tool.timeout = self.timeout;
        tool.max_cached_bytes = self.max_cached_bytes;
        tool.effect = self.effect;
        for (name, description) in &self.params {
            let described = tool.signature.get_or_insert_default().describe(name, description.as_str());
            described.map_err(|error| wrong(Reason::InvalidSignature, format!("`params`: {error}")))?;
        }
        Ok(tool)
    }

    /// Checks that the entry names at most one kind of tool, and has no fields that only the loader of files knows.
    fn one_of(&self) -> Result<(), String> {
        let said = [
            ("prompt", self.prompt.is_some()),
            ("agent", self.agent.is_some()),
            ("answer", self.answer.is_some()),
            ("source", self.source.is_some()),
            ("answer_file", self.answer_file.is_some()),
            ("program", self.program.is_some()),
        ];
        let said: Vec<&str> = said.iter().filter(|(_, is_said)| *is_said).map(|(name, _)| *name).collect();
        match said[..] {
            [] => Ok(()),
            ["answer_file" | "program"] => Err(format!(
                "`{}` names a file, but this agent was not loaded from one: load it with `AgentFile`, or \
                 give `answer` or `source`",
                said[0]
            )),
            ["agent"] if self.tools.is_some() => {
                Err("`tools` belongs in the `agent`, which has its own tools".to_string())
            }
            ["agent"] if self.agent.as_ref().is_some_and(Value::is_string) => {
                Err("`agent` names a file, but this agent was not loaded from one: load it with `AgentFile`"
                    .to_string())
            }
            [_] => Ok(()),
            _ => Err(format!("has {}; keep only one of them", said.join(" and "))),
        }
    }
}

/// Gives an agent without a name the name of the tool.
fn named(builder: AgentBuilder, name: &str) -> AgentBuilder {
    if builder.options().name.is_none() { builder.name(name) } else { builder }
}

/// Builds the agent, or returns all of its problems in one text.
fn built(builder: AgentBuilder) -> Result<Agent, (Reason, String)> {
    let problems = builder.problems();
    if let Some(first) = problems.first() {
        let told: Vec<&str> = problems.iter().map(|problem| problem.message.as_str()).collect();
        return Err((first.reason, told.join("; ")));
    }
    builder.build().map_err(|error| (error.reason, error.message))
}
