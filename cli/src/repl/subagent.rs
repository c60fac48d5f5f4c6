//! `/subagent "mission"`: a fresh agent, with what the session has.

use super::{Answer, Repl, lookup, or_problem, show, usage};
use crate::live::{Detail, Live, clean};
use crate::models;
use crate::problem::Problem;
use ptc_agent::tools::Tool;
use ptc_agent::trace::{Event, Kind, Tracer};
use ptc_agent::{Agent, RunOptions, Step};
use ptc_bytecode::{Datum, Node};
use ptc_contract::template::OnMissing;
use ptc_runtime::Frozen;
use serde_json::Value;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum size of a definition that goes along.
const MAX_DEFINITION: usize = 16 << 20;

pub fn quiet(repl: &mut Repl, mission: &str) -> Answer {
    answer(repl, mission, false)
}

pub fn verbose(repl: &mut Repl, mission: &str) -> Answer {
    answer(repl, mission, true)
}

fn answer(repl: &mut Repl, mission: &str, is_verbose: bool) -> Answer {
    let mission = mission.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(mission).trim();
    if mission.is_empty() {
        let message =
            "what is the mission? Write `/subagent \"Find the employee with the highest expenses\"`";
        return or_problem(Err(usage(message)));
    }
    or_problem(delegate(repl, mission, is_verbose))
}

fn delegate(repl: &mut Repl, mission: &str, is_verbose: bool) -> Result<Answer, Problem> {
    let agent = agent(repl, mission)?;
    let options = options(repl)?;
    let programs: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = programs.clone();
    let live = Live::new(Detail::of(is_verbose));
    let mut tracer = Tracer::new().with(move |event: &Event| {
        if event.kind == Kind::TurnStop && event.depth == 0 {
            let program = event.data.get("program").and_then(Value::as_str).unwrap_or_default();
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(program.to_string());
        }
    });
    if live.is_on() {
        tracer = tracer.with(live);
    }
    let options = options.tracer(tracer);
    let result = repl.world.interrupt().during(|cancel| ptc_agent::run(&agent, &options.cancel(cancel)));
    let mut out = String::new();
    if !is_verbose {
        for program in programs.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            out.push_str(&format!("[SubAgent] Executing: {}\n", clean(&lookup::one_line(program))));
        }
    }
    Ok(match result {
        Err(step) => failed(&step, out),
        Ok(step) => finished(repl, &step, out),
    })
}

/// An agent for this mission. `{{name}}` in it is data of the session, where there is such data.
fn agent(repl: &Repl, mission: &str) -> Result<Agent, Problem> {
    let mut builder = Agent::builder().prompt(mission).name("SubAgent").on_missing_template(OnMissing::Keep);
    for (name, answer) in repl.world.stubs() {
        builder = builder.tool(Tool::always(name, answer.clone()));
    }
    builder = builder.runtime_preludes(repl.world.runtime().preludes().cloned().collect());
    let trusted = repl.world.runtime().trusted_keys().cloned();
    let builder = builder.trusted(trusted).policy(repl.world.runtime().current_policy().clone());
    builder.build().map_err(|error| usage(error.to_string()))
}

fn options(repl: &Repl) -> Result<RunOptions, Problem> {
    let data = repl.world.granted();
    let mut nodes = Vec::new();
    for (name, value) in data {
        let datum = value.to_datum(usize::MAX).map_err(|fault| usage(format!("data/{name}: {fault}")))?;
        nodes.push(Node::Str(name.as_str().into()));
        nodes.extend_from_slice(datum.nodes());
    }
    nodes.push(Node::Map(data.len() as u32));
    let context = Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0)));
    // Functions stay: they belong to the code of this session.
    let definitions = repl.world.defined().filter_map(|name| {
        let value = repl.world.definition(name)?;
        value.to_datum(MAX_DEFINITION).ok()?;
        Some((name.to_string(), value.clone()))
    });
    let run = RunOptions { context, memory: definitions.collect(), ..RunOptions::new() };
    let model = repl.world.model();
    match &model.replay {
        Some(cassette) => Ok(models::replaying(run, cassette)?.0),
        None => models::choose(run, &model.args, None),
    }
}

fn failed(step: &Step, out: String) -> Answer {
    let fail = step.fail.clone().unwrap_or_default();
    let hint = match fail.reason.as_str() {
        "llm_required" => {
            Some("start with `ptc repl --llm anthropic:haiku`, or name a default_model in ptc.toml")
        }
        reason => models::hint(reason),
    };
    let hint = hint.map_or(String::new(), |hint| format!(" hint: {hint}\n"));
    let class = models::attempts(&fail).map_or(String::new(), |line| format!(" class: {}\n", clean(&line)));
    let err = format!("error: {}\n{class}{hint}", clean(&fail.to_string()));
    Answer { out, err, failed: true, leaves: false }
}

/// Shows the result, which is `*1` from now on.
fn finished(repl: &mut Repl, step: &Step, mut out: String) -> Answer {
    let value = step.returned.clone().unwrap_or_else(|| Datum::scalar(Node::Nil));
    match Frozen::from_datum(&value) {
        Ok(frozen) => repl.world.keep(frozen),
        Err(fault) => return Answer::failed(format!("error: {fault}\n")),
    }
    let shown = repl.world.peek("*1").map(|outcome| show::value(&outcome, "*1", repl.look));
    match shown {
        Ok(Ok(text)) if repl.look.width.is_some() => out.push_str(&text),
        Ok(Ok(text)) => out.push_str(&format!("[SubAgent] Result: {text}")),
        Ok(Err(errors)) => return Answer::failed(show::errors(&errors, "*1", repl.look)),
        Err(wrong) => return Answer::failed(show::errors(&wrong.errors, "*1", repl.look)),
    }
    Answer::out(out)
}
