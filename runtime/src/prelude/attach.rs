//! Checks that a run is granted everything a prelude needs, before any program is compiled.

use super::attached::{Attached, AttachedPrelude};
use super::effects::KnownEffects;
use super::{Keep, Policy, Prelude, interface};
use crate::catalog::Entry;
use crate::shape::ToolShape;
use crate::tools::Tools;
use crate::turn::TurnHost;
use ptc_bytecode::{Code, Datum, Diagnostic, Effects, ExportRecord, Subject};
use std::sync::Arc;

/// Upstream servers of a host, as far as preludes and discovery need them.
pub trait Upstream: Send + Sync {
    /// Returns the knowledge about an operation.
    fn operation(&self, server: &str, tool: &str) -> Known;

    /// Fetches the tool lists of these servers, which are not known yet, and waits for them. Returns the servers
    /// that could not be reached, each with the reason; a prelude that needs one of those is not attached. An
    /// upstream that cannot reach any server, such as a bare configuration, returns an empty list: unknown tools
    /// stay unverified.
    fn load(&self, servers: &[String]) -> Vec<(String, String)> {
        let _ = servers;
        Vec::new()
    }

    /// Returns the parameters and result of an operation, as far as they are known without a request. `tool/call`
    /// returns the result as `:value` of a map.
    fn tool_shape(&self, server: &str, tool: &str) -> Option<ToolShape> {
        let _ = (server, tool);
        None
    }

    /// Returns `(tool/servers)`: a vector of maps.
    fn servers(&self) -> Lookup<Datum> {
        Lookup::Unavailable
    }

    /// Returns the entries that `apropos` searches: one for each tool, and one for each server whose tools are not
    /// known. With `load`, those are fetched first.
    fn entries(&self, load: bool) -> Lookup<Vec<Entry>> {
        let _ = load;
        Lookup::Found(Vec::new())
    }

    /// Returns an index of the tools, for `apropos`; `entries` then returns only what the index does not have. None if there
    /// is no index, so that `apropos` searches all entries.
    fn index(&self) -> Option<Arc<dyn ToolIndex>> {
        None
    }

    /// Returns the maximum bytes of JSON in one result of `doc`, `dir`, `meta` or `apropos`.
    fn max_result_bytes(&self) -> usize {
        262_144
    }

    /// Returns the tools of a server, for `dir`.
    fn dir(&self, server: &str) -> Lookup<Vec<Entry>> {
        let _ = server;
        Lookup::Unknown
    }

    /// Returns the text of `doc` on a server or `server/tool`.
    fn doc(&self, reference: &str) -> Lookup<String> {
        let _ = reference;
        Lookup::Unknown
    }

    /// Returns the map of `meta` on a server or `server/tool`.
    fn meta(&self, reference: &str) -> Lookup<Datum> {
        let _ = reference;
        Lookup::Unknown
    }
}

/// Index of tools, which finds those that a query is about.
pub trait ToolIndex: Send + Sync {
    /// Returns the work of a search for this query, in units of fuel.
    fn work(&self, query: &str) -> usize;

    /// Returns the tools that match best, at most `limit`, best first.
    fn search(&self, query: &str, limit: usize) -> Vec<Entry>;

    /// Returns the tools whose names the query may abbreviate, at most `limit`. Asked only if no word was found.
    fn alike(&self, query: &str, limit: usize) -> Vec<Entry> {
        let _ = (query, limit);
        Vec::new()
    }
}

/// Knowledge about an operation of an upstream server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// There is no such server.
    NoServer,
    /// The server has no such tool.
    NoTool,
    /// The server exists, but its tool list has not been fetched yet.
    NotLoaded,
    /// The operation exists and has this effect.
    Present(Effects),
}

/// The result of a lookup.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup<T> {
    /// The value found.
    Found(T),
    /// No such thing exists.
    Unknown,
    /// A mistake of the program, with the reason.
    Refused(String),
    /// No answer is available: the program continues with nil.
    Unavailable,
}

/// Options for attaching a prelude, and the servers it is checked against besides the tools of the runtime.
///
/// ```
/// use ptc_runtime::{Attach, Keep};
/// let only_crm = |export: &ptc_runtime::ExportRecord| match &*export.namespace {
///     "crm" => Keep::Keep,
///     _ => Keep::Hide,
/// };
/// let attach = Attach::new().deny_dynamic(true).narrow(&only_crm);
/// ```
#[derive(Clone, Default)]
pub struct Attach<'a> {
    upstream: Option<Arc<dyn Upstream>>,
    strict: bool,
    deny_dynamic: bool,
    narrow: Option<&'a dyn Fn(&ExportRecord) -> Keep>,
    hide_writes: bool,
}

impl<'a> Attach<'a> {
    /// Makes options without upstream servers: requirements on servers are then checked only if the runtime has some.
    pub fn new() -> Attach<'a> {
        Attach::default()
    }

    /// Sets the upstream servers.
    #[must_use]
    pub fn upstream(mut self, upstream: Arc<dyn Upstream>) -> Attach<'a> {
        self.upstream = Some(upstream);
        self
    }

    /// Sets whether operations of servers whose tool lists have not been fetched are refused.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Attach<'a> {
        self.strict = strict;
        self
    }

    /// Sets whether preludes are refused that have an export calling upstream operations only known at run time,
    /// whatever they declare: declared operations are checked, but the actual ones depend on arguments.
    #[must_use]
    pub fn deny_dynamic(mut self, deny: bool) -> Attach<'a> {
        self.deny_dynamic = deny;
        self
    }

    /// Narrows the visibility of exports.
    #[must_use]
    pub fn narrow(mut self, narrow: &'a dyn Fn(&ExportRecord) -> Keep) -> Attach<'a> {
        self.narrow = Some(narrow);
        self
    }

    /// Sets whether every export that may write is hidden. The tools its code reaches decide, not its metadata:
    /// `:effect :read` around a tool that writes, or whose effect is unknown, does not help.
    ///
    /// ```
    /// use ptc_runtime::{Attach, Effects, Prelude, Runtime, Tools};
    /// let runtime = Runtime::with_core(ptc_preludes::core())?;
    /// let source = "(ns crm) (defn get [id] (tool/get {:id id})) (defn purge {:effect :read} [] (tool/purge {}))";
    /// let prelude = Prelude::compile(&runtime, source)?;
    /// let tools = Tools::new().with("get", |_| Ok(1)).effect("get", Effects::Read).with("purge", |_| Ok(1));
    /// let runtime = runtime.with_tools(tools).attach(&prelude, &Attach::new().hide_writes(true))?;
    /// let inventory = runtime.inventory(Default::default()).unwrap();
    /// assert!(inventory.contains("crm/get") && !inventory.contains("crm/purge"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn hide_writes(mut self, hide: bool) -> Attach<'a> {
        self.hide_writes = hide;
        self
    }

    /// Checks the prelude's requirements against these tools, and narrows it as the host and its policy say.
    /// `around` are the servers of the run, for an attachment that names none.
    pub(crate) fn check(
        &self,
        prelude: &Prelude,
        tools: &Tools,
        around: Option<&Arc<dyn Upstream>>,
        policy: &Policy,
    ) -> Result<AttachedPrelude, Diagnostic> {
        let exports = prelude.exports();
        let upstream = self.upstream.as_ref().or(around);
        let refuse = |index: u32, what: String| {
            let export = exports.get(index as usize).map(ExportRecord::reference).unwrap_or_default();
            let message = format!("prelude attach failed: {export} {what}");
            Err(Diagnostic::without_span(Code::PreludeAttachFailed, message))
        };
        if (self.deny_dynamic || policy.deny_dynamic)
            && let Some(index) = exports.iter().position(|export| export.dynamic)
        {
            return refuse(index as u32, "may call any upstream operation".into()).map_err(|problem| {
                problem
                    .hint("name server and tool in the call: (tool/call {:server \"crm\" :tool \"search\"})")
            });
        }
        let mut unverified = Vec::new();
        let unreachable = upstream.map_or(Vec::new(), |upstream| load_what_is_needed(prelude, &**upstream));
        // Each id once, in the order in which exports first need it.
        for (index, id) in &prelude.inner.needs {
            match Requirement::of(id) {
                Some(Requirement::Tool(name)) if tools.grants(name) => {}
                Some(Requirement::Tool(name)) => {
                    return refuse(
                        *index,
                        format!("requires granted tool `{name}`, which this run does not have"),
                    )
                    .map_err(|problem| {
                        problem.about(Subject::Tool(name.to_string())).hint("grant the tool to the run")
                    });
                }
                Some(Requirement::Upstream(server, tool)) => {
                    let Some(upstream) = upstream else { continue };
                    let failed = || unreachable.iter().find(|(name, _)| name == server);
                    let why = match upstream.operation(server, tool) {
                        Known::Present(_) => continue,
                        Known::NotLoaded if let Some((_, why)) = failed() => {
                            format!("the tools of `{server}` cannot be listed: {why}")
                        }
                        Known::NotLoaded if !self.strict => {
                            unverified.push(id.clone());
                            continue;
                        }
                        Known::NotLoaded => format!("the tools of `{server}` are not known yet"),
                        Known::NoServer => format!("server `{server}` is not configured for this run"),
                        Known::NoTool => format!("tool `{tool}` is not present on server `{server}`"),
                    };
                    return refuse(*index, format!("requires {id}: {why}")).map_err(|problem| {
                        problem.hint("configure it, or attach without upstream servers to skip the check")
                    });
                }
                None => {
                    return refuse(*index, format!("requires `{id}`, which is not a valid id")).map_err(
                        |problem| problem.hint("ids are \"tool:name\" or \"upstream:server/tool\""),
                    );
                }
            }
        }
        if let Some((index, name)) = tools.kept_from(prelude) {
            let what = format!("requires granted tool `{name}`, which is reserved for other preludes");
            return refuse(index as u32, what).map_err(|problem| {
                problem.hint("a private tool can be called only by preludes that the host names, and never by stored preludes")
            });
        }
        let known = KnownEffects { tools: tools.effects().clone(), upstream: upstream.cloned() };
        let hide_writes = self.hide_writes || policy.hide_writes;
        let keep = |export: &ExportRecord| match hide_writes && known.enforced(export).may_write() {
            true => Keep::Hide,
            false => self.narrow.map_or(Keep::Keep, |narrow| narrow(export)).max(policy.keep(export)),
        };
        let keep: Vec<Keep> = exports.iter().map(keep).collect();
        let keep = keep.iter().any(|keep| *keep != Keep::Keep).then_some(keep);
        let interface = match &keep {
            None if prelude.reached.is_none() => prelude.inner.interface.clone(),
            keep => Arc::new(interface(exports, prelude.namespaces(), prelude.believed_returns(), |i| {
                keep.as_ref().is_none_or(|keep| keep.get(i).is_some_and(|keep| *keep != Keep::Hide))
            })),
        };
        Ok(AttachedPrelude { prelude: prelude.clone(), interface, keep, unverified, known })
    }
}

/// Fetches the tool lists of all servers that a prelude needs and that are not known, all at once; no other server
/// is started. Returns those that could not be reached.
fn load_what_is_needed(prelude: &Prelude, upstream: &dyn Upstream) -> Vec<(String, String)> {
    let cold = |(_, id): &(u32, String)| match Requirement::of(id)? {
        Requirement::Upstream(server, tool) if upstream.operation(server, tool) == Known::NotLoaded => {
            Some(server.to_string())
        }
        _ => None,
    };
    let mut servers: Vec<String> = prelude.inner.needs.iter().filter_map(cold).collect();
    servers.sort_unstable();
    servers.dedup();
    if servers.is_empty() { Vec::new() } else { upstream.load(&servers) }
}

/// A parsed id of `requires`.
pub(super) enum Requirement<'a> {
    Tool(&'a str),
    Upstream(&'a str, &'a str),
}

impl<'a> Requirement<'a> {
    pub fn of(id: &'a str) -> Option<Requirement<'a>> {
        if let Some(name) = id.strip_prefix("tool:") {
            return (!name.is_empty()).then_some(Requirement::Tool(name));
        }
        let (server, tool) = id.strip_prefix("upstream:")?.split_once('/')?;
        (!server.is_empty() && !tool.is_empty()).then_some(Requirement::Upstream(server, tool))
    }
}

/// The surroundings that natives of a run reach besides the language: the sources of discovery, and the mission the
/// run is a turn of.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub attached: Option<Arc<Attached>>,
    pub upstream: Option<Arc<dyn Upstream>>,
    pub turn: Option<Arc<dyn TurnHost>>,
}

impl Surroundings {
    /// Returns surroundings with one more prelude, and with the servers it was attached to, if any.
    pub fn with(&self, added: AttachedPrelude) -> Surroundings {
        let upstream = added.known.upstream.clone().or_else(|| self.upstream.clone());
        let attached = Attached::adding(self.attached.as_deref(), added);
        Surroundings { attached: Some(Arc::new(attached)), upstream, turn: self.turn.clone() }
    }
}
