//! What a client needs to know of its server, once everything in the file has been checked.

use crate::credentials::Secret;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// A server that is a child process.
#[derive(Clone, Debug)]
pub struct StdioSettings {
    /// The program, found on `PATH` if it was no path.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment besides what it inherits; placeholders are filled in.
    pub env: Vec<(String, Secret)>,
    /// Where it runs.
    pub cd: Option<PathBuf>,
    /// Whether it sees all of our environment, instead of `PATH`, `HOME`, `LANG` and `TMPDIR`.
    pub inherit_env: bool,
    /// How long it may take to greet and to list its tools.
    pub handshake_timeout: Duration,
    /// How long an answer may be.
    pub max_response_bytes: u64,
    /// How many calls may be in flight.
    pub max_concurrency: usize,
}

/// A server that speaks MCP over HTTP.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Where it is.
    pub url: Url,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long an answer may take.
    pub request_timeout: Duration,
    /// How long it may take to greet and to list its tools.
    pub handshake_timeout: Duration,
    /// How long an answer may be.
    pub max_response_bytes: u64,
    /// How many calls may be in flight.
    pub max_concurrency: usize,
    /// Certificates to trust besides those of the platform.
    pub ca_file: Option<PathBuf>,
}

/// A server that is described by an OpenAPI document.
#[derive(Clone, Debug)]
pub struct OpenApiSettings {
    /// What the paths of the document are below.
    pub base_url: Url,
    /// Where the document is.
    pub schema: Schema,
    /// How long the document may be.
    pub schema_max_bytes: u64,
    /// The operations that become tools, by `operationId`.
    pub include_operations: Vec<String>,
    /// What to change of them.
    pub operation_overrides: BTreeMap<String, Override>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long an answer may take.
    pub request_timeout: Duration,
    /// How long an answer may be.
    pub max_response_bytes: u64,
    /// How many calls may be in flight.
    pub max_concurrency: usize,
    /// Certificates to trust besides those of the platform.
    pub ca_file: Option<PathBuf>,
}

/// Where an OpenAPI document is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Schema {
    /// In a file.
    File(PathBuf),
    /// At a server.
    Url(Url),
}

/// What the configuration changes of an operation.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Override {
    /// The name of the tool.
    pub name: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// Arguments that hold unless the caller gives others.
    pub default_args: Option<Map<String, Value>>,
}
