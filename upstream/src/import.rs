//! Converts configuration files of MCP clients to ours, so that people can start from the files they have.
//!
//! Secrets are left out. Values that look like one become an environment variable for the owner to set, with a
//! note. Settings without a counterpart are left out, also with a note.

mod read;

use crate::config::{is_server_name, is_telling};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// A converted configuration, with notes.
#[derive(Clone, PartialEq, Debug)]
pub struct Imported {
    /// Configuration in our format.
    pub config: Value,
    /// Sentences on what was left out or changed.
    pub notes: Vec<String>,
}

/// One server of another client's file.
#[derive(Debug, Default)]
struct ClientEntry {
    name: String,
    command: Option<String>,
    args: Vec<String>,
    env: Vec<(String, String)>,
    cd: Option<String>,
    url: Option<String>,
    headers: Vec<(String, String)>,
    /// Name of a variable that holds a bearer token.
    token_var: Option<String>,
    is_disabled: bool,
    /// True for the older SSE transport, which is no longer supported.
    is_sse: bool,
}

/// Converts a file of Claude, Cursor, Windsurf (`mcpServers`), VS Code (`servers`) or Codex (`[mcp_servers.…]`).
///
/// ```
/// use ptc_upstream::import::import;
/// let theirs = r#"{"mcpServers": {"gh": {"command": "github-mcp", "env": {"GITHUB_TOKEN": "ghp_0123"}}}}"#;
/// let imported = import(theirs)?;
/// assert_eq!(imported.config["upstreams"]["gh"]["env"]["GITHUB_TOKEN"], "${GITHUB_TOKEN}");
/// assert!(imported.notes[0].contains("set GITHUB_TOKEN"));
/// assert!(!format!("{imported:?}").contains("ghp_0123"));
/// # Ok::<(), String>(())
/// ```
pub fn import(text: &str) -> Result<Imported, String> {
    let found = read::servers(text)?;
    let mut taken = Taken::default();
    for server in found {
        taken.server(server);
    }
    let mut config = Map::new();
    if !taken.credentials.is_empty() {
        config.insert("credentials".to_string(), Value::Object(taken.credentials));
    }
    config.insert("upstreams".to_string(), Value::Object(taken.upstreams));
    Ok(Imported { config: Value::Object(config), notes: taken.notes })
}

#[derive(Default)]
struct Taken {
    credentials: Map<String, Value>,
    upstreams: Map<String, Value>,
    notes: Vec<String>,
    names: BTreeSet<String>,
}

impl Taken {
    fn server(&mut self, found: ClientEntry) {
        let shown = head(&found.name).to_string();
        if found.is_disabled {
            return self.note(&shown, "is disabled in this file and was left out");
        }
        if found.is_sse {
            return self.note(
                &shown,
                "uses the older SSE transport and was left out; many such servers have a Streamable HTTP \
                 address, too",
            );
        }
        let name = self.name(&found.name);
        if name != found.name {
            self.note(&shown, &format!("was renamed to `{name}`"));
        }
        let entry = match (&found.command, &found.url) {
            (Some(_), _) => self.stdio(&name, found),
            (None, Some(_)) => self.http(&name, found),
            (None, None) => {
                return self.note(&shown, "has neither a command nor an address and was left out");
            }
        };
        match entry {
            Ok(entry) => {
                self.upstreams.insert(name, Value::Object(entry));
            }
            Err(why) => self.note(&shown, &why),
        }
    }

    fn note(&mut self, server: &str, what: &str) {
        self.notes.push(format!("`{server}` {what}"));
    }

    /// Returns a valid and unused server name.
    fn name(&mut self, theirs: &str) -> String {
        let plain: String = theirs
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '-' })
            .take(60)
            .collect();
        let plain = plain.trim_start_matches(['-', '_', '.']);
        let plain = if is_server_name(plain) { plain.to_string() } else { "server".to_string() };
        let mut name = plain.clone();
        for n in 2.. {
            if self.names.insert(name.clone()) {
                break;
            }
            name = format!("{plain}-{n}");
        }
        name
    }

    fn stdio(&mut self, name: &str, found: ClientEntry) -> Result<Map<String, Value>, String> {
        let command = found.command.unwrap_or_default();
        let odd = [&command].into_iter().chain(&found.args).chain(&found.cd).find(|text| text.contains("${"));
        if let Some(odd) = odd {
            let odd = head(odd);
            return Err(format!(
                "uses `{odd}`, which only its client can fill in, and was left out; write the value and import again"
            ));
        }
        let mut entry = Map::new();
        entry.insert("transport".to_string(), json!("mcp_stdio"));
        entry.insert("command".to_string(), json!(command));
        if !found.args.is_empty() {
            let is_suspect = |arg: &String| is_telling(arg) && arg.starts_with('-');
            if found.args.iter().any(is_suspect) {
                self.note(
                    name,
                    "may have a secret among its arguments, which were copied; other processes can read them",
                );
            }
            entry.insert("args".to_string(), json!(found.args));
        }
        if let Some(cd) = found.cd {
            entry.insert("cd".to_string(), json!(cd));
        }
        let mut env = Map::new();
        for (key, value) in found.env {
            let value = match variable(&value) {
                Some(var) => format!("${{{var}}}"),
                None if value.contains("${") => {
                    self.note(
                        name,
                        &format!(
                            "had a placeholder in `{key}`, which now reads the variable {key}; set it in the \
                             environment"
                        ),
                    );
                    format!("${{{key}}}")
                }
                None if is_telling(&key) && !value.is_empty() => {
                    self.note(
                        name,
                        &format!("had a value for `{key}` that was not copied; set {key} in the environment"),
                    );
                    format!("${{{key}}}")
                }
                None => value.replace('$', "$$"),
            };
            env.insert(key, Value::String(value));
        }
        if !env.is_empty() {
            entry.insert("env".to_string(), Value::Object(env));
        }
        Ok(entry)
    }

    fn http(&mut self, name: &str, found: ClientEntry) -> Result<Map<String, Value>, String> {
        let url = found.url.unwrap_or_default();
        if url.contains("${") {
            return Err("has an address that only its client can fill in, and was left out".to_string());
        }
        let mut entry = Map::new();
        entry.insert("transport".to_string(), json!("mcp_http"));
        entry.insert("url".to_string(), json!(url));
        let mut auth = Vec::new();
        if let Some(var) = found.token_var {
            auth.push(json!({"scheme": "bearer", "binding": self.binding(name, "token", &var)}));
        }
        let mut plain = Map::new();
        for (header, value) in found.headers {
            let lower = header.to_ascii_lowercase();
            let bearer = ["Bearer ", "bearer "].iter().find_map(|start| value.strip_prefix(start));
            let (scheme, secret) = match (lower.as_str(), bearer) {
                ("authorization", Some(token)) => ("bearer", token),
                ("authorization", None) => {
                    self.note(
                        name,
                        "has an `Authorization` header that is not a bearer token; add an `auth` entry for \
                         it",
                    );
                    continue;
                }
                _ if is_telling(&lower) || variable(&value).is_some() => ("custom_header", value.as_str()),
                _ => {
                    plain.insert(header, Value::String(value));
                    continue;
                }
            };
            let var = variable(secret).unwrap_or_else(|| {
                let var = format!(
                    "{}_{}",
                    screaming(name),
                    if scheme == "bearer" { "TOKEN".to_string() } else { screaming(&header) }
                );
                self.note(
                    name,
                    &format!("had a value in `{header}` that was not copied; set {var} in the environment"),
                );
                var
            });
            let binding = self.binding(name, if scheme == "bearer" { "token" } else { &lower }, &var);
            auth.push(match scheme {
                "bearer" => json!({"scheme": scheme, "binding": binding}),
                _ => json!({"scheme": scheme, "header": header, "binding": binding}),
            });
        }
        if url.starts_with("http://") {
            let what = match auth.is_empty() {
                true => "uses plain HTTP: add \"allow_insecure_http\": true if this is intended",
                false => {
                    "sends a secret over plain HTTP: add \"allow_insecure_http\" and \
                     \"allow_insecure_auth\" if this is intended"
                }
            };
            self.note(name, what);
        }
        if !auth.is_empty() {
            entry.insert("auth".to_string(), Value::Array(auth));
        }
        if !plain.is_empty() {
            entry.insert("static_headers".to_string(), Value::Object(plain));
        }
        Ok(entry)
    }

    /// Adds a credential that comes from a variable and returns its name.
    fn binding(&mut self, server: &str, what: &str, var: &str) -> String {
        let binding = format!("{server}-{what}");
        self.credentials.insert(binding.clone(), json!({"source": "env", "var": var}));
        binding
    }
}

/// Returns the variable's name if the whole text is one variable, in any client's notation.
fn variable(text: &str) -> Option<String> {
    let inner = match text.strip_prefix("${") {
        Some(rest) => rest.strip_suffix('}')?,
        None => text.strip_prefix('$')?,
    };
    if let Some(input) = inner.strip_prefix("input:") {
        return Some(screaming(input));
    }
    let inner = inner.strip_prefix("env:").unwrap_or(inner);
    // A default after the name is dropped.
    let name = inner.split_once(":-").map_or(inner, |(name, _)| name);
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then(|| name.to_string())
}

/// Converts a name to the spelling of environment variables.
fn screaming(name: &str) -> String {
    let plain: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain }
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(80)]
}
