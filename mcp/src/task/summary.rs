//! Description of what tasks can do, for clients.

use crate::settings::{MAX_FILE, Settings};
use ptc_runtime::files::read_text_at_most;
use ptc_upstream::{Catalogue, RenderMode, Server, Upstream, schema};
use std::path::Path;

/// Text in place of a catalogue that is looked up instead of shown.
const LAZY: &str = "The servers and their tools are looked up while a task is done.";

/// Returns the operator's text, or else a list of servers and tools. The error is for the process that starts
/// the server.
pub(super) fn told(settings: &Settings, upstream: &Upstream) -> Result<String, String> {
    let most = usize::try_from(settings.agentic_capability_summary_max_bytes).unwrap_or(usize::MAX);
    let Some(path) = &settings.agentic_capability_summary else {
        return Ok(match settings.upstream.rendering.mode {
            RenderMode::Lazy => LAZY.to_string(),
            RenderMode::Auto | RenderMode::Inline => capabilities(upstream.catalogue(), most),
        });
    };
    let wrong = |why: String| format!("--agentic-capability-summary: {path}: {why}");
    let text = read_text_at_most(Path::new(path), MAX_FILE).map_err(|error| wrong(error.to_string()))?;
    let text = text.trim();
    if text.len() > most {
        let size = text.len();
        return Err(wrong(format!(
            "it has {size} bytes, more than --agentic-capability-summary-max-bytes {most}"
        )));
    }
    Ok(upstream.redactor().scrub(text).into_owned())
}

/// Lists servers and tools with their results, in at most `most` bytes: `- fs: list->[string], read->{:content
/// string}`.
pub fn capabilities(catalogue: &Catalogue, most: usize) -> String {
    let servers: Vec<&Server> = catalogue.servers().map(AsRef::as_ref).collect();
    let mut text = String::new();
    let put = |text: &mut String, line: &str| {
        let fits = text.len() + usize::from(!text.is_empty()) + line.len() <= most;
        if fits {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
        }
        fits
    };
    for (at, server) in servers.iter().enumerate() {
        let (name, labels) = (&server.name, labels(server));
        let line = match &labels {
            None => format!("- {name}: not loaded"),
            Some(labels) if labels.is_empty() => format!("- {name}: no tools"),
            Some(labels) => format!("- {name}: {}", labels.join(", ")),
        };
        if put(&mut text, &line) {
            continue;
        }
        let labels = labels.unwrap_or_default();
        let clipped = |shown: usize| {
            let more = format!("(+{} more)", labels.len() - shown);
            let parts: Vec<&str> =
                labels.iter().take(shown).map(String::as_str).chain([more.as_str()]).collect();
            format!("- {name}: {}", parts.join(", "))
        };
        let is_clipped = (0..labels.len()).rev().any(|shown| put(&mut text, &clipped(shown)));
        let left = servers.len() - at - usize::from(is_clipped);
        if left > 0 {
            put(&mut text, &format!("- (+{left} more servers)"));
        }
        break;
    }
    text
}

/// Returns the tools as `tool->type`, by name; None for a server that is not loaded.
fn labels(server: &Server) -> Option<Vec<String>> {
    let listing = server.listing()?;
    let label = |tool: &ptc_upstream::CatalogTool| {
        format!("{}->{}", tool.name, schema::brief(tool.output_schema().as_ref()))
    };
    Some(listing.tools.values().map(|tool| label(tool)).collect())
}
