//! Clients: where each keeps its servers, and how it writes them.

use crate::args::McpClient;
use std::path::PathBuf;

/// Facts about one client.
#[derive(Debug)]
pub struct Client {
    /// Name for people.
    pub name: &'static str,
    /// Member of the file that holds the servers.
    pub servers: &'static str,
    pub format: Format,
    /// Value of `type` in entries with a command; None if they have no such member.
    pub command_type: Option<&'static str>,
    /// Members of entries with an address; None if the client's file takes no addresses.
    pub http: Option<HttpEntry>,
    /// Folder and path below it.
    place: (Base, &'static [&'static str]),
}

/// Format of a client's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// JSON, which may have comments and trailing commas.
    Json,
    Toml,
}

/// How a client writes a server with an address.
#[derive(Debug)]
pub struct HttpEntry {
    /// Member with the address.
    pub url: &'static str,
    /// Value of `type`, if it has one.
    pub kind: Option<&'static str>,
    pub token: Token,
}

/// How a client's entry takes the token from somewhere else than the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token {
    /// A header with a variable: the text before its name, and after.
    Header(&'static str, &'static str),
    /// A header with an input that the client asks its user for.
    Input,
    /// A member with the name of the variable.
    Member(&'static str),
    /// Not at all.
    None,
}

/// Folder that a client's file is in.
#[derive(Clone, Copy, Debug)]
enum Base {
    Home,
    /// Folder for settings of programs.
    Config,
    /// `~/.config` also on macOS.
    DotConfig,
    /// The current folder.
    Here,
}

/// Members that only one of the two kinds of entry has; the others belong to the user.
pub const OWN_MEMBERS: [&str; 8] =
    ["type", "command", "args", "url", "serverUrl", "httpUrl", "headers", "bearer_token_env_var"];

const ENV: Token = Token::Header("${", "}");
const PREFIXED_ENV: Token = Token::Header("${env:", "}");

/// Returns the facts about a client.
pub fn of(client: McpClient) -> &'static Client {
    match client {
        McpClient::ClaudeDesktop => &Client {
            name: "Claude Desktop",
            servers: "mcpServers",
            format: Format::Json,
            command_type: None,
            http: None,
            place: (Base::Config, &["Claude", "claude_desktop_config.json"]),
        },
        McpClient::ClaudeCode => &Client {
            name: "Claude Code",
            servers: "mcpServers",
            format: Format::Json,
            command_type: Some("stdio"),
            http: Some(HttpEntry { url: "url", kind: Some("http"), token: ENV }),
            place: (Base::Home, &[".claude.json"]),
        },
        McpClient::Cursor => &Client {
            name: "Cursor",
            servers: "mcpServers",
            format: Format::Json,
            command_type: None,
            http: Some(HttpEntry { url: "url", kind: None, token: PREFIXED_ENV }),
            place: (Base::Home, &[".cursor", "mcp.json"]),
        },
        McpClient::Vscode => &Client {
            name: "VS Code",
            servers: "servers",
            format: Format::Json,
            command_type: Some("stdio"),
            http: Some(HttpEntry { url: "url", kind: Some("http"), token: Token::Input }),
            place: (Base::Here, &[".vscode", "mcp.json"]),
        },
        McpClient::Codex => &Client {
            name: "Codex",
            servers: "mcp_servers",
            format: Format::Toml,
            command_type: None,
            http: Some(HttpEntry { url: "url", kind: None, token: Token::Member("bearer_token_env_var") }),
            place: (Base::Home, &[".codex", "config.toml"]),
        },
        McpClient::Windsurf => &Client {
            name: "Windsurf",
            servers: "mcpServers",
            format: Format::Json,
            command_type: None,
            http: Some(HttpEntry { url: "serverUrl", kind: None, token: PREFIXED_ENV }),
            place: (Base::Home, &[".codeium", "windsurf", "mcp_config.json"]),
        },
        McpClient::Gemini => &Client {
            name: "Gemini CLI",
            servers: "mcpServers",
            format: Format::Json,
            command_type: None,
            http: Some(HttpEntry { url: "httpUrl", kind: None, token: ENV }),
            place: (Base::Home, &[".gemini", "settings.json"]),
        },
        McpClient::Zed => &Client {
            name: "Zed",
            servers: "context_servers",
            format: Format::Json,
            command_type: None,
            http: Some(HttpEntry { url: "url", kind: None, token: Token::None }),
            place: (Base::DotConfig, &["zed", "settings.json"]),
        },
    }
}

/// Returns the file in which a client keeps its servers.
pub fn file(client: &Client) -> Result<PathBuf, String> {
    let (base, path) = client.place;
    let home = || dirs::home_dir().ok_or("there is no home folder; leave out --write");
    let mut file = match base {
        Base::Home => home()?,
        Base::Config => dirs::config_dir().ok_or("there is no folder for settings; leave out --write")?,
        Base::DotConfig if cfg!(target_os = "macos") => home()?.join(".config"),
        Base::DotConfig => dirs::config_dir().ok_or("there is no folder for settings; leave out --write")?,
        Base::Here => PathBuf::new(),
    };
    file.extend(path);
    Ok(file)
}
