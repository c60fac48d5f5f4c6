//! `tools/call`: checks before a program runs, and its execution.

use super::Server;
use super::approve::CallFingerprint;
use super::calling::{Answers, Calling};
use super::work::{CallOutcome, NoSlot, TOO_MANY_OPEN, panicked};
use crate::attached;
use crate::connection::Flight;
use crate::debug::Record;
use crate::frame::{Id, Request, RpcError};
use crate::metrics::ObservedCall;
use crate::profile::Profile;
use crate::protocol::Revision;
use crate::reason::Reason;
use crate::reply::{Payload, Reply};
use crate::service::Service;
use crate::spans;
use crate::tool::{ProgramWork, Tool, ToolCall, Work};
use crate::weight;
use serde_json::{Map, Value};
use std::time::{Instant, SystemTime};
use tracing::Instrument;

impl Server {
    pub(super) async fn call(
        &self,
        request: Request,
        revision: Revision,
        flight: &Flight,
    ) -> Result<Map<String, Value>, RpcError> {
        let calling = Calling::new(&request, revision, flight, self.0.about.has_log);
        let reply = match self.called(request, &calling).await? {
            ToolResult::Reply(reply) => reply,
            ToolResult::InputRequired(asks) => return Ok(asks),
        };
        let Value::Object(mut result) = reply.to_json() else { return Ok(Map::new()) };
        if !revision.has_structure() {
            result.remove("structuredContent");
        }
        if let Some(content) = result.get_mut("content").and_then(Value::as_array_mut) {
            content.retain(|block| attached::is_known(block, revision));
        }
        Ok(result)
    }

    async fn called(&self, request: Request, calling: &Calling<'_>) -> Result<ToolResult, RpcError> {
        let (mut params, exact_context) = (request.params, request.exact_context);
        let name = match params.remove("name") {
            Some(Value::String(name)) => name,
            _ => {
                return Err(RpcError::new(
                    RpcError::INVALID_PARAMS,
                    "Invalid params: `name` must be a string",
                ));
            }
        };
        let profile = self.0.parts.settings.profile();
        if self.is_draining() {
            let payload =
                Payload::error(Reason::ShuttingDown, "the server is shutting down; use another server");
            return Ok(ToolResult::Reply(payload.reply(profile)));
        }
        let answers = Answers::take(&mut params)?;
        let Some(tool) = self.0.listing.find(&name) else {
            return self.unknown(&name).map(ToolResult::Reply);
        };
        let args = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(args)) => args,
            Some(other) => {
                let message =
                    format!("`arguments` must be an object, got {}", ptc_upstream::json_kind(&other));
                return Ok(ToolResult::Reply(Payload::error(tool.args_reason, message).reply(profile)));
            }
        };
        if !tool.is_recorded {
            let outcome =
                self.run(tool, CallArgs { args, exact_context }, &request.id, calling, answers).await?;
            return Ok(ToolResult::of(outcome, profile));
        }
        let is_watched = self.0.parts.debug.is_some() || self.0.traces.is_some();
        let about = is_watched.then(|| Record {
            protocol_version: Some(calling.revision.name().to_string()),
            ..Record::new(
                calling.flight.connection().owner(),
                &request.id.to_json(),
                tool.name,
                &args,
                &Payload::default(),
            )
        });
        let trace = self.0.traces.as_ref().zip(about.clone()).map(|(traces, about)| traces.begin(about));
        let began = Instant::now();
        let argument_bytes = self.0.metrics.as_ref().map_or(0, |_| ptc_upstream::json_bytes(&args));
        let span = spans::call(tool.name, calling.revision, calling.traceparent.as_deref());
        let part = span.in_scope(|| spans::part(tool.name));
        let outcome = self.run(tool, CallArgs { args, exact_context }, &request.id, calling, answers);
        let outcome = outcome.instrument(part).instrument(span.clone()).await?;
        let payload = match &outcome {
            CallOutcome::Finished(payload) => payload,
            CallOutcome::InputRequired(_) => &Payload { feedback: WAITS.to_string(), ..Payload::default() },
        };
        spans::ended(&span, payload.reason);
        if let Some(about) = about {
            let call = Record {
                duration: began.elapsed(),
                at: SystemTime::now(),
                payload: payload.clone(),
                ..about
            };
            if let Some(trace) = trace {
                trace.end(call.clone());
            }
            if let Some(debug) = &self.0.parts.debug {
                debug.recorder().record(call);
            }
        }
        calling.log(tool.name, payload.reason.map(Reason::name));
        let counted = self.0.metrics.as_ref().zip(match &outcome {
            CallOutcome::Finished(payload) => Some(payload.reply(profile)),
            CallOutcome::InputRequired(_) => None,
        });
        let Some((metrics, reply)) = counted else { return Ok(ToolResult::of(outcome, profile)) };
        let owner = calling.flight.connection().payer();
        let call = ObservedCall { tool: tool.name, owner, took: began.elapsed(), argument_bytes };
        metrics.observe(&call, payload, &reply);
        Ok(ToolResult::Reply(reply))
    }

    async fn run(
        &self,
        tool: &'static Tool,
        args: CallArgs,
        id: &Id,
        calling: &Calling<'_>,
        answers: Option<Answers>,
    ) -> Result<CallOutcome, RpcError> {
        let CallArgs { args, exact_context } = args;
        let connection = calling.flight.connection();
        let (owner, payer) = (connection.owner(), connection.payer());
        // Only programs that may call servers may need approval.
        let fingerprint = self.0.parts.host.upstream().map(|_| CallFingerprint::new(tool.name, &args, owner));
        if let Some(answers) = answers.filter(|_| tool.is_recorded) {
            // The waiting program has its own copy, and these would be held uncounted while it continues.
            drop(args);
            return self.answered_call(answers, fingerprint, calling).await;
        }
        let weight = weight::of_entries(&args) + exact_context.as_ref().map_or(0, String::len);
        let call =
            ToolCall { args, exact_context, owner, frame_bytes: frame_bytes(id), server: &self.0.parts };
        Ok(CallOutcome::Finished(match (tool.run)(call) {
            Work::Done(payload) => *payload,
            Work::Blocking(work) => tokio::task::spawn_blocking(work).await.map_err(panicked)?,
            Work::Program(ProgramWork { job, left, may_ask, refusal }) => {
                let Some(open) = self.0.open.of(payer) else {
                    return Ok(CallOutcome::Finished(refusal(Reason::Busy, TOO_MANY_OPEN.to_string())));
                };
                let mut arguments = self.0.memory.of(payer).reserve();
                if weight > FREE_ARGUMENTS && !arguments.set(weight as u64) {
                    let message = "the arguments need more memory than is free for programs; wait a little \
                                   and retry, or send less at once";
                    return Ok(CallOutcome::Finished(refusal(Reason::Busy, message.to_string())));
                }
                let slot = match self.slot(calling.flight, left).await {
                    Ok(slot) => slot,
                    Err(NoSlot::Busy(message)) => {
                        return Ok(CallOutcome::Finished(refusal(Reason::Busy, message)));
                    }
                    Err(NoSlot::Cancelled) => return Ok(CallOutcome::Finished(Payload::cancelled())),
                };
                // The arguments are kept until the program has ended: traces and the client's question may need them.
                let _arguments = arguments;
                return self
                    .see_through(slot, open, calling, job, left, fingerprint.filter(|_| may_ask))
                    .await;
            }
        }))
    }

    fn unknown(&self, name: &str) -> Result<Reply, RpcError> {
        let shown = crate::cut::chars(name, 80).0;
        let names: Vec<&str> = self.0.listing.names().collect();
        if self.0.parts.settings.strict_mcp {
            return Err(RpcError::new(RpcError::INVALID_PARAMS, format!("Unknown tool: {shown}")));
        }
        let mut payload = Payload::error(Reason::UnknownTool, format!("there is no tool `{shown}`"));
        payload.feedback = format!("the tools are: {}", names.join(", "));
        Ok(payload.reply(self.0.parts.settings.profile()))
    }
}

/// Arguments of a call.
struct CallArgs {
    args: Map<String, Value>,
    /// JSON text of the argument `context`, if `args` rounds its numbers.
    exact_context: Option<String>,
}

/// Bytes of arguments that are not counted, so that small calls get through whatever large ones use.
const FREE_ARGUMENTS: usize = 16 << 10;

/// Result of a call for its client.
enum ToolResult {
    Reply(Reply),
    /// The client must first ask a person.
    InputRequired(Map<String, Value>),
}

impl ToolResult {
    fn of(outcome: CallOutcome, profile: Profile) -> ToolResult {
        match outcome {
            CallOutcome::Finished(payload) => ToolResult::Reply(payload.reply(profile)),
            CallOutcome::InputRequired(asks) => ToolResult::InputRequired(asks),
        }
    }
}

/// Message in traces for a call that will be made again with a person's answers.
const WAITS: &str = "the program waits for a person's approval";

/// Returns the size of the message around a result.
fn frame_bytes(id: &Id) -> usize {
    crate::frame::answer(id, Value::Null).to_string().len()
}
