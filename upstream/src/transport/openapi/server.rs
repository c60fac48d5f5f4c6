//! The address that paths of a document are relative to.

use super::refs::Document;
use crate::config::{OpenApiSettings, Schema};
use serde_json::Value;
use url::Url;

/// Returns the address of the configuration, or else that of the document's first server.
pub(super) fn base(document: &Document<'_>, settings: &OpenApiSettings) -> Result<Url, String> {
    if let Some(url) = &settings.base_url {
        return Ok(url.clone());
    }
    let server = document.0.pointer("/servers/0").ok_or("names no server; set base_url")?;
    let filled = filled(server, settings)?;
    let url = match &settings.schema {
        Schema::Url(own) => own.join(&filled),
        Schema::File(_) => Url::parse(&filled),
    };
    let url = url.map_err(|_| format!("names the server '{filled}', which is no address; set base_url"))?;
    settings.address_rules.check(&url).map_err(|why| format!("names the server '{filled}', which {why}"))?;
    if url.query().is_some() {
        return Err(format!("names the server '{filled}', which has a query; set base_url"));
    }
    match &settings.schema {
        // Whoever serves the document must not send our credentials elsewhere.
        Schema::Url(own) if settings.address_rules.has_auth && own.origin() != url.origin() => {
            Err(format!("names the server '{filled}', which is not where it comes from; set base_url"))
        }
        _ => Ok(url),
    }
}

/// Returns the address of a server with its variables filled in.
fn filled(server: &Value, settings: &OpenApiSettings) -> Result<String, String> {
    let template = server.get("url").and_then(Value::as_str).unwrap_or_default();
    let variables = server.get("variables").and_then(Value::as_object);
    let known = |name: &str| variables.is_some_and(|all| all.contains_key(name));
    if let Some(name) = settings.server_variables.keys().find(|name| !known(name)) {
        let names: Vec<&str> = variables.into_iter().flatten().map(|(name, _)| &**name).collect();
        return Err(format!("has a server without the variable '{name}'; it has: {}", names.join(", ")));
    }
    let mut url = template.to_string();
    for (name, variable) in variables.into_iter().flatten() {
        let default = variable.get("default").and_then(Value::as_str);
        let value = settings.server_variables.get(name).map(String::as_str).or(default);
        let value = value.ok_or_else(|| format!("has a server whose variable '{name}' needs a value"))?;
        let choices = variable.get("enum").and_then(Value::as_array).filter(|all| !all.is_empty());
        if choices.is_some_and(|all| !all.iter().any(|choice| choice == value)) {
            let all: Vec<&str> = choices.into_iter().flatten().filter_map(Value::as_str).collect();
            return Err(format!("takes one of {} for the server's variable '{name}'", all.join(", ")));
        }
        url = url.replace(&format!("{{{name}}}"), value);
    }
    Ok(url)
}

/// Returns the path that an operation's own server adds paths to, if it has one of the same origin; the error says that
/// its origin is another.
pub(super) fn own_path(base: &Url, holders: [&Value; 2]) -> Result<Option<String>, String> {
    let mut found = None;
    for holder in holders {
        for (n, server) in holder.get("servers").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let url = server.get("url").and_then(Value::as_str).unwrap_or_default();
            match base.join(url) {
                // Requests would leave the configured origin.
                Ok(url) if url.origin() != base.origin() => {
                    return Err("it has its own server, whose origin is not that of base_url".into());
                }
                Err(_) => return Err("it has its own server, whose origin is not that of base_url".into()),
                // The operation's own servers come after those of its path.
                Ok(url) if n == 0 => found = Some(url.path().to_string()),
                Ok(_) => {}
            }
        }
    }
    Ok(found)
}
