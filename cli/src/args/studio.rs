//! `ptc studio`.

use crate::input::Data;
use crate::limits::LimitArgs;
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// Opens a local page to run programs, read docs and look through traces.
///
/// Prints the address of the page and serves it until Ctrl-C. The address has a token, and only this machine can reach it.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 ended by Ctrl-C, 2 a usage or file error.")]
pub struct StudioArgs {
    /// A program to begin with. The file is read, not written.
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,

    /// Attaches a prelude to the programs. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,

    /// Grants data as data/NAME to begin with. Repeatable.
    #[arg(long = "data", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub data: Vec<Data>,

    /// Gives a tool a fixed result to begin with. Repeatable.
    #[arg(long = "stub", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub stubs: Vec<Data>,

    /// Shows the traces in this folder, and follows those that grow.
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,

    /// Port on 127.0.0.1; default: a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,

    #[command(flatten)]
    pub limits: LimitArgs,
}
