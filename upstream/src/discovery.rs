//! Lookups of programs in the catalogue: `tool/servers`, `dir`, `doc`, `meta`, `apropos`. Each costs one of the
//! run's lookups, which are counted apart from its calls.

use crate::catalogue::search::entry;
use crate::catalogue::{CatalogTool, Listing, Server, clean};
use crate::context::RunContext;
use crate::executor;
use crate::fault::Fault;
use crate::running::Inner;
use crate::size::json_bytes;
use ptc_bytecode::Datum;
use ptc_runtime::{Entry, Known, Lookup, Origin, ToolIndex, ToolShape};
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError, RwLock};

/// Maximum length of a recorded reference or error, in characters.
const LINE: usize = 500;

/// The catalogue as one run sees it.
pub(crate) struct View {
    pub upstream: Arc<Inner>,
    /// The current run; a session has one run after another.
    pub current: Current,
}

/// The context of the current run.
#[derive(Clone)]
pub(crate) struct Current(Arc<RwLock<Arc<RunContext>>>);

impl Current {
    pub fn new(context: Arc<RunContext>) -> Current {
        Current(Arc::new(RwLock::new(context)))
    }

    pub fn get(&self) -> Arc<RunContext> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Starts the next run and closes the previous one.
    pub fn set(&self, context: Arc<RunContext>) {
        let before = std::mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), context);
        before.close();
    }
}

impl View {
    /// Takes one lookup from the budget; None if none is left.
    fn begin(&self, op: &str, reference: &str) -> Option<Arc<RunContext>> {
        let context = self.current.get();
        if context.is_closed() {
            return None;
        }
        context.record_op(op, &clean::line(&self.upstream.redactor, reference, LINE));
        if context.take_op() {
            return Some(context);
        }
        let most = context.limits.max_catalog_ops;
        let error =
            format!("the program may make at most {most} catalogue lookups (max_catalog_ops_per_program)");
        self.missed(&context, op, reference, "catalog_ops_exhausted", &error);
        None
    }

    /// Returns the tools of a server, starting it if needed.
    fn load(&self, server: &Arc<Server>, context: &Arc<RunContext>) -> Result<Arc<Listing>, Fault> {
        let (inner, server, context) = (self.upstream.clone(), server.clone(), context.clone());
        executor::wait(async move { context.in_time(&server.name, inner.catalogue.load(&server)).await })?
    }

    /// Finds and loads a server and, if the reference names one, its tool.
    fn find(&self, op: &str, reference: &str) -> Lookup<(Arc<Server>, Option<Arc<CatalogTool>>)> {
        let Some(context) = self.begin(op, reference) else { return Lookup::Unavailable };
        let (name, tool) = match reference.split_once('/') {
            Some((server, tool)) => (server, Some(tool)),
            None => (reference, None),
        };
        let Some(server) = self.upstream.catalogue.server(name) else {
            return match tool {
                Some(_) => Lookup::Refused(format!("no upstream '{name}' configured")),
                None => Lookup::Unknown,
            };
        };
        let listing = match self.load(server, &context) {
            Ok(listing) => listing,
            Err(fault) => {
                self.missed(&context, op, reference, fault.reason.name(), &fault.message);
                return Lookup::Unavailable;
            }
        };
        let Some(tool) = tool else { return Lookup::Found((server.clone(), None)) };
        match listing.tools.get(tool) {
            Some(tool) => Lookup::Found((server.clone(), Some(tool.clone()))),
            None => Lookup::Refused(match listing.quarantined.get(tool) {
                Some(why) => why.clone(),
                None => format!("no tool '{tool}' in upstream '{name}'"),
            }),
        }
    }

    /// Returns a JSON result unless it is too large.
    fn capped<T>(&self, op: &str, reference: &str, bytes: u64, result: T) -> Lookup<T> {
        if bytes <= self.max_bytes() as u64 {
            return Lookup::Found(result);
        }
        let error = format!("the result has {bytes} bytes; at most {} are allowed", self.max_bytes());
        self.missed(&self.current.get(), op, reference, "response_too_large", &error);
        Lookup::Unavailable
    }

    /// Records a failed lookup, cleaned for display.
    fn missed(&self, context: &RunContext, op: &str, reference: &str, reason: &str, error: &str) {
        let clean = |text: &str| clean::line(&self.upstream.redactor, text, LINE);
        context.fail_op(op, &clean(reference), reason, &clean(error));
    }

    fn max_bytes(&self) -> usize {
        self.current.get().limits.max_catalog_bytes
    }
}

impl ptc_runtime::Upstream for View {
    fn operation(&self, server: &str, tool: &str) -> Known {
        let Some(server) = self.upstream.catalogue.server(server) else { return Known::NoServer };
        let Some(listing) = server.listing() else { return Known::NotLoaded };
        match listing.tools.get(tool) {
            Some(tool) => Known::Present(server.effect(tool)),
            None => Known::NoTool,
        }
    }

    /// Takes no lookup from the budget: this is called before the program runs.
    fn tool_shape(&self, server: &str, tool: &str) -> Option<ToolShape> {
        let listing = self.upstream.catalogue.server(server)?.listing()?;
        Some(listing.tools.get(tool)?.shape())
    }

    /// Takes no lookup from the budget.
    fn load(&self, servers: &[String]) -> Vec<(String, String)> {
        let (inner, run) = (self.upstream.clone(), self.current.get());
        let wanted = servers.to_vec();
        let loaded = executor::wait(async move {
            let is_wanted = |server: &&Arc<Server>| wanted.contains(&server.name);
            inner.catalogue.load_all(inner.catalogue.servers().filter(is_wanted), Some(&run)).await
        });
        let why = |fault: Fault| clean::line(&self.upstream.redactor, &fault.message, LINE);
        loaded
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(name, result)| Some((name, why(result.err()?))))
            .collect()
    }

    fn servers(&self) -> Lookup<Datum> {
        if self.begin("servers", "").is_none() {
            return Lookup::Unavailable;
        }
        let row = |server: &Arc<Server>| {
            let listing = server.listing();
            json!({
                "name": server.name, "description": server.description(),
                "tool_count": listing.as_ref().map(|listing| listing.tools.len()),
                "catalog_loaded": listing.is_some(),
            })
        };
        let rows: Vec<Value> = self.upstream.catalogue.servers().map(row).collect();
        let rows = Value::Array(rows);
        match ptc_runtime::bridge::json_to_datum(&rows) {
            Ok(datum) => self.capped("servers", "", json_bytes(&rows), datum),
            Err(_) => Lookup::Unavailable,
        }
    }

    fn entries(&self, load: bool) -> Lookup<Vec<Entry>> {
        let Some(context) = self.begin("apropos", "") else { return Lookup::Unavailable };
        if load {
            let (inner, run) = (self.upstream.clone(), context.clone());
            let loaded = executor::wait(async move {
                inner.catalogue.load_all(inner.catalogue.servers(), Some(&run)).await
            });
            for (name, result) in loaded.unwrap_or_default() {
                if let Err(fault) = result {
                    self.missed(&context, "apropos", &name, fault.reason.name(), &fault.message);
                }
            }
        }
        let mut entries = Vec::new();
        for server in self.upstream.catalogue.servers() {
            match server.listing() {
                // The index has its tools.
                Some(_) => {}
                None if load => {}
                None => {
                    let about = server.description();
                    let mut entry = Entry::new(Origin::Unloaded, "server", &server.name, "", &about);
                    entry.reference.clone_from(&server.name);
                    entries.push(entry.with_words(&server.name, &about));
                }
            }
        }
        Lookup::Found(entries)
    }

    fn index(&self) -> Option<Arc<dyn ToolIndex>> {
        Some(self.upstream.catalogue.index())
    }

    fn dir(&self, server: &str) -> Lookup<Vec<Entry>> {
        if server.contains('/') {
            return Lookup::Refused(format!(
                "`dir` lists the tools of a server, but '{server}' is not a server"
            ));
        }
        match self.find("dir", server) {
            Lookup::Found((server, _)) => {
                let member = |tool: &Arc<CatalogTool>| {
                    let mut entry = entry(&server, tool);
                    entry.reference.clone_from(&tool.name);
                    entry
                };
                let listing = server.listing();
                Lookup::Found(listing.iter().flat_map(|listing| listing.tools.values()).map(member).collect())
            }
            Lookup::Unknown => Lookup::Unknown,
            Lookup::Refused(why) => Lookup::Refused(why),
            Lookup::Unavailable => Lookup::Unavailable,
        }
    }

    fn doc(&self, reference: &str) -> Lookup<String> {
        let text = match self.find("doc", reference) {
            Lookup::Found((server, Some(tool))) => crate::schema::doc(&server.name, &tool),
            Lookup::Found((server, None)) => {
                let count = server.listing().map_or(0, |listing| listing.tools.len());
                let name = &server.name;
                let said = server.instructions();
                let said = said.map(|said| format!("\nIts instructions: {said}")).unwrap_or_default();
                format!("{name}\n{}\nTools: {count}; (dir '{name}) lists them{said}", server.description())
            }
            Lookup::Unknown => return Lookup::Unknown,
            Lookup::Refused(why) => return Lookup::Refused(why),
            Lookup::Unavailable => return Lookup::Unavailable,
        };
        // Shapes contain names that servers chose.
        let text = self.upstream.redactor.scrub(&text).into_owned();
        let bytes = json_bytes(&*text);
        self.capped("doc", reference, bytes, text)
    }

    fn meta(&self, reference: &str) -> Lookup<Datum> {
        let facts = match self.find("meta", reference) {
            Lookup::Found((server, Some(tool))) => json!({
                "server": server.name, "name": tool.name, "description": tool.description,
                "input_schema": tool.input_schema, "output_schema": tool.output_schema(),
                "annotations": tool.annotations, "_ptc": tool.provenance,
            }),
            Lookup::Found((server, None)) => json!({
                "server": server.name, "description": server.description(), "transport": server.about.transport,
                "instructions": server.instructions(),
                "tool_count": server.listing().map(|listing| listing.tools.len()),
            }),
            Lookup::Unknown => return Lookup::Unknown,
            Lookup::Refused(why) => return Lookup::Refused(why),
            Lookup::Unavailable => return Lookup::Unavailable,
        };
        match ptc_runtime::bridge::json_to_datum(&facts) {
            Ok(datum) => self.capped("meta", reference, json_bytes(&facts), datum),
            Err(_) => Lookup::Unavailable,
        }
    }

    fn max_result_bytes(&self) -> usize {
        self.max_bytes()
    }
}
