//! Where each call stands, and where its records are in the file.

use super::lines;
use crate::LedgerError;
use crate::ledger::Filter;
use crate::record::{Outcome, Record};
use crate::{EffectId, Entry, Standing};
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::sync::Arc;

/// Calls of a file, by run and key. About 150 bytes for each call, whatever its arguments and answers are.
#[derive(Debug, Default)]
pub struct Index {
    runs: HashMap<Arc<str>, HashMap<Box<str>, Slot>>,
}

/// A call.
#[derive(Clone, Copy, Debug)]
struct Slot {
    standing: Standing,
    /// Place of its first record, which gives the order of calls.
    first: u64,
    /// Place of the record with its arguments.
    begin: Place,
    /// Place of the record with what came of it.
    end: Option<Place>,
}

/// Part of the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    at: u64,
    length: usize,
}

/// A call that was selected.
pub struct Found {
    run: Arc<str>,
    slot: Slot,
}

impl Index {
    /// Takes over a record that is at this place of the file.
    pub fn apply(&mut self, record: &Record, at: u64, length: usize) -> Result<(), LedgerError> {
        let id = record.id();
        let place = Place { at, length };
        let slot = self.runs.get_mut(id.run()).and_then(|run| run.get_mut(id.key()));
        let (standing, is_news) = Standing::after(slot.as_ref().map(|slot| slot.standing), record)?;
        match slot {
            Some(slot) => {
                slot.standing = standing;
                match record {
                    Record::Begin { .. } => (slot.begin, slot.end) = (place, None),
                    _ if is_news => slot.end = Some(place),
                    _ => {}
                }
            }
            None => {
                let slot = Slot { standing, first: at, begin: place, end: None };
                if !self.runs.contains_key(id.run()) {
                    self.runs.insert(id.run().into(), HashMap::new());
                }
                if let Some(run) = self.runs.get_mut(id.run()) {
                    run.insert(id.key().into(), slot);
                }
            }
        }
        Ok(())
    }

    /// Reads a call; None if there is none.
    pub fn entry(&self, file: &mut File, id: &EffectId) -> Result<Option<Entry>, LedgerError> {
        let slot = self.runs.get(id.run()).and_then(|run| run.get(id.key()));
        slot.map(|slot| slot.read(file)).transpose()
    }

    /// Returns the calls that fit, oldest first.
    pub fn select(&self, filter: &Filter) -> Vec<Found> {
        let mut found: Vec<Found> = self
            .runs
            .iter()
            .flat_map(|(run, slots)| slots.values().map(move |slot| (run, slot)))
            .filter(|(run, slot)| filter.fits(run, slot.standing.state))
            .map(|(run, slot)| Found { run: run.clone(), slot: *slot })
            .collect();
        found.sort_unstable_by_key(|found| found.slot.first);
        let extra = filter.newest.map_or(0, |most| found.len().saturating_sub(most));
        found.split_off(extra)
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// Returns the runs whose last record is older than this time and which have no open call.
    pub fn older(&self, before_ms: u64) -> BTreeSet<Arc<str>> {
        let is_old = |slot: &Slot| !slot.standing.state.is_open() && slot.standing.last_ms() < before_ms;
        let old = self.runs.iter().filter(|(_, slots)| slots.values().all(is_old));
        old.map(|(run, _)| run.clone()).collect()
    }

    /// Returns how many calls of a run are open; None if there is no such run.
    pub fn open_calls(&self, run: &str) -> Option<u64> {
        let slots = self.runs.get(run)?.values();
        Some(slots.filter(|slot| slot.standing.state.is_open()).count() as u64)
    }
}

impl Found {
    /// Returns the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Reads the call.
    pub fn read(&self, file: &mut File) -> Result<Entry, LedgerError> {
        self.slot.read(file)
    }
}

impl Slot {
    fn read(&self, file: &mut File) -> Result<Entry, LedgerError> {
        let mut read = |place: Place| lines::record_at(file, place.at, place.length);
        let Record::Begin { intent, .. } = read(self.begin)? else {
            return Err(LedgerError::Damaged(format!("a call was expected at byte {}", self.begin.at)));
        };
        let outcome: Option<Outcome> = match self.end.map(&mut read).transpose()? {
            Some(Record::End { end, .. }) => Some(end),
            Some(Record::Settle { verdict, .. }) => verdict.outcome(),
            Some(Record::Begin { .. }) | None => None,
        };
        Ok(Entry::new(intent, outcome, self.standing))
    }
}
