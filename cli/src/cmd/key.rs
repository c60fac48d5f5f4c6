//! `ptc key`: keys that sign preludes.

use crate::args::{KeyArgs, KeyCommand, KeyNewArgs, KeySignArgs};
use crate::input::read;
use crate::preludes::{named, read_artifact, signature_file};
use crate::problem::Problem;
use crate::report::{self, OK};
use crate::setup::plain_runtime;
use ptc_bytecode::{Code, Limits, hex};
use ptc_runtime::files::{self, Access};
use ptc_runtime::{LoadOptions, Prelude, Runtime, Signing, Stale};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;

pub fn run(args: &KeyArgs) -> ExitCode {
    let done = match &args.command {
        KeyCommand::New(args) => new(args),
        KeyCommand::Public(args) => read_key(&args.key).map(|key| key.public_text()),
        KeyCommand::Sign(args) => sign(args),
    };
    match done {
        Ok(text) => report::out(&text, OK),
        Err(problem) => report::problem(&problem, false),
    }
}

/// The key in a file.
pub fn read_key(file: &Path) -> Result<Signing, Problem> {
    let bytes = read(file).map_err(|problem| match file.exists() {
        true => problem,
        false => problem.hint(format!("make a key with: ptc key new {}", file.display())),
    })?;
    // A `.ptcp` file in the place of the key is no text.
    Signing::from_hex(&String::from_utf8_lossy(&bytes)).map_err(|problem| named(problem, file))
}

/// Writes a key that nobody has, for this user's eyes only, and shows its public half.
fn new(args: &KeyNewArgs) -> Result<String, Problem> {
    let cannot = |why: &str| {
        Problem::new(Code::InvalidConfig, format!("cannot write a key to {}: {why}", args.key.display()))
    };
    let mut secret = [0; 32];
    getrandom::fill(&mut secret)
        .map_err(|error| cannot(&format!("the system cannot provide random numbers: {error}")))?;
    let key = Signing::from_hex(&hex(&secret)).map_err(|problem| Problem(Box::new(problem)))?;
    // A key is never replaced: what it has signed would be trusted by nobody.
    let file = files::private().write(true).create_new(true).open(&args.key);
    let written = file.and_then(|mut file| {
        file.write_all(key.private_text().as_bytes())?;
        file.sync_all()
    });
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => cannot("it exists already, and a key is never replaced").hint(format!(
            "`ptc key public {}` shows its public key; for another key, name another file",
            args.key.display()
        )),
        _ => cannot(&error.to_string()),
    })?;
    Ok(key.public_text())
}

/// Signs files that their own sources give, byte for byte. All of them are looked at before the first is signed.
fn sign(args: &KeySignArgs) -> Result<String, Problem> {
    let key = read_key(&args.key)?;
    let runtime = plain_runtime(Limits::default())?;
    let usable = super::verify::beside(&runtime, &args.files, &args.preludes)?;
    let mut signed = Vec::with_capacity(args.files.len());
    for file in &args.files {
        let bytes = read_artifact(file)?;
        check_rebuilt(&runtime, file, &bytes, &usable)?;
        signed.push((file, key.sign(&bytes).map_err(|problem| named(problem, file))?));
    }
    let mut text = String::new();
    for (file, signature) in signed {
        let target = signature_file(file);
        files::replace(&target, &[signature.as_bytes()], Access::Usual).map_err(|error| {
            Problem::new(Code::InvalidConfig, format!("cannot write {}: {error}", target.display()))
        })?;
        // A wrong key file is noticed here, not where the signature is refused.
        let signer = &key.public_key()[..16];
        text.push_str(&format!("{}: rebuilt byte for byte, signed by {signer}…\n", file.display()));
    }
    Ok(text)
}

/// Refuses a file whose code is not that of the source inside: a signature says who answers for the code, and nobody can
/// answer for code without a source.
fn check_rebuilt(runtime: &Runtime, file: &Path, bytes: &[u8], usable: &[Prelude]) -> Result<(), Problem> {
    let options = LoadOptions { stale: Stale::Refuse, ..LoadOptions::default() };
    let prelude = Prelude::load(runtime, bytes, &options).map_err(|problem| named(problem, file))?;
    super::verify::rebuild(runtime, &prelude, bytes, None, usable).map_err(|problem| named(problem, file))
}
