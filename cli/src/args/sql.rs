//! Flags of `ptc sql`: those of another command.

use clap::Args as ClapArgs;
use std::ffi::OsString;

/// Runs SQL over files, with PTC-Lisp functions. This is the command `ptc-sql`, which is installed by itself.
#[derive(ClapArgs, Debug)]
pub struct SqlArgs {
    /// Query and flags of `ptc-sql`; `ptc-sql --help` lists them.
    #[arg(value_name = "ARGS", trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
