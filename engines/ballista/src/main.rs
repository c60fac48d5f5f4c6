//! The command `ptc-ballista`: a scheduler, executors, and publishing functions for them.
#![forbid(unsafe_code)]

mod log_lines;

use clap::{Args, Parser, Subcommand};
use ptc_ballista::flags::RuntimeArgs;
use ptc_ballista::{
    Artifacts, ExecutorOptions, SchedulerOptions, Signatures, publish, run_executor, run_scheduler,
};
use ptc_runtime::Signing;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Runs SQL with PTC-Lisp functions on many machines.
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plans queries and hands out tasks
    Scheduler(SchedulerArgs),
    /// Runs tasks, with functions whose artifacts it has verified
    Executor(ExecutorArgs),
    /// Puts the artifacts of functions where executors find them
    Publish(PublishArgs),
}

#[derive(Args)]
struct SchedulerArgs {
    /// Address to listen on. There is no authentication: keep it in a private network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50050")]
    listen: SocketAddr,

    /// Host name by which executors reach the scheduler
    #[arg(long, value_name = "HOST", default_value = "localhost")]
    host: String,

    /// Time without a heartbeat after which an executor counts as lost
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..=86400))]
    executor_timeout: u64,

    /// Passes results on to clients, which then need to reach only the scheduler, not the executors
    #[arg(long)]
    pass_results: bool,
}

#[derive(Args)]
struct ExecutorArgs {
    /// Scheduler to work for
    #[arg(long, value_name = "HOST:PORT", default_value = "localhost:50050", value_parser = host_port)]
    scheduler: (String, u16),

    /// Address to listen on; the port after it is used too. There is no authentication: keep it in a private network
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:50051")]
    listen: SocketAddr,

    /// Host name by which the scheduler, clients and other executors reach this one
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Folder or URL of the artifacts of functions, such as `s3://bucket/functions`
    #[arg(long, value_name = "PLACE")]
    artifacts: String,

    /// Runs artifacts without a signature, too: whoever can write to the store can run functions
    #[arg(long, conflicts_with = "trusted")]
    allow_unsigned: bool,

    #[command(flatten)]
    runtime: RuntimeArgs,

    /// Tasks at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    slots: Option<u16>,

    /// Folder for parts of results [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,

    /// Time between heartbeats
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = clap::value_parser!(u64).range(1..=86400))]
    heartbeat: u64,

    /// Time to wait for the scheduler at the start
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = clap::value_parser!(u64).range(1..=3600))]
    connect_timeout: u64,
}

#[derive(Args)]
struct PublishArgs {
    /// Files of functions: sources or `.ptcp` files, together with those they use
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Folder or URL of the artifacts
    #[arg(long, value_name = "PLACE")]
    artifacts: String,

    /// Signs sources with this private key, a file that `ptc key new` wrote
    #[arg(long, value_name = "FILE")]
    sign: Option<PathBuf>,
}

fn host_port(text: &str) -> Result<(String, u16), String> {
    let (host, port) = text.rsplit_once(':').ok_or("expected HOST:PORT, such as localhost:50050")?;
    let port = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
    Ok((host.to_string(), port))
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    log_lines::start();
    // Plans are trees, which the planner walks by recursion.
    let runtime =
        tokio::runtime::Builder::new_multi_thread().thread_stack_size(16 << 20).enable_all().build();
    let done =
        runtime.map_err(|error| error.to_string()).and_then(|runtime| runtime.block_on(run(cli.command)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}

async fn run(command: Command) -> Result<(), String> {
    match command {
        Command::Scheduler(SchedulerArgs { listen, host, executor_timeout, pass_results }) => {
            let executor_timeout = Duration::from_secs(executor_timeout);
            let options = SchedulerOptions { listen, host, executor_timeout, passes_results: pass_results };
            run_scheduler(options).await.map_err(|error| error.to_string())
        }
        Command::Executor(args) => {
            let signatures = match (args.allow_unsigned, args.runtime.trusted.is_empty()) {
                (true, _) => Signatures::NotNeeded,
                (false, false) => Signatures::Trusted,
                (false, true) => {
                    let message = "name the keys whose functions may run with --trusted KEY; `ptc key new key.hex` makes \
                                   a key, and --allow-unsigned runs all that is in the store";
                    return Err(message.to_string());
                }
            };
            let artifacts = Artifacts::open(&args.artifacts, &args.runtime.runtime()?, signatures)?;
            let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
            let options = ExecutorOptions {
                scheduler: args.scheduler,
                listen: args.listen,
                host: args.host,
                slots: args.slots.map_or_else(cores, usize::from),
                folder: args.folder,
                heartbeat: Duration::from_secs(args.heartbeat),
                connect_timeout: Duration::from_secs(args.connect_timeout),
                artifacts,
            };
            run_executor(options).await.map_err(|error| error.to_string())
        }
        Command::Publish(args) => {
            let key = args.sign.as_deref().map(signing_key).transpose()?;
            let runtime = RuntimeArgs::default().runtime()?;
            for (file, name) in publish(&args.files, &args.artifacts, &runtime, key.as_ref()).await? {
                println!("{file}: {name}");
            }
            Ok(())
        }
    }
}

fn signing_key(path: &std::path::Path) -> Result<Signing, String> {
    let text = ptc_runtime::files::read_text_at_most(path, 4096)
        .map_err(|error| format!("cannot read `{}`: {error}", path.display()))?;
    Signing::from_hex(&text).map_err(|problem| problem.message)
}
