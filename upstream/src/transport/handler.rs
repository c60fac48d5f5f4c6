//! What servers may ask of us: nothing but whether we are there. And who we say we are.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};

/// Our side of a connection. It offers no sampling, no roots and no forms to fill in.
#[derive(Debug)]
pub(crate) struct Handler;

impl rmcp::ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("ptc_lisp", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), us);
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }
}
