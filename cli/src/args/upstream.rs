//! Servers: what every run can be told of them, and what can be written after `ptc upstream`.

use crate::quantity;
use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use ptc_bytecode::Unit;
use std::path::PathBuf;

/// Where help lists these flags.
const HEADING: &str = "Upstream servers";

/// Upstream servers a program may call.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct UpstreamArgs {
    /// MCP and OpenAPI servers that programs may call with (tool/call …). $PTC_RUNNER_UPSTREAMS says the same.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub upstreams_config: Option<PathBuf>,

    /// Whether servers are started and listed at once, or when they are needed.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_enum, value_name = "MODE", default_value_t)]
    pub catalog_snapshot_mode: SnapshotMode,

    /// What happens to the start if a server that has to be there is not.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_enum, value_name = "POLICY", default_value_t)]
    pub upstream_boot_policy: Boot,

    /// Whether models are told the tools of servers, or how to look them up.
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_enum, value_name = "MODE", default_value_t)]
    pub catalog_mode: CatalogMode,

    /// With more characters than this, auto tells no tools [default: 800]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub catalog_inline_max_chars: Option<u64>,

    /// With more tools than this, auto tells none [default: 8]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub catalog_inline_max_tools: Option<u64>,

    /// How many calls of servers one program may make [default: 50]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_tool_calls: Option<u64>,

    /// How often one program may look servers and tools up [default: 25]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_catalog_ops: Option<u64>,

    /// How long the answer of one lookup may be, as JSON [default: 256KiB]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "BYTES", value_parser = |text: &str| quantity::parse_flag(text, Unit::Bytes))]
    pub max_catalog_result_bytes: Option<u64>,

    /// How many milliseconds one call may take [default: 5000]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub upstream_call_timeout_ms: Option<u64>,

    /// How long one answer of a server may be [default: 2MiB]
    #[arg(long, help_heading = HEADING, hide_short_help = true, value_name = "BYTES", value_parser = |text: &str| quantity::parse_flag(text, Unit::Bytes))]
    pub max_upstream_response_bytes: Option<u64>,
}

/// When servers are started.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum SnapshotMode {
    /// When somebody needs them.
    #[default]
    Live,
    /// All of them at once; one that is not there stops the start.
    Frozen,
}

/// What a server that is not there does to the start.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Boot {
    /// It stops.
    #[default]
    Fail,
    /// It goes on, and the server is asked again when somebody needs it.
    Degrade,
}

/// What models are told of servers.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CatalogMode {
    /// The tools, if there are few and all are known.
    #[default]
    Auto,
    /// The tools.
    Inline,
    /// Only the servers.
    Lazy,
}

/// Looks into upstream servers and calls them, without a program.
///
/// The servers are those of --upstreams-config, of $PTC_RUNNER_UPSTREAMS, or of
/// ~/.config/ptc_runner_mcp/upstreams.json.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 all went well, 1 a server or tool failed, 2 a usage or file error.")]
pub struct UpstreamCommandArgs {
    #[command(subcommand)]
    pub command: UpstreamCommand,
}

/// What is done with servers.
#[derive(Subcommand, Debug)]
pub enum UpstreamCommand {
    /// Lists the servers, or the tools of one.
    List {
        /// The server; without it, all of them.
        #[arg(value_name = "SERVER")]
        server: Option<String>,

        #[command(flatten)]
        at: UpstreamAt,
    },
    /// Tells what a tool takes and gives.
    Doc {
        /// The tool.
        #[arg(value_name = "SERVER/TOOL")]
        tool: String,

        #[command(flatten)]
        at: UpstreamAt,
    },
    /// Makes our configuration of that of an MCP client, without its secrets.
    ///
    /// Reads the files of Claude, Cursor, Windsurf (`mcpServers`), VS Code (`servers`) and Codex
    /// (`[mcp_servers.NAME]`). The configuration goes to the output, what was left out or changed to the
    /// errors.
    Import {
        /// The file; - is the input.
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Calls a tool and prints its answer.
    Call {
        /// The tool.
        #[arg(value_name = "SERVER/TOOL")]
        tool: String,

        /// Its arguments, as a JSON object.
        #[arg(value_name = "JSON", default_value = "{}")]
        args: String,

        #[command(flatten)]
        at: UpstreamAt,
    },
}

/// Which servers, and how the answer is printed.
#[derive(ClapArgs, Debug)]
pub struct UpstreamAt {
    #[command(flatten)]
    pub upstream: UpstreamArgs,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}
