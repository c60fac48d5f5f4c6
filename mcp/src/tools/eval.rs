//! `lisp_eval`: runs an independent program.

use super::program;
use crate::args::{self, EvalArgs};
use crate::reason::Reason;
use crate::reply::Payload;
use crate::tool::{Hints, ProgramWork, Tool, ToolCall, Work};
use ptc_agent::lisp_eval::Profile;

pub(super) const TOOL: Tool = Tool {
    name: "lisp_eval",
    title: "Run a PTC-Lisp program",
    is_offered: |offer| !offer.settings.hide_stateless,
    description: |offer| program::description(offer, Profile::Mcp.description()),
    hints: |offer| Hints::of_servers(offer).unwrap_or(Hints::READS),
    input: || args::schema(&[EvalArgs::FIELDS]),
    output: |offer| program::output(offer, &[]),
    args_reason: Reason::ArgsError,
    is_recorded: true,
    run,
};

fn run(call: ToolCall<'_>) -> Work {
    let args = match EvalArgs::of_call(call.args, &call.server.settings) {
        Ok(args) => args,
        Err(message) => return Work::done(Payload::error(Reason::ArgsError, message)),
    };
    let (evaluator, exact) = (call.server.evaluator.clone(), call.exact_context);
    Work::Program(ProgramWork {
        job: Box::new(move |scope| Box::pin(async move { evaluator.run_exactly(args, exact, &scope).await })),
        left: call.server.host.timeout(),
        may_ask: true,
        refusal: Payload::error,
    })
}
