//! What many runs of one program found of what it reads: what one record lacks is nothing to speak of, what all lack
//! is most often misspelt.

use crate::check;
use ptc_bytecode::{Code, Diagnostic, nearest};
use ptc_compiler::DataRead;
use ptc_vm::{Lookups, Vm};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Names of members that are remembered.
const MAX_NAMES: usize = 64;

/// What was found so far, by runs on any thread.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    lookups: Lookups,
    /// Data the program reads that members of the records are to bring, and whether one did.
    members: Vec<(DataRead, bool)>,
    /// Names of members there were.
    names: BTreeSet<String>,
}

impl Tally {
    /// Adds what runs on this machine found.
    pub fn add(&self, vm: &Vm) {
        vm.add_lookups(&mut self.counts().lookups);
    }

    /// Adds whether the members of records brought some data, and names of those they have.
    pub fn add_members<'n>(&self, read: &[(DataRead, bool)], names: impl Iterator<Item = &'n str>) {
        let mut counts = self.counts();
        for (data, is_found) in read {
            match counts.members.iter_mut().find(|(known, _)| known.name == data.name) {
                Some((_, found)) => *found |= is_found,
                None => counts.members.push((data.clone(), *is_found)),
            }
        }
        for name in names {
            if counts.names.len() < MAX_NAMES && !name.starts_with('_') {
                counts.names.insert(name.to_string());
            }
        }
    }

    /// What no run found.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let counts = self.counts();
        let missing = counts.members.iter().filter(|(_, is_found)| !is_found).map(|(data, _)| {
            let message = format!("`data/{}` is a member of none of the records, so it is nil", data.name);
            let told = Diagnostic::warning(Code::AbsentField, data.span, message);
            match nearest(&data.name, counts.names.iter().map(String::as_str)) {
                Some(near) => told.suggest(&format!("data/{near}")),
                None => told,
            }
        });
        missing.chain(counts.lookups.missed().iter().map(check::missed)).collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // Nothing in there can be half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
