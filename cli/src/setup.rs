//! The runtime, tools and data that flags ask for.

use crate::args::{Settings, WriteArgs};
use crate::input::Data;
use crate::oversight::Overseeing;
use crate::preludes::{self, guarded};
use crate::problem::Problem;
use crate::{stored, upstreams};
use ptc::Engine;
use ptc_bytecode::{Code, Limits, ToolName};
use ptc_runtime::{Frozen, Grants, Runtime, Tools};
use ptc_upstream::ProgramHost;
use std::path::PathBuf;

/// The engine that runs programs of `ptc eval` and `ptc run`: they may read `--data`, call servers, and write to a store
/// or read a log if the flags say so.
pub fn engine(
    settings: &Settings,
    write: &WriteArgs,
    host: &ProgramHost,
    overseeing: &Overseeing,
) -> Result<Engine, Problem> {
    let limits = settings.limits.0;
    let limits = if host.servers().is_some() { upstreams::widened(limits) } else { limits };
    let attach = &settings.attach;
    let runtime = guarded(plain_runtime(limits)?, &attach.trusted, &attach.policy())?;
    let (tools, more) = reach(&runtime, write)?;
    let stubs = stubs(&settings.stubs, &limits)?;
    check_sources(&tools, &stubs, host.servers().is_some())?;
    let tools = stubbed(&tools, &stubs);
    let runtime = host.runtime(runtime.with_tools(tools));
    let runtime = preludes::attach(runtime, &with_these(&attach.preludes, &more))?;
    let grants = grants(settings)?;
    let grants = overseeing.grant(grants);
    Ok(Engine::from(configured(runtime, settings)).grants(grants))
}

/// All `--data`, read once; a later one of the same name wins.
pub fn grants(settings: &Settings) -> Result<Grants, Problem> {
    let limits = &settings.limits.0;
    settings
        .data
        .iter()
        .try_fold(Grants::new(), |grants, data| Ok(grants.frozen(&data.name, data.load(limits, "data")?)))
}

/// The runtime the flags ask for.
pub fn runtime(settings: &Settings) -> Result<Runtime, Problem> {
    let attach = &settings.attach;
    let runtime = guarded(plain_runtime(settings.limits.0)?, &attach.trusted, &attach.policy())?;
    let tools = stubbed(&Tools::new(), &stubs(&settings.stubs, &settings.limits.0)?);
    let runtime = preludes::attach(runtime.with_tools(tools), &attach.preludes)?;
    Ok(configured(runtime, settings))
}

/// Refuses a stub for a tool that comes from elsewhere: one of the two would silently never be called.
fn check_sources(tools: &Tools, stubs: &[(String, Frozen)], has_servers: bool) -> Result<(), Problem> {
    for (name, _) in stubs {
        let other = match () {
            () if has_servers && name == ToolName::CALL => "the servers of --upstreams-config",
            () if tools.names().any(|known| known == name) => "--prelude-write or --log-prelude",
            () => continue,
        };
        let message = format!("tool/{name} comes from both --stub {name} and {other}");
        return Err(Problem::new(Code::InvalidConfig, message).hint("leave one of the flags out"));
    }
    Ok(())
}

/// The answers of all `--stub`, by name.
pub fn stubs(stubs: &[Data], limits: &Limits) -> Result<Vec<(String, Frozen)>, Problem> {
    Data::check_names(stubs, "--stub")?;
    stubs.iter().map(|stub| Ok((stub.name.clone(), stub.load(limits, "tool")?))).collect()
}

/// These tools, and tools that always give the same answer.
pub fn stubbed(base: &Tools, stubs: &[(String, Frozen)]) -> Tools {
    stubs.iter().fold(base.clone(), |tools, (name, answer)| {
        let answer = answer.clone();
        tools.with_answer(name, move |_| Ok(answer.clone().into()))
    })
}

/// The tools of a store and of a log, as far as they are asked for, and the preludes that call them.
pub fn reach(runtime: &Runtime, write: &WriteArgs) -> Result<(Tools, Vec<PathBuf>), Problem> {
    let (mut tools, mut preludes) = (Tools::new(), Vec::new());
    if let Some(folder) = &write.prelude_write {
        tools = stored::open(runtime, folder)?.grant(tools).map_err(stored::told)?;
        preludes.push("ptc:prelude".into());
    }
    if let Some(path) = &write.log_prelude {
        let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
        let trace = ptc_agent::trace::Analyzer::load(path).map_err(|error| wrong(error.to_string()))?;
        tools = ptc_agent::trace::TurnLog::new(&trace).grant(tools).map_err(wrong)?;
        preludes.push("ptc:log".into());
    }
    Ok((tools, preludes))
}

/// Preludes that were named, and these, which may be among them already.
pub fn with_these(named: &[PathBuf], these: &[PathBuf]) -> Vec<PathBuf> {
    let more = these.iter().filter(|prelude| !named.contains(prelude));
    named.iter().chain(more).cloned().collect()
}

fn configured(runtime: Runtime, settings: &Settings) -> Runtime {
    runtime.optimize(!settings.no_optimize).stress(settings.stress_gc).strict_data(!settings.lenient_data)
}

/// A runtime with these limits.
pub fn plain_runtime(limits: Limits) -> Result<Runtime, Problem> {
    let runtime = Runtime::with_core(ptc_preludes::core()).map_err(|error| Problem(Box::new(error)))?;
    Ok(runtime.limits(limits))
}
