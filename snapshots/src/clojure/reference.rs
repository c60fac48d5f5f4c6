//! Every name of Clojure and its counterpart here: the table `clojure/reference.txt`, which describes its own
//! format, and the list of Clojure's names that it must cover, `clojure/names.txt`.

use super::{Answer, home};
use ptc_bytecode::{FormName, lookup, qualified};

/// A heading of the table, with the rows below it.
pub struct Section {
    /// Text of the heading.
    pub title: String,
    /// The rows, in order.
    pub rows: Vec<Row>,
}

/// One name, piece of syntax or general rule.
pub struct Row {
    /// Result of the comparison with Clojure.
    pub status: Status,
    /// Name as programs write it; empty for a rule.
    pub name: String,
    /// The rule, or how the name differs, as a sentence; else empty.
    pub how: String,
    /// Example programs with their answers.
    pub examples: Vec<Example>,
}

/// Result of comparing a name with Clojure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// A rule that applies to all rows.
    Rule,
    /// Gives Clojure's answers.
    Same,
    /// Exists, with answers that sometimes differ.
    Different,
    /// Is refused, with a hint.
    Absent,
}

/// A program and its answers.
pub struct Example {
    /// Source of the program.
    pub program: String,
    /// Our answer, in the notation of [`stated`].
    pub ours: String,
    /// Clojure's answer, if it differs.
    pub clojure: Option<String>,
}

/// Title of the section whose rows are syntax, not names.
pub const SYNTAX: &str = "Syntax";

/// Prefixes that the table uses for namespaces.
const PREFIXES: &[(&str, &str)] =
    &[("str/", "clojure.string"), ("set/", "clojure.set"), ("walk/", "clojure.walk")];

impl Row {
    /// Returns programs that use an absent name or syntax, all of which must be refused.
    pub fn uses(&self) -> Vec<String> {
        match &self.examples[..] {
            [] => vec![format!("({} 1)", self.name), format!("[{}]", self.name)],
            examples => examples.iter().map(|example| example.program.clone()).collect(),
        }
    }

    /// Returns whether the language has a form or function of this name.
    pub fn is_ours(&self) -> bool {
        let own = |(prefix, member)| qualified(prefix, member).is_some();
        FormName::lookup(&self.name).is_some()
            || lookup(&self.name).is_some()
            || self.name.split_once('/').is_some_and(own)
    }
}

/// Reads the table.
///
/// # Panics
///
/// If the table cannot be read.
pub fn sections() -> Vec<Section> {
    let text = std::fs::read_to_string(home().join("reference.txt")).expect("the table");
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("; ") && *line != ";") {
        if let Some(title) = line.strip_prefix("## ") {
            sections.push(Section { title: title.to_string(), rows: Vec::new() });
            continue;
        }
        let rows = &mut sections.last_mut().unwrap_or_else(|| panic!("no heading before {line}")).rows;
        if let Some(program) = line.strip_prefix("    ") {
            rows.last_mut().unwrap_or_else(|| panic!("no row before {line}")).examples.push(example(program));
            continue;
        }
        let (sign, rest) = line.split_at(2);
        let row = |status, name: &str, how: &str, examples| Row {
            status,
            name: name.to_string(),
            how: how.to_string(),
            examples,
        };
        let parts = || rest.split_once("  ").unwrap_or_else(|| panic!("two blanks after the name: {line}"));
        match sign {
            "* " => rows.push(row(Status::Rule, "", rest, Vec::new())),
            "= " => rows.push(row(Status::Same, parts().0, "", vec![example(parts().1)])),
            "! " => rows.push(row(Status::Absent, parts().0, "", vec![example(parts().1)])),
            "~ " => rows.push(row(Status::Different, parts().0, parts().1, Vec::new())),
            "- " => rows.extend(rest.split(' ').map(|name| row(Status::Absent, name, "", Vec::new()))),
            _ => panic!("a line begins with = ~ - ! * or ##: {line}"),
        }
    }
    sections
}

fn example(line: &str) -> Example {
    let (program, answers) = line.split_once(" ;=> ").unwrap_or_else(|| panic!("no answer: {line}"));
    let (ours, clojure) = match answers.split_once(" ;clojure=> ") {
        Some((ours, clojure)) => (ours, Some(clojure.to_string())),
        None => (answers, None),
    };
    Example { program: program.to_string(), ours: ours.to_string(), clojure }
}

/// Parses an answer of the table: `42`, `nil, prints "a\n"` or `fails type_error`.
///
/// # Panics
///
/// If the printed text is not a JSON string.
pub fn stated(text: &str) -> Answer {
    if let Some(reason) = text.strip_prefix("fails ") {
        return Answer::Fault(reason.to_string());
    }
    let (value, prints) = text.split_once(", prints ").unwrap_or((text, "\"\""));
    Answer::Value(value.to_string(), serde_json::from_str(prints).expect("a string"))
}

/// Names of a version of Clojure.
pub struct Names {
    /// Version, as `(clojure-version)` returns it.
    pub version: String,
    /// Namespaces with their public names, and `special forms`.
    pub groups: Vec<(String, Vec<String>)>,
}

/// Title of the group of names without a namespace.
pub const SPECIAL_FORMS: &str = "special forms";

/// Reads the committed list of names.
///
/// # Panics
///
/// If the list cannot be read.
pub fn names() -> Names {
    let text = std::fs::read_to_string(home().join("names.txt")).expect("the list of names");
    let mut lines = text.lines();
    let version = lines.next().and_then(|line| line.strip_prefix("; Clojure ")).expect("a version");
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in lines.filter(|line| !line.is_empty()) {
        match line.strip_prefix("## ") {
            Some(title) => groups.push((title.to_string(), Vec::new())),
            None => groups.last_mut().expect("a heading").1.push(line.to_string()),
        }
    }
    Names { version: version.to_string(), groups }
}

impl Names {
    /// Returns the names in the spelling of the table.
    pub fn spellings(&self) -> Vec<String> {
        let prefix = |group: &str| PREFIXES.iter().find(|(_, space)| *space == group).map_or("", |row| row.0);
        let group = |(title, names): &(String, Vec<String>)| {
            let prefix = prefix(title);
            names.iter().map(move |name| format!("{prefix}{name}")).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(group).collect()
    }
}
