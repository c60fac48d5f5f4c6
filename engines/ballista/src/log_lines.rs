//! The log of scheduler and executors on standard error. The crates of Ballista write it with `log`.

use log::{LevelFilter, Log, Metadata, Record};
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes a line for each message.
struct Lines;

impl Log for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // What libraries below say at their usual level is of no use to those who run a cluster.
        let is_ours = metadata.target().starts_with("ballista");
        metadata.level() <= if is_ours { log::max_level() } else { log::max_level().min(LevelFilter::Warn) }
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let (seconds, millis) = (time.as_secs(), time.subsec_millis());
            let level = record.level().as_str().to_lowercase();
            eprintln!("{seconds}.{millis:03} {level} {}: {}", record.target(), record.args());
        }
    }

    fn flush(&self) {}
}

/// Starts the log: `RUST_LOG` is `error`, `warn`, `info`, `debug`, `trace` or `off`, otherwise `info`.
pub fn start() {
    let named = std::env::var("RUST_LOG").ok().and_then(|level| level.parse().ok());
    // Fails if there is a log already, which is then used.
    if log::set_logger(&Lines).is_ok() {
        log::set_max_level(named.unwrap_or(LevelFilter::Info));
    }
}
