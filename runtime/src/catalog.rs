//! The catalogue of everything that can be looked up: `doc`, `dir`, `apropos`, `meta` and `ns-publics` of the language
//! and `ptc doc` on the command line all read from it.
//!
//! A catalogue is a list of entries from several sources. The language itself is one ([`Catalog::language`]); preludes
//! and upstream servers add theirs with [`Catalog::add`] and rank before it.

mod words;

pub use words::search_alike;
pub(crate) use words::{search, search_words, search_work};
pub use words::{tokens, wanted};

use ptc_bytecode::{BUILTINS, Builtin, CONSTANTS, Constant, FORMS, FormRow, Meaning, qualified};
use ptc_compiler::suggest;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use words::Words;

/// Maximum characters of a description in a line of `dir`.
const SHORT: usize = 120;

/// The source of an entry, in the order in which `apropos` lists them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Origin {
    /// An export of a prelude.
    Prelude,
    /// A tool of an upstream server.
    Upstream,
    /// An upstream server whose tools are not known yet.
    Unloaded,
    /// A form or builtin of the language.
    Local,
}

impl Origin {
    /// Returns the word for it in `apropos` and `meta`.
    pub fn name(self) -> &'static str {
        match self {
            Origin::Prelude => "prelude",
            Origin::Upstream | Origin::Unloaded => "upstream",
            Origin::Local => "local",
        }
    }
}

/// One entry of the catalogue.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Source of the entry.
    pub origin: Origin,
    /// "form", "function", "constant" or "method".
    pub kind: &'static str,
    /// Namespace it belongs to.
    pub namespace: String,
    /// Name within the namespace.
    pub name: String,
    /// Name as a program writes it.
    pub reference: String,
    /// Description in one line.
    pub description: String,
    /// Calls, one per arity, such as `(reduce f coll)`.
    pub signatures: Vec<String>,
    /// Heading on the reference page.
    pub section: String,
    /// An expression and its result.
    pub example: String,
    /// Words for searches.
    words: Words,
}

impl Entry {
    /// Makes an entry without an example.
    pub fn new(origin: Origin, kind: &'static str, namespace: &str, name: &str, description: &str) -> Entry {
        let mut entry = Entry {
            origin,
            kind,
            namespace: namespace.to_string(),
            name: name.to_string(),
            reference: name.to_string(),
            description: description.to_string(),
            signatures: Vec::new(),
            section: String::new(),
            example: String::new(),
            words: Words::default(),
        };
        entry.index();
        entry
    }

    /// Rebuilds its search words after a field has changed.
    fn index(&mut self) {
        let names = format!("{} {}", self.name, self.reference);
        let signatures = self.signatures.join(" ");
        let others = format!("{} {} {} {signatures}", self.description, self.namespace, self.section);
        self.words = Words::new(&names, &others);
    }

    fn of_form(row: &FormRow) -> Entry {
        let mut entry = Entry::new(Origin::Local, "form", "clojure.core", row.name, row.doc);
        entry.signatures = vec![row.usage.to_string()];
        entry.section = "Forms".to_string();
        entry.example = row.example.to_string();
        entry.index();
        entry
    }

    fn of_builtin(row: &Builtin) -> Entry {
        let (namespace, name) = placed(row.name, row.section);
        let kind = if row.name.starts_with('.') { "method" } else { "function" };
        let mut entry = Entry::new(Origin::Local, kind, namespace, name, row.doc);
        entry.reference = row.name.to_string();
        entry.signatures = vec![format!("({})", row.name)];
        entry.section = row.section.to_string();
        entry.example = row.example.to_string();
        // The parameters are not indexed: a search for "key" is not about every function that takes one.
        entry.index();
        entry.signatures = row.signatures();
        entry
    }

    fn of_constant(row: &Constant) -> Entry {
        let (namespace, name) = placed(row.name, "Constants");
        let mut entry = Entry::new(Origin::Local, "constant", namespace, name, row.doc);
        entry.reference = row.name.to_string();
        entry.signatures = vec![row.name.to_string()];
        entry.section = "Constants".to_string();
        entry.example = row.example.to_string();
        entry.index();
        entry
    }

    /// Returns the text of `doc`: one fact per line.
    pub fn text(&self) -> String {
        let mut lines = vec![
            self.reference.clone(),
            format!("Description: {}", self.description),
            format!("Kind: {}", self.kind),
            format!("Namespace: {}", self.namespace),
        ];
        lines.extend(self.signatures.iter().map(|signature| format!("Signature: {signature}")));
        if !self.example.is_empty() {
            lines.push(format!("Example: {}", self.example));
        }
        lines.join("\n")
    }

    /// Returns its page in `ptc doc`: calls, description, example and place. `strong` marks the calls.
    ///
    /// ```
    /// let entry = ptc_runtime::Catalog::language().find("inc").unwrap();
    /// assert_eq!(
    ///     entry.page(str::to_string),
    ///     "(inc x)\n\n  One more.\n\n  (inc 41) ;=> 42\n\n  function in clojure.core, arithmetic\n"
    /// );
    /// ```
    pub fn page(&self, strong: impl Fn(&str) -> String) -> String {
        let mut text = String::new();
        for signature in &self.signatures {
            text.push_str(&format!("{}\n", strong(signature)));
        }
        text.push_str(&format!("\n  {}\n", self.description));
        if !self.example.is_empty() {
            text.push_str(&format!("\n  {}\n", self.example));
        }
        text.push_str(&format!("\n  {}\n", self.place()));
        text
    }

    /// Returns what it is and where it belongs: `function in clojure.core, sequences`.
    pub fn place(&self) -> String {
        match &*self.section {
            "" => format!("{} in {}", self.kind, self.namespace),
            section => format!("{} in {}, {}", self.kind, self.namespace, section.to_lowercase()),
        }
    }

    /// Returns its line in `apropos`.
    pub fn found_line(&self) -> String {
        match self.origin {
            Origin::Prelude | Origin::Local => {
                format!("{}: {} - {}", self.origin.name(), self.reference, self.description)
            }
            Origin::Upstream => format!("{} - {}", self.reference, self.description),
            Origin::Unloaded => {
                let (server, about) = (&self.reference, &self.description);
                format!("{server} - {about} (not loaded; try (dir \"{server}\"))")
            }
        }
    }

    /// Sets the search words: those of its name, which count for more, and others.
    #[must_use]
    pub fn with_words(mut self, names: &str, others: &str) -> Entry {
        self.words = Words::new(names, others);
        self
    }

    /// Returns its line in `dir`.
    pub fn member_line(&self) -> String {
        let cut = self.description.char_indices().nth(SHORT);
        let short = cut.map_or(self.description.clone(), |(at, _)| format!("{}…", &self.description[..at]));
        format!("{} - {short}", self.reference)
    }

    /// Returns `[x y]` for each signature.
    pub fn arglists(&self) -> Vec<String> {
        let inside = |signature: &String| {
            let words = signature.trim_start_matches('(').trim_end_matches(')');
            format!("[{}]", words.split_once(' ').map_or("", |(_, rest)| rest))
        };
        self.signatures.iter().map(inside).collect()
    }
}

/// All entries that can be looked up; earlier ones win.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    entries: Vec<Entry>,
}

impl Catalog {
    /// Returns the forms and builtins of the language.
    ///
    /// ```
    /// use ptc_runtime::Catalog;
    /// let catalog = Catalog::language();
    /// assert_eq!(catalog.find("clojure.core/map").unwrap().reference, "map");
    /// assert_eq!(catalog.search("frequencies", 3)[0].reference, "frequencies");
    /// assert_eq!(catalog.near("fliter"), Some("filter"));
    /// ```
    pub fn language() -> &'static Catalog {
        static LANGUAGE: LazyLock<Catalog> = LazyLock::new(|| {
            let builtins = BUILTINS.iter().filter(|row| !row.name.starts_with('%'));
            let entries = FORMS.iter().map(Entry::of_form).chain(builtins.map(Entry::of_builtin));
            let entries = entries.chain(CONSTANTS.iter().map(Entry::of_constant)).collect();
            Catalog { entries }
        });
        &LANGUAGE
    }

    /// Adds another source; its names win over those already there.
    pub fn add(&mut self, entries: impl IntoIterator<Item = Entry>) {
        self.entries.splice(0..0, entries);
    }

    /// Returns all entries.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Finds the entry a reference names, qualified or not.
    pub fn find(&self, reference: &str) -> Option<&Entry> {
        let exact = |name: &str| self.entries.iter().find(|entry| entry.reference == name);
        exact(reference).or_else(|| {
            let (space, member) = reference.split_once('/')?;
            match qualified(space, member)? {
                Meaning::Builtin(id) => exact(id.row()?.name),
                Meaning::Constant(_) => {
                    let prefix = ptc_bytecode::namespace(space)?.names.first()?;
                    exact(&format!("{prefix}/{member}")).or_else(|| exact(member))
                }
            }
        })
    }

    /// Returns the reference most similar to this one.
    pub fn near(&self, reference: &str) -> Option<&str> {
        suggest::nearest(reference, self.entries.iter().map(|entry| &*entry.reference))
    }

    /// Returns the entries that match a query best, at most `limit`.
    pub fn search(&self, query: &str, limit: usize) -> Vec<&Entry> {
        search(self.entries.iter(), query, limit)
    }

    /// Returns the entries that a text is about, at most `limit`: those that share its rarest words first, whatever
    /// their origin. Plurals and words written together or apart are equal; words such as "the" do not count.
    ///
    /// ```
    /// use ptc_runtime::{Catalog, Entry, Origin};
    /// let entry = |name, about| Entry::new(Origin::Upstream, "tool", "shop", name, about);
    /// let mut catalog = Catalog::default();
    /// catalog.add([
    ///     entry("get_categories", "Names of all kinds of expenses."),
    ///     entry("sumBy", "Adds up a field of rows."),
    ///     entry("list-holidays", "Public holidays."),
    /// ]);
    /// let found = catalog.about("What is the sum for each category?", 8);
    /// assert_eq!(found.iter().map(|entry| &*entry.name).collect::<Vec<_>>(), ["get_categories", "sumBy"]);
    /// ```
    pub fn about(&self, text: &str, limit: usize) -> Vec<&Entry> {
        words::about(&self.entries, text, limit)
    }

    /// Returns the work of a search for this query.
    pub fn search_work(&self, query: &str) -> usize {
        search_work(self.entries.iter(), query)
    }

    /// Returns the namespaces that `all-ns` lists.
    pub fn namespaces(&self) -> Vec<&str> {
        let others = self.entries.iter().filter(|entry| entry.origin != Origin::Local);
        let others = others.map(|entry| &*entry.namespace);
        let found: BTreeSet<&str> = LISTED.iter().copied().chain(others).collect();
        found.into_iter().collect()
    }

    /// Returns the full name of a namespace: `clojure.string` for `str`; None if there is none.
    pub fn namespace(&self, name: &str) -> Option<&str> {
        let full = full_name(name);
        self.namespaces().into_iter().find(|known| *known == full)
    }

    /// Returns the members of a namespace or class, by name; empty for other names.
    pub fn members(&self, name: &str) -> Vec<&Entry> {
        let full = full_name(name);
        let mut members: Vec<&Entry> = match ptc_bytecode::namespace(name).filter(|row| !row.takes_all()) {
            Some(row) => {
                let prefix = row.names.first().copied().unwrap_or(name);
                row.list().into_iter().filter_map(|member| self.find(&format!("{prefix}/{member}"))).collect()
            }
            None => self.entries.iter().filter(|entry| entry.namespace == full).collect(),
        };
        members.sort_by(|a, b| a.name.cmp(&b.name));
        members.dedup_by(|a, b| a.reference == b.reference);
        members
    }
}

/// Namespaces of the language that `all-ns` lists; the other prefixes are classes.
const LISTED: &[&str] = &["clojure.core", "clojure.set", "clojure.string", "clojure.walk", "json"];

/// Returns the name under which a namespace is listed, or else its first name; other names are returned as they are.
fn full_name(name: &str) -> &str {
    match ptc_bytecode::namespace(name).map(|row| row.names) {
        Some(names @ [first, ..]) => LISTED.iter().find(|full| names.contains(full)).unwrap_or(first),
        _ => name,
    }
}

/// Functions on text that belong to `clojure.core`.
const CORE_TEXT: &[&str] = &[
    "str",
    "pr-str",
    "prn-str",
    "println",
    "prn",
    "name",
    "namespace",
    "keyword",
    "char",
    "subs",
    "format",
    "parse-long",
    "parse-int",
    "parse-double",
    "parse-boolean",
];

/// Returns namespace and name of a builtin or constant.
fn placed(name: &'static str, section: &str) -> (&'static str, &'static str) {
    if let Some((space, member)) = name.split_once('/').filter(|(a, b)| !a.is_empty() && !b.is_empty()) {
        return (full_name(space), member);
    }
    let space = match section {
        _ if name.starts_with('.') => "java",
        "Sets" if is_member("clojure.set", name) && !CORE_SETS.contains(&name) => "clojure.set",
        "Text" if !CORE_TEXT.contains(&name) => "clojure.string",
        "Trees" if is_member("clojure.walk", name) => "clojure.walk",
        _ => "clojure.core",
    };
    (space, name)
}

fn is_member(space: &str, name: &str) -> bool {
    ptc_bytecode::namespace(space).is_some_and(|row| row.members.contains(&name))
}

/// Functions on sets that belong to `clojure.core`.
const CORE_SETS: &[&str] = &["contains?", "disj", "hash-set", "set", "set?", "vec", "vector"];

#[cfg(test)]
mod tests {
    use super::{Catalog, Entry, Origin};

    #[test]
    fn exact_names_rank_before_parts_and_text() {
        let found: Vec<&str> = Catalog::language().search("sort", 3).iter().map(|e| &*e.reference).collect();
        assert_eq!(found[..2], ["sort", "sort-by"]);
        assert!(Catalog::language().search("zzzz", 3).is_empty());
        assert!(Catalog::language().search("--", 3).is_empty());
    }

    #[test]
    fn another_source_wins_and_ranks_first() {
        let mut catalog = Catalog::language().clone();
        let mut entry = Entry::new(Origin::Prelude, "function", "crm", "map", "Maps customers.");
        entry.reference = "crm/map".to_string();
        catalog.add([entry]);
        assert_eq!(catalog.search("map", 1)[0].reference, "crm/map");
        assert_eq!(catalog.namespace("crm"), Some("crm"));
        assert_eq!(catalog.members("crm").len(), 1);
    }

    #[test]
    fn every_entry_has_a_place_and_a_text() {
        for entry in Catalog::language().entries() {
            assert!(!entry.namespace.is_empty() && !entry.signatures.is_empty(), "{entry:?}");
            assert!(entry.text().lines().count() >= 6, "{}", entry.text());
        }
    }

    /// Runs every example of a form and compares its result.
    #[test]
    fn examples_of_forms_hold() {
        let runtime = crate::Runtime::with_core(ptc_preludes::core()).unwrap();
        let run = |source: &str| match runtime.eval(source, &crate::Grants::new()) {
            Ok(outcome) => outcome.print().unwrap(),
            Err(failure) => format!("fails {}", failure.reason()),
        };
        for row in ptc_bytecode::FORMS {
            let (source, wanted) = row.example.split_once(" ;=> ").unwrap();
            let wanted = if wanted.starts_with("fails ") { wanted.to_string() } else { run(wanted) };
            assert_eq!(run(source), wanted, "{source}");
        }
    }
}
