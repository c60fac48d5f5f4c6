//! Agents whose models call tools themselves, with the exports of their preludes among the tools.

use super::values::Transport;
use super::{Agent, AgentOptions, Definition};
use crate::tools::{Expose, MAX_NATIVE, export_tools};
use ptc_bytecode::Datum;
use ptc_model::Output;
use ptc_runtime::OfferedExport;
use std::sync::Arc;

impl AgentOptions {
    /// Returns whether the model is offered the preludes' exports by name. In text, there is no other way to them;
    /// where programs run, the option must ask for it.
    pub(crate) fn offers_exports(&self) -> bool {
        let has_programs = self.ptc_transport == Some(Transport::ToolCall);
        let default = if has_programs { Expose::PtcLisp } else { Expose::Native };
        self.output == Output::Text && self.expose_preludes.unwrap_or(default).is_native()
    }
}

impl Agent {
    /// Returns the agent with these exports as tools of its model, and a warning if there are too many of them.
    pub(crate) fn offering<'p>(
        &self,
        exports: impl Iterator<Item = OfferedExport<'p>>,
        context: &Datum,
    ) -> (Agent, Option<String>) {
        let mut tools = self.tools().clone();
        // Drops the exports inherited from the mission above, where an agent calls itself.
        tools.offer_exports([]);
        let mut taken = tools.taken_names(context);
        let room = MAX_NATIVE.saturating_sub(tools.native(true).count());
        let (exports, left_out) = export_tools(exports, &mut taken, room);
        tools.offer_exports(exports);
        let told = (left_out > 0).then(|| {
            format!(
                "{left_out} exports of preludes are not offered by name, since providers take {MAX_NATIVE} tools; leave \
                 some out with `policy`"
            )
        });
        let Definition { options, signature, template, preludes, warnings } = &*self.0;
        let agent = Agent(Arc::new(Definition {
            options: AgentOptions { tools, ..options.clone() },
            signature: signature.clone(),
            template: template.clone(),
            preludes: preludes.clone(),
            warnings: warnings.clone(),
        }));
        (agent, told)
    }
}
