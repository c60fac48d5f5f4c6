//! `(tool/call …)`: checks the arguments, calls the server, and returns a value either way.
//!
//! Mistakes of the program stop it; failures of the outside world are returned as values.

mod answer;
mod args;

use crate::approval::{ApprovalRequest, Consent, Manner, Verdict};
use crate::catalogue::{CatalogTool, Catalogue, Server, clean};
use crate::client::{Reply, Request};
use crate::context::RunContext;
use crate::executor;
use crate::fault::{Fault, Reason};
use crate::ledger::Call;
use crate::policy::{Rate, cache};
use crate::redact::Redactor;
use answer::Received;
use args::shown;
use ptc_bytecode::{Datum, Effects, Node, likeness};
use ptc_contract::data::{Tree, View};
use ptc_contract::firewall::redact;
use ptc_runtime::effects::{EffectCall, EffectSlot, Sent, Settled, shown_args};
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError};
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;

/// Maximum length of a result preview, in bytes.
const PREVIEW: usize = 240;

/// Maximum number of tool names in a hint.
const NAMES: usize = 20;

/// Maximum length of a name from the program that is shown and compared, in characters: comparing costs its length.
const NAME: usize = 120;

/// Catalogue and redactor that all calls use.
pub(crate) struct Caller {
    pub catalogue: Arc<Catalogue>,
    pub redactor: Arc<Redactor>,
}

/// A call checked as far as possible without its server.
struct CheckedCall {
    server: Arc<Server>,
    tool: String,
    args: Datum,
}

impl Caller {
    /// Makes one call of a program, up to its result or until it needs approval.
    pub async fn call(
        &self,
        given: &ToolArgs,
        context: &RunContext,
        manner: Manner,
    ) -> Result<ToolAnswer, ToolError> {
        if context.is_closed() {
            return answer::failure(Reason::RunContextClosed, "the run that made this call has ended");
        }
        let asked = self.read(given.datum())?;
        let started = Instant::now();
        let call = Call {
            server: asked.server.name.clone(),
            tool: self.named(&asked.tool),
            auth: asked.server.about.auth.first().map(|auth| (auth.scheme.name(), auth.binding.clone())),
            ..Call::default()
        };
        let tool = match context.in_time(&asked.server.name, self.find(&asked)).await {
            Ok(tool) => tool?,
            Err(fault) => {
                // A call that was answered before needs no server.
                let name = format!("{}.{}", call.server, call.tool);
                if let Some(slot) = given.effect_slot()
                    && let Some(settled) = slot.recalled(&name, &asked.args).await
                {
                    return self.settled(settled, slot);
                }
                let fault = self.spend(context).err().unwrap_or(fault);
                return self.unsent(call, fault, started, context);
            }
        };
        let effect = given.effect(asked.server.effect(&tool));
        if manner.is_read_only {
            self.check_reads(&asked.server, &tool, effect)?;
        }
        let args = self.check(&asked, &tool)?;
        // A held call was already counted against the budget.
        if !matches!(manner.consent, Consent::Said(_))
            && !given.effect_slot().is_some_and(EffectSlot::is_answered)
            && let Err(fault) = self.spend(context)
        {
            return self.unsent(call, fault, started, context);
        }
        let slot = given.effect_slot().filter(|_| effect.may_write());
        let needs_approval = asked.server.needs_approval(&tool, effect);
        let must_ask = needs_approval && slot.is_some_and(EffectSlot::decides);
        if needs_approval && !must_ask {
            match manner.consent {
                Consent::Said(Verdict::Approved) => {}
                Consent::Said(Verdict::Denied(why)) => {
                    return self.unsent(call, Fault::new(Reason::ApprovalDenied, why), started, context);
                }
                Consent::Askable => {
                    let is_firewalled = !asked.args.veiled().is_empty() || redact(&asked.args) != asked.args;
                    let args = self.redactor.scrub_json(Value::Object(args));
                    let (server, tool) = (call.server.clone(), call.tool.clone());
                    let request = ApprovalRequest { server, tool, args, is_firewalled };
                    return match request.too_large() {
                        None => Err(ToolError::hold(request.to_json())),
                        // Nobody can approve a call that cannot be shown in full.
                        Some(why) => {
                            let fault = Fault::new(Reason::ApprovalDenied, why);
                            self.unsent(call, fault, started, context)
                        }
                    };
                }
                Consent::Unavailable => {
                    let fault = Fault::new(Reason::ApprovalDenied, Verdict::UNAVAILABLE);
                    return self.unsent(call, fault, started, context);
                }
            }
        }
        let Some(slot) = slot else {
            return self.send(&asked, &tool, args, (call, effect), given, context).await.0;
        };
        let shown = match asked.args.veiled().is_empty() {
            true => self.redactor.scrub_json(Value::Object(args.clone())),
            false => self.redactor.scrub_json(shown_args(&asked.args)),
        };
        let name = format!("{}.{}", call.server, call.tool);
        let original = slot.original().and_then(|original| Some(self.read(original).ok()?.args));
        let recorded = EffectCall { tool: &name, shown, args: &asked.args, original, effect, must_ask };
        let send = async {
            let (answer, fault) =
                self.send(&asked, &tool, args, (call.clone(), effect), given, context).await;
            sent(answer, fault)
        };
        let settled = match slot.once(recorded, send).await {
            Err(error) if error.is_denied() => {
                let fault = Fault::new(Reason::ApprovalDenied, error.to_string());
                return self.unsent(call, fault, started, context);
            }
            settled => settled?,
        };
        self.settled(settled, slot)
    }

    /// Returns what the program gets for a call that is in the ledger.
    fn settled(&self, settled: Settled, slot: &EffectSlot) -> Result<ToolAnswer, ToolError> {
        match settled {
            Settled::Known(answer) | Settled::Sent(answer) => answer,
            Settled::Said(answer) => answer::said(&answer),
            Settled::Unknown(why) => {
                let why = self.redactor.scrub(&why);
                let message = format!(
                    "the call may have been made, and is not made again: {why} (effect `{}`)",
                    slot.id()
                );
                answer::failure(Reason::OutcomeUnknown, &answer::brief(&clean::visible(&message)))
            }
        }
    }

    /// Sends a call and records it for the caller of the program. Returns the answer for the program, and the failure if it is one.
    async fn send(
        &self,
        asked: &CheckedCall,
        tool: &Arc<CatalogTool>,
        args: Map<String, Value>,
        (call, effect): (Call, Effects),
        given: &ToolArgs,
        context: &RunContext,
    ) -> (Result<ToolAnswer, ToolError>, Option<Fault>) {
        let started = Instant::now();
        // Recorded before it is sent: a call that nobody waits for any more may still have had its effect.
        let is_covered = given.effect_slot().is_some_and(EffectSlot::is_covered);
        let call = Call { effect: Some(effect), is_covered, ..call };
        let at = context.begin(&call);
        let span = tracing::info_span!(
            "upstream.call",
            otel.kind = "client",
            otel.status_code = Empty,
            "ptc.upstream" = call.server,
            "gen_ai.tool.name" = call.tool,
            "error.type" = Empty,
        );
        let most = given.max_answer_bytes();
        let answered = self.ask(&asked.server, tool, args, most, context).instrument(span.clone()).await;
        if let Err(fault) = &answered {
            span.record("error.type", fault.reason.name());
            span.record("otel.status_code", "ERROR");
        }
        drop(span);
        let fault = answered.as_ref().err().cloned();
        let (call, answer) = match answered {
            Ok((reply, received)) => self.succeeded(call, &reply, received, started),
            Err(fault) => self.failed(call, fault, started),
        };
        context.settle(at, call);
        (answer, fault)
    }

    /// Refuses tools that are not known to be read-only.
    fn check_reads(&self, server: &Server, tool: &CatalogTool, effect: Effects) -> Result<(), ToolError> {
        let what = match effect {
            Effects::Write => "writes",
            _ if effect.may_write() => "may write",
            _ if server.vouches_for(tool) => return Ok(()),
            _ => "is declared as read-only, but its server is not trusted",
        };
        let message = format!("tool '{}.{}' {what}, and this run may only read", server.name, tool.name);
        let hint = match effect.may_write() {
            true => "use read-only tools, or report with (fail …) what would have to be written",
            false => {
                "whoever runs the server can set \"trust_annotations\": true for it, or \"effect\": \"read\" for the \
                 tool, in the upstreams file"
            }
        };
        Err(ToolError::raise(self.redactor.scrub(&message)).hint(hint))
    }

    /// Records a failed call of which nothing was sent.
    fn unsent(
        &self,
        call: Call,
        fault: Fault,
        started: Instant,
        context: &RunContext,
    ) -> Result<ToolAnswer, ToolError> {
        let (call, answer) = self.failed(call, fault, started);
        context.record(call);
        answer
    }

    /// Runs checks 1 to 5: the map of a call, its server and its tool.
    fn read(&self, asked: &Datum) -> Result<CheckedCall, ToolError> {
        let raise = |message: String| Err(ToolError::raise(self.redactor.scrub(&message)));
        let tree = Tree::new(asked);
        let root = tree.root();
        // Names appear in errors and in the list of calls, so the program itself must write them.
        let unnamed = |what: &str| {
            let hint =
                "only :args may hold firewalled values; write the map, :server and :tool in the program";
            ToolError::raise(format!("tool/call: {what} cannot be firewalled")).hint(hint)
        };
        if root.is_veiled() {
            return Err(unnamed("the map of a call"));
        }
        if !matches!(root.node(), Node::Map(_)) {
            return raise(format!("tool/call requires a map, got {}", shown(Some(root))));
        }
        let mut found: [Option<View<'_>>; 3] = [None; 3];
        for (key, value) in root.entries() {
            if key.is_veiled() {
                return Err(unnamed("a key"));
            }
            let known = ["server", "tool", "args"].iter().position(|known| key.name() == Some(known));
            match known {
                None => {
                    let message = format!("tool/call got an unknown key {}", shown(Some(key)));
                    return raise(message).map_err(|error| error.hint("it takes :server, :tool and :args"));
                }
                Some(n) if found[n].is_some() => {
                    return raise(format!("tool/call has the key {} twice", shown(Some(key))));
                }
                Some(n) => found[n] = Some(value),
            }
        }
        let [server, tool, args] = found;
        if [server, tool].into_iter().flatten().any(View::is_veiled) {
            return Err(unnamed("a name"));
        }
        let text = |view: Option<View<'_>>| match view.map(|view| view.node()) {
            Some(Node::Str(text)) if !text.trim().is_empty() => Some(text.to_string()),
            _ => None,
        };
        let configured = || format!("configured servers: {}", self.catalogue.names().join(", "));
        let Some(server_name) = text(server) else {
            let message = format!("tool/call requires :server (string), got {}", shown(server));
            return raise(message).map_err(|error| error.hint(configured()));
        };
        let Some(tool_name) = text(tool) else {
            return raise(format!(
                "tool/call on upstream '{}' requires :tool (string), got {}",
                self.named(&server_name),
                shown(tool)
            ));
        };
        let args = match args.map(|view| (view, view.node())) {
            None => Datum::scalar(Node::Map(0)),
            Some((view, Node::Map(_))) => view.datum(),
            Some((view, _)) => {
                let found = shown(Some(view));
                let called = format!("{}.{}", self.named(&server_name), self.named(&tool_name));
                let message = format!("tool '{called}' rejected args: :args must be a map, got {found}");
                return raise(message);
            }
        };
        let Some(server) = self.catalogue.server(&server_name) else {
            return raise(format!("no upstream '{}' configured", self.named(&server_name)))
                .map_err(|error| error.hint(configured()));
        };
        Ok(CheckedCall { server: server.clone(), tool: tool_name, args })
    }

    /// Prepares a name from the program for messages.
    fn named(&self, name: &str) -> String {
        clean::line(&self.redactor, name, NAME)
    }

    /// Check 6: finds the tool. A missing tool is the program's mistake only if the server is healthy and has
    /// listed its tools.
    async fn find(&self, asked: &CheckedCall) -> Result<Result<Arc<CatalogTool>, ToolError>, Fault> {
        let listing = self.catalogue.load(&asked.server).await?;
        if let Some(tool) = listing.tools.get(&asked.tool) {
            return Ok(Ok(tool.clone()));
        }
        if let Some(why) = listing.quarantined.get(&asked.tool) {
            return Err(Fault { is_unsent: true, ..Fault::new(Reason::ApprovalDenied, why) });
        }
        if !asked.server.is_healthy() {
            let message = format!("'{}' is unavailable, so its tools are unknown", asked.server.name);
            return Err(Fault::new(Reason::UpstreamUnavailable, message));
        }
        let wanted = self.named(&asked.tool);
        let message = format!("no tool '{wanted}' in upstream '{}'", asked.server.name);
        let wanted = wanted.to_lowercase();
        let alike = |name: &str| likeness(&wanted, &name.to_lowercase());
        let mut names: Vec<(f64, &str)> = listing.tools.keys().map(|name| (alike(name), &**name)).collect();
        names.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let names: Vec<&str> = names.into_iter().take(NAMES).map(|(_, name)| name).collect();
        let hint = match names[..] {
            [] => "it has no tools".to_string(),
            _ => format!("it has: {}", names.join(", ")),
        };
        Ok(Err(ToolError::raise(self.redactor.scrub(&message)).hint(hint)))
    }

    /// Runs checks 7 and 8, and validates the arguments against the tool's schema.
    fn check(&self, asked: &CheckedCall, tool: &CatalogTool) -> Result<Map<String, Value>, ToolError> {
        let rejected = |why: String| {
            let message = format!("tool '{}.{}' rejected args: {why}", asked.server.name, tool.name);
            let hint = format!("it takes {}", crate::schema::args(&tool.input_schema));
            ToolError::raise(answer::brief(&self.redactor.scrub(&message))).hint(answer::brief(&hint))
        };
        let tree = Tree::new(&asked.args);
        let args =
            args::encode(tree.root(), tool).map_err(|why| rejected(format!("not JSON-encodable ({why})")))?;
        let missing: Vec<&str> = tool.required().filter(|name| !args.contains_key(*name)).collect();
        if !missing.is_empty() {
            return Err(rejected(format!("missing required args {}", missing.join(", "))));
        }
        let args = Value::Object(args);
        if let Some(why) = tool.problem(&args) {
            // The problem may quote the value that does not fit.
            let is_secret = !asked.args.veiled().is_empty();
            let why =
                if is_secret { "they are firewalled, and do not fit its schema".to_string() } else { why };
            return Err(rejected(why));
        }
        match args {
            Value::Object(args) => Ok(args),
            _ => Ok(Map::new()),
        }
    }

    /// Check 9: takes a call from the run's budget.
    fn spend(&self, context: &RunContext) -> Result<(), Fault> {
        if context.take_call() {
            return Ok(());
        }
        let most = context.limits.max_calls;
        let message =
            format!("the program may make at most {most} upstream calls (max_upstream_calls_per_program)");
        Err(Fault::new(Reason::CapExhausted, message))
    }

    async fn ask(
        &self,
        server: &Server,
        tool: &CatalogTool,
        args: Map<String, Value>,
        most: u64,
        context: &RunContext,
    ) -> Result<(Reply, Received), Fault> {
        let max_bytes = context.limits.max_response_bytes;
        let policy = &server.about.policy;
        let reads = !server.effect(tool).may_write();
        let kept = policy.cache(&tool.name).filter(|_| reads).map(|ttl| (ttl, cache::key(&tool.name, &args)));
        let known = kept.as_ref().and_then(|(_, key)| server.cache.get(key, Instant::now()));
        let request = Request {
            tool: tool.wire_name.clone(),
            args,
            deadline: context.call_deadline(),
            timeout: policy.timeout(&tool.name).unwrap_or(context.limits.call_timeout),
            queue_timeout: context.limits.queue_timeout,
            max_bytes,
            traceparent: context.traceparent().cloned(),
        };
        let reply = match known {
            Some(reply) => reply,
            None => {
                await_rate(server, tool, &request).await?;
                let reply = executor::call(&*server.client, &server.name, request).await;
                if !reads {
                    // What was read before may not be so any more.
                    server.cache.clear();
                }
                let reply = reply?;
                if let Some((ttl, key)) = kept.filter(|_| !answer::is_failure(&reply)) {
                    server.cache.put(key, reply.clone(), Instant::now(), ttl);
                }
                reply
            }
        };
        if reply.wire_bytes > max_bytes {
            let message =
                format!("the reply has {} bytes; at most {max_bytes} are allowed", reply.wire_bytes);
            let fault = Fault::new(Reason::ResponseTooLarge, message);
            return Err(Fault { wire_bytes: reply.wire_bytes, http_status: reply.http_status, ..fault });
        }
        let bytes = usize::try_from(reply.wire_bytes).unwrap_or(usize::MAX);
        executor::heavy(bytes, move || {
            let payload = answer::payload(&reply, &self.redactor)?;
            if !tool.declares_output()
                && let Some(json) = payload.json()
            {
                tool.shapes.learn(json);
            }
            let is_raw = server.has_raw_envelope(&tool.name);
            let raw = is_raw.then(|| self.redactor.scrub_json_text(reply.result.get()));
            let received = answer::read(&reply, payload, raw.as_deref(), most)?;
            Ok((reply, received))
        })
    }

    fn succeeded(
        &self,
        call: Call,
        reply: &Reply,
        received: Received,
        started: Instant,
    ) -> (Call, Result<ToolAnswer, ToolError>) {
        let call = Call {
            duration_ms: millis(started),
            result_bytes: Some(received.bytes),
            wire_bytes: reply.wire_bytes,
            http_status: reply.http_status,
            value_kind: Some(received.kind),
            shape: self.redactor.scrub(&received.shape).into_owned(),
            preview: self.preview(&received.head),
            ..call
        };
        (call, Ok(received.answer))
    }

    fn failed(&self, call: Call, fault: Fault, started: Instant) -> (Call, Result<ToolAnswer, ToolError>) {
        // Scrubbed first: a secret cut in two would not be found.
        let message = answer::brief(&clean::visible(&self.redactor.scrub(&fault.message)));
        let call = Call {
            duration_ms: millis(started),
            fault: Some((fault.reason.name(), message.clone())),
            result_bytes: (fault.wire_bytes > 0).then_some(fault.wire_bytes),
            oversize: fault.reason == Reason::ResponseTooLarge,
            wire_bytes: fault.wire_bytes,
            http_status: fault.http_status,
            ..call
        };
        (call, answer::failure(fault.reason, &message))
    }

    /// Returns the beginning of a reply, scrubbed.
    fn preview(&self, head: &str) -> String {
        let clean = clean::visible(&self.redactor.scrub(head));
        clean[..clean.floor_char_boundary(PREVIEW)].to_string()
    }
}

/// Waits until the rates of a server and of a tool allow a call, as long as a call may wait.
async fn await_rate(server: &Server, tool: &CatalogTool, request: &Request) -> Result<(), Fault> {
    let policy = &server.about.policy;
    let own = policy.tools.get(&tool.name).and_then(|own| own.rate).map(|rate| (&*tool.name, rate));
    let rates: Vec<(&str, Rate)> = policy.limits.rate.map(|rate| ("", rate)).into_iter().chain(own).collect();
    if rates.is_empty() {
        return Ok(());
    }
    let now = Instant::now();
    let most = request.queue_timeout.min(request.deadline.saturating_duration_since(now));
    match server.rates.reserve(&rates, now, most) {
        Ok(wait) if wait.is_zero() => Ok(()),
        Ok(wait) => {
            tokio::time::sleep(wait).await;
            Ok(())
        }
        Err((rate, wait)) => {
            let why = format!(
                "upstream '{}' may be called {} times (rate); the next call is possible in {} s",
                server.name,
                rate.show(),
                wait.as_secs_f64().ceil()
            );
            Err(Fault { is_unsent: true, ..Fault::new(Reason::RateLimited, why) })
        }
    }
}

/// Returns what happened to a call, for the ledger. Servers that are gone, or answer with nonsense, may have done it.
fn sent(answer: Result<ToolAnswer, ToolError>, fault: Option<Fault>) -> Sent {
    let Some(fault) = fault else { return Sent::Answered(answer) };
    match fault.reason {
        _ if fault.is_unsent => Sent::NotSent(answer),
        Reason::Timeout | Reason::UpstreamUnavailable | Reason::UpstreamError => {
            Sent::NoAnswer(fault.to_string())
        }
        _ => Sent::Answered(answer),
    }
}

fn millis(since: Instant) -> u64 {
    since.elapsed().as_millis() as u64
}
