//! `tools/call`: what is checked before a program runs, in which order, and where it runs.

use super::Server;
use crate::args::EvalArgs;
use crate::connection::Flight;
use crate::debug::Record;
use crate::frame::{Id, Request, RpcError};
use crate::listing::ToolName;
use crate::protocol::Revision;
use crate::reason::Reason;
use crate::reply::{Payload, Reply};
use crate::service::Service;
use crate::sessions::Owner;
use crate::task::{self, TaskArgs};
use ptc_runtime::Cancel;
use serde_json::{Map, Value};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::OwnedSemaphorePermit;

/// How much longer than it may a program is waited for: the engine stops it by itself, unless it waits for servers.
const GRACE: Duration = Duration::from_millis(50);

/// How long a program that was told to stop is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

impl Server {
    pub(super) async fn call(
        &self,
        request: Request,
        revision: Revision,
        flight: &Flight,
    ) -> Result<Map<String, Value>, RpcError> {
        let reply = self.called(request, revision, flight).await?;
        let Value::Object(mut result) = reply.to_json() else { return Ok(Map::new()) };
        if !revision.has_structure() {
            result.remove("structuredContent");
        }
        Ok(result)
    }

    async fn called(&self, request: Request, revision: Revision, flight: &Flight) -> Result<Reply, RpcError> {
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
            return Ok(payload.reply(profile));
        }
        let tool = ToolName::from_name(&name).filter(|tool| self.0.listing.has(*tool));
        let Some(tool) = tool else { return self.unknown(&name) };
        let args = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(args)) => args,
            Some(other) => {
                let message = format!("`arguments` must be an object, got {}", crate::args::kind(&other));
                let reason = if tool.is_session() { Reason::SessionArgsError } else { Reason::ArgsError };
                return Ok(Payload::error(reason, message).reply(profile));
            }
        };
        if let (ToolName::Debug, Some(debug)) = (tool, &self.0.debug) {
            return Ok(debug.call(&args, frame_bytes(&request.id)).reply(profile));
        }
        if self.0.debug.is_none() && self.0.traces.is_none() {
            return Ok(self.run(tool, args, flight).await?.reply(profile));
        }
        let about = Record {
            protocol_version: Some(revision.name().to_string()),
            ..Record::new(&request.id.to_json(), tool.name(), &args, &Payload::default())
        };
        let trace = self.0.traces.as_ref().map(|traces| traces.begin(about.clone()));
        let began = Instant::now();
        let payload = self.run(tool, args, flight).await?;
        let call =
            Record { duration: began.elapsed(), at: SystemTime::now(), payload: payload.clone(), ..about };
        if let Some(trace) = trace {
            trace.end(call.clone());
        }
        if let Some(debug) = &self.0.debug {
            debug.recorder().record(call);
        }
        Ok(payload.reply(profile))
    }

    async fn run(
        &self,
        tool: ToolName,
        args: Map<String, Value>,
        flight: &Flight,
    ) -> Result<Payload, RpcError> {
        Ok(match tool {
            ToolName::Eval => self.eval(args, flight).await?,
            ToolName::SessionEval => self.session_eval(args, flight).await?,
            ToolName::Task => self.task(args, flight).await?,
            // They take no time, unless they write to a disk: nobody who serves connections waits for that.
            utility if self.0.settings.session_dir.is_some() => {
                let (server, owner) = (self.clone(), flight.connection().owner().clone());
                tokio::task::spawn_blocking(move || server.session_utility(utility, &args, &owner))
                    .await
                    .map_err(panicked)?
            }
            utility => self.session_utility(utility, &args, flight.connection().owner()),
        })
    }

    async fn session_eval(&self, args: Map<String, Value>, flight: &Flight) -> Result<Payload, RpcError> {
        let Some(sessions) = &self.0.sessions else { return Ok(no_sessions()) };
        // Who may not use the session is told so, whether there is a permit or not; without one it is free again.
        let reservation = match sessions.reserve(flight.connection().owner(), &args) {
            Ok(reservation) => reservation,
            Err(payload) => return Ok(*payload),
        };
        let Some(permit) = self.permit() else { return Ok(self.busy()) };
        self.work(permit, flight, self.0.host.timeout(), move |cancel| reservation.eval(cancel)).await
    }

    async fn task(&self, args: Map<String, Value>, flight: &Flight) -> Result<Payload, RpcError> {
        let Some(planner) = self.0.host.tasks().cloned() else {
            return Ok(task::refused(Reason::AgenticConfigError, "the server was started without --agentic"));
        };
        let args = match TaskArgs::read(args, &self.0.settings) {
            Ok(args) => args,
            Err(message) => return Ok(task::refused(Reason::ArgsError, message)),
        };
        let Some(permit) = self.permit() else { return Ok(task::refused(Reason::Busy, self.busy().message)) };
        let host = self.0.host.clone();
        // It ends in time by itself, and says why; this is for one that does not.
        let timeout = planner.timeout() + PATIENCE;
        self.work(permit, flight, timeout, move |cancel| planner.run(&host, &args, cancel)).await
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

    async fn eval(&self, args: Map<String, Value>, flight: &Flight) -> Result<Payload, RpcError> {
        let args = match EvalArgs::read(args, &self.0.settings) {
            Ok(args) => args,
            Err(message) => return Ok(Payload::error(Reason::ArgsError, message)),
        };
        let Some(permit) = self.permit() else { return Ok(self.busy()) };
        let evaluator = self.0.evaluator.clone();
        self.work(permit, flight, self.0.host.timeout(), move |cancel| evaluator.run(&args, cancel)).await
    }

    /// The right to run a program, if there is one left.
    fn permit(&self) -> Option<OwnedSemaphorePermit> {
        self.0.gate.clone().try_acquire_owned().ok()
    }

    fn busy(&self) -> Payload {
        let most = self.0.settings.concurrent_calls();
        let message = format!("{most} programs run at this time, as many as may; wait a little and retry");
        Payload::error(Reason::Busy, message)
    }

    /// Runs a program where it may compute. The permit goes with it, and is given back when it has really ended.
    async fn work(
        &self,
        permit: OwnedSemaphorePermit,
        flight: &Flight,
        timeout: Duration,
        job: impl FnOnce(&Cancel) -> Payload + Send + 'static,
    ) -> Result<Payload, RpcError> {
        // Not the flight's own: a program that is stopped because it takes too long was not cancelled by its client.
        let stop = StopOnDrop(Cancel::new());
        let asked = stop.0.clone();
        let mut task = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            job(&asked)
        });
        let ended = tokio::select! {
            ended = &mut task => ended,
            () = flight.cancel().cancelled() => {
                stop.0.cancel();
                stopped(task).await?
            }
            () = tokio::time::sleep(timeout + GRACE) => {
                stop.0.cancel();
                stopped(task).await?.map(|payload| late(payload, timeout))
            }
        };
        ended.map_err(panicked)
    }
}

/// What came of a program that was told to stop. Its permit comes back when it has; its client is not kept waiting.
async fn stopped<T>(task: tokio::task::JoinHandle<T>) -> Result<Result<T, tokio::task::JoinError>, RpcError> {
    let timed_out = |_| RpcError::new(RpcError::UNAVAILABLE, "request timed out");
    tokio::time::timeout(PATIENCE, task).await.map_err(timed_out)
}

/// A bug of ours. The log has it, the client only learns that there is one.
fn panicked(error: tokio::task::JoinError) -> RpcError {
    tracing::error!(%error, "a call made the server panic");
    RpcError::new(RpcError::INTERNAL, "Internal error")
}

/// What stands around a result in an answer.
fn frame_bytes(id: &Id) -> usize {
    crate::frame::answer(id, Value::Null).to_string().len()
}

fn no_sessions() -> Payload {
    Payload::error(Reason::SessionsDisabled, "the server was started without --sessions")
}

/// Stops a program whose caller is gone.
struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A program that was stopped because it waited too long has not been cancelled by its client.
fn late(payload: Payload, timeout: Duration) -> Payload {
    // A task says itself that its time was over.
    if payload.reason != Some(Reason::Cancelled) || payload.answer.is_some() {
        return payload;
    }
    let message = format!("the program took longer than {} ms (--program-timeout-ms)", timeout.as_millis());
    Payload { reason: Some(Reason::Timeout), message, feedback: String::new(), ..payload }
}
