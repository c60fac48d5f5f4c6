//! The tool `create_plan`: a planning agent reads descriptions of tools, and leaves a list of steps.

use super::{Effect, Tool};
use crate::plan::{Plan, PlanSink, PlanStep};
use ptc_bytecode::nearest;
use ptc_runtime::ToolError;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
struct Draft {
    title: String,
    steps: Vec<DraftStep>,
}

#[derive(Deserialize, Serialize)]
struct DraftStep {
    id: String,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
}

/// Returns the tool `create_plan`, which checks a list of steps, passes it to `sink` and returns it. A step may name
/// those of `tools` that it needs; they are the tools of the agent that will follow the plan.
///
/// ```
/// use ptc_agent::{Agent, plan::MemoryPlans, tools::{Tool, create_plan}};
/// let plans = MemoryPlans::default();
/// let search = Tool::described("search", "(query :string) -> [:string]");
/// let planner = Agent::builder()
///     .prompt("Plan how to find {{what}}")
///     .signature("(what :string) -> {title :string, steps [:map]}")
///     .catalog_tool(search)
///     .tool(create_plan(plans.clone(), ["search"]))
///     .build()?;
/// assert!(planner.tools().get("create_plan").is_some());
/// # Ok::<(), ptc_agent::BuildError>(())
/// ```
pub fn create_plan<N: Into<String>>(
    sink: impl PlanSink + 'static,
    tools: impl IntoIterator<Item = N>,
) -> Tool {
    let known: Vec<String> = tools.into_iter().map(Into::into).collect();
    Tool::new("create_plan", move |args, _| {
        let draft: Draft = args.parse()?;
        sink.keep(&checked(&draft, &known)?)?;
        Ok(draft)
    })
    .signature(
        "(title :string, steps [{id :string, text :string, tool :string?}]) -> \
         {title :string, steps [{id :string, text :string, tool :string?}]}",
    )
    .description("Keeps a plan: steps with ids of their own, each with the tool it needs, if any.")
    .effect(Effect::Write)
}

/// Checks a draft and converts it to a plan.
fn checked(draft: &Draft, known: &[String]) -> Result<Plan, ToolError> {
    let step = |draft: &DraftStep| {
        let step = PlanStep::new(draft.id.trim(), draft.text.trim());
        draft.tool.iter().fold(step, |step, tool| step.tool(tool))
    };
    let plan = Plan::new(draft.title.trim(), draft.steps.iter().map(step));
    if plan.steps.is_empty() {
        return Err(ToolError::new(
            "the plan has no steps; give it `:steps [{:id \"load\" :text \"Load the orders\"}]`",
        ));
    }
    plan.check().map_err(|error| ToolError::new(error.message))?;
    let mut named = plan.steps.iter().flat_map(|step| step.tools.iter().map(move |tool| (step, tool)));
    if let Some((step, tool)) = named.find(|(_, tool)| !known.contains(tool)) {
        let shown: String = tool.chars().take(60).collect();
        let fix = match nearest(tool, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if known.is_empty() => "there are none, so leave `:tool` out".to_string(),
            None => format!("there are: {}", list(known)),
        };
        let message = format!("step `{}` needs the tool `{shown}`, which does not exist; {fix}", step.id);
        return Err(ToolError::new(message));
    }
    Ok(plan)
}

/// Formats names as a list, cut to a few.
fn list(known: &[String]) -> String {
    let more = known.len().saturating_sub(20);
    let names: Vec<&str> = known.iter().take(20).map(String::as_str).collect();
    match more {
        0 => names.join(", "),
        _ => format!("{} and {more} more", names.join(", ")),
    }
}
