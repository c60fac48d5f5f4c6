//! One tool of a server, as programs and models may see it.

use super::clean;
use crate::client::Tool;
use crate::json_schema::JsonSchema;
use crate::redact::Redactor;
use crate::shapes::Shapes;
use ptc_bytecode::Effects;
use ptc_runtime::{Shape, ToolShape};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::OnceLock;

/// A tool that has been scrubbed. What is shown of it is clean; what is sent is as the server wants it.
pub struct CatalogTool {
    /// Its name, as programs write it.
    pub name: String,
    /// What it does, on one line.
    pub description: String,
    /// JSON Schema of its arguments.
    pub input_schema: Value,
    /// JSON Schema of its structured answers.
    pub output_schema: Option<Value>,
    /// `readOnlyHint` and its kind.
    pub annotations: Option<Value>,
    /// `_ptc`: where it was made from.
    pub provenance: Option<Value>,
    /// The name the server knows it by.
    pub(crate) wire_name: String,
    /// The schema of its arguments as the server sent it: what is checked must be what it checks.
    wire_schema: JsonSchema,
    /// What its schemas say, read when that is first needed.
    declared: OnceLock<ToolShape>,
    /// What it has answered so far.
    pub(crate) shapes: Shapes,
}

/// The longest description that is kept, in characters.
const DESCRIPTION: usize = 2_000;

/// The longest name of a tool, in bytes.
const NAME: usize = 256;

impl CatalogTool {
    /// None for a tool whose name cannot be written.
    pub(super) fn new(tool: Tool, redactor: &Redactor) -> Option<CatalogTool> {
        let name = clean::line(redactor, &tool.name, NAME);
        if name.is_empty() || tool.name.len() > NAME {
            return None;
        }
        Some(CatalogTool {
            description: clean::line(redactor, tool.description.as_deref().unwrap_or_default(), DESCRIPTION),
            input_schema: clean::json(redactor, tool.input_schema.clone()),
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

    /// Effect of calling it, as the server says. Hints that contradict each other say nothing.
    pub fn effect(&self) -> Effects {
        let hint = |name: &str| self.annotations.as_ref()?.get(name)?.as_bool();
        match (hint("readOnlyHint"), hint("destructiveHint")) {
            (Some(true), Some(true)) => Effects::Unknown,
            (Some(true), _) => Effects::Read,
            (Some(false), _) | (None, Some(true)) => Effects::Write,
            (None, _) => Effects::Unknown,
        }
    }

    /// The arguments it knows.
    pub(crate) fn properties(&self) -> Option<&Map<String, Value>> {
        self.wire_schema.json().get("properties")?.as_object()
    }

    /// The arguments it cannot do without, in its own order.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        self.wire_schema
            .json()
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    /// What it takes and answers.
    pub(crate) fn shape(&self) -> ToolShape {
        let declared = self.declared.get_or_init(|| {
            let answers = self.output_schema.as_ref().map_or(Shape::Anything, Shape::of_json_schema);
            // A schema that had to be scrubbed is not told, and its server refuses what it refuses.
            let is_clean = *self.wire_schema.json() == self.input_schema;
            let takes = if is_clean { Shape::of_json_schema(&self.input_schema) } else { Shape::Anything };
            ToolShape::new(takes, answers)
        });
        match (&self.output_schema, self.shapes.seen()) {
            (None, Some((seen, _))) => ToolShape::new(declared.takes().clone(), seen),
            _ => declared.clone(),
        }
    }

    /// What is wrong with arguments, as far as that is known.
    pub(crate) fn problem(&self, args: &Value) -> Option<String> {
        self.wire_schema.problem(args)
    }
}

impl fmt::Debug for CatalogTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogTool").field("name", &self.name).finish_non_exhaustive()
    }
}
