//! Sessions of clients.

use crate::codec::{Logical, Physical, Side};
use crate::stores::runtime_env;
use ballista::prelude::SessionContextExt;
use ballista_core::extension::SessionConfigExt;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::sync::Arc;

/// Connects to a scheduler, `host:port`. Functions that are registered with the session run on executors that have their
/// artifacts; files of tables must be where executors find them under the same name.
pub async fn connect(scheduler: &str, partitions: usize) -> Result<SessionContext> {
    let config = SessionConfig::new_with_ballista()
        .with_target_partitions(partitions)
        // With Ballista 55's adaptive planner, a job may wait forever for a stage that an executor took with it.
        .with_ballista_adaptive_query_planner(false)
        .with_ballista_logical_extension_codec(Arc::new(Logical::new(Side::Planner)))
        .with_ballista_physical_extension_codec(Arc::new(Physical::new(Side::Planner)));
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(config)
        .with_runtime_env(runtime_env()?)
        .build();
    SessionContext::remote_with_state(&format!("df://{scheduler}"), state).await
}
