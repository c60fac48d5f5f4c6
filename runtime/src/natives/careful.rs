//! Searches that could take long. The linear engine takes time in the size of the text times that of the pattern where it
//! cannot tell its states apart in advance, and cannot be stopped. So large patterns meet long texts here: an
//! automaton goes over the text that is made on the way, and gives up when making it would be most of the work.

use super::pattern::Span;
use regex_automata::hybrid::{dfa, regex};
use regex_automata::{Anchored, Input, meta};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::cell::{OnceCell, RefCell};

/// States times bytes from where on a search could take long.
const HEAVY: usize = 1 << 24;

/// States times bytes of a match up to which its groups are looked for.
const GROUPED: usize = 1 << 26;

/// What a class of characters beyond ASCII takes at least.
const WIDE: usize = 4;

/// A pattern and what its searches may take.
#[derive(Debug)]
pub struct Careful {
    source: String,
    /// How many states it has, about.
    states: usize,
    find: OnceCell<Option<(regex::Regex, RefCell<regex::Cache>)>>,
    groups: OnceCell<Option<meta::Regex>>,
}

impl Careful {
    /// The careful form of a pattern, which is only made when it is needed.
    pub fn new(source: String, hir: &Hir) -> Careful {
        Careful { source, states: states(hir), find: OnceCell::new(), groups: OnceCell::new() }
    }

    /// Whether to search this much text the careful way.
    pub fn is_needed(&self, bytes: usize) -> bool {
        self.states.saturating_mul(bytes) > HEAVY
    }

    /// Where the first match from byte `at` on is.
    pub fn find(&self, text: &str, at: usize) -> Result<Option<(usize, usize)>, String> {
        let (regex, cache) = self.find.get_or_init(|| self.automaton()).as_ref().ok_or_else(too_long)?;
        let found = regex.try_search(&mut cache.borrow_mut(), &Input::new(text).range(at..));
        found.map(|found| found.map(|found| (found.start(), found.end()))).map_err(|_| too_long())
    }

    /// The same with the places of its groups.
    pub fn search(&self, text: &str, at: usize) -> Result<Option<Vec<Span>>, String> {
        let Some((from, to)) = self.find(text, at)? else { return Ok(None) };
        if self.states.saturating_mul(to - from) > GROUPED {
            return Err("the match is too long to look for the groups of such a pattern".to_string());
        }
        let groups = self.groups.get_or_init(|| meta::Regex::new(&self.source).ok());
        let groups = groups.as_ref().ok_or_else(too_long)?;
        let mut found = groups.create_captures();
        groups.search_captures(&Input::new(text).range(from..to).anchored(Anchored::Yes), &mut found);
        Ok(Some(found.iter().map(|group| group.map(|group| (group.start, group.end))).collect()))
    }

    fn automaton(&self) -> Option<(regex::Regex, RefCell<regex::Cache>)> {
        // A new state takes time in the number of those it stands for; it must pay off.
        let config = dfa::Config::new()
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(Some(3))
            .minimum_bytes_per_state(Some(self.states.max(10)));
        let regex = regex::Regex::builder().dfa(config).build(&self.source).ok()?;
        let cache = RefCell::new(regex.create_cache());
        Some((regex, cache))
    }
}

fn too_long() -> String {
    "the pattern takes too long on a text of this length; a simpler one, or a part of the text, will do"
        .to_string()
}

/// About as many states as an automaton for it has. Patterns nest at most as deep as their reader lets them.
fn states(hir: &Hir) -> usize {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(text) => text.0.len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1,
        HirKind::Class(Class::Unicode(class)) => WIDE + class.ranges().len(),
        HirKind::Repetition(some) => {
            let times = some.max.unwrap_or(some.min.saturating_add(1)).max(1);
            states(&some.sub).saturating_add(1).saturating_mul(times as usize)
        }
        HirKind::Capture(group) => states(&group.sub).saturating_add(2),
        HirKind::Concat(all) | HirKind::Alternation(all) => {
            all.iter().fold(1, |sum, hir| sum.saturating_add(states(hir)))
        }
    }
}
