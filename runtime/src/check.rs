//! Checks the reads of a program against the data known before it runs: granted data, definitions of the session, and
//! the arguments and results of tools. A field that no record has is an error if it is certainly a mistake, and
//! otherwise a warning.

mod calls;
mod compared;
mod computed;
mod known;
mod paths;
mod report;
mod scan;
mod shape;

use crate::program::Program;
use paths::root_of;
use ptc_compiler::Reads;
use ptc_compiler::reads::{Of, PathId, Step};
use ptc_vm::{Frozen, WatchedField};
use report::Absent;
use scan::Scan;
use std::cell::LazyCell;

/// Maximum values inspected in all; anything beyond is not reported.
const MAX_VALUES: u64 = 2_000_000;

/// Checks a program against its initial data.
pub(crate) fn check(program: &Program, known: &Known<'_>) -> Found {
    let reads = program.reads();
    let mut absent: Vec<Absent> = reads.lookups.iter().map(Absent::of).collect();
    let mut values_left = MAX_VALUES;
    let mut found = Found::default();
    for (root, step) in reads.paths.iter().enumerate().filter(|(_, path)| path.parent.is_none()) {
        let root = PathId(root as u32);
        // A program that makes no calls may as well fault where it computes.
        let is_certain = !reads.calls.is_empty();
        let is_used = |path: PathId| root_of(reads, path) == root;
        let is_compared =
            reads.comparisons.iter().any(|comparison| compared::path(comparison).is_some_and(is_used));
        let is_computed = is_certain && reads.operands.iter().any(|operand| is_used(operand.path));
        if !is_compared && !is_computed && !absent.iter().any(|absent| absent.is_open_for(reads, root)) {
            continue;
        }
        if let Step::Answer(tool) = &step.step
            && let Some(shape) = known.tool(tool)
        {
            absent.iter_mut().for_each(|absent| absent.look_in_shape(reads, root, tool, shape.answers()));
            continue;
        }
        let Some(frozen) = known.value(&step.step).or_else(|| constant(program, &step.step)) else {
            // The data behind this root is unknown.
            absent.iter_mut().filter(|absent| absent.reads_from(reads, root)).for_each(Absent::give_up);
            continue;
        };
        frozen.read(|heap, value| {
            let mut scan = Scan { heap, root: value, values_left: &mut values_left };
            for absent in &mut absent {
                absent.look(reads, root, &mut scan);
            }
            for comparison in &reads.comparisons {
                if let Some(path) = compared::path(comparison)
                    && is_used(path)
                {
                    found.warnings.extend(compared::with_values(reads, comparison, path, &mut scan));
                }
            }
            for operand in reads.operands.iter().filter(|operand| is_certain && is_used(operand.path)) {
                found.errors.extend(computed::check(reads, operand, &mut scan));
            }
        });
    }
    // Computed once for all lookups: a program may look up thousands of fields.
    let watched = LazyCell::new(|| reads.watched().collect());
    for absent in absent {
        absent.report(reads, &watched, &mut found);
    }
    found.warnings.extend(reads.comparisons.iter().filter_map(compared::without_values));
    calls::check(reads, known, &mut found);
    found.errors.sort_by_key(|told| told.span);
    found
}

/// Returns the constant of a prelude that a path begins with.
fn constant<'p>(program: &'p Program, step: &Step) -> Option<&'p Frozen> {
    let Step::Definition(name) = step else { return None };
    program.attached()?.constant(name)
}

/// Returns the fields that a run has to watch, since not all their maps were known before it.
pub(crate) fn watched(reads: &Reads) -> Vec<WatchedField> {
    let watched = reads.watched();
    watched
        .map(|(key, span)| WatchedField { name: key.name.clone(), is_keyword: key.is_keyword, span })
        .collect()
}

pub(crate) use known::{Found, Known};
pub(crate) use report::missed;

impl Absent<'_> {
    /// True if a lookup of this field in the data at `root` is still open.
    fn is_open_for(&self, reads: &Reads, root: PathId) -> bool {
        !self.is_settled() && self.reads_from(reads, root)
    }

    /// True if some of the maps it is looked up in come from `root`.
    fn reads_from(&self, reads: &Reads, root: PathId) -> bool {
        self.lookup.of.iter().any(|of| matches!(of, Of::Path(path) if root_of(reads, *path) == root))
    }
}
