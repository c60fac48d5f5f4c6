//! Collects a list of tools that arrives in pages, any of which may be wrong.

use crate::client::Tool;
use crate::fault::{Fault, Reason};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Maximum number of pages that are followed.
const MAX_PAGES: usize = 10_000;
/// Maximum number of tools in a list.
const MAX_TOOLS: usize = 50_000;
/// Maximum size of all pages together, in bytes.
const MAX_BYTES: u64 = 128 << 20;

/// Maximum number of problems that are remembered.
const PROBLEMS: usize = 20;

/// The part of a list received so far.
pub(crate) struct Listing<'n> {
    server: &'n str,
    pages: usize,
    bytes: u64,
    tools: Vec<Tool>,
    names: HashSet<String>,
    cursors: HashSet<String>,
    problems: Vec<String>,
}

impl<'n> Listing<'n> {
    pub(crate) fn new(server: &'n str) -> Listing<'n> {
        Listing {
            server,
            pages: 0,
            bytes: 0,
            tools: Vec::new(),
            names: HashSet::new(),
            cursors: HashSet::new(),
            problems: Vec::new(),
        }
    }

    /// Records a problem, which is logged and shown to people.
    fn problem(&mut self, what: String) {
        tracing::warn!(upstream = self.server, "{what}");
        if self.problems.len() < PROBLEMS {
            self.problems.push(what);
        }
    }

    /// Adds a page of so many bytes and returns the cursor of the next one. `usable` holds the names the SDK can call, if
    /// it parsed them.
    pub(crate) fn page(
        &mut self,
        page: Value,
        bytes: u64,
        usable: Option<HashSet<String>>,
    ) -> Result<Option<String>, Fault> {
        let Value::Object(mut page) = page else { return Err(unreadable()) };
        let Some(Value::Array(tools)) = page.remove("tools") else { return Err(unreadable()) };
        self.pages += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        for tool in tools {
            let Some(tool) = read(tool) else {
                self.problem("a tool without a name is left out".to_string());
                continue;
            };
            if usable.as_ref().is_some_and(|usable| !usable.contains(&tool.name)) {
                self.problem(format!(
                    "the tool '{}' is left out: its headers are invalid",
                    shown(&tool.name)
                ));
            } else if self.tools.len() >= MAX_TOOLS {
                self.problem(format!("it has more than {MAX_TOOLS} tools; the rest is left out"));
                return Ok(None);
            } else if self.names.insert(tool.name.clone()) {
                self.tools.push(tool);
            } else {
                self.problem(format!(
                    "the tool '{}' is listed twice; the first one is used",
                    shown(&tool.name)
                ));
            }
        }
        let Some(Value::String(cursor)) = page.remove("nextCursor") else { return Ok(None) };
        let why = match () {
            () if self.pages >= MAX_PAGES => format!("it has more than {MAX_PAGES} pages"),
            () if self.bytes > MAX_BYTES => format!("it has more than {} MiB", MAX_BYTES >> 20),
            () if !self.cursors.insert(cursor.clone()) => "the same page comes again".to_string(),
            () => return Ok(Some(cursor)),
        };
        let (pages, count) = (self.pages, self.tools.len());
        self.problem(format!(
            "its list of tools is cut after {pages} pages and {count} tools: {why}; the rest is left out"
        ));
        Ok(None)
    }

    /// Returns the tools, and what was left out.
    pub(crate) fn finish(self) -> (Vec<Tool>, Vec<String>) {
        (self.tools, self.problems)
    }
}

/// Returns a name for a message.
fn shown(name: &str) -> String {
    crate::catalogue::clean::short(&crate::catalogue::clean::visible(name), 80)
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
        assert_eq!(listing.page(first, 9, None), Ok(Some("2".to_string())));
        let second =
            json!({"tools": [{"name": "a", "description": "2"}, {"name": "b", "inputSchema": "odd"}]});
        assert_eq!(listing.page(second, 9, None), Ok(None));
        let (tools, problems) = listing.finish();
        assert_eq!(
            problems,
            [
                "a tool without a name is left out",
                "a tool without a name is left out",
                "the tool 'a' is listed twice; the first one is used"
            ]
        );
        assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(tools[0].description.as_deref(), Some("1"));
        assert_eq!(tools[1].input_schema, json!({"type": "object"}));
    }

    #[test]
    fn a_list_without_an_end_is_cut_and_that_is_told() {
        let endless = |bytes: u64| {
            let mut listing = Listing::new("fs");
            let mut pages = 0;
            let mut cursor = Some(String::new());
            while cursor.is_some() {
                pages += 1;
                let tools: Vec<Value> = (0..2).map(|n| json!({"name": format!("t{pages}_{n}")})).collect();
                let page = json!({"tools": tools, "nextCursor": pages.to_string()});
                cursor = listing.page(page, bytes, None).expect("a page");
            }
            (pages, listing.finish())
        };
        let (pages, (tools, problems)) = endless(1);
        assert_eq!((pages, tools.len()), (MAX_PAGES, 2 * MAX_PAGES));
        assert!(problems[0].starts_with("its list of tools is cut after 10000 pages and 20000 tools"));
        let (pages, (_, problems)) = endless(2 << 20);
        assert_eq!(pages, 65);
        assert!(problems[0].contains("more than 128 MiB"), "{problems:?}");
        // The server sends one page again and again.
        let mut listing = Listing::new("fs");
        let page = json!({"tools": [{"name": "a"}], "nextCursor": "x"});
        assert_eq!(listing.page(page.clone(), 9, None), Ok(Some("x".to_string())));
        assert_eq!(listing.page(page, 9, None), Ok(None));
        assert!(listing.finish().1.iter().any(|problem| problem.contains("the same page comes again")));
    }

    /// At 50 pages and 5,000 tools, the rest was once left out without a word.
    #[test]
    fn long_lists_are_whole() {
        let mut listing = Listing::new("fs");
        for page in 0..200 {
            let tools: Vec<Value> = (0..50).map(|n| json!({"name": format!("t{page}_{n}")})).collect();
            let page = json!({"tools": tools, "nextCursor": page.to_string()});
            assert!(listing.page(page, 9, None).expect("a page").is_some());
        }
        let (tools, problems) = listing.finish();
        assert_eq!((tools.len(), problems.len()), (10_000, 0));
        let mut listing = Listing::new("fs");
        let tools: Vec<Value> = (0..MAX_TOOLS + 9).map(|n| json!({"name": format!("t{n}")})).collect();
        assert_eq!(listing.page(json!({"tools": tools, "nextCursor": "2"}), 9, None), Ok(None));
        let (tools, problems) = listing.finish();
        assert_eq!(tools.len(), MAX_TOOLS);
        assert_eq!(problems, ["it has more than 50000 tools; the rest is left out"]);
        assert!(Listing::new("fs").page(json!({"tools": "none"}), 9, None).is_err());
    }
}
