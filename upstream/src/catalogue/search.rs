//! Search over all tools: an index that is built once for a catalogue.
//!
//! The first key of the ranking is a score that people and models know: for each word of the query 10 for the same word, 5
//! for a prefix, 2 for a part, and 2 more in names. Ties are ranked by relevance: BM25 over name, description and
//! arguments, with stems and synonyms. Relevance also finds what the score misses: tools without a score, and most of what
//! a question is about, since the score takes a part of a word like `on` as seriously as a rare word.

mod stems;
mod synonyms;

use super::{CatalogTool, Server};
use ptc_runtime::{Entry, Origin, ToolIndex, name_words, query_words};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use stems::stem;

/// Maximum number of words of a query that are looked for.
const WORDS: usize = 32;

/// Queries of more words than this are questions.
const KEYWORDS: usize = 3;

/// Number of places at the beginning of the answer to a question that the score fills.
const CERTAIN: usize = 1;

/// Fields of a tool, with their weight and how much a long text weakens a word in it.
const FIELDS: [(f64, f64); 5] = [(3.0, 0.4), (1.6, 0.2), (1.0, 0.6), (1.0, 0.5), (0.4, 0.7)];
const NAME: usize = 0;
const SERVER: usize = 1;
const ABOUT: usize = 2;
const KEYS: usize = 3;
const ARGUMENTS: usize = 4;

/// Saturation of BM25: how soon a word that occurs again says no more.
const K: f64 = 1.2;

/// Maximum characters of the description of an argument that are searched.
const ARGUMENT: usize = 200;

/// Maximum number of words of a name that abbreviations are looked for in.
const NAMED: usize = 12;

/// Number of words with abbreviations above which none are learned.
const ABBREVIATIONS: usize = 20_000;

/// Maximum number of long forms of one abbreviation.
const LONG_FORMS: usize = 16;

/// Separates words in the text that parts of words are looked for in.
const GAP: char = '\n';

/// Where a stem occurs.
#[derive(Clone, Copy)]
struct Occurrence {
    tool: u32,
    field: u8,
    times: u8,
}

/// The tools of several servers, ready to be searched.
pub(crate) struct Index {
    tools: Vec<(Arc<Server>, Arc<CatalogTool>)>,
    /// All words, each between gaps.
    text: String,
    /// Where each word begins in `text`, and the tools with it: in the name, and elsewhere.
    words: Vec<(u32, Vec<u32>, Vec<u32>)>,
    stems: HashMap<String, Vec<Occurrence>>,
    /// Stems of abbreviations: `repo` for `repositori`, as far as tools use both.
    short_for: HashMap<String, Vec<String>>,
    /// Number of words of each tool in each field, and their averages.
    lengths: Vec<[u16; FIELDS.len()]>,
    averages: [f64; FIELDS.len()],
}

/// How often each tool has the words that are counted.
struct Times {
    times: Vec<f64>,
    /// Tools that have any.
    met: Vec<u32>,
}

impl Times {
    fn new(tools: usize) -> Times {
        Times { times: vec![0.0; tools], met: Vec::new() }
    }

    fn add(&mut self, tool: u32, more: f64) {
        let known = &mut self.times[tool as usize];
        if *known == 0.0 {
            self.met.push(tool);
        }
        *known += more;
    }

    fn clear(&mut self) {
        for tool in self.met.drain(..) {
            self.times[tool as usize] = 0.0;
        }
    }
}

/// What is counted while an index is built.
#[derive(Default)]
struct Building {
    words: BTreeMap<String, (Vec<u32>, Vec<u32>)>,
    stems: HashMap<String, Vec<Occurrence>>,
    /// Stems of words that were met, since most words are met often.
    known: HashMap<String, String>,
    short_for: HashMap<String, HashSet<String>>,
}

impl Index {
    /// Builds the index of all tools that are known.
    pub fn new<'s>(servers: impl Iterator<Item = &'s Arc<Server>>) -> Index {
        let mut tools = Vec::new();
        for server in servers {
            let listing = server.listing();
            let listed = listing.iter().flat_map(|listing| listing.tools.values());
            tools.extend(listed.map(|tool| (server.clone(), tool.clone())));
        }
        let mut building = Building::default();
        let mut lengths = Vec::with_capacity(tools.len());
        for (n, (server, tool)) in tools.iter().enumerate() {
            lengths.push(building.add(n as u32, server, tool));
        }
        let mut text = String::from(GAP);
        let mut words = Vec::with_capacity(building.words.len());
        for (word, (names, others)) in building.words {
            words.push((text.len() as u32, names, others));
            text.push_str(&word);
            text.push(GAP);
        }
        let mut averages = [1.0; FIELDS.len()];
        for (field, average) in averages.iter_mut().enumerate() {
            let total: f64 = lengths.iter().map(|all: &[u16; FIELDS.len()]| f64::from(all[field])).sum();
            *average = (total / lengths.len().max(1) as f64).max(1.0);
        }
        let short_for = building.short_for.into_iter();
        let short_for = short_for.map(|(short, long)| {
            let mut long: Vec<String> = long.into_iter().collect();
            long.sort_unstable();
            long.truncate(LONG_FORMS);
            (short, long)
        });
        Index { tools, text, words, stems: building.stems, short_for: short_for.collect(), lengths, averages }
    }

    /// Returns the words of the index that contain a word, with how well they match it.
    fn matches<'i>(&'i self, wanted: &'i str) -> impl Iterator<Item = (u8, &'i [u32], &'i [u32])> {
        let mut end = 0;
        memchr::memmem::find_iter(self.text.as_bytes(), wanted).filter_map(move |at| {
            // A word that contains it twice counts once.
            if at < end || wanted.contains(GAP) {
                return None;
            }
            let n = self.words.partition_point(|(start, ..)| *start as usize <= at).checked_sub(1)?;
            let (start, names, others) = &self.words[n];
            end = self.words.get(n + 1).map_or(self.text.len(), |(next, ..)| *next as usize);
            let is_whole = end - 1 - *start as usize == wanted.len();
            let score = match at == *start as usize {
                true if is_whole => 10,
                true => 5,
                false => 2,
            };
            Some((score, &names[..], &others[..]))
        })
    }

    /// Returns the score of every tool.
    fn scores(&self, wanted: &[String]) -> Vec<u32> {
        let mut scores = vec![0; self.tools.len()];
        let mut best = vec![[0_u8; 2]; self.tools.len()];
        for word in wanted {
            best.fill([0; 2]);
            for (score, names, others) in self.matches(word) {
                for (tools, place, boost) in [(names, 0, 2), (others, 1, 0)] {
                    for tool in tools {
                        let known = &mut best[*tool as usize][place];
                        *known = (*known).max(score + boost);
                    }
                }
            }
            for (score, [name, other]) in scores.iter_mut().zip(&best) {
                *score += u32::from(*name) + u32::from(*other);
            }
        }
        scores
    }

    /// Returns the relevance of every tool: BM25 with fields, in which synonyms count as weaker occurrences.
    fn relevances(&self, wanted: &[String]) -> Vec<u32> {
        let mut relevances = vec![0.0; self.tools.len()];
        let (mut own, mut all) = (Times::new(self.tools.len()), Times::new(self.tools.len()));
        // Number of words of the query that each tool has.
        let mut met = vec![0.0_f64; self.tools.len()];
        let mut seen = HashSet::new();
        for word in wanted {
            let stem = stem(word);
            if stem.is_empty() || !seen.insert(stem.clone()) {
                continue;
            }
            self.count(&stem, 1.0, &mut own);
            self.count(&stem, 1.0, &mut all);
            let short_for = self.short_for.get(&stem).map_or(&[][..], Vec::as_slice);
            for other in short_for.iter().chain(synonyms::of(&stem)) {
                self.count(other, synonyms::WEIGHT, &mut all);
            }
            let (rarity, rarity_of_all) = (self.rarity(&own), self.rarity(&all));
            for tool in &all.met {
                let of = |rarity: f64, times: f64| rarity * times / (K + times);
                let tool = *tool as usize;
                relevances[tool] += of(rarity, own.times[tool]).max(of(rarity_of_all, all.times[tool]));
                met[tool] += 1.0;
            }
            own.clear();
            all.clear();
        }
        // Whole numbers, so that every machine ranks alike.
        let words = seen.len().max(1) as f64;
        let whole = relevances
            .into_iter()
            .zip(met)
            .map(|(relevance, met): (f64, f64)| relevance * (met / words).sqrt());
        whole.map(|relevance| (relevance * 256.0).round() as u32).collect()
    }

    /// Counts how often each tool has a stem, by the weight of the field.
    fn count(&self, stem: &str, weight: f64, times: &mut Times) {
        for occurrence in self.stems.get(stem).into_iter().flatten() {
            let field = usize::from(occurrence.field);
            let (boost, b) = FIELDS[field];
            let length = f64::from(self.lengths[occurrence.tool as usize][field]) / self.averages[field];
            times.add(occurrence.tool, weight * boost * f64::from(occurrence.times) / (1.0 - b + b * length));
        }
    }

    /// Returns how much it says that a tool is among those counted.
    fn rarity(&self, times: &Times) -> f64 {
        let (all, with) = (self.tools.len() as f64, times.met.len() as f64);
        ((all - with + 0.5) / (with + 0.5)).ln_1p()
    }

    /// Returns the numbers of the tools that match best, best first.
    fn ranked(&self, query: &str, limit: usize) -> Vec<usize> {
        let is_question = name_words(query).len() > KEYWORDS;
        let mut wanted = query_words(query);
        wanted.truncate(WORDS);
        let (scores, relevances) = (self.scores(&wanted), self.relevances(&wanted));
        let mut by_score: Vec<usize> =
            (0..self.tools.len()).filter(|n| scores[*n] > 0 || relevances[*n] > 0).collect();
        // Tools are in the order of servers and names, so the last key is their number.
        if !is_question && scores.iter().any(|score| *score > 0) {
            // Other words for the same are for those who find nothing.
            let stems = self.having_stems(&wanted);
            by_score.retain(|n| scores[*n] > 0 || stems.contains(&(*n as u32)));
        }
        best(&mut by_score, limit, |n| (scores[n], relevances[n]));
        if !is_question {
            return by_score;
        }
        let mut by_relevance: Vec<usize> = (0..self.tools.len()).filter(|n| relevances[*n] > 0).collect();
        best(&mut by_relevance, limit, |n| (relevances[n], scores[n]));
        let mut found: Vec<usize> = by_score.iter().copied().take(CERTAIN).collect();
        for n in by_relevance.into_iter().chain(by_score) {
            if found.len() < limit && !found.contains(&n) {
                found.push(n);
            }
        }
        found
    }

    /// Returns the tools that have the stem of any of these words.
    fn having_stems(&self, wanted: &[String]) -> HashSet<u32> {
        let stems = wanted.iter().filter_map(|word| self.stems.get(&stem(word)));
        stems.flatten().map(|occurrence| occurrence.tool).collect()
    }

    fn entry(&self, n: usize) -> Entry {
        let (server, tool) = &self.tools[n];
        entry(server, tool)
    }
}

/// Sorts by a key, highest first, and then by number; keeps the first ones.
fn best<K: Ord>(all: &mut Vec<usize>, limit: usize, key: impl Fn(usize) -> K) {
    let order = |a: &usize, b: &usize| key(*b).cmp(&key(*a)).then(a.cmp(b));
    if all.len() > limit && limit > 0 {
        all.select_nth_unstable_by(limit - 1, order);
        all.truncate(limit);
    }
    all.sort_unstable_by(order);
}

impl Building {
    /// Adds a tool; returns the number of its words in each field.
    fn add(&mut self, n: u32, server: &Server, tool: &CatalogTool) -> [u16; FIELDS.len()] {
        let texts = Texts::of(tool);
        let name = name_words(&tool.name);
        let about = name_words(&tool.description);
        let keys = name_words(&texts.keys);
        let hints = name_words(&texts.hints);
        let server = name_words(&server.name);
        for (words, is_name) in
            [(&name, true), (&server, true), (&about, false), (&keys, false), (&hints, false)]
        {
            for word in words {
                let (names, others) = self.words.entry(word.clone()).or_default();
                let tools = if is_name { names } else { others };
                if tools.last() != Some(&n) {
                    tools.push(n);
                }
            }
        }
        self.abbreviations(&name, &about);
        let arguments = name_words(&texts.about);
        let mut lengths = [0; FIELDS.len()];
        let fields =
            [(NAME, &name), (SERVER, &server), (ABOUT, &about), (KEYS, &keys), (ARGUMENTS, &arguments)];
        for (field, words) in fields {
            lengths[field] = u16::try_from(words.len()).unwrap_or(u16::MAX);
            let mut times: BTreeMap<String, u8> = BTreeMap::new();
            for word in words {
                let stem = self.stem(word);
                let count = times.entry(stem).or_default();
                *count = count.saturating_add(1);
            }
            for (stem, times) in times.into_iter().filter(|(stem, _)| !stem.is_empty()) {
                self.stems.entry(stem).or_default().push(Occurrence { tool: n, field: field as u8, times });
            }
        }
        lengths
    }

    fn stem(&mut self, word: &str) -> String {
        match self.known.get(word) {
            Some(stem) => stem.clone(),
            None => {
                let stem = stem(word);
                self.known.insert(word.to_string(), stem.clone());
                stem
            }
        }
    }

    /// Learns which words of a name are short for words of the description: `repo` for `repository`, and `pr` for
    /// `pull request`.
    fn abbreviations(&mut self, name: &[String], about: &[String]) {
        for short in name.iter().take(NAMED).filter(|short| (2..=6).contains(&short.len())) {
            if self.short_for.len() > ABBREVIATIONS {
                return;
            }
            let is_longer = |word: &&String| word.len() > short.len() + 2 && word.starts_with(&**short);
            let mut long: Vec<&String> =
                if short.len() > 2 { about.iter().filter(is_longer).collect() } else { Vec::new() };
            if short.len() <= 4 {
                let initials = |words: &&[String]| {
                    words.iter().map(|word| word.chars().next()).eq(short.chars().map(Some))
                };
                long.extend(about.windows(short.len()).find(initials).into_iter().flatten());
            }
            for word in long {
                let (short, long) = (self.stem(short), self.stem(word));
                if short != long {
                    self.short_for.entry(short.clone()).or_default().insert(long.clone());
                    self.short_for.entry(long).or_default().insert(short);
                }
            }
        }
    }
}

/// Searched texts of a tool besides its name and description.
struct Texts {
    /// Names of arguments.
    keys: String,
    /// Annotations.
    hints: String,
    /// Descriptions of arguments.
    about: String,
}

impl Texts {
    fn of(tool: &CatalogTool) -> Texts {
        let mut texts = Texts { keys: String::new(), hints: String::new(), about: String::new() };
        let properties = tool.input_schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            push(&mut texts.keys, name);
            if let Some(about) = property.get("description").and_then(Value::as_str) {
                push(&mut texts.about, &about[..about.floor_char_boundary(ARGUMENT)]);
            }
        }
        for (name, value) in tool.annotations.as_ref().and_then(Value::as_object).into_iter().flatten() {
            push(&mut texts.hints, name);
            push(&mut texts.hints, value.as_str().unwrap_or_default());
        }
        texts
    }
}

fn push(text: &mut String, more: &str) {
    text.push(' ');
    text.push_str(more);
}

/// Builds the entry of a tool.
pub(crate) fn entry(server: &Server, tool: &CatalogTool) -> Entry {
    let mut entry = Entry::new(Origin::Upstream, "tool", &server.name, &tool.name, &tool.description);
    entry.reference = format!("{}/{}", server.name, tool.name);
    entry
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("tools", &self.tools.len()).finish_non_exhaustive()
    }
}

impl ToolIndex for Index {
    fn work(&self, query: &str) -> usize {
        let wanted = query_words(query);
        let words = wanted.len().min(WORDS);
        let found = |word: &String| {
            self.matches(word).map(|(_, names, others)| names.len() + others.len()).sum::<usize>()
        };
        let found: usize = wanted.iter().take(WORDS).map(found).sum();
        // Words are compared many bytes at a time.
        query.len() + words * (self.text.len() / 16 + 4 * self.tools.len()) + found
    }

    fn search(&self, query: &str, limit: usize) -> Vec<Entry> {
        self.ranked(query, limit).into_iter().map(|n| self.entry(n)).collect()
    }

    fn alike(&self, query: &str, limit: usize) -> Vec<Entry> {
        let entries: Vec<Entry> = (0..self.tools.len()).map(|n| self.entry(n)).collect();
        ptc_runtime::search_alike(entries.iter(), query, limit).into_iter().cloned().collect()
    }
}
