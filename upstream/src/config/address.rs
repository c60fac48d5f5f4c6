//! Addresses of servers: HTTPS unless the file explicitly allows less.

use super::error::ConfigError;
use super::fields::Fields;
use super::place::Surroundings;
use url::{Host, Url};

/// Reads the address in a field. With `has_auth`, secrets are sent there.
pub(super) fn address(
    fields: &Fields<'_>,
    key: &str,
    has_auth: bool,
    around: &Surroundings,
) -> Result<Url, ConfigError> {
    // The text is never shown: it may contain a password.
    let refuse = |message: &str| Err(fields.error(key, message));
    let Ok(url) = Url::parse(fields.required(key)?) else {
        return refuse("is not an absolute URL; write it as https://host/path");
    };
    match url.scheme() {
        "https" => {}
        "http" => {
            if fields.flag("allow_insecure_http")? != Some(true) {
                return refuse("uses http:// without allow_insecure_http; use https://");
            }
            if has_auth && fields.flag("allow_insecure_auth")? != Some(true) {
                return refuse("would send auth over http://, which also needs allow_insecure_auth");
            }
        }
        _ => return refuse("must be https://; other schemes are not supported"),
    }
    if url.host().is_none() {
        return refuse("has no host");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("must not contain a user or password; put them into `credentials` and `auth`");
    }
    if url.fragment().is_some() {
        return refuse("must not have a #fragment");
    }
    if around.listener.as_ref().is_some_and(|own| is_own(&url, own)) {
        return refuse("is the address of this server, which would call itself forever");
    }
    Ok(url)
}

/// Returns whether an address is our own listener.
fn is_own(url: &Url, (host, port): &(String, u16)) -> bool {
    let is_local = |host: &str| matches!(host, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0" | "::");
    let theirs = match url.host() {
        Some(Host::Ipv6(address)) => address.to_string(),
        Some(other) => other.to_string(),
        None => return false,
    };
    url.port_or_known_default() == Some(*port) && (theirs == *host || is_local(&theirs) && is_local(host))
}
