//! Completion: candidates for the word at the cursor.

use super::commands::{self, COMMANDS};
use super::keywords::Keywords;
use super::world::World;
use ptc_bytecode::NAMESPACES;
use ptc_compiler::{PieceKind, Reading, pieces};
use ptc_runtime::{Catalog, Entry, Origin};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// Maximum number of candidates; more are of no use to anyone.
const MAX: usize = 200;

/// Something that could stand there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Candidate {
    pub text: String,
    /// Description, for the box beside it.
    pub about: String,
}

/// A name of the session.
#[derive(Clone)]
struct Session {
    name: String,
    signatures: Vec<String>,
    doc: Option<String>,
}

impl Session {
    fn candidate(&self) -> Candidate {
        let doc = self.doc.as_deref().unwrap_or("defined in this session");
        Candidate { text: self.name.clone(), about: described(&self.signatures, doc) }
    }
}

/// The names there are at a moment.
#[derive(Clone, Default)]
pub struct Names {
    catalog: Catalog,
    session: Vec<Session>,
    data: Vec<String>,
    tools: Vec<String>,
    keywords: BTreeSet<String>,
}

impl Names {
    pub fn of(world: &World, keywords: &Keywords) -> Names {
        let session = world.defined().map(|name| {
            let typed = world.typed(name);
            let signatures = typed.map_or(Vec::new(), |typed| typed.signatures.clone());
            let doc = typed.and_then(|typed| typed.doc.clone());
            Session { name: name.to_string(), signatures, doc }
        });
        Names {
            catalog: world.catalog().clone(),
            session: session.collect(),
            data: world.data(),
            tools: world.tools().map(str::to_string).collect(),
            keywords: keywords.words().clone(),
        }
    }

    /// The first signature of something: the form of a call.
    pub fn signature(&self, name: &str) -> Option<&str> {
        let signatures = match self.session.iter().find(|known| known.name == name) {
            Some(known) => &known.signatures,
            None => &self.catalog.find(name)?.signatures,
        };
        signatures.last().map(String::as_str)
    }

    /// Candidates for the word before the cursor, and the place of that word.
    pub fn candidates(&self, line: &str, cursor: usize) -> (Range<usize>, Vec<Candidate>) {
        let before = line.get(..cursor).unwrap_or(line);
        if let Some((command, rest)) = commands::find(before)
            && before.len() > command.names[0].len()
            && before.trim_start().contains(char::is_whitespace)
        {
            if command.takes_files {
                let start = before.len() - last_word(rest).len();
                return (start..cursor, files(last_word(rest)));
            }
        } else if before.starts_with([':', '/']) && !before.contains(char::is_whitespace) {
            let mut found: Vec<Candidate> = COMMANDS
                .iter()
                .filter(|command| command.names[0].starts_with(before))
                .map(|command| Candidate { text: command.names[0].into(), about: command.about.into() })
                .collect();
            if before.len() > 1 && found.is_empty() {
                found = self.matching(before);
            }
            return (0..cursor, found);
        }
        let mut reading = Reading::new();
        reading.push(before);
        if reading.is_quoted() || is_comment(before) {
            return (cursor..cursor, Vec::new());
        }
        let word = word_before(before);
        (cursor - word.len()..cursor, self.matching(word))
    }

    fn matching(&self, word: &str) -> Vec<Candidate> {
        let mut found = self.beginning(word);
        if found.is_empty() && word.len() > 1 {
            let inside = |entry: &&Entry| entry.reference.contains(word);
            found = self.catalog.entries().iter().filter(inside).map(of_entry).collect();
        }
        let mut seen = BTreeSet::new();
        found.retain(|candidate| candidate.text != word && seen.insert(candidate.text.clone()));
        found.truncate(MAX);
        found
    }

    /// The names that begin so: those nearest to the user first.
    fn beginning(&self, word: &str) -> Vec<Candidate> {
        if word.starts_with(':') {
            let keyword = |text: &String| Candidate { text: text.clone(), about: "keyword".into() };
            return self.keywords.iter().filter(|text| text.starts_with(word)).map(keyword).collect();
        }
        if let Some((space, _)) = word.split_once('/').filter(|(space, _)| !space.is_empty()) {
            return self.members(space).into_iter().filter(|member| member.text.starts_with(word)).collect();
        }
        let begins = |text: &str| text.starts_with(word);
        let mut found: Vec<Candidate> =
            self.session.iter().filter(|known| begins(&known.name)).map(Session::candidate).collect();
        let of = |origin: Origin, wanted: &dyn Fn(&Entry) -> bool| {
            let entries = self.catalog.entries().iter();
            let entries = entries.filter(|entry| entry.origin == origin && wanted(entry));
            let mut found: Vec<Candidate> = entries.map(of_entry).collect();
            found.sort();
            found
        };
        found.extend(of(Origin::Prelude, &|entry| begins(&entry.reference)));
        if word.is_empty() {
            return found;
        }
        let last = [("*1", "the last value"), ("*2", "the value before it"), ("*3", "the one before that")];
        found.extend(last.iter().filter(|(text, _)| begins(text)).map(|(text, about)| plain(text, about)));
        found.extend(of(Origin::Local, &|entry| begins(&entry.reference)));
        let mut spaces: Vec<&str> = NAMESPACES.iter().flat_map(|space| space.names).copied().collect();
        spaces.extend(self.data.first().map(|_| "data"));
        spaces.extend(self.tools.first().map(|_| "tool"));
        spaces.sort_unstable();
        let spaces = spaces.into_iter().filter(|space| begins(space));
        found.extend(spaces.map(|space| plain(&format!("{space}/"), "namespace")));
        // Someone may know what it is called and not where it is.
        found.extend(of(Origin::Prelude, &|entry| begins(&entry.name)));
        found
    }

    /// The members of a namespace, as `space/name`.
    fn members(&self, space: &str) -> Vec<Candidate> {
        let named = |names: &[String], about: &str| {
            names.iter().map(|name| plain(&format!("{space}/{name}"), about)).collect()
        };
        match space {
            "data" => return named(&self.data, "granted data"),
            "tool" => return named(&self.tools, "granted tool"),
            _ => {}
        }
        let member = |entry: &&Entry| {
            let name = entry.reference.split_once('/').map_or(&*entry.reference, |(_, name)| name);
            Candidate { text: format!("{space}/{name}"), about: about(entry) }
        };
        self.catalog.members(space).iter().map(member).collect()
    }
}

fn plain(text: &str, about: &str) -> Candidate {
    Candidate { text: text.to_string(), about: about.to_string() }
}

fn of_entry(entry: &Entry) -> Candidate {
    Candidate { text: entry.reference.clone(), about: about(entry) }
}

fn about(entry: &Entry) -> String {
    described(&entry.signatures, &entry.description)
}

/// Signature and description of something, on one line.
fn described(signatures: &[String], doc: &str) -> String {
    let doc = doc.split_whitespace().collect::<Vec<_>>().join(" ");
    [&signatures.join(" "), &*doc].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" - ")
}

/// The name that ends here, without a quote before it.
pub fn word_before(text: &str) -> &str {
    let ends_word = |c: char| c.is_whitespace() || "()[]{}\",;`~@^".contains(c);
    let start = text.char_indices().rev().find(|(_, c)| ends_word(*c)).map_or(0, |(at, c)| at + c.len_utf8());
    text[start..].trim_start_matches("#'").trim_start_matches('\'').trim_start_matches('#')
}

/// The name the cursor is on or behind.
pub fn word_at(text: &str, cursor: usize) -> &str {
    let before = word_before(text.get(..cursor).unwrap_or(text));
    let start = cursor.min(text.len()) - before.len();
    let ends_word = |c: char| c.is_whitespace() || "()[]{}\",;`~@^".contains(c);
    let rest = &text[start..];
    rest.find(ends_word).map_or(rest, |end| &rest[..end])
}

fn last_word(text: &str) -> &str {
    text.rsplit(char::is_whitespace).next().unwrap_or("")
}

fn is_comment(text: &str) -> bool {
    pieces(text).last().is_some_and(|last| {
        last.kind == PieceKind::Comment && last.span.end as usize == text.len() && !text.ends_with('\n')
    })
}

/// Files and folders whose path begins so.
fn files(path: &str) -> Vec<Candidate> {
    let (folder, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    let place = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let mut found: Vec<Candidate> = Vec::new();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten().take(10_000) {
        let file = entry.file_name().to_string_lossy().into_owned();
        let is_folder = entry.path().is_dir();
        let is_ours = Path::new(&file).extension().is_some_and(|kind| kind == "clj" || kind == "ptcp");
        let is_hidden = file.starts_with('.') && !name.starts_with('.');
        if file.starts_with(name) && !is_hidden && (is_folder || is_ours) {
            let end = if is_folder { "/" } else { "" };
            found.push(plain(&format!("{folder}{file}{end}"), if is_folder { "folder" } else { "file" }));
        }
    }
    found.sort();
    found.truncate(MAX);
    found
}

#[cfg(test)]
mod tests {
    use super::{Keywords, Names, Session, word_at, word_before};
    use ptc_runtime::Catalog;

    fn names() -> Names {
        let mut keywords = Keywords::default();
        keywords.see("{:name 1 :total 2} \":no\"");
        Names {
            catalog: Catalog::language().clone(),
            session: vec![Session {
                name: "my-total".into(),
                signatures: vec!["(my-total rows)".into()],
                doc: Some("Sums.".into()),
            }],
            data: vec!["orders".into()],
            tools: vec!["price".into()],
            keywords: keywords.words().clone(),
        }
    }

    fn found(line: &str) -> Vec<String> {
        names().candidates(line, line.len()).1.into_iter().map(|candidate| candidate.text).collect()
    }

    #[test]
    fn names_of_all_kinds() {
        assert_eq!(found("(my-"), ["my-total"]);
        assert_eq!(found("(frequ"), ["frequencies"]);
        assert_eq!(found("(:to"), [":total"]);
        assert_eq!(found("(count data/o"), ["data/orders"]);
        assert_eq!(found("(tool/"), ["tool/price"]);
        assert_eq!(found("*")[..3], ["*1", "*2", "*3"]);
        assert!(found("(str/jo").contains(&"str/join".to_string()));
        assert!(found("(clojure.string/jo").contains(&"clojure.string/join".to_string()));
        assert!(found("(Mat").contains(&"Math/".to_string()));
        assert_eq!(found("(doc 'freq"), ["frequencies"]);
        assert!(found("(quencies").contains(&"frequencies".to_string()));
        assert_eq!(found("("), ["my-total"]);
    }

    #[test]
    fn exports_by_their_namespace_or_by_name_alone() {
        let mut entry =
            ptc_runtime::Entry::new(ptc_runtime::Origin::Prelude, "function", "crm", "maximum", "M.");
        entry.reference = "crm/maximum".into();
        let mut names = names();
        names.catalog.add([entry]);
        let found = |line: &str| {
            let found = names.candidates(line, line.len()).1;
            found.into_iter().map(|candidate| candidate.text).collect::<Vec<_>>()
        };
        assert_eq!(found("(crm"), ["crm/maximum"]);
        assert_eq!(found("(crm/m"), ["crm/maximum"]);
        // Where it is not known, names that begin so come first.
        let all = found("(ma");
        assert_eq!((all[0].as_str(), all.last().map(String::as_str)), ("map", Some("crm/maximum")));
        assert_eq!(found("("), ["my-total", "crm/maximum"]);
    }

    #[test]
    fn the_box_says_what_it_is() {
        let (range, found) = names().candidates("x (frequ y", 8);
        assert_eq!((range, found.len()), (3..8, 1));
        assert!(found[0].about.starts_with("(frequencies coll) - A map from element"), "{}", found[0].about);
    }

    #[test]
    fn commands_at_the_beginning_only() {
        assert_eq!(found(":apr"), [":apropos"]);
        assert!(found("(:apr").is_empty());
        assert_eq!(found(":na"), [":name"]);
        assert_eq!(found(":doc frequ"), ["frequencies"]);
        assert_eq!(found(":load src/li"), ["src/lib.rs"; 0]);
    }

    #[test]
    fn nothing_in_strings_and_comments() {
        assert!(found("(str \"ma").is_empty() && found("; ma").is_empty() && found("(a) ; ma").is_empty());
        assert!(!found("; a\nfrequ").is_empty());
    }

    #[test]
    fn words() {
        assert_eq!(word_before("(map 'in"), "in");
        assert_eq!(word_before("(map "), "");
        assert_eq!(word_at("(frequencies xs)", 3), "frequencies");
        assert_eq!(word_at("(frequencies xs)", 12), "frequencies");
        assert_eq!(word_at("()", 1), "");
    }
}
