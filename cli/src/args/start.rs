//! Commands that set things up: `ptc init`, `ptc lsp`, `ptc completions` and `ptc man`.

use crate::limits::LimitArgs;
use clap::Args as ClapArgs;
use clap_complete::Shell;
use std::path::PathBuf;

/// Writes a small working set-up to start from, and prints the command that runs it. Never changes
/// existing files.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 written, 2 a usage or file error, such as a file that exists already.")]
pub struct InitArgs {
    /// What to set up.
    #[arg(value_enum, value_name = "KIND")]
    pub kind: InitKind,

    /// The folder for the files; created if it does not exist.
    #[arg(value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
}

/// A set-up.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitKind {
    /// An agent with a tool, recorded replies and a test: runs without a key.
    Agent,
    /// A prelude (functions that programs may call) and its tests.
    Prelude,
    /// Upstream servers and settings for `ptc mcp`.
    Mcp,
}

/// Serves an editor over the Language Server Protocol: errors while you type, completion, documentation, renaming.
///
/// Editors start it themselves. Preludes may use those in the same folder and those that come with ptc; programs may use
/// the preludes named here. The editors' page of the guide has settings for VS Code, Neovim, Helix, Zed and Emacs.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 the editor ended the session, 1 the connection broke, 2 a usage or file error."
)]
pub struct LspArgs {
    /// Adds a prelude that programs use. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,

    /// Has no effect: standard input and output are always used. Some editors add it.
    #[arg(long, hide = true)]
    pub stdio: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Prints a script that completes commands and flags in a shell.
#[derive(ClapArgs, Debug)]
#[command(after_help = "For example: ptc completions bash > ~/.local/share/bash-completion/completions/ptc")]
pub struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints the manual pages, or writes one file per command to a folder.
#[derive(ClapArgs, Debug)]
#[command(after_help = "To read them: ptc man | man -l -")]
pub struct ManArgs {
    /// The folder, such as ~/.local/share/man/man1.
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
