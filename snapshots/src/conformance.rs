//! The conformance corpus: cases in files of JSON lines, and the strict list of those known to fail.

use crate::canon;
use ptc_runtime::{Failure, Grants, Limits, Runtime};
use serde_json::Value;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// One program with its expected result.
#[derive(Clone, Debug)]
pub struct Case {
    /// Unique name in the corpus.
    pub id: String,
    /// Topic of the case.
    pub group: String,
    /// File of the case, without extension.
    pub file: String,
    /// Source: one or more top-level forms.
    pub program: String,
    /// Granted data: names and JSON texts.
    pub context: Vec<(String, String)>,
    /// Expected printed value; None if the program must end with an error.
    pub expect: Option<String>,
    /// Expected printed lines.
    pub prints: Option<Vec<String>>,
}

/// Failure of a case.
#[derive(Clone, Debug)]
pub struct Miss {
    /// Full description: program, expected and actual result.
    pub story: String,
    /// Reason shared with similar failures.
    pub reason: String,
    /// True if the engine panicked, which no list excuses.
    pub panicked: bool,
}

/// Returns the folder `snapshots/conformance`.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance")
}

/// Reads all cases, file by file.
///
/// # Panics
///
/// If the corpus cannot be read.
pub fn cases() -> Vec<Case> {
    let entries = std::fs::read_dir(folder()).expect("the corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let file = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a corpus file");
        for (n, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let case = serde_json::from_str(line).ok().and_then(|json| Case::read(&json, &file));
            cases.push(case.unwrap_or_else(|| panic!("{file}.jsonl:{}: not a case", n + 1)));
        }
    }
    cases
}

impl Case {
    fn read(json: &Value, file: &str) -> Option<Case> {
        let text = |name: &str| json[name].as_str().map(String::from);
        let context = json["context"].as_object().into_iter().flatten();
        let expect = text("expect");
        if expect.is_some() == json["error"].as_bool().unwrap_or(false) {
            return None;
        }
        let prints = json["prints"]
            .as_array()
            .map(|lines| lines.iter().map(|line| line.as_str().unwrap_or_default().to_string()).collect());
        Some(Case {
            id: text("id")?,
            group: text("group")?,
            file: file.to_string(),
            program: text("program")?,
            context: context.map(|(name, value)| (name.clone(), value.to_string())).collect(),
            expect,
            prints,
        })
    }

    /// Runs the case; limits stop one that hangs.
    pub fn check(&self, runtime: &Runtime) -> Result<(), Miss> {
        match catch_unwind(AssertUnwindSafe(|| self.run(runtime))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err((reason, got))) => Err(self.miss(&reason, &got, false)),
            Err(panic) => Err(self.miss("panic", &panic_text(&*panic), true)),
        }
    }

    fn run(&self, runtime: &Runtime) -> Result<(), (String, String)> {
        let mut grants = Grants::new();
        for (name, json) in &self.context {
            grants = grants.json(name, json).map_err(|error| ("context".to_string(), error.to_text("")))?;
        }
        let outcome = runtime.eval(&self.program, &grants);
        let Some(expect) = &self.expect else {
            return match outcome {
                Err(failure) if failure.reason() == "internal_error" => {
                    Err(("internal".into(), failure.to_string()))
                }
                Err(_) => Ok(()),
                Ok(outcome) => {
                    let value = outcome.print().unwrap_or_else(|fault| fault.to_diagnostic().to_text(""));
                    Err((format!("{}: value instead of error", self.group), value))
                }
            };
        };
        let outcome = outcome.map_err(|failure| (self.reason_of(&failure), failure.to_string()))?;
        let got = outcome
            .print()
            .map_err(|fault| (format!("{}: print", self.group), fault.to_diagnostic().to_text("")))?;
        match canon::same(&got, expect) {
            Ok(true) => {}
            Ok(false) => return Err((format!("{}: other value", self.group), got)),
            Err(error) => {
                return Err((format!("{}: unreadable value", self.group), format!("{got}\n({error})")));
            }
        }
        match &self.prints {
            Some(lines) if lines.join("\n") != outcome.prints.join("\n") => {
                Err((format!("{}: other prints", self.group), outcome.prints.join("\n")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the reason shared by similar failures: the name that does not exist yet, else the topic and the
    /// kind of error.
    fn reason_of(&self, failure: &Failure) -> String {
        let message = &failure.diagnostic().message;
        match failure.reason() {
            "unbound_var" | "unsupported_method" | "invalid_form" if message.contains('`') => {
                format!("`{}`", message.split('`').nth(1).unwrap_or_default())
            }
            reason => format!("{}: {reason}", self.group),
        }
    }

    fn miss(&self, reason: &str, got: &str, panicked: bool) -> Miss {
        let mut story = format!("{}.jsonl {}\n----- PROGRAM\n{}\n", self.file, self.id, self.program);
        for (name, json) in &self.context {
            let shown: String = json.chars().take(300).collect();
            let _ = writeln!(story, "----- data/{name}\n{shown}");
        }
        let wanted = self.expect.as_deref().unwrap_or("an error");
        let _ = write!(story, "----- WANTED\n{wanted}\n----- GOT\n{got}");
        Miss { story, reason: reason.to_string(), panicked }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_string())
}

/// Returns limits that no case should reach.
pub fn limits() -> Limits {
    let timeout_ms = if crate::is_stress() { 120_000 } else { 20_000 };
    Limits { fuel: 100_000_000, timeout_ms, ..Limits::default() }
}

/// Cases known to fail, each with the reason or ticket.
#[derive(Clone, Default, Debug)]
pub struct Gaps(pub BTreeMap<String, String>);

impl Gaps {
    fn path() -> PathBuf {
        folder().join("known-gaps.toml")
    }

    /// Reads `known-gaps.toml`.
    ///
    /// # Panics
    ///
    /// If it is malformed, or lists a case twice.
    pub fn load() -> Gaps {
        let text = std::fs::read_to_string(Gaps::path()).unwrap_or_default();
        let table: toml::Table = text.parse().expect("known-gaps.toml");
        let mut gaps = BTreeMap::new();
        let words = |value: &toml::Value| value.as_str().map(String::from);
        for gap in table.get("gap").and_then(toml::Value::as_array).into_iter().flatten() {
            let ticket = gap.get("ticket").and_then(words).expect("a gap has a ticket");
            let cases = gap.get("cases").and_then(toml::Value::as_array).expect("a gap has cases");
            for case in cases.iter().filter_map(words) {
                assert!(gaps.insert(case.clone(), ticket.clone()).is_none(), "{case} is listed twice");
            }
        }
        Gaps(gaps)
    }

    /// Writes `known-gaps.toml`, grouped by ticket.
    pub fn save(&self) -> std::io::Result<()> {
        let mut tickets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (case, ticket) in &self.0 {
            tickets.entry(ticket).or_default().push(case);
        }
        let mut out = format!(
            "# Cases of the corpus that are known to fail: {} of them, for {} reasons.\n\
             # A case that fails and is not listed fails the run; so does one that is listed and passes.\n\
             # `PTC_BLESS_GAPS=1 cargo test -p ptc-snapshots --test conformance` writes this file anew;\n\
             # tickets that do not start with `part-2:` are kept.\n",
            self.0.len(),
            tickets.len()
        );
        for (ticket, cases) in tickets {
            let _ = write!(out, "\n[[gap]]\nticket = {}\ncases = [", toml_text(ticket));
            for line in cases.chunks(6) {
                let line: Vec<String> = line.iter().map(|case| toml_text(case)).collect();
                let _ = write!(out, "\n  {},", line.join(", "));
            }
            out.push_str("\n]\n");
        }
        std::fs::write(Gaps::path(), out)
    }
}

fn toml_text(text: &str) -> String {
    toml::Value::from(text).to_string()
}
