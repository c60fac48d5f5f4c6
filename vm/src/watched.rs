//! Fields that a program looks up, and whether any map had them: one that none had is most often misspelt.
//!
//! Looking a field up in maps of one shape again and again is the quick way, which says nothing here. It only finds
//! what has been found before in that shape, so nothing is missed. All that is kept is the same in whichever
//! order it came, and however often: whatever is computed in parallel, or again after a collection, leaves the same.

use ptc_bytecode::{Span, likeness, nearest};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The most fields that are watched: as many as bits in a word.
pub const MAX_WATCHED: usize = 64;

/// Keys of a map that are looked at, and those that are told.
pub(crate) const MAX_KEYS: usize = 64;
const MAX_TOLD: usize = 8;

/// Different maps without the field that are looked at.
const MAX_MAPS: usize = 16;

/// The longest name that is watched or told, in bytes.
pub(crate) const MAX_NAME: usize = 64;

/// A field to watch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WatchedField {
    /// Without the colon of a keyword.
    pub name: Box<str>,
    /// Whether the program writes it as a keyword.
    pub is_keyword: bool,
    /// Where the program looks it up.
    pub span: Span,
}

/// A field that was looked up and never found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MissedField {
    /// The field.
    pub field: WatchedField,
    /// The key most like it in the maps that did not have it, as programs write it.
    pub near: Option<Box<str>>,
    /// Some keys of such a map.
    pub keys: Vec<Box<str>>,
}

/// The fields that are watched, and what is known of them.
#[derive(Clone, Default)]
pub(crate) struct Watched {
    fields: Arc<[WatchedField]>,
    seen: Seen,
    /// One bit for every field that was not found yet, by [`bit`] of its name: most names are told apart by it.
    waiting: u64,
}

/// What a run, or a branch of it, saw of the fields by number.
#[derive(Clone, Default, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// Those that were found, as bits.
    found: u64,
    /// Those that were not, of maps that have other keys. Most runs have none.
    missed: Vec<(u8, Missed)>,
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct Missed {
    near: Option<Box<str>>,
    keys: Vec<Box<str>>,
    /// Tells maps apart by their keys.
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

    /// As a branch starts with it.
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

    /// Adds what was seen elsewhere.
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

    /// Whether some field was not found yet.
    pub fn is_waiting(&self) -> bool {
        self.waiting != 0
    }

    /// The number of the field with this name, unless it was found already.
    pub fn waits_for(&self, name: &str) -> Option<usize> {
        if self.waiting & bit(name) == 0 {
            return None;
        }
        let at = self.fields.iter().position(|field| &*field.name == name)?;
        (self.seen.found >> at & 1 == 0).then_some(at)
    }

    /// A map had the field.
    pub fn found(&mut self, at: usize) {
        self.seen.found |= 1 << at;
        self.wait();
    }

    /// A map had only these keys, of which some are keywords.
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

    /// Places of the fields that were found.
    pub fn found_places(&self) -> Vec<Span> {
        let found = self.fields.iter().enumerate().filter(|(at, _)| self.seen.found >> at & 1 == 1);
        found.map(|(_, field)| field.span).collect()
    }

    /// Fields that were looked up in maps that have other keys, and found in none.
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
    /// Whether it could have been written by a run: a file may say anything.
    pub fn is_sound(&self) -> bool {
        self.missed.len() <= MAX_WATCHED
            && self.missed.iter().all(|(_, missed)| {
                missed.maps.len() <= MAX_MAPS
                    && missed.keys.len() <= MAX_TOLD
                    && missed.keys.iter().chain(&missed.near).all(|key| key.len() <= 2 * MAX_NAME)
            })
    }

    /// What it holds besides itself.
    pub fn bytes(&self) -> usize {
        self.missed.len() * MAX_TOLD * MAX_NAME
    }
}

/// One of 64 bits for a name.
fn bit(name: &str) -> u64 {
    let (first, last) = (name.as_bytes().first(), name.as_bytes().last());
    let sum = name.len() * 31 + usize::from(*first.unwrap_or(&0)) * 7 + usize::from(*last.unwrap_or(&0));
    1 << (sum % 64)
}

/// A key as programs write it, without its colon or quotes.
fn bare(key: &str) -> &str {
    key.strip_prefix(':').unwrap_or_else(|| key.trim_matches('"'))
}

/// Which watched fields runs on several machines found.
///
/// ```
/// use ptc_vm::Lookups;
/// assert!(Lookups::default().missed().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Lookups(Option<Box<Watched>>);

impl Lookups {
    /// Adds what runs on a machine found. All of them watch the same fields.
    pub(crate) fn add(&mut self, watched: Option<&Watched>) {
        match (&mut self.0, watched) {
            (_, None) => {}
            (None, Some(seen)) => self.0 = Some(Box::new(seen.clone())),
            (Some(known), Some(seen)) if known.fields == seen.fields => known.add(seen.seen.clone()),
            _ => {}
        }
    }

    /// Fields that none of them found.
    pub fn missed(&self) -> Vec<MissedField> {
        self.0.as_ref().map(|watched| watched.never_found()).unwrap_or_default()
    }
}
