//! Collects a list of tools that arrives in pages, any of which may be wrong.

use crate::client::Tool;
use crate::fault::{Fault, Reason};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Maximum number of pages that are followed.
const MAX_PAGES: usize = 50;
/// Maximum number of tools in a list.
const MAX_TOOLS: usize = 5000;

/// The part of a list received so far.
pub(crate) struct Listing<'n> {
    server: &'n str,
    pages: usize,
    tools: Vec<Tool>,
    names: HashSet<String>,
    cursors: HashSet<String>,
}

impl<'n> Listing<'n> {
    pub(crate) fn new(server: &'n str) -> Listing<'n> {
        Listing { server, pages: 0, tools: Vec::new(), names: HashSet::new(), cursors: HashSet::new() }
    }

    /// Adds a page and returns the cursor of the next one. `usable` holds the names the SDK can call, if it
    /// parsed them.
    pub(crate) fn page(
        &mut self,
        page: Value,
        usable: Option<HashSet<String>>,
    ) -> Result<Option<String>, Fault> {
        let Value::Object(mut page) = page else { return Err(unreadable()) };
        let Some(Value::Array(tools)) = page.remove("tools") else { return Err(unreadable()) };
        self.pages += 1;
        for tool in tools {
            let Some(tool) = read(tool) else {
                tracing::warn!(upstream = self.server, "a tool without a name is left out");
                continue;
            };
            if usable.as_ref().is_some_and(|usable| !usable.contains(&tool.name)) {
                tracing::warn!(upstream = self.server, tool = tool.name, "left out: its headers are invalid");
            } else if self.tools.len() >= MAX_TOOLS {
                tracing::warn!(
                    upstream = self.server,
                    "has more than {MAX_TOOLS} tools; the rest is left out"
                );
                return Ok(None);
            } else if self.names.insert(tool.name.clone()) {
                self.tools.push(tool);
            } else {
                tracing::warn!(
                    upstream = self.server,
                    tool = tool.name,
                    "listed twice; the first one is used"
                );
            }
        }
        let Some(Value::String(cursor)) = page.remove("nextCursor") else { return Ok(None) };
        if self.pages >= MAX_PAGES || !self.cursors.insert(cursor.clone()) {
            tracing::warn!(
                upstream = self.server,
                pages = self.pages,
                "its list of tools does not end; the rest is left out"
            );
            return Ok(None);
        }
        Ok(Some(cursor))
    }

    pub(crate) fn tools(self) -> Vec<Tool> {
        self.tools
    }
}

fn unreadable() -> Fault {
    Fault::new(Reason::UpstreamError, "its reply to tools/list has no list of tools")
}

fn read(tool: Value) -> Option<Tool> {
    let Value::Object(mut tool) = tool else { return None };
    let Some(Value::String(name)) = tool.remove("name") else { return None };
    if name.is_empty() {
        return None;
    }
    let description = match tool.remove("description") {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    let schema = |value: Option<Value>| value.filter(Value::is_object);
    Some(Tool {
        name,
        description,
        input_schema: schema(tool.remove("inputSchema")).unwrap_or_else(|| json!({"type": "object"})),
        output_schema: schema(tool.remove("outputSchema")),
        annotations: schema(tool.remove("annotations")),
        provenance: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_joined_and_the_first_of_a_name_counts() {
        let mut listing = Listing::new("fs");
        let first = json!({"tools": [{"name": "a", "description": "1"}, {"title": "nameless"}, 7], "nextCursor": "2"});
        assert_eq!(listing.page(first, None), Ok(Some("2".to_string())));
        let second =
            json!({"tools": [{"name": "a", "description": "2"}, {"name": "b", "inputSchema": "odd"}]});
        assert_eq!(listing.page(second, None), Ok(None));
        let tools = listing.tools();
        assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(tools[0].description.as_deref(), Some("1"));
        assert_eq!(tools[1].input_schema, json!({"type": "object"}));
    }

    #[test]
    fn a_list_without_an_end_is_cut() {
        let mut listing = Listing::new("fs");
        let mut pages = 0;
        let mut cursor = Some(String::new());
        while cursor.is_some() {
            pages += 1;
            let tools: Vec<Value> = (0..10).map(|n| json!({"name": format!("t{pages}_{n}")})).collect();
            cursor =
                listing.page(json!({"tools": tools, "nextCursor": pages.to_string()}), None).expect("a page");
        }
        assert_eq!((pages, listing.tools().len()), (MAX_PAGES, 500));
        // The server sends one page again and again.
        let mut listing = Listing::new("fs");
        let page = json!({"tools": [{"name": "a"}], "nextCursor": "x"});
        assert_eq!(listing.page(page.clone(), None), Ok(Some("x".to_string())));
        assert_eq!(listing.page(page, None), Ok(None));
    }

    #[test]
    fn there_are_so_many_tools_at_most() {
        let mut listing = Listing::new("fs");
        let tools: Vec<Value> = (0..MAX_TOOLS + 9).map(|n| json!({"name": format!("t{n}")})).collect();
        assert_eq!(listing.page(json!({"tools": tools, "nextCursor": "2"}), None), Ok(None));
        assert_eq!(listing.tools().len(), MAX_TOOLS);
        assert!(Listing::new("fs").page(json!({"tools": "none"}), None).is_err());
    }
}
