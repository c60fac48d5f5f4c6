//! Revisions of MCP, and the server's description of itself in each.

use crate::frame::{Request, RpcError};
use serde_json::{Map, Value, json};

/// Name of the server.
pub const SERVER_NAME: &str = "ptc";

/// Key of the protocol revision in a request's `_meta`.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Key of the log level that the sender wants, in a request's `_meta`.
pub(crate) const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// Key by which a client says that a request is one that it has sent before.
pub(crate) const META_REQUEST_KEY: &str = "ptc/request-key";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// A revision of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Revision {
    /// The first revision; results are text only.
    V2024_11_05,
    /// Results are text only.
    V2025_03_26,
    /// Results may be structured.
    V2025_06_18,
    /// The newest revision with a handshake.
    V2025_11_25,
    /// Without a handshake: every request names its revision.
    V2026_07_28,
}

impl Revision {
    /// Every revision, newest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2026_07_28,
        Revision::V2025_11_25,
        Revision::V2025_06_18,
        Revision::V2025_03_26,
        Revision::V2024_11_05,
    ];

    /// Revision for clients that request an unknown one, and before any handshake.
    pub const PRIMARY: Revision = Revision::V2025_11_25;

    /// Returns the revision's name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns the revision of this name.
    pub fn from_name(name: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Returns the revision that `initialize` agrees on.
    ///
    /// ```
    /// use ptc_mcp::protocol::Revision;
    /// assert_eq!(Revision::negotiate("2025-06-18").name(), "2025-06-18");
    /// assert_eq!(Revision::negotiate("2031-01-01").name(), "2025-11-25");
    /// ```
    pub fn negotiate(asked: &str) -> Revision {
        match Revision::from_name(asked) {
            // 2026-07-28 has no handshake: clients that perform one anyway get the newest revision that has one.
            None | Some(Revision::V2026_07_28) => Revision::PRIMARY,
            Some(revision) => revision,
        }
    }

    /// Returns whether every request names its revision.
    pub fn is_modern(self) -> bool {
        self >= Revision::V2026_07_28
    }

    /// Returns whether results may be structured.
    pub fn has_structure(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// Returns the revision of a request: its own, or else the agreed one.
    pub fn of(request: &Request, agreed: Option<Revision>) -> Result<Revision, RpcError> {
        let Some(asked) = request.meta(META_VERSION) else {
            return match request.method.as_str() {
                // This method exists only in revisions without a handshake.
                "server/discover" => Err(missing(META_VERSION)),
                _ => Ok(agreed.unwrap_or(Revision::PRIMARY)),
            };
        };
        let asked = asked.as_str().unwrap_or_default();
        match Revision::from_name(asked) {
            Some(revision) if revision.is_modern() => {
                let capabilities = request.meta(META_CAPABILITIES);
                match capabilities.is_some_and(Value::is_object) {
                    true => Ok(revision),
                    false => Err(missing(META_CAPABILITIES)),
                }
            }
            _ => Err(unsupported(asked)),
        }
    }
}

/// Builds the error for a request without a required `_meta` member.
pub fn missing(key: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("Invalid params: `_meta` needs `{key}`"))
}

/// Builds the error for an unsupported revision.
pub fn unsupported(asked: &str) -> RpcError {
    let asked = crate::cut::chars(asked, 80).0;
    let supported: Vec<&str> = Revision::ALL.iter().map(|revision| revision.name()).collect();
    RpcError {
        code: RpcError::UNSUPPORTED_VERSION,
        message: format!("Unsupported protocol version: {asked}"),
        data: Some(json!({"supported": supported, "requested": asked})),
    }
}

/// Version of the server's build.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    /// Version of the package.
    pub version: String,
    /// Commit it was built from, if known.
    pub git_commit: Option<String>,
    /// True if the working tree had changes.
    pub git_dirty: Option<bool>,
}

impl Default for Build {
    fn default() -> Build {
        Build { version: env!("CARGO_PKG_VERSION").to_string(), git_commit: None, git_dirty: None }
    }
}

/// Description of the server for clients.
#[derive(Clone, Debug)]
pub struct About {
    /// Version of the build.
    pub build: Build,
    /// Instructions for the model.
    pub instructions: String,
    /// True if replies may be cached for all users.
    pub is_public: bool,
    /// True if clients can subscribe to log messages about calls.
    pub has_log: bool,
}

/// Time for which clients may cache the list of tools, in milliseconds: it does not change while the server runs.
const TTL_MS: u64 = 300_000;

impl About {
    fn server(&self) -> Value {
        json!({
            "name": SERVER_NAME,
            "version": self.build.version,
            "build": {
                "package_version": self.build.version,
                "git_commit": self.build.git_commit,
                "git_dirty": self.build.git_dirty,
            },
        })
    }

    fn capabilities(&self, tools: Value) -> Value {
        match self.has_log {
            true => json!({"tools": tools, "logging": {}}),
            false => json!({"tools": tools}),
        }
    }

    fn cached(&self, result: &mut Map<String, Value>) {
        result.insert("ttlMs".to_string(), json!(TTL_MS));
        result.insert("cacheScope".to_string(), json!(if self.is_public { "public" } else { "private" }));
    }

    /// Builds the reply to `initialize`.
    pub fn initialize(&self, revision: Revision) -> Value {
        json!({
            "protocolVersion": revision.name(),
            "serverInfo": self.server(),
            "capabilities": self.capabilities(json!({"listChanged": false})),
            "instructions": self.instructions,
        })
    }

    /// Builds the reply to `server/discover`.
    pub fn discover(&self) -> Map<String, Value> {
        let supported: Vec<&str> = Revision::ALL.iter().map(|revision| revision.name()).collect();
        let mut result = Map::new();
        result.insert("supportedVersions".to_string(), json!(supported));
        result.insert("capabilities".to_string(), self.capabilities(json!({})));
        result.insert("serverInfo".to_string(), self.server());
        result.insert("instructions".to_string(), json!(self.instructions));
        self.cached(&mut result);
        result
    }

    /// Builds the reply to `tools/list`.
    pub fn tools(&self, tools: Value, revision: Revision) -> Map<String, Value> {
        let mut result = Map::new();
        result.insert("tools".to_string(), tools);
        if revision.is_modern() {
            self.cached(&mut result);
        }
        result
    }

    /// Adds the members that every result of the revision has.
    pub fn complete(&self, mut result: Map<String, Value>, revision: Revision) -> Value {
        if revision.is_modern() {
            result.entry("resultType").or_insert_with(|| json!("complete"));
            result.insert("_meta".to_string(), json!({META_SERVER: self.server()}));
        }
        Value::Object(result)
    }
}
