//! `ptc mcp`: its flags are made from the table of the server's settings.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand, ValueEnum};
use ptc_mcp::settings::{FLAGS, Flag, Kind};

/// Runs programs for MCP clients, over stdin and stdout or with --http.
#[derive(Args, Debug)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Every flag has an environment variable, such as PTC_MCP_MAX_SESSIONS for --max-sessions; the flag wins.\n\
                  Exit codes: 0 the client disconnected or a signal arrived, 2 the server could not start."
)]
pub struct McpArgs {
    #[command(subcommand)]
    pub command: Option<McpCommand>,

    /// Prints all settings and where they come from, and exits.
    #[arg(long)]
    pub print_config: bool,

    #[command(flatten)]
    pub flags: FlagArgs,
}

#[derive(Subcommand, Debug)]
pub enum McpCommand {
    Install(InstallArgs),
}

/// Prints the entry that makes a client start this server, or writes it into the client's configuration.
#[derive(Args, Debug)]
pub struct InstallArgs {
    /// The client.
    #[arg(long, value_enum, value_name = "CLIENT")]
    pub client: McpClient,

    /// Writes the entry to the client's configuration, and changes nothing else in it.
    #[arg(long)]
    pub write: bool,

    /// Shows what --write would change, and changes nothing.
    #[arg(long)]
    pub dry_run: bool,

    /// Name of the server in the client.
    #[arg(long, value_name = "NAME", default_value = "ptc", value_parser = name)]
    pub name: String,

    /// Program that starts the server; default: this one.
    #[arg(long, value_name = "PATH")]
    pub command: Option<String>,

    /// Address of a server that is already running, instead of a program that starts one.
    #[arg(long, value_name = "URL", conflicts_with_all = ["command", "flags"])]
    pub url: Option<String>,

    /// Environment variable with the token for --url; the token itself is not written.
    #[arg(long, value_name = "NAME", requires = "url", value_parser = variable)]
    pub token_env: Option<String>,

    /// Flags for the server, after `--`: -- --sessions --upstreams-config servers.json
    #[arg(last = true, value_name = "FLAGS")]
    pub flags: Vec<String>,
}

/// A client of MCP.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum McpClient {
    /// Claude Desktop.
    #[value(alias = "claude")]
    ClaudeDesktop,
    /// Claude Code, for all projects.
    ClaudeCode,
    /// Cursor, for all projects.
    Cursor,
    /// Visual Studio Code, for this folder.
    Vscode,
    /// Codex.
    Codex,
    /// Windsurf.
    Windsurf,
    /// Gemini CLI, for all projects.
    Gemini,
    /// Zed, for all projects.
    Zed,
}

/// Names of environment variables.
fn variable(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match text.chars().all(is_plain) && text.starts_with(|c: char| !c.is_ascii_digit()) {
        true => Ok(text.to_string()),
        false => {
            Err("a variable's name has letters, digits and `_`, and does not begin with a digit".to_string())
        }
    }
}

/// Names that every client takes.
fn name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !text.is_empty() && text.len() <= 64 && text.chars().all(is_plain) {
        true => Ok(text.to_string()),
        false => Err("a name has at most 64 characters: letters, digits, `-` and `_`".to_string()),
    }
}

/// Checks whether `ptc mcp` could start with these flags, and reports what is wrong.
#[derive(Args, Debug)]
#[command(after_help = "Exit codes: 0 all is well, 1 something is wrong.")]
pub struct DoctorArgs {
    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

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
        Kind::Count | Kind::Number => arg.value_name("N"),
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
    } else if name.starts_with("agentic") {
        "Tasks"
    } else if is_about(&["session", "stateless"]) {
        "Sessions"
    } else if is_about(&["upstream", "catalog", "aggregator"]) {
        "Upstream servers"
    } else if is_about(&["trace", "log", "debug"]) {
        "Logs and debugging"
    } else {
        "Programs and replies"
    }
}
