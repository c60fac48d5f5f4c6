//! Object stores by URL, for artifacts and for the files of tables.

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use object_store::path::Path;
use object_store::{ObjectStore, parse_url_opts};
use std::sync::Arc;
use url::Url;

/// Opens a store: a folder, or a URL such as `s3://bucket/functions` in builds with the feature `cloud`. Credentials come from
/// environment variables, such as `AWS_ACCESS_KEY_ID`.
pub fn open(place: &str) -> Result<(Arc<dyn ObjectStore>, Path), String> {
    let failed = |error: &dyn std::fmt::Display| format!("cannot open `{place}`: {error}");
    let url = match Url::parse(place) {
        // A letter is a drive, not a scheme.
        Ok(url) if url.scheme().len() > 1 => url,
        _ => {
            let folder = std::path::absolute(place).map_err(|error| failed(&error))?;
            Url::from_directory_path(folder).map_err(|()| failed(&"it is not a path"))?
        }
    };
    let (store, path) = parse_url_opts(&url, std::env::vars()).map_err(|error| match url.scheme() {
        "file" => failed(&error),
        scheme => {
            format!("{}; stores such as `{scheme}://…` need a build with the feature `cloud`", failed(&error))
        }
    })?;
    Ok((Arc::from(store), path))
}

/// The stores of a session, which are opened when a query names them.
#[derive(Debug, Default)]
pub struct Stores(DefaultObjectStoreRegistry);

impl ObjectStoreRegistry for Stores {
    fn register_store(&self, url: &Url, store: Arc<dyn ObjectStore>) -> Option<Arc<dyn ObjectStore>> {
        self.0.register_store(url, store)
    }

    fn deregister_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.0.deregister_store(url)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        self.0.get_store(url).or_else(|_| {
            let (store, _) = open(url.as_str()).map_err(DataFusionError::Execution)?;
            self.0.register_store(url, store.clone());
            Ok(store)
        })
    }
}

/// Makes the environment of a session: stores are opened when a query names them.
pub fn runtime_env() -> Result<Arc<RuntimeEnv>> {
    RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default())).build_arc()
}
