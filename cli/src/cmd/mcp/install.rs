//! `ptc mcp install`: the entry that connects a client with this server.

mod clients;
mod entry;
mod flags;
mod json;
mod toml;

use crate::args::InstallArgs;
use crate::own;
use crate::problem::Problem;
use crate::report::{OK, out};
use clients::{Client, Format};
use entry::{Entry, Launch, Members};
use ptc_bytecode::Code;
use ptc_runtime::files::{self, Access};
use similar::TextDiff;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Maximum size of a client's configuration, in bytes.
const MAX_CONFIG: u64 = 64 << 20;

pub fn run(args: &InstallArgs) -> Result<ExitCode, Problem> {
    let client = clients::of(args.client);
    let entry = Entry { name: &args.name, launch: launch(args)? };
    let members = entry.members(client).map_err(refused)?;
    if !args.write && !args.dry_run {
        let snippet = merged(client, &members, "").map_err(refused)?;
        let place = clients::file(client).map_or_else(|_| String::new(), |file| file.display().to_string());
        let code = out(&snippet, OK);
        note(&format!("add this to {place}, or run the same with --write{}", entry.advice(client)));
        return Ok(code);
    }
    let file = clients::file(client).map_err(refused)?;
    let old = match files::read_text_at_most(&file, MAX_CONFIG) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(wrong(&file, &error.to_string())),
    };
    let new = merged(client, &members, &old).map_err(|message| wrong(&file, &message))?;
    let shown = file.display();
    if new == old {
        return Ok(out(&format!("{shown} already has this entry\n"), OK));
    }
    if args.dry_run {
        let diff = TextDiff::from_lines(&old, &new);
        let (before, after) = (shown.to_string(), format!("{shown} (new)"));
        return Ok(out(&diff.unified_diff().header(&before, &after).to_string(), OK));
    }
    replace(&file, &new).map_err(|error| wrong(&file, &error.to_string()))?;
    Ok(out(&format!("wrote `{}` to {shown}; restart the client\n", args.name), OK))
}

/// Returns a client's file with the entry in it; everything else stays as it is, comments and order included.
fn merged(client: &Client, members: &Members<'_>, old: &str) -> Result<String, String> {
    match client.format {
        Format::Json => json::merged(old, client.servers, members),
        Format::Toml => toml::merged(old, client.servers, members),
    }
}

/// Writes a note beside the output.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn refused(message: String) -> Problem {
    Problem::new(Code::InvalidConfig, message)
}

fn wrong(file: &Path, message: &str) -> Problem {
    let mut problem = refused(format!("{}: {message}", file.display()));
    problem.0.hint =
        Some("nothing was changed; without --write the entry is printed, to be added by hand".to_string());
    problem
}

/// Returns how the client reaches the server: by a command that it starts, or at an address.
fn launch(args: &InstallArgs) -> Result<Launch, Problem> {
    if let Some(url) = &args.url {
        let url = entry::checked_url(url).map_err(refused)?;
        return Ok(Launch::Http { url, token_env: args.token_env.clone() });
    }
    let folder = std::env::current_dir()
        .map_err(|error| refused(format!("the current folder cannot be read: {error}")))?;
    let flags = flags::checked(&args.flags, &folder).map_err(refused)?;
    let command = command(args.command.as_deref(), &folder)?;
    Ok(Launch::Command { command, args: std::iter::once("mcp".to_string()).chain(flags).collect() })
}

/// Returns the program that starts the server: by default this one with its full path, since clients that are started
/// from a desktop rarely have the PATH of a shell.
fn command(named: Option<&str>, folder: &Path) -> Result<String, Problem> {
    let Some(named) = named else { return Ok(own::path().display().to_string()) };
    let path = Path::new(named);
    if path.components().count() < 2 {
        if which(named).is_none() {
            note(&format!(
                "note: `{named}` is not on your PATH; without --command the entry has the full path of ptc"
            ));
        }
        return Ok(named.to_string());
    }
    let whole = folder.join(path);
    match whole.is_file() {
        true => Ok(whole.components().collect::<PathBuf>().display().to_string()),
        false => Err(refused(format!("--command: there is no file {}", whole.display()))),
    }
}

/// Returns the file that a bare name starts.
fn which(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let extension = std::env::consts::EXE_SUFFIX;
    std::env::split_paths(&folders)
        .flat_map(|folder| [folder.join(name), folder.join(format!("{name}{extension}"))])
        .find(|file| file.is_file())
}

/// Puts a text in the place of a file, whole or not at all.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    files::replace(file, &[text.as_bytes()], Access::Usual)
}
