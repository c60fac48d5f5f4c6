//! Tools without host code: a constant result, or a program that computes it.

use super::{Body, Tool, ToolKind};
use crate::definition::{BuildError, Reason};
use ptc_bytecode::Datum;
use ptc_runtime::bridge::{datum_to_json, freeze, json_to_datum};
use ptc_runtime::{Failure, Frozen, Grants, Program, Runtime, ToolAnswer, ToolArgs, ToolError};
use serde_json::Value;

impl Tool {
    /// Makes a tool that always returns this result.
    ///
    /// ```
    /// use ptc_agent::{run, tools::{LlmRef, Tool}, Agent, RunOptions};
    /// use ptc_model::Scripted;
    /// let orders = Tool::answering("orders", &serde_json::json!([{"id": 7}]))?;
    /// let agent = Agent::builder().prompt("Which order?").tool(orders).build()?;
    /// let model = LlmRef::client(Scripted::new(["(return (:id (first (tool/orders))))"]));
    /// assert_eq!(run(&agent, &RunOptions::new().llm(model)).unwrap().get::<i64>()?, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn answering(name: impl Into<String>, answer: &Value) -> Result<Tool, BuildError> {
        let name = name.into();
        let frozen = freeze(answer).map_err(|error| {
            BuildError::new(
                Reason::InvalidTool,
                format!("the tool `{name}`: `answer` cannot be given: {error}"),
            )
        })?;
        Ok(Tool::always(name, frozen))
    }

    /// Makes a tool that always returns this result, from shared data.
    pub fn always(name: impl Into<String>, answer: Frozen) -> Tool {
        let body = move |_: &ToolArgs, _: &super::ToolCtx| Ok(ToolAnswer::Frozen(answer.clone()));
        Tool::of(name, ToolKind::Plain(Body::blocking(body)))
    }

    /// Makes a tool from a program that has no tools. Arguments are its data; `(fail "why")` is the tool's error.
    ///
    /// ```
    /// use ptc_agent::{run, tools::{LlmRef, Tool}, Agent, RunOptions};
    /// use ptc_model::Scripted;
    /// let tax = Tool::program("tax", "(if data/cents (quot (* data/cents 19) 100) (fail \"no cents\"))")?;
    /// let agent = Agent::builder().prompt("Tax of 1000").tool(tax).build()?;
    /// let model = LlmRef::client(Scripted::new(["(return (tool/tax {:cents 1000}))"]));
    /// assert_eq!(run(&agent, &RunOptions::new().llm(model)).unwrap().get::<i64>()?, 190);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn program(name: impl Into<String>, source: &str) -> Result<Tool, BuildError> {
        let name = name.into();
        let broken = |message: String| {
            BuildError::new(Reason::InvalidTool, format!("the tool `{name}`: its program {message}"))
        };
        let runtime = Runtime::with_core(ptc_preludes::core())
            .map_err(|error| broken(format!("cannot be compiled: {}", error.message)))?;
        // Callers may omit arguments, which the program then reads as nil.
        let runtime = runtime.strict_data(false);
        let program = runtime.compile(source).map_err(|failure| {
            let told: Vec<String> = failure
                .diagnostics
                .iter()
                .map(|found| found.to_text(source).trim_end().to_string())
                .collect();
            let inside = failure.diagnostics.iter().find_map(|found| found.place(source));
            BuildError { inside, ..broken(format!("does not compile:\n{}", told.join("\n"))) }
        })?;
        let body = move |args: &ToolArgs, ctx: &super::ToolCtx| answer(&runtime, &program, args, &ctx.cancel);
        Ok(Tool::of(name, ToolKind::Plain(Body::blocking(body))))
    }
}

fn answer(
    runtime: &Runtime,
    program: &Program,
    args: &ToolArgs,
    cancel: &ptc_runtime::Cancel,
) -> Result<ToolAnswer, ToolError> {
    let tree = ptc_contract::data::Tree::new(args.datum());
    let mut grants = Grants::new().cancel(cancel);
    for (key, value) in tree.root().entries() {
        if let Some(name) = key.name() {
            grants = grants.frozen(name, Frozen::from_datum(&value.datum()).map_err(ToolError::new)?);
        }
    }
    let run = runtime.start_with(program, &grants).map_err(refused)?;
    let outcome = run.finish().map_err(refused)?;
    let datum = outcome.datum().map_err(ToolError::new)?;
    // Like answers of host code: JSON data, where possible.
    let plain = datum_to_json(&datum).ok().and_then(|json| json_to_datum(&json).ok());
    Ok(ToolAnswer::Datum(plain.unwrap_or(datum)))
}

/// Converts a failure to the tool's error: the value of `(fail v)`, or the description of the failure.
fn refused(failure: Failure) -> ToolError {
    let said = failure.value.as_ref().and_then(|value: &Datum| datum_to_json(value).ok());
    match said {
        Some(Value::String(text)) => ToolError::new(text),
        Some(other) => ToolError::new(other),
        None => ToolError::new(&failure.diagnostic().message),
    }
}
