//! Built-in tools of agents.

use super::{Effect, Tool, Visibility, create_plan};
use crate::definition::{AgentOptions, BuiltinTool};
use crate::plan::PlanSink;
use ptc_runtime::ToolError;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum size of a compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// Returns the tools for an entry of the option `builtin_tools`, for an agent with these options.
pub fn builtin_tools(builtin: BuiltinTool, options: &AgentOptions) -> Vec<Tool> {
    let mut tools = match builtin {
        BuiltinTool::Grep => vec![grep(), grep_n()],
        BuiltinTool::CreatePlan => vec![plan(options)],
    };
    tools.iter_mut().for_each(|tool| tool.is_builtin = true);
    tools
}

/// Returns the tool `create_plan`. Plans may name tools described for planning, and the agent's own.
fn plan(options: &AgentOptions) -> Tool {
    let tools = options.tool_catalog.iter().chain(options.tools.iter());
    let tools = tools.filter(|tool| tool.visibility == Visibility::Public && tool.name != "create_plan");
    let names: BTreeSet<&str> = tools.map(|tool| tool.name.as_str()).collect();
    let sink: Arc<dyn PlanSink> = options.plan_sink.clone().unwrap_or_else(|| Arc::new(Nobody));
    create_plan(sink, names)
}

/// Sink that keeps nothing: the plan is the agent's result.
struct Nobody;

impl PlanSink for Nobody {
    fn keep(&self, _: &crate::plan::Plan) -> Result<(), ToolError> {
        Ok(())
    }
}

#[derive(Deserialize)]
struct Search {
    pattern: String,
    text: String,
    context: Option<usize>,
}

#[derive(Serialize)]
struct Line<'t> {
    line: usize,
    text: &'t str,
    r#match: bool,
}

fn grep() -> Tool {
    let body = |search: Search| -> Result<Vec<String>, ToolError> {
        let regex = regex(&search.pattern)?;
        Ok(search.text.lines().filter(|line| regex.is_match(line)).map(str::to_string).collect())
    };
    Tool::new("grep", move |args, _| body(args.parse()?))
        .signature("(pattern :string, text :string) -> [:string]")
        .description("Lines of a text that match a pattern, in upper or lower case.")
        .effect(Effect::Read)
}

fn grep_n() -> Tool {
    let body = |args: &ptc_runtime::ToolArgs| -> Result<serde_json::Value, ToolError> {
        let search: Search = args.parse()?;
        let regex = regex(&search.pattern)?;
        let lines: Vec<&str> = search.text.lines().collect();
        let matches: Vec<bool> = lines.iter().map(|line| regex.is_match(line)).collect();
        let around = search.context.unwrap_or(0);
        let near = distances(&matches);
        let shown: Vec<Line<'_>> = lines
            .iter()
            .enumerate()
            .filter(|(i, _)| near[*i].is_some_and(|far| far <= around))
            .map(|(i, text)| Line { line: i + 1, text, r#match: matches[i] })
            .collect();
        serde_json::to_value(shown).map_err(ToolError::new)
    };
    Tool::new("grep-n", move |args, _| body(args))
        .signature(
            "(pattern :string, text :string, context :int?) -> [{line :int, text :string, match :bool}]",
        )
        .description("The same with line numbers, and with lines around each match.")
        .effect(Effect::Read)
}

/// Returns the distance of each line to the nearest match, in one pass from each side.
fn distances(matches: &[bool]) -> Vec<Option<usize>> {
    let mut near = vec![None; matches.len()];
    let mut pass = |order: &mut dyn Iterator<Item = usize>| {
        let mut last: Option<usize> = None;
        for i in order {
            last = if matches[i] { Some(0) } else { last.map(|far| far + 1) };
            near[i] = match (near[i], last) {
                (Some(a), Some(b)) => Some(std::cmp::min::<usize>(a, b)),
                (a, b) => a.or(b),
            };
        }
    };
    pass(&mut (0..matches.len()));
    pass(&mut (0..matches.len()).rev());
    near
}

/// Compiles a pattern as `grep` does: ignoring case, with `\|` between alternatives.
fn regex(pattern: &str) -> Result<Regex, ToolError> {
    RegexBuilder::new(&pattern.replace("\\|", "|"))
        .case_insensitive(true)
        .size_limit(PATTERN_BYTES)
        .build()
        .map_err(|_| {
            ToolError::new(format!("`{}` is not a pattern", pattern.chars().take(100).collect::<String>()))
        })
}
