//! The catalogue as text, for descriptions of tools and prompts. The same catalogue gives the same text, so that
//! what providers keep of a prompt stays good.

use super::clean::short;
use super::{Catalogue, Server};

/// Whether tools are named.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// If there are few, and all of them are known.
    #[default]
    Auto,
    /// Always.
    Inline,
    /// Never; programs look them up.
    Lazy,
}

/// How the catalogue is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rendering {
    /// Whether tools are named.
    pub mode: Mode,
    /// With more characters `Auto` is `Lazy`.
    pub inline_max_chars: usize,
    /// With more tools `Auto` is `Lazy`.
    pub inline_max_tools: usize,
}

impl Default for Rendering {
    fn default() -> Rendering {
        Rendering { mode: Mode::Auto, inline_max_chars: 800, inline_max_tools: 8 }
    }
}

/// The longest description of a tool, in characters.
const TOOL: usize = 120;

/// How a program finds a tool and calls it, for prompts and the descriptions of tools.
pub const DISCOVERY_HINT: &str = "Use (apropos \"words\"), (dir 'server) and (doc 'server/tool) to find a tool and its arguments, then \
call it: (tool/call {:server \"server\" :tool \"tool\" :args {…}}) gives {:ok true :value v} or {:ok false :reason r \
:message m}.";

impl Catalogue {
    /// The catalogue as text, behind [`DISCOVERY_HINT`].
    pub fn render(&self, how: &Rendering) -> String {
        if self.servers.is_empty() {
            return String::new();
        }
        format!("{DISCOVERY_HINT}\n\n{}", self.render_servers(how))
    }

    /// The catalogue as text. What servers say about themselves is in it: it stands behind what is ours.
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

/// `- fs: Filesystem MCP server. 2 tools.`
fn head(server: &Server) -> String {
    let (name, description) = (&server.name, server.description());
    let about = match description.trim_end_matches('.') {
        "" => String::new(),
        about => format!(" {about}."),
    };
    match server.listing().map(|listing| listing.tools.len()) {
        Some(1) => format!("- {name}:{about} 1 tool."),
        Some(count) => format!("- {name}:{about} {count} tools."),
        None => format!("- {name}:{about} Not loaded; (dir '{name}) loads it."),
    }
}
