//! Running servers: configuration, credentials, clients and catalogue, started and stopped together.

use crate::approval::{Consent, Manner, Verdict};
use crate::call::Caller;
use crate::catalogue::{About, CatalogTool, Catalogue, Server, Snapshot};
use crate::client::{Client, Tool};
use crate::config::{Config, ConfigError, Connect, Surroundings};
use crate::context::RunContext;
use crate::discovery::{Current, View};
use crate::executor;
use crate::options::{BootPolicy, Options};
use crate::pins::{Pin, Pins, ServerPins};
use crate::redact::Redactor;
use ptc_bytecode::ToolName;
use ptc_contract::servers::{ServerTool, ServerTools};
use ptc_runtime::{ToolAnswer, ToolArgs, ToolError, ToolFuture, Tools};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use tracing::Instrument;

/// Reason why servers could not be started.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartError {
    /// Invalid configuration.
    Config(ConfigError),
    /// Unavailable server.
    Server(String),
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StartError::Config(error) => error.fmt(f),
            StartError::Server(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for StartError {}

impl From<ConfigError> for StartError {
    fn from(error: ConfigError) -> StartError {
        StartError::Config(error)
    }
}

/// Running servers that programs can call.
///
/// ```
/// use ptc_upstream::{Options, Upstream, config::{Config, Surroundings}};
/// let config = Config::parse(r#"{"upstreams": {}}"#, ".".as_ref(), &Surroundings::current())?;
/// let upstream = Upstream::start(&config, &Surroundings::current(), Options::default())?;
/// assert!(upstream.catalogue().names().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Upstream(Arc<Inner>);

pub(crate) struct Inner {
    pub catalogue: Arc<Catalogue>,
    pub redactor: Arc<Redactor>,
    pub options: Options,
    pub warnings: Vec<String>,
    caller: Caller,
}

impl Upstream {
    /// Starts the servers of a configuration. With [`Snapshot::Frozen`], all servers are started and listed now.
    pub fn start(config: &Config, around: &Surroundings, options: Options) -> Result<Upstream, StartError> {
        let redactor = Arc::new(Redactor::new());
        let mut warnings = Vec::new();
        let connect = config.resolve(around, &redactor, &mut warnings)?;
        let mut pins = match &config.pins {
            Some(path) => Some(Pins::load(path).map_err(ConfigError::file)?),
            None => None,
        };
        // Clients may create objects that belong to an executor.
        let inside = executor::enter().map_err(|fault| StartError::Server(fault.message))?;
        let client = |(name, connect): (String, Connect)| {
            let pins = pins.as_mut().map(|pins| Arc::new(pins.0.remove(&name).unwrap_or_default()));
            let about = About { pins, ..config.about(&name) };
            let client = crate::transport::connect(&name, connect, &redactor);
            (name, about, client)
        };
        let clients = connect.into_iter().map(client).collect();
        drop(inside);
        Upstream::boot(clients, redactor, options, warnings)
    }

    /// Starts with the host's own clients, whose secrets `redactor` knows.
    pub fn of_clients(
        clients: impl IntoIterator<Item = (String, About, Arc<dyn Client>)>,
        redactor: Arc<Redactor>,
        options: Options,
    ) -> Result<Upstream, StartError> {
        Upstream::boot(clients.into_iter().collect(), redactor, options, Vec::new())
    }

    fn boot(
        clients: Vec<(String, About, Arc<dyn Client>)>,
        redactor: Arc<Redactor>,
        options: Options,
        warnings: Vec<String>,
    ) -> Result<Upstream, StartError> {
        let server = |(name, about, client): (String, About, Arc<dyn Client>)| {
            (name.clone(), Arc::new(Server::new(&name, about, client, redactor.clone())))
        };
        let servers: BTreeMap<String, Arc<Server>> = clients.into_iter().map(server).collect();
        let catalogue = Arc::new(Catalogue::new(servers, options.snapshot, options.boot_deadline));
        let caller = Caller { catalogue: catalogue.clone(), redactor: redactor.clone() };
        let mut inner = Inner { catalogue, redactor, options, warnings, caller };
        let failed = inner.boot();
        if let Some(problem) = failed.first().filter(|_| options.boot_policy == BootPolicy::Fail) {
            let problem = StartError::Server(problem.clone());
            Upstream(Arc::new(inner)).stop();
            return Err(problem);
        }
        inner.warnings.extend(failed);
        Ok(Upstream(Arc::new(inner)))
    }

    /// Stops all servers.
    pub fn stop(&self) {
        let catalogue = self.0.catalogue.clone();
        // If there is no executor, no server was started.
        let _ = executor::wait(async move {
            futures_util::future::join_all(catalogue.servers().map(|server| server.client.stop())).await;
        });
    }

    /// Returns the servers and their tools.
    pub fn catalogue(&self) -> &Catalogue {
        &self.0.catalogue
    }

    /// Starts and lists these servers, or all, unless already done. Returns errors that name the servers.
    pub fn load(&self, servers: Option<&[&str]>) -> Vec<String> {
        let inner = self.0.clone();
        let wanted: Option<Vec<String>> =
            servers.map(|names| names.iter().map(ToString::to_string).collect());
        let loaded = executor::wait(async move {
            let is_wanted =
                |server: &&Arc<Server>| wanted.as_ref().is_none_or(|names| names.contains(&server.name));
            inner.catalogue.load_all(inner.catalogue.servers().filter(is_wanted), None).await
        });
        let failed =
            |(name, result): (String, Result<_, crate::Fault>)| Some(self.0.told(&name, &result.err()?));
        loaded.unwrap_or_default().into_iter().filter_map(failed).collect()
    }

    /// Asks a server for the definitions of its tools, as they are now.
    pub fn pins_of(&self, server: &str) -> Result<ServerPins, String> {
        let inner = self.0.clone();
        let Some(found) = inner.catalogue.server(server).cloned() else {
            return Err(format!("no upstream '{server}' configured"));
        };
        let listed = executor::wait(async move { found.client.tools().await });
        let tools = listed.and_then(|listed| listed).map_err(|fault| inner.told(server, &fault))?;
        let admitted = self.0.catalogue.server(server).map(|server| server.about.policy.clone());
        let is_used = |tool: &Tool| admitted.as_ref().is_none_or(|policy| policy.admits(&tool.name));
        Ok(tools.into_iter().filter(is_used).map(|tool| (tool.name.clone(), Pin::of(&tool))).collect())
    }

    /// Renders the catalogue for a prompt or a tool description.
    pub fn render(&self) -> String {
        self.0.catalogue.render(&self.0.options.rendering)
    }

    /// Returns the redactor, which removes secrets from texts.
    pub fn redactor(&self) -> &Arc<Redactor> {
        &self.0.redactor
    }

    /// Returns warnings: short secrets, unavailable servers, tools left out.
    pub fn warnings(&self) -> Vec<String> {
        let listed = self.0.catalogue.servers().filter_map(|server| server.listing());
        let listed = listed.flat_map(|listing| listing.warnings.clone());
        let all = self.0.warnings.iter().cloned().chain(listed);
        all.map(|warning| self.0.redactor.scrub(&warning).into_owned()).collect()
    }

    /// Returns the options.
    pub fn options(&self) -> &Options {
        &self.0.options
    }

    /// Attaches the servers to one run, or to the runs of one session.
    pub fn attach(&self, deadline: Option<std::time::Instant>) -> Attachment {
        let context = Arc::new(RunContext::new(self.0.options.limits, deadline));
        Attachment {
            upstream: self.clone(),
            current: Current::new(context),
            is_holding: false,
            is_read_only: false,
        }
    }
}

impl Inner {
    /// Starts and lists the servers needed at the start; returns errors.
    fn boot(&self) -> Vec<String> {
        let (catalogue, snapshot) = (self.catalogue.clone(), self.options.snapshot);
        let deadline = self.options.boot_deadline;
        let loaded = executor::wait(async move {
            // OpenAPI documents are always read at the start: their tools are made from them.
            let is_due =
                |server: &&Arc<Server>| snapshot == Snapshot::Frozen || server.about.transport == "openapi";
            let names: Vec<String> =
                catalogue.servers().filter(is_due).map(|server| server.name.clone()).collect();
            let loading = catalogue.load_all(catalogue.servers().filter(is_due), None);
            let late = || {
                let fault = crate::Fault::new(crate::Reason::Timeout, "did not start in time");
                names.iter().map(|name| (name.clone(), Err(fault.clone()))).collect()
            };
            tokio::time::timeout(deadline, loading).await.unwrap_or_else(|_| late())
        });
        let loaded = loaded.unwrap_or_default().into_iter();
        loaded.filter_map(|(name, result)| Some(self.told(&name, &result.err()?))).collect()
    }

    fn told(&self, name: &str, fault: &crate::Fault) -> String {
        let text = crate::catalogue::clean::visible(&self.redactor.scrub(&fault.to_string()));
        format!("upstream '{name}' cannot be used: {text}")
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("servers", &self.0.catalogue.names()).finish_non_exhaustive()
    }
}

/// Running servers, attached to the runs of one program or session.
#[derive(Clone)]
pub struct Attachment {
    upstream: Upstream,
    current: Current,
    is_holding: bool,
    is_read_only: bool,
}

impl Attachment {
    /// Holds calls that need approval ([`ptc_runtime::until_held`]) until [`Attachment::call_after`] makes or
    /// denies them. Without this they are denied.
    #[must_use]
    pub fn holding(mut self) -> Attachment {
        self.is_holding = true;
        self
    }

    /// Refuses tools not known to be read-only, before anything is sent.
    #[must_use]
    pub fn read_only(mut self) -> Attachment {
        self.is_read_only = true;
        self
    }

    /// Returns the servers.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// Returns the current run.
    pub fn context(&self) -> Arc<RunContext> {
        self.current.get()
    }

    /// Begins another run with full budgets and an empty record; closes the previous run.
    pub fn next(&self, deadline: Option<std::time::Instant>) -> Arc<RunContext> {
        let context = Arc::new(RunContext::new(self.upstream.0.options.limits, deadline));
        self.current.set(context.clone());
        context
    }

    /// Returns the catalogue for discovery.
    pub fn discovery(&self) -> Arc<dyn ptc_runtime::Upstream> {
        Arc::new(View { upstream: self.upstream.0.clone(), current: self.current.clone() })
    }

    /// Adds `call` to the tools.
    #[must_use]
    pub fn grant(&self, tools: Tools) -> Tools {
        let servers = self.clone();
        let call = move |args| -> ToolFuture { Box::pin(servers.call(args)) };
        tools.with_async_answer(ToolName::CALL, call).verbatim().records_itself(ToolName::CALL)
    }

    /// Lists the tools of all servers, starting them if needed. Any executor may poll the future.
    pub fn tools(&self) -> impl Future<Output = ServerTools> + Send + 'static + use<> {
        let (inner, run) = (self.upstream.0.clone(), self.current.get());
        let task = executor::begin(async move {
            let loaded = inner.catalogue.load_all(inner.catalogue.servers(), Some(&run)).await;
            let failed =
                |(name, result): (String, Result<_, crate::Fault>)| Some(inner.told(&name, &result.err()?));
            let problems = loaded.into_iter().filter_map(failed).collect();
            let listed = inner.catalogue.servers().filter_map(|server| Some((server, server.listing()?)));
            let tools = listed.flat_map(|(server, listing)| {
                let tool = |tool: &Arc<CatalogTool>| ServerTool {
                    server: server.name.clone(),
                    name: tool.name.clone(),
                    description: tool.description.clone(),
                    input_schema: tool.input_schema.clone(),
                    effect: server.effect(tool),
                };
                listing.tools.values().map(tool).collect::<Vec<_>>()
            });
            ServerTools { tools: tools.collect(), problems }
        });
        async move {
            let listed = match task {
                Ok(task) => task.await,
                Err(fault) => Err(fault),
            };
            listed.unwrap_or_else(|fault| ServerTools { tools: Vec::new(), problems: vec![fault.message] })
        }
    }

    /// Makes one call of a program. Any executor may poll the future; dropping it cancels the call.
    pub fn call(
        &self,
        args: ToolArgs,
    ) -> impl Future<Output = Result<ToolAnswer, ToolError>> + Send + 'static + use<> {
        self.call_with(args, if self.is_holding { Consent::Askable } else { Consent::Unavailable })
    }

    /// Makes or denies a held call, according to the person's answer.
    pub fn call_after(
        &self,
        args: ToolArgs,
        verdict: Verdict,
    ) -> impl Future<Output = Result<ToolAnswer, ToolError>> + Send + 'static + use<> {
        self.call_with(args, Consent::Said(verdict))
    }

    fn call_with(
        &self,
        args: ToolArgs,
        consent: Consent,
    ) -> impl Future<Output = Result<ToolAnswer, ToolError>> + Send + 'static + use<> {
        let (inner, context) = (self.upstream.0.clone(), self.current.get());
        let manner = Manner { is_read_only: self.is_read_only, consent };
        let slot = args.effect_slot().cloned();
        // The call's span belongs to the program's span, on any thread.
        let work = async move { inner.caller.call(&args, &context, manner).await }.in_current_span();
        let task = executor::begin(work);
        async move {
            let answer = match task {
                // A call that the ledger has is carried on, so that a late answer settles it.
                Ok(task) => task.keeping(|| slot.is_some_and(|slot| slot.abandon())).await,
                Err(fault) => Err(fault),
            };
            answer.unwrap_or_else(|fault| Err(ToolError::new(fault.message)))
        }
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment").field("upstream", &self.upstream).finish_non_exhaustive()
    }
}
