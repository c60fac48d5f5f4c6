//! Tally of the fields and data that many runs of one program did not find: a field that one record lacks is no
//! problem, a field that all lack is most often misspelt.

use crate::check;
use crate::program::Program;
use ptc_bytecode::{Code, Diagnostic, nearest};
use ptc_compiler::DataRead;
use ptc_vm::{Lookups, MissedField, Vm, WatchedField};
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum names of members that are remembered.
const MAX_NAMES: usize = 64;

/// The fields and data watched while programs run over records. Programs that share a machine watch the same set,
/// since the quick path of a lookup in a known shape skips the watch.
pub(crate) struct Watching {
    pub fields: Vec<WatchedField>,
    /// Data that members of the records may provide.
    pub data: Vec<DataRead>,
}

impl Watching {
    /// Collects everything these programs read, each name once.
    pub fn of<'p>(programs: impl IntoIterator<Item = &'p Program>) -> Watching {
        let mut watching = Watching { fields: Vec::new(), data: Vec::new() };
        let (mut fields, mut data) = (BTreeSet::new(), BTreeSet::new());
        for program in programs {
            let of_program = check::watched(program.reads());
            watching.fields.extend(of_program.into_iter().filter(|field| fields.insert(field.name.clone())));
            let read = program.data().iter().filter(|read| data.insert(read.name.clone()));
            watching.data.extend(read.cloned());
        }
        watching
    }
}

/// Findings so far, of runs on any thread.
#[derive(Default)]
pub(crate) struct Tally(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    lookups: Lookups,
    /// Data the program reads that members should provide, and true for each that one did.
    members: Vec<(DataRead, bool)>,
    /// Names of members seen.
    names: BTreeSet<String>,
}

impl Tally {
    /// Adds the findings of runs on this machine.
    pub fn add(&self, vm: &Vm) {
        vm.add_lookups(&mut self.counts().lookups);
    }

    /// Adds the data that members of records provided, and the names of their members.
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

    /// Returns warnings about fields and data that the program reads and no run found, at their places in this program.
    pub fn warnings(&self, program: &Program) -> Vec<Diagnostic> {
        let counts = self.counts();
        let is_missing = |read: &&DataRead| {
            counts.members.iter().any(|(data, is_found)| !is_found && data.name == read.name)
        };
        let missing = program.data().iter().filter(is_missing).map(|data| {
            let message = format!("`data/{}` is not a member of any record, so it is nil", data.name);
            let told = Diagnostic::warning(Code::AbsentField, data.span, message);
            match nearest(&data.name, counts.names.iter().map(String::as_str)) {
                Some(near) => told.suggest(&format!("data/{near}")),
                None => told,
            }
        });
        let missed = counts.lookups.missed();
        let fields = check::watched(program.reads()).into_iter().filter_map(|field| {
            let MissedField { near, keys, .. } =
                missed.iter().find(|missed| missed.field.name == field.name)?.clone();
            Some(check::missed(&MissedField { field, near, keys }))
        });
        missing.chain(fields).collect()
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // No value in there can be half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
