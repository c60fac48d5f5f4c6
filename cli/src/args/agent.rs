//! Arguments of `ptc agent`.

use super::upstream::UpstreamArgs;
use super::{AttachArgs, RecordArgs, quantity};
use crate::input::Data;
use clap::{Args as ClapArgs, Subcommand};
use ptc_bytecode::Unit;
use std::path::PathBuf;

/// Runs agents: tasks on which a model works turn by turn, with programs.
///
/// An agent is a TOML or JSON file: a prompt, a signature, tools, limits. Paths in
/// it are relative to its folder.
#[derive(ClapArgs, Debug)]
#[command(
    after_help = "Exit codes: 0 a result, 1 the mission failed (check: the agent is wrong; replay: something differs; test: a case failed), 2 a usage or file error, 130 Ctrl-C."
)]
pub struct AgentArgs {
    #[command(subcommand)]
    pub command: AgentCommand,
}

/// Command on an agent.
#[derive(Subcommand, Debug)]
pub enum AgentCommand {
    Run(Box<AgentRunArgs>),
    Check(Box<AgentCheckArgs>),
    Replay(Box<AgentReplayArgs>),
    Test(Box<AgentTestArgs>),
}

/// Runs a mission to its end and prints the result.
#[derive(ClapArgs, Debug)]
pub struct AgentRunArgs {
    #[command(flatten)]
    pub agent: AgentInput,

    #[command(flatten)]
    pub upstream: UpstreamArgs,

    #[command(flatten)]
    pub effects: RecordArgs,

    /// Lists the calls that would change something instead of sending them, and writes the plan to FILE.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, help_heading = "Effects")]
    pub plan_writes: Option<Option<PathBuf>>,

    #[command(flatten)]
    pub model: ModelArgs,

    /// Uses recorded replies from this cassette instead of a model; tools run as usual.
    #[arg(long, value_name = "CASSETTE", conflicts_with_all = ["record", "llm"])]
    pub replay: Option<PathBuf>,

    /// Records the requests and replies of models to this cassette.
    #[arg(long, value_name = "CASSETTE")]
    pub record: Option<PathBuf>,

    /// Writes a trace to this file, and traces of child agents to files next to it.
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// Saves a checkpoint of the mission to this folder after every turn.
    #[arg(long, value_name = "DIR")]
    pub checkpoint: Option<PathBuf>,

    /// Resumes from a checkpoint: a file, or the newest in a folder.
    #[arg(long, value_name = "PATH")]
    pub resume: Option<PathBuf>,

    /// Maximum turns of the mission; overrides the agent's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_turns: Option<u32>,

    /// Timeout of the whole mission; overrides the agent's.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub mission_timeout: Option<u64>,

    /// Asks the provider to cache the system message and tools, like `prompt_cache` of the agent.
    #[arg(long)]
    pub prompt_cache: bool,

    /// The steps of the mission: a saved plan, which is kept up to date, or a list of texts, as JSON.
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,

    /// Shows turns, programs and tool calls as they happen, on standard error; the default on a terminal.
    #[arg(short = 'v', long)]
    pub verbose: bool,

    /// Shows turns and tool calls, and replies while the model writes them, on standard error.
    #[arg(long)]
    pub stream: bool,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Reports all errors in an agent, without asking a model.
#[derive(ClapArgs, Debug)]
pub struct AgentCheckArgs {
    #[command(flatten)]
    pub agent: AgentInput,

    /// The table of models, as for `ptc agent run`.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,

    /// Prints what would be sent to the model on the first turn.
    #[arg(long)]
    pub prompt: bool,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Replays a mission from its trace, with the recorded replies and tool results. Calls no model and no tool.
///
/// Requests, programs, tool calls and the result are compared; the first difference is shown. A mission with
/// upstream servers needs --upstreams-config again: servers list their tools, and the trace answers the calls.
#[derive(ClapArgs, Debug)]
pub struct AgentReplayArgs {
    /// The trace, as `ptc agent run --trace` wrote it.
    #[arg(value_name = "TRACE")]
    pub trace: PathBuf,

    /// Another version of the agent, to use instead of the one in the trace.
    #[arg(long, value_name = "FILE")]
    pub agent: Option<PathBuf>,

    /// Declares a tool that the run got from --stub; the trace answers its calls. Repeatable.
    #[arg(long = "stub", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub stubs: Vec<Data>,

    #[command(flatten)]
    pub attach: AttachArgs,

    /// Shows turns, programs and tool calls as they happen, on standard error.
    #[arg(short = 'v', long)]
    pub verbose: bool,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub upstream: UpstreamArgs,
}

/// Runs test cases of an agent: inputs with an expected value, or a program that checks the result.
///
/// The file names the agent. Cases with a cassette need no model; the others use the model of the run.
#[derive(ClapArgs, Debug)]
pub struct AgentTestArgs {
    /// The cases, as TOML or JSON.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Runs only cases with this text in their names. Repeatable.
    #[arg(long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// Asks models, and records each case to the cassette it names.
    #[arg(long, conflicts_with = "live")]
    pub record: bool,

    /// Asks models, and ignores cassettes.
    #[arg(long)]
    pub live: bool,

    /// Gives a tool a fixed result in every case. Repeatable.
    #[arg(long = "stub", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub stubs: Vec<Data>,

    #[command(flatten)]
    pub attach: AttachArgs,

    /// Writes a JUnit report to this file.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,

    /// Prints one JSON object.
    #[arg(long)]
    pub json: bool,

    #[command(flatten)]
    pub upstream: UpstreamArgs,

    #[command(flatten)]
    pub model: ModelArgs,
}

/// An agent and its data.
#[derive(ClapArgs, Debug)]
pub struct AgentInput {
    /// The agent, as TOML or JSON.
    #[arg(value_name = "AGENT")]
    pub file: PathBuf,

    /// Sets an input: text if the signature says so, else JSON. Repeatable.
    #[arg(long = "input", value_name = "NAME=VALUE|NAME=@FILE", value_parser = Data::parse)]
    pub inputs: Vec<Data>,

    /// Sets inputs from the members of a JSON object; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub context: Option<PathBuf>,

    /// Gives a tool a fixed result, whatever the agent's file says. Repeatable.
    #[arg(long = "stub", value_name = "NAME=@FILE|NAME=JSON", value_parser = Data::parse)]
    pub stubs: Vec<Data>,

    #[command(flatten)]
    pub attach: AttachArgs,
}

/// Which model.
#[derive(ClapArgs, Debug, Default)]
pub struct ModelArgs {
    /// The model: a name from the table, an alias such as `haiku`, or `provider:model`.
    #[arg(long, value_name = "NAME")]
    pub llm: Option<String>,

    /// The table of models; default: $PTC_MODELS, or `ptc.toml` if it exists.
    #[arg(long, value_name = "FILE")]
    pub models: Option<PathBuf>,
}

fn time(text: &str) -> Result<u64, String> {
    quantity::parse_flag(text, Unit::Millis)
}
