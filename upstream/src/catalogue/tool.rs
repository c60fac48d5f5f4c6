//! One tool of a server, as programs and models may see it.

use super::clean;
use crate::client::{LateSchema, Tool};
use crate::json_schema::JsonSchema;
use crate::redact::Redactor;
use crate::shapes::Shapes;
use ptc_bytecode::Effects;
use ptc_runtime::{Shape, ToolShape};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A tool, scrubbed: everything shown is clean, while requests use the server's own names and schema.
pub struct CatalogTool {
    /// Name, as programs write it.
    pub name: String,
    /// Description, on one line.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: Value,
    /// JSON Schema of the structured replies, if it is kept.
    output_schema: Option<Value>,
    /// Builds that schema otherwise, not yet scrubbed.
    output_later: Option<LateSchema>,
    redactor: Arc<Redactor>,
    /// Annotations by the server, such as `readOnlyHint`.
    pub annotations: Option<Value>,
    /// Origin of a tool made from an OpenAPI operation: `_ptc`.
    pub provenance: Option<Value>,
    /// Name at the server.
    pub(crate) wire_name: String,
    /// Schema of the arguments as the server sent it, so that our checks match its checks.
    wire_schema: JsonSchema,
    /// Shapes of arguments and replies from the schemas, read on first use.
    declared: OnceLock<ToolShape>,
    /// Shapes of the replies so far.
    pub(crate) shapes: Shapes,
}

/// Maximum length of a description, in characters.
const DESCRIPTION: usize = 2_000;

/// Maximum length of a tool's name, in bytes.
const NAME: usize = 256;

impl CatalogTool {
    /// Scrubs a tool; None if its name cannot be written.
    pub(super) fn new(
        tool: Tool,
        output_later: Option<LateSchema>,
        redactor: &Arc<Redactor>,
    ) -> Option<CatalogTool> {
        let name = clean::line(redactor, &tool.name, NAME);
        if name.is_empty() || tool.name.len() > NAME {
            return None;
        }
        Some(CatalogTool {
            description: clean::line(redactor, tool.description.as_deref().unwrap_or_default(), DESCRIPTION),
            input_schema: clean::json(redactor, tool.input_schema.clone()),
            output_later,
            redactor: redactor.clone(),
            output_schema: tool.output_schema.map(|schema| clean::json(redactor, schema)),
            annotations: tool.annotations.map(|annotations| clean::json(redactor, annotations)),
            provenance: tool.provenance.map(|provenance| clean::json(redactor, provenance)),
            wire_name: tool.name,
            wire_schema: JsonSchema::new(tool.input_schema),
            declared: OnceLock::new(),
            shapes: Shapes::default(),
            name,
        })
    }

    /// Returns the JSON Schema of the structured replies, scrubbed.
    pub fn output_schema(&self) -> Option<Value> {
        match &self.output_schema {
            Some(schema) => Some(schema.clone()),
            None => Some(clean::json(&self.redactor, self.output_later.as_ref()?.build()?)),
        }
    }

    /// Returns whether the server has declared the shape of the replies.
    pub(crate) fn declares_output(&self) -> bool {
        self.output_schema.is_some() || self.output_later.is_some()
    }

    /// Returns the effect of calling it, according to the server. Contradicting hints count as no hint.
    pub fn effect(&self) -> Effects {
        let hint = |name: &str| self.annotations.as_ref()?.get(name)?.as_bool();
        match (hint("readOnlyHint"), hint("destructiveHint")) {
            (Some(true), Some(true)) => Effects::Unknown,
            (Some(true), _) => Effects::Read,
            (Some(false), _) | (None, Some(true)) => Effects::Write,
            (None, _) => Effects::Unknown,
        }
    }

    /// Returns the schemas of its arguments, by name.
    pub(crate) fn properties(&self) -> Option<&Map<String, Value>> {
        self.wire_schema.json().get("properties")?.as_object()
    }

    /// Returns the names of its required arguments, in the order of the schema.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        self.wire_schema
            .json()
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    /// Returns the shapes of its arguments and replies.
    pub(crate) fn shape(&self) -> ToolShape {
        let declared = self.declared.get_or_init(|| {
            let answers = self.output_schema().as_ref().map_or(Shape::Anything, Shape::of_json_schema);
            // A scrubbed schema must not be shown; the server still enforces the original.
            let is_clean = *self.wire_schema.json() == self.input_schema;
            let takes = if is_clean { Shape::of_json_schema(&self.input_schema) } else { Shape::Anything };
            ToolShape::new(takes, answers)
        });
        match (self.declares_output(), self.shapes.seen()) {
            (false, Some((seen, _))) => ToolShape::new(declared.takes().clone(), seen),
            _ => declared.clone(),
        }
    }

    /// Explains what is wrong with arguments, as far as the schema tells.
    pub(crate) fn problem(&self, args: &Value) -> Option<String> {
        self.wire_schema.problem(args)
    }
}

impl fmt::Debug for CatalogTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogTool").field("name", &self.name).finish_non_exhaustive()
    }
}
