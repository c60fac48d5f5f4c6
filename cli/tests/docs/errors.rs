//! Pages of errors: each code has one, and its example causes that very error. That the examples do what the pages
//! say is seen where all fences are run (`fences.rs`, `console.rs`); here is looked at what they say.

use crate::{Fence, bless, fences, root};
use ptc_bytecode::Code;
use std::path::{Path, PathBuf};

/// Codes that no command and no program causes at will, each because of what it would take. Their pages show the
/// message.
const MESSAGE_ONLY: &[Code] = &[
    // A model that calls a tool in the wrong way.
    Code::ValidationError,
    // A process that is killed while a call is on its way.
    Code::OutcomeUnknown,
    // A host that runs artifacts without the crates that load them.
    Code::ArtifactInvalid,
    // Files of another version of ptc, or files that were forged: their hashes are right.
    Code::AbiMismatch,
    Code::ArtifactLimitExceeded,
    Code::NonCanonical,
    Code::BadConstant,
    Code::BadFunction,
    Code::BadInstruction,
    Code::BadControlFlow,
    Code::UninitialisedRegister,
    Code::MissingFuelCheck,
    Code::BadExport,
    Code::AuthorityMismatch,
    Code::UnresolvedBuiltin,
    // A change of the core library.
    Code::UnrecognizedNode,
    // A thousand preludes, ten megabytes of them, ten seconds of waiting.
    Code::IdLimitExceeded,
    Code::StoreBytesExceeded,
    Code::StoreBusy,
    // A bug.
    Code::Internal,
];

fn folder() -> PathBuf {
    root().join("docs/errors")
}

/// Whether commands of a page run in an empty folder.
pub fn is_error_page(path: &Path) -> bool {
    path.parent() == Some(&folder())
}

/// What a page begins with: it is told once, in the registry.
fn head(code: Code) -> String {
    format!("# {} {}\n\n{}\n\n## Example\n", code.label(), code.reason(), code.summary())
}

#[test]
fn every_code_has_a_page() {
    let mut wrong = Vec::new();
    for code in Code::ALL {
        let path = folder().join(code.label()).with_extension("md");
        let Ok(page) = std::fs::read_to_string(&path) else {
            wrong.push(format!("{}: docs/errors/{}.md is missing", code.reason(), code.label()));
            continue;
        };
        let head = head(*code);
        if !page.starts_with(&head) {
            match page.split_once("\n## Example\n") {
                Some((_, rest)) if bless() => {
                    std::fs::write(&path, format!("{head}{rest}")).expect("the page can be written");
                }
                _ => wrong.push(format!("{}: must begin with\n{head}", path.display())),
            }
        }
        if let Err(what) = check(*code, &page) {
            wrong.push(format!("{}: {what}", path.display()));
        }
    }
    let files = std::fs::read_dir(folder()).expect("docs/errors is there").flatten();
    let known = |path: &Path| Code::ALL.iter().any(|code| path.file_stem() == Some(code.label().as_ref()));
    wrong.extend(
        files
            .map(|file| file.path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "md") && !known(path))
            .map(|path| format!("{}: no code has this page", path.display())),
    );
    assert!(wrong.is_empty(), "PTC_BLESS=1 rewrites what pages begin with:\n{}", wrong.join("\n"));
}

/// What is wrong with a page.
fn check(code: Code, page: &str) -> Result<(), String> {
    let headings: Vec<&str> = page.lines().filter(|line| line.starts_with("## ")).collect();
    if headings != ["## Example", "## Why", "## Fix"] {
        return Err(format!("has the headings {headings:?}"));
    }
    let part = |from: &str, to: &str| {
        let rest = page.split_once(from).map_or("", |(_, rest)| rest);
        if to.is_empty() { rest } else { rest.split_once(to).map_or("", |(part, _)| part) }
    };
    example(code, &fences(part("\n## Example\n", "\n## Why\n")))?;
    if part("\n## Why\n", "\n## Fix\n").trim().is_empty() {
        return Err("does not say why".to_string());
    }
    fix(&fences(part("\n## Fix\n", "")))
}

/// Whether the example causes the error.
fn example(code: Code, fences: &[Fence<'_>]) -> Result<(), String> {
    let reason = code.reason();
    let kind = if code.is_warning() { "warns" } else { "fails" };
    let mut causes_it = false;
    let mut shows_it = false;
    for fence in fences {
        let causes = match fence.language {
            "clojure" => {
                fence.lines.last().is_some_and(|line| line.ends_with(&format!(";=> {kind} {reason}")))
            }
            "console" => output(fence).any(|line| names(line, reason)),
            "rust" => fence.lines.iter().any(|line| line.contains(&format!("reason(), \"{reason}\""))),
            "text" => {
                shows_it |= fence.lines.iter().any(|line| names(line, reason));
                continue;
            }
            other => return Err(format!("has an example in `{other}`")),
        };
        if !causes {
            return Err(format!("has an example that does not cause `{reason}`"));
        }
        causes_it = true;
    }
    match (causes_it, MESSAGE_ONLY.contains(&code)) {
        (true, false) => Ok(()),
        (false, true) if shows_it => Ok(()),
        (true, true) => Err("causes its error after all: take the code out of MESSAGE_ONLY".to_string()),
        (false, _) => Err("has no example".to_string()),
    }
}

/// Whether what fixes it runs without an error.
fn fix(fences: &[Fence<'_>]) -> Result<(), String> {
    let runs = fences.iter().filter(|fence| matches!(fence.language, "clojure" | "console"));
    if runs.count() == 0 {
        return Err("has no fix that runs".to_string());
    }
    let is_bad = |line: &str| {
        let line = line.trim_start();
        line.starts_with("error") || line.starts_with("warning") || line.contains("\"ok\":false")
    };
    for fence in fences {
        let fails = match fence.language {
            "clojure" => {
                fence.lines.iter().any(|line| line.contains(";=> fails") || line.contains(";=> warns"))
            }
            _ => output(fence).any(is_bad),
        };
        if fails {
            return Err("has a fix that fails".to_string());
        }
    }
    Ok(())
}

/// What the commands of a fence print.
fn output<'page>(fence: &Fence<'page>) -> impl Iterator<Item = &'page str> {
    let mut goes_on = false;
    let is_output = move |line: &&str| {
        let is_command = goes_on || line.starts_with("$ ");
        goes_on = is_command && line.ends_with('\\');
        !is_command
    };
    fence.lines.clone().into_iter().filter(is_output)
}

/// Whether a line has a reason as a word of its own.
fn names(line: &str, reason: &str) -> bool {
    line.split(|c: char| !c.is_ascii_lowercase() && c != '_').any(|word| word == reason)
}
