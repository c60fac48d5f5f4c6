//! One entry of `upstreams`.

use super::address::address;
use super::auth::{Emitter, Source, emitters, static_headers};
use super::error::ConfigError;
use super::fields::Fields;
use super::place::{Surroundings, command};
use super::settings::{HttpSettings, OpenApiSettings, Override, Schema, StdioSettings};
use super::template::{Piece, pieces};
use crate::approval::Approval;
use ptc_bytecode::nearest;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A server as the file describes it. It holds no secret: those are read when it is started.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is for, in the words of the file.
    pub description: Option<String>,
    /// Which credentials it is sent, and how.
    pub auth: Vec<Emitter>,
    pub(super) static_headers: Vec<(String, String)>,
    pub(super) env: Vec<(String, Vec<Piece>)>,
    pub(super) transport: Transport,
    pub(super) raw_envelope: Option<bool>,
    pub(super) raw_tools: BTreeMap<String, bool>,
    pub(super) approval: Approval,
    pub(super) approval_tools: BTreeMap<String, Approval>,
}

/// How a server is reached. The environment of a child is filled in later.
#[derive(Clone, Debug)]
pub(super) enum Transport {
    Stdio(StdioSettings),
    Http(HttpSettings),
    OpenApi(OpenApiSettings),
}

impl Entry {
    /// As the file calls its transport.
    pub fn transport(&self) -> &'static str {
        match self.transport {
            Transport::Stdio(_) => "mcp_stdio",
            Transport::Http(_) => "mcp_http",
            Transport::OpenApi(_) => "openapi",
        }
    }

    /// Whether results of a tool carry the whole answer under `:raw`.
    pub fn has_raw_envelope(&self, tool: &str, default: bool) -> bool {
        self.raw_tools.get(tool).copied().or(self.raw_envelope).unwrap_or(default)
    }
}

const COMMON: &[&str] = &["transport", "description", "max_response_bytes", "max_concurrency", "approval"];
const MCP: &[&str] = &["handshake_timeout_ms", "raw_envelope", "tools"];
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
    "include_operations",
    "operation_overrides",
];

/// The fields each transport has.
fn fields_of(transport: &str) -> Vec<&'static str> {
    let groups: &[&[&str]] = match transport {
        "mcp_stdio" => &[COMMON, MCP, STDIO],
        "mcp_http" => &[COMMON, MCP, WEB, HTTP],
        _ => &[COMMON, WEB, OPENAPI],
    };
    groups.concat()
}

const TRANSPORTS: [&str; 3] = ["mcp_stdio", "mcp_http", "openapi"];

/// What an entry is read with.
pub(super) struct Reading<'r> {
    pub credentials: &'r BTreeMap<String, Source>,
    pub around: &'r Surroundings,
    /// The directory of the file.
    pub dir: &'r Path,
}

const HOUR_MS: u64 = 3_600_000;
const GIB: u64 = 1 << 30;

impl Reading<'_> {
    pub fn entry(&self, name: &str, value: &Value) -> Result<Entry, ConfigError> {
        let place = format!("upstream '{}'", name.chars().take(80).collect::<String>());
        if !is_name(name) {
            let message =
                "needs another name: a letter or digit, then letters, digits, `_`, `.` and `-`, at most 64";
            return Err(ConfigError::new(&place, "", message));
        }
        let fields = Fields::new(&place, "", value)?;
        let transport = transport(&fields)?;
        fields.only(&fields_of(transport), |key| {
            let owner = TRANSPORTS.iter().find(|other| fields_of(other).contains(&key))?;
            Some(format!("the transport {owner}"))
        })?;
        let auth = emitters(&fields, self.credentials)?;
        let static_headers = static_headers(&fields, &auth)?;
        let tools = exceptions(&fields)?;
        let mut entry = Entry {
            name: name.to_string(),
            description: fields.text("description")?.map(str::to_string),
            static_headers,
            env: Vec::new(),
            raw_envelope: fields.flag("raw_envelope")?,
            raw_tools: tools.raw,
            approval: approval(&fields)?.unwrap_or_default(),
            approval_tools: tools.approval,
            transport: match transport {
                "mcp_stdio" => Transport::Stdio(self.stdio(&fields)?),
                "mcp_http" => Transport::Http(self.http(&fields, !auth.is_empty())?),
                _ => Transport::OpenApi(self.openapi(&fields, !auth.is_empty())?),
            },
            auth,
        };
        for (key, value) in fields.text_map("env")? {
            let field = format!("env.{key}");
            if key.is_empty() || key.contains(['=', '\0']) {
                return Err(fields.error(&field, "is no name of a variable"));
            }
            let pieces = pieces(value).map_err(|message| fields.error(&field, message))?;
            entry.env.push((key.to_string(), pieces));
        }
        Ok(entry)
    }

    fn stdio(&self, fields: &Fields<'_>) -> Result<StdioSettings, ConfigError> {
        let args = fields.texts("args")?;
        if let Some(n) = args.iter().position(|arg| arg.contains('\0')) {
            return Err(fields.error(&format!("args[{n}]"), "must not hold a NUL"));
        }
        let cd = fields.text("cd")?.map(|cd| self.dir.join(cd));
        if cd.as_ref().is_some_and(|cd| !cd.is_dir()) {
            return Err(fields.error("cd", "is no directory"));
        }
        Ok(StdioSettings {
            command: command(&fields.place, fields.required("command")?, self.around)?,
            args,
            env: Vec::new(),
            cd,
            inherit_env: fields.flag("inherit_env")?.unwrap_or(false),
            handshake_timeout: millis(fields, "handshake_timeout_ms", 10_000)?,
            max_response_bytes: fields.number("max_response_bytes", 2 << 20, GIB)?,
            max_concurrency: fields.number("max_concurrency", 8, 1024)? as usize,
        })
    }

    fn http(&self, fields: &Fields<'_>, has_auth: bool) -> Result<HttpSettings, ConfigError> {
        Ok(HttpSettings {
            url: address(fields, "url", has_auth, self.around)?,
            connect_timeout: millis(fields, "connect_timeout_ms", 5_000)?,
            request_timeout: millis(fields, "request_timeout_ms", 30_000)?,
            handshake_timeout: millis(fields, "handshake_timeout_ms", 10_000)?,
            max_response_bytes: fields.number("max_response_bytes", 2 << 20, GIB)?,
            max_concurrency: fields.number("max_concurrency", 16, 1024)? as usize,
            ca_file: self.ca_file(fields)?,
        })
    }

    fn openapi(&self, fields: &Fields<'_>, has_auth: bool) -> Result<OpenApiSettings, ConfigError> {
        let base_url = address(fields, "base_url", has_auth, self.around)?;
        if base_url.query().is_some() {
            return Err(fields.error("base_url", "must not have a query"));
        }
        let schema = match (fields.get("schema_file"), fields.get("schema_url")) {
            (Some(_), None) => Schema::File(self.file(fields, "schema_file")?),
            (None, Some(_)) => Schema::Url(address(fields, "schema_url", has_auth, self.around)?),
            _ => return Err(fields.error("schema_file", "or `schema_url` is required, and not both")),
        };
        let include_operations = fields.texts("include_operations")?;
        if include_operations.is_empty() {
            return Err(fields.error("include_operations", "must list at least one operationId"));
        }
        if let Some(n) = include_operations.iter().position(|id| id.trim().is_empty()) {
            return Err(fields.error(&format!("include_operations[{n}]"), "must not be blank"));
        }
        let mut operation_overrides = BTreeMap::new();
        for (id, value) in fields.map("operation_overrides")?.into_iter().flatten() {
            let field = format!("operation_overrides.{id}");
            if !include_operations.contains(id) {
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
        Ok(OpenApiSettings {
            base_url,
            schema,
            schema_max_bytes: fields.number("schema_max_bytes", 2 << 20, GIB)?,
            include_operations,
            operation_overrides,
            connect_timeout: millis(fields, "connect_timeout_ms", 5_000)?,
            request_timeout: millis(fields, "request_timeout_ms", 30_000)?,
            max_response_bytes: fields.number("max_response_bytes", 2 << 20, GIB)?,
            max_concurrency: fields.number("max_concurrency", 16, 1024)? as usize,
            ca_file: self.ca_file(fields)?,
        })
    }

    fn ca_file(&self, fields: &Fields<'_>) -> Result<Option<PathBuf>, ConfigError> {
        fields.get("ca_file").map(|_| self.file(fields, "ca_file")).transpose()
    }

    /// A file, relative to the configuration.
    fn file(&self, fields: &Fields<'_>, key: &str) -> Result<PathBuf, ConfigError> {
        let path = self.dir.join(fields.required(key)?);
        if path.is_file() { Ok(path) } else { Err(fields.error(key, "is no file there")) }
    }
}

fn millis(fields: &Fields<'_>, key: &str, default: u64) -> Result<Duration, ConfigError> {
    Ok(Duration::from_millis(fields.number(key, default, HOUR_MS)?))
}

fn transport<'v>(fields: &Fields<'v>) -> Result<&'v str, ConfigError> {
    let message = match fields.required("transport")? {
        #[cfg(feature = "http")]
        known @ ("mcp_http" | "openapi") => return Ok(known),
        #[cfg(not(feature = "http"))]
        known @ ("mcp_http" | "openapi") => {
            format!("{known} is not in this program: it was built without the feature `http`")
        }
        known @ "mcp_stdio" => return Ok(known),
        old @ ("stdio" | "http") => format!("'{old}' is written 'mcp_{old}'"),
        _ => "must be mcp_stdio, mcp_http or openapi".to_string(),
    };
    Err(fields.error("transport", message))
}

/// What tools of a server have of their own.
#[derive(Default)]
struct Exceptions {
    raw: BTreeMap<String, bool>,
    approval: BTreeMap<String, Approval>,
}

fn exceptions(fields: &Fields<'_>) -> Result<Exceptions, ConfigError> {
    let mut found = Exceptions::default();
    for (tool, value) in fields.map("tools")?.into_iter().flatten() {
        let own = Fields::new(&fields.place, &format!("tools.{tool}."), value)?;
        own.only(&["raw_envelope", "approval"], |_| None)?;
        if let Some(flag) = own.flag("raw_envelope")? {
            found.raw.insert(tool.clone(), flag);
        }
        if let Some(approval) = approval(&own)? {
            found.approval.insert(tool.clone(), approval);
        }
    }
    Ok(found)
}

fn approval(fields: &Fields<'_>) -> Result<Option<Approval>, ConfigError> {
    let Some(name) = fields.text("approval")? else { return Ok(None) };
    match Approval::from_name(name) {
        Some(approval) => Ok(Some(approval)),
        None => Err(fields.error("approval", "must be never, writes or always")),
    }
}

/// A name that can stand before the `/` of a reference.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}
