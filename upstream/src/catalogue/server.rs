//! One server: its client, and its tools once they are known.

use super::clean;
use super::tool::CatalogTool;
use crate::approval::Approval;
use crate::client::{Client, Health};
use crate::config::Emitter;
use crate::fault::{Fault, Reason};
use crate::pins::{self, ServerPins};
use crate::policy::Policy;
use crate::policy::cache::Cache;
use crate::policy::rate::Rates;
use crate::redact::Redactor;
use ptc_bytecode::text::is_hidden;
use ptc_bytecode::{Effects, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Maximum length of a tool's name in a warning, in characters.
const SHOWN_NAME: usize = 120;

/// Maximum length of a server's description, in characters.
const DESCRIPTION: usize = 80;

/// Maximum length of a server's instructions, in characters.
const INSTRUCTIONS: usize = 4_000;

/// Facts about a server known before it is started.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Name of its transport: `mcp_stdio`, `mcp_http`, `openapi`, or a host's own name.
    pub transport: String,
    /// Purpose of the server.
    pub description: Option<String>,
    /// Credentials sent to it.
    pub auth: Vec<Emitter>,
    /// True if results of its tools carry the whole reply under `:raw`.
    pub raw_envelope: bool,
    /// Exceptions to `raw_envelope`, by tool.
    pub raw_tools: BTreeMap<String, bool>,
    /// Rule for which of its calls need a person's approval.
    pub approval: Approval,
    /// Exceptions to `approval`, by tool.
    pub approval_tools: BTreeMap<String, Approval>,
    /// True if read-only runs believe the server's annotations of its tools.
    pub trusts_annotations: bool,
    /// Effect of its tools, if the configuration overrides the server.
    pub effect: Option<Effects>,
    /// Exceptions to `effect`, by tool.
    pub effect_tools: BTreeMap<String, Effects>,
    /// Which of its tools are used, how often and how long.
    pub policy: Policy,
    /// Definitions that a person has approved; None if all are used as they are.
    pub pins: Option<Arc<ServerPins>>,
}

/// A server of the catalogue.
pub struct Server {
    /// Name of the server.
    pub name: String,
    /// Facts known before it is started.
    pub about: About,
    pub(crate) client: Arc<dyn Client>,
    pub(crate) rates: Rates,
    pub(crate) cache: Cache,
    redactor: Arc<Redactor>,
    listed: Mutex<Option<Arc<Listing>>>,
    /// Held while listing tools, so that only one caller lists; the others wait for its result.
    asking: tokio::sync::Mutex<()>,
}

/// The tools of a server, as it listed them.
#[derive(Debug)]
pub struct Listing {
    /// The tools, by name.
    pub tools: BTreeMap<String, Arc<CatalogTool>>,
    /// Tools that were left out, and why.
    pub warnings: Vec<String>,
    /// Tools that are not used until a person has approved them, and why.
    pub quarantined: BTreeMap<String, String>,
    /// Number of tool changes the server had announced when it was listed.
    changes: u64,
}

impl Server {
    pub(crate) fn new(name: &str, about: About, client: Arc<dyn Client>, redactor: Arc<Redactor>) -> Server {
        let listed = Mutex::new(None);
        Server {
            name: name.to_string(),
            about,
            client,
            rates: Rates::default(),
            cache: Cache::default(),
            redactor,
            listed,
            asking: Default::default(),
        }
    }

    /// Returns the description, cleaned for display.
    pub fn description(&self) -> String {
        let text = match &self.about.description {
            Some(text) => text.clone(),
            None => self.client.introduction().title.unwrap_or_default(),
        };
        clean::line(&self.redactor, &text, DESCRIPTION)
    }

    /// Returns how the server says its tools are meant to be used, cleaned for display; None if it says nothing.
    pub fn instructions(&self) -> Option<String> {
        let said = self.client.introduction().instructions?;
        let shown = self.redactor.scrub(&clean::visible(&self.redactor.scrub(&said))).into_owned();
        let shown = clean::short(shown.trim(), INSTRUCTIONS);
        (!shown.is_empty()).then_some(shown)
    }

    /// Returns whether results of a tool carry the whole reply.
    pub(crate) fn has_raw_envelope(&self, tool: &str) -> bool {
        self.about.raw_tools.get(tool).copied().unwrap_or(self.about.raw_envelope)
    }

    /// Returns whether calling a tool with this effect needs a person's approval.
    pub(crate) fn needs_approval(&self, tool: &CatalogTool, effect: Effects) -> bool {
        let approval = self.about.approval_tools.get(&tool.name).copied().unwrap_or(self.about.approval);
        approval.covers(effect)
    }

    /// Returns the effect of calling a tool, from the configuration if set there, else from the server.
    pub(crate) fn effect(&self, tool: &CatalogTool) -> Effects {
        self.configured_effect(tool).unwrap_or_else(|| tool.effect())
    }

    fn configured_effect(&self, tool: &CatalogTool) -> Option<Effects> {
        self.about.effect_tools.get(&tool.name).copied().or(self.about.effect)
    }

    /// Returns whether a tool's effect comes from a trusted source. A server that calls its own deletes reads
    /// must not get past a guard.
    pub(crate) fn vouches_for(&self, tool: &CatalogTool) -> bool {
        self.about.trusts_annotations || self.configured_effect(tool).is_some()
    }

    /// Returns its tools, if they are known.
    pub fn listing(&self) -> Option<Arc<Listing>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns whether the server is ready, so that its list of tools can be relied on.
    pub fn is_healthy(&self) -> bool {
        self.client.health() == Health::Ready
    }

    /// Returns its tools; lists them first if they are unknown or, with `is_live`, have changed.
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
        let warnings = self.client.warnings().into_iter();
        let warnings = warnings.map(|warning| format!("upstream '{}': {warning}", self.name)).collect();
        let mut listing = Listing { tools: BTreeMap::new(), warnings, quarantined: BTreeMap::new(), changes };
        let names: BTreeSet<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let idle = self.about.policy.idle(&names).into_iter();
        listing.warnings.extend(idle.map(|what| format!("upstream '{}' {what}", self.name)));
        let pins = self.about.pins.as_deref();
        for tool in tools.into_iter().filter(|tool| self.about.policy.admits(&tool.name)) {
            if let Some(why) = pins.and_then(|pins| pins::quarantine(&self.name, &tool, pins)) {
                listing.quarantined.insert(clean::visible(&tool.name), why.clone());
                listing.warnings.push(why);
                continue;
            }
            // A name that looks like another could stand in for it.
            if tool.name.contains(is_hidden) {
                let name = clean::short(&pins::escaped(&tool.name), SHOWN_NAME);
                let what = format!("the tool '{name}' is left out: its name has hidden characters");
                listing.warnings.push(format!("upstream '{}': {what}", self.name));
                continue;
            }
            if let Some(hidden) = tool.description.as_deref().and_then(hidden) {
                listing.warnings.push(format!(
                    "upstream '{}': the description of the tool '{}' has hidden characters, which are left out: {hidden}",
                    self.name, tool.name
                ));
            }
            let later = self.client.output_schema(&tool.name);
            let Some(tool) = CatalogTool::new(tool, later, &self.redactor) else {
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
            // Shapes learned from a tool's replies survive a new listing.
            if let Some(known) = self.listing().and_then(|known| known.tools.get(&tool.name).cloned()) {
                tool.shapes.take_over(&known.shapes);
            }
            listing.tools.insert(tool.name.clone(), Arc::new(tool));
        }
        listing.warnings.extend(self.idle_rules(&listing.tools));
        let listing = Arc::new(listing);
        *self.listed.lock().unwrap_or_else(PoisonError::into_inner) = Some(listing.clone());
        Ok(listing)
    }

    /// Returns a warning for each tool that the configuration has rules for and the server does not list: a misspelt
    /// name would leave calls unapproved that somebody wanted to see.
    fn idle_rules(&self, tools: &BTreeMap<String, Arc<CatalogTool>>) -> Vec<String> {
        let About { approval_tools, effect_tools, raw_tools, .. } = &self.about;
        let named: BTreeSet<&String> =
            approval_tools.keys().chain(effect_tools.keys()).chain(raw_tools.keys()).collect();
        let idle = named.into_iter().filter(|name| !tools.contains_key(*name));
        let warning = |name: &String| {
            let near = nearest(name, tools.keys().map(String::as_str));
            let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            format!(
                "upstream '{}' has no tool '{name}', so its settings in `tools` do nothing{hint}",
                self.name
            )
        };
        idle.map(warning).collect()
    }
}

/// Returns the part of a text with the first hidden character, shown escaped; None if there is none. Marks that emojis
/// consist of hide nothing.
fn hidden(text: &str) -> Option<String> {
    let is_telling = |c: char| is_hidden(c) && !matches!(c, '\n' | '\r' | '\t' | '\u{200d}' | '\u{fe0f}');
    let at = text.find(is_telling)?;
    let start = text.floor_char_boundary(at.saturating_sub(20));
    Some(clean::short(&pins::escaped(&text[start..]), SHOWN_NAME))
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("name", &self.name).field("about", &self.about).finish_non_exhaustive()
    }
}
