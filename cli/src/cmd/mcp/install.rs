//! `ptc mcp install`: the entry that makes a client start this server.

use crate::args::{InstallArgs, McpClient};
use crate::own;
use crate::problem::Problem;
use crate::report::{OK, out};
use ptc_bytecode::Code;
use ptc_runtime::files::{self, Access};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use toml_edit::{DocumentMut, Item, Table, value};

pub fn run(args: &InstallArgs) -> Result<ExitCode, Problem> {
    let entry = Entry { name: &args.name, command: command(args), args: server_args(args) };
    if !args.write {
        let place = file(args.client).map_or_else(|_| String::new(), |file| file.display().to_string());
        let code = out(&entry.snippet(args.client), OK);
        let _ = writeln!(std::io::stderr(), "{}", advice(args.client, &place, &entry));
        return Ok(code);
    }
    let file = file(args.client)?;
    let old = match files::read_text_at_most(&file, MAX_CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(wrong(&file, &error.to_string())),
    };
    let new = entry.merged(args.client, &old).map_err(|message| wrong(&file, &message))?;
    if new == old {
        return Ok(out(&format!("{} already has this entry\n", file.display()), OK));
    }
    replace(&file, &new).map_err(|error| wrong(&file, &error.to_string()))?;
    Ok(out(&format!("wrote `{}` to {}; restart the client\n", args.name, file.display()), OK))
}

/// Bytes of a client's configuration.
const MAX_CONFIG: u64 = 64 << 20;

fn wrong(file: &Path, message: &str) -> Problem {
    let mut problem = Problem::new(Code::InvalidConfig, format!("{}: {message}", file.display()));
    problem.0.hint =
        Some("nothing was changed; without --write the entry is printed, to be added by hand".to_string());
    problem
}

/// Command that starts the server: this program, wherever it is, since clients have a path of their own.
fn command(args: &InstallArgs) -> String {
    match &args.command {
        Some(command) => command.clone(),
        None => own::path().display().to_string(),
    }
}

fn server_args(args: &InstallArgs) -> Vec<String> {
    std::iter::once("mcp".to_string()).chain(args.flags.iter().cloned()).collect()
}

/// File in which a client keeps its servers.
fn file(client: McpClient) -> Result<PathBuf, Problem> {
    let home = || {
        dirs::home_dir()
            .ok_or_else(|| Problem::new(Code::InvalidConfig, "there is no home folder; leave out --write"))
    };
    let settings = || {
        dirs::config_dir().ok_or_else(|| {
            Problem::new(Code::InvalidConfig, "there is no folder for settings; leave out --write")
        })
    };
    Ok(match client {
        McpClient::Claude => settings()?.join("Claude").join("claude_desktop_config.json"),
        McpClient::Cursor => home()?.join(".cursor").join("mcp.json"),
        McpClient::Vscode => PathBuf::from(".vscode").join("mcp.json"),
        McpClient::Codex => home()?.join(".codex").join("config.toml"),
    })
}

fn advice(client: McpClient, place: &str, entry: &Entry<'_>) -> String {
    let words: Vec<&str> =
        std::iter::once(entry.command.as_str()).chain(entry.args.iter().map(String::as_str)).collect();
    let also = match client {
        McpClient::Claude => {
            format!("; for Claude Code run: claude mcp add {} -- {}", entry.name, words.join(" "))
        }
        McpClient::Codex => format!("; or run: codex mcp add {} -- {}", entry.name, words.join(" ")),
        McpClient::Cursor | McpClient::Vscode => String::new(),
    };
    format!("add this to {place}, or run the same with --write{also}")
}

/// The server as clients write it down.
struct Entry<'a> {
    name: &'a str,
    command: String,
    args: Vec<String>,
}

impl Entry<'_> {
    /// The entry alone, as a whole file.
    fn snippet(&self, client: McpClient) -> String {
        self.merged(client, "").unwrap_or_default()
    }

    /// A file with the entry in it; everything else stays as it is.
    fn merged(&self, client: McpClient, old: &str) -> Result<String, String> {
        match client {
            McpClient::Claude | McpClient::Cursor => self.merged_json(old, "mcpServers", false),
            McpClient::Vscode => self.merged_json(old, "servers", true),
            McpClient::Codex => self.merged_toml(old),
        }
    }

    fn merged_json(&self, old: &str, key: &str, with_type: bool) -> Result<String, String> {
        let mut config: Map<String, Value> = match old.trim() {
            "" => Map::new(),
            text => serde_json::from_str(text)
                .map_err(|error| format!("this is not a plain JSON object ({error})"))?,
        };
        let servers = config.entry(key).or_insert_with(|| json!({}));
        let servers = servers.as_object_mut().ok_or_else(|| format!("`{key}` is not an object"))?;
        let known = servers.get(self.name);
        // Other members of an entry, such as `env`, were written by its user and are kept.
        let mut entry = known.and_then(Value::as_object).cloned().unwrap_or_default();
        entry.insert("command".to_string(), json!(self.command));
        entry.insert("args".to_string(), json!(self.args));
        if with_type {
            entry.insert("type".to_string(), json!("stdio"));
        }
        let entry = Value::Object(entry);
        if known == Some(&entry) {
            return Ok(old.to_string());
        }
        servers.insert(self.name.to_string(), entry);
        let text = serde_json::to_string_pretty(&config).map_err(|error| error.to_string())?;
        Ok(text + "\n")
    }

    fn merged_toml(&self, old: &str) -> Result<String, String> {
        let mut config: DocumentMut = old.parse().map_err(|_| "this is not valid TOML".to_string())?;
        let mut parent = Table::new();
        parent.set_implicit(true);
        let servers = config.entry("mcp_servers").or_insert(Item::Table(parent));
        let servers = servers.as_table_mut().ok_or("`mcp_servers` is not a table")?;
        let mut own = Table::new();
        own.insert("command", value(&self.command));
        own.insert("args", value(self.args.iter().collect::<toml_edit::Array>()));
        match servers.get_mut(self.name).and_then(Item::as_table_mut) {
            // Other members, such as `env`, were written by the user and are kept.
            Some(known) => {
                for (key, new) in own {
                    let old = known.get(&key).map(|old| old.to_string().trim().to_string());
                    if old.as_deref() != Some(new.to_string().trim()) {
                        known.insert(&key, new);
                    }
                }
            }
            None => {
                servers.insert(self.name, Item::Table(own));
            }
        }
        Ok(config.to_string())
    }
}

/// Puts a text in the place of a file, whole or not at all.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    files::replace(file, &[text.as_bytes()], Access::Usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry<'static> {
        Entry {
            name: "ptc",
            command: "ptc".to_string(),
            args: vec!["mcp".to_string(), "--sessions".to_string()],
        }
    }

    #[test]
    fn an_entry_joins_what_is_there_and_is_added_once() {
        let old = r#"{"theme": "dark", "mcpServers": {"fs": {"command": "npx"}}}"#;
        let new = entry().merged(McpClient::Cursor, old).unwrap();
        let config: Value = serde_json::from_str(&new).unwrap();
        assert_eq!(
            (&config["theme"], &config["mcpServers"]["fs"]["command"]),
            (&json!("dark"), &json!("npx"))
        );
        assert_eq!(config["mcpServers"]["ptc"], json!({"command": "ptc", "args": ["mcp", "--sessions"]}));
        assert_eq!(entry().merged(McpClient::Cursor, &new).unwrap(), new);
        let code: Value = serde_json::from_str(&entry().snippet(McpClient::Vscode)).unwrap();
        assert_eq!(code["servers"]["ptc"]["type"], "stdio");
    }

    #[test]
    fn a_toml_file_keeps_its_comments() {
        let old = "# mine\nmodel = \"x\" # fast\n\n[mcp_servers.fs]\ncommand = \"npx\"\n";
        let new = entry().merged(McpClient::Codex, old).unwrap();
        assert!(new.starts_with(old), "{new}");
        assert!(
            new.ends_with("[mcp_servers.ptc]\ncommand = \"ptc\"\nargs = [\"mcp\", \"--sessions\"]\n"),
            "{new}"
        );
        assert_eq!(entry().merged(McpClient::Codex, &new).unwrap(), new);
    }

    #[test]
    fn what_else_an_entry_has_is_kept() {
        let old = r#"{"mcpServers": {"ptc": {"command": "old", "args": ["mcp"], "env": {"TOKEN": "x"}}}}"#;
        let new: Value = serde_json::from_str(&entry().merged(McpClient::Cursor, old).unwrap()).unwrap();
        let wanted = json!({"command": "ptc", "args": ["mcp", "--sessions"], "env": {"TOKEN": "x"}});
        assert_eq!(new["mcpServers"]["ptc"], wanted);
        let old = "[mcp_servers.ptc]\ncommand = \"old\"\nargs = []\n\n[mcp_servers.ptc.env]\nTOKEN = \"x\"\n";
        let new = entry().merged(McpClient::Codex, old).unwrap();
        assert!(new.contains("command = \"ptc\"\nargs = [\"mcp\", \"--sessions\"]"), "{new}");
        assert!(new.contains("[mcp_servers.ptc.env]\nTOKEN = \"x\""), "{new}");
    }

    #[test]
    fn what_cannot_be_read_is_left_alone() {
        assert!(
            entry()
                .merged(McpClient::Vscode, "{ // comment\n}")
                .unwrap_err()
                .contains("not a plain JSON object")
        );
        assert!(
            entry()
                .merged(McpClient::Cursor, r#"{"mcpServers": []}"#)
                .unwrap_err()
                .contains("is not an object")
        );
        assert!(entry().merged(McpClient::Codex, "[[").unwrap_err().contains("not valid TOML"));
    }
}
