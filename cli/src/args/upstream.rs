//! Servers: what every run can be told of them, and what can be written after `ptc upstream`.

use crate::quantity;
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgMatches, Args as ClapArgs, Command, Error, FromArgMatches, Subcommand};
use ptc_bytecode::Unit;
use ptc_upstream::{OPTIONS, OptionKind, OptionRow, Options};
use std::path::PathBuf;

/// Heading of these flags in help.
const HEADING: &str = "Upstream servers";

/// Upstream servers a program may call.
#[derive(ClapArgs, Debug, Clone, Default)]
pub struct UpstreamArgs {
    /// MCP and OpenAPI servers that programs may call with (tool/call …); default: $PTC_UPSTREAMS.
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub upstreams_config: Option<PathBuf>,

    #[command(flatten)]
    pub options: OptionArgs,
}

/// The options of servers, as flags made from their table.
#[derive(Clone, Debug, Default)]
pub struct OptionArgs(pub Options);

impl ClapArgs for OptionArgs {
    fn augment_args(command: Command) -> Command {
        OPTIONS.iter().fold(command, |command, row| command.arg(arg(row)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        OptionArgs::augment_args(command)
    }
}

impl FromArgMatches for OptionArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<OptionArgs, Error> {
        let mut args = OptionArgs::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for row in OPTIONS {
            match row.kind {
                OptionKind::Words(..) => {
                    if let Some(word) = matches.get_one::<String>(row.flag) {
                        row.set_word(&mut self.0, word);
                    }
                }
                _ => {
                    if let Some(number) = matches.get_one::<u64>(row.flag) {
                        row.set_number(&mut self.0, *number);
                    }
                }
            }
        }
        Ok(())
    }
}

fn arg(row: &'static OptionRow) -> Arg {
    let arg = Arg::new(row.flag).long(row.flag).help_heading(HEADING).hide_short_help(true);
    let doc = row.doc.trim_end_matches('.');
    let number = |unit| {
        let default = row.default.parse().map_or(String::new(), |default| quantity::show(default, unit));
        format!("{doc} [default: {default}]")
    };
    match row.kind {
        OptionKind::Count => {
            arg.value_name("N").help(number(Unit::Count)).value_parser(clap::value_parser!(u64).range(1..))
        }
        OptionKind::Millis => {
            let help = format!("{doc} [default: {}]", row.default);
            arg.value_name("MS").help(help).value_parser(clap::value_parser!(u64).range(1..))
        }
        OptionKind::Bytes => arg
            .value_name("BYTES")
            .help(number(Unit::Bytes))
            .value_parser(|text: &str| quantity::parse_flag(text, Unit::Bytes)),
        OptionKind::Words(words, docs) => {
            let values = words.iter().zip(docs).map(|(word, doc)| PossibleValue::new(word).help(doc));
            let parser = PossibleValuesParser::new(values.collect::<Vec<_>>());
            arg.value_name("WORD").help(doc).value_parser(parser).default_value(row.default)
        }
    }
}

/// Lists upstream servers and calls their tools, without a program.
///
/// The configuration is the file named by --upstreams-config, else by $PTC_UPSTREAMS, else
/// ~/.config/ptc/upstreams.json.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 all went well, 1 a server or tool failed, 2 a usage or file error.")]
pub struct UpstreamCommandArgs {
    #[command(subcommand)]
    pub command: UpstreamCommand,
}

/// Command on servers.
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
    /// Shows the arguments and the result of a tool.
    Doc {
        /// The tool.
        #[arg(value_name = "SERVER/TOOL")]
        tool: String,

        #[command(flatten)]
        at: UpstreamAt,
    },
    /// Shows which tools have changed since a person approved them, and approves them.
    ///
    /// Compares the tools of the servers, or of one, with those in the file that `pins` names in the configuration. Tools
    /// that are new or have changed are not used until they are approved.
    Pin {
        /// The server; without it, all of them.
        #[arg(value_name = "SERVER")]
        server: Option<String>,

        /// Approves the tools as they are now, and writes the file.
        #[arg(long)]
        approve: bool,

        #[command(flatten)]
        at: UpstreamAt,
    },
    /// Converts an MCP client's configuration to ours, leaving secrets out.
    ///
    /// Reads the files of Claude, Cursor, Windsurf (`mcpServers`), VS Code (`servers`) and Codex
    /// (`[mcp_servers.NAME]`). Prints the configuration to standard output, and notes about
    /// what was left out or changed to standard error.
    Import {
        /// The client's configuration file; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: String,
    },
    /// Calls a tool and prints its result.
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
