//! Tools from files, without code.

use super::{Effect, Expose, LlmRef, LlmTool, NativePreview, Tool, ToolKind, Visibility};
use crate::definition::{Agent, AgentBuilder, BuildError, FieldError, Reason, read_fields};
use ptc_contract::signature::{Signature, Validation};
use ptc_contract::template::Template;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;

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
    /// Reads an entry of a file: a table, or the word `self`. Returns the first problem of a wrong entry.
    pub fn from_json(name: &str, entry: &Value) -> Result<Tool, BuildError> {
        Tool::read(name, entry).map_err(|problems| {
            let none = || wrong(name, Reason::InvalidTool, "cannot be read");
            problems.into_iter().next().unwrap_or_else(none)
        })
    }

    /// Reads an entry of a file, or returns all its problems. Their keys begin inside the entry.
    pub(crate) fn read(name: &str, entry: &Value) -> Result<Tool, Vec<BuildError>> {
        if entry.as_str() == Some("self") {
            return Ok(Tool::self_agent(name));
        }
        let Value::Object(table) = entry else {
            let message = "must be a table, such as {\"answer\": 19}, or \"self\" for the agent itself";
            return Err(vec![wrong(name, Reason::InvalidTool, message)]);
        };
        let config: ToolConfig = read_fields(table).map_err(|problems| {
            let told = |problem: FieldError| {
                let error = wrong(name, Reason::InvalidTool, problem.message);
                if problem.key.is_empty() { error } else { error.under(&[&problem.key]) }
            };
            problems.into_iter().map(told).collect::<Vec<_>>()
        })?;
        config.tool(name)
    }
}

/// Returns a problem of a tool.
fn wrong(name: &str, reason: Reason, message: impl Display) -> BuildError {
    BuildError::new(reason, format!("the tool `{name}`: {message}"))
}

impl ToolConfig {
    /// Converts the entry to a tool, or returns all its problems.
    fn tool(mut self, name: &str) -> Result<Tool, Vec<BuildError>> {
        let mut problems = Vec::new();
        let signature = self.signature.take().and_then(|value| match Signature::from_json(&value) {
            Ok(signature) => Some(signature),
            Err(error) => {
                problems.push(wrong(name, Reason::InvalidSignature, error).under(&["signature"]));
                None
            }
        });
        let has_signature = problems.is_empty();
        let kind = match self.one_of() {
            Ok(()) => self.kind(name, signature.clone()),
            Err(message) => Err(vec![wrong(name, Reason::InvalidTool, message)]),
        };
        let kind = kind.unwrap_or_else(|mut found| {
            problems.append(&mut found);
            ToolKind::Described
        });
        let mut tool = Tool::of(name, kind);
        let of_agent = match &tool.kind {
            ToolKind::Agent(agent) => agent.options().description.clone(),
            _ => None,
        };
        tool.signature = signature.or(tool.signature);
        tool.description = self.description.or(of_agent.filter(|_| self.agent.is_some()));
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
        // Without a signature that can be read, no name of a parameter is known to be wrong.
        for (param, description) in self.params.iter().filter(|_| has_signature) {
            let described = tool.signature.get_or_insert_default().describe(param, description.as_str());
            if let Err(error) = described {
                let error = wrong(name, Reason::InvalidSignature, format!("`params`: {error}"));
                problems.push(error.under(&["params", param]));
            }
        }
        if problems.is_empty() { Ok(tool) } else { Err(problems) }
    }

    /// Returns what answers the calls.
    fn kind(&mut self, name: &str, signature: Option<Signature>) -> Result<ToolKind, Vec<BuildError>> {
        let inside = |problems: Vec<BuildError>, keys: &[&str]| -> Vec<BuildError> {
            let of_tool = |error: BuildError| {
                let message = format!("the tool `{name}`: {}", error.message);
                BuildError { message, ..error }.under(keys)
            };
            problems.into_iter().map(of_tool).collect()
        };
        if let Some(table) = &self.agent {
            let agent = built(named(AgentBuilder::from_json(table), name));
            return Ok(ToolKind::Agent(Box::new(agent.map_err(|problems| inside(problems, &["agent"]))?)));
        }
        if let Some(answer) = &self.answer {
            return Ok(Tool::answering(name, answer).map_err(|error| vec![error.under(&["answer"])])?.kind);
        }
        if let Some(source) = &self.source {
            return Ok(Tool::program(name, source).map_err(|error| vec![error.under(&["source"])])?.kind);
        }
        let tools = self.tools.take();
        let Some(prompt) = self.prompt.take() else {
            return match tools {
                Some(_) => {
                    Err(vec![wrong(name, Reason::InvalidTool, "`tools` needs a `prompt`").under(&["tools"])])
                }
                None => Ok(ToolKind::Described),
            };
        };
        if let Some(tools) = tools {
            let mut builder = Agent::builder().prompt(prompt).name(name);
            let mut problems = Vec::new();
            for (below, entry) in &tools {
                match Tool::read(below, entry) {
                    Ok(tool) => builder = builder.tool(tool),
                    Err(found) => {
                        problems.extend(found.into_iter().map(|error| error.under(&["tools", below])))
                    }
                }
            }
            if let Some(signature) = signature {
                builder = builder.signature(signature);
            }
            if let Some(llm) = self.llm.take() {
                builder = builder.llm(llm);
            }
            let agent = built(builder).map_err(|mut found| {
                problems.append(&mut found);
                inside(std::mem::take(&mut problems), &[])
            })?;
            return match problems.is_empty() {
                true => Ok(ToolKind::Agent(Box::new(agent))),
                false => Err(inside(problems, &[])),
            };
        }
        let mut problems = Vec::new();
        let prompt = Template::parse(&prompt).map_err(|error| {
            problems.push(wrong(name, Reason::TemplateError, error).under(&["prompt"]));
        });
        let json_signature = self.json_signature.take().and_then(|text| {
            let found = Signature::parse(&text).map_err(|error| {
                problems.push(wrong(name, Reason::InvalidSignature, error).under(&["json_signature"]));
            });
            found.ok()
        });
        if let Some(Err(error)) = self.response_template.as_deref().map(Template::parse) {
            let message = format!("`response_template`: {error}");
            problems.push(wrong(name, Reason::TemplateError, message).under(&["response_template"]));
        }
        match prompt {
            Ok(prompt) if problems.is_empty() => Ok(ToolKind::Llm(Box::new(LlmTool {
                prompt,
                signature,
                json_signature,
                llm: self.llm.take().unwrap_or_default(),
                description: None,
                response_template: self.response_template.take(),
                validator: None,
            }))),
            _ => Err(problems),
        }
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

/// Builds the agent, or returns all of its problems.
fn built(builder: AgentBuilder) -> Result<Agent, Vec<BuildError>> {
    let problems = builder.problems();
    match problems.is_empty() {
        true => builder.build().map_err(|error| vec![error]),
        false => Err(problems),
    }
}
