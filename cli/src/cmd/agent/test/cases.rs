//! A file of cases: an agent, and missions with their expected outcomes.

use super::super::usage;
use crate::cmd::test::CheckProgram;
use crate::input::read_program;
use crate::problem::Problem;
use crate::quantity::counted;
use ptc_agent::definition::{FilePlace, TableFile, read_fields};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of cases. Files that it names are relative to its folder.
pub struct Cases {
    /// The file itself, for places.
    pub table: TableFile,
    /// The file of the agent.
    pub agent: PathBuf,
    /// Fixed results of tools in every case, by name.
    pub stubs: Map<String, Value>,
    /// Configuration of upstream servers.
    pub upstreams_config: Option<PathBuf>,
    /// Each case.
    pub cases: Vec<Case>,
}

/// A mission with its expected outcome.
pub struct Case {
    /// Its number in the file, from 0.
    pub number: usize,
    /// Name of the case.
    pub name: String,
    /// Data of the mission.
    pub inputs: Map<String, Value>,
    /// Fixed results of tools in this case, in place of those of the file.
    pub stubs: Map<String, Value>,
    /// Replies of the model, which `--record` writes.
    pub cassette: Option<PathBuf>,
    /// Outcome that passes.
    pub expected: Expected,
    /// Maximum turns.
    pub max_turns: Option<u32>,
    /// Maximum tokens, including child agents.
    pub max_tokens: Option<u64>,
    /// Maximum cost in US dollars, including child agents.
    pub max_cost_usd: Option<f64>,
}

/// Outcome that a mission should have.
#[derive(Default)]
pub struct Expected {
    /// The value of the mission.
    pub value: Option<Value>,
    /// A program that checks the value.
    pub check: Option<CheckProgram>,
    /// Reason with which the mission should fail.
    pub fails: Option<String>,
}

/// The keys of a file of cases.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct CasesTable {
    agent: Option<PathBuf>,
    stubs: Map<String, Value>,
    upstreams_config: Option<PathBuf>,
    cases: Vec<Value>,
}

/// The keys of a case.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct CaseTable {
    name: Option<String>,
    inputs: Map<String, Value>,
    stubs: Map<String, Value>,
    cassette: Option<PathBuf>,
    expect: Option<Value>,
    check: Option<String>,
    check_file: Option<PathBuf>,
    fails: Option<String>,
    max_turns: Option<u32>,
    max_tokens: Option<u64>,
    max_cost_usd: Option<f64>,
}

/// Hint on what to write in a file of cases.
const USAGE: &str =
    "write agent = \"orders.toml\", then [[cases]] with name, inputs, and expect, check or fails";

impl Cases {
    /// Reads the file, and compiles the programs in it. The error tells everything that is wrong.
    pub fn read(file: &Path) -> Result<Cases, Problem> {
        let table = TableFile::read(file).map_err(|error| usage(error.message))?;
        let mut reader = Reader { table: &table, problems: Vec::new() };
        match reader.file() {
            Some(cases) if reader.problems.is_empty() => Ok(cases),
            _ => Err(reader.problem()),
        }
    }
}

/// Reader of a file of cases, which goes on after a problem to find the others.
struct Reader<'t> {
    table: &'t TableFile,
    problems: Vec<(FilePlace, String)>,
}

impl Reader<'_> {
    fn wrong(&mut self, keys: &[&str], message: impl Into<String>) {
        let keys: Vec<String> = keys.iter().map(|key| key.to_string()).collect();
        self.problems.push((self.table.place(&keys), message.into()));
    }

    /// Everything that is wrong, a line for each.
    fn problem(self) -> Problem {
        let count = counted(self.problems.len() as u64, "problem");
        let lines: String =
            self.problems.iter().map(|(place, message)| format!("\n - {place}: {message}")).collect();
        usage(format!("{}: {count}{lines}", self.table.path.display())).hint(USAGE)
    }

    /// Reads a table, or notes what is wrong with its keys, which these lead to.
    fn fields<T: serde::de::DeserializeOwned>(&mut self, table: &Value, keys: &[&str]) -> Option<T> {
        let Value::Object(table) = table else {
            self.wrong(keys, "a case must be a table with name, inputs, and expect, check or fails");
            return None;
        };
        match read_fields(table) {
            Ok(read) => Some(read),
            Err(problems) => {
                for problem in problems {
                    self.wrong(&[keys, &[&problem.key]].concat(), problem.message);
                }
                None
            }
        }
    }

    fn file(&mut self) -> Option<Cases> {
        let all = &self.table.table;
        let read: Option<CasesTable> = self.fields(all, &[]);
        // A wrong key beside the cases is no reason to leave the cases unread.
        let tables = all.get("cases").and_then(Value::as_array).map_or(&[][..], |cases| cases);
        let mut names = BTreeSet::new();
        let cases: Vec<Option<Case>> =
            tables.iter().enumerate().map(|(number, table)| self.case(table, number, &mut names)).collect();
        let read = read?;
        if tables.is_empty() {
            self.wrong(&["cases"], "the file has no cases");
        }
        let Some(agent) = read.agent else {
            self.wrong(&[], "`agent` is missing, the file of the agent");
            return None;
        };
        Some(Cases {
            table: self.table.clone(),
            agent: self.beside(&agent),
            stubs: read.stubs,
            upstreams_config: read.upstreams_config.map(|file| self.beside(&file)),
            cases: cases.into_iter().collect::<Option<_>>()?,
        })
    }

    /// A file that is named relative to the folder of this one.
    fn beside(&self, file: &Path) -> PathBuf {
        self.table.path.parent().unwrap_or(Path::new("")).join(file)
    }

    fn case(&mut self, table: &Value, number: usize, names: &mut BTreeSet<String>) -> Option<Case> {
        let index = number.to_string();
        let at = ["cases", index.as_str()];
        let key = |name: &'static str| [at[0], at[1], name];
        let read: CaseTable = self.fields(table, &at)?;
        let Some(name) = read.name else {
            self.wrong(&at, "the case has no `name`");
            return None;
        };
        if !names.insert(name.clone()) {
            self.wrong(&key("name"), format!("there are two cases called `{name}`"));
        }
        let (is_value, is_checked) =
            (read.expect.is_some(), read.check.is_some() || read.check_file.is_some());
        if read.check.is_some() && read.check_file.is_some() {
            self.wrong(&key("check_file"), format!("`{name}` has both `check` and `check_file`"));
        }
        // A case without any would pass whatever the outcome of the mission is.
        match &read.fails {
            Some(_) if is_value || is_checked => {
                let message = format!("`{name}` has `fails`, so there is no value for `expect` or `check`");
                self.wrong(&key("fails"), message);
            }
            None if !is_value && !is_checked => {
                let message =
                    format!("`{name}` does not check the result: give it `expect`, `check` or `fails`");
                self.wrong(&at, message);
            }
            _ => {}
        }
        let check = match (&read.check, &read.check_file) {
            (Some(source), _) => self.check(&name, source, &key("check")),
            (None, Some(file)) => self.check_file(&name, &self.beside(file), &key("check_file")),
            (None, None) => None,
        };
        Some(Case {
            number,
            name,
            inputs: read.inputs,
            stubs: read.stubs,
            cassette: read.cassette.map(|cassette| self.beside(&cassette)),
            expected: Expected { value: read.expect, check, fails: read.fails },
            max_turns: read.max_turns,
            max_tokens: read.max_tokens,
            max_cost_usd: read.max_cost_usd,
        })
    }

    fn check(&mut self, name: &str, source: &str, keys: &[&str]) -> Option<CheckProgram> {
        let compiled = CheckProgram::compile("check", source);
        let errors =
            compiled.map_err(|errors| errors.iter().map(|error| error.to_text(source)).collect::<String>());
        match errors {
            Ok(check) => Some(check),
            Err(told) => {
                let told = told.trim_end().replace('\n', "\n   ");
                self.wrong(keys, format!("`check` of `{name}` does not compile:\n   {told}"));
                None
            }
        }
    }

    fn check_file(&mut self, name: &str, file: &Path, keys: &[&str]) -> Option<CheckProgram> {
        let source = match read_program(file) {
            Ok(source) => source,
            Err(problem) => {
                self.wrong(keys, format!("`check_file` of `{name}`: {}", problem.0.message));
                return None;
            }
        };
        match CheckProgram::compile(&file.display().to_string(), &source) {
            Ok(check) => Some(check),
            Err(errors) => {
                let place = errors.iter().find_map(|error| error.place(&source));
                let told: String = errors.iter().map(|error| error.to_text(&source)).collect();
                let told = told.trim_end().replace('\n', "\n   ");
                let message = format!("`check_file` of `{name}` does not compile:\n   {told}");
                self.problems.push((FilePlace { file: file.to_path_buf(), place }, message));
                None
            }
        }
    }
}
