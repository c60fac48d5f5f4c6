//! Chains of missions: the result of one is the data of the next.

use super::step::{AgentError, Step};
use super::{Fail, run};
use crate::{Agent, RunOptions};
use ptc_bytecode::{Datum, Node};
use ptc_contract::signature::extract_return_spec;
use serde_json::json;

impl RunOptions {
    /// Takes the data of the mission from an earlier step: the map it returned, with its types and field descriptions;
    /// any other value becomes `data/result`. If the step failed, the mission fails before it starts.
    ///
    /// ```
    /// use ptc_agent::{RunOptions, Step, run};
    /// let failed: Step = serde_json::from_str(r#"{"fail": {"reason": "not_found", "message": "no such user"}}"#)?;
    /// let step = run("Write to them", &RunOptions::new().after(&failed)).unwrap_err();
    /// assert_eq!(step.reason(), "chained_failure");
    /// assert_eq!(step.fail.unwrap().details["upstream"]["reason"], "not_found");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn after(mut self, step: &Step) -> RunOptions {
        if let Some(fail) = &step.fail {
            self.chained_failure = Some(fail.clone());
            return self;
        }
        self.context = match &step.returned {
            Some(value) if matches!(value.nodes().last(), Some(Node::Map(_))) => {
                if !step.signature.is_empty() {
                    self.context_signature.get_or_insert_with(|| extract_return_spec(&step.signature));
                }
                value.clone()
            }
            Some(value) => {
                let mut nodes = vec![Node::Str("result".into())];
                nodes.extend_from_slice(value.nodes());
                nodes.push(Node::Map(1));
                let context = Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Map(0)));
                context.with_veiled(value.veiled().iter().map(|place| place + 1).collect())
            }
            None => Datum::scalar(Node::Map(0)),
        };
        self.upstream_descriptions = step.field_descriptions.clone();
        self
    }
}

/// Runs the next mission on the result of the one before. A failure passes through.
///
/// ```
/// use ptc_agent::{mission::then, run, tools::LlmRef, Agent, RunOptions};
/// use ptc_model::Scripted;
/// let find = Agent::builder().prompt("Find two").signature("{ids [:int]}").build()?;
/// let count = Agent::builder().prompt("Count {{ids}}").signature("(ids [:int]) -> :int").build()?;
/// let model = LlmRef::client(Scripted::new(["(return {:ids [4 7]})", "(return (count data/ids))"]));
/// let options = RunOptions::new().llm(model);
/// let step = then(run(&find, &options), &count, options).unwrap();
/// assert_eq!(step.get::<i64>().unwrap(), 2);
/// # Ok::<(), ptc_agent::BuildError>(())
/// ```
pub fn then(before: Result<Step, Box<Step>>, agent: &Agent, options: RunOptions) -> Result<Step, Box<Step>> {
    let before = before?;
    let options = options.after(&before);
    let tree = ptc_contract::data::Tree::new(&options.context);
    let missing: Vec<&str> = agent
        .signature()
        .params
        .iter()
        .filter(|field| !field.ty.is_optional() && tree.root().get(&field.name).is_none())
        .map(|field| field.name.as_str())
        .collect();
    if !missing.is_empty() {
        let message =
            format!("the previous step did not return {}, which the next agent needs", missing.join(", "));
        return Err(Step::failing(Fail::new("chain_error", message).details(json!({"missing": missing}))));
    }
    run(agent, &options)
}

/// Runs the next mission like [`then`], with failures as a Rust error.
pub fn then_or_err(
    before: Result<Step, AgentError>,
    agent: &Agent,
    options: RunOptions,
) -> Result<Step, AgentError> {
    then(before.map_err(|error| error.step), agent, options).map_err(|step| AgentError { step })
}
