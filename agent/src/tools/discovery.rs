//! Tool discovery: an agent finds the tools that a mission needs among many, by searching for words.

use super::{LlmRef, Tool, ToolSet, Visibility};
use crate::definition::TraceMode;
use crate::mission::{Fail, Step};
use crate::{Agent, RunOptions};
use ptc_bytecode::nearest;
use ptc_runtime::{Catalog, Entry, Origin, ToolError};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum turns for finding tools.
const MAX_TURNS: u32 = 4;

/// Maximum tools found by one search.
const FOUND: usize = 12;

/// Tools shown before the first search.
const SHOWN: usize = 20;

/// Maximum characters shown of a description.
const SHORT: usize = 200;

/// Instruction of the agent that finds tools, placed before the mission.
const TASK: &str = "\
Choose the tools that another agent needs for the mission below; it will have no others. Go through the mission step by \
step: where its rows come from, what they are looked up in, what is computed from them, where the result goes. \
`(tool/search_tools {:query \"words\"})` finds tools by words of their names, descriptions and parameters; ask for each step \
that has no tool yet, in other words than the mission's if need be. Do not work on the mission itself. Then return the \
names: `(return (tool/choose_tools {:names [\"name\" \"name\"]}))`.";

/// Runner of missions over more tools than a model should read about. One agent finds the few that a mission needs, and
/// another does the mission with those.
///
/// ```
/// use ptc_agent::{tools::{LlmRef, Tool, ToolDiscovery, ToolSet}, RunOptions};
/// use ptc_model::Scripted;
/// let all: ToolSet = (0..50)
///     .map(|n| Tool::new(format!("sensor_{n}"), move |_, _| Ok(n)).description("Reads a sensor."))
///     .chain([Tool::new("get_expenses", |_, _| Ok(vec![120, 80])).description("Expenses of a quarter.")])
///     .collect();
/// let model = Scripted::new([
///     "(return (tool/choose_tools {:names [\"get_expenses\"]}))",
///     "(return (reduce + (tool/get_expenses {})))",
/// ]);
/// let run = RunOptions::new().llm(LlmRef::client(model.clone()));
/// let step = ToolDiscovery::new(all).limit(8).run("Sum up the expenses", &run).unwrap();
/// assert_eq!(step.get::<i64>().unwrap(), 200);
/// assert!(!model.requests()[1].system.contains("sensor_7"));
/// ```
#[derive(Clone)]
pub struct ToolDiscovery {
    tools: ToolSet,
    limit: usize,
    llm: Option<LlmRef>,
}

impl ToolDiscovery {
    /// Returns a runner over these tools, with at most eight for a mission.
    pub fn new(tools: ToolSet) -> ToolDiscovery {
        ToolDiscovery { tools, limit: 8, llm: None }
    }

    /// Sets the maximum number of tools for a mission.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> ToolDiscovery {
        self.limit = limit;
        self
    }

    /// Sets the model that finds tools, in place of the mission's.
    #[must_use]
    pub fn llm(mut self, llm: impl Into<LlmRef>) -> ToolDiscovery {
        self.llm = Some(llm.into());
        self
    }

    /// Finds the tools for a mission and runs it with those. [`RunOptions::changing`] sets other options of the agent
    /// that runs it. The step of the finding agent is the first of the result's `child_steps`; if it fails, the mission
    /// gets the tools that [`pick`] chooses, and a warning.
    pub fn run(&self, prompt: &str, options: &RunOptions) -> Result<Step, Box<Step>> {
        let found = match self.finder() {
            None => None,
            Some(finder) => Some(crate::run(&finder?, &self.finding(prompt, options))),
        };
        let (tools, found) = self.chosen(prompt, found);
        found.told(crate::run(&worker(prompt, &tools)?, options))
    }

    /// Finds tools and runs the mission like [`ToolDiscovery::run`], as a future.
    pub async fn run_async(&self, prompt: &str, options: &RunOptions) -> Result<Step, Box<Step>> {
        let found = match self.finder() {
            None => None,
            Some(finder) => Some(crate::run_async(&finder?, &self.finding(prompt, options)).await),
        };
        let (tools, found) = self.chosen(prompt, found);
        found.told(crate::run_async(&worker(prompt, &tools)?, options).await)
    }

    /// Returns the agent that finds tools; None if the mission gets all tools anyway.
    fn finder(&self) -> Option<Result<Agent, Box<Step>>> {
        let names: Vec<String> = self.tools.public().map(|tool| tool.name.clone()).collect();
        if names.len() <= self.limit {
            return None;
        }
        let registry = Registry::new(&self.tools);
        // The run sets the mission as plain text: braces in it are not placeholders.
        let builder = Agent::builder().name("tool_discovery").prompt("Choose the tools of a mission");
        let builder = builder.signature("[:string]").max_turns(MAX_TURNS);
        let builder = builder.tool(search_tools(registry)).tool(choose_tools(names, self.limit));
        Some(builder.build().map_err(refused))
    }

    fn finding(&self, prompt: &str, options: &RunOptions) -> RunOptions {
        let registry = Registry::new(&self.tools);
        let lines: Vec<String> = registry.found(prompt, SHOWN).iter().map(FoundTool::line).collect();
        let shown = match lines.is_empty() {
            true => String::new(),
            false => format!("\n\nTools with words of the mission:\n{}", lines.join("\n")),
        };
        RunOptions {
            llm: self.llm.clone().or_else(|| options.llm.clone()),
            mission: Some(format!("{TASK}\n\nMission: {}{shown}", prompt.trim())),
            llm_registry: options.llm_registry.clone(),
            models: options.models.clone(),
            cache: options.cache,
            token_limit: options.token_limit,
            budget: options.budget.clone(),
            tracer: options.tracer.clone(),
            cancel: options.cancel.clone(),
            schedule: options.schedule.clone(),
            trace: TraceMode::Always,
            ..RunOptions::new()
        }
    }

    /// Returns the tools of the mission.
    fn chosen(&self, prompt: &str, found: Option<Result<Step, Box<Step>>>) -> (ToolSet, Discovery) {
        let step = match found {
            None => return (self.tools.clone(), Discovery::default()),
            Some(found) => found.unwrap_or_else(|step| *step),
        };
        let names = match &step.fail {
            None => step.get::<Vec<String>>().unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        // A program may return names that it did not check with `choose_tools`.
        let is_known = |name: &&str| self.tools.public().any(|tool| tool.name == **name);
        let known: HashSet<&str> =
            names.iter().map(String::as_str).filter(is_known).take(self.limit).collect();
        if !known.is_empty() || (step.is_ok() && names.is_empty()) {
            return (with_private(&self.tools, &known), Discovery { step: Some(step), warning: None });
        }
        let why = step
            .fail
            .as_ref()
            .map_or("it named none that exists".to_string(), |fail| fail.public().to_string());
        let warning =
            format!("the agent that finds tools chose none, so they were picked by their words: {why}");
        (pick(prompt, &self.tools, self.limit), Discovery { step: Some(step), warning: Some(warning) })
    }
}

/// Outcome of finding tools.
#[derive(Default)]
struct Discovery {
    step: Option<Step>,
    warning: Option<String>,
}

impl Discovery {
    /// Adds the cost of finding tools to the result of the mission.
    fn told(self, done: Result<Step, Box<Step>>) -> Result<Step, Box<Step>> {
        let add = |mut step: Step| {
            if let Some(found) = self.step {
                let (tree, more) = (&mut step.usage.tree, &found.usage.tree);
                tree.turns += more.turns;
                tree.llm_requests += more.llm_requests;
                tree.total_tokens += more.total_tokens;
                tree.cost_usd += more.cost_usd;
                step.child_steps.insert(0, found);
            }
            step.warnings.extend(self.warning);
            step
        };
        match done {
            Ok(step) => Ok(add(step)),
            Err(step) => Err(Box::new(add(*step))),
        }
    }
}

fn worker(prompt: &str, tools: &ToolSet) -> Result<Agent, Box<Step>> {
    let builder = tools.iter().cloned().fold(Agent::builder().prompt(prompt), |agent, tool| agent.tool(tool));
    builder.build().map_err(refused)
}

fn refused(error: crate::BuildError) -> Box<Step> {
    Step::failing(Fail::new(error.reason.name(), error.message))
}

/// Index of tools for searches.
#[derive(Clone)]
struct Registry {
    catalog: Arc<Catalog>,
    tools: ToolSet,
}

/// A tool as a search returns it.
#[derive(Serialize)]
struct FoundTool {
    name: String,
    signature: String,
    description: Option<String>,
}

impl FoundTool {
    fn line(&self) -> String {
        let about = self.description.as_ref().map(|text| format!(" - {text}")).unwrap_or_default();
        format!("{}{}{about}", self.name, self.signature)
    }
}

impl Registry {
    fn new(tools: &ToolSet) -> Registry {
        let mut catalog = Catalog::default();
        catalog.add(tools.public().map(entry));
        Registry { catalog: Arc::new(catalog), tools: tools.clone() }
    }

    fn names(&self, text: &str, limit: usize) -> Vec<&str> {
        self.catalog.about(text, limit).into_iter().map(|entry| entry.name.as_str()).collect()
    }

    fn found(&self, text: &str, limit: usize) -> Vec<FoundTool> {
        let names = self.names(text, limit);
        let tools = names.into_iter().filter_map(|name| self.tools.get(name));
        let found = |tool: &Tool| FoundTool {
            name: tool.name.clone(),
            signature: tool.signature_text(),
            description: tool.summary().map(|text| ptc_contract::data::cut(&text, SHORT)),
        };
        tools.map(found).collect()
    }
}

fn search_tools(registry: Registry) -> Tool {
    #[derive(Deserialize)]
    struct Args {
        query: String,
    }
    Tool::new("search_tools", move |args, _| Ok(registry.found(&args.parse::<Args>()?.query, FOUND)))
        .signature("(query :string) -> [{name :string, signature :string, description :string?}]")
        .description("Tools whose names, descriptions or parameters have these words, the best first.")
}

fn choose_tools(known: Vec<String>, limit: usize) -> Tool {
    #[derive(Deserialize)]
    struct Args {
        names: Vec<String>,
    }
    Tool::new("choose_tools", move |args, _| {
        let Args { names } = args.parse()?;
        if names.len() > limit {
            let message = format!(
                "{} tools were chosen, and at most {limit} can be; leave out the least useful",
                names.len()
            );
            return Err(ToolError::new(message));
        }
        if let Some(wrong) = names.iter().find(|name| !known.contains(name)) {
            let shown: String = wrong.chars().take(60).collect();
            let fix = match nearest(wrong, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "search with `(tool/search_tools {:query \"words\"})`".to_string(),
            };
            return Err(ToolError::new(format!("there is no tool `{shown}`; {fix}")));
        }
        Ok(names)
    })
    .signature("(names [:string]) -> [:string]")
    .description(format!("Checks the names of at most {limit} tools, and gives them back."))
}

/// Picks at most `limit` tools that a mission probably needs by its words alone: those with its rarest words first,
/// names before descriptions and parameters. Tools without any word of the mission are left out. All are taken if there
/// are no more than `limit`; private tools, which only preludes call, are always included.
///
/// ```
/// use ptc_agent::tools::{Tool, ToolSet, pick};
/// let all: ToolSet = [
///     Tool::described("get_expenses", "(quarter :string) -> [{total :float}]").description("Expenses of a quarter."),
///     Tool::described("send_mail", "(to :string, text :string) -> :bool").description("Sends a mail."),
///     Tool::described("list_holidays", "() -> [:string]").description("Public holidays."),
/// ].into_iter().collect();
/// let few = pick("Analyze travel expenses for Q3", &all, 2);
/// assert_eq!(few.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["get_expenses"]);
/// ```
pub fn pick(prompt: &str, tools: &ToolSet, limit: usize) -> ToolSet {
    if tools.public().count() <= limit {
        return tools.clone();
    }
    let registry = Registry::new(tools);
    let found: HashSet<&str> = registry.names(prompt, limit).into_iter().collect();
    with_private(tools, &found)
}

/// Returns the tools of these names, and those that only preludes call.
fn with_private(tools: &ToolSet, names: &HashSet<&str>) -> ToolSet {
    let kept = |tool: &&Tool| tool.visibility == Visibility::Private || names.contains(tool.name.as_str());
    tools.iter().filter(kept).cloned().collect()
}

/// Returns the index entry of a tool: its name, and the words of its description, parameters and result.
fn entry(tool: &Tool) -> Entry {
    let about = tool.summary().unwrap_or_default();
    let fields = tool.signature.iter().flat_map(|signature| {
        let given = signature.returns.fields().unwrap_or_default();
        signature.params.iter().chain(given).map(|field| field.name.as_str())
    });
    let others = fields.fold(about.clone(), |text, name| text + " " + name);
    Entry::new(Origin::Upstream, "function", "tool", &tool.name, &about).with_words(&tool.name, &others)
}
