//! `ptc agent test`: cases of an agent, with what they should come to.

mod cases;
mod show;

use super::run::{INTERRUPTED, watch};
use super::{Loaded, build, hint_of, load, step_of, usage, with_context};
use crate::args::{AgentInput, AgentTestArgs};
use crate::junit;
use crate::models;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, FAULT, OK};
use crate::upstreams;
use cases::{Case, Cases};
use ptc_agent::{Agent, AgentBuilder, RunOptions, Step};
use ptc_bytecode::{Datum, Node};
use ptc_compiler::testing::differences;
use ptc_runtime::bridge::{freeze, json_to_datum};
use ptc_runtime::{Cancel, Frozen, Grants};
use ptc_upstream::Upstream;
use serde_json::Value;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub fn run(args: &AgentTestArgs) -> ExitCode {
    match start(args) {
        Ok(code) => code,
        Err(problem) => report::problem(&problem, args.json),
    }
}

/// Outcome of a case.
pub struct CaseOutcome {
    name: String,
    /// Turns of the mission itself; tokens and cost include child agents.
    turns: u32,
    tokens: u64,
    cost_usd: f64,
    time: Duration,
    problem: Option<CaseProblem>,
}

/// Why a case did not pass.
pub struct CaseProblem {
    /// True if the mission had another outcome; otherwise it could not be judged.
    is_failure: bool,
    /// The first line in short.
    message: String,
    /// All there is to say.
    details: String,
}

impl CaseProblem {
    fn failure(message: impl Into<String>, details: impl Into<String>) -> CaseProblem {
        CaseProblem { is_failure: true, message: message.into(), details: details.into() }
    }

    fn error(message: impl Into<String>) -> CaseProblem {
        CaseProblem { is_failure: false, message: message.into(), details: String::new() }
    }
}

/// Data shared by the cases of a run.
struct Bench<'a> {
    args: &'a AgentTestArgs,
    cancel: Cancel,
    upstream: Option<Upstream>,
}

fn start(args: &AgentTestArgs) -> Result<ExitCode, Problem> {
    let cases = Cases::read(&args.file)?;
    let input = AgentInput {
        file: cases.agent.clone(),
        inputs: Vec::new(),
        context: None,
        stubs: args.stubs.clone(),
        attach: args.attach.clone(),
    };
    let Loaded { builder, file } = load(&input)?;
    let wanted: Vec<&Case> = cases.cases.iter().filter(|case| is_wanted(case, &args.filter)).collect();
    if wanted.is_empty() {
        let known = counted(cases.cases.len() as u64, "case");
        let message = format!("none of {known} has `{}` in its name", args.filter.join("` or `"));
        return Err(usage(message).hint("leave --filter out to run all"));
    }
    if let Some(case) = wanted.iter().find(|case| args.record && case.cassette.is_none()) {
        let message = format!("--record: `{}` has no cassette", case.name);
        return Err(usage(message).hint("give the case a file to write: cassette = \"orders.jsonl\""));
    }
    // All agents before the first mission: what is wrong with a stub of the last case is told at once.
    let agent = |case: &&Case| build(stubbed(&builder, &cases, case, args)?, &cases.agent, Some(&file));
    let agents = wanted.iter().map(agent).collect::<Result<Vec<Agent>, _>>()?;
    let upstream = upstreams::start_named(&args.upstream, cases.upstreams_config.as_deref())?;
    let bench = Bench { args, cancel: watch()?, upstream };
    let mut outcomes = Vec::new();
    for (case, agent) in wanted.into_iter().zip(&agents) {
        outcomes.push(bench.run(case, agent)?);
        if bench.cancel.is_cancelled() {
            break;
        }
    }
    if let Some(upstream) = bench.upstream {
        upstream.stop();
    }
    if let Some(file) = &args.junit {
        let name = crate::preludes::stem(&args.file);
        junit::write(file, &[show::junit(name, &outcomes)])?;
    }
    let code = match bench.cancel.is_cancelled() {
        true => INTERRUPTED,
        false if outcomes.iter().all(|outcome| outcome.problem.is_none()) => OK,
        false => FAULT,
    };
    let shown = if args.json { show::json(&outcomes, code == OK) } else { show::text(&outcomes) };
    Ok(report::out(&shown, code))
}

/// The agent with the stubs of a case, and with those of the file that the case leaves. Stubs of the command line are in
/// it already, and hold in place of both.
fn stubbed(
    builder: &AgentBuilder,
    cases: &Cases,
    case: &Case,
    args: &AgentTestArgs,
) -> Result<AgentBuilder, Problem> {
    let of_file = cases.stubs.iter().filter(|(name, _)| !case.stubs.contains_key(*name));
    let of_file = of_file.map(|(name, answer)| (name, answer, vec!["stubs".to_string()]));
    let keys = || ["cases".to_string(), case.number.to_string(), "stubs".to_string()].to_vec();
    let of_case = case.stubs.iter().map(|(name, answer)| (name, answer, keys()));
    let wanted =
        of_file.chain(of_case).filter(|(name, ..)| args.stubs.iter().all(|stub| stub.name != **name));
    wanted.into_iter().try_fold(builder.clone(), |builder, (name, answer, mut keys)| {
        keys.push(name.clone());
        let wrong = |why: String| usage(format!("{}: {why}", cases.table.place(&keys)));
        let answer = freeze(answer).map_err(|error| wrong(error.to_string()))?;
        super::in_place(builder, name, answer).map_err(wrong)
    })
}

fn is_wanted(case: &Case, filter: &[String]) -> bool {
    filter.is_empty() || filter.iter().any(|part| case.name.contains(part.as_str()))
}

impl Bench<'_> {
    /// Runs a case and judges its mission. The error is for what concerns all cases, such as a model that is not there.
    fn run(&self, case: &Case, agent: &Agent) -> Result<CaseOutcome, Problem> {
        let mut outcome = CaseOutcome {
            name: case.name.clone(),
            turns: 0,
            tokens: 0,
            cost_usd: 0.0,
            time: Duration::ZERO,
            problem: None,
        };
        let run = match with_context(RunOptions::new(), agent, &case.inputs, &self.args.file) {
            Ok(run) => run,
            Err(problem) => {
                outcome.problem = Some(CaseProblem::error(&*problem.0.message));
                return Ok(outcome);
            }
        };
        let own = agent.options().llm.as_ref();
        let mut tape = None;
        let run = match &case.cassette {
            Some(cassette) if !self.args.record && !self.args.live => {
                match models::replaying(run, cassette) {
                    Ok((run, replay)) => {
                        tape = Some(replay);
                        run
                    }
                    Err(problem) => {
                        outcome.problem = Some(CaseProblem::error(format!(
                            "{}; record the cassette with --record",
                            problem.0.message
                        )));
                        return Ok(outcome);
                    }
                }
            }
            cassette => {
                let run = models::choose(run, &self.args.model, own)?;
                match cassette.as_ref().filter(|_| self.args.record) {
                    Some(cassette) => models::recording(run, cassette, own)?,
                    None => run,
                }
            }
        };
        let servers = self.upstream.as_ref().map(|upstream| upstream.attach(None));
        let run = match servers {
            Some(servers) => run.servers(servers),
            None => run,
        };
        let since = Instant::now();
        let result = ptc_agent::run(agent, &run.cancel(&self.cancel));
        outcome.time = since.elapsed();
        let step = step_of(&result);
        let took = &step.usage.tree;
        outcome.turns = step.usage.turns;
        (outcome.tokens, outcome.cost_usd) = (took.total_tokens, took.cost_usd);
        let unasked = tape.map_or(0, |tape| tape.left());
        outcome.problem = judge(case, step).or_else(|| over(case, step)).or_else(|| {
            let message = format!("not used from the cassette: {}", counted(unasked as u64, "request"));
            (unasked > 0 && step.is_ok())
                .then(|| CaseProblem::failure(message, "record the cassette again with --record"))
        });
        Ok(outcome)
    }
}

/// Why what a mission came to is not what the case expects.
fn judge(case: &Case, step: &Step) -> Option<CaseProblem> {
    if let Some(fail) = &step.fail {
        if case.expected.fails.as_ref() == Some(&fail.reason) {
            return None;
        }
        let hint = hint_of(fail).map_or(String::new(), |hint| format!("hint: {hint}"));
        return Some(match &case.expected.fails {
            Some(wanted) => CaseProblem::failure(format!("expected {wanted}, got {fail}"), hint),
            None => CaseProblem { is_failure: false, message: fail.to_string(), details: hint },
        });
    }
    if let Some(wanted) = &case.expected.fails {
        let details = format!("got  {}", shown(step.returned.as_ref()));
        return Some(CaseProblem::failure(format!("expected {wanted}, got a value"), details));
    }
    if let Some(expected) = &case.expected.value {
        let is_same = step.json().is_ok_and(|got| same(expected, &got));
        if !is_same {
            let (expected, got) =
                (shown(json_to_datum(expected).ok().as_ref()), shown(step.returned.as_ref()));
            let mut details = format!("expected  {expected}\ngot       {got}\n");
            for line in differences(&expected, &got) {
                details.push_str(&format!("{line}\n"));
            }
            return Some(CaseProblem::failure("the value is not the expected one", details));
        }
    }
    let check = case.expected.check.as_ref()?;
    let data = match grants(case, step) {
        Ok(data) => data,
        Err(message) => return Some(CaseProblem::error(message)),
    };
    let details = check.run(data).err()?;
    let details = format!("{details}result  {}\n", shown(step.returned.as_ref()));
    Some(CaseProblem::failure("the check failed", details))
}

/// Why a mission took more than the case allows.
fn over(case: &Case, step: &Step) -> Option<CaseProblem> {
    let (turns, took) = (step.usage.turns, &step.usage.tree);
    let message = if let Some(most) = case.max_turns.filter(|most| turns > *most) {
        format!("took {}, but at most {most} allowed", counted(turns.into(), "turn"))
    } else if let Some(most) = case.max_tokens.filter(|most| took.total_tokens > *most) {
        format!("took {}, but at most {most} allowed", counted(took.total_tokens, "token"))
    } else {
        let most = case.max_cost_usd.filter(|most| took.cost_usd > *most)?;
        format!("took {:.6} US dollars, but at most {most} allowed", took.cost_usd)
    };
    Some(CaseProblem::failure(message, ""))
}

/// Data of a program that checks the value of a mission.
fn grants(case: &Case, step: &Step) -> Result<Grants, String> {
    let nil = Datum::scalar(Node::Nil);
    let result =
        Frozen::from_datum(step.returned.as_ref().unwrap_or(&nil)).map_err(|fault| fault.to_string())?;
    let grants = Grants::new().frozen("result", result);
    let grants = grants.serde("inputs", &case.inputs).map_err(|error| error.to_string())?;
    grants.serde("turns", &step.usage.turns).map_err(|error| error.to_string())
}

/// A value as it may be shown: what is firewalled is hidden.
fn shown(value: Option<&Datum>) -> String {
    let Some(value) = value else { return "nil".to_string() };
    let printed = Frozen::from_datum(value).and_then(|frozen| {
        frozen.firewalled(None).read(|heap, value| {
            let mut text = String::new();
            heap.print(value, &mut text, MAX_SHOWN).map(|()| text)
        })
    });
    printed.unwrap_or_else(|fault| format!("#<{fault}>"))
}

/// Bytes of a value that is shown.
const MAX_SHOWN: usize = 1 << 20;

/// True if two values are the same; `63` is `63.0`.
fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::same;
    use serde_json::json;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        assert!(same(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2]})));
        assert!(same(&json!(u64::MAX), &json!(u64::MAX)));
        for (a, b) in
            [(json!([1]), json!([1, 2])), (json!({"a": 1}), json!({"b": 1})), (json!(1), json!("1"))]
        {
            assert!(!same(&a, &b), "{a} {b}");
        }
    }
}
