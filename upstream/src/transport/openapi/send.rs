//! Calls of operations over HTTP.

use super::compile::Operation;
use super::params::Part;
use super::security::Schemes;
use super::style::plain;
use super::{Inner, Operations, answer};
use crate::client::{Reply, Request};
use crate::credentials::Place;
use crate::fault::{Fault, Reason};
use http::header::{ACCEPT, CONTENT_TYPE, COOKIE, HeaderMap, HeaderName, HeaderValue};
use ptc_web::{BodyError, bounded, start, why};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashSet;
use url::Url;

/// Maximum number of bytes read of an error response.
const ERROR_BYTES: usize = 4 << 10;

/// A request without credentials.
pub(super) struct Prepared {
    pub method: http::Method,
    pub url: Url,
    pub headers: HeaderMap,
    pub cookies: Vec<String>,
    pub body: Option<Vec<u8>>,
}

impl Prepared {
    pub fn get(url: Url) -> Prepared {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("application/json"))]);
        Prepared { method: http::Method::GET, url, headers, cookies: Vec::new(), body: None }
    }
}

impl Inner {
    /// Sends a request with our credentials; once more if a credential was refused and a new one is available.
    pub(super) async fn send(
        &self,
        request: &Prepared,
        schemes: Option<(&Schemes, &[String])>,
        within: Option<std::time::Duration>,
    ) -> Result<reqwest::Response, Fault> {
        let version = self.headers.version();
        let response = self.send_once(request, schemes, within).await?;
        if response.status() == 401 && self.headers.are_newer_than(version).await {
            return self.send_once(request, schemes, within).await;
        }
        Ok(response)
    }

    async fn send_once(
        &self,
        request: &Prepared,
        schemes: Option<(&Schemes, &[String])>,
        within: Option<std::time::Duration>,
    ) -> Result<reqwest::Response, Fault> {
        let (mut url, mut headers) = (request.url.clone(), request.headers.clone());
        let mut cookies = request.cookies.clone();
        // What a program gives never replaces what we send.
        headers.extend(self.headers.emit());
        for (place, secret) in self.headers.elsewhere() {
            let (place, secret) = match (place, schemes) {
                (Place::Declared(name), Some((known, required))) if required.contains(name) => {
                    match known.place(name, &secret) {
                        Some(placed) => placed,
                        None => continue,
                    }
                }
                (Place::Declared(_), _) => continue,
                (place, _) => (place.clone(), secret),
            };
            match place {
                Place::Header(name) => {
                    let name = HeaderName::try_from(name).ok();
                    let value = HeaderValue::from_bytes(secret.expose().as_bytes()).ok();
                    if let (Some(name), Some(mut value)) = (name, value) {
                        value.set_sensitive(true);
                        headers.insert(name, value);
                    }
                }
                Place::Query(name) => {
                    // Fields of an object may have any name.
                    if url.query_pairs().any(|(known, _)| known == *name) {
                        let others = url.query_pairs().filter(|(known, _)| known != &*name);
                        let others: Vec<(String, String)> =
                            others.map(|(a, b)| (a.into(), b.into())).collect();
                        url.query_pairs_mut().clear().extend_pairs(others);
                    }
                    url.query_pairs_mut().append_pair(&name, secret.expose());
                }
                Place::Cookie(name) => {
                    let own = format!("{name}=");
                    cookies.retain(|cookie| !cookie.starts_with(&own));
                    cookies.push(format!("{own}{}", secret.expose()));
                }
                Place::Declared(_) => {}
            }
        }
        if !cookies.is_empty()
            && let Ok(mut value) = HeaderValue::try_from(cookies.join("; "))
        {
            value.set_sensitive(true);
            headers.insert(COOKIE, value);
        }
        let mut sent = self.http()?.request(request.method.clone(), url).headers(headers);
        if let Some(within) = within {
            sent = sent.timeout(within);
        }
        if let Some(body) = &request.body {
            sent = sent.body(body.clone());
        }
        sent.send().await.map_err(|error| self.unreachable(error))
    }

    fn unreachable(&self, error: reqwest::Error) -> Fault {
        // Without a connection, nothing was sent: a write has not happened.
        let is_unsent = error.is_connect() || error.is_builder();
        let reason = if error.is_timeout() { Reason::Timeout } else { Reason::UpstreamUnavailable };
        Fault { is_unsent, ..self.fault(reason, &format!("cannot be reached: {}", why(error))) }
    }

    pub(super) async fn call(&self, request: Request) -> Result<Reply, Fault> {
        let unsent = |fault: Fault| Fault { is_unsent: true, ..fault };
        let operations = self.operations().clone();
        let found = operations.as_ref().and_then(|known| Some((known, known.by_name.get(&request.tool)?)));
        let Some((known, operation)) = found else {
            let message = format!("has no operation '{}'", request.tool);
            return Err(unsent(self.fault(Reason::UpstreamError, &message)));
        };
        let unknown = request.args.keys().filter(|name| !operation.takes(name)).count();
        if unknown > 0 {
            tracing::debug!(
                upstream = self.name,
                operation = request.tool,
                unknown,
                "arguments that are not declared were left out"
            );
        }
        let mut prepared = prepare(known, operation, &request.args)
            .map_err(|problem| unsent(self.fault(Reason::UpstreamError, &problem)))?;
        if let Some(Ok(trace)) = request.traceparent.as_ref().map(HeaderValue::try_from) {
            prepared.headers.insert("traceparent", trace);
        }
        let most = request.max_bytes.min(self.settings.max_response_bytes);
        let response = self.send(&prepared, Some((&known.schemes, &operation.schemes)), None).await?;
        let status = response.status();
        if !status.is_success() {
            let said = start(response, ERROR_BYTES).await;
            let said = String::from_utf8_lossy(&said);
            let wire_bytes = said.len() as u64;
            let fault = match said.trim() {
                "" => self.fault(reason(status.as_u16()), &format!("answered {status}")),
                said => self.fault(reason(status.as_u16()), &format!("answered {status}: {said}")),
            };
            return Err(Fault { http_status: Some(status.as_u16()), wire_bytes, ..fault });
        }
        let media =
            response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(str::to_string);
        let body = match bounded(response, most as usize).await {
            Ok(body) => body,
            Err(BodyError::TooLarge) => {
                let fault = self.fault(Reason::ResponseTooLarge, &format!("sent more than {most} bytes"));
                return Err(Fault { http_status: Some(status.as_u16()), wire_bytes: most, ..fault });
            }
            // It was sent, and the answer is lost.
            Err(BodyError::Connection(error)) => {
                return Err(Fault { is_unsent: false, ..self.unreachable(error) });
            }
        };
        let result = answer::result(&body, media.as_deref(), self.settings.methods.is_none());
        let Some(result) = result.and_then(|result| RawValue::from_string(result).ok()) else {
            let fault = self.fault(Reason::UpstreamError, "sent a reply that is not valid JSON");
            return Err(Fault { http_status: Some(status.as_u16()), wire_bytes: body.len() as u64, ..fault });
        };
        Ok(Reply { result, http_status: Some(status.as_u16()), wire_bytes: body.len() as u64 })
    }
}

/// Returns the reason for a failure with this status.
pub(super) fn reason(status: u16) -> Reason {
    match status {
        401 => Reason::AuthFailed,
        429 => Reason::RateLimited,
        400 | 403 | 404 | 405 | 409 | 410 | 412 | 413 | 415 | 422 => Reason::ToolError,
        500.. => Reason::UpstreamUnavailable,
        _ => Reason::UpstreamError,
    }
}

impl Operation {
    /// Returns whether an argument is sent.
    fn takes(&self, arg: &str) -> bool {
        self.params.iter().any(|param| param.arg == arg)
            || self.body.as_ref().is_some_and(|body| body.takes(arg))
    }
}

/// Builds the request of a call: path, declared parameters, and body.
fn prepare(known: &Operations, operation: &Operation, args: &Map<String, Value>) -> Result<Prepared, String> {
    let base = &known.base;
    let mut all = operation.defaults.clone();
    all.extend(args.iter().map(|(name, value)| (name.clone(), value.clone())));
    let mut path = operation.path.clone();
    let mut query: Vec<String> = Vec::new();
    let mut headers = HeaderMap::new();
    let mut cookies = Vec::new();
    for param in &operation.params {
        let name = &param.name;
        let given = all.get(&param.arg).filter(|value| !value.is_null());
        let Some(given) = given else {
            if param.part == Part::Path {
                return Err(format!("needs '{}'", param.arg));
            }
            continue;
        };
        match param.part {
            Part::Path => {
                if plain(given).is_empty() {
                    return Err(format!("cannot take \"\" for '{name}', which is part of a path"));
                }
                path = path.replace(&format!("{{{name}}}"), &param.how.in_path(name, given));
            }
            Part::Query => {
                let pairs = param.how.pairs(name, given).map_err(|why| format!("{why} ('{name}')"))?;
                query.extend(pairs.into_iter().map(|(name, value)| format!("{name}={value}")));
            }
            Part::Header => {
                let text = param.how.in_header(name, given);
                let value = HeaderValue::try_from(text)
                    .map_err(|_| format!("cannot take such text for '{name}', which is a header"))?;
                let name = HeaderName::try_from(&**name).map_err(|_| format!("has no header '{name}'"))?;
                headers.insert(name, value);
            }
            Part::Cookie => cookies.extend(param.how.cookies(name, given)),
        }
    }
    let path = format!("{}/{}", operation.base_path.trim_end_matches('/'), path.trim_start_matches('/'));
    // These would name another path, in any encoding.
    if path.split(['/', '\\']).any(|segment| matches!(segment, "." | "..")) {
        return Err("cannot take \".\" or \"..\" as a part of a path".to_string());
    }
    let mut url = base.clone();
    url.set_path(&path);
    if !query.is_empty() {
        url.set_query(Some(&query.join("&")));
    }
    if url.origin() != base.origin() {
        return Err("would be called at another origin".to_string());
    }
    if let Ok(accept) = HeaderValue::try_from(&*operation.accept) {
        headers.insert(ACCEPT, accept);
    }
    let others: HashSet<&str> = operation.params.iter().map(|param| &*param.arg).collect();
    let body = match &operation.body {
        Some(body) => body.encode(&all, &others)?,
        None => None,
    };
    let body = body.map(|(media, bytes)| {
        if let Ok(media) = HeaderValue::try_from(media) {
            headers.insert(CONTENT_TYPE, media);
        }
        bytes
    });
    let method = http::Method::from_bytes(operation.method.name().to_uppercase().as_bytes())
        .map_err(|_| "has no such method".to_string())?;
    Ok(Prepared { method, url, headers, cookies, body })
}
