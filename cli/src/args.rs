//! What can be written after `ptc`.

mod agent;
mod attach;
mod effects;
mod help;
mod mcp;
mod sql;
mod start;
mod studio;
mod upstream;
mod words;

pub use agent::{
    AgentArgs, AgentCheckArgs, AgentCommand, AgentInput, AgentReplayArgs, AgentRunArgs, AgentTestArgs,
    ModelArgs,
};

pub use attach::AttachArgs;
pub use effects::{EffectsArgs, EffectsCommand, LedgerAt, RecordArgs, VerdictArg};
pub use help::command;
pub use mcp::{DoctorArgs, InstallArgs, McpArgs, McpClient, McpCommand};
pub use sql::SqlArgs;
pub use start::{CompletionsArgs, InitArgs, InitKind, LspArgs, ManArgs};
pub use studio::StudioArgs;
pub use upstream::{UpstreamArgs, UpstreamAt, UpstreamCommand, UpstreamCommandArgs};
pub use words::parse;

use crate::input::Data;
use crate::limits::LimitArgs;
use crate::quantity;
use clap::{Args as ClapArgs, ColorChoice, Parser, Subcommand};
use ptc_bytecode::Unit;
use std::path::PathBuf;

/// Runs PTC-Lisp programs in a sandbox.
#[derive(Parser, Debug)]
#[command(
    name = "ptc",
    version,
    after_help = "Exit codes: 0 a result, 1 a program fault, 2 a usage or file error."
)]
pub struct Args {
    /// When to use colours; `auto` means on a terminal, unless $NO_COLOR is set.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, global = true, help_heading = HELP)]
    pub color: ColorChoice,

    #[command(subcommand)]
    pub command: Command,
}

/// Heading in help of the flags that every command has.
const HELP: &str = "Help";

#[derive(Subcommand, Debug)]
pub enum Command {
    Eval(EvalArgs),
    Run(RunArgs),
    Repl(ReplArgs),
    Batch(BatchArgs),
    Sql(SqlArgs),
    Agent(AgentArgs),
    Check(CheckArgs),
    Fmt(FmtArgs),
    Disasm(DisasmArgs),
    Build(BuildArgs),
    Inspect(InspectArgs),
    Verify(VerifyArgs),
    Key(KeyArgs),
    Test(TestArgs),
    Store(StoreArgs),
    Trace(TraceArgs),
    Upstream(UpstreamCommandArgs),
    Effects(EffectsArgs),
    Mcp(McpArgs),
    Doctor(DoctorArgs),
    Explain(ExplainArgs),
    Doc(DocArgs),
    Apropos(AproposArgs),
    Init(InitArgs),
    Lsp(LspArgs),
    Studio(StudioArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Explains an error or a warning, with an example and a fix; without a code, lists them all.
#[derive(ClapArgs, Debug)]
pub struct ExplainArgs {
    /// A code such as `E0302`, or its reason, `type_error`. Repeatable.
    #[arg(value_name = "CODE")]
    pub codes: Vec<String>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
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

/// Searches the names and descriptions of forms and functions.
#[derive(ClapArgs, Debug)]
pub struct AproposArgs {
    /// Words to search for.
    #[arg(value_name = "WORD", required = true)]
    pub words: Vec<String>,

    /// Maximum number of results.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub limit: u16,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs a program given as text: as an argument, with -e, or on standard input.
#[derive(ClapArgs, Debug)]
pub struct EvalArgs {
    /// The program; default: standard input.
    #[arg(value_name = "EXPR", allow_negative_numbers = true, conflicts_with = "expr")]
    pub program: Option<String>,

    /// The program; may begin with a hyphen.
    #[arg(short = 'e', long = "expr", value_name = "EXPR", allow_hyphen_values = true)]
    pub expr: Option<String>,

    /// Runs many programs: one {"id","program","context"} per line of standard input, one result
    /// per line of output. The members of "context" become data/<member>.
    #[arg(long, conflicts_with_all = ["program", "expr", "upstreams_config", "effects", "run_name", "plan", "approve", "apply"])]
    pub jsonl: bool,

    /// Lists the calls that would change something instead of sending them, and writes the plan to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Effects")]
    pub plan: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub write: WriteArgs,

    #[command(flatten)]
    pub record: RecordArgs,

    #[command(flatten)]
    pub upstream: UpstreamArgs,

    #[command(flatten)]
    pub settings: Settings,
}

/// Runs a program from a file.
#[derive(ClapArgs, Debug)]
pub struct RunArgs {
    /// The program; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Lists the calls that would change something instead of sending them, and writes the plan to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Effects")]
    pub plan: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub write: WriteArgs,

    #[command(flatten)]
    pub record: RecordArgs,

    #[command(flatten)]
    pub upstream: UpstreamArgs,

    #[command(flatten)]
    pub settings: Settings,
}

/// Reads programs one after the other, runs them in one session and shows their values.
///
/// On a terminal there is a prompt with editing, completion and history. Input from a file or pipe is read
/// the same way, with plain output, and the exit code is 1 if any of it failed. Definitions carry over from
/// one input to the next, *1 *2 *3 are the last values, and :help lists the commands.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 all went well, 1 an input failed, 2 a usage or file error. An interactive session ends with 0."
)]
pub struct ReplArgs {
    /// Runs a program in the session and exits; `-` is standard input.
    #[arg(value_name = "SCRIPT", conflicts_with = "exprs")]
    pub script: Option<PathBuf>,

    /// Runs a program given as text and exits. Repeatable; stops at the first failure.
    #[arg(short = 'e', long = "expr", value_name = "EXPR", allow_hyphen_values = true)]
    pub exprs: Vec<String>,

    /// Runs a program first, for its definitions. Repeatable.
    #[arg(short = 'l', long = "load", value_name = "FILE")]
    pub loads: Vec<PathBuf>,

    /// First prints what an agent's prompt says about the preludes.
    #[arg(long)]
    pub show_prompt_inventory: bool,

    /// Continues with a prompt after -e or SCRIPT.
    #[arg(short = 'i', long)]
    pub interactive: bool,

    /// History file; default: $PTC_HISTORY, or a file in the system's folder for such data.
    /// PTC_HISTORY=off keeps no history.
    #[arg(long, value_name = "FILE", conflicts_with = "no_history")]
    pub history: Option<PathBuf>,

    /// Keeps no history.
    #[arg(long)]
    pub no_history: bool,

    /// Key bindings of the editor.
    #[arg(long, value_enum, value_name = "KEYS", default_value_t)]
    pub keys: Keys,

    /// Echoes input from a file or pipe after a prompt, as a terminal would.
    #[arg(long, conflicts_with = "json")]
    pub echo: bool,

    /// Runs programs through the tools of the MCP server, in this process, and shows the replies a
    /// client would see. Flags for the server go after `--`.
    #[arg(long, conflicts_with = "json")]
    pub mcp: bool,

    /// With --mcp: runs programs in one session; the default.
    #[arg(long, requires = "mcp", conflicts_with = "stateless")]
    pub session: bool,

    /// With --mcp: runs each program on its own, without a session.
    #[arg(long, requires = "mcp")]
    pub stateless: bool,

    /// With --mcp: how much of a reply to show.
    #[arg(long, value_enum, value_name = "DISPLAY", requires = "mcp", default_value = "text")]
    pub display: Display,

    /// Flags for the server, after `--`: -- --response-profile debug --upstreams-config servers.json
    #[arg(last = true, value_name = "FLAGS", requires = "mcp")]
    pub server: Vec<String>,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Uses recorded replies from this cassette for `/subagent` instead of a model.
    #[arg(long, value_name = "CASSETTE", conflicts_with = "llm")]
    pub replay: Option<PathBuf>,

    #[command(flatten)]
    pub write: WriteArgs,

    #[command(flatten)]
    pub upstream: UpstreamArgs,

    #[command(flatten)]
    pub settings: Settings,
}

/// How much of a result of the server is shown.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Display {
    /// The text for the model.
    Text,
    /// The result of the call.
    Envelope,
    /// The whole message.
    Json,
}

/// A format of records.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordFormat {
    /// One JSON text per line.
    Jsonl,
    /// Comma-separated values with a header.
    Csv,
    /// Files of Arrow IPC.
    Arrow,
    /// Parquet files.
    Parquet,
}

/// The row of a record that fails.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnError {
    /// There is none.
    LeaveOut,
    /// All its columns are null.
    Null,
    /// Its error is in the column `error`.
    Column,
}

/// The keys of the editor.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Keys {
    /// Ctrl-A, Alt-F and so on.
    #[default]
    Emacs,
    /// Insert mode and normal mode.
    Vi,
}

/// Runs a program over many records: one JSON text per line in, one result per line out.
///
/// Each record is data/row in a separate run with its own limits. Results keep the order of the
/// records. A record that fails is reported as {"line","error"} on standard error, and the others still run.
/// --rules runs many programs over each record, --reduce folds all records into one value.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 every record gave a result, 1 some failed, 2 a usage or file error, 130 Ctrl-C."
)]
pub struct BatchArgs {
    /// The program; with -e or --rules, the input instead.
    #[arg(value_name = "PROGRAM")]
    pub program: Option<PathBuf>,

    /// Files of records, as JSONL (or Parquet, Arrow or CSV, in a build that has them), which may be compressed with gzip
    /// or Zstandard; or patterns such as 'logs/*.jsonl.gz'. Default, and `-`: standard input.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,

    /// The program as text.
    #[arg(short = 'e', long = "expr", value_name = "EXPR", allow_hyphen_values = true)]
    pub expr: Option<String>,

    /// Programs to run over each record: files, and folders of .clj files. Each result is one object with the
    /// value of each program under the name of its file.
    #[arg(long, value_name = "PATH", num_args = 1, conflicts_with_all = ["expr", "reduce"])]
    pub rules: Vec<PathBuf>,

    /// Folds all records into one value: the program defines init, (step value record),
    /// (combine value value) and optionally (finish value).
    #[arg(long, conflicts_with_all = ["fields", "unordered"])]
    pub reduce: bool,

    /// Also gives the members of each record as data/<member>.
    #[arg(long)]
    pub fields: bool,

    /// Writes no line for a record whose result is nil: `(when (:open data/row) data/row)` then keeps open records.
    #[arg(long, conflicts_with_all = ["reduce", "rules"])]
    pub skip_nil: bool,

    /// Writes results to this file instead of standard output.
    #[arg(short = 'o', long = "output-file", value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// Writes failures to this file instead of standard error.
    #[arg(long, value_name = "FILE")]
    pub errors: Option<PathBuf>,

    /// Format of the records; default: as the content or the extension of the file says.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<RecordFormat>,

    /// Format of the results. All but jsonl write the members of results as typed columns.
    #[arg(long, value_name = "FORMAT", default_value = "jsonl")]
    pub output_format: RecordFormat,

    /// Types of the columns, such as "id: int, price: float, tags: list<text>"; default: those of the first results.
    #[arg(long, value_name = "COLUMNS")]
    pub schema: Option<String>,

    /// The row of a record that fails, in columns: none, nulls, or nulls and its error in the column `error`.
    #[arg(long, value_name = "ROW", default_value = "leave-out")]
    pub on_error: OnError,

    /// Prints what is read of the records and how they are run, and runs nothing.
    #[arg(long)]
    pub explain: bool,

    /// Also prints bytes, percentiles of fuel and the slowest records.
    #[arg(long, conflicts_with_all = ["quiet", "explain"])]
    pub stats: bool,

    /// Number of records to run in parallel; default: the number of cores.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,

    /// Writes results as they finish, not in the order of the records.
    #[arg(long)]
    pub unordered: bool,

    /// Stops at the first record that fails.
    #[arg(long)]
    pub fail_fast: bool,

    /// Runs only the first N records.
    #[arg(long, value_name = "N")]
    pub take: Option<u64>,

    /// Maximum length of a line; a longer one counts as a record that fails.
    #[arg(long, value_name = "BYTES", default_value = "64MiB", value_parser = bytes)]
    pub max_line: u64,

    /// Shows progress even if results go to the same terminal.
    #[arg(long)]
    pub progress: bool,

    /// Hides progress and the summary.
    #[arg(long)]
    pub quiet: bool,

    #[command(flatten)]
    pub settings: Settings,
}

fn bytes(text: &str) -> Result<u64, String> {
    quantity::parse_flag(text, Unit::Bytes)
}

/// Compiles programs and preludes without running them. Tool names are not checked.
///
/// A file of `(ns …)` and definitions is a prelude, which may use the others.
#[derive(ClapArgs, Debug)]
pub struct CheckArgs {
    /// Programs and preludes, or folders of .clj files; `-` is standard input.
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,

    /// Adds a prelude that the files use. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Formats programs and preludes: one canonical layout, comments kept. Files are rewritten in place.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 formatted, 1 --check found differences or a text cannot be read, 2 a usage or file error."
)]
pub struct FmtArgs {
    /// Files, and folders of .clj files; `-` formats standard input to standard output.
    #[arg(value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,

    /// Lists the files that are not formatted, without changing them.
    #[arg(long)]
    pub check: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Lists the instructions of a program, or of a compiled artifact.
#[derive(ClapArgs, Debug)]
pub struct DisasmArgs {
    /// The program or artifact; `-` is standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Turns off all optimisations of the compiler.
    #[arg(long)]
    pub no_optimize: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Compiles preludes to `.ptcp` files, one for each source.
///
/// Files that are up to date are left alone.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 built, 1 a source does not compile, 2 a usage error, 3 a file cannot be read or written, 4 --check found differences."
)]
pub struct BuildArgs {
    /// Source files, or folders: all `.clj` files in them except tests (`_test.clj`).
    #[arg(value_name = "SOURCE|DIR", required = true)]
    pub sources: Vec<PathBuf>,

    /// The output folder.
    #[arg(short = 'o', long = "output", value_name = "DIR")]
    pub output: PathBuf,

    /// Lets the sources require the namespaces of another prelude, which is not built here. Those that
    /// come with ptc are always available. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,

    /// Combines all sources, in this order, into one file, NAME.ptcp.
    #[arg(long, value_name = "NAME")]
    pub bundle: Option<String>,

    /// Builds in memory and compares with the existing files; writes nothing. When a folder is built, a
    /// file without a source in that folder is a difference, too.
    #[arg(long, conflicts_with = "sign")]
    pub check: bool,

    /// Signs each file with the key in this file, into FILE.ptcp.sig.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<PathBuf>,

    /// Leaves the sources out of the files.
    #[arg(long)]
    pub no_source: bool,

    /// Adds the source positions of instructions to the files.
    #[arg(long)]
    pub debug_info: bool,

    /// Refuses exports that choose upstream operations at run time, whatever they declare.
    #[arg(long)]
    pub deny_dynamic: bool,

    /// Warns of exports that choose upstream operations at run time, whatever they declare.
    #[arg(long)]
    pub warn_dynamic: bool,

    /// Writes all files, even those that are up to date.
    #[arg(long)]
    pub force: bool,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Runs the tests of preludes: `(deftest …)` in `crm_test.clj` next to `crm.clj`.
///
/// Each test runs by itself, in the sandbox. A tool returns a result only if a test stubs it.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 all passed, 1 a failed test or too little coverage, 2 a usage or file error."
)]
pub struct TestArgs {
    /// Preludes, test files, or folders of test files.
    #[arg(value_name = "PRELUDE|TEST|DIR", required = true)]
    pub paths: Vec<PathBuf>,

    /// Attaches another prelude, as for `ptc run`. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,

    /// Runs only tests with this text in FILE/NAME. Repeatable.
    #[arg(long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// Gives a tool a fixed result, unless a test stubs it. Repeatable.
    #[arg(long = "stub", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub stubs: Vec<Data>,

    /// Fails if the tests name less than this share of the exports.
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub min_coverage: Option<u8>,

    /// Writes a JUnit report to this file.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// Shows what is in `.ptcp` files, without running them.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 a valid file, 2 a usage or file error, 5 an invalid file.")]
pub struct InspectArgs {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Prints one JSON object for each file, on a line of its own.
    #[arg(long)]
    pub json: bool,

    /// Lists the instructions of all functions, or of one export.
    #[arg(long, value_name = "NS/NAME", num_args = 0..=1, default_missing_value = "")]
    pub disasm: Option<String>,

    /// Shows the definition of an export or helper, as stored in the file.
    #[arg(long, value_name = "NS/NAME")]
    pub source: Option<String>,

    /// Shows what the prelude adds to a prompt.
    #[arg(long)]
    pub inventory: bool,

    /// Prints the lines that pin these builds and their key, for an agent file, server settings and flags.
    #[arg(long, conflicts_with_all = ["json", "disasm", "source", "inventory"])]
    pub pin: bool,
}

/// Checks `.ptcp` files from end to end.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 a valid file, 2 a usage or file error, 5 an invalid file.")]
pub struct VerifyArgs {
    /// The files.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Compiles the source in the file, or this one, and compares every byte.
    #[arg(long, value_name = "SOURCE", num_args = 0..=1, default_missing_value = "")]
    pub rebuild: Option<String>,

    /// Checks the file's requirements against a configuration of upstream servers; with a `.clj` source, the
    /// same as --rebuild SOURCE.
    #[arg(long, value_name = "UPSTREAMS.JSON|SOURCE")]
    pub against: Option<PathBuf>,

    /// Adds a prelude that the files use. They can always use each other. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,

    /// Tools that a run would be granted.
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "against")]
    pub tools: Vec<String>,

    /// Refuses files without a signature (FILE.sig) by a trusted key.
    #[arg(long, requires = "trusted")]
    pub require_signed: bool,

    /// Checks the signature against this public key, or the keys in this file. Repeatable.
    #[arg(long, value_name = "KEY|FILE")]
    pub trusted: Vec<String>,

    /// Prints one JSON object for each file, on a line of its own.
    #[arg(long)]
    pub json: bool,
}

/// Creates keys for signing preludes, and signs with them.
#[derive(ClapArgs, Debug)]
pub struct KeyArgs {
    #[command(subcommand)]
    pub command: KeyCommand,
}

#[derive(Subcommand, Debug)]
pub enum KeyCommand {
    New(KeyNewArgs),
    Public(KeyPublicArgs),
    Sign(KeySignArgs),
}

/// Writes a new key to a file that only you can read, and shows its public key.
///
/// Pass the public key to `--trusted` where preludes run. Keep the file in a secret store.
#[derive(ClapArgs, Debug)]
pub struct KeyNewArgs {
    /// The file to create; it must not exist yet.
    #[arg(value_name = "KEY")]
    pub key: PathBuf,
}

/// Shows the public half of a signing key.
#[derive(ClapArgs, Debug)]
pub struct KeyPublicArgs {
    /// The key file.
    #[arg(value_name = "KEY")]
    pub key: PathBuf,
}

/// Signs `.ptcp` files, if the source in each compiles to exactly that file.
///
/// `ptc build --sign` signs while it builds, even files without their sources.
#[derive(ClapArgs, Debug)]
pub struct KeySignArgs {
    /// The key file.
    #[arg(value_name = "KEY")]
    pub key: PathBuf,

    /// The files.
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,

    /// Adds a prelude that the files use. They can always use each other. Repeatable.
    #[arg(short = 'p', long = "prelude", value_name = "FILE")]
    pub preludes: Vec<PathBuf>,
}

/// Manages versions of preludes, in a folder that many processes can share.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 done, 1 refused (a source that does not compile, a stale base, no such version), 2 a usage or file error, 5 a damaged store."
)]
pub struct StoreArgs {
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// Command on a store.
#[derive(Subcommand, Debug)]
pub enum StoreCommand {
    /// Lists the preludes and their current versions.
    List {
        #[command(flatten)]
        at: StoreAt,
    },
    /// Lists the stored versions of a prelude.
    History {
        #[command(flatten)]
        at: StoreAt,
        /// Name of the prelude.
        id: String,
    },
    /// Shows the source of a version; with --json, everything known about it.
    Read {
        #[command(flatten)]
        at: StoreAt,
        /// `shop` for the current version, `shop@2` for version 2.
        #[arg(value_name = "REF")]
        reference: String,
        /// Fails unless the version has this checksum.
        #[arg(long)]
        checksum: Option<String>,
    },
    /// Stores new versions, under the names of their namespaces, and makes them current.
    Write {
        #[command(flatten)]
        at: StoreAt,
        /// The sources: files, and folders of .clj files. Each declares one namespace. If one is invalid,
        /// none is stored.
        #[arg(value_name = "SOURCE", required = true)]
        sources: Vec<PathBuf>,
        /// Reason for the change, stored with the version.
        #[arg(long)]
        reason: Option<String>,
        /// Fails unless the current version still has this checksum.
        #[arg(long, value_name = "CHECKSUM")]
        parent: Option<String>,
    },
    /// Makes a version the current one, and protects it from being removed.
    SetDefault {
        #[command(flatten)]
        at: StoreAt,
        /// The version, such as `shop@2`.
        #[arg(value_name = "REF")]
        reference: String,
        /// Fails unless the version has this checksum.
        #[arg(long)]
        checksum: Option<String>,
        /// Reason for the change, stored with the version.
        #[arg(long)]
        reason: Option<String>,
    },
    /// Reads and compiles every version, to check that the store is intact.
    Check {
        #[command(flatten)]
        at: StoreAt,
    },
}

/// Which store.
#[derive(ClapArgs, Debug)]
pub struct StoreAt {
    /// The folder of the store.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Shows what agents did, from their traces.
///
/// A trace is a file of JSON lines. Files of child agents are next to it and are read with it; a
/// folder stands for all traces in it. Broken lines are skipped and reported on standard error.
#[derive(ClapArgs, Debug)]
#[command(after_help = "Exit codes: 0 shown, 2 a usage or file error.")]
pub struct TraceArgs {
    #[command(subcommand)]
    pub command: TraceCommand,
}

/// Command that shows a trace.
#[derive(Subcommand, Debug)]
pub enum TraceCommand {
    /// Prints the call tree with times and token counts.
    Show {
        #[command(flatten)]
        at: TraceAt,
        /// Prints the programs too.
        #[arg(long)]
        programs: bool,
        /// Lists the N steps that took longest instead.
        #[arg(long, value_name = "N", conflicts_with = "programs", value_parser = clap::value_parser!(u16).range(1..=1000))]
        slowest: Option<u16>,
        /// Prints one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Writes one self-contained HTML page with a timeline, programs, tool calls and messages.
    View {
        #[command(flatten)]
        at: TraceAt,
        /// Output file; `-` is standard output. Default: FILE.html next to the trace.
        #[arg(short = 'o', long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Prints the trace for chrome://tracing, Perfetto and Speedscope.
    Chrome {
        #[command(flatten)]
        at: TraceAt,
    },
}

/// Which trace.
#[derive(ClapArgs, Debug)]
pub struct TraceAt {
    /// The trace: a file, a folder of them, or `-` for standard input.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// What programs may reach besides their data.
#[derive(ClapArgs, Debug)]
pub struct WriteArgs {
    /// Lets the program read and write the store in this folder, with (prelude/write …) and similar functions.
    #[arg(long, value_name = "DIR")]
    pub prelude_write: Option<PathBuf>,

    /// Lets the program read the turns recorded in this trace, or in all traces of a folder, with
    /// (log/turns) and similar functions.
    #[arg(long, value_name = "TRACE")]
    pub log_prelude: Option<PathBuf>,
}

/// What every run can be told.
#[derive(ClapArgs, Debug)]
pub struct Settings {
    #[command(flatten)]
    pub attach: AttachArgs,

    /// Grants data as data/NAME, from a file or as JSON text. Repeatable.
    #[arg(long = "data", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub data: Vec<Data>,

    /// Grants tool/NAME with a fixed result, as JSON text or from a file. Repeatable.
    #[arg(long = "stub", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub stubs: Vec<Data>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    /// Reads missing data/x as nil instead of refusing the program.
    #[arg(long)]
    pub lenient_data: bool,

    /// Has no effect: missing data is an error by default. Kept for old scripts.
    #[arg(long, hide_short_help = true, conflicts_with = "lenient_data")]
    pub strict_data: bool,

    /// Turns off all optimisations of the compiler; results and fuel stay the same.
    #[arg(long, hide_short_help = true)]
    pub no_optimize: bool,

    /// Collects garbage at every safepoint; results and fuel stay the same.
    #[arg(long, hide_short_help = true)]
    pub stress_gc: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}
