//! Basics for clients of web services: addresses, connections, bodies of bounded size, secrets that nothing prints, and
//! failures in words. Independent of any service's protocol: users are the clients of model providers, MCP and OpenAPI
//! servers, GitHub and collectors of spans.
//!
//! ```
//! let url = ptc_web::address("http://localhost:8080/v1")?;
//! assert!(ptc_web::is_local(&url));
//! let error = ptc_web::address("https://me:secret@x.example").unwrap_err();
//! assert_eq!(error, "contains a password or a query; give secrets separately");
//! # Ok::<(), String>(())
//! ```
#![forbid(unsafe_code)]

mod secret;

pub use secret::Secret;

use reqwest::header::HeaderMap;
use reqwest::{Client, Response, Url, redirect};
use std::error::Error;
use std::time::Duration;

/// Maximum characters kept of a message.
const MAX_MESSAGE: usize = 500;

/// Parses the address of a service. Errors do not repeat the address, which may hold a password.
pub fn address(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("is not a URL ({error})"))?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err("is not the address of a web server".to_string());
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err("contains a password or a query; give secrets separately".to_string());
    }
    url.set_fragment(None);
    Ok(url)
}

/// Returns a client for this address.
pub fn client(url: &Url) -> Result<Client, reqwest::Error> {
    if rustls::crypto::CryptoProvider::get_default().is_none() {
        // Fails only if another thread installed one first, which is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
    }
    // A redirect would carry the key to the host that it names.
    let mut builder =
        Client::builder().redirect(redirect::Policy::none()).connect_timeout(Duration::from_secs(10));
    if is_local(url) {
        // Services on this machine are not behind a proxy.
        builder = builder.no_proxy();
    }
    builder.build()
}

/// Returns whether the address is on this machine.
pub fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reason why a body was not read.
pub enum BodyError {
    /// The body is larger than allowed.
    TooLarge,
    /// The connection failed.
    Connection(reqwest::Error),
}

/// Reads the whole body, if it is not too large.
pub async fn bounded(mut response: Response, max: usize) -> Result<Vec<u8>, BodyError> {
    let mut bytes = Vec::new();
    while let Some(more) = response.chunk().await.map_err(BodyError::Connection)? {
        if bytes.len().saturating_add(more.len()) > max {
            return Err(BodyError::TooLarge);
        }
        bytes.extend_from_slice(&more);
    }
    Ok(bytes)
}

/// Reads the beginning of a body, up to `max` bytes or the first error.
pub async fn start(mut response: Response, max: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(Some(more)) = response.chunk().await {
        bytes.extend_from_slice(&more[..more.len().min(max - bytes.len())]);
        if bytes.len() == max {
            break;
        }
    }
    bytes
}

/// Describes why a connection failed. Addresses are left out: they may hold names and passwords.
pub fn why(error: reqwest::Error) -> String {
    let error = error.without_url();
    // The outer errors only say that a request failed; the last two say why.
    let mut why = vec![error.to_string()];
    let mut source = error.source();
    while let Some(cause) = source {
        why.push(cause.to_string());
        source = cause.source();
    }
    why.dedup();
    cut(&why[why.len().saturating_sub(2)..].join(": "))
}

/// Reads `Retry-After`, in seconds or as a date; some services also give milliseconds.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| *number >= 0.0);
    if let Some(millis) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(millis / 1000.0).ok();
    }
    let after = text("retry-after")?;
    match number(after) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => {
            let date = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
            Some(Duration::try_from(date.duration_since(jiff::Timestamp::now())).unwrap_or_default())
        }
    }
}

/// Cuts a message that is too long.
pub fn cut(text: &str) -> String {
    let short: String = text.chars().take(MAX_MESSAGE).collect();
    match text.len() - short.len() {
        0 => short,
        _ => format!("{short}…"),
    }
}
