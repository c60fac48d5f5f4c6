//! Lexical search: finds the entries that the words of a query are about.
//!
//! `apropos` ranks by whole words, prefixes and parts, names before descriptions; that order is stable, since people
//! and models rely on it. Entries it misses are found by stems, so that "invoices" finds `get_invoice`. A mission in
//! prose is another kind of query: there stems and their rarity come first, since a part of a word says little.

use super::Entry;
use std::collections::BTreeSet;

/// Maximum words of a query. A mission may hold whole documents.
const MAX_WORDS: usize = 400;

/// Queries with more words than this are questions: filler words are left out.
const SHORT_QUERY: usize = 3;

/// Filler words, which say nothing about tools.
const EMPTY: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "but", "can", "do", "does", "for", "from",
    "has", "have", "how", "i", "in", "into", "is", "it", "its", "me", "my", "no", "not", "of", "on", "one",
    "or", "our", "out", "please", "should", "so", "that", "the", "their", "them", "then", "they", "this",
    "to", "use", "using", "was", "we", "what", "when", "where", "which", "who", "will", "with", "you",
    "your",
];

/// Score of a whole word; a prefix or part of a word scores 1.
const WHOLE: u64 = 4;

/// Minimum length of a stem that is searched inside words.
const SHORTEST_PART: usize = 4;

/// Factor by which a word of a name outweighs a word of a description.
const NAME: u64 = 3;

/// The search words of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    names: Vec<String>,
    others: Vec<String>,
    /// Stems of names and of other words, each once and sorted.
    stems: [Vec<String>; 2],
}

impl Words {
    pub fn new(names: &str, others: &str) -> Words {
        let (names, others) = (tokens(names), tokens(others));
        let stems = [&names, &others].map(|words| stems(words).into_iter().collect());
        Words { names, others, stems }
    }

    fn has(&self, stem: &String) -> bool {
        self.stems.iter().any(|stems| stems.binary_search(stem).is_ok())
    }

    /// Scores whole words, prefixes and parts, as `apropos` ranks.
    fn score(&self, wanted: &[String]) -> u64 {
        score(wanted, &self.names, 2) + score(wanted, &self.others, 0)
    }

    /// Sums the weights of the stems found here.
    fn relevance(&self, wanted: &[(String, u64)]) -> u64 {
        let of_field = |stem: &String, stems: &[String]| match stems.binary_search(stem) {
            Ok(_) => WHOLE,
            Err(_) if stem.len() < SHORTEST_PART => 0,
            Err(_) => u64::from(stems.iter().any(|known| known.contains(stem.as_str()))),
        };
        let of = |(stem, weight): &(String, u64)| {
            weight * (NAME * of_field(stem, &self.stems[0])).max(of_field(stem, &self.stems[1]))
        };
        wanted.iter().map(of).sum()
    }
}

/// Returns the entries that match a query best, at most `limit`, by origin, score, stems, namespace and name. If no
/// word of the query is found, it may abbreviate names: `usr` finds `get-user`.
pub(crate) fn search<'e>(
    entries: impl Iterator<Item = &'e Entry>,
    query: &str,
    limit: usize,
) -> Vec<&'e Entry> {
    let entries: Vec<&Entry> = entries.collect();
    let found = search_words(entries.iter().copied(), query, limit);
    if found.is_empty() { search_alike(entries.into_iter(), query, limit) } else { found }
}

/// Returns the entries that have words of a query, best first.
pub(crate) fn search_words<'e>(
    entries: impl Iterator<Item = &'e Entry>,
    query: &str,
    limit: usize,
) -> Vec<&'e Entry> {
    let wanted = wanted(query);
    let entries: Vec<&Entry> = entries.collect();
    let weighed = weighed(&entries, &wanted);
    let scored = entries.iter().map(|entry| {
        let score = entry.words.score(&wanted);
        // Stems only decide for entries without a score: the order of the others is known.
        let relevance = if score == 0 { entry.words.relevance(&weighed) } else { 0 };
        (*entry, score, relevance)
    });
    let found: Vec<(&Entry, u64, u64)> =
        scored.filter(|(_, score, relevance)| score + relevance > 0).collect();
    ranked(found, limit)
}

/// Returns the entries whose names words of the query may abbreviate.
pub fn search_alike<'e>(
    entries: impl Iterator<Item = &'e Entry>,
    query: &str,
    limit: usize,
) -> Vec<&'e Entry> {
    let wanted = wanted(query);
    let scored = entries.map(|entry| (entry, likeness(&wanted, &entry.words.names), 0));
    ranked(scored.filter(|(_, score, _)| *score > 0).collect(), limit)
}

fn ranked(mut found: Vec<(&Entry, u64, u64)>, limit: usize) -> Vec<&Entry> {
    found.sort_by(|(a, score_a, relevance_a), (b, score_b, relevance_b)| {
        let order = a.origin.cmp(&b.origin).then(score_b.cmp(score_a)).then(relevance_b.cmp(relevance_a));
        order.then_with(|| (&a.namespace, &a.name).cmp(&(&b.namespace, &b.name)))
    });
    found.truncate(limit);
    found.into_iter().map(|(entry, ..)| entry).collect()
}

/// Returns the entries that a text is about, at most `limit`, by the rarity of the words they share with it.
pub(super) fn about<'e>(entries: &'e [Entry], text: &str, limit: usize) -> Vec<&'e Entry> {
    let wanted = wanted(text);
    let entries: Vec<&Entry> = entries.iter().collect();
    let weighed = weighed(&entries, &wanted);
    let scored = entries.into_iter().map(|entry| (entry, entry.words.relevance(&weighed)));
    let mut found: Vec<(&Entry, u64)> = scored.filter(|(_, relevance)| *relevance > 0).collect();
    found.sort_by(|(a, x), (b, y)| {
        y.cmp(x).then_with(|| (a.origin, &a.namespace, &a.name).cmp(&(b.origin, &b.namespace, &b.name)))
    });
    found.truncate(limit);
    found.into_iter().map(|(entry, _)| entry).collect()
}

/// Returns the work of a search for this query among these entries.
pub(crate) fn search_work<'e>(entries: impl Iterator<Item = &'e Entry>, query: &str) -> usize {
    // Names are searched twice if nothing is found at first.
    let words = |entry: &Entry| {
        let Words { names, others, stems } = &entry.words;
        2 * names.len() + others.len() + stems[0].len() + stems[1].len()
    };
    let per_word: usize = entries.map(words).sum();
    query.len() + tokens(query).len().saturating_mul(per_word)
}

/// Returns the words of a query that `apropos` looks for, in lower case. Questions are without their filler words.
///
/// ```
/// assert_eq!(ptc_runtime::query_words("listOpenInvoices"), ["list", "open", "invoices"]);
/// assert_eq!(ptc_runtime::query_words("What is the sum for each category?"), ["sum", "each", "category?"]);
/// ```
pub fn wanted(query: &str) -> Vec<String> {
    let mut words = tokens(query);
    if words.len() > SHORT_QUERY {
        words.retain(|word| !EMPTY.contains(&bare(word)));
    }
    words
}

/// Returns the stems of a query with their weights: the fewer entries have a stem, the higher.
fn weighed(entries: &[&Entry], wanted: &[String]) -> Vec<(String, u64)> {
    let weight = |stem: &String| {
        let count = entries.iter().filter(|entry| entry.words.has(stem)).count();
        1 + u64::from((8 * entries.len().max(1) / count.max(1)).ilog2())
    };
    let said = wanted.iter().filter(|word| !EMPTY.contains(&bare(word)) || wanted.len() <= SHORT_QUERY);
    let stems = stems(said.take(MAX_WORDS));
    stems.into_iter().map(|stem| (weight(&stem), stem)).map(|(weight, stem)| (stem, weight)).collect()
}

/// Splits a text into lower-case words: before a capital that follows a small letter, before the last capital of
/// several, and at punctuation.
///
/// ```
/// assert_eq!(ptc_runtime::name_words("getV2Users list_URLs"), ["get", "v2", "users", "list", "urls"]);
/// ```
pub fn tokens(text: &str) -> Vec<String> {
    let mut spaced = String::with_capacity(text.len());
    let (mut after_lower, mut after_upper) = (false, false);
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let mut ahead = rest.clone();
        let next = [ahead.next(), ahead.next()];
        // `URLs` is one word.
        let is_plural = next[0] == Some('s') && !next[1].is_some_and(char::is_alphabetic);
        let begins_word = after_upper && next[0].is_some_and(char::is_lowercase) && !is_plural;
        if c.is_uppercase() && (after_lower || begins_word) {
            spaced.push(' ');
        }
        (after_lower, after_upper) = (c.is_lowercase() || c.is_ascii_digit(), c.is_uppercase());
        let is_gap = c.is_whitespace() || "_-./(),:".contains(c);
        spaced.push(if is_gap { ' ' } else { c });
    }
    spaced.to_lowercase().split_whitespace().map(str::to_string).collect()
}

/// Strips the punctuation around a word, such as a question mark.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Returns the stems of words, each once.
fn stems<'w>(words: impl IntoIterator<Item = &'w String>) -> BTreeSet<String> {
    let words = words.into_iter().map(|word| stem(bare(word)));
    words.filter(|stem| !stem.is_empty()).collect()
}

/// Strips the ending of a plural.
fn stem(word: &str) -> String {
    let cut = |most: usize| word[..word.len() - most].to_string();
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if word.chars().count() <= 3 || !word.ends_with('s') || ends(&["ss", "us", "is"]) {
        return word.to_string();
    }
    if ends(&["ies"]) && word.len() > 4 {
        return cut(3) + "y";
    }
    if ends(&["xes", "ches", "shes", "sses", "zzes"]) {
        return cut(2);
    }
    let bare = cut(1);
    bare.strip_suffix('\'').map_or(bare.clone(), str::to_string)
}

/// Sums over the wanted words the best match of each: the same word, a prefix, a part.
fn score(wanted: &[String], words: &[String], boost: u64) -> u64 {
    let of = |want: &String, word: &String| match word {
        _ if word == want => 10 + boost,
        _ if word.starts_with(&**want) => 5 + boost,
        _ if word.contains(&**want) => 2 + boost,
        _ => 0,
    };
    wanted.iter().map(|want| words.iter().map(|word| of(want, word)).max().unwrap_or(0)).sum()
}

/// Counts the wanted words that abbreviate a word of the name.
fn likeness(wanted: &[String], names: &[String]) -> u64 {
    let is_like = |want: &&String| names.iter().any(|name| is_short_for(want, name));
    wanted.iter().filter(is_like).count() as u64
}

/// True if `short` is `word` with letters left out: it begins with the same letter, and at most every second letter
/// is missing.
fn is_short_for(short: &str, word: &str) -> bool {
    let long_enough = short.len() >= 3 && short.len() < word.len() && word.len() <= 2 * short.len();
    let mut letters = word.chars();
    long_enough
        && short.chars().next() == word.chars().next()
        && short.chars().all(|letter| letters.any(|other| other == letter))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Catalog, Origin};

    #[test]
    fn a_word_may_be_short_for_another() {
        assert!(is_short_for("usr", "user") && is_short_for("cstmr", "customer"));
        assert!(!is_short_for("usr", "usr") && !is_short_for("us", "user") && !is_short_for("ser", "user"));
        assert!(!is_short_for("usr", "unsorted") && !is_short_for("zzz", "zoo"));
    }

    #[test]
    fn words_are_cut_at_capitals_and_punctuation() {
        assert_eq!(
            tokens("toUpperCase re-find a/b (x, :y) HTTPServer getV2Users listURLs"),
            [
                "to", "upper", "case", "re", "find", "a", "b", "x", "y", "http", "server", "get", "v2",
                "users", "list", "urls"
            ]
        );
        assert!(tokens(" -/ ").is_empty());
    }

    #[test]
    fn plurals_are_the_same_as_the_word() {
        for (one, many) in [
            ("category", "categories"),
            ("expense", "expenses"),
            ("invoice", "invoices"),
            ("box", "boxes"),
            ("match", "matches"),
            ("address", "addresses"),
            ("key", "keys"),
            ("status", "status"),
            ("user", "user's"),
        ] {
            assert_eq!(stem(one), stem(many), "{one}");
        }
        assert_eq!(
            (stem("is"), stem("bus"), stem("s"), stem("")),
            ("is".into(), "bus".into(), "s".into(), "".into())
        );
        assert_eq!(stem("élèves"), "élève");
    }

    fn shop() -> Catalog {
        let entry = |name: &str, about: &str| Entry::new(Origin::Upstream, "tool", "shop", name, about);
        let mut catalog = Catalog::default();
        catalog.add([
            entry("list_open_invoice", "Opens."),
            entry("get_categories", "Names of kinds of expenses."),
            entry("sum_by", "Adds up a field of rows by another."),
            entry("getExpenseReport", "One report."),
            entry("weather", "The weather there."),
        ]);
        catalog
    }

    #[test]
    fn a_search_finds_other_forms_of_a_word() {
        let catalog = shop();
        let found = |query: &str| -> Vec<String> {
            catalog.search(query, 8).into_iter().map(|entry| entry.name.clone()).collect()
        };
        assert_eq!(found("invoices"), ["list_open_invoice"]);
        assert_eq!(found("category"), ["get_categories"]);
        assert_eq!(found("sums"), ["sum_by"]);
        assert_eq!(
            found("expenses"),
            ["get_categories", "getExpenseReport"],
            "what matches as it stands is first"
        );
        assert_eq!(found("zzzz"), [""; 0]);
    }

    #[test]
    fn a_question_finds_what_it_is_about() {
        let catalog = shop();
        let found = |query: &str, limit| -> Vec<String> {
            catalog.about(query, limit).into_iter().map(|entry| entry.name.clone()).collect()
        };
        assert_eq!(found("Which category has the largest sum?", 8), ["get_categories", "sum_by"]);
        assert_eq!(found("What did we spend? Show the expense reports.", 1), ["getExpenseReport"]);
        assert_eq!(found("the of and with to", 8), [""; 0]);
        assert_eq!(found(&"word ".repeat(100_000), 3), [""; 0]);
    }
}
