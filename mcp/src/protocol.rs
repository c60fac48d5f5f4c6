//! The revisions of MCP, and what the server says about itself in each.

use crate::frame::{Request, RpcError};
use serde_json::{Map, Value, json};

/// The name of the server.
pub const SERVER_NAME: &str = "ptc_lisp";

/// Where the metadata of a request has its revision.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// Where it says which messages its sender wants to hear.
pub(crate) const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// A revision of the protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Revision {
    /// Text only.
    V2024_11_05,
    /// Text only.
    V2025_03_26,
    /// With structured results.
    V2025_06_18,
    /// The newest with a handshake.
    V2025_11_25,
    /// Without handshake: every request says what it is.
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

    /// What a client gets that asks for one nobody knows, and what holds before any handshake.
    pub const PRIMARY: Revision = Revision::V2025_11_25;

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of this name.
    pub fn from_name(name: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// The revision that `initialize` agrees on.
    ///
    /// ```
    /// use ptc_mcp::protocol::Revision;
    /// assert_eq!(Revision::negotiate("2025-06-18").name(), "2025-06-18");
    /// assert_eq!(Revision::negotiate("2031-01-01").name(), "2025-11-25");
    /// ```
    pub fn negotiate(asked: &str) -> Revision {
        match Revision::from_name(asked) {
            // It has no handshake: who shakes hands all the same gets the newest that has one.
            None | Some(Revision::V2026_07_28) => Revision::PRIMARY,
            Some(revision) => revision,
        }
    }

    /// Whether every request says by itself what it is.
    pub fn is_modern(self) -> bool {
        self >= Revision::V2026_07_28
    }

    /// Whether results have a part for machines.
    pub fn has_structure(self) -> bool {
        self >= Revision::V2025_06_18
    }

    /// The revision of a request: its own, or else what was agreed on.
    pub fn of(request: &Request, agreed: Option<Revision>) -> Result<Revision, RpcError> {
        let Some(asked) = request.meta(META_VERSION) else {
            return match request.method.as_str() {
                // It only exists where requests speak for themselves.
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

/// The answer to a request that does not say what it must.
pub fn missing(key: &str) -> RpcError {
    RpcError::new(RpcError::INVALID_PARAMS, format!("Invalid params: `_meta` needs `{key}`"))
}

/// The answer to a revision that is not served.
pub fn unsupported(asked: &str) -> RpcError {
    let asked = crate::cut::chars(asked, 80).0;
    let supported: Vec<&str> = Revision::ALL.iter().map(|revision| revision.name()).collect();
    RpcError {
        code: RpcError::UNSUPPORTED_VERSION,
        message: format!("Unsupported protocol version: {asked}"),
        data: Some(json!({"supported": supported, "requested": asked})),
    }
}

/// Which build of the server this is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Build {
    /// The version of the package.
    pub version: String,
    /// The commit it was made of, if that is known.
    pub git_commit: Option<String>,
    /// Whether there were changes beside it.
    pub git_dirty: Option<bool>,
}

impl Default for Build {
    fn default() -> Build {
        Build { version: env!("CARGO_PKG_VERSION").to_string(), git_commit: None, git_dirty: None }
    }
}

/// What the server says about itself.
#[derive(Clone, Debug)]
pub struct About {
    /// The build.
    pub build: Build,
    /// How it is used, for the model.
    pub instructions: String,
    /// Whether answers may be the same for everybody.
    pub is_public: bool,
    /// Whether clients that want to hear of calls are told.
    pub has_log: bool,
}

/// How long clients may keep the list of tools: it does not change while the server runs.
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

    /// The answer to `initialize`.
    pub fn initialize(&self, revision: Revision) -> Value {
        json!({
            "protocolVersion": revision.name(),
            "serverInfo": self.server(),
            "capabilities": self.capabilities(json!({"listChanged": false})),
            "instructions": self.instructions,
        })
    }

    /// The answer to `server/discover`.
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

    /// The answer to `tools/list`.
    pub fn tools(&self, tools: Value, revision: Revision) -> Map<String, Value> {
        let mut result = Map::new();
        result.insert("tools".to_string(), tools);
        if revision.is_modern() {
            self.cached(&mut result);
        }
        result
    }

    /// Adds what every result of the revision has.
    pub fn complete(&self, mut result: Map<String, Value>, revision: Revision) -> Value {
        if revision.is_modern() {
            result.entry("resultType").or_insert_with(|| json!("complete"));
            result.insert("_meta".to_string(), json!({META_SERVER: self.server()}));
        }
        Value::Object(result)
    }
}
