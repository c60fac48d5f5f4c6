//! Executors: run tasks, with functions whose artifacts they have verified.

use crate::artifacts::Artifacts;
use crate::codec::{Logical, Physical, Side};
use crate::stores::Stores;
use ballista_core::error::{BallistaError, Result};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of an executor.
#[derive(Debug)]
pub struct ExecutorOptions {
    /// Host and port of the scheduler.
    pub scheduler: (String, u16),
    /// Address to listen on for other executors and clients; the port after it is for the scheduler.
    pub listen: SocketAddr,
    /// Host name by which others reach it; the scheduler sees it from where it connects if None.
    pub host: Option<String>,
    /// Tasks at a time.
    pub slots: usize,
    /// Folder for parts of results; a temporary one if None.
    pub folder: Option<PathBuf>,
    /// Time between heartbeats.
    pub heartbeat: Duration,
    /// Time to wait for the scheduler at the start.
    pub connect_timeout: Duration,
    /// Where the artifacts of functions are.
    pub artifacts: Artifacts,
}

/// Runs an executor until it is told to stop.
pub async fn run_executor(options: ExecutorOptions) -> Result<()> {
    let Some(grpc_port) = options.listen.port().checked_add(1) else {
        return Err(BallistaError::Configuration(
            "the port after that of --listen does not exist".to_string(),
        ));
    };
    // Gone with the process, unless it is killed.
    let (_temporary, folder) = match options.folder {
        Some(folder) => (None, folder),
        None => {
            let temporary = tempfile::Builder::new().prefix("ptc-executor-").tempdir()?;
            let folder = temporary.path().to_path_buf();
            (Some(temporary), folder)
        }
    };
    std::fs::create_dir_all(&folder)?;
    let spilled = folder.clone();
    let side = Side::Executor(Arc::new(options.artifacts));
    let seconds = |time: Duration| time.as_secs().max(1);
    let config = ExecutorProcessConfig {
        bind_host: options.listen.ip().to_string(),
        external_host: options.host,
        port: options.listen.port(),
        grpc_port,
        scheduler_host: options.scheduler.0,
        scheduler_port: options.scheduler.1,
        scheduler_connect_timeout_seconds: u16::try_from(seconds(options.connect_timeout))
            .unwrap_or(u16::MAX),
        vcores: options.slots.max(1),
        work_dir: Some(folder.display().to_string()),
        executor_heartbeat_interval_seconds: seconds(options.heartbeat),
        // Results stay for a day, if no client fetches them.
        job_data_ttl_seconds: 24 * 3600,
        job_data_clean_up_interval_seconds: 3600,
        override_logical_codec: Some(Arc::new(Logical::new(side.clone()))),
        override_physical_codec: Some(Arc::new(Physical::new(side))),
        override_runtime_producer: Some(Arc::new(move |_| {
            RuntimeEnvBuilder::new()
                .with_temp_file_path(spilled.clone())
                .with_object_store_registry(Arc::new(Stores::default()))
                .build_arc()
        })),
        ..ExecutorProcessConfig::default()
    };
    start_executor_process(Arc::new(config)).await
}
