//! Requests to authorization servers: small JSON documents, within a few seconds.

use ptc_web::{address, bounded, client, is_local};
use reqwest::{Client, RequestBuilder, Url};
use serde_json::Value;
use std::time::Duration;

/// Time limit for one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum size of a reply, in bytes.
const MAX_BYTES: usize = 512 << 10;

/// Reads the address of an authorization server, with a client for it: HTTPS, except on this machine. Keys that arrive
/// over plain HTTP could be anybody's.
pub fn endpoint(flag: &str, text: &str) -> Result<(Url, Client), String> {
    let wrong = |why: String| format!("{flag}: {why}");
    let url = address(text).map_err(wrong)?;
    if url.scheme() != "https" && !is_local(&url) {
        return Err(wrong("must begin with https://".to_string()));
    }
    let client = client(&url).map_err(|error| wrong(error.to_string()))?;
    Ok((url, client))
}

/// Sends a request and reads its reply; the error says why there is none.
pub async fn ask(request: RequestBuilder) -> Result<Value, String> {
    let response = request.timeout(TIMEOUT).send().await.map_err(ptc_web::why)?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!("it answered with status {}", status.as_u16()));
    }
    let bytes = bounded(response, MAX_BYTES)
        .await
        .map_err(|_| "its reply is too large or was cut off".to_string())?;
    serde_json::from_slice(&bytes).map_err(|_| "its reply is not JSON".to_string())
}
