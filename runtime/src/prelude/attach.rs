//! Whether a run is granted what a prelude needs, found out before anything of a program is looked at.

use super::{Keep, Prelude, interface, shown_as};
use crate::catalog::Entry;
use crate::tools::Tools;
use crate::turn::TurnHost;
use ptc_bytecode::{Code, Datum, Diagnostic, Effects, ExportRecord, Visibility};
use ptc_compiler::Interface;
use ptc_vm::{Frozen, Vm};
use std::sync::Arc;

/// The upstream servers of a host, as far as preludes and discovery need to know them.
pub trait Upstream: Send + Sync {
    /// What is known of an operation.
    fn operation(&self, server: &str, tool: &str) -> Known;

    /// `(tool/servers)`: a vector of maps.
    fn servers(&self) -> Lookup<Datum> {
        Lookup::Unavailable
    }

    /// What `apropos` searches: one entry for each tool, and one for each server whose tools are not
    /// known. With `load`, those are looked up first.
    fn entries(&self, load: bool) -> Lookup<Vec<Entry>> {
        let _ = load;
        Lookup::Found(Vec::new())
    }

    /// How many bytes of JSON one answer of `doc`, `dir`, `meta` or `apropos` may have.
    fn max_result_bytes(&self) -> usize {
        262_144
    }

    /// The tools of a server, for `dir`.
    fn dir(&self, server: &str) -> Lookup<Vec<Entry>> {
        let _ = server;
        Lookup::Unknown
    }

    /// The text on a server or `server/tool`.
    fn doc(&self, reference: &str) -> Lookup<String> {
        let _ = reference;
        Lookup::Unknown
    }

    /// The facts on a server or `server/tool`, as a map.
    fn meta(&self, reference: &str) -> Lookup<Datum> {
        let _ = reference;
        Lookup::Unknown
    }
}

/// What is known of an operation of an upstream server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// There is no such server.
    NoServer,
    /// The server has no such tool.
    NoTool,
    /// The server is there, but nobody has asked it for its tools yet.
    NotLoaded,
    /// It is there, and calling it does this.
    Present(Effects),
}

/// What came of looking something up.
#[derive(Clone, PartialEq, Debug)]
pub enum Lookup<T> {
    /// This.
    Found(T),
    /// There is no such thing.
    Unknown,
    /// The program is wrong to ask, and this says why.
    Refused(String),
    /// It could not be found out: the program goes on with nil.
    Unavailable,
}

/// What a prelude is attached to.
///
/// ```
/// use ptc_runtime::{Attach, Keep, Tools};
/// let tools = Tools::new();
/// let hide_writes = |export: &ptc_runtime::ExportRecord| match export.effect {
///     ptc_runtime::Effects::Write => Keep::Hide,
///     _ => Keep::Keep,
/// };
/// let attach = Attach::to(&tools).deny_dynamic(true).narrow(&hide_writes);
/// ```
#[derive(Clone)]
pub struct Attach<'a> {
    tools: &'a Tools,
    upstream: Option<Arc<dyn Upstream>>,
    strict: bool,
    deny_dynamic: bool,
    narrow: Option<&'a dyn Fn(&ExportRecord) -> Keep>,
}

impl<'a> Attach<'a> {
    /// A run with these tools and no upstream servers: what preludes need of those is not checked.
    pub fn to(tools: &'a Tools) -> Attach<'a> {
        Attach { tools, upstream: None, strict: false, deny_dynamic: false, narrow: None }
    }

    /// With these upstream servers.
    #[must_use]
    pub fn upstream(mut self, upstream: Arc<dyn Upstream>) -> Attach<'a> {
        self.upstream = Some(upstream);
        self
    }

    /// Refuses operations of servers that have not been asked for their tools yet.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Attach<'a> {
        self.strict = strict;
        self
    }

    /// Refuses preludes with an export that may call upstream operations which only a run knows, whatever it says
    /// it requires: what it declares is checked, but what it calls is up to its arguments.
    #[must_use]
    pub fn deny_dynamic(mut self, deny: bool) -> Attach<'a> {
        self.deny_dynamic = deny;
        self
    }

    /// Shows less of the prelude than it would itself.
    #[must_use]
    pub fn narrow(mut self, narrow: &'a dyn Fn(&ExportRecord) -> Keep) -> Attach<'a> {
        self.narrow = Some(narrow);
        self
    }

    /// Checks what the prelude needs.
    pub(crate) fn check(&self, prelude: &Prelude) -> Result<Attached, Diagnostic> {
        let exports = prelude.exports();
        let refuse = |index: u32, what: String| {
            let export = exports.get(index as usize).map(ExportRecord::reference).unwrap_or_default();
            let message = format!("prelude attach failed: {export} {what}");
            Err(Diagnostic::without_span(Code::PreludeAttachFailed, message))
        };
        if self.deny_dynamic {
            if let Some(index) = exports.iter().position(|export| export.dynamic) {
                return refuse(index as u32, "may call any upstream operation".into()).map_err(|problem| {
                    problem.hint(
                        "name server and tool in the call: (tool/call {:server \"crm\" :tool \"search\"})",
                    )
                });
            }
        }
        let mut unverified = Vec::new();
        // Each id once, in the order in which exports first need it.
        for (index, id) in &prelude.0.needs {
            match Requirement::of(id) {
                Some(Requirement::Tool(name)) if self.tools.grants(name) => {}
                Some(Requirement::Tool(name)) => {
                    return refuse(
                        *index,
                        format!("requires granted tool `{name}`, which this run does not have"),
                    )
                    .map_err(|problem| problem.hint("grant the tool to the run"));
                }
                Some(Requirement::Upstream(server, tool)) => {
                    let Some(upstream) = &self.upstream else { continue };
                    let why = match upstream.operation(server, tool) {
                        Known::Present(_) => continue,
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
                    return refuse(*index, format!("requires `{id}`, which is no id of anything")).map_err(
                        |problem| problem.hint("ids are \"tool:name\" or \"upstream:server/tool\""),
                    );
                }
            }
        }
        let keep: Option<Vec<Keep>> = self.narrow.map(|narrow| exports.iter().map(narrow).collect());
        let interface = match &keep {
            None => prelude.0.interface.clone(),
            Some(keep) => Arc::new(interface(prelude.manifest(), |i| {
                keep.get(i).is_some_and(|keep| *keep != Keep::Hide)
            })),
        };
        let upstream = self.upstream.clone();
        Ok(Attached { prelude: prelude.clone(), interface, keep, unverified, upstream })
    }
}

/// An id of `requires`, taken apart.
enum Requirement<'a> {
    Tool(&'a str),
    Upstream(&'a str, &'a str),
}

impl<'a> Requirement<'a> {
    fn of(id: &'a str) -> Option<Requirement<'a>> {
        if let Some(name) = id.strip_prefix("tool:") {
            return (!name.is_empty()).then_some(Requirement::Tool(name));
        }
        let (server, tool) = id.strip_prefix("upstream:")?.split_once('/')?;
        (!server.is_empty() && !tool.is_empty()).then_some(Requirement::Upstream(server, tool))
    }
}

/// What natives of a run reach besides the language: what discovery looks into, and the mission the
/// run is a turn of.
#[derive(Clone, Default)]
pub(crate) struct Surroundings {
    pub attached: Option<Arc<Attached>>,
    pub upstream: Option<Arc<dyn Upstream>>,
    pub turn: Option<Arc<dyn TurnHost>>,
}

impl Surroundings {
    /// With a prelude, and with the servers it was attached to if there are any.
    pub fn with(&self, attached: Attached) -> Surroundings {
        let upstream = attached.upstream.clone().or_else(|| self.upstream.clone());
        Surroundings { attached: Some(Arc::new(attached)), upstream, turn: self.turn.clone() }
    }
}

/// A prelude that was found to fit a run.
pub struct Attached {
    prelude: Prelude,
    interface: Arc<Interface>,
    keep: Option<Vec<Keep>>,
    unverified: Vec<String>,
    upstream: Option<Arc<dyn Upstream>>,
}

impl Attached {
    pub(crate) fn prelude(&self) -> &Prelude {
        &self.prelude
    }

    pub(crate) fn interface(&self) -> &Arc<Interface> {
        &self.interface
    }

    pub(crate) fn unverified(&self) -> &[String] {
        &self.unverified
    }

    /// Where an export is shown; None if the host hides it.
    pub(crate) fn visibility(&self, index: usize) -> Option<Visibility> {
        let keep = self.keep.as_ref().and_then(|keep| keep.get(index)).copied().unwrap_or_default();
        shown_as(self.prelude.exports().get(index)?, keep)
    }

    /// The exports the host lets through, with where each is shown.
    pub(crate) fn shown(&self) -> impl Iterator<Item = (usize, Visibility)> {
        (0..self.prelude.exports().len()).filter_map(|index| Some((index, self.visibility(index)?)))
    }

    /// The export of this name, if the host lets it through.
    pub(crate) fn find(&self, reference: &str) -> Option<(usize, &ExportRecord)> {
        let index = self.prelude.index(reference)?;
        self.visibility(index)?;
        Some((index, &self.prelude.exports()[index]))
    }

    /// What calling an export may change: the worst of what it says and of what the servers tell.
    pub(crate) fn effect(&self, index: usize) -> Effects {
        let Some(export) = self.prelude.exports().get(index) else { return Effects::Unknown };
        let Some(upstream) = &self.upstream else { return export.effect };
        let operations = export.requires.iter().filter_map(|id| match Requirement::of(id) {
            Some(Requirement::Upstream(server, tool)) => Some(match upstream.operation(server, tool) {
                Known::Present(effect) => effect,
                _ => Effects::Unknown,
            }),
            _ => None,
        });
        let dynamic = export.dynamic.then_some(Effects::Unknown);
        operations.chain(dynamic).fold(export.effect, Effects::max)
    }

    /// The value of an export, if the host lets it through.
    pub(crate) fn value(&self, name: &str) -> Option<&Frozen> {
        let (index, _) = self.find(name)?;
        self.prelude.0.values.get(index)
    }

    /// Gives a run the values of the exports it names.
    pub(crate) fn bind(&self, vm: &mut Vm) {
        let value = |name: &str| Some((name.to_string(), self.value(name)?));
        while let Some((name, value)) = { vm.undefined().find_map(value) } {
            vm.define(&name, value);
        }
    }
}
