//! MCP and OpenAPI servers as tools of programs.

use napi::bindgen_prelude::spawn_blocking;
use napi_derive::napi;
use ptc::upstream::config::{Config, Surroundings};
use ptc::upstream::{Options, ProgramHost, Snapshot, Upstream};
use std::path::PathBuf;
use std::sync::Arc;

/// Running MCP and OpenAPI servers that programs call with `(tool/call {…})`.
#[napi(js_name = "ServersCore")]
pub struct JsServers {
    upstream: Arc<Upstream>,
}

impl JsServers {
    /// Makes a host for programs that may call these servers.
    pub fn host(&self) -> ProgramHost {
        ProgramHost::new(Some(self.upstream.attach(None)))
    }

    /// Returns the servers.
    pub fn upstream(&self) -> &Upstream {
        &self.upstream
    }
}

#[napi]
impl JsServers {
    /// Starts the servers of a configuration file or of its JSON text. With `freeze`, their tools are listed now.
    #[napi]
    pub async fn start(path: Option<String>, text: Option<String>, freeze: bool) -> napi::Result<JsServers> {
        let started = spawn_blocking(move || start(path.map(PathBuf::from), text, freeze)).await;
        let upstream = started.map_err(|error| napi::Error::from_reason(error.to_string()))?;
        Ok(JsServers { upstream: Arc::new(upstream.map_err(napi::Error::from_reason)?) })
    }

    /// Stops all servers.
    #[napi]
    pub async fn stop(&self) -> napi::Result<()> {
        let upstream = self.upstream.clone();
        let stopped = spawn_blocking(move || upstream.stop()).await;
        stopped.map(|_| ()).map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// Starts and lists all servers now; returns one text for each server that failed.
    #[napi]
    pub async fn load(&self) -> napi::Result<Vec<String>> {
        let upstream = self.upstream.clone();
        let loaded = spawn_blocking(move || upstream.load(None)).await;
        loaded.map_err(|error| napi::Error::from_reason(error.to_string()))
    }

    /// Names of the servers.
    #[napi(getter)]
    pub fn names(&self) -> Vec<String> {
        self.upstream.catalogue().names().iter().map(ToString::to_string).collect()
    }

    /// Returns the part of a prompt that describes the servers and their tools.
    #[napi]
    pub fn describe(&self) -> String {
        self.upstream.render()
    }

    /// Remarks about the configuration.
    #[napi(getter)]
    pub fn warnings(&self) -> Vec<String> {
        self.upstream.warnings()
    }
}

fn start(path: Option<PathBuf>, text: Option<String>, freeze: bool) -> Result<Upstream, String> {
    // This process is Node, and a server that Node runs is not ourselves.
    let mut around = Surroundings::current();
    around.executable = None;
    let config = match (&path, &text) {
        (Some(path), _) => Config::load(path, &around),
        (None, text) => {
            let folder = std::env::current_dir().unwrap_or_default();
            Config::parse(text.as_deref().unwrap_or("{}"), &folder, &around)
        }
    };
    let config = config.map_err(|error| error.to_string())?;
    let snapshot = if freeze { Snapshot::Frozen } else { Snapshot::default() };
    let options = Options { snapshot, ..Options::default() };
    Upstream::start(&config, &around, options).map_err(|error| error.to_string())
}
