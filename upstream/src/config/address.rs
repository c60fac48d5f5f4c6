//! Addresses of servers: HTTPS unless the file explicitly allows less.

use super::error::ConfigError;
use super::fields::Fields;
use super::place::Surroundings;
use super::settings::AddressRules;
use url::{Host, Url};

/// Reads the address in a field. With `has_auth`, secrets are sent there.
pub(super) fn address(
    fields: &Fields<'_>,
    key: &str,
    has_auth: bool,
    around: &Surroundings,
) -> Result<Url, ConfigError> {
    // The text is never shown: it may contain a password.
    let Ok(url) = Url::parse(fields.required(key)?) else {
        return Err(fields.error(key, "is not an absolute URL; write it as https://host/path"));
    };
    let rules = AddressRules::read(fields, has_auth, around)?;
    rules.check(&url).map_err(|message| fields.error(key, message))?;
    Ok(url)
}

impl AddressRules {
    /// Reads the rules of an entry. With `has_auth`, secrets are sent to its addresses.
    pub(super) fn read(
        fields: &Fields<'_>,
        has_auth: bool,
        around: &Surroundings,
    ) -> Result<AddressRules, ConfigError> {
        Ok(AddressRules {
            allows_http: fields.flag("allow_insecure_http")? == Some(true),
            allows_auth_over_http: fields.flag("allow_insecure_auth")? == Some(true),
            has_auth,
            listener: around.listener.clone(),
        })
    }

    /// Checks an address; the error says why it is not used.
    pub(crate) fn check(&self, url: &Url) -> Result<(), &'static str> {
        match url.scheme() {
            "https" => {}
            "http" if !self.allows_http => {
                return Err("uses http:// without allow_insecure_http; use https://");
            }
            "http" if self.has_auth && !self.allows_auth_over_http => {
                return Err("would send auth over http://, which also needs allow_insecure_auth");
            }
            "http" => {}
            _ => return Err("must be https://; other schemes are not supported"),
        }
        if url.host().is_none() {
            return Err("has no host");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user or password; put them into `credentials` and `auth`");
        }
        if url.fragment().is_some() {
            return Err("must not have a #fragment");
        }
        if self.listener.as_ref().is_some_and(|own| is_own(url, own)) {
            return Err("is the address of this server, which would call itself forever");
        }
        Ok(())
    }
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
