//! `ptc mcp`: the server.

mod install;

use crate::args::{McpArgs, McpCommand, ModelArgs};
use crate::idle;
use crate::input::END_KEYS;
use crate::own;
use crate::problem::Problem;
use crate::report::{self, OK, out};
use crate::setup::plain_runtime;
use crate::{models, preludes, recording, stored};
use ptc_agent::RunOptions;
use ptc_bytecode::{Code, Limits};
use ptc_mcp::log::LateRedactor;
use ptc_mcp::otlp::Exporter;
use ptc_mcp::protocol::Build;
use ptc_mcp::service::Service;
use ptc_mcp::settings::Resolved;
use ptc_mcp::task::Wanted;
use ptc_mcp::{Host, Planner, Server, Sessions, Settings, http, log, signal, stdio};
use ptc_runtime::{Policy, Runtime};
use ptc_upstream::config::{Config, find};
use ptc_upstream::{Options, Snapshot, Upstream};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use tokio::net::TcpListener;

pub fn run(args: &McpArgs) -> ExitCode {
    if let Some(McpCommand::Install(args)) = &args.command {
        return install::run(args).unwrap_or_else(|problem| report::problem(&problem, false));
    }
    let flags: Vec<&str> = args.flags.0.iter().map(String::as_str).collect();
    let resolved = match settings(&flags) {
        Ok(resolved) => resolved,
        Err(problem) => return report::problem(&problem, false),
    };
    if args.print_config {
        return out(&in_force(resolved).print(), OK);
    }
    serve(&resolved).unwrap_or_else(|problem| report::problem(&problem, false))
}

/// Returns the settings with the file of servers that is read if none is named.
fn in_force(mut resolved: Resolved) -> Resolved {
    let file = &mut resolved.settings.upstreams_config;
    if file.is_none() {
        *file = find(None, &[], &own::surroundings()).map(|path| path.display().to_string());
    }
    resolved
}

/// Settings from flags and the environment.
pub fn settings(flags: &[&str]) -> Result<Resolved, Problem> {
    Settings::resolve(flags.iter().copied(), |name| std::env::var(name).ok()).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        Problem::new(Code::InvalidConfig, lines.join("\n  "))
    })
}

/// A server that could listen now.
pub struct ReadyServer {
    /// The server.
    pub server: Server,
    /// Servers that its programs call.
    pub upstream: Option<Upstream>,
    /// Problems that do not prevent a start.
    pub warnings: Vec<String>,
}

/// Starts all that the server needs: upstream servers, preludes, kept sessions.
pub fn build(settings: &Settings) -> Result<ReadyServer, Problem> {
    let upstream = servers(settings)?;
    let policy = Policy {
        hide: settings.prelude_hide.clone(),
        discoverable: settings.prelude_discoverable.clone(),
        hide_writes: settings.prelude_hide_writes,
        deny_dynamic: settings.prelude_deny_dynamic,
    };
    let runtime = preludes::guarded(plain_runtime(Limits::default())?, &settings.trusted, &policy)?;
    let mut host = Host::new(&runtime, settings, upstream.clone());
    let files: Vec<PathBuf> = settings.prelude.iter().map(PathBuf::from).collect();
    for prelude in preludes::select(&runtime, &files)? {
        host = host.prelude(&prelude).map_err(|failure| Problem(Box::new(failure.diagnostic().clone())))?;
    }
    if let Some(effects) = &settings.effects {
        host = host.recorded(recording::ledger(Path::new(effects)).map_err(recording::told)?);
    }
    policy.check_used(host.runtime().preludes()).map_err(|problem| Problem(Box::new(problem)))?;
    let mut warnings: Vec<String> = upstream.iter().flat_map(Upstream::warnings).collect();
    match Wanted::by(settings, upstream.is_some()).map_err(wrong)? {
        Wanted::No => {}
        Wanted::WithoutServers => {
            warnings
                .push("--agentic: there are no upstream servers, so lisp_task is not offered".to_string());
        }
        Wanted::Yes => {
            let planner = Planner::new(&host, settings, planning(settings)?).map_err(wrong)?;
            warnings.extend(planner.doubt());
            host = host.planner(planner);
        }
    }
    let sessions = settings.sessions.then(|| sessions(&runtime, &host, settings)).transpose()?;
    warnings.extend(sessions.iter().flat_map(|sessions| sessions.warnings().iter().cloned()));
    let server = Server::new(host, settings, sessions, version()).map_err(wrong)?;
    Ok(ReadyServer { server, upstream, warnings })
}

fn wrong(message: String) -> Problem {
    Problem::new(Code::InvalidConfig, message)
}

/// The model that plans tasks, found as `ptc agent run` finds its own.
fn planning(settings: &Settings) -> Result<RunOptions, Problem> {
    let run = RunOptions::new();
    if let Some(cassette) = &settings.agentic_replay {
        return Ok(models::replaying(run, Path::new(cassette))?.0);
    }
    let asked = ModelArgs { llm: settings.agentic_model.clone(), models: None };
    let run = models::choose(run, &asked, None)?;
    match &settings.agentic_record {
        Some(cassette) => models::recording(run, Path::new(cassette), None),
        None => Ok(run),
    }
}

fn serve(resolved: &Resolved) -> Result<ExitCode, Problem> {
    let settings = &resolved.settings;
    let executor =
        tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("ptc-mcp").build().map_err(
            |error| Problem::new(Code::Internal, format!("cannot start threads for the server: {error}")),
        )?;
    let exporter = settings.otlp_endpoint.as_ref();
    let exporter = exporter.map(|endpoint| Exporter::start(endpoint, &version().version, executor.handle()));
    let exporter = exporter.transpose().map_err(wrong)?;
    // Before the upstream servers, so that the log tells how they start.
    let redactor = LateRedactor::default();
    log::install(log::subscriber(settings.log_level, redactor.clone(), log::to_stderr), exporter.as_ref());
    let began = Instant::now();
    let ReadyServer { server, upstream, warnings } = build(settings)?;
    if let Some(upstream) = &upstream {
        redactor.set(upstream.redactor().clone());
    }
    for warning in resolved.warnings.iter().chain(&warnings) {
        tracing::warn!(warning, "started with a warning");
    }
    log_start(settings, upstream.as_ref(), began);
    executor.spawn(idle::give_memory_back());
    if let (Some(ledger), Some(days)) = (server.host().effects(), settings.effects_keep_days) {
        executor.spawn(recording::forget_daily(ledger, days));
    }
    let served = executor.block_on(async {
        match settings.http {
            true => on_http(&server).await,
            false => {
                on_stdio(&server).await;
                Ok(())
            }
        }
    });
    if let Some(sessions) = server.sessions() {
        sessions.close_all();
    }
    if let Some(traces) = server.traces() {
        traces.flush();
    }
    if let Some(exporter) = exporter {
        exporter.stop();
    }
    // Standard input may be read forever by a thread that nothing can stop.
    executor.shutdown_background();
    if let Some(upstream) = upstream {
        upstream.stop();
    }
    served.map_err(wrong)?;
    Ok(ExitCode::from(OK))
}

/// Logs what the server has started with: one event for each upstream server, and one for the whole.
fn log_start(settings: &Settings, upstream: Option<&Upstream>, began: Instant) {
    if !settings.http && upstream.is_none() {
        // Started by its only client, with nothing that could have gone wrong: clients show stderr as if it were errors.
        return;
    }
    for server in upstream.iter().flat_map(|upstream| upstream.catalogue().servers()) {
        let tools = server.listing().map_or(0, |listing| listing.tools.len() as u64);
        tracing::info!(upstream = server.name, healthy = server.is_healthy(), tools, "upstream.started");
    }
    tracing::info!(
        version = version().version,
        transport = if settings.http { "http" } else { "stdio" },
        upstreams = upstream.map_or(0, |upstream| upstream.catalogue().names().len() as u64),
        preludes = settings.prelude.len() as u64,
        sessions = settings.sessions,
        duration_ms = began.elapsed().as_millis() as u64,
        "server.started"
    );
}

async fn on_http(server: &Server) -> Result<(), String> {
    let settings = server.settings();
    let port = u16::try_from(settings.http_port).unwrap_or_default();
    let address = (settings.http_host.as_str(), port);
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| format!("cannot listen on {}:{port}: {error}", settings.http_host))?;
    http::serve(server.clone(), listener, signal::asked_to_end()).await
}

async fn on_stdio(server: &Server) {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        let _ = writeln!(
            io::stderr(),
            "serving MCP on standard input and output; end with {END_KEYS}\n\
             clients usually start it themselves: see `ptc mcp install --help`\n\
             with --http, one server serves many clients"
        );
    }
    let owner =
        server.sessions().map_or_else(|| ptc_mcp::sessions::Owner::new("stdio"), Sessions::local_owner);
    // A client that closes its terminal closes the input, too, which ends the server in order.
    let _hang_ups = signal::HangUps::new();
    tokio::select! {
        () = stdio::serve(server, owner, tokio::io::stdin(), tokio::io::stdout()) => {}
        () = signal::asked_to_end() => {}
    }
}

/// The upstream servers, if a file names any; all of them are started and listed now.
fn servers(settings: &Settings) -> Result<Option<Upstream>, Problem> {
    let around = own::surroundings();
    // A variable has been read with the other settings.
    let named = settings.upstreams_config.as_deref().map(Path::new);
    let Some(path) = find(named, &[], &around) else { return Ok(None) };
    let config = Config::load(&path, &around).map_err(|error| wrong(error.to_string()))?;
    let options = Options { snapshot: Snapshot::Frozen, ..settings.upstream };
    let upstream = Upstream::start(&config, &around, options).map_err(|error| wrong(error.to_string()))?;
    // A file that names no server gives programs none.
    Ok(Some(upstream).filter(|upstream| !upstream.catalogue().names().is_empty()))
}

fn sessions(runtime: &Runtime, host: &Host, settings: &Settings) -> Result<Sessions, Problem> {
    let mut builder = Sessions::builder(host, settings);
    if let Some(path) = &settings.prelude_store_seed {
        builder = builder.store(&stored::seeded(runtime, Path::new(path))?);
    }
    builder = builder.authoring(&stored::shipped(runtime, "prelude")?);
    builder.open().map_err(wrong)
}

/// Version of the source that this binary was built from, if the build recorded it.
fn version() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_string(),
        git_commit: option_env!("PTC_GIT_COMMIT").map(str::to_string),
        git_dirty: option_env!("PTC_GIT_DIRTY").map(|dirty| dirty == "true"),
    }
}
