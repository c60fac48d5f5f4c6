//! Compiled agents: the model is needed only once, to find a program that then runs without it.

use super::Runnable;
use super::blocking::block_on;
use super::budget::{Budget, Most};
use super::drive::Ending;
use super::effects::MissionEffects;
use super::engine::Engine;
use super::fault::{fail_of, no_model, program_fail};
use super::library::Library;
use super::place::{Place, now};
use super::start::run_below;
use super::step::{Fail, Step};
use crate::definition::{BuildError, Reason, TraceMode, agent_id};
use crate::tools::{Body, Tool, ToolCtx, ToolKind};
use crate::trace::{AgentLabel, Kind};
use crate::{Agent, RunOptions, run_async};
use ptc_bytecode::Datum;
use ptc_contract::keys::normalize_keys;
use ptc_contract::signature::{Literal, Num, Signature, Type};
use ptc_model::Output;
use ptc_runtime::bridge::{datum_to_json, json_to_datum};
use ptc_runtime::{ToolAnswer, ToolArgs, ToolFuture};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Default of `mission_timeout`, used by agents that do not set it.
const DEFAULT_TIMEOUT: Option<u64> = Some(60_000);

/// Options for compiling an agent.
#[derive(Clone, Default)]
pub struct CompileOptions {
    /// Options of the run that finds the program: its model, its registry.
    pub run: RunOptions,
    /// Values for parameters, in place of generated ones.
    pub sample: Map<String, Value>,
}

/// A program that a model found for an agent.
#[derive(Clone)]
pub struct CompiledAgent {
    agent: Agent,
    /// Source of the program.
    pub source: String,
    /// Contract of the agent.
    pub signature: Signature,
    /// Information on the compilation.
    pub metadata: CompiledMetadata,
    /// Descriptions of the result's fields.
    pub field_descriptions: BTreeMap<String, String>,
    /// Flag: the tools need a model.
    pub llm_required: bool,
}

/// Information on the compilation of an agent.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CompiledMetadata {
    /// Time of compilation, in milliseconds since 1970.
    pub compiled_at_ms: u64,
    /// Tokens used.
    pub tokens_used: u64,
    /// Turns used.
    pub turns: u32,
    /// Name of the model.
    pub llm_model: String,
    /// Remarks on the program.
    pub warnings: Vec<String>,
}

/// Lets the model find a program on sample data, and keeps it.
///
/// ```
/// use ptc_agent::{mission::{compile, CompileOptions}, run, tools::LlmRef, Agent, RunOptions};
/// use ptc_model::Scripted;
/// let agent = Agent::builder().prompt("Double {{n}}").signature("(n :int) -> :int").max_turns(1).build()?;
/// let model = LlmRef::client(Scripted::new(["(* 2 data/n)"]));
/// let options = CompileOptions { run: RunOptions::new().llm(model), ..CompileOptions::default() };
/// let doubled = compile(&agent, &options).unwrap();
/// // From here on no model is needed.
/// let step = run(&doubled, &RunOptions::new().context(&serde_json::json!({"n": 21}))?).unwrap();
/// assert_eq!(step.get::<i64>()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(agent: &Agent, options: &CompileOptions) -> Result<CompiledAgent, Box<Step>> {
    block_on(compile_async(agent, options))?
}

async fn compile_async(agent: &Agent, options: &CompileOptions) -> Result<CompiledAgent, Box<Step>> {
    check(agent).map_err(|error| Step::failing(fail_of(&[error])))?;
    let sample = sample(agent.signature(), &options.sample, false);
    let context = |sample: &Value| {
        json_to_datum(sample)
            .map_err(|error| Step::failing(Fail::new("validation_error", format!("the sample: {error}"))))
    };
    // The program is read from the recorded turns.
    let mut run = RunOptions { context: context(&sample)?, trace: TraceMode::Always, ..options.run.clone() };
    let needs_retries = !agent.tools().is_empty() && agent.options().retry_turns == 0;
    if needs_retries {
        run = run.changing(|builder| builder.retry_turns(2));
    }
    let step = run_async(agent, &run).await?;
    let found = step.turns.iter().rev().find(|turn| turn.success).and_then(|turn| turn.program.clone());
    let Some(source) = found else {
        return Err(Step::failing(Fail::new("not_compilable", "the run kept no program that worked")));
    };
    let needs_model =
        |tool: &Tool| matches!(tool.kind, ToolKind::Llm(_) | ToolKind::Agent(_) | ToolKind::SelfAgent);
    let llm = run.resolve_llm(agent.options().llm.as_ref(), None);
    let mut compiled = CompiledAgent {
        agent: agent.clone(),
        source,
        signature: agent.signature().clone(),
        metadata: CompiledMetadata {
            compiled_at_ms: std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |since| since.as_millis() as u64),
            tokens_used: step.usage.total_tokens,
            turns: step.usage.turns,
            llm_model: llm.map(|client| ptc_model::Model::name(&client)).unwrap_or_default(),
            warnings: Vec::new(),
        },
        field_descriptions: agent.options().field_descriptions.clone(),
        llm_required: agent.tools().iter().any(needs_model) || agent.options().llm_query,
    };
    // Detects programs that ignore their data. Tools are not called for this check.
    if agent.tools().is_empty() && !agent.options().llm_query && !agent.signature().params.is_empty() {
        let other = self::sample(agent.signature(), &Map::new(), true);
        let again = RunOptions { context: context(&other)?, ..RunOptions::new() };
        if let Ok(second) = compiled.execute(&again).await
            && second.returned == step.returned
            && other != sample
        {
            let warning = "the program returns the same for different data; it may contain the sample's \
                           result as a constant";
            compiled.metadata.warnings.push(warning.to_string());
        }
    }
    Ok(compiled)
}

/// Checks that an agent can be compiled.
fn check(agent: &Agent) -> Result<(), BuildError> {
    let no = |message: String| Err(BuildError::new(Reason::NotCompilable, message));
    let options = agent.options();
    if options.output != Output::PtcLisp {
        return no("an agent that answers in text has no program to keep".to_string());
    }
    if options.max_turns != 1 {
        return no(format!(
            "only agents of one turn can be compiled, and `max_turns` is {}",
            options.max_turns
        ));
    }
    for tool in agent.tools().iter() {
        if let ToolKind::Agent(below) = &tool.kind
            && below.options().mission_timeout != DEFAULT_TIMEOUT
        {
            return no(format!("the agent behind `{}` has a `mission_timeout` of its own", tool.name));
        }
    }
    Ok(())
}

/// Returns sample data for the parameters; the other sample differs from the first in every value.
fn sample(signature: &Signature, given: &Map<String, Value>, other: bool) -> Value {
    let mut sample = Map::new();
    for field in &signature.params {
        let value = given.get(&field.name).cloned().unwrap_or_else(|| made_up(&field.ty, other));
        sample.insert(field.name.clone(), value);
    }
    for (name, value) in given {
        sample.entry(name.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(sample)
}

/// Returns a sample value. Recurses as deep as the signature nests, which the parser limits.
#[allow(clippy::approx_constant)]
fn made_up(ty: &Type, other: bool) -> Value {
    match ty.required() {
        Type::String if other => json!("another"),
        Type::String => json!("example"),
        Type::Int if other => json!(7),
        Type::Int => json!(42),
        Type::Float if other => json!(2.5),
        Type::Float => json!(3.14),
        Type::Bool => json!(!other),
        Type::List(inner) if other => json!([made_up(inner, true), made_up(inner, true)]),
        Type::List(inner) => json!([made_up(inner, false)]),
        Type::Record { fields, .. } => Value::Object(
            fields.iter().map(|field| (field.name.clone(), made_up(&field.ty, other))).collect(),
        ),
        Type::Map => json!({}),
        Type::And(inner, _) => made_up(inner, other),
        Type::Or(types) => types.first().map_or(Value::Null, |first| made_up(first, other)),
        Type::Enum(values) => {
            let pick = if other { values.last() } else { values.first() };
            pick.map_or(Value::Null, literal)
        }
        Type::DateTime if other => json!("2031-01-02T03:04:05Z"),
        Type::DateTime => json!("2030-01-01T00:00:00Z"),
        _ if other => json!("other"),
        _ => json!("value"),
    }
}

fn literal(literal: &Literal) -> Value {
    match literal {
        Literal::Nil => Value::Null,
        Literal::Bool(value) => json!(value),
        Literal::Num(Num::Int(n)) => json!(n),
        Literal::Num(Num::Float(x)) => json!(x),
        Literal::Str(text) | Literal::Keyword(text) => json!(text),
    }
}

impl Runnable for CompiledAgent {
    fn start<'a>(
        &'a self,
        options: &'a RunOptions,
    ) -> std::pin::Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>> {
        Box::pin(self.execute(options))
    }
}

impl CompiledAgent {
    async fn execute(&self, options: &RunOptions) -> Result<Step, Box<Step>> {
        let agent = match self.agent.prepare(options) {
            Ok(prepared) => prepared,
            Err(problems) => return Err(self.failed(fail_of(&problems))),
        };
        let client = options.resolve_llm(agent.agent.options().llm.as_ref(), None);
        if self.llm_required
            && let Err(error) = &client
        {
            return Err(self.failed(no_model(error)));
        }
        let label = AgentLabel::new(self.agent.name(), &agent_id(&self.agent, ""));
        let own = agent.agent.options();
        let secrets = ptc_contract::firewall::SharedSecrets::default();
        secrets.lock().unwrap_or_else(std::sync::PoisonError::into_inner).learn(&agent.context);
        let hidden = (!own.trace_firewalled).then(|| secrets.clone());
        let most = Most::of(own, options);
        let place = Place {
            depth: 0,
            max_depth: own.max_depth,
            budget: Budget::new(own.turn_budget, most, None),
            deadline: None,
            cancel: options.cancel.clone(),
            schedule: options.schedule.clone(),
            effects: MissionEffects::of(
                options.effects.as_ref(),
                options.oversight.as_ref(),
                options.oversight_name.as_deref(),
            ),
            secrets,
            shows_secrets: own.trace_firewalled,
            client: client.ok(),
            max_heap: own.max_heap,
            max_granted: own.max_granted,
            trusted: own.trusted.clone(),
            policy: own.policy.clone(),
            preludes: agent.agent.handed_down().into(),
            scope: options.tracer.mission(label, hidden),
            run_below,
        };
        let place = Place { deadline: place.deadline_in(own.mission_timeout), ..place };
        let started = now();
        place.scope.emit(Kind::CompiledStart, |_| ());
        let done = self.run(&agent.agent, options, &agent.context, &place).await;
        let kind = if done.is_ok() { Kind::CompiledStop } else { Kind::CompiledException };
        place.scope.emit(kind, |event| event.duration = Some(now().saturating_duration_since(started)));
        let usage = |step: &mut Step| {
            step.usage.duration_ms = now().saturating_duration_since(started).as_millis() as u64;
            step.usage.tree = place.budget.spent();
        };
        done.map(|mut step| {
            usage(&mut step);
            step
        })
        .map_err(|mut step| {
            usage(&mut step);
            step
        })
    }

    async fn run(
        &self,
        agent: &Agent,
        options: &RunOptions,
        context: &Datum,
        place: &Place,
    ) -> Result<Step, Box<Step>> {
        let engine = Library::attach(agent, options, place.trusted.as_ref(), &place.policy, None)
            .and_then(|library| Engine::new(agent, options, library, context, place));
        let mut engine = engine.map_err(|fail| self.failed(fail))?;
        let executed = engine.execute(&self.source, None, place).await;
        let mut step = Step { tool_calls: engine.take_calls(), ..self.blank() };
        step.child_steps = engine.toolbox.children();
        step.child_traces = engine.toolbox.child_traces_since(0);
        step.pmap_calls = engine.take_branches();
        step.prelude_trace = engine.prelude_trace.clone();
        let executed = match executed {
            Ok(executed) => executed,
            Err(stopped) => return Err(Step { fail: Some(stopped.fail()), ..step }.into()),
        };
        let outcome = match executed.ending {
            Ending::Failed(failure) => {
                step.prints = failure.prints.clone();
                step.fail = Some(program_fail(&failure));
                return Err(Box::new(step));
            }
            Ending::Value(outcome) | Ending::Returned(outcome) => outcome,
        };
        step.prints = outcome.prints.clone();
        let value = match engine.value(&outcome) {
            Ok(value) => normalize_keys(&value),
            Err(fail) => return Err(Box::new(Step { fail: Some(fail), ..step })),
        };
        if let Err(rejected) = agent.signature().check_output(&value, agent.options().signature_validation) {
            let lines: Vec<String> = rejected.errors.iter().map(ToString::to_string).collect();
            let fail = Fail::new("validation_error", lines.join("; "));
            return Err(Box::new(Step { fail: Some(fail), ..step }));
        }
        Ok(Step { returned: Some(value), ..step })
    }

    fn blank(&self) -> Step {
        Step {
            signature: self.signature.to_string(),
            name: self.agent.name().map(str::to_string),
            original_prompt: self.agent.prompt().to_string(),
            field_descriptions: self.field_descriptions.clone(),
            ..Step::default()
        }
    }

    fn failed(&self, fail: Fail) -> Box<Step> {
        Box::new(Step { fail: Some(fail), ..self.blank() })
    }

    /// Returns the program as a tool of another agent. Fails if its own tools need a model, since it has none to ask.
    pub fn as_tool(&self, name: impl Into<String>) -> Result<Tool, BuildError> {
        if self.llm_required {
            let message = "tools of the program ask a model; use the agent itself as a tool";
            return Err(BuildError::new(Reason::InvalidTool, message));
        }
        let compiled = self.clone();
        let body = move |args: ToolArgs, ctx: ToolCtx| -> ToolFuture {
            let compiled = compiled.clone();
            Box::pin(async move {
                let options = RunOptions {
                    context: args.datum().clone(),
                    cancel: ctx.cancel.clone(),
                    ..RunOptions::new()
                };
                match compiled.execute(&options).await {
                    // JSON cannot mark firewalled values.
                    Ok(Step { returned: Some(value), .. }) if !value.veiled().is_empty() => {
                        Ok(ToolAnswer::Datum(value))
                    }
                    Ok(step) => {
                        let json = step.returned.as_ref().map_or(Ok(Value::Null), datum_to_json);
                        ToolAnswer::from_serialize(&json.map_err(error)?)
                    }
                    Err(step) => Err(error(step.fail.unwrap_or_default().public())),
                }
            })
        };
        let tool = Tool::of(name, ToolKind::Plain(Body::waiting(body)));
        let tool = tool.with_signature(Ok(self.signature.clone()));
        Ok(match &self.agent.options().description {
            Some(text) => tool.description(text.clone()),
            None => tool,
        })
    }
}

fn error(error: impl std::fmt::Display) -> ptc_runtime::ToolError {
    ptc_runtime::ToolError::new(error)
}

impl std::fmt::Debug for CompiledAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompiledAgent")
            .field("source", &self.source)
            .field("metadata", &self.metadata)
            .finish()
    }
}
