//! `tools/list`: the tools, and their descriptions for clients and models. Equal settings give equal lists,
//! byte for byte, so that prompt caches of providers stay valid.

use crate::host::Host;
use crate::protocol::Revision;
use crate::settings::Settings;
use crate::task::Planner;
use crate::tool::{Offer, Tool};
use crate::tools::TOOLS;
use ptc_runtime::Inventory;
use serde_json::{Map, Value, json};

/// The list of offered tools.
#[derive(Clone)]
pub struct Listing {
    tools: Vec<&'static Tool>,
    /// Lists for revisions with structured results, and (`text_only`) for those without.
    with_structure: Value,
    text_only: Value,
}

impl Listing {
    /// Lists the tools that a server with this host and these settings offers.
    pub fn new(settings: &Settings, host: &Host) -> Listing {
        let catalogue = host
            .upstream()
            .map(|upstream| upstream.catalogue().render_servers(&upstream.options().rendering));
        let preludes = host.runtime().inventory(Inventory::default());
        let tasks = host.tasks().map(Planner::capabilities);
        let offer = Offer { settings, preludes: preludes.as_deref(), catalogue: catalogue.as_deref(), tasks };
        let tools: Vec<&Tool> = TOOLS.iter().filter(|tool| (tool.is_offered)(&offer)).collect();
        let rows: Vec<Map<String, Value>> = tools.iter().map(|tool| described(tool, &offer)).collect();
        let plain = |mut row: Map<String, Value>| {
            row.remove("outputSchema");
            row.remove("title");
            row
        };
        let text_only = rows.iter().cloned().map(plain).map(Value::Object).collect();
        Listing { tools, with_structure: rows.into_iter().map(Value::Object).collect(), text_only }
    }

    /// Returns the tool of this name, if it is offered.
    pub(crate) fn find(&self, name: &str) -> Option<&'static Tool> {
        self.tools.iter().copied().find(|tool| tool.name == name)
    }

    /// Returns the names of the tools.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.tools.iter().map(|tool| tool.name)
    }

    /// Returns the list for a revision.
    pub fn to_json(&self, revision: Revision) -> &Value {
        if revision.has_structure() { &self.with_structure } else { &self.text_only }
    }
}

fn described(tool: &Tool, offer: &Offer<'_>) -> Map<String, Value> {
    let hints = (tool.hints)(offer);
    let mut row = Map::new();
    row.insert("name".to_string(), json!(tool.name));
    row.insert("title".to_string(), json!(tool.title));
    row.insert("description".to_string(), json!((tool.description)(offer)));
    row.insert("inputSchema".to_string(), (tool.input)());
    if let Some(schema) = (tool.output)(offer) {
        row.insert("outputSchema".to_string(), schema);
    }
    let annotations = json!({
        "title": tool.title,
        "readOnlyHint": hints.is_read_only,
        "destructiveHint": hints.is_destructive,
        "idempotentHint": hints.is_idempotent,
        "openWorldHint": hints.is_open_world,
    });
    row.insert("annotations".to_string(), annotations);
    row
}
