//! `tools/call`: what is checked before a program runs, in which order, and where it runs.

use super::Server;
use super::approve::Made;
use super::calling::{Answers, Calling};
use super::work::{PATIENCE, Told, panicked};
use crate::args::EvalArgs;
use crate::connection::Flight;
use crate::debug::Record;
use crate::frame::{Id, Request, RpcError};
use crate::held::{Around, Went};
use crate::listing::ToolName;
use crate::protocol::Revision;
use crate::reason::Reason;
use crate::reply::{Payload, Reply};
use crate::service::Service;
use crate::sessions::Owner;
use crate::spans;
use crate::task::{self, TaskArgs};
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
        let calling = Calling::new(&request, revision, flight);
        let reply = match self.called(request, &calling).await? {
            Ended::Reply(reply) => reply,
            Ended::Asks(asks) => return Ok(asks),
        };
        let Value::Object(mut result) = reply.to_json() else { return Ok(Map::new()) };
        if !revision.has_structure() {
            result.remove("structuredContent");
        }
        Ok(result)
    }

    async fn called(&self, request: Request, calling: &Calling<'_>) -> Result<Ended, RpcError> {
        let mut params = request.params;
        let name = match params.remove("name") {
            Some(Value::String(name)) => name,
            _ => {
                return Err(RpcError::new(
                    RpcError::INVALID_PARAMS,
                    "Invalid params: `name` must be a string",
                ));
            }
        };
        let profile = self.0.settings.profile();
        if self.is_draining() {
            let payload =
                Payload::error(Reason::ShuttingDown, "the server is about to end; call another one");
            return Ok(Ended::Reply(payload.reply(profile)));
        }
        let answers = Answers::take(&mut params)?;
        let tool = ToolName::from_name(&name).filter(|tool| self.0.listing.has(*tool));
        let Some(tool) = tool else { return self.unknown(&name).map(Ended::Reply) };
        let args = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(args)) => args,
            Some(other) => {
                let message = format!("`arguments` must be an object, got {}", crate::args::kind(&other));
                let reason = if tool.is_session() { Reason::SessionArgsError } else { Reason::ArgsError };
                return Ok(Ended::Reply(Payload::error(reason, message).reply(profile)));
            }
        };
        if let (ToolName::Debug, Some(debug)) = (tool, &self.0.debug) {
            return Ok(Ended::Reply(debug.call(&args, frame_bytes(&request.id)).reply(profile)));
        }
        let is_watched = self.0.debug.is_some() || self.0.traces.is_some();
        let about = is_watched.then(|| Record {
            protocol_version: Some(calling.revision.name().to_string()),
            ..Record::new(&request.id.to_json(), tool.name(), &args, &Payload::default())
        });
        let trace = self.0.traces.as_ref().zip(about.clone()).map(|(traces, about)| traces.begin(about));
        let began = Instant::now();
        let span = spans::call(tool, calling.revision, calling.traceparent.as_deref());
        let part = span.in_scope(|| spans::part(tool));
        let told = self.run(tool, args, calling, answers).instrument(part).instrument(span.clone()).await?;
        let (payload, asks) = match told {
            Told::Over(payload) => (payload, None),
            Told::Asks(asks) => (Payload { feedback: WAITS.to_string(), ..Payload::default() }, Some(asks)),
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
            if let Some(debug) = &self.0.debug {
                debug.recorder().record(call);
            }
        }
        calling.log(tool.name(), payload.reason.map(Reason::name));
        Ok(match asks {
            Some(asks) => Ended::Asks(asks),
            None => Ended::Reply(payload.reply(profile)),
        })
    }

    async fn run(
        &self,
        tool: ToolName,
        args: Map<String, Value>,
        calling: &Calling<'_>,
        answers: Option<Answers>,
    ) -> Result<Told, RpcError> {
        let owner = calling.flight.connection().owner();
        // Only programs that may call servers may have to wait for somebody.
        let made = self.0.host.upstream().map(|_| Made::new(tool, &args, owner));
        if let Some(answers) = answers {
            return self.answered_call(answers, made, calling).await;
        }
        Ok(Told::Over(match tool {
            ToolName::Eval => return self.eval(args, made, calling).await,
            ToolName::SessionEval => return self.session_eval(args, made, calling).await,
            ToolName::Task => return self.task(args, calling).await,
            // They take no time, unless they write to a disk: nobody who serves connections waits for that.
            utility if self.0.settings.session_dir.is_some() => {
                let (server, owner) = (self.clone(), owner.clone());
                tokio::task::spawn_blocking(move || server.session_utility(utility, &args, &owner))
                    .await
                    .map_err(panicked)?
            }
            utility => self.session_utility(utility, &args, owner),
        }))
    }

    async fn session_eval(
        &self,
        args: Map<String, Value>,
        made: Option<Made>,
        calling: &Calling<'_>,
    ) -> Result<Told, RpcError> {
        let Some(sessions) = &self.0.sessions else { return Ok(Told::Over(no_sessions())) };
        // Who may not use the session is told so, whether there is a permit or not; without one it is free again.
        let reservation = match sessions.reserve(calling.flight.connection().owner(), &args) {
            Ok(reservation) => reservation,
            Err(payload) => return Ok(Told::Over(*payload)),
        };
        let Some(permit) = self.permit() else { return Ok(Told::Over(self.busy())) };
        let job = Box::new(move |around: &Around| reservation.run(around));
        self.see_through(permit, calling, job, self.0.host.timeout(), made).await
    }

    async fn task(&self, args: Map<String, Value>, calling: &Calling<'_>) -> Result<Told, RpcError> {
        let refused = |reason, message: String| Ok(Told::Over(task::refused(reason, message)));
        let Some(planner) = self.0.host.tasks().cloned() else {
            return refused(
                Reason::AgenticConfigError,
                "the server was started without --agentic".to_string(),
            );
        };
        let args = match TaskArgs::read(args, &self.0.settings) {
            Ok(args) => args,
            Err(message) => return refused(Reason::ArgsError, message),
        };
        let Some(permit) = self.permit() else { return refused(Reason::Busy, self.busy().message) };
        // It ends in time by itself, and says why; this is for one that does not.
        let (host, left) = (self.0.host.clone(), planner.timeout() + PATIENCE);
        // Nobody is asked: what needs approval is denied there.
        let job = Box::new(move |around: &Around| Went::Over(planner.run(&host, &args, around)));
        self.see_through(permit, calling, job, left, None).await
    }

    fn session_utility(&self, tool: ToolName, args: &Map<String, Value>, owner: &Owner) -> Payload {
        let Some(sessions) = &self.0.sessions else { return no_sessions() };
        match tool {
            ToolName::SessionStart => sessions.start(owner, args),
            ToolName::SessionList => sessions.list(owner, args),
            ToolName::SessionListPreludes => sessions.list_preludes(owner, args),
            ToolName::SessionInspect => sessions.inspect(owner, args),
            ToolName::SessionForget => sessions.forget(owner, args),
            ToolName::SessionClose => sessions.close(owner, args),
            _ => no_sessions(),
        }
    }

    fn unknown(&self, name: &str) -> Result<Reply, RpcError> {
        let shown = crate::cut::chars(name, 80).0;
        let names: Vec<&str> = self.0.listing.names().collect();
        if self.0.settings.strict_mcp {
            return Err(RpcError::new(RpcError::INVALID_PARAMS, format!("Unknown tool: {shown}")));
        }
        let mut payload = Payload::error(Reason::UnknownTool, format!("there is no tool `{shown}`"));
        payload.feedback = format!("the tools are: {}", names.join(", "));
        Ok(payload.reply(self.0.settings.profile()))
    }

    async fn eval(
        &self,
        args: Map<String, Value>,
        made: Option<Made>,
        calling: &Calling<'_>,
    ) -> Result<Told, RpcError> {
        let args = match EvalArgs::read(args, &self.0.settings) {
            Ok(args) => args,
            Err(message) => return Ok(Told::Over(Payload::error(Reason::ArgsError, message))),
        };
        let Some(permit) = self.permit() else { return Ok(Told::Over(self.busy())) };
        let evaluator = self.0.evaluator.clone();
        let job = Box::new(move |around: &Around| evaluator.run(args, around));
        self.see_through(permit, calling, job, self.0.host.timeout(), made).await
    }
}

/// What a call comes to for its client.
enum Ended {
    Reply(Reply),
    /// It has to ask somebody first.
    Asks(Map<String, Value>),
}

/// What traces keep of a call that is made again once somebody was asked.
const WAITS: &str = "the program waits for a person's approval";

/// What stands around a result in an answer.
fn frame_bytes(id: &Id) -> usize {
    crate::frame::answer(id, Value::Null).to_string().len()
}

fn no_sessions() -> Payload {
    Payload::error(Reason::SessionsDisabled, "the server was started without --sessions")
}
