//! The configured servers and their tools, scrubbed once for every use.

pub(crate) mod clean;
mod render;
pub(crate) mod search;
mod server;
mod tool;

pub use render::{DISCOVERY_HINT, Mode as RenderMode, Rendering};
pub use server::{About, Listing, Server};
pub use tool::CatalogTool;

use crate::context::RunContext;
use crate::fault::Fault;
use search::Index;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Policy for tools of servers that change during a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Snapshot {
    /// All servers are started and listed at the beginning; their tools never change.
    Frozen,
    /// Servers are started and listed when first needed.
    #[default]
    Live,
}

/// An index, and the listings it was built from.
type BuiltIndex = (Vec<Option<Arc<Listing>>>, Arc<Index>);

/// All configured servers, by name.
#[derive(Debug)]
pub struct Catalogue {
    pub(crate) servers: BTreeMap<String, Arc<Server>>,
    pub(crate) snapshot: Snapshot,
    pub(crate) load_timeout: Duration,
    /// The index of the tools, and the listings it was built from.
    index: Mutex<Option<BuiltIndex>>,
}

impl Catalogue {
    pub(crate) fn new(
        servers: BTreeMap<String, Arc<Server>>,
        snapshot: Snapshot,
        load_timeout: Duration,
    ) -> Catalogue {
        Catalogue { servers, snapshot, load_timeout, index: Mutex::new(None) }
    }

    /// Returns the servers, sorted by name.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<Server>> {
        self.servers.values()
    }

    /// Returns the server with this name.
    pub fn server(&self, name: &str) -> Option<&Arc<Server>> {
        self.servers.get(name)
    }

    /// Returns the names of all servers.
    pub fn names(&self) -> Vec<&str> {
        self.servers.keys().map(String::as_str).collect()
    }

    /// Returns the index of all tools that are known, built anew if they have changed.
    pub(crate) fn index(&self) -> Arc<Index> {
        let listings: Vec<Option<Arc<Listing>>> = self.servers().map(|server| server.listing()).collect();
        let mut index = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |a: &Option<Arc<Listing>>, b: &Option<Arc<Listing>>| match (a, b) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        if let Some((known, index)) = &*index
            && known.iter().zip(&listings).all(|(a, b)| same(a, b))
        {
            return index.clone();
        }
        let made = Arc::new(Index::new(self.servers()));
        *index = Some((listings, made.clone()));
        made
    }

    pub(crate) async fn load(&self, server: &Server) -> Result<Arc<Listing>, Fault> {
        server.load(self.snapshot == Snapshot::Live, self.load_timeout).await
    }

    /// Loads several servers concurrently within the time of the run; returns their results in order.
    pub(crate) async fn load_all(
        &self,
        servers: impl Iterator<Item = &Arc<Server>>,
        run: Option<&RunContext>,
    ) -> Vec<(String, Result<Arc<Listing>, Fault>)> {
        let one = |server: Arc<Server>| async move {
            let load = self.load(&server);
            let listed = match run {
                Some(run) => run.in_time(&server.name, load).await,
                None => load.await,
            };
            (server.name.clone(), listed)
        };
        futures_util::future::join_all(servers.cloned().map(one)).await
    }
}
