//! Transports of servers: their names, their fields, and the functions that read them.

use super::address::address;
use super::entry::{LIMITS, Reading};
use super::error::ConfigError;
use super::fields::Fields;
use super::place::command;
use super::settings::{AddressRules, HttpSettings, Method, OpenApiSettings, Override, Schema, StdioSettings};
use crate::glob::matches;
use ptc_bytecode::nearest;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Transport to a server, with its settings.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A child process.
    Stdio(StdioSettings),
    /// MCP over HTTP.
    Http(HttpSettings),
    /// An OpenAPI document.
    OpenApi(Box<OpenApiSettings>),
}

/// One row of [`TRANSPORTS`].
pub(super) struct TransportRow {
    /// Name in configuration files.
    pub name: &'static str,
    /// Groups of fields that an entry may have.
    pub fields: &'static [&'static [&'static str]],
    /// True if it is in every build, not only with the feature `http`.
    is_always_there: bool,
    /// Reads an entry's fields; the flag says whether credentials are sent, which some fields depend on.
    pub read: fn(&Reading<'_>, &Fields<'_>, bool) -> Result<Transport, ConfigError>,
}

const COMMON: &[&str] = &[
    "transport",
    "description",
    "enabled",
    "allow",
    "deny",
    "max_response_bytes",
    "max_concurrency",
    "approval",
    "effect",
    "tools",
];
const MCP: &[&str] = &["handshake_timeout_ms", "raw_envelope", "trust_annotations"];
const STDIO: &[&str] = &["command", "args", "env", "cd", "inherit_env"];
const WEB: &[&str] = &[
    "auth",
    "static_headers",
    "allow_insecure_http",
    "allow_insecure_auth",
    "request_timeout_ms",
    "connect_timeout_ms",
    "ca_file",
];
const HTTP: &[&str] = &["url"];
const OPENAPI: &[&str] = &[
    "base_url",
    "schema_file",
    "schema_url",
    "schema_max_bytes",
    "methods",
    "include_operations",
    "operation_overrides",
    "server_variables",
];

pub(super) static TRANSPORTS: [TransportRow; 3] = [
    TransportRow {
        name: "mcp_stdio",
        fields: &[COMMON, LIMITS, MCP, STDIO],
        is_always_there: true,
        read: stdio,
    },
    TransportRow {
        name: "mcp_http",
        fields: &[COMMON, LIMITS, MCP, WEB, HTTP],
        is_always_there: false,
        read: http,
    },
    TransportRow {
        name: "openapi",
        fields: &[COMMON, LIMITS, WEB, OPENAPI],
        is_always_there: false,
        read: openapi,
    },
];

impl TransportRow {
    /// Finds the row that an entry names.
    pub fn named(fields: &Fields<'_>) -> Result<&'static TransportRow, ConfigError> {
        let name = fields.required("transport")?;
        let message = match TRANSPORTS.iter().find(|row| row.name == name) {
            Some(row) if row.is_always_there || cfg!(feature = "http") => return Ok(row),
            Some(_) => format!("{name} is not available: this program was built without the feature `http`"),
            None if matches!(name, "stdio" | "http") => format!("'{name}' must be written 'mcp_{name}'"),
            None => format!("must be {}", one_of(&TRANSPORTS.each_ref().map(|row| row.name))),
        };
        Err(fields.error("transport", message))
    }
}

/// Joins names as `a, b or c`.
fn one_of(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

const HOUR_MS: u64 = 3_600_000;
const GIB: u64 = 1 << 30;

fn stdio(reading: &Reading<'_>, fields: &Fields<'_>, _: bool) -> Result<Transport, ConfigError> {
    let args = fields.texts("args")?;
    if let Some(n) = args.iter().position(|arg| arg.contains('\0')) {
        return Err(fields.error(&format!("args[{n}]"), "must not contain a NUL"));
    }
    let cd = fields.text("cd")?.map(|cd| reading.dir.join(cd));
    if cd.as_ref().is_some_and(|cd| !cd.is_dir()) {
        return Err(fields.error("cd", "is not a directory"));
    }
    Ok(Transport::Stdio(StdioSettings {
        command: command(&fields.place, fields.required("command")?, reading.around)?,
        args,
        env: Vec::new(),
        cd,
        inherit_env: fields.flag("inherit_env")?.unwrap_or(false),
        handshake_timeout: millis(fields, "handshake_timeout_ms", 10_000)?,
        max_response_bytes: fields.number("max_response_bytes", 2 << 20, GIB)?,
        max_concurrency: fields.number("max_concurrency", 8, 1024)? as usize,
    }))
}

fn http(reading: &Reading<'_>, fields: &Fields<'_>, has_auth: bool) -> Result<Transport, ConfigError> {
    Ok(Transport::Http(HttpSettings {
        url: address(fields, "url", has_auth, reading.around)?,
        connect_timeout: millis(fields, "connect_timeout_ms", 5_000)?,
        request_timeout: millis(fields, "request_timeout_ms", 30_000)?,
        handshake_timeout: millis(fields, "handshake_timeout_ms", 10_000)?,
        max_response_bytes: fields.number("max_response_bytes", 2 << 20, GIB)?,
        max_concurrency: fields.number("max_concurrency", 16, 1024)? as usize,
        ca_file: ca_file(reading, fields)?,
    }))
}

fn openapi(reading: &Reading<'_>, fields: &Fields<'_>, has_auth: bool) -> Result<Transport, ConfigError> {
    let base_url = match (fields.get("base_url"), fields.map("server_variables")?) {
        (None, Some(_)) => None,
        (None, None) => {
            let message = "is required; with `server_variables`, even empty, the document's server is used";
            return Err(fields.error("base_url", message));
        }
        (Some(_), Some(_)) => {
            return Err(
                fields.error("server_variables", "is for the document's server; leave out `base_url`")
            );
        }
        (Some(_), None) => Some(address(fields, "base_url", has_auth, reading.around)?),
    };
    if base_url.as_ref().is_some_and(|url| url.query().is_some()) {
        return Err(fields.error("base_url", "must not have a query"));
    }
    let methods = methods(fields)?;
    let schema = match (fields.get("schema_file"), fields.get("schema_url")) {
        (Some(_), None) => Schema::File(file(reading, fields, "schema_file")?),
        (None, Some(_)) => Schema::Url(address(fields, "schema_url", has_auth, reading.around)?),
        _ => return Err(fields.error("schema_file", "or `schema_url` is required, but not both")),
    };
    let include_operations = fields.texts("include_operations")?;
    if include_operations.is_empty() {
        let message = "must list at least one operationId; [\"*\"] offers all operations";
        return Err(fields.error("include_operations", message));
    }
    if let Some(n) = include_operations.iter().position(|id| id.trim().is_empty()) {
        return Err(fields.error(&format!("include_operations[{n}]"), "must not be blank"));
    }
    let mut operation_overrides = BTreeMap::new();
    for (id, value) in fields.map("operation_overrides")?.into_iter().flatten() {
        let field = format!("operation_overrides.{id}");
        if !include_operations.iter().any(|pattern| matches(pattern, id)) {
            let known: Vec<&str> = include_operations.iter().map(String::as_str).collect();
            let hint = nearest(id, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
            let message = format!("is not among `include_operations`{}", hint.unwrap_or_default());
            return Err(fields.error(&field, message));
        }
        let own = Fields::new(&fields.place, &format!("{field}."), value)?;
        own.only(&["name", "description", "default_args"], |_| None)?;
        let text = |key: &str| own.text(key).map(|text| text.map(str::to_string));
        let made = Override {
            name: text("name")?,
            description: text("description")?,
            default_args: own.map("default_args")?.cloned(),
        };
        operation_overrides.insert(id.clone(), made);
    }
    Ok(Transport::OpenApi(Box::new(OpenApiSettings {
        base_url,
        server_variables: texts(fields.text_map("server_variables")?),
        address_rules: AddressRules::read(fields, has_auth, reading.around)?,
        schema,
        schema_max_bytes: fields.number("schema_max_bytes", 2 << 20, GIB)?,
        methods,
        include_operations,
        operation_overrides,
        connect_timeout: millis(fields, "connect_timeout_ms", 5_000)?,
        request_timeout: millis(fields, "request_timeout_ms", 30_000)?,
        max_response_bytes: fields.number("max_response_bytes", 2 << 20, GIB)?,
        max_concurrency: fields.number("max_concurrency", 16, 1024)? as usize,
        ca_file: ca_file(reading, fields)?,
    })))
}

fn texts(map: Vec<(&str, &str)>) -> BTreeMap<String, String> {
    map.into_iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
}

/// Reads the methods of operations that are offered.
fn methods(fields: &Fields<'_>) -> Result<Option<Vec<Method>>, ConfigError> {
    if fields.get("methods").is_none() {
        return Ok(None);
    }
    let named = |(n, name): (usize, String)| {
        let known = Method::ALL.into_iter().find(|method| method.name().eq_ignore_ascii_case(&name));
        known.ok_or_else(|| {
            let all = one_of(&Method::ALL.map(Method::name));
            fields.error(&format!("methods[{n}]"), format!("must be {all}"))
        })
    };
    let methods: Vec<Method> =
        fields.texts("methods")?.into_iter().enumerate().map(named).collect::<Result<_, _>>()?;
    let is_read = fields.text("effect")? == Some("read");
    match methods.iter().find(|method| !method.is_read_only()) {
        _ if methods.is_empty() => Err(fields.error("methods", "must list at least one method")),
        // One word must not turn every delete into a read.
        Some(method) if is_read => {
            let message = format!(
                "must not be read with the method {}; give single tools the effect in `tools`",
                method.name()
            );
            Err(fields.error("effect", message))
        }
        _ => Ok(Some(methods)),
    }
}

fn ca_file(reading: &Reading<'_>, fields: &Fields<'_>) -> Result<Option<PathBuf>, ConfigError> {
    fields.get("ca_file").map(|_| file(reading, fields, "ca_file")).transpose()
}

/// Reads the path of an existing file, relative to the configuration's directory.
fn file(reading: &Reading<'_>, fields: &Fields<'_>, key: &str) -> Result<PathBuf, ConfigError> {
    let path = reading.dir.join(fields.required(key)?);
    if path.is_file() { Ok(path) } else { Err(fields.error(key, "is not a file")) }
}

fn millis(fields: &Fields<'_>, key: &str, default: u64) -> Result<Duration, ConfigError> {
    Ok(Duration::from_millis(fields.number(key, default, HOUR_MS)?))
}
