//! Handler of a server's requests, which answers only pings, and our name in handshakes.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};

/// Our side of a connection. Offers no sampling, roots or elicitation.
#[derive(Debug)]
pub(crate) struct Handler;

impl rmcp::ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("ptc", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), us);
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }
}
