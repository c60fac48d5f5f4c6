//! The catalogue as text, for tool descriptions and prompts. Equal catalogues give equal texts, so that prompt
//! caches of providers stay valid.

use super::clean::short;
use super::{Catalogue, Server};

/// Rule for naming tools in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Tools are named if they are few and all known.
    #[default]
    Auto,
    /// Tools are always named.
    Inline,
    /// Tools are never named; programs look them up.
    Lazy,
}

/// Options for rendering the catalogue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rendering {
    /// Rule for naming tools.
    pub mode: Mode,
    /// Text length in characters above which `Auto` means `Lazy`.
    pub inline_max_chars: usize,
    /// Number of tools above which `Auto` means `Lazy`.
    pub inline_max_tools: usize,
}

impl Default for Rendering {
    fn default() -> Rendering {
        Rendering { mode: Mode::Auto, inline_max_chars: 800, inline_max_tools: 8 }
    }
}

/// Maximum length of a tool's description, in characters.
const TOOL: usize = 120;

/// Hint on how a program finds and calls a tool, for prompts and tool descriptions.
pub const DISCOVERY_HINT: &str = "Use (apropos \"words\"), (dir 'server) and (doc 'server/tool) to find a tool and its arguments, then \
call it: (tool/call {:server \"server\" :tool \"tool\" :args {…}}) gives {:ok true :value v} or {:ok false :reason r \
:message m}.";

impl Catalogue {
    /// Renders the catalogue after [`DISCOVERY_HINT`].
    pub fn render(&self, how: &Rendering) -> String {
        if self.servers.is_empty() {
            return String::new();
        }
        format!("{DISCOVERY_HINT}\n\n{}", self.render_servers(how))
    }

    /// Renders the catalogue. The text contains what servers say about themselves, so it belongs after our own text.
    pub fn render_servers(&self, how: &Rendering) -> String {
        match how.mode {
            Mode::Lazy => self.lazy(),
            Mode::Inline => self.inline(true),
            Mode::Auto => self.auto(how),
        }
    }

    fn auto(&self, how: &Rendering) -> String {
        let counts: Option<Vec<usize>> =
            self.servers().map(|server| server.listing().map(|listing| listing.tools.len())).collect();
        let fits = |text: &String| text.chars().count() <= how.inline_max_chars;
        match counts {
            Some(counts) if counts.iter().sum::<usize>() <= how.inline_max_tools => {
                let with = [true, false].map(|described| self.inline(described));
                with.into_iter().find(fits).unwrap_or_else(|| self.lazy())
            }
            _ => self.lazy(),
        }
    }

    fn inline(&self, described: bool) -> String {
        let mut lines = vec!["Configured upstream MCP servers:".to_string()];
        for server in self.servers() {
            lines.push(head(server));
            let Some(listing) = server.listing() else { continue };
            if !listing.tools.is_empty() {
                lines.push("  Tools:".to_string());
            }
            for tool in listing.tools.values() {
                lines.push(match described && !tool.description.is_empty() {
                    true => format!("  - {} - {}", tool.name, short(&tool.description, TOOL)),
                    false => format!("  - {}", tool.name),
                });
            }
        }
        lines.join("\n")
    }

    fn lazy(&self) -> String {
        let mut lines = vec!["Configured upstream MCP servers:".to_string()];
        for server in self.servers() {
            lines.push(head(server));
        }
        lines.join("\n")
    }
}

/// Returns the first line of a server: `- fs: Filesystem MCP server. 2 tools.`
fn head(server: &Server) -> String {
    let (name, description) = (&server.name, server.description());
    let about = match description.trim_end_matches('.') {
        "" => String::new(),
        about => format!(" {about}."),
    };
    let more = match server.instructions() {
        Some(_) => format!(" Read (doc '{name}) before its first use."),
        None => String::new(),
    };
    match server.listing().map(|listing| listing.tools.len()) {
        Some(1) => format!("- {name}:{about} 1 tool.{more}"),
        Some(count) => format!("- {name}:{about} {count} tools.{more}"),
        None => format!("- {name}:{about} Not loaded; (dir '{name}) loads it."),
    }
}
