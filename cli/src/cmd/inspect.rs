//! `ptc inspect`: what is in `.ptcp` files. Nothing of them is run.

mod pin;

use crate::args::InspectArgs;
use crate::preludes::{named, read_artifact};
use crate::problem::Problem;
use crate::report::{self, OK};
use crate::setup::plain_runtime;
use ptc_bytecode::{Code, Container, Diagnostic, Header, Limits, Manifest, abi, disassemble, hex, kind};
use ptc_runtime::{ExportRecord, LoadOptions, Prelude, Stale};
use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

/// The file is not sound.
pub const INVALID: u8 = 5;

pub fn run(args: &InspectArgs) -> ExitCode {
    if args.pin {
        return match pin::lines(&args.files) {
            Ok(lines) => report::out(&lines, OK),
            Err(problem) => {
                // Whatever cannot be read is a usage error, as elsewhere; other files are not sound.
                let code = report::problem(&problem, false);
                if problem.0.code == Code::InvalidConfig { code } else { ExitCode::from(INVALID) }
            }
        };
    }
    let codes = args.files.iter().enumerate().map(|(at, file)| {
        // Those of several are told apart by an empty line.
        let before = if at > 0 && !args.json { "\n" } else { "" };
        tell(args, file, before)
    });
    let codes: Vec<ExitCode> = codes.collect();
    codes.into_iter().find(|code| *code != ExitCode::from(OK)).unwrap_or(ExitCode::from(OK))
}

fn tell(args: &InspectArgs, file: &Path, before: &str) -> ExitCode {
    let bytes = match read_artifact(file) {
        Ok(bytes) => bytes,
        Err(problem) => return report::problem(&problem, args.json),
    };
    match show(args, file, &bytes) {
        Ok(text) => report::out(&format!("{before}{text}"), OK),
        Err(problem) => {
            report::problem(&problem, args.json);
            ExitCode::from(INVALID)
        }
    }
}

fn show(args: &InspectArgs, file: &Path, bytes: &[u8]) -> Result<String, Problem> {
    let wrong = |problem: Diagnostic| named(problem, file);
    let container = Container::read(bytes).map_err(wrong)?;
    let manifest = Prelude::claims(bytes).map_err(wrong)?;
    let runtime = plain_runtime(Limits::default())?;
    let options = LoadOptions { stale: Stale::Refuse, ..LoadOptions::default() };
    // A file for another instruction set can be told of, though not checked.
    let prelude = match Prelude::load(&runtime, bytes, &options) {
        Ok(prelude) => Some(prelude),
        Err(problem) if problem.code == Code::AbiMismatch && is_plain(args) => None,
        Err(problem) => return Err(wrong(problem)),
    };
    if let (Some(prelude), Some(name)) = (&prelude, &args.disasm) {
        return listing(prelude, name).ok_or_else(|| unknown(file, name));
    }
    if let (Some(prelude), Some(name)) = (&prelude, &args.source) {
        let parts = prelude.to_file();
        let found = parts.rendered.iter().find(|(known, _)| known == name);
        return found.map(|(_, text)| format!("{text}\n")).ok_or_else(|| unknown(file, name));
    }
    if let (Some(prelude), true) = (&prelude, args.inventory) {
        return Ok(prelude
            .inventory(Default::default())
            .unwrap_or_else(|| ";; this prelude adds nothing to prompts\n".into()));
    }
    Ok(match args.json {
        true => format!("{}\n", to_json(file, &container, &manifest, prelude.as_ref())),
        false => to_text(&container, &manifest, prelude.as_ref()),
    })
}

fn is_plain(args: &InspectArgs) -> bool {
    args.disasm.is_none() && args.source.is_none() && !args.inventory
}

#[cold]
fn unknown(file: &Path, name: &str) -> Problem {
    let file = file.display();
    Problem::new(Code::InvalidConfig, format!("{file} has no `{name}`"))
        .hint(format!("`ptc inspect {file}` lists its exports"))
}

/// The instructions of everything, or of one export.
pub fn listing(prelude: &Prelude, name: &str) -> Option<String> {
    let source = prelude.sources().and_then(|sources| match sources {
        [only] if prelude.has_positions() => Some(only.as_str()),
        _ => None,
    });
    let text = disassemble(prelude.artifact(), source);
    if name.is_empty() {
        return Some(text);
    }
    let export = prelude.artifact().exports.iter().find(|export| *export.name == *name)?;
    let head = format!("fn#{} ", export.function);
    let parts: Vec<&str> = text.split("\n\n").filter(|part| part.starts_with(&head)).collect();
    Some(format!("{}\n", parts.join("\n\n").trim_end()))
}

fn section_name(kind: u32) -> &'static str {
    match kind {
        kind::MANIFEST => "manifest",
        kind::CODE => "code",
        kind::SOURCE => "source",
        kind::RENDERED => "definitions",
        kind::DEBUG => "positions",
        kind::RETURNS => "results",
        kind::USES => "uses",
        _ => "unknown",
    }
}

fn to_text(container: &Container<'_>, manifest: &Manifest, prelude: Option<&Prelude>) -> String {
    let mut out = String::new();
    let Header { version, abi: made_for, file_bytes, .. } = container.header;
    let fits = if made_for == abi() { "runs here" } else { "needs another version of ptc" };
    let _ = writeln!(out, "container {version}, instruction set {made_for:08x} ({fits}), {file_bytes} bytes");
    let _ = writeln!(out, "compiler  {}", manifest.compiler);
    for (name, hash) in [
        ("source", manifest.source_hash),
        ("interface", manifest.interface_hash),
        ("code", manifest.code_hash),
        ("artifact", manifest.artifact_hash()),
        ("file", container.header.digest),
    ] {
        let _ = writeln!(out, "{name:<9} {}", hex(&hash));
    }
    let sections = container.sections.iter();
    let sections: Vec<String> =
        sections.map(|section| format!("{} {}", section_name(section.kind), section.body.len())).collect();
    let _ = writeln!(out, "sections  {} bytes", sections.join(", "));
    let totals = manifest.totals;
    let _ = writeln!(
        out,
        "code      {} functions, {} instructions, {} constants, {} builtins",
        totals.functions,
        totals.instructions,
        totals.constants,
        manifest.imports.len()
    );
    for component in &manifest.components {
        let version = component.version.map_or(String::new(), |version| format!("@{version}"));
        let origin = component.origin.as_deref().unwrap_or("unknown origin");
        let _ =
            writeln!(out, "component {}{version} {} ({origin})", component.id, hex(&component.source_hash));
    }
    for used in &manifest.uses {
        let (name, interface, artifact) =
            (&used.namespace, hex(&used.interface_hash), hex(&used.artifact_hash));
        let _ = writeln!(out, "uses      {name}, interface {interface}, built with artifact {artifact}");
    }
    for namespace in &manifest.namespaces {
        // On one line: the lines below are ours.
        let doc = namespace.doc.as_deref().unwrap_or_default().split_whitespace().collect::<Vec<_>>();
        let doc = if doc.is_empty() { String::new() } else { format!(" - {}", doc.join(" ")) };
        let _ = writeln!(out, "\n{}{doc}", namespace.name);
        for export in manifest.exports.iter().filter(|export| export.namespace == namespace.name) {
            let _ = writeln!(
                out,
                "  {} {}, effect {}{}",
                export.signatures().join(" "),
                export.visibility.name(),
                export.effect.name(),
                if export.dynamic { ", may call any upstream operation" } else { "" },
            );
            if export.dynamic {
                let _ = writeln!(out, "      {}", super::build::UNKNOWN);
            }
            for id in &export.requires {
                let _ = writeln!(out, "      requires {id}");
            }
            for used in uses_of(prelude, export) {
                let _ = writeln!(out, "      uses {used}, and all that it reaches");
            }
        }
    }
    out
}

/// Exports of other namespaces that an export calls, as its code tells; not known of a file that cannot run here.
fn uses_of<'p>(prelude: Option<&'p Prelude>, export: &ExportRecord) -> Vec<&'p str> {
    prelude.map_or(Vec::new(), |prelude| prelude.used_by(&export.reference()).collect())
}

fn to_json(
    file: &Path,
    container: &Container<'_>,
    manifest: &Manifest,
    prelude: Option<&Prelude>,
) -> serde_json::Value {
    let exports: Vec<serde_json::Value> = manifest
        .exports
        .iter()
        .map(|export| {
            json!({
                "ref": export.reference(), "kind": export.kind(), "params": export.params, "doc": export.doc,
                "visibility": export.visibility.name(), "effect": export.effect.name(),
                "provider_ref": export.provider_ref, "requires": export.requires,
                "tool_refs": export.tool_refs, "dynamic": export.dynamic, "data_keys": export.data_keys,
                "uses": uses_of(prelude, export),
            })
        })
        .collect();
    let components: Vec<serde_json::Value> = manifest
        .components
        .iter()
        .map(|component| {
            json!({
                "id": component.id, "version": component.version, "checksum": component.checksum,
                "source_hash": hex(&component.source_hash), "namespaces": component.namespaces,
                "origin": component.origin,
            })
        })
        .collect();
    let namespaces = manifest.namespaces.iter().map(|namespace| {
        json!({"name": namespace.name, "doc": namespace.doc, "visibility": namespace.visibility.name()})
    });
    let sections = container
        .sections
        .iter()
        .map(|section| json!({"name": section_name(section.kind), "bytes": section.body.len()}));
    json!({
        "ok": true,
        "container": container.header.version,
        "abi": format!("{:08x}", container.header.abi),
        "runs_here": container.header.abi == abi(),
        "file": file.display().to_string(), "bytes": container.header.file_bytes,
        "compiler": manifest.compiler,
        "source_hash": hex(&manifest.source_hash),
        "interface_hash": hex(&manifest.interface_hash),
        "code_hash": hex(&manifest.code_hash),
        "artifact_hash": hex(&manifest.artifact_hash()),
        "file_digest": hex(&container.header.digest),
        "sections": sections.collect::<Vec<_>>(),
        "namespaces": namespaces.collect::<Vec<_>>(),
        "exports": exports,
        "components": components,
        "uses": manifest.uses.iter().map(|used| json!({
            "namespace": used.namespace, "interface_hash": hex(&used.interface_hash),
            "artifact_hash": hex(&used.artifact_hash),
        })).collect::<Vec<_>>(),
        "imports": manifest.imports.iter().map(|import| &import.name).collect::<Vec<_>>(),
    })
}
