//! Flags of the command.

use clap::{Parser, ValueEnum};
use ptc_ballista::flags::RuntimeArgs;
use std::path::PathBuf;

/// Runs SQL over files, with PTC-Lisp functions.
///
/// Files are tables by their names: Parquet, CSV, JSON lines and Arrow, also compressed (`.gz`, `.zst`), and globs.
///
///   ptc sql "select country, sum(price) from 'orders.parquet' group by country"
///   ptc sql "select fee(country, price) from 'orders/*.csv.gz'" --udf fee.clj
///
/// In a file of functions, each public function is one of SQL, and its name with `_` for `-`. In `from`, a function gives the
/// rows of a table. A namespace with `init`, `step`, `combine` and perhaps `finish` is an aggregate with the name of the
/// namespace, which is that of the file if it declares none.
#[derive(Parser, Debug)]
#[command(name = "ptc-sql", bin_name = "ptc sql", version, about, verbatim_doc_comment)]
pub struct Args {
    /// Query; `-` reads it from standard input
    pub query: Option<String>,

    /// Reads the query from a file
    #[arg(short = 'f', long, value_name = "FILE", conflicts_with = "query")]
    pub file: Option<PathBuf>,

    /// File of functions: a source or a `.ptcp` file; `fee.ptcp@artifact:HASH` pins one build. Repeatable
    #[arg(short = 'u', long = "udf", value_name = "FILE")]
    pub udfs: Vec<String>,

    /// Declares types of functions: `fee: decimal(9, 2), tags: list<text>`; others are inferred from values. Repeatable
    #[arg(long, value_name = "TYPES")]
    pub returns: Vec<String>,

    /// Lists the functions of the files, and runs nothing
    #[arg(long, conflicts_with = "query")]
    pub functions: bool,

    /// Names a table: `--table orders=data/orders.parquet`. Repeatable
    #[arg(short = 't', long = "table", value_name = "NAME=FILE", value_parser = table)]
    pub tables: Vec<(String, String)>,

    /// What a row is worth whose function fails
    #[arg(long, value_name = "HOW", default_value = "fail")]
    pub on_error: OnRowError,

    /// Format of the result [default: a table on a terminal, otherwise JSON lines, or that of the name of -o]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,

    /// Writes the result to a file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Maximum rows of a table on a terminal
    #[arg(long, value_name = "N", default_value = "1000")]
    pub rows: usize,

    /// Runs the query on a cluster: the scheduler of `ptc-ballista`
    #[arg(long, value_name = "HOST:PORT", value_parser = host_port)]
    pub cluster: Option<String>,

    /// Parts of tables that are worked on at the same time [default: the threads; on a cluster at least 16]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub partitions: Option<u16>,

    /// Threads [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    #[command(flatten)]
    pub runtime: RuntimeArgs,
}

/// What a row is worth whose function fails.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnRowError {
    /// Nothing: the query fails
    Fail,
    /// Null; aggregates leave the row out
    Null,
}

/// Formats of results.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A table for people
    Table,
    /// One JSON object per line
    Jsonl,
    /// CSV with a header
    Csv,
    /// An Arrow file
    Arrow,
    /// A Parquet file
    Parquet,
}

fn table(text: &str) -> Result<(String, String), String> {
    let (name, path) = text.split_once('=').ok_or("expected NAME=FILE, such as orders=orders.parquet")?;
    match name.is_empty() || path.is_empty() {
        true => Err("expected NAME=FILE, such as orders=orders.parquet".to_string()),
        false => Ok((name.to_string(), path.to_string())),
    }
}

fn host_port(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "50050"));
    let port: u16 = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
    match host.is_empty() {
        true => Err("expected HOST:PORT, such as localhost:50050".to_string()),
        false => Ok(format!("{host}:{port}")),
    }
}
