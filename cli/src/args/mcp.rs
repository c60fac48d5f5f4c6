//! `ptc mcp`: its flags are made from the table of the server's settings.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use ptc_mcp::settings::{FLAGS, Flag, Kind};

/// Serves programs to MCP clients, on stdin and stdout or with --http.
#[derive(Args, Debug)]
#[command(
    after_help = "Every flag can be set by an environment variable: --max-sessions by PTC_RUNNER_MCP_MAX_SESSIONS; a flag wins.\n\
                  Exit codes: 0 the client is gone or a signal came, 2 the server could not start."
)]
pub struct McpArgs {
    /// Prints all settings and where they come from, and ends.
    #[arg(long)]
    pub print_config: bool,

    #[command(flatten)]
    pub flags: FlagArgs,
}

/// The flags that were given, as the server reads them.
#[derive(Clone, Debug, Default)]
pub struct FlagArgs(pub Vec<String>);

impl Args for FlagArgs {
    fn augment_args(command: Command) -> Command {
        FLAGS.iter().fold(command, |command, flag| command.arg(arg(flag)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        FlagArgs::augment_args(command)
    }
}

impl FromArgMatches for FlagArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<FlagArgs, Error> {
        let of = |flag: &Flag| {
            let values = matches.get_many::<String>(flag.name).into_iter().flatten();
            values.map(|value| format!("--{}={value}", flag.name)).collect::<Vec<_>>()
        };
        Ok(FlagArgs(FLAGS.iter().flat_map(of).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = FlagArgs::from_arg_matches(matches)?;
        Ok(())
    }
}

fn arg(flag: &'static Flag) -> Arg {
    let help = match flag.default {
        "" => flag.doc.to_string(),
        default => format!("{} [default: {default}]", flag.doc),
    };
    let arg = Arg::new(flag.name).long(flag.name).help(help).help_heading(heading(flag.name));
    match flag.kind {
        Kind::Switch => {
            arg.num_args(0..=1).require_equals(true).default_missing_value("true").value_name("BOOL")
        }
        Kind::Count => arg.value_name("N"),
        Kind::Text => arg.value_name("TEXT"),
        Kind::List => arg.value_name("TEXT").action(ArgAction::Append),
        Kind::Word(_) => arg.value_name("WORD"),
    }
}

/// Under which heading of the help a flag stands.
fn heading(name: &str) -> &'static str {
    let is_about = |words: &[&str]| words.iter().any(|word| name.contains(word));
    if name.starts_with("http") {
        "HTTP"
    } else if is_about(&["session", "stateless"]) {
        "Sessions"
    } else if is_about(&["upstream", "catalog", "aggregator"]) {
        "Upstream servers"
    } else if is_about(&["trace", "log", "debug"]) {
        "Looking into it"
    } else {
        "Programs and replies"
    }
}
