//! An agent as its model has it that calls tools itself: with the exports of its preludes among the tools.

use super::values::Transport;
use super::{Agent, AgentOptions, Definition};
use crate::tools::{Expose, MAX_NATIVE, export_tools};
use ptc_bytecode::Datum;
use ptc_model::Output;
use ptc_runtime::OfferedExport;
use std::sync::Arc;

impl AgentOptions {
    /// Whether a model is offered what preludes export: in text it is the only way to them, and where there are programs
    /// somebody has to ask for it.
    pub(crate) fn offers_exports(&self) -> bool {
        let has_programs = self.ptc_transport == Some(Transport::ToolCall);
        let default = if has_programs { Expose::PtcLisp } else { Expose::Native };
        self.output == Output::Text && self.expose_preludes.unwrap_or(default).is_native()
    }
}

impl Agent {
    /// The agent with these exports as tools of its model, and a warning if there are too many of them.
    pub(crate) fn offering<'p>(
        &self,
        exports: impl Iterator<Item = OfferedExport<'p>>,
        context: &Datum,
    ) -> (Agent, Option<String>) {
        let mut tools = self.tools().clone();
        // Those of the mission above, where an agent calls itself.
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
