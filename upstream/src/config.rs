//! Configuration of servers: finding the file, checking it, and resolving it to settings for clients.
//!
//! Files are read in two steps. [`Config::parse`] checks everything that can be checked without secrets;
//! [`Config::resolve`] reads the secrets, once, when servers are started.
//!
//! ```
//! use ptc_upstream::config::{Config, Surroundings};
//! let text = r#"{"upstreams": {"crm": {"transport": "mcp_http", "url": "http://crm.example/mcp"}}}"#;
//! let error = Config::parse(text, ".".as_ref(), &Surroundings::current()).unwrap_err();
//! # #[cfg(feature = "http")]
//! assert_eq!(error.to_string(), "upstream 'crm': `url` uses http:// without allow_insecure_http; use https://");
//! ```

mod address;
mod auth;
mod entry;
mod error;
mod fields;
mod place;
mod resolve;
mod settings;
mod template;
mod transports;

pub use auth::{Emitter, Scheme, Source};
#[cfg(feature = "http")]
pub(crate) use auth::{is_header_value, is_ours, is_token};
pub use entry::Entry;
pub(crate) use entry::is_name as is_server_name;
pub use error::ConfigError;
pub use place::{Surroundings, find};
pub use resolve::Connect;
#[cfg(feature = "http")]
pub(crate) use resolve::basic_value;
pub(crate) use resolve::is_telling;
pub use settings::{AddressRules, HttpSettings, Method, OpenApiSettings, Override, Schema, StdioSettings};
pub use transports::Transport;

use fields::Fields;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// A checked configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The servers, by name.
    pub servers: BTreeMap<String, Entry>,
    /// File with the definitions of tools that a person has approved; None if all tools are used as they are.
    pub pins: Option<PathBuf>,
    credentials: BTreeMap<String, Source>,
    raw_envelope: bool,
}

impl Config {
    /// Reads and parses a configuration file.
    pub fn load(path: &Path, around: &Surroundings) -> Result<Config, ConfigError> {
        let error = |problem: &dyn std::fmt::Display| {
            ConfigError::file(format!("cannot read the upstreams file {}: {problem}", path.display()))
        };
        let file = std::fs::File::open(path).map_err(|problem| error(&problem))?;
        // Limited while reading: devices have no length.
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(|problem| error(&problem))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(error(&"it has more than 4 MiB"));
        }
        Config::parse(&text, path.parent().unwrap_or(Path::new(".")), around)
            .map_err(|problem| ConfigError::file(format!("{}: {problem}", path.display())))
    }

    /// Parses a configuration; relative paths in it are relative to `dir`.
    pub fn parse(text: &str, dir: &Path, around: &Surroundings) -> Result<Config, ConfigError> {
        let value = fields::strict(text).map_err(|problem| {
            ConfigError::file(format!("the upstreams file is not valid JSON: {problem}"))
        })?;
        let top = Fields::new("the upstreams file", "", &value)?;
        let elsewhere = |key: &str| {
            let is_clients = matches!(key, "mcpServers" | "servers");
            is_clients.then(|| "a client's configuration, which `ptc upstream import` converts".to_string())
        };
        top.only(&["credentials", "upstreams", "raw_envelope", "pins"], elsewhere)?;
        let credentials = auth::credentials(top.map("credentials")?, dir)?;
        let Some(upstreams) = top.map("upstreams")? else {
            return Err(top.error("upstreams", "is required"));
        };
        let reading = entry::Reading { credentials: &credentials, around, dir };
        let mut servers = BTreeMap::new();
        for (name, value) in upstreams {
            let entry = reading.entry(name, value)?;
            if entry.is_enabled {
                servers.insert(name.clone(), entry);
            }
        }
        let pins = top.get("pins").map(|_| top.required("pins")).transpose()?.map(|path| dir.join(path));
        Ok(Config { servers, raw_envelope: top.flag("raw_envelope")?.unwrap_or(false), credentials, pins })
    }

    /// Returns the facts about a server that are known before it is started.
    pub fn about(&self, server: &str) -> crate::About {
        let Some(entry) = self.servers.get(server) else { return crate::About::default() };
        crate::About {
            transport: entry.transport().to_string(),
            description: entry.description.clone(),
            auth: entry.auth.clone(),
            raw_envelope: entry.raw_envelope.unwrap_or(self.raw_envelope),
            raw_tools: entry.raw_tools.clone(),
            approval: entry.approval,
            approval_tools: entry.approval_tools.clone(),
            // The HTTP method sent for an operation determines its effect, so OpenAPI annotations can be trusted.
            trusts_annotations: entry.trusts_annotations || matches!(entry.transport, Transport::OpenApi(_)),
            effect: entry.effect,
            effect_tools: entry.effect_tools.clone(),
            policy: entry.policy.clone(),
            pins: None,
        }
    }

    /// Returns whether results of a tool carry the whole reply under `:raw`.
    pub fn has_raw_envelope(&self, server: &str, tool: &str) -> bool {
        self.servers.get(server).is_some_and(|entry| entry.has_raw_envelope(tool, self.raw_envelope))
    }
}
