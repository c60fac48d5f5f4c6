//! Start of a mission: everything is checked and made before the first request.

use super::budget::{Budget, Most};
use super::effects::MissionEffects;
use super::engine::Engine;
use super::fault::{chained, fail_of, no_model};
use super::library::Library;
use super::place::{Place, now};
use super::servers::equipped;
use super::state::{Mission, Mode, State};
use super::step::{Fail, Step, json_of};
use crate::attachments::keep_newest;
use crate::definition::{PreparedRun, RunOptions, agent_id};
use crate::prompt::{PromptInput, assemble};
use crate::trace::{AgentLabel, Kind, Scope};
use crate::{Agent, definition};
use ptc_contract::data::Tree;
use ptc_contract::firewall::{SharedSecrets, redact, without_media};
use ptc_contract::servers::Servers;
use ptc_model::{Client, Message, Model, Pricing, Retry};
use ptc_runtime::Policy;
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Runs a mission that was not delegated.
pub(crate) async fn run_root(agent: &Agent, run: &RunOptions) -> Result<Step, Box<Step>> {
    let started = now();
    let Some(servers) = &run.servers else { return start(agent, run, None, started).await };
    let finish = FinishOnDrop(servers);
    if let Some(fail) = super::servers::same_name(agent, run) {
        return Err(Box::new(Step::failed(fail)));
    }
    let (equipped, warnings) = equipped(agent, run, servers).await;
    let mut ended = start(agent, &equipped, None, started).await;
    drop(finish);
    let step: &mut Step = match &mut ended {
        Ok(step) => step,
        Err(step) => step,
    };
    step.catalog_ops = servers.finish();
    step.warnings.extend(warnings);
    ended
}

/// Guard that ends the servers' run with the mission, even if the mission's future is dropped.
struct FinishOnDrop<'s>(&'s Arc<dyn Servers>);

impl Drop for FinishOnDrop<'_> {
    fn drop(&mut self) {
        self.0.finish();
    }
}

/// Runs a child mission.
pub(super) fn run_below<'a>(
    agent: &'a Agent,
    run: &'a RunOptions,
    above: &'a Place,
) -> Pin<Box<dyn Future<Output = Result<Step, Box<Step>>> + Send + 'a>> {
    Box::pin(start(agent, run, Some(above), now()))
}

/// Starts a mission. `started` is when its time began, which includes waiting for servers before this call.
async fn start(
    agent: &Agent,
    run: &RunOptions,
    above: Option<&Place>,
    started: Instant,
) -> Result<Step, Box<Step>> {
    let refused = |fail: Fail| {
        Err(Box::new(Step {
            signature: agent.signature().to_string(),
            name: agent.name().map(str::to_string),
            original_prompt: agent.prompt().to_string(),
            ..Step::failed(fail)
        }))
    };
    if let Some(fail) = &run.chained_failure {
        return refused(chained(fail));
    }
    let prepared = match agent.prepare(run) {
        Ok(prepared) => prepared,
        Err(problems) => return refused(fail_of(&problems)),
    };
    // Missions below are checked together with the root, before anything is spent.
    if above.is_none()
        && let problems = prepared.agent.unpriced(run)
        && !problems.is_empty()
    {
        return refused(fail_of(&problems));
    }
    let client = match run
        .resolve_llm(prepared.agent.options().llm.as_ref(), above.and_then(|above| above.client.as_ref()))
    {
        Ok(client) => client,
        Err(error) => return refused(no_model(&error)),
    };
    match build(prepared, run, client, above, started) {
        Err(fail) => refused(fail),
        Ok(mission) => to_end(mission).await,
    }
}

/// Runs the turns to the end, and emits the events around them.
async fn to_end(mut mission: Mission) -> Result<Step, Box<Step>> {
    let scope = mission.place.scope.clone();
    scope.config(|| config(&mission.agent));
    scope.emit(Kind::RunStart, |event| {
        event.model = Some(mission.model_name.clone());
        let context: Vec<Value> = match &mission.engine {
            Some(engine) => engine.names().map(Value::from).collect(),
            None => Vec::new(),
        };
        event.data.insert("context".to_string(), Value::Array(context));
        event.data.insert("prompt".to_string(), json!(mission.prompt.mission));
    });
    let unended = UnendedRun(Some(scope.clone()));
    let end = match mission.place.depth > mission.place.max_depth {
        true => {
            let message = format!(
                "agents call agents {} levels deep, but at most {} are allowed (`max_depth`)",
                mission.place.depth, mission.place.max_depth
            );
            Err(Fail::new("max_depth_exceeded", message))
        }
        false => mission.work().await,
    };
    let shows_secrets = mission.place.shows_secrets;
    let trace_id = scope.is_on().then(|| scope.trace_id().to_string());
    let above = scope.parent_trace_id().map(|id| id.to_string());
    let step = Step { trace_id: trace_id.unwrap_or_default(), parent_trace_id: above, ..mission.finish(end) };
    unended.has_ended();
    let is_ours = step.reason() == INTERNAL;
    scope.emit(if is_ours { Kind::RunException } else { Kind::RunStop }, |event| {
        event.status = Some(if step.is_ok() { "ok" } else { "error" }.into());
        if is_ours {
            event.put("kind", "error");
            event.put("reason", step.fail.as_ref().map_or("", |fail| &fail.message));
        }
        match (&step.returned, &step.fail) {
            (_, Some(fail)) => {
                let fail = if shows_secrets { fail } else { fail.public() };
                event.data.insert("fail".to_string(), json!(fail))
            }
            (value, None) => {
                let traced = |value: &ptc_bytecode::Datum| match shows_secrets {
                    true => json_of(&without_media(value)),
                    false => json_of(&without_media(&redact(value))),
                };
                event.data.insert("return".to_string(), value.as_ref().map_or(Value::Null, traced))
            }
        };
        event.data.insert("usage".to_string(), json!(step.usage));
    });
    if step.is_ok() { Ok(step) } else { Err(Box::new(step)) }
}

/// Reason of a mission that failed because of a bug: in this crate, or in a function of the host.
const INTERNAL: &str = "internal_error";

/// Guard that reports a mission without an end: its future was dropped, or its thread panicked.
struct UnendedRun(Option<Scope>);

impl UnendedRun {
    fn has_ended(mut self) {
        self.0 = None;
    }
}

impl Drop for UnendedRun {
    fn drop(&mut self) {
        let Some(scope) = &self.0 else { return };
        let (kind, reason) = match std::thread::panicking() {
            true => ("panic", "the mission panicked"),
            false => ("dropped", "the mission was abandoned: nothing waits for its result any more"),
        };
        scope.emit(Kind::RunException, |event| {
            event.status = Some("error".into());
            event.put("kind", kind);
            event.put("reason", reason);
        });
    }
}

fn build(
    prepared: PreparedRun,
    run: &RunOptions,
    client: Client,
    above: Option<&Place>,
    started: Instant,
) -> Result<Mission, Fail> {
    let PreparedRun { agent, context, context_signature, warnings } = prepared;
    let options = agent.options();
    let mode = Mode::of(&agent);
    let secrets: SharedSecrets = above.map(|above| above.secrets.clone()).unwrap_or_default();
    {
        let mut secrets = secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.learn(&context);
        for (name, value) in &run.memory {
            secrets.learn_frozen(Some(name), value);
        }
    }
    let definitions: Vec<(String, ptc_bytecode::Datum)> = run
        .memory
        .iter()
        .filter_map(|(name, value)| Some((name.clone(), value.to_datum(1 << 20).ok()?)))
        .collect();
    // The outermost mission that names any keys decides for all below.
    let trusted = above.and_then(|above| above.trusted.clone()).or_else(|| options.trusted.clone());
    // A child mission sees no more than the missions above it allow.
    let policy = above.map_or_else(Policy::default, |above| above.policy.clone()).and(&options.policy);
    // Inherited libraries are limited to those that its own tools allow.
    let inherited = above.filter(|_| agent.preludes().is_empty() && options.inherit_preludes);
    let inherited = inherited.map(|above| above.preludes.clone());
    let has_preludes =
        !agent.preludes().is_empty() || inherited.as_ref().is_some_and(|preludes| !preludes.is_empty());
    let has_exports = options.offers_exports() && has_preludes;
    let library = match mode == Mode::Text && agent.tools().is_empty() && !has_exports {
        true => None,
        false => Some(Library::attach(&agent, run, trusted.as_ref(), &policy, inherited.as_deref())?),
    };
    let mut warnings = warnings;
    let agent = match &library {
        Some(library) if has_exports => {
            let (agent, told) = agent.offering(library.runtime.exports(), &context);
            warnings.extend(told);
            agent
        }
        _ => agent,
    };
    let options = agent.options();
    let has_tools = agent.tools().native(true).next().is_some();
    let calls = mode != Mode::Program && (mode != Mode::Text || has_tools);
    if calls && !client.supports().tools {
        let message = format!("the model `{}` cannot call tools, but this agent needs that", client.name());
        return Err(Fail::new("llm_error", message).details(json!({"class": "client_error"})));
    }
    let offered = library.as_ref().and_then(Library::inventory);
    let tree = Tree::new(&context);
    let input = PromptInput {
        prelude: offered.as_deref(),
        context_signature: context_signature.as_ref(),
        upstream_descriptions: (!run.upstream_descriptions.is_empty()).then_some(&run.upstream_descriptions),
        definitions: &definitions,
        mission: run.mission.as_deref(),
        ..PromptInput::new(&agent, tree.root())
    };
    let mut prompt = {
        let mut secrets = secrets.lock().unwrap_or_else(PoisonError::into_inner);
        let made = assemble(&input, &mut secrets);
        made.map_err(|error| Fail::new("template_error", error.to_string()))?
    };
    if let Some(system) = &run.system_prompt {
        prompt.system = system.clone();
        prompt.varying = None;
    }
    let label = AgentLabel::new(agent.name(), &agent_id(&agent, &prompt.system));
    let shows_secrets = options.trace_firewalled && above.is_none_or(|above| above.shows_secrets);
    let hidden = (!shows_secrets).then(|| secrets.clone());
    let scope = match above {
        Some(above) => above.scope.mission(label, hidden),
        None => run.tracer.mission(label, hidden),
    };
    let most = Most::of(options, run);
    let place = Place {
        depth: above.map_or(0, |above| above.depth + 1),
        max_depth: above.map_or(options.max_depth, |above| above.max_depth),
        budget: Budget::new(options.turn_budget, most, above.map(|above| above.budget.clone())),
        deadline: above.and_then(|above| above.deadline),
        cancel: above.map_or(&run.cancel, |above| &above.cancel).clone(),
        schedule: above.map_or(&run.schedule, |above| &above.schedule).clone(),
        effects: match above {
            // Named after the call that starts this mission.
            Some(above) => above.effects.clone(),
            None => MissionEffects::of(
                run.effects.as_ref(),
                run.oversight.as_ref(),
                run.oversight_name.as_deref(),
            ),
        },
        secrets,
        shows_secrets,
        client: Some(client.clone()),
        max_heap: options.max_heap.or(above.and_then(|above| above.max_heap)),
        max_granted: options.max_granted.or(above.and_then(|above| above.max_granted)),
        trusted,
        preludes: inherited.unwrap_or_else(|| agent.handed_down().into()),
        policy,
        scope,
        run_below,
    };
    let place = Place { deadline: place.deadline_since(started, options.mission_timeout), ..place };
    // A program may have chosen a model that no agent names.
    if place.budget.needs_costs() && client.pricing() == Pricing::Unknown {
        return Err(fail_of(&[definition::no_prices(&client.name())]));
    }
    let engine = match library {
        None => None,
        Some(library) => Some(Engine::new(&agent, run, library, &context, &place)?),
    };
    let first = Message { parts: prompt.parts.clone(), ..Message::user(prompt.user.clone()) };
    let mut messages: Vec<Message> = run.history.iter().cloned().chain([first]).collect();
    keep_newest(&mut messages);
    let state = State {
        work_left: options.max_turns,
        retry_left: if agent.is_text() { 0 } else { options.retry_turns },
        messages,
        warnings: warnings.into_iter().chain(prompt.warnings.clone()).collect(),
        ..State::default()
    };
    let mut mission = Mission {
        mode,
        model_name: client.name(),
        model: Retry::new(client, options.llm_retry.clone()),
        run: run.clone(),
        place,
        prompt,
        engine,
        state,
        started,
        agent,
    };
    match (&run.resume_from, &mission.engine) {
        (Some(from), _) => mission.resume(from)?,
        // Replaces the tasks of an earlier mission in the same folder.
        (None, Some(engine)) => engine.journal.write(),
        (None, None) => {}
    }
    Ok(mission)
}

/// Returns the description of an agent for a trace, emitted once.
fn config(agent: &Agent) -> Map<String, Value> {
    let options = agent.options();
    let tools: Vec<&str> = agent.tools().iter().map(|tool| tool.name.as_str()).collect();
    let config = json!({
        "signature": agent.signature().to_string(), "tools": tools, "max_turns": options.max_turns,
        "retry_turns": options.retry_turns, "turn_budget": options.turn_budget, "max_depth": options.max_depth,
        "mission_timeout": options.mission_timeout, "timeout": options.timeout,
        "output": if options.output == ptc_model::Output::Text { "text" } else { "ptc_lisp" },
    });
    match config {
        Value::Object(config) => config,
        _ => Map::new(),
    }
}
