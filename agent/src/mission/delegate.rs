//! Tools that ask a model: questions, other agents, the agent itself. Each call is a child mission of the caller's.

use super::budget::Budget;
use super::place::Place;
use super::step::{Fail, Step};
use crate::Agent;
use crate::definition::{RunOptions, TraceMode};
use crate::tools::{Expose, LlmRef, LlmTool, Tool, ToolKind};
use crate::trace::Scope;
use ptc_bytecode::{Code, Datum, Node};
use ptc_contract::data::{Tree, View};
use ptc_contract::signature::{Field, Signature, Type};
use ptc_contract::template::{Filling, Template};
use ptc_model::Output;
use ptc_runtime::{Fault, Grants, Refusal, Runtime, ToolArgs, ToolError};
use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// Name of the tool that the option `llm_query` adds.
pub(crate) const LLM_QUERY: &str = "llm-query";

/// Arguments of `llm-query` that are not values for the placeholders.
const OWN_KEYS: [&str; 4] = ["prompt", "signature", "llm", "response_template"];

/// Context that child missions get from the agent and the run.
pub(crate) struct Delegate {
    agent: Agent,
    run: RunOptions,
    /// Questions of each LLM tool in the current turn.
    asked: Mutex<HashMap<String, QuestionCount>>,
}

/// Number of questions of one LLM tool in one turn. Judging a list item by item is one step of the mission, however
/// long the list: the first question takes a turn for all of them.
#[derive(Default)]
struct QuestionCount {
    asked: u32,
    has_turn: bool,
}

/// Outcome of a child mission.
pub(crate) struct DelegateOutcome {
    pub value: Result<Datum, ToolError>,
    pub step: Option<Step>,
}

type DelegateFuture<'a> = Pin<Box<dyn Future<Output = Result<DelegateOutcome, Refusal>> + Send + 'a>>;

impl Delegate {
    pub fn new(agent: &Agent, run: &RunOptions) -> Delegate {
        let run = RunOptions {
            llm_registry: run.llm_registry.clone(),
            models: run.models.clone(),
            cache: run.cache,
            trace: TraceMode::Never,
            ..RunOptions::new()
        };
        Delegate { agent: agent.clone(), run, asked: Mutex::default() }
    }

    /// Begins a turn, with fresh question budgets for LLM tools.
    pub fn begin_turn(&self) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns the budget for the next question of this tool.
    fn budget_of(&self, tool: &str, place: &Place) -> Result<Arc<Budget>, Refusal> {
        let most = self.agent.options().max_questions;
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked.entry(tool.to_string()).or_default();
        if count.asked >= most {
            let message =
                format!("`tool/{tool}` has asked the {most} questions of this turn (`max_questions`)");
            let hint = "judge fewer items per turn, or let the host raise `max_questions`";
            return Err(Refusal::Fault(Fault::new(Code::ToolCallLimitExceeded, message).hint(hint)));
        }
        count.asked += 1;
        count.has_turn = count.has_turn || place.budget.take();
        Ok(match count.has_turn {
            true => Budget::paid(place.budget.clone()),
            // Without a turn left, the question fails like any mission without turns.
            false => place.budget.clone(),
        })
    }

    /// Calls a tool that is not host code. Boxed, since missions call missions.
    pub fn call<'a>(
        &'a self,
        tool: &'a Tool,
        args: &'a Datum,
        place: &'a Place,
        scope: &'a Scope,
    ) -> DelegateFuture<'a> {
        Box::pin(async move {
            match &tool.kind {
                ToolKind::Agent(agent) => Ok(self.mission(&tool.name, agent, args, place, scope).await),
                ToolKind::SelfAgent => Ok(self.mission(&tool.name, &self.agent, args, place, scope).await),
                ToolKind::Llm(question) => self.question(tool, question, args, place, scope).await,
                _ if tool.name == LLM_QUERY => self.query(args, place, scope).await,
                ToolKind::Plain(_) | ToolKind::Export(_) | ToolKind::Described => {
                    let message = "it is only described and has no implementation; add code for it in the \
                                   host";
                    Err(ToolError::new(message).into())
                }
            }
        })
    }

    async fn mission(
        &self,
        name: &str,
        agent: &Agent,
        args: &Datum,
        place: &Place,
        scope: &Scope,
    ) -> DelegateOutcome {
        let run = RunOptions { context: args.clone(), ..self.run.clone() };
        let below = Place { scope: scope.clone(), ..place.clone() };
        let done = (place.run_below)(agent, &run, &below).await;
        delegated(done, |fail| format!("the agent behind `{name}` failed with {fail}"))
    }

    async fn question(
        &self,
        tool: &Tool,
        question: &LlmTool,
        args: &Datum,
        place: &Place,
        scope: &Scope,
    ) -> Result<DelegateOutcome, Refusal> {
        if let Some(validator) = &question.validator {
            let checked = AssertUnwindSafe(|| validator(&ToolArgs::new(args.clone())));
            let panicked = |_| Err(ToolError::new("the validator of the tool panicked"));
            std::panic::catch_unwind(checked).unwrap_or_else(panicked)?;
        }
        let signature = tool.signature.clone().unwrap_or_default();
        let answers = question.json_signature.as_ref().unwrap_or(&signature).returns.clone();
        let signature = Signature { params: signature.params.clone(), returns: answers };
        let unused = |name: &str| {
            !question.prompt.names().iter().any(|used| ptc_contract::keys::same(root(used), name))
        };
        let rest = signature.params.iter().map(|field| field.name.as_str()).filter(|name| unused(name));
        let prompt = with_rest(question.prompt.source(), rest);
        let asked = self.ask(&tool.name, &prompt, signature, &question.llm, args, place, scope).await?;
        finished(asked, question.response_template.clone()).await
    }

    /// Asks a question that a program composed.
    async fn query(&self, args: &Datum, place: &Place, scope: &Scope) -> Result<DelegateOutcome, Refusal> {
        let tree = Tree::new(args);
        if tree.root().is_veiled() {
            // Its keys are firewalled too, and they become part of the prompt.
            let message = "the map it was given is firewalled, or one of its keys is; only values may be: \
                           (tool/llm-query {:prompt \"Is {{text}} polite?\" :text t})";
            return Err(ToolError::new(message).into());
        }
        if let Some(veiled) = OWN_KEYS.iter().find(|key| tree.root().get(key).is_some_and(View::is_veiled)) {
            let message = format!("`{veiled}` was made of firewalled values, which no model may see");
            return Err(ToolError::new(message).into());
        }
        let text = |key: &str| match tree.root().get(key).map(|view| view.node()) {
            None | Some(Node::Nil) => Ok(None),
            Some(Node::Str(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(ToolError::new(format!("`{key}` must be a text"))),
        };
        let usage = "`prompt` is missing: (tool/llm-query {:prompt \"Is {{text}} polite?\" :signature \"{polite :bool}\" :text t})";
        let prompt = text("prompt")?.ok_or_else(|| ToolError::new(usage))?;
        let signature = text("signature")?.unwrap_or_else(|| ":string".to_string());
        let signature = Signature::parse(&signature)
            .map_err(|error| ToolError::new(format!("`signature` cannot be read: {error}")))?;
        let llm = self.chosen(text("llm")?)?;
        let template =
            Template::parse(&prompt).map_err(|error| ToolError::new(format!("`prompt`: {error}")))?;
        let (mut nodes, mut veiled) = (Vec::new(), Vec::new());
        let (mut count, mut rest) = (0, Vec::new());
        for (key, value) in tree.root().entries() {
            let Some(name) = key.name().filter(|name| !OWN_KEYS.contains(name)) else { continue };
            nodes.extend_from_slice(key.nodes());
            veiled.extend(value.veiled_below(nodes.len()));
            nodes.extend_from_slice(value.nodes());
            count += 1;
            if !template.names().iter().any(|used| ptc_contract::keys::same(root(used), name)) {
                rest.push(name);
            }
        }
        nodes.push(Node::Map(count));
        let values = Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0))).with_veiled(veiled);
        let prompt = with_rest(&prompt, rest.into_iter());
        let template =
            Template::parse(&prompt).map_err(|error| ToolError::new(format!("`prompt`: {error}")))?;
        let roots: BTreeSet<String> = template.names().iter().map(|name| root(name).to_string()).collect();
        let params = roots.into_iter().map(|name| Field::new(name, Type::Any)).collect();
        let signature = Signature { params, returns: signature.returns };
        let asked = self.ask(LLM_QUERY, &prompt, signature, &llm, &values, place, scope).await?;
        finished(asked, text("response_template")?).await
    }

    /// Returns the model that a program chose, by a name that the host gave.
    fn chosen(&self, name: Option<String>) -> Result<LlmRef, ToolError> {
        match name.map_or(LlmRef::Caller, LlmRef::from) {
            LlmRef::Name(name)
                if !self.run.llm_registry.contains_key(&name) && !self.run.models.is_for_programs(&name) =>
            {
                let message = format!("there is no model `{name}` that programs may ask");
                Err(ToolError::new(format!("{message}; leave `llm` out to ask the agent's own model")))
            }
            llm => Ok(llm),
        }
    }

    /// Asks one question: an agent that answers in text, once.
    #[allow(clippy::too_many_arguments)]
    async fn ask(
        &self,
        name: &str,
        prompt: &str,
        signature: Signature,
        llm: &LlmRef,
        args: &Datum,
        place: &Place,
        scope: &Scope,
    ) -> Result<DelegateOutcome, Refusal> {
        let own = self.agent.options();
        let mut builder = Agent::builder()
            .prompt(prompt)
            .signature(signature)
            .name(name)
            .output(Output::Text)
            .max_turns(1)
            // The question's answer is its text, so preludes' exports are not offered.
            .expose_preludes(Some(Expose::PtcLisp))
            .prompt_limit(own.prompt_limit)
            .llm_retry(own.llm_retry.clone())
            .llm_opts(own.llm_opts.clone())
            .trace_firewalled(own.trace_firewalled);
        if *llm != LlmRef::Caller {
            builder = builder.llm(llm.clone());
        }
        let agent = builder.build().map_err(ToolError::new)?;
        let run = RunOptions { context: args.clone(), ..self.run.clone() };
        let budget = self.budget_of(name, place)?;
        let below = Place { scope: scope.clone(), budget, ..place.clone() };
        Ok(delegated((place.run_below)(&agent, &run, &below).await, ToString::to_string))
    }
}

fn delegated(done: Result<Step, Box<Step>>, say: impl FnOnce(&Fail) -> String) -> DelegateOutcome {
    let step = done.unwrap_or_else(|step| *step);
    let value = match &step.fail {
        Some(fail) => Err(ToolError::new(say(fail.public()))),
        None => Ok(step.returned.clone().unwrap_or_else(|| Datum::scalar(Node::Nil))),
    };
    DelegateOutcome { value, step: Some(step) }
}

/// Returns the first segment of a placeholder's name.
fn root(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Returns a prompt with a line for each value that no placeholder uses.
fn with_rest<'n>(prompt: &str, rest: impl Iterator<Item = &'n str>) -> String {
    let mut text = prompt.to_string();
    for (i, name) in rest.enumerate() {
        text.push_str(if i == 0 { "\n\n" } else { "\n" });
        text.push_str(&format!("{name}: {{{{{name}}}}}"));
    }
    text
}

/// Returns the answer, or the value of the template as a program. That program has no tools and no data, and contains texts
/// only as literals, so that an answer cannot become code.
async fn finished(asked: DelegateOutcome, template: Option<String>) -> Result<DelegateOutcome, Refusal> {
    let (Some(template), Ok(value)) = (template, &asked.value) else { return Ok(asked) };
    let value = value.clone();
    // Programs must not run on the threads of missions.
    let made = tokio::task::spawn_blocking(move || filled(&template, &value)).await;
    let made = made.unwrap_or_else(|error| Err(error.to_string()));
    let wrong = |error: String| ToolError::new(format!("`response_template`: {error}"));
    Ok(DelegateOutcome { value: Ok(made.map_err(wrong)?), ..asked })
}

fn filled(template: &str, value: &Datum) -> Result<Datum, String> {
    let template = Template::parse(template).map_err(|error| error.to_string())?;
    let tree = Tree::new(value);
    let source = template.fill(tree.root(), &Filling::literal()).map_err(|error| error.to_string())?;
    let runtime = Runtime::with_core(ptc_preludes::core()).map_err(|error| error.message)?;
    let outcome = runtime.eval(&source, &Grants::new());
    let outcome = outcome.map_err(|failure| failure.diagnostic().message.clone())?;
    outcome.datum().map_err(|fault| fault.to_string())
}
