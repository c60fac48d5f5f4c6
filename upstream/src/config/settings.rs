//! Settings of clients, checked and ready to use.

use crate::credentials::Secret;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// Settings for a server that runs as a child process.
#[derive(Clone, Debug)]
pub struct StdioSettings {
    /// Executable, looked up on `PATH` if given by name.
    pub command: PathBuf,
    /// Arguments of the command.
    pub args: Vec<String>,
    /// Environment in addition to what is inherited, with placeholders filled in.
    pub env: Vec<(String, Secret)>,
    /// Working directory.
    pub cd: Option<PathBuf>,
    /// True if it inherits our whole environment instead of only `PATH`, `HOME`, `LANG` and `TMPDIR`.
    pub inherit_env: bool,
    /// Time limit for the handshake and for listing tools.
    pub handshake_timeout: Duration,
    /// Maximum size of a reply, in bytes.
    pub max_response_bytes: u64,
    /// Maximum number of calls in flight.
    pub max_concurrency: usize,
}

/// Settings for a server that speaks MCP over HTTP.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Address of the server.
    pub url: Url,
    /// Time limit for connecting.
    pub connect_timeout: Duration,
    /// Time limit for a reply.
    pub request_timeout: Duration,
    /// Time limit for the handshake and for listing tools.
    pub handshake_timeout: Duration,
    /// Maximum size of a reply, in bytes.
    pub max_response_bytes: u64,
    /// Maximum number of calls in flight.
    pub max_concurrency: usize,
    /// Certificates to trust in addition to the platform's.
    pub ca_file: Option<PathBuf>,
}

/// Settings for a server described by an OpenAPI document.
#[derive(Clone, Debug)]
pub struct OpenApiSettings {
    /// Base address for the paths of the document.
    pub base_url: Url,
    /// Location of the document.
    pub schema: Schema,
    /// Maximum size of the document, in bytes.
    pub schema_max_bytes: u64,
    /// Operations that become tools, by `operationId`.
    pub include_operations: Vec<String>,
    /// Changes to the resulting tools, by `operationId`.
    pub operation_overrides: BTreeMap<String, Override>,
    /// Time limit for connecting.
    pub connect_timeout: Duration,
    /// Time limit for a reply.
    pub request_timeout: Duration,
    /// Maximum size of a reply, in bytes.
    pub max_response_bytes: u64,
    /// Maximum number of calls in flight.
    pub max_concurrency: usize,
    /// Certificates to trust in addition to the platform's.
    pub ca_file: Option<PathBuf>,
}

/// Location of an OpenAPI document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schema {
    /// A file.
    File(PathBuf),
    /// An address.
    Url(Url),
}

/// Changes of the configuration to one operation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Override {
    /// Name of the tool.
    pub name: Option<String>,
    /// Description of the tool.
    pub description: Option<String>,
    /// Default arguments, used unless the caller gives others.
    pub default_args: Option<Map<String, Value>>,
}
