//! Results as Rust types: the type is the contract of the result, and the host gets a value of it.

use super::blocking::block_on;
use super::step::{AgentError, Fail, Step};
use super::{Runnable, run_async};
use crate::RunOptions;
use ptc_contract::firewall::redact;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// Result of a mission as a Rust type, with its step.
#[derive(Clone, Debug)]
pub struct TypedStep<T> {
    /// Result of the mission.
    pub value: T,
    /// Step of the mission, with its usage.
    pub step: Step,
}

/// Runs a mission whose result is a Rust type. The type's schema replaces the result in the agent's signature, so the
/// model is told it, and returns that do not fit are refused. The agent's parameters stay as they are.
///
/// ```
/// use ptc_agent::{mission::run_as, tools::LlmRef, RunOptions};
/// use ptc_model::Scripted;
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Report { city: String, late: u32 }
///
/// let model = Scripted::new(["(return {:city \"Oslo\"})", "(return {:city \"Oslo\" :late 3})"]);
/// let done = run_as::<Report>("Where are most orders late?", &RunOptions::new().llm(LlmRef::client(model)))?;
/// assert_eq!((done.value.city.as_str(), done.value.late, done.step.usage.turns), ("Oslo", 3, 2));
/// # Ok::<(), ptc_agent::mission::AgentError>(())
/// ```
pub fn run_as<T: DeserializeOwned + JsonSchema>(
    agent: &(impl Runnable + ?Sized),
    options: &RunOptions,
) -> Result<TypedStep<T>, AgentError> {
    read(block_on(run_async(agent, &returning::<T>(options))).and_then(|ended| ended))
}

/// Runs a mission whose result is a Rust type, as a future. Needs a tokio runtime with time; dropping it ends the run.
pub async fn run_as_async<T: DeserializeOwned + JsonSchema>(
    agent: &(impl Runnable + ?Sized),
    options: &RunOptions,
) -> Result<TypedStep<T>, AgentError> {
    read(run_async(agent, &returning::<T>(options)).await)
}

fn returning<T: JsonSchema>(options: &RunOptions) -> RunOptions {
    options.clone().changing(|agent| agent.returns::<T>())
}

/// Reads the result. It may fit the signature and not the type, since types have rules that signatures cannot express.
fn read<T: DeserializeOwned>(ended: Result<Step, Box<Step>>) -> Result<TypedStep<T>, AgentError> {
    let step = ended.map_err(|step| AgentError { step })?;
    match step.get() {
        Ok(value) => Ok(TypedStep { value, step }),
        Err(error) => {
            // The error quotes values, and errors end up in logs.
            let hides = step.returned.as_ref().is_some_and(|value| redact(value) != *value);
            let why = if hides {
                "the reason is not shown, since it has firewalled fields".into()
            } else {
                error.to_string()
            };
            let name = std::any::type_name::<T>();
            let message = format!("the result fits its signature but cannot be read as `{name}`: {why}");
            let fail = Fail::new("validation_error", message);
            Err(AgentError { step: Box::new(Step { fail: Some(fail), ..step }) })
        }
    }
}
