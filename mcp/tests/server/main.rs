//! The server from the clients' side: over pipes and HTTP, in every revision of the protocol.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod approval;
mod attack;
mod bank;
mod calls;
mod firewall;
mod framing;
mod http;
mod listing;
mod methods;
mod modern;
mod oauth;
mod pipe;
mod progress;
mod read_only;
mod sdk;
mod streams;
mod tls;
mod traces;
mod waiting;

use ptc_mcp::protocol::Build;
use ptc_mcp::{Host, Server, Sessions, Settings};
use ptc_runtime::Runtime;

/// Creates settings from flags.
fn settings(flags: &[&str]) -> Settings {
    Settings::resolve(flags.iter().copied(), |_| None).unwrap().settings
}

/// Creates a server without upstream servers.
fn server(flags: &[&str]) -> Server {
    let settings = settings(flags);
    let runtime = Runtime::with_core(ptc_preludes::core()).unwrap();
    let host = Host::new(&runtime, &settings, None);
    let sessions = settings.sessions.then(|| Sessions::builder(&host, &settings).open().unwrap());
    Server::new(host, &settings, sessions, Build::default()).unwrap()
}
