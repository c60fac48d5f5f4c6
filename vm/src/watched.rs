//! Watched fields: fields that a program looks up, and whether any map had them. A field that no map had is most often
//! misspelt.
//!
//! Looking a field up repeatedly in maps of one shape takes a quick path, which records nothing here. It only finds
//! fields that were found before in that shape, so nothing is missed. The recorded facts do not depend on the order or
//! number of lookups: parallel work, or work repeated after a collection, gives the same result.

use ptc_bytecode::{Span, likeness, nearest};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// Maximum watched fields: as many as bits in a word.
pub const MAX_WATCHED: usize = 64;

/// Maximum keys of a map that are inspected; `MAX_TOLD` bounds those shown.
pub(crate) const MAX_KEYS: usize = 64;
const MAX_TOLD: usize = 8;

/// Maximum different maps without the field that are inspected.
const MAX_MAPS: usize = 16;

/// Maximum length of a name that is watched or shown, in bytes.
pub(crate) const MAX_NAME: usize = 64;

/// A field to watch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WatchedField {
    /// Name, without the colon of a keyword.
    pub name: Box<str>,
    /// True if the program writes it as a keyword.
    pub is_keyword: bool,
    /// Place where the program looks it up.
    pub span: Span,
}

/// A field that was looked up and never found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissedField {
    /// Field that was looked up.
    pub field: WatchedField,
    /// Most similar key in the maps without the field, as programs write it.
    pub near: Option<Box<str>>,
    /// Some keys of such a map.
    pub keys: Vec<Box<str>>,
}

/// The watched fields, and the facts recorded about them.
#[derive(Clone, Default)]
pub(crate) struct Watched {
    fields: Arc<[WatchedField]>,
    seen: Seen,
    /// One bit for every field not found yet, by [`bit`] of its name, which tells most names apart.
    waiting: u64,
}

/// The lookups of watched fields, by number, in a run or a branch of it.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Fields that were found, as bits.
    found: u64,
    /// Fields that were missing in maps with other keys. Most runs have none.
    missed: Vec<(u8, Missed)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Missed {
    near: Option<Box<str>>,
    keys: Vec<Box<str>>,
    /// Fingerprints of the keys of the inspected maps.
    maps: Vec<u64>,
}

impl Watched {
    pub fn new(fields: Vec<WatchedField>) -> Watched {
        let fields =
            fields.into_iter().filter(|field| field.name.len() <= MAX_NAME).take(MAX_WATCHED).collect();
        let mut watched = Watched { fields, ..Watched::default() };
        watched.wait();
        watched
    }

    /// Returns the initial state for a branch.
    pub fn of_branch(&self) -> Watched {
        self.clone()
    }

    pub fn fields(&self) -> &[WatchedField] {
        &self.fields
    }

    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    pub fn into_seen(self) -> Seen {
        self.seen
    }

    /// Adds the lookups of another run or branch.
    pub fn add(&mut self, seen: Seen) {
        self.seen.found |= seen.found;
        for (at, missed) in seen.missed {
            self.add_missed(at, missed);
        }
        self.wait();
    }

    fn add_missed(&mut self, at: u8, missed: Missed) {
        let Some(field) = self.fields.get(usize::from(at)) else { return };
        let all = &mut self.seen.missed;
        let Some((_, known)) = all.iter_mut().find(|(known, _)| *known == at) else {
            return all.push((at, missed));
        };
        let score =
            |near: &Option<Box<str>>| near.as_deref().map_or(0.0, |near| likeness(&field.name, bare(near)));
        let (old, new) = (score(&known.near), score(&missed.near));
        if new > old || (new == old && missed.near < known.near) {
            known.near = missed.near;
        }
        if missed.keys < known.keys {
            known.keys = missed.keys;
        }
        for map in missed.maps {
            if known.maps.len() < MAX_MAPS && !known.maps.contains(&map) {
                known.maps.push(map);
            }
        }
    }

    /// True if some field was not found yet.
    pub fn is_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// Returns the number of the field with this name, unless it was found already.
    pub fn waits_for(&self, name: &str) -> Option<usize> {
        if self.waiting & bit(name) == 0 {
            return None;
        }
        let at = self.fields.iter().position(|field| &*field.name == name)?;
        (self.seen.found >> at & 1 == 0).then_some(at)
    }

    /// Records that a map had the field.
    pub fn found(&mut self, at: usize) {
        self.seen.found |= 1 << at;
        self.wait();
    }

    /// Records that a map had only these keys, with true for each keyword.
    pub fn missed(&mut self, at: usize, keys: &[(&str, bool)]) {
        let mut hasher = DefaultHasher::new();
        keys.hash(&mut hasher);
        let map = hasher.finish();
        let known = self.seen.missed.iter().find(|(known, _)| usize::from(*known) == at);
        let is_known =
            known.is_some_and(|(_, known)| known.maps.contains(&map) || known.maps.len() >= MAX_MAPS);
        let Some(field) = self.fields.get(at).filter(|_| !keys.is_empty() && !is_known) else { return };
        let written = |(text, is_keyword): &(&str, bool)| match is_keyword {
            true => format!(":{text}").into_boxed_str(),
            false => format!("{text:?}").into_boxed_str(),
        };
        let near = nearest(&field.name, keys.iter().map(|(text, _)| *text));
        let near = near.and_then(|near| keys.iter().find(|(text, _)| *text == near)).map(written);
        let keys = keys.iter().take(MAX_TOLD).map(written).collect();
        self.add_missed(at as u8, Missed { near, keys, maps: vec![map] });
    }

    fn wait(&mut self) {
        let not_found = self.fields.iter().enumerate().filter(|(at, _)| self.seen.found >> at & 1 == 0);
        self.waiting = not_found.fold(0, |bits, (_, field)| bits | bit(&field.name));
    }

    /// Returns the places of the fields that were found.
    pub fn found_places(&self) -> Vec<Span> {
        let found = self.fields.iter().enumerate().filter(|(at, _)| self.seen.found >> at & 1 == 1);
        found.map(|(_, field)| field.span).collect()
    }

    /// Returns the fields that were looked up in maps with other keys, and found in none.
    pub fn never_found(&self) -> Vec<MissedField> {
        let mut all: Vec<MissedField> = Vec::new();
        for (at, missed) in &self.seen.missed {
            let Some(field) = self.fields.get(usize::from(*at)) else { continue };
            if self.seen.found >> at & 1 == 0 {
                let Missed { near, keys, .. } = missed.clone();
                all.push(MissedField { field: field.clone(), near, keys });
            }
        }
        all.sort_by_key(|missed| missed.field.span);
        all
    }
}

impl Seen {
    /// True if a run could have written it: a file may claim anything.
    pub fn is_sound(&self) -> bool {
        self.missed.len() <= MAX_WATCHED
            && self.missed.iter().all(|(_, missed)| {
                missed.maps.len() <= MAX_MAPS
                    && missed.keys.len() <= MAX_TOLD
                    && missed.keys.iter().chain(&missed.near).all(|key| key.len() <= 2 * MAX_NAME)
            })
    }

    /// Returns the bytes it holds besides itself.
    pub fn bytes(&self) -> usize {
        self.missed.len() * MAX_TOLD * MAX_NAME
    }
}

/// Returns one of 64 bits for a name.
fn bit(name: &str) -> u64 {
    let (first, last) = (name.as_bytes().first(), name.as_bytes().last());
    let sum = name.len() * 31 + usize::from(*first.unwrap_or(&0)) * 7 + usize::from(*last.unwrap_or(&0));
    1 << (sum % 64)
}

/// Returns a key as programs write it, without its colon or quotes.
fn bare(key: &str) -> &str {
    key.strip_prefix(':').unwrap_or_else(|| key.trim_matches('"'))
}

/// The watched fields that runs on several machines found.
///
/// ```
/// use ptc_vm::Lookups;
/// assert!(Lookups::default().missed().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Lookups(Option<Box<Watched>>);

impl Lookups {
    /// Adds the findings of runs on a machine. All of them watch the same fields.
    pub(crate) fn add(&mut self, watched: Option<&Watched>) {
        match (&mut self.0, watched) {
            (_, None) => {}
            (None, Some(seen)) => self.0 = Some(Box::new(seen.clone())),
            (Some(known), Some(seen)) if known.fields == seen.fields => known.add(seen.seen.clone()),
            _ => {}
        }
    }

    /// Returns the fields that none of them found.
    pub fn missed(&self) -> Vec<MissedField> {
        self.0.as_ref().map(|watched| watched.never_found()).unwrap_or_default()
    }
}
