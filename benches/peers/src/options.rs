//! Command-line options.

use clap::Parser;
use std::path::PathBuf;

/// Measures PTC beside other embeddable languages on the same work.
///
/// Every arm runs in a process of its own. The answers are compared with the native arm's; the
/// report goes to standard output, and the rows after it.
#[derive(Parser)]
pub struct Options {
    /// Only these arms
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub arms: Option<Vec<String>>,
    /// Only these workloads: W6 also means W6.x2, W6.text, …; accumulators means sieve, collatz, …
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub only: Option<Vec<String>>,
    /// Few samples: to compare answers, not times
    #[arg(long)]
    pub quick: bool,
    /// Also write the rows to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also write the report to this file
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Another build of this program, for the arms this one lacks
    #[arg(long = "bin", value_name = "PATH")]
    pub bins: Vec<PathBuf>,
    /// Another program that prints rows: `COMMAND --data DIR [--quick] [--only NAMES]`
    #[arg(long = "cmd", value_name = "NAME=COMMAND")]
    pub commands: Vec<String>,
    /// Where the data for other programs is, or is to be written
    #[arg(long, value_name = "DIR", default_value = "out/data")]
    pub data: PathBuf,
    /// Also measure process start (W8), of this `ptc` and of what else is installed
    #[arg(long, value_name = "PATH")]
    pub start: Option<PathBuf>,
    /// Only report: the rows of these files, and of several runs the best of each row
    #[arg(long, value_name = "FILES", num_args = 1..)]
    pub report: Vec<PathBuf>,
    /// Print the arms of this build
    #[arg(long)]
    pub list: bool,
    /// Run one arm in this process and print its rows
    #[arg(long, hide = true)]
    pub child: Option<String>,
    /// Print 3: the native arm of W8
    #[arg(long, hide = true)]
    pub hello: bool,
}
