//! The guard: which requests are answered at all.

use crate::token::Token;
use axum::http::{HeaderMap, Method, Uri, header};
use std::net::SocketAddr;

/// Why a request is refused. It says nothing that would help to guess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// It was sent to another name: a page of another site may have its name point here.
    Host,
    /// A page of another site sent it.
    Origin,
    /// It has no token, or another one.
    Token,
    /// Its method fits nothing here.
    Method,
}

/// Returns the path behind the token of a request that may be answered.
pub fn pass<'u>(
    method: &Method,
    uri: &'u Uri,
    headers: &HeaderMap,
    address: SocketAddr,
    token: &Token,
) -> Result<&'u str, Refusal> {
    let names = [address.to_string(), format!("localhost:{}", address.port())];
    let host = one(headers, header::HOST).ok_or(Refusal::Host)?;
    if !names.iter().any(|name| name == host) {
        return Err(Refusal::Host);
    }
    let origin = match headers.contains_key(header::ORIGIN) {
        true => Some(one(headers, header::ORIGIN).ok_or(Refusal::Origin)?),
        false => None,
    };
    if origin.is_some_and(|origin| origin.strip_prefix("http://") != Some(host)) {
        return Err(Refusal::Origin);
    }
    // Sent by every browser; a link that a person follows has `none`.
    let site = headers.get("sec-fetch-site").map(|site| site.as_bytes());
    if site.is_some_and(|site| !matches!(site, b"same-origin" | b"none")) {
        return Err(Refusal::Origin);
    }
    let path = uri.path().strip_prefix('/').unwrap_or_default();
    let (given, rest) = path.split_once('/').unwrap_or((path, ""));
    if !token.is(given) {
        return Err(Refusal::Token);
    }
    if !matches!(*method, Method::GET | Method::HEAD | Method::POST) {
        return Err(Refusal::Method);
    }
    Ok(rest)
}

/// Returns the value of a header that stands there once.
fn one(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let first = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pages_of_its_own_and_people_with_the_token_pass() {
        let token = Token::random().expect("random");
        let address = "127.0.0.1:4321".parse().expect("an address");
        let ask = |path: &str, headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in headers {
                map.append(*name, value.parse().expect("a value"));
            }
            let uri = path.replace("TOKEN", token.as_str()).parse().expect("an address");
            pass(&Method::GET, &uri, &map, address, &token).map(str::to_string)
        };
        let host = ("host", "127.0.0.1:4321");
        assert_eq!(ask("/TOKEN/api/run", &[host]), Ok("api/run".to_string()));
        assert_eq!(
            ask("/TOKEN/", &[("host", "localhost:4321"), ("sec-fetch-site", "none")]),
            Ok(String::new())
        );
        assert_eq!(ask("/TOKEN/", &[host, ("origin", "http://127.0.0.1:4321")]), Ok(String::new()));
        for path in ["/", "/x/", "/TOKENx/", "/token/", "/TOKE%4E/"] {
            assert_eq!(ask(path, &[host]), Err(Refusal::Token), "{path}");
        }
        // A name that was made to point to this machine, and ports of others.
        for name in
            ["evil.example:4321", "127.0.0.1", "127.0.0.1:4322", "localhost", "127.0.0.1:4321.evil.example"]
        {
            assert_eq!(ask("/TOKEN/", &[("host", name)]), Err(Refusal::Host), "{name}");
        }
        assert_eq!(ask("/TOKEN/", &[]), Err(Refusal::Host));
        assert_eq!(ask("/TOKEN/", &[host, host]), Err(Refusal::Host));
        for origin in [
            "null",
            "http://127.0.0.1:9999",
            "https://127.0.0.1:4321",
            "http://localhost:4321",
            "http://evil.example",
        ] {
            assert_eq!(ask("/TOKEN/", &[host, ("origin", origin)]), Err(Refusal::Origin), "{origin}");
        }
        for site in ["cross-site", "same-site", "x"] {
            assert_eq!(ask("/TOKEN/", &[host, ("sec-fetch-site", site)]), Err(Refusal::Origin), "{site}");
        }
    }
}
