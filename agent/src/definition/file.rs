//! Agents in files, together with the files that they name.

use super::{Agent, AgentBuilder, BuildError, Reason, library};
use ptc_runtime::TrustedKeys;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Maximum length of files in bytes: of one that defines an agent, and of one whose content a tool returns.
const MAX_AGENT: u64 = 8 << 20;
const MAX_ANSWER: u64 = 64 << 20;
/// Maximum depth of agent files that name agent files.
const MAX_DEPTH: usize = 8;

/// An agent in a TOML or JSON file. Its tools may name further files, relative to its folder: `agent` (another agent),
/// `answer_file` (JSON that is always the result), or `program` (a program that computes it).
///
/// ```
/// use ptc_agent::definition::AgentFile;
/// # let folder = std::env::temp_dir().join(format!("ptc-doc-agent-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// std::fs::write(folder.join("rates.json"), r#"{"de": 19}"#)?;
/// std::fs::write(folder.join("tax.toml"), r#"
///     prompt = "What is the tax of {{country}}?"
///     signature = "(country :string) -> :int"
///
///     [tools.rates]
///     signature = "() -> :map"
///     answer_file = "rates.json"
/// "#)?;
/// let agent = AgentFile::load(folder.join("tax.toml"))?.builder().build()?;
/// assert_eq!(agent.tools().len(), 1);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct AgentFile {
    table: Value,
    problems: Vec<BuildError>,
}

impl AgentFile {
    /// Reads the file and all files that it names. Fails for a file that is not a table; problems of single options and
    /// tools are reported by [`AgentBuilder::problems`].
    pub fn load(path: impl AsRef<Path>) -> Result<AgentFile, BuildError> {
        let path = path.as_ref();
        let mut table = read_table(path)?;
        let mut files = Files { problems: Vec::new(), open: vec![path.to_path_buf()] };
        files.agent(&mut table, path.parent().unwrap_or(Path::new("")), "");
        Ok(AgentFile { table, problems: files.problems })
    }

    /// Returns the whole definition, with the content of files in place of their names.
    pub fn table(&self) -> &Value {
        &self.table
    }

    /// Returns a builder with the file's options.
    pub fn builder(&self) -> AgentBuilder {
        let mut builder = AgentBuilder::from_json(&self.table);
        builder.problems.extend(self.problems.iter().cloned());
        builder
    }
}

impl Agent {
    /// Builds an agent from a file: see [`AgentFile`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Agent, BuildError> {
        AgentFile::load(path)?.builder().build()
    }
}

/// Reader that puts the content of files in place of their names.
struct Files {
    problems: Vec<BuildError>,
    /// Agent files that are being read, the outermost first.
    open: Vec<PathBuf>,
}

impl Files {
    /// Reads the files of one agent. `of` is its path in the outermost agent, such as `tools.finder.`.
    fn agent(&mut self, table: &mut Value, folder: &Path, of: &str) {
        self.trusted(table, folder, of);
        self.preludes(table, folder, of);
        for key in ["tools", "tool_catalog"] {
            if let Some(Value::Object(tools)) = table.get_mut(key) {
                for (name, tool) in tools.iter_mut() {
                    if let Value::Object(tool) = tool {
                        self.tool(tool, folder, &format!("{of}{name}"));
                    }
                }
            }
        }
    }

    /// Puts trusted keys in place of the files that hold them.
    fn trusted(&mut self, table: &mut Value, folder: &Path, of: &str) {
        let Some(Value::Array(entries)) = table.get("trusted") else { return };
        // A list of other values is reported by the reader of options.
        let Some(named) = entries.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() else { return };
        match TrustedKeys::named(&named, folder) {
            Ok(keys) => table["trusted"] = keys.to_text().lines().collect(),
            Err(problem) => {
                self.problems.push(BuildError::option(&format!("{of}trusted"), problem.message));
                // Until the problem is reported, code that looks here must trust nobody rather than everybody.
                table["trusted"] = Value::Array(Vec::new());
            }
        }
    }

    /// Puts libraries in place of the files that hold them.
    fn preludes(&mut self, table: &mut Value, folder: &Path, of: &str) {
        let Some(Value::Array(entries)) = table.get_mut("preludes") else { return };
        entries.retain_mut(|entry| {
            match entry.as_str().and_then(|name| library::content(name, folder)) {
                // Entries of other kinds are reported by the reader of options.
                None => true,
                Some(Ok(content)) => {
                    *entry = content;
                    true
                }
                Some(Err(why)) => {
                    self.problems.push(BuildError::option(&format!("{of}preludes"), why));
                    false
                }
            }
        });
    }

    fn tool(&mut self, tool: &mut Map<String, Value>, folder: &Path, name: &str) {
        let below = format!("{name}.");
        if let Some(text) = self.taken(tool, "answer_file", folder, name) {
            let answer = match serde_json::from_str(&text.1) {
                Ok(answer) => answer,
                Err(error) => {
                    self.wrong(
                        name,
                        format!("`answer_file`: {} is not valid JSON: {error}", text.0.display()),
                    );
                    Value::Null
                }
            };
            tool.insert("answer".to_string(), answer);
        }
        if let Some((_, text)) = self.taken(tool, "program", folder, name) {
            tool.insert("source".to_string(), text.into());
        }
        if let Some(Value::String(file)) = tool.get("agent") {
            let table = self.agent_file(&folder.join(file), name, &below);
            match table {
                Some(table) => tool.insert("agent".to_string(), table),
                // The problem has been reported; this valid placeholder avoids a second report.
                None => tool.insert("agent".to_string(), serde_json::json!({"prompt": "…"})),
            };
        } else if let Some(table) = tool.get_mut("agent") {
            self.agent(table, folder, &below);
        }
        let mut own = Value::Object(std::mem::take(tool));
        self.agent(&mut own, folder, &below);
        if let Value::Object(own) = own {
            *tool = own;
        }
    }

    fn agent_file(&mut self, path: &Path, name: &str, below: &str) -> Option<Value> {
        if self.open.len() >= MAX_DEPTH || self.open.iter().any(|open| same(open, path)) {
            let chain: Vec<String> = self.open.iter().map(|open| open.display().to_string()).collect();
            let message = format!(
                "`agent`: {} refers to itself, or is nested too deeply ({}); for the agent itself write \
                 `tools.{name} = \"self\"`",
                path.display(),
                chain.join(" > "),
            );
            self.wrong(name, message);
            return None;
        }
        match read_table(path) {
            Err(error) => {
                self.wrong(name, format!("`agent`: {}", error.message));
                None
            }
            Ok(mut table) => {
                self.open.push(path.to_path_buf());
                self.agent(&mut table, path.parent().unwrap_or(Path::new("")), below);
                self.open.pop();
                Some(table)
            }
        }
    }

    /// Removes an option from the tool, and returns the text of the file that it names.
    fn taken(
        &mut self,
        tool: &mut Map<String, Value>,
        option: &str,
        folder: &Path,
        name: &str,
    ) -> Option<(PathBuf, String)> {
        let file = match tool.get(option)? {
            Value::String(file) => folder.join(file),
            // Values of other kinds are reported by the reader of tools.
            _ => return None,
        };
        tool.remove(option);
        match read(&file, MAX_ANSWER) {
            Ok(text) => Some((file, text)),
            Err(why) => {
                self.wrong(name, format!("`{option}`: {why}"));
                // Without any body, the tool would be reported a second time.
                tool.insert("answer".to_string(), Value::Null);
                None
            }
        }
    }

    fn wrong(&mut self, name: &str, message: String) {
        self.problems.push(BuildError::new(Reason::InvalidTool, format!("the tool `{name}`: {message}")));
    }
}

/// Returns whether two paths are the same file.
fn same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}

/// Reads the text of a file. Refuses pipes, which would block, and devices, which never end.
fn read(path: &Path, most: u64) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(format!("cannot read {}: it is not a file", path.display()));
    }
    if about.len() > most {
        return Err(format!("{} has {} bytes; at most {most} are allowed", path.display(), about.len()));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", path.display()))
}

/// Reads the table of a TOML or JSON file of at most 8 MiB.
pub fn read_table(path: &Path) -> Result<Value, BuildError> {
    let wrong = |message: String| BuildError::new(Reason::InvalidOption, message);
    let text = read(path, MAX_AGENT).map_err(wrong)?;
    let is_json = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    };
    let table: Result<Value, String> = match is_json {
        true => serde_json::from_str(&text).map_err(|error| format!("is not valid JSON: {error}")),
        false => {
            toml::from_str(&text).map_err(|error| format!("is not valid TOML: {}", error.to_string().trim()))
        }
    };
    match table {
        Ok(table @ Value::Object(_)) => Ok(table),
        Ok(_) => Err(wrong(format!("{} must be an object, such as {{\"prompt\": \"…\"}}", path.display()))),
        Err(why) => Err(wrong(format!("{} {why}", path.display()))),
    }
}
