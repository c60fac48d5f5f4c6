//! `ptc verify`: whether `.ptcp` files are sound, came from their sources, fit a configuration, and were signed by someone
//! who is trusted.

use super::inspect::INVALID;
use crate::args::VerifyArgs;
use crate::input::{read, read_program};
use crate::preludes::{named, read_artifact, read_signature, trusted_keys, usable, used_by};
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{self, OK};
use crate::setup::plain_runtime;
use ptc_bytecode::{Code, Diagnostic, Limits};
use ptc_runtime::{
    Attach, CompileOptions, Known, LoadOptions, Prelude, PreludeError, Runtime, Stale, Tools, TrustedKeys,
    Upstream,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub fn run(args: &VerifyArgs) -> ExitCode {
    let ready =
        plain_runtime(Limits::default()).and_then(|runtime| Ok((Checks::read(args, &runtime)?, runtime)));
    let (checks, runtime) = match ready {
        Ok(ready) => ready,
        Err(problem) => return report::problem(&problem, args.json),
    };
    let codes = args.files.iter().map(|file| checks.tell(args, file, &runtime));
    // All are told, and the first that is wrong decides.
    let codes: Vec<ExitCode> = codes.collect();
    codes.into_iter().find(|code| *code != ExitCode::from(OK)).unwrap_or(ExitCode::from(OK))
}

/// Things to check a file against, read beforehand: a missing file is not a fault of the artifact.
struct Checks {
    trusted: Option<TrustedKeys>,
    servers: Option<Arc<Servers>>,
    source: Option<String>,
    /// Preludes that the files may use.
    usable: Vec<Prelude>,
}

impl Checks {
    fn read(args: &VerifyArgs, runtime: &Runtime) -> Result<Checks, Problem> {
        let trusted = trusted_keys(&args.trusted)?;
        let is_source = |file: &&Path| file.extension().is_some_and(|extension| extension == "clj");
        let against = args.against.as_deref();
        let servers = against.filter(|file| !is_source(file)).map(Servers::read).transpose()?.map(Arc::new);
        let rebuild = args.rebuild.as_deref().filter(|file| !file.is_empty()).map(Path::new);
        let source = rebuild.or(against.filter(is_source)).map(read_program).transpose()?;
        let usable = beside(runtime, &args.files, &args.preludes)?;
        Ok(Checks { trusted, servers, source, usable })
    }

    /// Checks a file, and tells what came of it.
    fn tell(&self, args: &VerifyArgs, file: &Path, runtime: &Runtime) -> ExitCode {
        let bytes = match read_artifact(file) {
            Ok(bytes) => bytes,
            Err(problem) => return report::problem(&problem, args.json),
        };
        match self.run(args, file, &bytes, runtime) {
            Err(problem) => {
                report::problem(&named(problem, file), args.json);
                ExitCode::from(INVALID)
            }
            Ok(done) if args.json => {
                let told = json!({"ok": true, "file": file.display().to_string(), "checks": done});
                report::out(&format!("{told}\n"), OK)
            }
            Ok(done) => report::out(&format!("{}: {}\n", file.display(), done.join(", ")), OK),
        }
    }

    fn run(
        &self,
        args: &VerifyArgs,
        file: &Path,
        bytes: &[u8],
        runtime: &Runtime,
    ) -> Result<Vec<String>, Diagnostic> {
        let signature = read_signature(file);
        // Without --require-signed a signature is looked at only if there is one.
        let trusted = self.trusted.as_ref().filter(|_| args.require_signed || signature.is_some());
        let options = LoadOptions {
            stale: Stale::Refuse,
            trusted,
            signature: signature.as_deref(),
            ..LoadOptions::default()
        };
        let prelude = Prelude::load(runtime, bytes, &options)?;
        let mut done = vec![format!("valid, {}", counted(prelude.exports().len() as u64, "export"))];
        match (&self.trusted, trusted) {
            (_, Some(_)) => done.push("signed by a trusted key".to_string()),
            // Nobody should take it for checked.
            (Some(_), None) => done.push("not signed".to_string()),
            (None, None) => {}
        }
        if args.rebuild.is_some() || self.source.is_some() {
            rebuild(runtime, &prelude, bytes, self.source.as_deref(), &self.usable)?;
            done.push("rebuilt byte for byte".to_string());
        }
        if let Some(servers) = &self.servers {
            let tools =
                args.tools.iter().fold(Tools::new(), |tools, name| tools.with(name.trim(), |_| Ok(())));
            let attach = Attach::new().upstream(servers.clone());
            let mut before = runtime.clone().with_tools(tools);
            for used in used_by(&prelude, &self.usable)? {
                before = before.attach(&used, &attach).map_err(|failure| failure.diagnostic().clone())?;
            }
            let attached = before.attach(&prelude, &attach);
            let attached = attached.map_err(|failure| failure.diagnostic().clone())?;
            let trace = attached.prelude_trace();
            let unverified = trace.map_or(0, |trace| trace.unverified.len());
            done.push("fits the configuration".to_string());
            if unverified > 0 {
                let operations = counted(unverified as u64, "operation");
                done.push(format!("{operations} can only be checked when servers answer"));
            }
        }
        Ok(done)
    }
}

/// Returns the preludes that these files may use: each other, these preludes, and those that come with ptc. Files that
/// are not sound are reported when it is their turn.
pub fn beside(runtime: &Runtime, files: &[PathBuf], preludes: &[PathBuf]) -> Result<Vec<Prelude>, Problem> {
    let load = |file: &PathBuf| {
        let options = LoadOptions { stale: Stale::Refuse, ..LoadOptions::default() };
        let prelude = Prelude::load(runtime, &read_artifact(file).ok()?, &options).ok()?;
        Some(prelude.with_origin(file.display().to_string()))
    };
    let mut all: Vec<Prelude> = files.iter().filter_map(load).collect();
    all.extend(usable(runtime, preludes)?);
    Ok(all)
}

/// Compiles again, from the source inside or the one given, and compares every byte.
pub fn rebuild(
    runtime: &Runtime,
    prelude: &Prelude,
    bytes: &[u8],
    source: Option<&str>,
    usable: &[Prelude],
) -> Result<(), Diagnostic> {
    let options = CompileOptions { positions: prelude.has_positions(), uses: usable };
    let rebuilt = match source {
        Some(source) => Prelude::compile_with(runtime, source, &options),
        None => prelude.rebuilt(runtime, usable).unwrap_or_else(|| {
            Err(PreludeError::new(
                Diagnostic::without_span(Code::SourceMismatch, "the file has no source inside")
                    .hint("name it: ptc verify FILE --rebuild source.clj"),
            ))
        }),
    };
    let rebuilt = rebuilt.map_err(|error| error.diagnostic().clone())?;
    let has_source = prelude.sources().is_some();
    let again = if has_source { rebuilt.to_bytes() } else { rebuilt.to_bytes_without_source() };
    if again == bytes {
        return Ok(());
    }
    let both = |name: &str, there: String, built: String| {
        format!(" ({name} {} in the file, {} compiled)", &there[..16], &built[..16])
    };
    let (source, interface, artifact) = (
        (prelude.source_hash(), rebuilt.source_hash()),
        (prelude.interface_hash(), rebuilt.interface_hash()),
        (prelude.artifact_hash(), rebuilt.artifact_hash()),
    );
    let part = match () {
        _ if source.0 != source.1 => {
            "its source is different".to_string() + &both("source", source.0, source.1)
        }
        _ if rebuilt.uses() != prelude.uses() => "it was built with other preludes".to_string(),
        _ if interface.0 != interface.1 => {
            "its interface differs".to_string() + &both("interface", interface.0, interface.1)
        }
        _ if artifact.0 != artifact.1 => {
            "its code differs".to_string() + &both("artifact", artifact.0, artifact.1)
        }
        _ => "parts other than code differ".to_string(),
    };
    Err(Diagnostic::without_span(
        Code::SourceMismatch,
        format!("compiling the source gives different bytes: {part}"),
    )
    .hint("build it again with ptc build"))
}

/// The servers of a configuration. Their tools are known only where it lists them.
struct Servers(BTreeMap<String, Option<Vec<String>>>);

impl Servers {
    fn read(file: &Path) -> Result<Servers, Problem> {
        let wrong = |what: &str| {
            Problem::new(Code::InvalidConfig, format!("{} is not a configuration: {what}", file.display()))
        };
        let config: serde_json::Value =
            serde_json::from_slice(&read(file)?).map_err(|error| wrong(&error.to_string()))?;
        let Some(upstreams) = config.get("upstreams").and_then(|upstreams| upstreams.as_object()) else {
            return Err(wrong("it has no object \"upstreams\""));
        };
        let tools = |entry: &serde_json::Value| -> Option<Vec<String>> {
            entry.get("tools")?.as_array()?.iter().map(|tool| tool.as_str().map(str::to_string)).collect()
        };
        Ok(Servers(upstreams.iter().map(|(name, entry)| (name.clone(), tools(entry))).collect()))
    }
}

impl Upstream for Servers {
    fn operation(&self, server: &str, tool: &str) -> Known {
        match self.0.get(server) {
            None => Known::NoServer,
            Some(None) => Known::NotLoaded,
            Some(Some(tools)) if tools.iter().any(|known| known == tool) => {
                Known::Present(ptc_runtime::Effects::Unknown)
            }
            Some(Some(_)) => Known::NoTool,
        }
    }
}
