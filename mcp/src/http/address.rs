//! Addresses of clients, including those behind a proxy.

use crate::network::{Network, subscriber};
use crate::settings::Settings;
use axum::http::{HeaderMap, header};
use std::net::IpAddr;

/// Header in which most proxies send the client's address.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Proxies whose forwarding headers are trusted.
pub struct Proxies(Vec<Network>);

impl Proxies {
    pub fn new(settings: &Settings) -> Proxies {
        // A server does not start with invalid settings.
        Proxies(settings.http_trusted_proxy.iter().filter_map(|text| Network::parse(text)).collect())
    }

    /// Returns whether this address belongs to a trusted proxy.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// Returns the address that a request's limits apply to: the peer's, or the one reported by a trusted
    /// proxy. Each proxy appends the address it saw, so the last address that is not a trusted proxy is the
    /// last reliable one; everything before it may be forged.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        if !self.contain(peer) {
            return subscriber(peer);
        }
        let told = match headers.contains_key(FORWARDED_FOR) {
            true => hops(headers, FORWARDED_FOR, address),
            false => hops(headers, header::FORWARDED.as_str(), forwarded),
        };
        // An unreadable entry ends the chain: everything before it is unverified.
        let known = told.into_iter().rev().map_while(|hop| hop);
        let mut client = peer;
        for hop in known {
            client = hop;
            if !self.contain(hop) {
                break;
            }
        }
        subscriber(client)
    }
}

/// Returns the entries of a list that may be split over several headers, in order.
fn hops(headers: &HeaderMap, name: &str, read: fn(&str) -> Option<IpAddr>) -> Vec<Option<IpAddr>> {
    let lines = headers.get_all(name).iter();
    lines
        .flat_map(|line| line.to_str().unwrap_or_default().split(',').map(read).collect::<Vec<_>>())
        .collect()
}

/// Reads an entry of `Forwarded`, such as `for=192.0.2.1;proto=https` (RFC 7239).
fn forwarded(hop: &str) -> Option<IpAddr> {
    hop.split(';').find_map(|pair| {
        let (name, value) = pair.trim().split_once('=')?;
        name.eq_ignore_ascii_case("for").then(|| address(value.trim().trim_matches('"')))?
    })
}

/// Parses an address with an optional port: `192.0.2.1:80`, `[2001:db8::1]:80`.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        return rest.split_once(']')?.0.parse().ok();
    }
    text.parse().ok().or_else(|| text.rsplit_once(':')?.0.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    fn client(peer: &str, sent: &[(&'static str, &'static str)]) -> String {
        let trusted = vec!["10.0.0.0/8".to_string(), "::1".to_string()];
        let proxies = Proxies::new(&Settings { http_trusted_proxy: trusted, ..Settings::default() });
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        proxies.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn only_trusted_proxies_are_believed_and_only_about_whom_they_saw() {
        let xff = "x-forwarded-for";
        assert_eq!(client("192.0.2.9", &[(xff, "198.51.100.1")]), "192.0.2.9");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &[(xff, "198.51.100.1")]), "198.51.100.1");
        // The client has forged the first entry.
        assert_eq!(client("10.0.0.1", &[(xff, "203.0.113.7, 198.51.100.1, 10.0.0.2")]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[(xff, "203.0.113.7"), (xff, "198.51.100.1:4711")]), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &[(xff, "203.0.113.7, nonsense")]), "10.0.0.1");
        assert_eq!(
            client("::1", &[("forwarded", "for=203.0.113.7, for=\"[2001:db8:1:2:3::4]:80\";proto=https")]),
            "2001:db8:1:2::"
        );
        assert_eq!(client("::1", &[("forwarded", "for=203.0.113.7"), (xff, "198.51.100.1")]), "198.51.100.1");
    }
}
