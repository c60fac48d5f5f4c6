//! Loading of agents from JSON and TOML, with the names of the builder's methods.

use super::{Agent, AgentBuilder, BuildError, OPTIONS, Reason, library};
use crate::tools::Tool;
use ptc_bytecode::nearest;
use serde_json::Value;

/// Maximum length of a file, in bytes.
const MAX_FILE: usize = 8 << 20;

impl Agent {
    /// Builds an agent from a JSON object.
    ///
    /// ```
    /// use ptc_agent::Agent;
    /// use serde_json::json;
    /// let agent = Agent::from_json(&json!({
    ///     "prompt": "Rate {{text}}",
    ///     "signature": "(text :string) -> {score :int[1..5]}",
    ///     "max_turns": 1
    /// }))?;
    /// assert_eq!(agent.options().max_turns, 1);
    /// let error = Agent::from_json(&json!({"prompt": "x", "max_turn": 1})).unwrap_err();
    /// assert_eq!(error.to_string(), "invalid_option: there is no option `max_turn`; did you mean `max_turns`?");
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn from_json(value: &Value) -> Result<Agent, BuildError> {
        AgentBuilder::from_json(value).build()
    }

    /// Builds an agent from the text of a TOML file.
    ///
    /// ```
    /// let agent = ptc_agent::Agent::from_toml(r#"
    ///     prompt = "Summarize {{topic}}"
    ///     signature = "(topic :string) -> {summary :string}"
    ///
    ///     [tools.classify]
    ///     prompt = "Is {{text}} positive?"
    ///     signature = "(text :string) -> {is_positive :bool}"
    /// "#)?;
    /// assert_eq!(agent.tools().len(), 1);
    /// # Ok::<(), ptc_agent::BuildError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Agent, BuildError> {
        AgentBuilder::from_toml(text)?.build()
    }
}

impl AgentBuilder {
    /// Reads options from a JSON object. Problems are reported by `build`.
    pub fn from_json(value: &Value) -> AgentBuilder {
        let mut builder = AgentBuilder::default();
        let Some(table) = value.as_object() else {
            let message = "an agent must be an object of options, such as {\"prompt\": \"…\"}";
            builder.problems.push(BuildError::new(Reason::MissingPrompt, message));
            return builder;
        };
        for (name, value) in table {
            builder.set(name, value);
        }
        builder
    }

    /// Reads options from the text of a TOML file. Fails if the text is not TOML.
    pub fn from_toml(text: &str) -> Result<AgentBuilder, BuildError> {
        let fail = |message: String| BuildError::new(Reason::InvalidOption, message);
        if text.len() > MAX_FILE {
            return Err(fail(format!("the file has {} bytes; at most {MAX_FILE} are allowed", text.len())));
        }
        let table: Value = toml::from_str(text)
            .map_err(|error| fail(format!("not valid TOML: {}", error.to_string().trim())))?;
        Ok(AgentBuilder::from_json(&table))
    }

    /// Sets one option by its name.
    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        match name {
            "tools" | "tool_catalog" => return self.set_tools(name, value),
            "preludes" => return self.set_preludes(value),
            _ => {}
        }
        match self.options.set(name, value) {
            Some(Ok(())) => {}
            Some(Err(why)) => {
                let error = match name {
                    "prompt" => {
                        BuildError::new(Reason::MissingPrompt, "`prompt` must be a text").under(&[name])
                    }
                    "signature" => BuildError::new(Reason::InvalidSignature, why).under(&[name]),
                    _ => BuildError::option(name, why),
                };
                self.problems.push(error);
            }
            None => {
                let shown: String = name.chars().take(60).collect();
                let hint = nearest(name, OPTIONS.iter().map(|row| row.name));
                let hint = hint.map_or(String::new(), |hint| format!("; did you mean `{hint}`?"));
                let message = format!("there is no option `{shown}`{hint}");
                self.problems.push(BuildError::new(Reason::InvalidOption, message).under(&[name]));
            }
        }
    }

    /// Sets libraries: stored ones by name, those that come with ptc, and files, whose content
    /// [`AgentFile`](super::AgentFile) has put in place of their names.
    fn set_preludes(&mut self, value: &Value) {
        let entries =
            value.as_array().map(|entries| entries.iter().map(library::read).collect::<Result<Vec<_>, _>>());
        match entries {
            Some(Ok(entries)) => {
                for entry in entries {
                    match entry {
                        library::Named::Stored(name) => self.options.preludes.push(name),
                        library::Named::Input(input) => self.options.prelude_inputs.push(input),
                    }
                }
            }
            Some(Err(why)) => self.problems.push(BuildError::option("preludes", why)),
            None => {
                let why = "must be a list of files, such as [\"crm.ptcp\", \"billing.clj\", \"ptc:paged\"]";
                self.problems.push(BuildError::option("preludes", why));
            }
        }
    }

    fn set_tools(&mut self, name: &str, value: &Value) {
        let Some(table) = value.as_object() else {
            self.problems.push(BuildError::option(name, "must be a table of tools by name"));
            return;
        };
        for (tool, entry) in table {
            match Tool::read(tool, entry) {
                Ok(tool) if name == "tools" => self.options.tools.insert(tool),
                Ok(tool) => self.options.tool_catalog.insert(tool),
                Err(found) => {
                    self.problems.extend(found.into_iter().map(|error| error.under(&[name, tool])));
                }
            }
        }
    }
}
