//! A file of cases: an agent, and missions with what they should come to.

use super::super::usage;
use crate::input::read_program;
use crate::problem::Problem;
use ptc_agent::definition::read_table;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A file of cases. Files that it names are looked for from its folder on.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Cases {
    /// The file of the agent.
    pub agent: PathBuf,
    /// Answers of tools in every case, by name.
    #[serde(default)]
    pub stubs: Map<String, Value>,
    /// Each case.
    #[serde(default)]
    pub cases: Vec<Case>,
}

/// A mission with what it should come to.
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
    /// Turns it may take.
    pub max_turns: Option<u32>,
    /// Tokens it may take, with all agents below.
    pub max_tokens: Option<u64>,
    /// US dollars it may take, with all agents below.
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
    /// Refuses a case that would pass whatever the mission comes to.
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
