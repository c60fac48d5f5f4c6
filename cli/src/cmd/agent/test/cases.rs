//! A file of cases: an agent, and missions with their expected outcomes.

use super::super::usage;
use crate::input::read_program;
use crate::problem::Problem;
use ptc_agent::definition::read_table;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of cases. Files that it names are relative to its folder.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// The file of the agent.
    pub agent: PathBuf,
    /// Fixed results of tools in every case, by name.
    #[serde(default)]
    pub stubs: Map<String, Value>,
    /// Each case.
    #[serde(default)]
    pub cases: Vec<Case>,
}

/// A mission with its expected outcome.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// Data of the mission.
    #[serde(default)]
    pub inputs: Map<String, Value>,
    /// Replies of the model, which `--record` writes.
    pub cassette: Option<PathBuf>,
    /// The value of the mission.
    pub expect: Option<Value>,
    /// A program that checks the value.
    pub check: Option<String>,
    /// The file of such a program.
    pub check_file: Option<PathBuf>,
    /// Why the mission should fail, as a reason.
    pub fails: Option<String>,
    /// Maximum turns.
    pub max_turns: Option<u32>,
    /// Maximum tokens, including child agents.
    pub max_tokens: Option<u64>,
    /// Maximum cost in US dollars, including child agents.
    pub max_cost_usd: Option<f64>,
}

impl Cases {
    /// Reads the file, and the programs it names.
    pub fn read(file: &Path) -> Result<Cases, Problem> {
        let wrong = |why: String| usage(format!("{}: {why}", file.display()));
        let table = read_table(file).map_err(|error| usage(error.message))?;
        let mut read: Cases = serde_json::from_value(table).map_err(|error| {
            wrong(format!("this is not a file of test cases: {error}")).hint(
                "write agent = \"orders.toml\", then [[cases]] with name, inputs, and expect, check or fails",
            )
        })?;
        if read.cases.is_empty() {
            return Err(wrong("the file has no cases".to_string())
                .hint("write [[cases]] with a name, inputs, and expect, check or fails"));
        }
        let folder = file.parent().unwrap_or(Path::new(""));
        read.agent = folder.join(&read.agent);
        let mut names = BTreeSet::new();
        for case in &mut read.cases {
            if !names.insert(case.name.clone()) {
                return Err(wrong(format!("there are two cases called `{}`", case.name)));
            }
            if let Some(file) = case.check_file.take() {
                if case.check.is_some() {
                    return Err(wrong(format!("`{}` has both `check` and `check_file`", case.name)));
                }
                case.check = Some(read_program(&folder.join(file))?);
            }
            case.cassette = case.cassette.take().map(|cassette| folder.join(cassette));
            case.complete().map_err(wrong)?;
        }
        Ok(read)
    }
}

impl Case {
    /// Refuses a case that would pass whatever the outcome of the mission is.
    fn complete(&self) -> Result<(), String> {
        let checks_value = self.expect.is_some() || self.check.is_some();
        match &self.fails {
            Some(_) if checks_value => {
                Err(format!("`{}` has `fails`, so there is no value for `expect` or `check`", self.name))
            }
            None if !checks_value => Err(format!(
                "`{}` does not check the result: give it `expect`, `check` or `fails`",
                self.name
            )),
            _ => Ok(()),
        }
    }
}
