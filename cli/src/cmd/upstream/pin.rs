//! `ptc upstream pin`: definitions of tools that a person has approved.

use super::unknown;
use crate::args::UpstreamAt;
use crate::problem::Problem;
use crate::quantity::counted;
use crate::report::{FAULT, OK, out};
use crate::upstreams::start_unpinned;
use ptc_bytecode::Code;
use ptc_upstream::pins::{Pins, ServerPins, escaped};
use serde_json::{Value, json};
use std::io::Write;
use std::process::ExitCode;

/// What has happened to one tool.
struct Change {
    server: String,
    tool: String,
    what: &'static str,
    differences: Vec<String>,
}

pub(super) fn run(server: Option<&str>, approve: bool, at: &UpstreamAt) -> Result<ExitCode, Problem> {
    let (upstream, path) = start_unpinned(&at.upstream)?;
    if let Some(name) = server.filter(|name| upstream.catalogue().server(name).is_none()) {
        return Err(unknown(name, &upstream));
    }
    let wrong = |message: String| Problem::new(Code::InvalidConfig, message);
    let mut pins = match path.exists() {
        true => Pins::load(&path).map_err(wrong)?,
        false => Pins::default(),
    };
    let (mut changes, mut problems) = (Vec::new(), Vec::new());
    let names: Vec<String> = upstream.catalogue().names().into_iter().map(str::to_string).collect();
    for name in names.iter().filter(|name| server.is_none_or(|wanted| wanted == **name)) {
        match upstream.pins_of(name) {
            Ok(now) => {
                changes.extend(compare(name, pins.0.get(name).unwrap_or(&ServerPins::new()), &now));
                pins.0.insert(name.clone(), now);
            }
            Err(problem) => problems.push(problem),
        }
    }
    upstream.stop();
    // Servers that the configuration no longer has need no approval.
    if server.is_none() && approve {
        pins.0.retain(|name, _| names.contains(name));
    }
    let is_clean = |text: &str| upstream.redactor().scrub(text).into_owned();
    if approve && problems.is_empty() {
        pins.save(&path).map_err(|error| wrong(format!("cannot write {}: {error}", path.display())))?;
    }
    let is_current = changes.is_empty() || approve;
    let code = if problems.is_empty() && is_current { OK } else { FAULT };
    if at.json {
        let row = |change: &Change| {
            let lines: Vec<String> = change.differences.iter().map(|line| is_clean(line)).collect();
            json!({"server": change.server, "tool": change.tool, "change": change.what, "differences": lines})
        };
        let rows: Vec<Value> = changes.iter().map(row).collect();
        let approved = approve && problems.is_empty();
        let answer =
            json!({"ok": problems.is_empty(), "approved": approved, "changes": rows, "errors": problems});
        return Ok(out(&format!("{answer}\n"), code));
    }
    let mut text = String::new();
    for change in &changes {
        text.push_str(&format!("{}/{}: {}\n", change.server, escaped(&change.tool), change.what));
        for line in &change.differences {
            text.push_str(&format!("  {}\n", is_clean(line)));
        }
    }
    text.push_str(&match (changes.len() as u64, approve && problems.is_empty()) {
        (0, _) => "No tool has changed.\n".to_string(),
        (count, true) => format!("Approved {} in {}.\n", counted(count, "tool"), path.display()),
        (_, false) => "Nothing is approved yet: `ptc upstream pin --approve` does that.\n".to_string(),
    });
    let code = out(&text, code);
    for problem in problems {
        let _ = writeln!(std::io::stderr(), "error: {problem}");
    }
    Ok(code)
}

fn compare(server: &str, before: &ServerPins, now: &ServerPins) -> Vec<Change> {
    let change = |tool: &str, what, differences| Change {
        server: server.to_string(),
        tool: tool.to_string(),
        what,
        differences,
    };
    let mut changes = Vec::new();
    for (tool, pin) in now {
        match before.get(tool) {
            Some(known) if known.hash() == pin.hash() => {}
            Some(known) => changes.push(change(tool, "changed", known.differences(pin))),
            None => changes.push(change(tool, "new", pin.shown())),
        }
    }
    let gone = before.keys().filter(|tool| !now.contains_key(*tool));
    changes.extend(gone.map(|tool| change(tool, "gone", Vec::new())));
    changes
}
