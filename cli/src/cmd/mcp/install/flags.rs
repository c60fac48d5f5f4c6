//! Flags of the server in an entry: checked, and with full paths, because clients start servers in folders of their own.

use ptc_mcp::Settings;
use ptc_mcp::settings::{Flag, Kind, PathKind};
use std::path::{Component, Path, PathBuf};

/// Returns the flags as the client must write them; the error names everything that is wrong.
pub fn checked(flags: &[String], folder: &Path) -> Result<Vec<String>, String> {
    let named = |name: &str| flags.iter().any(|flag| flag.split('=').next() == Some(name));
    if named("--http") {
        return Err(
            "a client talks over pipes to a server that it starts: leave out --http; for a server that \
                    listens already, use --url http://127.0.0.1:7332/mcp"
                .to_string(),
        );
    }
    let env = |name: &str| std::env::var(name).ok();
    if let Err(problems) = Settings::resolve(flags.iter().map(String::as_str), env) {
        return Err(problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "));
    }
    let mut out = Vec::new();
    let mut flags = flags.iter().peekable();
    while let Some(word) = flags.next() {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.as_str(), None),
        };
        let flag = name.strip_prefix("--").and_then(Flag::named);
        match (flag, value) {
            (Some(flag), Some(value)) => out.push(format!("{name}={}", whole(flag, value, folder)?)),
            (Some(flag), None) if flag.kind != Kind::Switch => {
                out.push(word.clone());
                if let Some(value) = flags.next_if(|next| !next.starts_with("--")) {
                    out.push(whole(flag, value, folder)?);
                }
            }
            _ => out.push(word.clone()),
        }
    }
    Ok(out)
}

/// Returns a flag's value with full paths, all of which exist unless the server would create them.
fn whole(flag: &Flag, value: &str, folder: &Path) -> Result<String, String> {
    let one = |text: &str| one(flag, text, folder);
    match flag.kind {
        _ if flag.path == PathKind::None => Ok(value.to_string()),
        Kind::List => {
            Ok(value.split(',').map(|text| one(text.trim())).collect::<Result<Vec<_>, _>>()?.join(","))
        }
        _ => one(value),
    }
}

fn one(flag: &Flag, text: &str, folder: &Path) -> Result<String, String> {
    // `store:DIR#ID@N` is a folder, `ptc:paged` and keys are none, and `crm.ptcp@artifact:HASH` ends with a pin.
    let (before, rest) = match text.strip_prefix("store:") {
        Some(rest) => ("store:", rest),
        None if text.starts_with("ptc:") || text.starts_with("ptc-public:") => return Ok(text.to_string()),
        None => ("", text),
    };
    let end = match before {
        "" => rest.find("@artifact:"),
        _ => rest.find('#'),
    };
    let (path, after) = rest.split_at(end.unwrap_or(rest.len()));
    let full = plain(&folder.join(path));
    if flag.path == PathKind::Existing && !full.exists() {
        // Public keys may be written without a tag.
        if flag.name == "trusted" && !path.contains(['/', '.']) {
            return Ok(text.to_string());
        }
        return Err(format!("--{}: there is no {}", flag.name, full.display()));
    }
    Ok(format!("{before}{}{after}", full.display()))
}

/// Returns a path without `.` and `a/..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
