//! Input: files, program texts and granted data.

use crate::problem::Problem;
use ptc_bytecode::{Code, Diagnostic, Limits};
use ptc_model::Part;
use ptc_runtime::Frozen;
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::Path;

/// One `--data` or `--stub`: a name, and the text of its value or the file that has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Data {
    pub name: String,
    pub source: DataSource,
}

/// Place of the text of granted data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DataSource {
    Text(String),
    File(String),
}

impl Data {
    /// Reads `NAME=@FILE` or `NAME=JSON`.
    pub fn parse(text: &str) -> Result<Data, String> {
        let usage = "expected NAME=@FILE or NAME=JSON, such as orders=@orders.json or limit=10";
        let (name, value) = text.split_once('=').ok_or(usage)?;
        if name.is_empty() || name.contains(|c: char| c.is_whitespace() || "()[]{}\"';,/".contains(c)) {
            return Err(format!("`{name}` is not a name that programs can write; {usage}"));
        }
        let source = match value.strip_prefix('@') {
            Some("") => return Err(format!("a file name is missing; {usage}")),
            Some(file) => DataSource::File(file.to_string()),
            None => DataSource::Text(value.to_string()),
        };
        Ok(Data { name: name.to_string(), source })
    }

    /// Refuses two of the same name, of which only one would be used.
    pub fn check_names(all: &[Data], flag: &str) -> Result<(), Problem> {
        let twice = (1..all.len()).find(|i| all[..*i].iter().any(|known| known.name == all[*i].name));
        let Some(again) = twice.map(|i| &all[i]) else { return Ok(()) };
        let message = format!("{flag} gives `{}` twice", again.name);
        Err(Problem::new(Code::InvalidConfig, message).hint("keep one of them"))
    }

    /// The value, which errors call `kind/NAME`.
    pub fn load(&self, limits: &Limits, kind: &str) -> Result<Frozen, Problem> {
        let (bytes, from) = match &self.source {
            DataSource::Text(text) => (text.clone().into_bytes(), String::new()),
            DataSource::File(file) => {
                // Text may be longer than the data in it, and not much.
                let most = limits.granted_bytes.saturating_mul(2).max(MIN_DATA_TEXT);
                let rule = "the most that limits.granted_bytes allows";
                if file == "-" {
                    waiting_for(&format!("{kind}/{}", self.name));
                }
                let bytes = read_most(Path::new(file), most, rule)?;
                let json = part_of(file, &bytes).and_then(|part| serde_json::to_vec(&part).ok());
                (json.unwrap_or(bytes), format!(" ({file})"))
            }
        };
        freeze(&bytes, limits).map_err(|mut diagnostic| {
            diagnostic.message = format!("{kind}/{}{from}: {}", self.name, diagnostic.message);
            diagnostic.span = None;
            diagnostic.hint = diagnostic.hint.or_else(|| self.meant(&bytes));
            Problem(Box::new(diagnostic))
        })
    }

    /// Guess at the intended meaning of a value's text that is not JSON.
    fn meant(&self, bytes: &[u8]) -> Option<String> {
        let is_csv = |file: &str| file.ends_with(".csv") || file.ends_with(".tsv");
        match &self.source {
            DataSource::Text(text) if Path::new(text).is_file() => {
                Some(format!("did you mean `{}=@{text}`, the content of the file?", self.name))
            }
            DataSource::File(file) if is_csv(file) => Some(
                "only JSON can be granted: `jq -Rs . FILE` turns a text into one JSON string".to_string(),
            ),
            DataSource::File(_) if is_json_lines(bytes) => Some(
                "this looks like JSON lines, with one record per line: run the program with `ptc batch`"
                    .to_string(),
            ),
            DataSource::Text(text) if is_plain_text(text) => {
                Some(format!("a text needs quotes of its own: '{}=\"{text}\"'", self.name))
            }
            _ => None,
        }
    }
}

/// True for a short text that only lacks the quotes of JSON.
fn is_plain_text(text: &str) -> bool {
    text.len() <= 60 && text.starts_with(char::is_alphabetic) && !text.contains(['"', '\'', '\\', '\n'])
}

/// True if the first two lines are JSON each.
fn is_json_lines(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let mut is_json =
        || lines.next().is_some_and(|line| serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok());
    is_json() && is_json()
}

/// The image or the document in a file, by its bytes; None for anything else.
pub fn part_of(file: &str, bytes: &[u8]) -> Option<Part> {
    let name = Path::new(file).file_name().unwrap_or_default();
    Part::from_file(name.to_string_lossy(), bytes)
}

/// JSON text as shared data, within `limits.granted_bytes`.
pub fn freeze(json: &[u8], limits: &Limits) -> Result<Frozen, Diagnostic> {
    Ok(ptc_runtime::json::freeze_json(json, limits.granted_bytes)?)
}

/// Bytes of any file that is read as a whole. Devices have no end, and would take all memory.
const MAX_FILE: u64 = 1 << 30;
/// Bytes of a program: as much as `limits.source_bytes` can be set to.
const MAX_PROGRAM: u64 = 256 << 20;
/// Bytes of text that are read for data, however small `limits.granted_bytes` is.
const MIN_DATA_TEXT: u64 = 16 << 20;

/// The bytes of a file; `-` is standard input.
pub fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    if file == Path::new("-") {
        waiting_for("data");
    }
    read_most(file, MAX_FILE, "the most that can be read at once")
}

/// Reads a line as `read_until` does, of at most as many bytes as a program may have. The error is for a longer one.
pub fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<usize> {
    let read = input.by_ref().take(MAX_PROGRAM + 1).read_until(b'\n', line)?;
    match read as u64 > MAX_PROGRAM {
        true => Err(io::Error::other(format!("a line has more than {MAX_PROGRAM} bytes"))),
        false => Ok(read),
    }
}

/// Tells somebody at a terminal what is awaited there; without it, they would wait too. `what` is such as `a program`.
pub fn waiting_for(what: &str) {
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        // In one piece: what is typed meanwhile is echoed behind the line, not in it.
        let line = format!("reading {what} from the terminal; end with {END_KEYS}\n");
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Keys that end the input of a terminal.
pub const END_KEYS: &str = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };

/// The bytes of a file that has at most so many; `rule` says where the number comes from.
fn read_most(file: &Path, most: u64, rule: &str) -> Result<Vec<u8>, Problem> {
    let cannot = |why: &dyn std::fmt::Display| {
        Problem::new(Code::InvalidConfig, format!("cannot read {}: {why}", file.display()))
    };
    let mut bytes = Vec::new();
    let mut from: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(std::fs::File::open(file).map_err(|error| cannot(&error))?),
    };
    from.by_ref().take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| cannot(&error))?;
    match bytes.len() as u64 > most {
        true => Err(cannot(&format!("it has more than {most} bytes, {rule}"))),
        false => Ok(bytes),
    }
}

/// The text of a program; `-` is standard input.
pub fn read_program(file: &Path) -> Result<String, Problem> {
    if file == Path::new("-") {
        waiting_for("a program");
    }
    let bytes = read_most(file, MAX_PROGRAM, "the most that limits.source_bytes can be");
    text_of(bytes.map_err(|problem| if is_program(file) { problem.hint(TEXT_FLAG) } else { problem })?, file)
}

const TEXT_FLAG: &str = "`-e` comes before the text of a program: `ptc eval -e '(+ 1 2)'`";

/// True if this is the text of a program rather than a file's name.
fn is_program(file: &Path) -> bool {
    let text = file.to_string_lossy();
    text.starts_with(['(', '[', '{', '#']) || text.starts_with("data/") && !text.contains('.')
}

fn text_of(bytes: Vec<u8>, file: &Path) -> Result<String, Problem> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let message = format!("cannot read {}: byte {at} is not UTF-8 text", file.display());
        Problem::new(Code::InvalidConfig, message)
    })
}

#[cfg(test)]
mod tests {
    use super::{Data, DataSource};

    #[test]
    fn json_lines_are_known_by_their_first_two() {
        assert!(super::is_json_lines(b"{\"a\": 1}\n\n{\"a\": 2}\nbroken"));
        for other in ["[1,\n2]", "{\"a\": 1}", "", "a,b\n1,2"] {
            assert!(!super::is_json_lines(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn data_is_a_name_with_text_or_a_file() {
        let parse = |text| Data::parse(text).map(|data| (data.name, data.source));
        assert_eq!(parse("n=1"), Ok(("n".into(), DataSource::Text("1".into()))));
        assert_eq!(parse("q=\"a=b\""), Ok(("q".into(), DataSource::Text("\"a=b\"".into()))));
        assert_eq!(parse("rows=@a/b.json"), Ok(("rows".into(), DataSource::File("a/b.json".into()))));
        for bad in ["n", "=1", "a b=1", "a/b=1", "n=@"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
