//! Web services described by an OpenAPI document: the selected operations become tools. Only reads, only JSON.

mod compile;
mod refs;
mod send;

use super::web;
use crate::client::{Client, Health, Reply, Request, Tool};
use crate::config::{OpenApiSettings, Schema};
use crate::credentials::Headers;
use crate::executor::Standalone;
use crate::fault::{Fault, Reason};
use crate::slots::Slots;
use compile::Operation;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ptc_web::{BodyError, bounded, why};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

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

/// Operations by the name of their tool.
type Operations = BTreeMap<String, Operation>;

impl Client for OpenApi {
    fn tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, Fault>> {
        let inner = &self.0;
        async move {
            let document = inner.document().await?;
            let compiled = compile::compile(&document, &inner.settings)
                .map_err(|problem| inner.fault(Reason::UpstreamError, &problem))?;
            let tools = compiled.iter().map(|operation| operation.tool.clone()).collect();
            let named = compiled.into_iter().map(|operation| (operation.tool.name.clone(), operation));
            *inner.operations() = Some(Arc::new(named.collect()));
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

    /// Reads the document, up to its maximum size.
    async fn document(&self) -> Result<Value, Fault> {
        let most = self.settings.schema_max_bytes;
        let too_large =
            || self.fault(Reason::ResponseTooLarge, &format!("has a document of more than {most} bytes"));
        let bytes = match &self.settings.schema {
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
                let request = self.http()?.get(url.clone()).timeout(within);
                let response = self
                    .send(request)
                    .await
                    .map_err(|error| self.fault(Reason::UpstreamUnavailable, &why(error)))?;
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
        };
        serde_json::from_slice(&bytes).map_err(|problem| {
            self.fault(Reason::UpstreamError, &format!("has a document that is not valid JSON: {problem}"))
        })
    }
}
