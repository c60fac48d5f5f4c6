//! Agents in files, together with the files that they name.

use super::places::{is_json, place_of_keys};
use super::{Agent, AgentBuilder, BuildError, Reason, library};
use ptc_bytecode::Place;
use ptc_runtime::TrustedKeys;
use serde_json::{Map, Value};
use std::fmt;
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
    sources: Vec<SourceFile>,
}

/// File that a part of a definition came from.
#[derive(Clone, Debug)]
struct SourceFile {
    /// Keys that lead to the part.
    keys: Vec<String>,
    path: PathBuf,
    /// Text of a table; None for a file that is one value, such as a program.
    table: Option<String>,
}

/// Place in a file; displayed as `agent.toml:3:1`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FilePlace {
    /// The file.
    pub file: PathBuf,
    /// Line and column; None for the whole file.
    pub place: Option<Place>,
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        self.place.map_or(Ok(()), |place| write!(f, ":{}:{}", place.line, place.column))
    }
}

impl AgentFile {
    /// Reads the file and all files that it names. Fails for a file that is not a table; problems of single options and
    /// tools are reported by [`AgentBuilder::problems`].
    pub fn load(path: impl AsRef<Path>) -> Result<AgentFile, BuildError> {
        let path = path.as_ref();
        let TableFile { text, mut table, .. } = TableFile::read(path)?;
        let mut files = Files { problems: Vec::new(), open: vec![path.to_path_buf()], sources: Vec::new() };
        files.found(&[], path, Some(text));
        files.agent(&mut table, path.parent().unwrap_or(Path::new("")), "", &[]);
        Ok(AgentFile { table, problems: files.problems, sources: files.sources })
    }

    /// Returns the file and the line that a problem is about.
    ///
    /// ```
    /// use ptc_agent::definition::AgentFile;
    /// # let folder = std::env::temp_dir().join(format!("ptc-doc-places-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// std::fs::write(folder.join("a.toml"), "prompt = \"Count\"\nmax_turn = 3\n")?;
    /// let file = AgentFile::load(folder.join("a.toml"))?;
    /// let problem = &file.builder().problems()[0];
    /// assert_eq!(problem.keys, ["max_turn"]);
    /// assert!(file.place_of(problem).to_string().ends_with("a.toml:2:1"));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn place_of(&self, problem: &BuildError) -> FilePlace {
        let holds = |source: &&SourceFile| problem.keys.starts_with(&source.keys);
        let source = self.sources.iter().filter(holds).max_by_key(|source| source.keys.len());
        let Some(source) = source else { return FilePlace { file: PathBuf::new(), place: None } };
        let place = match &source.table {
            None => problem.inside,
            Some(text) => {
                let is_json = is_json(extension(&source.path), text);
                place_of_keys(text, is_json, &problem.keys[source.keys.len()..])
            }
        };
        FilePlace { file: source.path.clone(), place }
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
    /// Files that were read.
    sources: Vec<SourceFile>,
}

impl Files {
    /// Notes a file that was read for the value of these keys.
    fn found(&mut self, keys: &[&str], path: &Path, table: Option<String>) {
        let keys = keys.iter().map(|key| key.to_string()).collect();
        self.sources.push(SourceFile { keys, path: path.to_path_buf(), table });
    }

    /// Reads the files of one agent. `of` is its path in the outermost agent for messages, such as `finder.`, and `keys`
    /// lead to it.
    fn agent(&mut self, table: &mut Value, folder: &Path, of: &str, keys: &[&str]) {
        self.trusted(table, folder, of, keys);
        self.preludes(table, folder, of, keys);
        for key in ["tools", "tool_catalog"] {
            if let Some(Value::Object(tools)) = table.get_mut(key) {
                for (name, tool) in tools.iter_mut() {
                    if let Value::Object(tool) = tool {
                        self.tool(tool, folder, &format!("{of}{name}"), &[keys, &[key, name]].concat());
                    }
                }
            }
        }
    }

    /// Puts trusted keys in place of the files that hold them.
    fn trusted(&mut self, table: &mut Value, folder: &Path, of: &str, keys: &[&str]) {
        let Some(Value::Array(entries)) = table.get("trusted") else { return };
        // A list of other values is reported by the reader of options.
        let Some(named) = entries.iter().map(Value::as_str).collect::<Option<Vec<&str>>>() else { return };
        match TrustedKeys::named(&named, folder) {
            Ok(keys) => table["trusted"] = keys.to_text().lines().collect(),
            Err(problem) => {
                self.problems.push(option(of, "trusted", &problem.message, keys));
                // Until the problem is reported, code that looks here must trust nobody rather than everybody.
                table["trusted"] = Value::Array(Vec::new());
            }
        }
    }

    /// Puts libraries in place of the files that hold them.
    fn preludes(&mut self, table: &mut Value, folder: &Path, of: &str, keys: &[&str]) {
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
                    self.problems.push(option(of, "preludes", &why, keys));
                    false
                }
            }
        });
    }

    fn tool(&mut self, tool: &mut Map<String, Value>, folder: &Path, name: &str, keys: &[&str]) {
        let below = format!("{name}.");
        if let Some((file, text)) = self.taken(tool, "answer_file", folder, name, keys) {
            let answer = match serde_json::from_str(&text) {
                Ok(answer) => answer,
                Err(error) => {
                    let message = format!("`answer_file`: {} is not valid JSON: {error}", file.display());
                    self.wrong(name, message, keys, "answer_file");
                    Value::Null
                }
            };
            tool.insert("answer".to_string(), answer);
        }
        if let Some((file, text)) = self.taken(tool, "program", folder, name, keys) {
            self.found(&[keys, &["source"]].concat(), &file, None);
            tool.insert("source".to_string(), text.into());
        }
        let of_agent = [keys, &["agent"]].concat();
        if let Some(Value::String(file)) = tool.get("agent") {
            let table = self.agent_file(&folder.join(file), name, &below, &of_agent);
            match table {
                Some(table) => tool.insert("agent".to_string(), table),
                // The problem has been reported; this valid placeholder avoids a second report.
                None => tool.insert("agent".to_string(), serde_json::json!({"prompt": "…"})),
            };
        } else if let Some(table) = tool.get_mut("agent") {
            self.agent(table, folder, &below, &of_agent);
        }
        let mut own = Value::Object(std::mem::take(tool));
        self.agent(&mut own, folder, &below, keys);
        if let Value::Object(own) = own {
            *tool = own;
        }
    }

    fn agent_file(&mut self, path: &Path, name: &str, below: &str, keys: &[&str]) -> Option<Value> {
        let of_tool = keys.split_last().map_or(keys, |(_, before)| before);
        if self.open.len() >= MAX_DEPTH || self.open.iter().any(|open| same(open, path)) {
            let chain: Vec<String> = self.open.iter().map(|open| open.display().to_string()).collect();
            let message = format!(
                "`agent`: {} refers to itself, or is nested too deeply ({}); for the agent itself write \
                 `tools.{name} = \"self\"`",
                path.display(),
                chain.join(" > "),
            );
            self.wrong(name, message, of_tool, "agent");
            return None;
        }
        match TableFile::read(path) {
            Err(error) => {
                self.wrong(name, format!("`agent`: {}", error.message), of_tool, "agent");
                None
            }
            Ok(TableFile { text, mut table, .. }) => {
                self.found(keys, path, Some(text));
                self.open.push(path.to_path_buf());
                self.agent(&mut table, path.parent().unwrap_or(Path::new("")), below, keys);
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
        keys: &[&str],
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
                self.wrong(name, format!("`{option}`: {why}"), keys, option);
                // Without any body, the tool would be reported a second time.
                tool.insert("answer".to_string(), Value::Null);
                None
            }
        }
    }

    /// Notes a problem with an option of a tool, to which these keys lead.
    fn wrong(&mut self, name: &str, message: String, keys: &[&str], option: &str) {
        let error = BuildError::new(Reason::InvalidTool, format!("the tool `{name}`: {message}"));
        self.problems.push(error.under(&[option]).under(keys));
    }
}

/// Returns a problem with an option of the agent to which these keys lead.
fn option(of: &str, name: &str, rule: &str, keys: &[&str]) -> BuildError {
    BuildError::new(Reason::InvalidOption, format!("`{of}{name}` {rule}")).under(&[name]).under(keys)
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

fn extension(path: &Path) -> Option<&str> {
    path.extension().and_then(|extension| extension.to_str())
}

/// The table of a TOML or JSON file of at most 8 MiB, with its text.
#[derive(Clone, Debug)]
pub struct TableFile {
    /// Name of the file.
    pub path: PathBuf,
    /// Text of the file.
    pub text: String,
    /// Content of the file, an object.
    pub table: Value,
}

impl TableFile {
    /// Reads a file. Without an extension that says what it is, a text that begins with `{` is JSON.
    pub fn read(path: &Path) -> Result<TableFile, BuildError> {
        let wrong = |message: String| BuildError::new(Reason::InvalidOption, message);
        let text = read(path, MAX_AGENT).map_err(wrong)?;
        let table: Result<Value, String> = match is_json(extension(path), &text) {
            true => serde_json::from_str(&text).map_err(|error| format!("is not valid JSON: {error}")),
            false => toml::from_str(&text)
                .map_err(|error| format!("is not valid TOML: {}", error.to_string().trim())),
        };
        match table {
            Ok(table @ Value::Object(_)) => Ok(TableFile { path: path.to_path_buf(), text, table }),
            Ok(_) => {
                Err(wrong(format!("{} must be an object, such as {{\"prompt\": \"…\"}}", path.display())))
            }
            Err(why) => Err(wrong(format!("{} {why}", path.display()))),
        }
    }

    /// Returns the place to which these keys lead, or as far as they lead. Items of lists are keys, too: `cases`, `2`.
    pub fn place(&self, keys: &[String]) -> FilePlace {
        let place = place_of_keys(&self.text, is_json(extension(&self.path), &self.text), keys);
        FilePlace { file: self.path.clone(), place }
    }
}
