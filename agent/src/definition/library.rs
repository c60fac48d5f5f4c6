//! Libraries named by an agent's file: their content replaces their names, so that a recorded agent is complete.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use ptc_runtime::{ArtifactHash, LoadOptions, MAX_FILE_BYTES, Prelude, PreludeInput, Runtime};
use serde_json::{Value, json};
use std::path::Path;

/// Maximum size of a signature file in bytes; a signature has 204.
const MAX_SIGNATURE: u64 = 4096;

/// A library, as a file or the builder names it.
pub(super) enum Named {
    /// Name in the prelude store.
    Stored(String),
    /// A source, a file, or a library that comes with ptc.
    Input(PreludeInput),
}

/// Returns the content of a library that an agent's file names, relative to its folder; None if it names no file.
pub(super) fn content(name: &str, folder: &Path) -> Option<Result<Value, String>> {
    let (name, pin) = match split(name) {
        Ok(split) => split,
        Err(why) => return Some(Err(why)),
    };
    let content = unpinned(name, folder)?;
    Some(content.map(|mut content| {
        if let Some(pin) = pin {
            content["artifact"] = pin.to_string().into();
        }
        content
    }))
}

/// Splits a name from the artifact hash after it; the error is the rest of a sentence.
fn split(name: &str) -> Result<(&str, Option<ArtifactHash>), String> {
    ArtifactHash::split(name).map_err(|problem| {
        let hint = problem.hint.map_or(String::new(), |hint| format!("; {hint}"));
        format!("names `{}`: {}{hint}", name.chars().take(200).collect::<String>(), problem.message)
    })
}

fn unpinned(name: &str, folder: &Path) -> Option<Result<Value, String>> {
    let path = folder.join(name);
    let read = |path: &Path, most: u64| -> Result<Vec<u8>, String> {
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
        let about = std::fs::metadata(path).map_err(failed)?;
        match about.is_file() && about.len() <= most {
            true => std::fs::read(path).map_err(failed),
            false => Err(format!("{} is not a file of at most {most} bytes", path.display())),
        }
    };
    if name.ends_with(".clj") {
        let text = read(&path, MAX_FILE_BYTES as u64).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", path.display()))
        });
        return Some(text.map(|text| json!({"name": name, "source": text})));
    }
    if !name.ends_with(".ptcp") {
        return None;
    }
    let file = read(&path, MAX_FILE_BYTES as u64).map(|bytes| {
        let signature = read(Path::new(&format!("{}.sig", path.display())), MAX_SIGNATURE).ok();
        let signature = signature.and_then(|bytes| String::from_utf8(bytes).ok());
        json!({"name": name, "file": BASE64_STANDARD.encode(bytes), "signature": signature})
    });
    Some(file)
}

/// Reads a library entry of the builder.
pub(super) fn read(value: &Value) -> Result<Named, String> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if let Value::String(name) = value {
        let (name, pin) = split(name)?;
        return match name.strip_prefix("ptc:") {
            Some(shipped) => self::shipped(name, shipped).map(|input| Named::Input(input.pinned(pin))),
            None if name.ends_with(".clj") || name.ends_with(".ptcp") => Err(format!(
                "names the file `{name}`, but only a file of an agent has a folder to find it in"
            )),
            None if pin.is_some() => {
                Err(format!("pins `{name}`, which is stored; name its version, such as `{name}@2`"))
            }
            None => Ok(Named::Stored(name.to_string())),
        };
    }
    let pin = match value.get("artifact") {
        None => None,
        Some(pin) => {
            Some(ArtifactHash::parse(pin.as_str().unwrap_or_default()).map_err(|problem| problem.message)?)
        }
    };
    match (text("name"), text("source"), text("file")) {
        (Some(name), Some(source), None) => Ok(Named::Input(PreludeInput::source(name, source).pinned(pin))),
        (Some(name), None, Some(file)) => {
            let bytes = BASE64_STANDARD
                .decode(file)
                .map_err(|_| format!("has a `file` {name} that is not base64"))?;
            Ok(Named::Input(PreludeInput::file(name, bytes, text("signature")).pinned(pin)))
        }
        _ => Err("must list files, such as \"crm.ptcp\", \"billing.clj\" or \"ptc:paged\"".to_string()),
    }
}

fn shipped(name: &str, shipped: &str) -> Result<PreludeInput, String> {
    let all = ptc_preludes::shipped();
    let Some((_, bytes)) = all.iter().find(|(known, _)| *known == shipped) else {
        let names: Vec<String> = all.iter().map(|(known, _)| format!("ptc:{known}")).collect();
        return Err(format!("names `{name}`, but only {} come with ptc", names.join(", ")));
    };
    let runtime = Runtime::with_core(ptc_preludes::core()).map_err(|problem| problem.message)?;
    let options = LoadOptions { vouched: true, ..LoadOptions::default() };
    let prelude = Prelude::load(&runtime, bytes, &options).map_err(|problem| problem.message)?;
    Ok(PreludeInput::ready(name, prelude))
}
