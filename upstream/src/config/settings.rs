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
    /// Base address for the paths of the document; taken from its first server if the file gives none.
    pub base_url: Option<Url>,
    /// Values for the variables in the address of the document's server.
    pub server_variables: BTreeMap<String, String>,
    /// Rules for an address that the document itself gives.
    pub address_rules: AddressRules,
    /// Location of the document.
    pub schema: Schema,
    /// Maximum size of the document, in bytes.
    pub schema_max_bytes: u64,
    /// Methods that are offered, with bodies, all kinds of parameters, and replies of any type. If None, only GET
    /// operations with JSON replies are.
    pub methods: Option<Vec<Method>>,
    /// Operations that become tools, by `operationId`; `*` stands for any characters.
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

/// HTTP method of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Reads.
    Get,
    /// Replaces.
    Put,
    /// Creates, or anything else.
    Post,
    /// Deletes.
    Delete,
    /// Asks what is possible.
    Options,
    /// Reads only the headers.
    Head,
    /// Changes.
    Patch,
    /// Echoes the request.
    Trace,
}

impl Method {
    /// Every method.
    pub const ALL: [Method; 8] = [
        Method::Get,
        Method::Put,
        Method::Post,
        Method::Delete,
        Method::Options,
        Method::Head,
        Method::Patch,
        Method::Trace,
    ];

    /// Returns the name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "get",
            Method::Put => "put",
            Method::Post => "post",
            Method::Delete => "delete",
            Method::Options => "options",
            Method::Head => "head",
            Method::Patch => "patch",
            Method::Trace => "trace",
        }
    }

    /// Returns whether requests with this method change nothing.
    pub fn is_read_only(self) -> bool {
        matches!(self, Method::Get | Method::Head | Method::Options | Method::Trace)
    }
}

/// Rules for addresses that are not in the configuration itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct AddressRules {
    /// True if `http://` is allowed.
    pub allows_http: bool,
    /// True if credentials may be sent over `http://`.
    pub allows_auth_over_http: bool,
    /// True if credentials are sent.
    pub has_auth: bool,
    /// Host and port we listen on.
    pub listener: Option<(String, u16)>,
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
