//! What servers may ask of us: nothing but whether we are there. And who we say we are.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::{NotificationContext, RoleClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Our side of a connection. It offers no sampling, no roots and no forms to fill in.
#[derive(Debug)]
pub(crate) struct Handler {
    changes: Arc<AtomicU64>,
}

impl Handler {
    /// Counts changes of the list of tools.
    pub(crate) fn new(changes: Arc<AtomicU64>) -> Handler {
        Handler { changes }
    }
}

impl rmcp::ClientHandler for Handler {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("ptc_lisp", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), us);
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }
}
