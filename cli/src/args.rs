//! What can be written after `ptc`.

use crate::input::Data;
use crate::limits::LimitArgs;
use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Runs PTC-Lisp programs in a sandbox.
#[derive(Parser, Debug)]
#[command(
    name = "ptc",
    version,
    after_help = "Exit codes: 0 a result, 1 a program fault, 2 a usage or file error."
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    Eval(EvalArgs),
    Run(RunArgs),
    Check(CheckArgs),
    Disasm(DisasmArgs),
    Doc(DocArgs),
    Apropos(AproposArgs),
}

/// Shows what a form or function does, or the members of a namespace.
#[derive(ClapArgs, Debug)]
pub struct DocArgs {
    /// A name such as `map`, `str/join`, `let`, or a namespace such as `str`.
    #[arg(value_name = "NAME", allow_hyphen_values = true)]
    pub name: String,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Searches forms and functions by words of their names and descriptions.
#[derive(ClapArgs, Debug)]
pub struct AproposArgs {
    /// What to look for.
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,

    /// How many to show at most.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs a program given as text: with -e, or on standard input.
#[derive(ClapArgs, Debug)]
pub struct EvalArgs {
    /// The program. Without it, standard input is the program.
    #[arg(short = 'e', long = "expr", value_name = "EXPR", allow_hyphen_values = true)]
    pub expr: Option<String>,

    /// Runs many programs: one {"id","program","context"} per line of standard input, one result
    /// per line of output. The members of "context" become data/<member>.
    #[arg(long, conflicts_with = "expr")]
    pub jsonl: bool,

    #[command(flatten)]
    pub settings: Settings,
}

/// Runs a program from a file.
#[derive(ClapArgs, Debug)]
pub struct RunArgs {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    #[command(flatten)]
    pub settings: Settings,
}

/// Compiles programs without running them. Tool names are not checked.
#[derive(ClapArgs, Debug)]
pub struct CheckArgs {
    /// The programs; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Lists the instructions of a program, or of a compiled artifact.
#[derive(ClapArgs, Debug)]
pub struct DisasmArgs {
    /// The program or artifact; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Turns every optimisation of the compiler off.
    #[arg(long)]
    pub no_optimize: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// What every run can be told.
#[derive(ClapArgs, Debug)]
pub struct Settings {
    /// Grants data as data/NAME, from a file or as JSON text. May be repeated.
    #[arg(long = "data", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub data: Vec<Data>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    /// A missing data/x is an error instead of nil.
    #[arg(long)]
    pub strict_data: bool,

    /// Turns every optimisation of the compiler off; results and fuel stay the same.
    #[arg(long, hide = true)]
    pub no_optimize: bool,

    /// Collects garbage at every safepoint; results and fuel stay the same.
    #[arg(long, hide = true)]
    pub stress_gc: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

#[cfg(test)]
mod tests {
    use super::Args;
    use clap::CommandFactory;

    #[test]
    fn the_flags_fit_together() {
        Args::command().debug_assert();
    }
}
