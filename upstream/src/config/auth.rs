//! Credentials and the headers that carry them, as the file writes them. Reads no secrets.

use super::error::ConfigError;
use super::fields::Fields;
use super::template::is_name;
use crate::credentials::{Place, Secret};
use ptc_bytecode::nearest;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Source of a credential.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// An environment variable.
    Env(String),
    /// A file; trailing white space is ignored.
    File {
        /// Path of the file.
        path: PathBuf,
        /// True if the file is read again after a server refuses its content.
        is_reloaded: bool,
    },
    /// A literal in the configuration itself.
    Literal(Secret),
}

/// Way of sending a credential.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scheme {
    /// `Authorization: Bearer …`
    Bearer,
    /// `Authorization: Basic …`
    Basic,
    /// A custom header with this name.
    Header(String),
    /// A parameter of the query with this name.
    Query(String),
    /// A cookie with this name.
    Cookie(String),
    /// The place that a security scheme of the OpenAPI document describes, for operations that require it.
    Declared(String),
}

impl Scheme {
    /// Returns the scheme's name in configuration files.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::Bearer => "bearer",
            Scheme::Basic => "basic",
            Scheme::Header(_) => "custom_header",
            Scheme::Query(_) => "query",
            Scheme::Cookie(_) => "cookie",
            Scheme::Declared(_) => "security_scheme",
        }
    }

    pub(super) fn place(&self) -> Place {
        match self {
            Scheme::Bearer | Scheme::Basic => Place::Header("authorization".to_string()),
            Scheme::Header(name) => Place::Header(name.clone()),
            Scheme::Query(name) => Place::Query(name.clone()),
            Scheme::Cookie(name) => Place::Cookie(name.clone()),
            Scheme::Declared(name) => Place::Declared(name.clone()),
        }
    }
}

/// One credential, sent in one place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Emitter {
    /// Way of sending the credential.
    pub scheme: Scheme,
    /// Name of the credential.
    pub binding: String,
}

/// Headers controlled by this client.
const CONTROLLED: &[&str] =
    &["mcp-protocol-version", "mcp-session-id", "mcp-method", "mcp-name", "user-agent"];

/// Headers that belong to the connection.
const FRAMING: &[&str] = &[
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers that usually hold secrets, so they cannot be static.
const SECRET: &[&str] = &["authorization", "proxy-authorization", "cookie", "set-cookie", "x-api-key"];

/// Reads the credentials of the file.
pub(super) fn credentials(
    map: Option<&Map<String, Value>>,
    dir: &Path,
) -> Result<BTreeMap<String, Source>, ConfigError> {
    let mut known = BTreeMap::new();
    for (name, value) in map.into_iter().flatten() {
        let place = format!("credential '{name}'");
        if name.trim().is_empty() || name.len() > 64 {
            return Err(ConfigError::new(&place, "", "needs a name of 1 to 64 bytes"));
        }
        let fields = Fields::new(&place, "", value)?;
        let only = |own: &str| fields.only(&["source", own, "scheme_hint"], |_| None);
        fields.text("scheme_hint")?;
        let source = match fields.required("source")? {
            "env" => {
                only("var")?;
                let var = fields.required("var")?;
                if !is_name(var) {
                    return Err(fields.error("var", "must be the name of a variable"));
                }
                Source::Env(var.to_string())
            }
            "file" => {
                fields.only(&["source", "path", "reload", "scheme_hint"], |_| None)?;
                let is_reloaded = match fields.text("reload")? {
                    None => false,
                    Some("on_401") => true,
                    Some(_) => return Err(fields.error("reload", "must be \"on_401\", or be left out")),
                };
                Source::File { path: dir.join(fields.required("path")?), is_reloaded }
            }
            "literal" => {
                only("value")?;
                Source::Literal(Secret::new(fields.required("value")?))
            }
            "exec" => return Err(fields.error("source", "'exec' is reserved and cannot be used yet")),
            _ => return Err(fields.error("source", "must be env, file or literal")),
        };
        known.insert(name.clone(), source);
    }
    Ok(known)
}

/// Reads the `auth` of an entry.
pub(super) fn emitters(
    entry: &Fields<'_>,
    credentials: &BTreeMap<String, Source>,
) -> Result<Vec<Emitter>, ConfigError> {
    let is_openapi = entry.text("transport")? == Some("openapi");
    let mut emitters: Vec<Emitter> = Vec::new();
    for (n, value) in entry.list("auth")?.iter().enumerate() {
        let fields = Fields::new(&entry.place, &format!("auth[{n}]."), value)?;
        let scheme = match fields.required("scheme")? {
            "bearer" => Scheme::Bearer,
            "basic" => Scheme::Basic,
            "custom_header" | "api_key" => Scheme::Header(header(&fields)?),
            "query" if is_openapi => Scheme::Query(fields.required("parameter")?.to_string()),
            "cookie" if is_openapi => Scheme::Cookie(cookie(&fields)?),
            "security_scheme" if is_openapi => Scheme::Declared(fields.required("name")?.to_string()),
            name @ ("query" | "cookie" | "security_scheme") => {
                return Err(fields.error("scheme", format!("{name} is only for the transport openapi")));
            }
            _ if is_openapi => {
                let message = "must be bearer, basic, custom_header, query, cookie or security_scheme";
                return Err(fields.error("scheme", message));
            }
            _ => return Err(fields.error("scheme", "must be bearer, basic or custom_header")),
        };
        let own: &[&str] = match &scheme {
            Scheme::Bearer | Scheme::Basic => &["scheme", "binding"],
            Scheme::Header(_) => &["scheme", "binding", "header"],
            Scheme::Query(_) => &["scheme", "binding", "parameter"],
            Scheme::Cookie(_) => &["scheme", "binding", "cookie"],
            Scheme::Declared(_) => &["scheme", "binding", "name"],
        };
        fields.only(own, |key| (key == "header").then(|| "the scheme custom_header".to_string()))?;
        let binding = fields.required("binding")?;
        if !credentials.contains_key(binding) {
            let known: Vec<&str> = credentials.keys().map(String::as_str).collect();
            let hint =
                nearest(binding, known.iter().copied()).map(|near| format!("; did you mean '{near}'?"));
            let message =
                format!("references unknown credential binding '{binding}'{}", hint.unwrap_or_default());
            return Err(fields.error("binding", message));
        }
        if emitters.iter().any(|other| other.scheme.place() == scheme.place()) {
            let message = format!("is the second entry that sends the {}", scheme.place());
            return Err(entry.error(&format!("auth[{n}]"), message));
        }
        emitters.push(Emitter { scheme, binding: binding.to_string() });
    }
    Ok(emitters)
}

/// Reads the name of a cookie.
fn cookie(fields: &Fields<'_>) -> Result<String, ConfigError> {
    let name = fields.required("cookie")?;
    if is_token(name) {
        Ok(name.to_string())
    } else {
        Err(fields.error("cookie", "is not a valid cookie name"))
    }
}

/// Returns whether a header is ours to set: it belongs to the protocol, to the connection, or holds a secret.
#[cfg(feature = "http")]
pub(crate) fn is_ours(header: &str) -> bool {
    let lower = header.to_ascii_lowercase();
    [CONTROLLED, FRAMING, &["authorization", "proxy-authorization", "cookie", "set-cookie"]]
        .concat()
        .contains(&&*lower)
}

/// Reads the header name of a `custom_header`, in lower case.
fn header(fields: &Fields<'_>) -> Result<String, ConfigError> {
    let name = fields.required("header")?.to_ascii_lowercase();
    let message = match &*name {
        _ if !is_token(&name) => "is not a valid header name",
        "authorization" => "must not be Authorization; use the scheme bearer or basic",
        "proxy-authorization" | "cookie" | "set-cookie" => "must not be sent by a custom_header",
        _ if CONTROLLED.contains(&&*name) => "belongs to the protocol and cannot be set",
        _ if FRAMING.contains(&&*name) => "belongs to the connection and cannot be set",
        _ => return Ok(name),
    };
    Err(fields.error("header", message))
}

/// Reads the `static_headers` of an entry; names in lower case.
pub(super) fn static_headers(
    entry: &Fields<'_>,
    emitters: &[Emitter],
) -> Result<Vec<(String, String)>, ConfigError> {
    let mut headers: Vec<(String, String)> = Vec::new();
    for (name, value) in entry.text_map("static_headers")? {
        let field = format!("static_headers.{name}");
        let lower = name.to_ascii_lowercase();
        let message = match &*lower {
            _ if !is_token(&lower) => "is not a valid header name",
            _ if SECRET.contains(&&*lower) => "holds a secret; send it with `auth` and a credential",
            _ if CONTROLLED.contains(&&*lower) => "belongs to the protocol and cannot be set",
            _ if FRAMING.contains(&&*lower) => "belongs to the connection and cannot be set",
            _ if headers.iter().any(|(known, _)| *known == lower) => "occurs twice, with different capitals",
            _ if emitters.iter().any(|emitter| emitter.scheme.place() == Place::Header(lower.clone())) => {
                "is also sent by `auth`"
            }
            _ if !is_header_value(value) => "has a value with control characters",
            _ => {
                headers.push((lower, value.to_string()));
                continue;
            }
        };
        return Err(entry.error(&field, message));
    }
    Ok(headers)
}

/// Returns whether a name is a token of RFC 9110.
pub(crate) fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

/// Returns whether a value may be sent in a header.
pub(crate) fn is_header_value(value: &str) -> bool {
    value.bytes().all(|b| b == b'\t' || (b >= 0x20 && b != 0x7f))
}
