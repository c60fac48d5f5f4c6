//! Builds without the feature `http`: stdio servers work, and other transports stop the start with the reason.
//! `.ci/run without_features` builds it like that.
#![cfg(not(feature = "http"))]

use ptc_upstream::config::{Config, Surroundings};
use ptc_upstream::{Options, Upstream};
use serde_json::json;
use std::path::Path;

#[test]
fn what_needs_http_stops_the_start() {
    let around = Surroundings::current();
    let http = json!({"transport": "mcp_http", "url": "https://example.org/mcp"});
    let api = json!({"transport": "openapi", "base_url": "https://example.org", "schema_file": "a.json",
        "include_operations": ["a"]});
    for (name, entry) in [("mcp_http", http), ("openapi", api)] {
        let text = json!({"upstreams": {"web": entry}}).to_string();
        let error = Config::parse(&text, Path::new("."), &around).unwrap_err().to_string();
        let wanted = "is not available: this program was built without the feature `http`";
        assert_eq!(error, format!("upstream 'web': `transport` {name} {wanted}"));
    }
    let text = json!({"upstreams": {"child": {"transport": "mcp_stdio", "command": "sh"}}}).to_string();
    let config = Config::parse(&text, Path::new("."), &around).unwrap();
    let upstream = Upstream::start(&config, &around, Options::default()).unwrap();
    assert_eq!(upstream.catalogue().names(), ["child"]);
}
