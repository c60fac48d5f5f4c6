//! Engine for patterns without lookaround and backreferences. Its work is linear in the text it scans, and it counts
//! that work.
//!
//! An automaton runs over the text; its states are made when first needed and kept for the next search. A byte with an
//! existing state takes some nanoseconds, a new state takes half a microsecond and more, in proportion to the pattern's
//! width. Which states exist depends on earlier searches, by any program. So the price is that of tables which are
//! empty when a native begins: it pays for each state when it first meets it, and for every byte as for a new state
//! once it has met more than the tables are sure to hold.

use super::meter::{Meter, TICKS};
use super::refused::{Refused, Span};
use super::size::Size;
use super::store::{self, Held};
use crate::natives::args::growing_room;
use regex_automata::dfa::onepass;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;
use regex_syntax::hir::literal::Extractor;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// Maximum bytes of the automaton that is built before a search.
const NFA_BYTES: usize = 4 << 20;

/// Bytes of states kept from one search to the next, in each direction.
const STATE_BYTES: usize = 1 << 20;

/// Maximum bytes of states in a table when a native begins; a larger table is emptied.
const FOUND_BYTES: usize = STATE_BYTES / 2;

/// Bytes of states that a native may meet until all are priced as new. They fit beside the states it found, so none
/// is dropped, and counted again, before.
const MET_BYTES: usize = STATE_BYTES / 4;

/// Maximum bytes of the table for groups in unambiguous patterns.
const ONE_PASS_BYTES: usize = 256 << 10;

/// Maximum states times bytes of a match whose groups are searched; one bit of memory each.
const MOST_GROUPED: usize = 1 << 26;

/// Bytes scanned between two payments.
const CHUNK: usize = 1 << 12;

/// Maximum searches at once whose tables are kept.
const MOST_TABLES: usize = 4;

/// Ticks for starting a search.
const START: usize = 4 * TICKS;

/// Ticks for a byte with an existing state.
const BYTE: usize = 3;

/// Ticks for a new state, besides one for each pattern state it may stand for.
const NEW_STATE: usize = 8 * TICKS;

/// Ticks for each group of a match.
const GROUP: usize = TICKS;

/// A compiled pattern.
#[derive(Debug)]
pub struct Linear {
    forward: DFA,
    /// Automaton that finds the start of a match from its end; None if every match begins where the search does.
    reverse: Option<DFA>,
    /// Search for places where a match may begin.
    prefilter: Option<Prefilter>,
    one_pass: Option<onepass::DFA>,
    by_steps: BoundedBacktracker,
    size: Size,
    states: usize,
    groups: usize,
    #[expect(clippy::vec_box, reason = "tables are taken out and put back for each native, and are large")]
    tables: Mutex<Vec<Box<Tables>>>,
}

/// The tables that searches fill.
#[derive(Debug)]
struct Tables {
    forward: States,
    reverse: Option<States>,
    one_pass: Option<onepass::Cache>,
    by_steps: Option<backtrack::Cache>,
    slots: Vec<Option<NonMaxUsize>>,
    held: Held,
}

/// The states made so far of one automaton, and those that a native has met.
#[derive(Debug)]
struct States {
    cache: dfa::Cache,
    /// Bytes of the table without any state.
    empty: usize,
    /// Logarithm of the stride: numbers of states are multiples of a power of two.
    shift: usize,
    /// Last native that met each state.
    met: Vec<u32>,
    native: u32,
    /// Number of new states that the native may meet until all are priced as new.
    left: usize,
    most: usize,
    /// Ticks for a new state.
    new_state: usize,
}

impl States {
    fn new(dfa: &DFA, width: usize) -> States {
        let cache = dfa.create_cache();
        let shift = dfa.byte_classes().stride2();
        // Transitions, the list of pattern states, and entries in two tables.
        let bytes = (4 << shift) + 4 * dfa.get_nfa().states().len() + 96;
        States {
            empty: cache.memory_usage(),
            cache,
            shift,
            met: Vec::new(),
            native: 0,
            left: 0,
            most: MET_BYTES / bytes,
            new_state: NEW_STATE + width,
        }
    }

    /// Starts counting for another native.
    fn begin(&mut self, dfa: &DFA) {
        if self.cache.memory_usage() > self.empty + FOUND_BYTES {
            dfa.reset_cache(&mut self.cache);
        }
        self.left = self.most;
        self.native = self.native.wrapping_add(1);
        if self.native == 0 {
            self.met.fill(0);
            self.native = 1;
        }
    }

    /// Returns the ticks for reaching a state.
    #[inline(always)]
    fn price(&mut self, state: LazyStateID) -> usize {
        if self.left == 0 {
            return self.new_state;
        }
        let i = number(state) >> self.shift;
        match self.met.get_mut(i) {
            Some(met) if *met == self.native => 0,
            _ => self.meet(i),
        }
    }

    #[cold]
    fn meet(&mut self, i: usize) -> usize {
        if self.met.len() <= i {
            self.met.resize(i + 1, 0);
        }
        self.met[i] = self.native;
        self.left -= 1;
        self.new_state
    }

    fn bytes(&self) -> usize {
        self.cache.memory_usage() + 4 * self.met.capacity()
    }
}

/// Hasher that extracts the number of a state, which is only visible to hashers.
#[derive(Default)]
struct Number(u32);

impl Hasher for Number {
    fn finish(&self) -> u64 {
        self.0.into()
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0 << 8 | u32::from(*byte);
        }
    }

    fn write_u32(&mut self, n: u32) {
        self.0 = n;
    }
}

/// Returns the number of a state, without the five flags in front.
#[inline(always)]
fn number(state: LazyStateID) -> usize {
    let mut number = Number::default();
    state.hash(&mut number);
    (number.0 & (u32::MAX >> 5)) as usize
}

/// The reason an automaton stopped early.
enum Halt {
    /// A character beyond ASCII, where the pattern tests for a word boundary.
    Unicode,
    Refused(Refused),
}

impl From<Refused> for Halt {
    fn from(refused: Refused) -> Halt {
        Halt::Refused(refused)
    }
}

fn too_large<E>(_: E) -> Refused {
    Refused::Words("the pattern is too large".to_string())
}

impl Linear {
    /// Makes the engine for a parsed pattern.
    pub fn new(hir: &Hir, size: Size) -> Result<Linear, Refused> {
        let config = thompson::Config::new().nfa_size_limit(Some(NFA_BYTES));
        let build =
            |config| thompson::Compiler::new().configure(config).build_from_hir(hir).map_err(too_large);
        let nfa: NFA = build(config.clone().which_captures(WhichCaptures::All))?;
        let is_anchored = nfa.is_always_start_anchored();
        let prefilter = if is_anchored { None } else { prefilter(hir) };
        // It never gives up: its worst case is paid for.
        let states = dfa::Config::new()
            .cache_capacity(STATE_BYTES + 128 * nfa.states().len() + (1 << 16))
            .skip_cache_capacity_check(true)
            .unicode_word_boundary(true)
            .specialize_start_states(prefilter.is_some());
        let forward =
            DFA::builder().configure(states.clone()).build_from_nfa(nfa.clone()).map_err(too_large)?;
        let reverse = if is_anchored {
            None
        } else {
            let nfa = build(config.reverse(true).which_captures(WhichCaptures::None))?;
            let states = states.match_kind(MatchKind::All).specialize_start_states(false);
            Some(DFA::builder().configure(states).build_from_nfa(nfa).map_err(too_large)?)
        };
        let groups = nfa.group_info().group_len(regex_automata::PatternID::ZERO);
        let one_pass = if groups > 1 {
            let limit = onepass::Config::new().size_limit(Some(ONE_PASS_BYTES));
            onepass::DFA::builder().configure(limit).build_from_nfa(nfa.clone()).ok()
        } else {
            None
        };
        let by_steps = BoundedBacktracker::builder()
            .configure(backtrack::Config::new().visited_capacity(MOST_GROUPED / 8 + (1 << 12)))
            .build_from_nfa(nfa.clone())
            .map_err(too_large)?;
        Ok(Linear {
            states: nfa.states().len(),
            forward,
            reverse,
            prefilter,
            one_pass,
            by_steps,
            size,
            groups,
            tables: Mutex::default(),
        })
    }

    /// Returns its memory in bytes, without the tables that searches fill.
    pub fn bytes(&self) -> usize {
        let automaton = |dfa: &DFA| dfa.memory_usage() + dfa.get_nfa().memory_usage();
        automaton(&self.forward)
            + self.reverse.as_ref().map_or(0, automaton)
            + self.one_pass.as_ref().map_or(0, onepass::DFA::memory_usage)
            + self.prefilter.as_ref().map_or(0, Prefilter::memory_usage)
    }

    /// Returns the number of groups, the whole match included.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns a searcher with its own tables.
    pub fn searcher(&self) -> Searcher<'_> {
        let kept = self.tables.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut tables = kept.unwrap_or_else(|| {
            Box::new(Tables {
                forward: States::new(&self.forward, self.size.width),
                reverse: None,
                one_pass: None,
                by_steps: None,
                slots: Vec::new(),
                held: Held::new(0),
            })
        });
        tables.forward.begin(&self.forward);
        if let (Some(states), Some(dfa)) = (&mut tables.reverse, &self.reverse) {
            states.begin(dfa);
        }
        Searcher { linear: self, tables: Some(tables) }
    }
}

/// Searcher with one pattern, for several searches.
#[derive(Debug)]
pub struct Searcher<'e> {
    linear: &'e Linear,
    /// Tables of the search; None only while it is dropped.
    tables: Option<Box<Tables>>,
}

impl Drop for Searcher<'_> {
    fn drop(&mut self) {
        let Some(mut tables) = self.tables.take() else { return };
        // A bit for each state and byte of the longest match is more than most searches need.
        tables.by_steps = tables.by_steps.take().filter(|cache| cache.memory_usage() <= STATE_BYTES / 4);
        let bytes = tables.forward.bytes()
            + tables.reverse.as_ref().map_or(0, States::bytes)
            + tables.one_pass.as_ref().map_or(0, onepass::Cache::memory_usage)
            + tables.by_steps.as_ref().map_or(0, backtrack::Cache::memory_usage);
        tables.held.change(bytes);
        let mut kept = self.linear.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST_TABLES {
            kept.push(tables);
        }
        drop(kept);
        store::trim();
    }
}

impl Searcher<'_> {
    /// Returns the first match from byte `at` on.
    pub fn find(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        at: usize,
    ) -> Result<Option<(usize, usize)>, Refused> {
        match self.find_by_states(meter, text, at) {
            Ok(found) => Ok(found),
            Err(Halt::Refused(refused)) => Err(refused),
            Err(Halt::Unicode) => {
                let input = Input::new(text).range(at..);
                let found = self.slots(meter, &input, text.len() - at)?;
                Ok(found.and_then(|spans| spans.first().copied().flatten()))
            }
        }
    }

    /// Returns the first match from byte `at` on, with its groups.
    pub fn groups(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        at: usize,
    ) -> Result<Option<Vec<Span>>, Refused> {
        let Some((from, to)) = self.find(meter, text, at)? else { return Ok(None) };
        if self.linear.groups == 1 {
            return Ok(Some(vec![Some((from, to))]));
        }
        meter.spend(self.linear.groups * GROUP)?;
        let input = Input::new(text).range(from..to).anchored(Anchored::Yes);
        if let (Some(one_pass), Some(tables)) = (&self.linear.one_pass, &mut self.tables) {
            meter.spend((to - from).saturating_mul(TICKS))?;
            let cache = tables.one_pass.get_or_insert_with(|| one_pass.create_cache());
            tables.slots.clear();
            tables.slots.resize(self.linear.groups * 2, None);
            if let Ok(Some(_)) = one_pass.try_search_slots(cache, &input, &mut tables.slots) {
                return Ok(Some(spans(&tables.slots)));
            }
        }
        self.slots(meter, &input, to - from)
    }

    fn find_by_states(
        &mut self,
        meter: &mut Meter<'_>,
        text: &str,
        at: usize,
    ) -> Result<Option<(usize, usize)>, Halt> {
        let mut at = at;
        meter.spend(START)?;
        loop {
            let Some(end) = self.end(meter, text, at)? else { return Ok(None) };
            if text.is_char_boundary(end) {
                return Ok(Some((self.start(meter, text, at, end)?, end)));
            }
            // An empty match inside a character does not count.
            at = end + 1;
        }
    }

    /// Returns the end of the first match from byte `at` on.
    fn end(&mut self, meter: &mut Meter<'_>, text: &str, at: usize) -> Result<Option<usize>, Halt> {
        let Some(tables) = &mut self.tables else { return Ok(None) };
        let (dfa, states) = (&self.linear.forward, &mut tables.forward);
        let bytes = text.as_bytes();
        let candidate = |from: usize| match &self.linear.prefilter {
            Some(prefilter) => prefilter.find(bytes, (from..bytes.len()).into()).map(|span| span.start),
            None => Some(from),
        };
        // Bytes skipped by the prefilter cost the same.
        let (mut paid, mut found) = (at, None);
        let Some(mut i) = candidate(at) else {
            meter.spend((bytes.len() - paid) * BYTE)?;
            return Ok(None);
        };
        let start = |states: &mut States, from: usize| {
            dfa.start_state_forward(&mut states.cache, &Input::new(text).range(from..))
                .map_err(|_| Halt::Unicode)
        };
        let mut state = start(states, i)?;
        let mut ticks = states.price(state);
        while i < bytes.len() {
            let stop = bytes.len().min(i + CHUNK);
            while i < stop {
                state = dfa.next_state(&mut states.cache, state, bytes[i]).map_err(|_| Halt::Unicode)?;
                ticks += states.price(state);
                if state.is_tagged() {
                    if state.is_match() {
                        found = Some(i);
                    } else if state.is_dead() {
                        meter.spend(ticks + (i + 1 - paid) * BYTE)?;
                        return Ok(found);
                    } else if state.is_quit() {
                        meter.spend(ticks + (i + 1 - paid) * BYTE)?;
                        return Err(Halt::Unicode);
                    } else if state.is_start() {
                        let Some(next) = candidate(i + 1) else {
                            meter.spend(ticks + (bytes.len() - paid) * BYTE)?;
                            return Ok(found);
                        };
                        if next > i + 1 {
                            i = next;
                            state = start(states, i)?;
                            continue;
                        }
                    }
                }
                i += 1;
            }
            meter.spend(ticks + (i - paid) * BYTE)?;
            (ticks, paid) = (0, i);
        }
        state = dfa.next_eoi_state(&mut states.cache, state).map_err(|_| Halt::Unicode)?;
        meter.spend(ticks + states.price(state))?;
        Ok(if state.is_match() { Some(bytes.len()) } else { found })
    }

    /// Returns the start of the match that ends at `end`, in a search from `at` on.
    fn start(&mut self, meter: &mut Meter<'_>, text: &str, at: usize, end: usize) -> Result<usize, Halt> {
        let (Some(dfa), Some(tables)) = (&self.linear.reverse, &mut self.tables) else { return Ok(at) };
        if at == end {
            return Ok(at);
        }
        let states = tables.reverse.get_or_insert_with(|| {
            let mut states = States::new(dfa, self.linear.size.width);
            states.begin(dfa);
            states
        });
        let bytes = text.as_bytes();
        let input = Input::new(text).range(at..end).anchored(Anchored::Yes);
        let mut state = dfa.start_state_reverse(&mut states.cache, &input).map_err(|_| Halt::Unicode)?;
        let mut ticks = states.price(state);
        let (mut i, mut found) = (end, end);
        while i > at {
            i -= 1;
            state = dfa.next_state(&mut states.cache, state, bytes[i]).map_err(|_| Halt::Unicode)?;
            ticks += BYTE + states.price(state);
            if state.is_tagged() {
                if state.is_match() {
                    found = i + 1;
                } else if state.is_dead() {
                    meter.spend(ticks)?;
                    return Ok(found);
                } else if state.is_quit() {
                    return Err(Halt::Unicode);
                }
            }
            if (end - i).is_multiple_of(CHUNK) {
                meter.spend(std::mem::take(&mut ticks))?;
            }
        }
        state = match at.checked_sub(1) {
            Some(before) => dfa.next_state(&mut states.cache, state, bytes[before]),
            None => dfa.next_eoi_state(&mut states.cache, state),
        }
        .map_err(|_| Halt::Unicode)?;
        meter.spend(ticks + states.price(state))?;
        Ok(if state.is_match() { at } else { found })
    }

    /// Returns the places of all groups, by trying each state at each byte of the match at most once.
    fn slots(
        &mut self,
        meter: &mut Meter<'_>,
        input: &Input<'_>,
        bytes: usize,
    ) -> Result<Option<Vec<Span>>, Refused> {
        let steps = self.linear.states.saturating_mul(bytes.saturating_add(1));
        if steps > MOST_GROUPED {
            return Err(Refused::Words(
                "the match is too long to look for the groups of such a pattern; search a part of the text, or leave groups out"
                    .to_string(),
            ));
        }
        growing_room(meter.heap, 0, steps / 8)?;
        meter.spend(steps.saturating_mul(STEP))?;
        let Some(tables) = &mut self.tables else { return Ok(None) };
        let engine = &self.linear.by_steps;
        let cache = tables.by_steps.get_or_insert_with(|| engine.create_cache());
        tables.slots.clear();
        tables.slots.resize(self.linear.groups * 2, None);
        let found = engine.try_search_slots(cache, input, &mut tables.slots).map_err(too_large)?;
        Ok(found.map(|_| spans(&tables.slots)))
    }
}

/// Returns a search for the text that every match begins with. States it skips are not paid for, so it must be the
/// same on every machine: there are faster ones for many texts, on processors with the instructions.
fn prefilter(hir: &Hir) -> Option<Prefilter> {
    let mut prefixes = Extractor::new().limit_class(3).limit_repeat(3).limit_total(3).extract(hir);
    prefixes.optimize_for_prefix_by_preference();
    match prefixes.literals()? {
        [only] => Prefilter::new(MatchKind::LeftmostFirst, &[only.as_bytes()]).filter(|_| !only.is_empty()),
        bytes if bytes.iter().all(|byte| byte.len() == 1) => {
            Prefilter::new(MatchKind::LeftmostFirst, bytes).filter(|_| !bytes.is_empty())
        }
        _ => None,
    }
}

/// Ticks for a state tried at a byte; most are never reached.
const STEP: usize = 2;

fn spans(slots: &[Option<NonMaxUsize>]) -> Vec<Span> {
    slots.chunks(2).map(|ends| Some((ends.first()?.as_ref()?.get(), ends.get(1)?.as_ref()?.get()))).collect()
}
