//! A git repository of seventy commits and two branches, through `git fast-import`: always the same hashes.

use super::world::{PEOPLE, SERVICES};
use crate::dice::Dice;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Error, Result, Write};
use std::path::Path;
use std::process::{Command, Stdio};

/// 2031-03-01T09:00:00Z.
const START: u64 = 1_930_122_000;

pub fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    git(folder, &["init", "-q", "-b", "main"], "")?;
    git(folder, &["fast-import", "--quiet"], &stream())?;
    git(folder, &["checkout", "-q", "-f", "main"], "")
}

fn git(folder: &Path, args: &[&str], input: &str) -> Result<()> {
    let mut child = Command::new("git").args(args).current_dir(folder).stdin(Stdio::piped()).spawn()?;
    child.stdin.take().expect("a pipe").write_all(input.as_bytes())?;
    match child.wait()?.success() {
        true => Ok(()),
        false => Err(Error::other(format!("git {args:?} failed"))),
    }
}

/// All commits as `git fast-import` reads them.
fn stream() -> String {
    let mut dice = Dice::new(500);
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut text = String::new();
    let kinds = ["feat", "fix", "fix", "docs", "test", "refactor"];
    let things = [
        "retries",
        "the cache",
        "empty baskets",
        "error pages",
        "rounding",
        "the timeout",
        "old clients",
        "metrics",
        "the export",
        "logging",
    ];
    for n in 0..70 {
        let (login, name, team, _) = PEOPLE[dice.below(12)];
        let own: Vec<&str> =
            SERVICES.iter().filter(|(_, owner)| *owner == team).map(|(name, _)| *name).collect();
        let service = dice.pick(&own);
        let kind = dice.pick(&kinds);
        let subject = format!(
            "{kind}({service}): {} {}",
            dice.pick(&["improve", "change", "repair", "simplify"]),
            dice.pick(&things)
        );
        let body =
            if dice.chance(40) { format!("\n\nRefs #{}", dice.between(1, 180)) } else { String::new() };
        let mut changed = vec![match *kind {
            "docs" => format!("docs/{service}.md"),
            "test" => format!("tests/test_{service}.py"),
            _ => format!("src/{service}/handlers.py"),
        }];
        if dice.chance(30) {
            changed.push(format!("src/{service}/config.py"));
        }
        for file in &changed {
            let lines = files.entry(file.clone()).or_default();
            if lines.len() > 12 && dice.chance(50) {
                let at = dice.below(lines.len() - 4);
                lines.drain(at..at + dice.between(1, 4));
            }
            for k in 0..dice.between(2, 9) {
                let at = dice.below(lines.len() + 1);
                lines.insert(at, format!("value_{n}_{k} = compute(\"{service}\", {})", dice.below(1000)));
            }
        }
        commit(&mut text, "main", n, (name, login), &format!("{subject}{body}"), &changed, &files);
    }
    let from = "from refs/heads/main\n";
    for (n, service) in ["checkout", "billing", "gateway"].iter().enumerate() {
        let file = format!("src/{service}/currency.py");
        let lines = (0..6 + 5 * n).map(|k| format!("RATE_{k} = {}", dice.below(500))).collect();
        files.insert(file.clone(), lines);
        let handlers = format!("src/{service}/handlers.py");
        if let Some(lines) = files.get_mut(&handlers) {
            lines.push("from .currency import RATE_0".to_string());
        }
        let changed = [file, handlers];
        let start = if n == 0 { from } else { "" };
        let message = format!("feat({service}): several currencies");
        commit_from(
            &mut text,
            "currencies",
            70 + n,
            ("Ada Lindqvist", "ada"),
            &message,
            &changed,
            &files,
            start,
        );
    }
    text.push_str("done\n");
    text
}

fn commit(
    text: &mut String,
    branch: &str,
    n: usize,
    who: (&str, &str),
    message: &str,
    changed: &[String],
    files: &BTreeMap<String, Vec<String>>,
) {
    commit_from(text, branch, n, who, message, changed, files, "");
}

#[allow(clippy::too_many_arguments)]
fn commit_from(
    text: &mut String,
    branch: &str,
    n: usize,
    (name, login): (&str, &str),
    message: &str,
    changed: &[String],
    files: &BTreeMap<String, Vec<String>>,
    from: &str,
) {
    let when = START + 15_000 * n as u64;
    let _ = writeln!(text, "commit refs/heads/{branch}");
    let _ = writeln!(text, "committer {name} <{login}@tea.example> {when} +0000");
    let _ = writeln!(text, "data {}\n{message}", message.len());
    text.push_str(from);
    for file in changed {
        let Some(lines) = files.get(file) else { continue };
        let body = lines.join("\n") + "\n";
        let _ = writeln!(text, "M 100644 inline {file}\ndata {}\n{body}", body.len());
    }
    text.push('\n');
}
