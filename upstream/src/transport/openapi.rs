//! Web services described by an OpenAPI document: the selected operations become tools. Without the setting `methods`, only
//! those that read JSON.

mod answer;
mod body;
mod compile;
mod pages;
mod params;
mod refs;
mod security;
mod send;
mod server;
mod style;

use super::web;
use crate::client::{Client, Health, LateSchema, Reply, Request, Tool};
use crate::config::{OpenApiSettings, Schema};
use crate::credentials::Headers;
use crate::executor::{self, Standalone};
use crate::fault::{Fault, Reason};
use crate::slots::Slots;
use compile::{Compiled, Operation};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_web::{BodyError, bounded, why};
use security::Schemes;
use send::Prepared;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use url::Url;

/// Creates a client that reads the document on first use, for any thread and executor.
pub fn connect(name: &str, settings: OpenApiSettings, headers: Headers) -> Arc<dyn Client> {
    Arc::new(Standalone { name: name.to_string(), client: client(name, settings, headers) })
}

/// Creates a client for callers on the executor.
pub(crate) fn client(name: &str, settings: OpenApiSettings, headers: Headers) -> Arc<dyn Client> {
    let slots = Slots::new(settings.max_concurrency);
    // A redirect would carry credentials to another address.
    let no_redirects = reqwest::redirect::Policy::none();
    let http = web::client(settings.connect_timeout, settings.ca_file.as_deref(), no_redirects);
    let name = name.to_string();
    Arc::new(OpenApi(Arc::new(Inner { name, settings, headers, http, slots, operations: Mutex::new(None) })))
}

struct OpenApi(Arc<Inner>);

struct Inner {
    name: String,
    settings: OpenApiSettings,
    headers: Headers,
    http: Result<reqwest::Client, String>,
    slots: Slots,
    operations: Mutex<Option<Arc<Operations>>>,
}

/// The operations of a document that was read.
struct Operations {
    base: Url,
    schemes: Schemes,
    /// Operations by the name of their tool.
    by_name: BTreeMap<String, Operation>,
    warnings: Vec<String>,
}

impl Client for OpenApi {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let inner = &self.0;
        async move {
            let bytes = inner.document().await?;
            let compiled = executor::heavy(bytes.len(), || inner.compile(&bytes))?;
            let Compiled { base, schemes, operations, warnings } = compiled;
            for warning in &warnings {
                tracing::warn!(upstream = inner.name, "{warning}");
            }
            let tools = operations.iter().map(|operation| operation.tool.clone()).collect();
            let named = operations.into_iter().map(|operation| (operation.tool.name.clone(), operation));
            let known = Operations { base, schemes, by_name: named.collect(), warnings };
            *inner.operations() = Some(Arc::new(known));
            Ok(tools)
        }
        .boxed()
    }

    fn call(&self, request: Request) -> BoxFuture<'_, Result<Reply, Fault>> {
        self.0.call(request).boxed()
    }

    fn request_timeout(&self) -> Option<Duration> {
        Some(self.0.settings.request_timeout)
    }

    fn slots(&self) -> Option<&Slots> {
        Some(&self.0.slots)
    }

    fn output_schema(&self, tool: &str) -> Option<LateSchema> {
        Some(self.0.operations().as_ref()?.by_name.get(tool)?.output.clone())
    }

    fn warnings(&self) -> Vec<String> {
        self.0.operations().as_ref().map(|known| known.warnings.clone()).unwrap_or_default()
    }

    fn health(&self) -> Health {
        if self.0.operations().is_some() { Health::Ready } else { Health::Cold }
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

impl Inner {
    fn operations(&self) -> std::sync::MutexGuard<'_, Option<Arc<Operations>>> {
        self.operations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fault(&self, reason: Reason, what: &str) -> Fault {
        Fault::new(reason, format!("upstream '{}' {what}", self.name))
    }

    fn http(&self) -> Result<&reqwest::Client, Fault> {
        self.http.as_ref().map_err(|problem| self.fault(Reason::UpstreamUnavailable, problem))
    }

    fn compile(&self, bytes: &[u8]) -> Result<Compiled, Fault> {
        let document: Value = serde_json::from_slice(bytes).map_err(|problem| {
            self.fault(Reason::UpstreamError, &format!("has a document that is not valid JSON: {problem}"))
        })?;
        compile::compile(&Arc::new(document), &self.settings, &self.headers)
            .map_err(|problem| self.fault(Reason::UpstreamError, &problem))
    }

    /// Reads the document, up to its maximum size.
    async fn document(&self) -> Result<Vec<u8>, Fault> {
        let most = self.settings.schema_max_bytes;
        let too_large = || {
            let message =
                format!("has a document of more than {most} bytes; raise schema_max_bytes to read it");
            self.fault(Reason::ResponseTooLarge, &message)
        };
        Ok(match &self.settings.schema {
            Schema::File(path) => {
                let read = |problem: std::io::Error| {
                    self.fault(
                        Reason::UpstreamUnavailable,
                        &format!("has the document {}: {problem}", path.display()),
                    )
                };
                // Limited while reading: devices have no length.
                let mut bytes = Vec::new();
                let file = std::fs::File::open(path).map_err(read)?;
                file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(read)?;
                if bytes.len() as u64 > most {
                    return Err(too_large());
                }
                bytes
            }
            Schema::Url(url) => {
                // Fetching may take as long as a call.
                let within = self.settings.request_timeout.max(Duration::from_millis(1));
                let request = Prepared::get(url.clone());
                let response = self.send(&request, None, Some(within)).await?;
                let status = response.status();
                if !status.is_success() {
                    let fault = self
                        .fault(send::reason(status.as_u16()), &format!("answered {status} for its document"));
                    return Err(Fault { http_status: Some(status.as_u16()), ..fault });
                }
                match bounded(response, most as usize).await {
                    Ok(bytes) => bytes,
                    Err(BodyError::TooLarge) => return Err(too_large()),
                    Err(BodyError::Connection(error)) => {
                        return Err(self.fault(Reason::UpstreamUnavailable, &why(error)));
                    }
                }
            }
        })
    }
}
