//! The scheduler: plans queries and hands out tasks. It needs no code of functions.

use crate::codec::{Logical, Physical, Side};
use crate::stores::runtime_env;
use ballista_core::error::Result;
use ballista_core::utils::default_session_builder;
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::start_server;
use datafusion::execution::SessionStateBuilder;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Options of a scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerOptions {
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Host name by which executors reach it.
    pub host: String,
    /// Time without a heartbeat after which an executor counts as lost.
    pub executor_timeout: Duration,
    /// True to pass results on from executors to clients, which then need to reach only the scheduler.
    pub passes_results: bool,
}

/// Runs a scheduler until it fails.
pub async fn run_scheduler(options: SchedulerOptions) -> Result<()> {
    let timeout = options.executor_timeout.as_secs().max(1);
    let config = SchedulerConfig {
        bind_host: options.listen.ip().to_string(),
        bind_port: options.listen.port(),
        external_host: options.host,
        executor_timeout_seconds: timeout,
        expire_dead_executor_interval_seconds: (timeout / 3).max(1),
        no_executors_grace_period_seconds: timeout.max(30),
        enable_embedded_flight_proxy: options.passes_results,
        override_logical_codec: Some(Arc::new(Logical::new(Side::Planner))),
        override_physical_codec: Some(Arc::new(Physical::new(Side::Planner))),
        override_session_builder: Some(Arc::new(|config| {
            let state = default_session_builder(config)?;
            Ok(SessionStateBuilder::new_from_existing(state).with_runtime_env(runtime_env()?).build())
        })),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await?;
    start_server(cluster, options.listen, Arc::new(config)).await
}
