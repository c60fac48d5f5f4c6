//! `ptc inspect --pin`: lines that name exactly these builds and their key, to paste where preludes are attached.

use crate::preludes::{named, read_artifact, read_signature};
use crate::problem::Problem;
use crate::setup::plain_runtime;
use ptc_bytecode::Limits;
use ptc_runtime::{LoadOptions, Prelude, Provenance, Stale};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The lines for an agent file, server settings and flags.
pub fn lines(files: &[PathBuf]) -> Result<String, Problem> {
    let runtime = plain_runtime(Limits::default())?;
    let (mut pinned, mut keys) = (Vec::new(), BTreeSet::new());
    let mut unsigned = Vec::new();
    for file in files {
        let (bytes, signature) = (read_artifact(file)?, read_signature(file));
        let options =
            LoadOptions { stale: Stale::Refuse, signature: signature.as_deref(), ..LoadOptions::default() };
        let prelude = Prelude::load(&runtime, &bytes, &options).map_err(|problem| named(problem, file))?;
        pinned.push(format!("{}@artifact:{}", file.display(), prelude.artifact_hash()));
        match prelude.provenance() {
            [Provenance::Signed(key)] => drop(keys.insert(format!("ptc-public:{key}"))),
            _ => unsigned.push(file),
        }
    }
    // With a key, every prelude must be signed.
    if !unsigned.is_empty() && !keys.is_empty() {
        keys.clear();
        unsigned.iter().for_each(|file| {
            eprintln!("warning: {} is not signed, so no key is named", file.display());
        });
    }
    let keys: Vec<String> = keys.into_iter().collect();
    let quoted =
        |texts: &[String]| texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ");
    let (mut agent, mut server, mut flags) = (
        format!("preludes = [{}]\n", quoted(&pinned)),
        format!("PTC_MCP_PRELUDE={}\n", pinned.join(",")),
        format!("-p {}", pinned.join(" -p ")),
    );
    if !keys.is_empty() {
        agent.push_str(&format!("trusted = [{}]\n", quoted(&keys)));
        server.push_str(&format!("PTC_MCP_TRUSTED={}\n", keys.join(",")));
        flags.push_str(&format!(" --trusted {}", keys.join(" --trusted ")));
    }
    Ok(format!("# agent file\n{agent}\n# server settings\n{server}\n# flags\n{flags}\n"))
}
