//! The ledger of effects that flags ask for.

use crate::args::RecordArgs;
use crate::problem::Problem;
use ptc_bytecode::Code;
use ptc_runtime::Grants;
use ptc_runtime::effects::{EffectId, FileLedger, Ledger, LedgerError, new_run_id};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

    /// Adds the ledger to the grants of a program.
    pub fn grant(&self, grants: Grants) -> Grants {
        grants.recorded(self.ledger.clone(), &self.run)
    }
}

/// Checks that a name is the same in the ledger as in the flag: two names must not become one.
fn sound(name: &str) -> Result<String, Problem> {
    if format!("{name}/1").parse::<EffectId>().is_ok() {
        return Ok(name.to_string());
    }
    let message = "--run-name takes letters, digits and `-_.:@+`, at most 200 of them";
    Err(Problem::new(Code::InvalidConfig, message))
}

/// Opens the ledger in a file or a database, and makes it if there is none.
pub fn ledger(path: &Path) -> Result<Arc<dyn Ledger>, LedgerError> {
    match address(path) {
        Some(address) => database(address),
        None => Ok(Arc::new(FileLedger::open(path)?)),
    }
}

/// Returns the address of a database; None for the path of a file.
pub fn address(path: &Path) -> Option<&str> {
    const SCHEMES: [&str; 3] = ["postgres://", "postgresql://", "sqlite:"];
    path.to_str().filter(|text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
}

#[cfg(feature = "effects-sql")]
fn database(address: &str) -> Result<Arc<dyn Ledger>, LedgerError> {
    ptc_effects_sql::connect(address)
}

#[cfg(not(feature = "effects-sql"))]
fn database(_: &str) -> Result<Arc<dyn Ledger>, LedgerError> {
    let why = "this build of ptc has no `effects-sql` feature, so a ledger is a file";
    Err(LedgerError::Storage(why.to_string()))
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
