//! One server: its client, and its tools once they are known.

use super::clean;
use super::tool::CatalogTool;
use crate::approval::Approval;
use crate::client::{Client, Health};
use crate::config::Emitter;
use crate::fault::{Fault, Reason};
use crate::redact::Redactor;
use ptc_bytecode::Effects;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The longest description of a server, in characters.
const DESCRIPTION: usize = 80;

/// What is known of a server before it is started.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// `mcp_stdio`, `mcp_http`, `openapi`, or what a host calls its own.
    pub transport: String,
    /// What it is for.
    pub description: Option<String>,
    /// Which credentials it is sent.
    pub auth: Vec<Emitter>,
    /// Whether all its results carry the whole answer under `:raw`; and exceptions by tool.
    pub raw_envelope: bool,
    /// Tools that differ in this.
    pub raw_tools: BTreeMap<String, bool>,
    /// Which of its calls a person has to agree to.
    pub approval: Approval,
    /// Tools that differ in this.
    pub approval_tools: BTreeMap<String, Approval>,
    /// Whether runs that may only read believe what the server says about its tools.
    pub trusts_annotations: bool,
    /// Effect of its tools, where the configuration knows better than the server.
    pub effect: Option<Effects>,
    /// Tools that differ in this.
    pub effect_tools: BTreeMap<String, Effects>,
}

/// A server of the catalogue.
pub struct Server {
    /// Its name.
    pub name: String,
    /// What is known of it anyway.
    pub about: About,
    pub(crate) client: Arc<dyn Client>,
    redactor: Arc<Redactor>,
    listed: Mutex<Option<Arc<Listing>>>,
    /// Only one asks at a time; the others wait for what it finds.
    asking: tokio::sync::Mutex<()>,
}

/// The tools of a server, as it listed them.
#[derive(Debug)]
pub struct Listing {
    /// By name.
    pub tools: BTreeMap<String, Arc<CatalogTool>>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
    /// How often the server had said that its tools changed.
    changes: u64,
}

impl Server {
    pub(crate) fn new(name: &str, about: About, client: Arc<dyn Client>, redactor: Arc<Redactor>) -> Server {
        let listed = Mutex::new(None);
        Server { name: name.to_string(), about, client, redactor, listed, asking: Default::default() }
    }

    /// The description, fit to be shown.
    pub fn description(&self) -> String {
        let text = self.about.description.as_deref().unwrap_or_default();
        clean::line(&self.redactor, text, DESCRIPTION)
    }

    /// Whether results of a tool carry the whole answer.
    pub(crate) fn has_raw_envelope(&self, tool: &str) -> bool {
        self.about.raw_tools.get(tool).copied().unwrap_or(self.about.raw_envelope)
    }

    /// Whether a person has to agree before a tool is called with this effect.
    pub(crate) fn needs_approval(&self, tool: &CatalogTool, effect: Effects) -> bool {
        let approval = self.about.approval_tools.get(&tool.name).copied().unwrap_or(self.about.approval);
        approval.covers(effect)
    }

    /// Effect of calling a tool: as the configuration says, else as the server does.
    pub(crate) fn effect(&self, tool: &CatalogTool) -> Effects {
        self.configured_effect(tool).unwrap_or_else(|| tool.effect())
    }

    fn configured_effect(&self, tool: &CatalogTool) -> Option<Effects> {
        self.about.effect_tools.get(&tool.name).copied().or(self.about.effect)
    }

    /// Whether somebody other than an untrusted server says what a tool does. A server that calls its own deletes reads
    /// must not get them past a guard.
    pub(crate) fn vouches_for(&self, tool: &CatalogTool) -> bool {
        self.about.trusts_annotations || self.configured_effect(tool).is_some()
    }

    /// Its tools, if they are known.
    pub fn listing(&self) -> Option<Arc<Listing>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it can prove that it has no tool of some name.
    pub(crate) fn is_healthy(&self) -> bool {
        self.client.health() == Health::Ready
    }

    /// Its tools; asks for them if they are not known, or, with `is_live`, have changed since.
    pub(crate) async fn load(&self, is_live: bool, within: Duration) -> Result<Arc<Listing>, Fault> {
        let current =
            || self.listing().filter(|listing| !is_live || listing.changes == self.client.generation());
        if let Some(listing) = current() {
            return Ok(listing);
        }
        let _turn = self.asking.lock().await;
        if let Some(listing) = current() {
            return Ok(listing);
        }
        let changes = self.client.generation();
        let late = || Fault::new(Reason::UpstreamUnavailable, "did not list its tools in time");
        let tools =
            tokio::time::timeout(within, self.client.tools()).await.unwrap_or_else(|_| Err(late()))?;
        let mut listing = Listing { tools: BTreeMap::new(), warnings: Vec::new(), changes };
        for tool in tools {
            let Some(tool) = CatalogTool::new(tool, &self.redactor) else {
                listing.warnings.push(format!("upstream '{}' has a tool without a usable name", self.name));
                continue;
            };
            if listing.tools.contains_key(&tool.name) {
                let warning = format!(
                    "upstream '{}' lists the tool '{}' twice; the first is kept",
                    self.name, tool.name
                );
                listing.warnings.push(warning);
                continue;
            }
            // What was learned of a tool that is still there is not lost.
            if let Some(known) = self.listing().and_then(|known| known.tools.get(&tool.name).cloned()) {
                tool.shapes.take_over(&known.shapes);
            }
            listing.tools.insert(tool.name.clone(), Arc::new(tool));
        }
        let listing = Arc::new(listing);
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some(listing.clone());
        Ok(listing)
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("name", &self.name).field("about", &self.about).finish_non_exhaustive()
    }
}
