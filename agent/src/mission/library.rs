//! Names that programs of a mission can use: tools, servers, and preludes, attached before anything else happens.

use super::step::Fail;
use super::toolbox::declared;
use crate::Agent;
use crate::definition::RunOptions;
use crate::tools::Visibility;
use ptc_bytecode::Diagnostic;
use ptc_runtime::{Attach, Inventory, Policy, Prelude, Runtime, TrustedKeys};

/// Runtime of a mission, with its tools as programs see them and its preludes attached. Both the prompt and the
/// programs use it, so the model is told exactly what programs find.
pub(crate) struct Library {
    pub runtime: Runtime,
}

impl Library {
    /// Checks that the mission grants what its preludes need, before any model is asked. Preludes `inherited` from the
    /// parent mission are dropped if they need more.
    pub fn attach(
        agent: &Agent,
        run: &RunOptions,
        trusted: Option<&TrustedKeys>,
        policy: &Policy,
        inherited: Option<&[Prelude]>,
    ) -> Result<Library, Fail> {
        let tools = declared(agent);
        let mut runtime = Runtime::with_core(ptc_preludes::core())
            .map_err(|problem| Fail::new("internal_error", problem.message))?
            .with_tools(tools.clone());
        if let Some(keys) = trusted {
            runtime = runtime.trusted(keys.clone());
        }
        if let Some(servers) = &run.servers {
            runtime = runtime.with_upstream(servers.discovery());
        }
        let refused = |problem: &Diagnostic| Fail::new("prelude_attach_failed", problem.message.clone());
        runtime = runtime.policy(policy.clone()).map_err(|problem| refused(&problem))?;
        for prelude in agent.preludes() {
            runtime = runtime.attach(prelude, &Attach::new()).map_err(|failure| {
                let fail = refused(failure.diagnostic());
                match for_models_only(agent, prelude) {
                    None => fail,
                    Some(told) => Fail { message: format!("{}; {told}", fail.message), ..fail },
                }
            })?;
        }
        // Inherited preludes that need missing tools are dropped. `call` need not be checked, since server operations
        // are only checked where there are servers.
        let has_tools_of = |prelude: &&Prelude| {
            prelude.exports().iter().flat_map(|export| &export.tool_refs).all(|tool| tools.grants(tool))
        };
        for prelude in inherited.unwrap_or_default().iter().filter(has_tools_of) {
            if let Ok(attached) = runtime.attach(prelude, &Attach::new()) {
                runtime = attached;
            }
        }
        agent.options().policy.check_used(runtime.preludes()).map_err(|problem| refused(&problem))?;
        Ok(Library { runtime })
    }

    /// Returns the section of the prompt about preludes, if there are any.
    pub fn inventory(&self) -> Option<String> {
        self.runtime.inventory(Inventory::default())
    }
}

/// Returns a hint for a tool that a prelude calls but that the agent offers only to its model.
fn for_models_only(agent: &Agent, prelude: &Prelude) -> Option<String> {
    let mut called = prelude.exports().iter().flat_map(|export| &export.tool_refs);
    let is_kept = |name: &&String| {
        let tool = agent.tools().get(name).filter(|tool| tool.visibility == Visibility::Public);
        tool.is_some_and(|tool| !tool.effective_expose(agent.is_text()).is_in_programs())
    };
    let name = called.find(is_kept)?;
    Some(format!(
        "`{name}` is offered to the model only (`expose: native`): make it `private`, for preludes, or `expose: both`"
    ))
}
