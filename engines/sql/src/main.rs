//! The command `ptc-sql`, which `ptc sql` starts: SQL over files, with PTC-Lisp functions.
#![forbid(unsafe_code)]

mod args;
mod output;
mod tables;

use args::Args;
use clap::Parser;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use ptc_datafusion::{Functions, OnError};
use std::io::Read;
use std::process::ExitCode;

/// Maximum length of a query.
const MAX_QUERY: u64 = 1 << 20;

/// What ends the command before its time.
pub(crate) enum Ended {
    /// An error of the query or of its files.
    Failed(String),
    /// Wrong usage.
    Usage(String),
    /// Nobody reads the output any more.
    Closed,
}

impl From<DataFusionError> for Ended {
    fn from(error: DataFusionError) -> Ended {
        Ended::Failed(error.strip_backtrace())
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    if let Some(threads) = args.threads {
        builder.worker_threads(threads.into());
    }
    // Plans are trees, which the planner walks by recursion.
    let runtime = builder.thread_stack_size(16 << 20).enable_all().build();
    let ended = match runtime {
        // On a thread of the runtime, for its stack.
        Ok(runtime) => runtime.block_on(async {
            let command = tokio::spawn(run(args));
            tokio::select! {
                done = command => done.unwrap_or_else(|error| Err(Ended::Failed(error.to_string()))),
                _ = tokio::signal::ctrl_c() => std::process::exit(130),
            }
        }),
        Err(error) => Err(Ended::Failed(error.to_string())),
    };
    match ended {
        Ok(()) | Err(Ended::Closed) => ExitCode::SUCCESS,
        Err(Ended::Failed(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(1)
        }
        Err(Ended::Usage(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

async fn run(args: Args) -> Result<(), Ended> {
    let functions = functions(&args)?;
    if args.functions {
        return output::functions(functions.as_ref());
    }
    let query = query(&args)?;
    let context = session(&args).await?;
    for (name, path) in &args.tables {
        let table = tables::open(&context.state(), path).await?;
        context.register_table(name.as_str(), table)?;
    }
    let frame = match &functions {
        Some(functions) => functions.sql(&context, &query).await?,
        None => context.sql(&query).await?,
    };
    output::write(frame, &args).await
}

/// Loads the files of functions; None if there are none.
fn functions(args: &Args) -> Result<Option<Functions>, Ended> {
    if args.udfs.is_empty() {
        return match args.returns.is_empty() {
            true => Ok(None),
            false => {
                Err(Ended::Usage("--returns declares types of functions, but there is no --udf".to_string()))
            }
        };
    }
    let refused = |refused: ptc_datafusion::Refused| Ended::Failed(refused.to_string());
    let runtime = args.runtime.runtime().map_err(Ended::Usage)?;
    let inputs = args.udfs.iter().map(|file| pinned(file)).collect::<Result<Vec<_>, _>>()?;
    let mut functions = Functions::load(&runtime, inputs).map_err(refused)?;
    for types in &args.returns {
        let schema =
            ptc_arrow::parse_schema(types).map_err(|error| Ended::Usage(format!("--returns: {error}")))?;
        for field in schema.fields() {
            functions = functions.returns(field.name(), field.data_type()).map_err(refused)?;
        }
    }
    Ok(Some(functions.on_error(match args.on_error {
        args::OnRowError::Fail => OnError::Fail,
        args::OnRowError::Null => OnError::Null,
    })))
}

/// Reads a file of functions, whose name may have the hash of the only build to accept.
fn pinned(file: &str) -> Result<ptc_runtime::PreludeInput, Ended> {
    let (path, pin) =
        ptc_runtime::ArtifactHash::split(file).map_err(|problem| Ended::Usage(problem.message))?;
    let input = Functions::read(path.as_ref()).map_err(|error| Ended::Failed(error.to_string()))?;
    Ok(input.pinned(pin))
}

fn query(args: &Args) -> Result<String, Ended> {
    let limited = |text: std::io::Result<String>, from: &str| {
        let text =
            text.map_err(|error| Ended::Usage(format!("cannot read the query from {from}: {error}")))?;
        match text.len() as u64 > MAX_QUERY {
            true => Err(Ended::Usage(format!("the query has more than {MAX_QUERY} bytes"))),
            false => Ok(text),
        }
    };
    match (&args.query, &args.file) {
        (Some(query), None) if query != "-" => Ok(query.clone()),
        (Some(_), None) => {
            let mut text = String::new();
            let read = std::io::stdin().take(MAX_QUERY + 1).read_to_string(&mut text);
            limited(read.map(|_| text), "standard input")
        }
        (None, Some(path)) => {
            let read = ptc_runtime::files::read_text_at_most(path, MAX_QUERY);
            limited(read, &format!("`{}`", path.display()))
        }
        _ => Err(Ended::Usage(
            "write a query, such as `ptc sql \"select 1\"`, or name a file of one with -f".to_string(),
        )),
    }
}

async fn session(args: &Args) -> Result<SessionContext, Ended> {
    let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get());
    let threads = args.threads.map_or_else(cores, usize::from);
    let context = match &args.cluster {
        Some(scheduler) => {
            ptc_ballista::connect(scheduler, args.partitions.map_or(threads.max(16), usize::from)).await?
        }
        None => {
            let partitions = args.partitions.map_or(threads, usize::from);
            let config =
                SessionConfig::new().with_target_partitions(partitions).with_information_schema(true);
            SessionContext::new_with_config_rt(config, ptc_ballista::runtime_env()?)
        }
    };
    Ok(tables::by_name(context, args.cluster.is_some()))
}
