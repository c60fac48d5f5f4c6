//! Tools: functions of JavaScript that programs call, by name.

use crate::ask::Ask;
use napi_derive::napi;
use ptc::runtime::Effects;
use ptc::{Shape, ToolError, ToolShape, Tools};
use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

/// One tool, as JavaScript describes it. Its function stays there.
#[napi(object)]
pub struct ToolSpec {
    pub name: String,
    /// JSON Schema of the arguments, as text.
    pub takes: Option<String>,
    /// JSON Schema of the result, as text.
    pub answers: Option<String>,
    /// `read` or `write`.
    pub effect: Option<String>,
    /// Description for models.
    pub description: Option<String>,
    /// True if only preludes may call it.
    pub is_private: bool,
}

/// The tools of an engine.
pub struct Table {
    pub tools: Tools,
    /// Names of the tools whose functions are in JavaScript.
    pub names: HashSet<String>,
    /// Calls those functions from other threads, once something needs that.
    pub ask: Arc<OnceLock<Ask>>,
}

impl Table {
    /// Makes the tools of an engine.
    pub fn new(specs: Vec<ToolSpec>) -> napi::Result<Table> {
        let ask: Arc<OnceLock<Ask>> = Arc::default();
        let names = specs.iter().map(|spec| spec.name.clone()).collect();
        let tools = specs.into_iter().try_fold(Tools::new(), |tools, spec| tool(tools, spec, &ask))?;
        Ok(Table { tools, names, ask })
    }
}

fn tool(tools: Tools, spec: ToolSpec, ask: &Arc<OnceLock<Ask>>) -> napi::Result<Tools> {
    let (name, ask) = (spec.name.clone(), ask.clone());
    // Ordinary runs are driven by JavaScript, which calls the function itself. Batches call from threads of their own.
    let mut tools = tools.with_answer(&spec.name, move |args| match ask.get() {
        Some(ask) => pollster::block_on(ask.tool(name.clone(), args.datum())),
        None => Err(ToolError::new("this tool is called by JavaScript alone")),
    });
    let takes = spec.takes.map_or(Ok(Shape::Anything), |schema| shape(&spec.name, &schema))?;
    let answers = spec.answers.map_or(Ok(Shape::Anything), |schema| shape(&spec.name, &schema))?;
    if takes != Shape::Anything || answers != Shape::Anything {
        tools = tools.shaped(&spec.name, ToolShape::new(takes, answers));
    }
    match spec.effect.as_deref() {
        Some("read") => tools = tools.effect(&spec.name, Effects::Read),
        Some("write") => tools = tools.effect(&spec.name, Effects::Write),
        _ => {}
    }
    if spec.is_private {
        tools = tools.private(&spec.name, |_| Ok(()));
    }
    Ok(tools)
}

fn shape(name: &str, schema: &str) -> napi::Result<Shape> {
    let schema: serde_json::Value = serde_json::from_str(schema)
        .map_err(|error| napi::Error::from_reason(format!("the schema of tool `{name}`: {error}")))?;
    Ok(Shape::of_json_schema(&schema))
}
