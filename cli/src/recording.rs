//! The ledger of effects that flags ask for.

use crate::args::RecordArgs;
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::effects::{EffectId, FileLedger, Forget, Ledger, LedgerError, new_run_id};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Environment variable that names the ledger.
const VARIABLE: &str = "PTC_EFFECTS";

/// A ledger, and the name of this run there.
pub struct Recording {
    pub ledger: Arc<dyn Ledger>,
    pub run: String,
}

impl Recording {
    /// Opens the ledger that the flags or the environment name; None if there is none.
    pub fn open(args: &RecordArgs) -> Result<Option<Recording>, Problem> {
        let Some(path) = path(args.effects.as_deref()) else {
            return match &args.run_name {
                None => Ok(None),
                Some(_) => Err(Problem::new(
                    Code::InvalidConfig,
                    "--run-name names a run in a ledger, and there is none",
                )
                .hint("add --effects FILE")),
            };
        };
        let run = match &args.run_name {
            None => new_run_id(),
            Some(name) => sound(name)?,
        };
        Ok(Some(Recording { ledger: ledger(&path).map_err(told)?, run }))
    }
}

/// Checks that a name is the same in the ledger as in the flag: two names must not become one.
pub fn sound(name: &str) -> Result<String, Problem> {
    if format!("{name}/1").parse::<EffectId>().is_ok() {
        return Ok(name.to_string());
    }
    let message = "--run-name takes letters, digits and `-_.:@+`, at most 200 of them";
    Err(Problem::new(Code::InvalidConfig, message))
}

/// Opens the ledger in a file or a database, and makes it if there is none.
pub fn ledger(path: &Path) -> Result<Arc<dyn Ledger>, LedgerError> {
    match address(path) {
        Some(address) => database(address, true),
        None => Ok(Arc::new(FileLedger::open(path)?)),
    }
}

/// Opens a ledger to look at it. None if there is none.
pub fn existing(path: &Path) -> Result<Option<Arc<dyn Ledger>>, LedgerError> {
    match address(path) {
        Some(address) => database(address, false).map(Some),
        None if path.is_file() => Ok(Some(Arc::new(FileLedger::open(path)?))),
        None => Ok(None),
    }
}

/// Returns the address of a database; None for the path of a file.
fn address(path: &Path) -> Option<&str> {
    const SCHEMES: [&str; 3] = ["postgres://", "postgresql://", "sqlite:"];
    path.to_str().filter(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
}

#[cfg(feature = "effects-sql")]
fn database(address: &str, makes: bool) -> Result<Arc<dyn Ledger>, LedgerError> {
    match makes {
        true => ptc_effects_sql::connect(address),
        false => ptc_effects_sql::connect_existing(address),
    }
}

#[cfg(not(feature = "effects-sql"))]
fn database(_: &str, _: bool) -> Result<Arc<dyn Ledger>, LedgerError> {
    let why = "this build of ptc has no `effects-sql` feature, so a ledger is a file";
    Err(LedgerError::Storage(why.to_string()))
}

/// Forgets runs that are older than this many days, now and once a day.
pub async fn forget_daily(ledger: Arc<dyn Ledger>, days: u64) {
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);
    loop {
        let age = DAY.saturating_mul(u32::try_from(days).unwrap_or(u32::MAX));
        let before = SystemTime::now().checked_sub(age).unwrap_or(UNIX_EPOCH);
        match ledger.forget(Forget::OlderThan(before)).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "forgot old effects"),
            Err(error) => tracing::warn!(error = error.to_string(), "old effects could not be forgotten"),
        }
        tokio::time::sleep(DAY).await;
    }
}

/// Path of the ledger, from a flag or the environment.
pub fn path(flag: Option<&Path>) -> Option<PathBuf> {
    let named = || std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    flag.map(Path::to_path_buf).or_else(named)
}

/// The problem of a ledger that cannot be used.
pub fn told(error: LedgerError) -> Problem {
    Problem::new(Code::InvalidConfig, error.to_string())
}
