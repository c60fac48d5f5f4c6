//! Reads files of other clients, as far as their formats agree.

use super::ClientEntry;
use serde_json::{Map, Value};

/// Maximum size of a file, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// Returns the servers of a file, by name.
pub(super) fn servers(text: &str) -> Result<Vec<ClientEntry>, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the file has {} bytes; at most {MAX_BYTES} are allowed", text.len()));
    }
    let is_json = text.trim_start().starts_with('{');
    let root: Value = match is_json {
        true => serde_json::from_str(text)
            .map_err(|error| format!("the file is not valid JSON: {error}; remove comments first"))?,
        false => {
            toml::from_str(text).map_err(|error| {
                // Without the line itself, which the error would show: it may contain a secret.
                let before = error.span().map_or("", |span| &text[..text.floor_char_boundary(span.start)]);
                let line = before.matches('\n').count() + 1;
                format!("the file is neither JSON nor TOML: line {line}: {}", error.message())
            })?
        }
    };
    let places = ["/mcpServers", "/servers", "/mcp/servers", "/mcp_servers", "/context_servers"];
    let Some(servers) = places.iter().find_map(|place| root.pointer(place)) else {
        return Err(
            "the file has no servers; expected `mcpServers` (Claude, Cursor, Windsurf), `servers` (VS Code) \
             or `[mcp_servers.NAME]` (Codex)"
                .to_string(),
        );
    };
    let Value::Object(servers) = servers else {
        return Err("the servers must be an object, with the name of each server as its key".to_string());
    };
    servers.iter().map(|(name, entry)| server(name, entry)).collect()
}

fn server(name: &str, entry: &Value) -> Result<ClientEntry, String> {
    let Value::Object(entry) = entry else {
        return Err(format!("the server `{}` must be an object", super::head(name)));
    };
    let text = |keys: &[&str]| keys.iter().find_map(|key| entry.get(*key)?.as_str()).map(str::to_string);
    let flag = |key: &str| entry.get(key).and_then(Value::as_bool);
    let kind = text(&["type", "transport"]).unwrap_or_default();
    Ok(ClientEntry {
        name: name.to_string(),
        command: text(&["command"]),
        args: entry.get("args").and_then(Value::as_array).into_iter().flatten().map(plain).collect(),
        env: pairs(entry, "env"),
        cd: text(&["cwd"]),
        url: text(&["url", "serverUrl", "httpUrl"]),
        headers: [pairs(entry, "headers"), pairs(entry, "http_headers"), variables(entry)].concat(),
        token_var: text(&["bearer_token_env_var"]),
        is_disabled: flag("disabled") == Some(true) || flag("enabled") == Some(false),
        is_sse: kind == "sse",
    })
}

/// Returns headers whose values come from variables.
fn variables(entry: &Map<String, Value>) -> Vec<(String, String)> {
    let named = pairs(entry, "env_http_headers");
    named.into_iter().map(|(header, var)| (header, format!("${{{var}}}"))).collect()
}

fn pairs(entry: &Map<String, Value>, key: &str) -> Vec<(String, String)> {
    let object = entry.get(key).and_then(Value::as_object);
    object.into_iter().flatten().map(|(name, value)| (name.clone(), plain(value))).collect()
}

/// Formats a scalar as text.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}
