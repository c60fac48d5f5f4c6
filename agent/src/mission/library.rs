//! What programs of a mission can name: its tools, its servers, and its prelude, attached before anything else happens.

use super::step::Fail;
use super::toolbox::declared;
use crate::Agent;
use crate::definition::RunOptions;
use ptc_runtime::{Attach, Inventory, Runtime, TrustedKeys};

/// The runtime of a mission, with its tools as programs see them and its prelude attached. The prompt is written from
/// it and the programs run in it, so what a model is told of the prelude is what a program finds.
pub(crate) struct Library {
    pub runtime: Runtime,
}

impl Library {
    /// Checks that the mission is granted what its prelude needs; no model has been asked by then.
    pub fn attach(agent: &Agent, run: &RunOptions, trusted: Option<&TrustedKeys>) -> Result<Library, Fail> {
        let mut runtime = Runtime::with_core(ptc_preludes::core())
            .map_err(|problem| Fail::new("internal_error", problem.message))?
            .with_tools(declared(agent));
        if let Some(keys) = trusted {
            runtime = runtime.trusted(keys.clone());
        }
        if let Some(servers) = &run.servers {
            runtime = runtime.with_upstream(servers.discovery());
        }
        if let Some(prelude) = agent.prelude() {
            runtime = runtime.attach(prelude, &Attach::new()).map_err(|failure| {
                Fail::new("prelude_attach_failed", failure.diagnostic().message.clone())
            })?;
        }
        Ok(Library { runtime })
    }

    /// The part of the prompt about the prelude, if there is any.
    pub fn inventory(&self) -> Option<String> {
        self.runtime.inventory(Inventory::default())
    }
}
