//! Holds what a program reads against what is known before it runs: granted data, definitions of the session, and what
//! tools take and answer. A field that no record has is an error where that is certainly a slip, and otherwise a warning.

mod calls;
mod report;
mod scan;
mod shape;

use crate::prelude::Upstream;
use crate::program::Program;
use crate::shape::ToolShape;
use crate::tools::Tools;
use ptc_bytecode::{Diagnostic, ToolName};
use ptc_compiler::Reads;
use ptc_compiler::reads::{Of, PathId, Step};
use ptc_vm::{Frozen, WatchedField, is_data_name};
use report::Absent;
use scan::Scan;
use std::collections::BTreeMap;

/// How many values are looked at in all; what would take more is not reported.
const MAX_VALUES: u64 = 2_000_000;

/// What was found.
#[derive(Default)]
pub(crate) struct Found {
    /// The program must not run.
    pub errors: Vec<Diagnostic>,
    /// It may be wrong.
    pub warnings: Vec<Diagnostic>,
}

/// What is known when a program starts.
pub(crate) struct Known<'k> {
    pub data: &'k [(String, Frozen)],
    pub definitions: Option<&'k BTreeMap<String, Frozen>>,
    pub tools: &'k Tools,
    pub upstream: Option<&'k dyn Upstream>,
}

impl<'k> Known<'k> {
    /// The value a path begins with.
    fn value(&self, step: &Step) -> Option<&'k Frozen> {
        match step {
            Step::Data(name) => {
                let exact = self.data.iter().find(|(known, _)| **known == **name);
                let found = exact.or_else(|| self.data.iter().find(|(known, _)| is_data_name(known, name)));
                found.map(|(_, value)| value)
            }
            Step::Definition(name) => self.definitions?.get(&**name),
            _ => None,
        }
    }

    /// What a tool takes and answers.
    fn tool(&self, tool: &ToolName) -> Option<ToolShape> {
        match tool {
            ToolName::Named(name) => self.tools.shape_of(name),
            ToolName::Upstream { server, tool } => self.upstream?.tool_shape(server, tool),
        }
    }
}

/// Holds a program against what it starts with.
pub(crate) fn check(program: &Program, known: &Known<'_>) -> Found {
    let reads = program.reads();
    let mut absent: Vec<Absent> = reads.lookups.iter().map(Absent::of).collect();
    let mut values_left = MAX_VALUES;
    let mut never = Vec::new();
    for (root, step) in reads.paths.iter().enumerate().filter(|(_, path)| path.parent.is_none()) {
        let root = PathId(root as u32);
        let is_compared = reads.comparisons.iter().any(|comparison| root_of(reads, comparison.path) == root);
        if !is_compared && !absent.iter().any(|absent| absent.is_open_for(reads, root)) {
            continue;
        }
        if let Step::Answer(tool) = &step.step
            && let Some(shape) = known.tool(tool)
        {
            absent.iter_mut().for_each(|absent| absent.look_in_shape(reads, root, tool, shape.answers()));
            continue;
        }
        let Some(frozen) = known.value(&step.step) else {
            // Nobody knows what comes from there.
            absent.iter_mut().filter(|absent| absent.reads_from(reads, root)).for_each(Absent::give_up);
            continue;
        };
        frozen.read(|heap, value| {
            let mut scan = Scan { heap, root: value, values_left: &mut values_left };
            for absent in &mut absent {
                absent.look(reads, root, &mut scan);
            }
            for comparison in &reads.comparisons {
                if root_of(reads, comparison.path) == root {
                    never.extend(report::never_equal(reads, comparison, &mut scan));
                }
            }
        });
    }
    let mut found = Found::default();
    for absent in absent {
        absent.report(reads, &mut found);
    }
    found.warnings.extend(never);
    calls::check(reads, known, &mut found);
    found
}

/// Fields that a run has to watch, since nobody knew all the maps before it.
pub(crate) fn watched(reads: &Reads) -> Vec<WatchedField> {
    let watched = reads.watched();
    watched
        .map(|(key, span)| WatchedField { name: key.name.clone(), is_keyword: key.is_keyword, span })
        .collect()
}

pub(crate) use report::missed;

/// The beginning of a path.
fn root_of(reads: &Reads, mut path: PathId) -> PathId {
    while let Some(parent) = reads.paths.get(path.0 as usize).and_then(|path| path.parent) {
        path = parent;
    }
    path
}

/// The steps of a path from its beginning on, without that.
fn steps(reads: &Reads, mut path: PathId) -> Vec<&Step> {
    let mut steps = Vec::new();
    while let Some(at) = reads.paths.get(path.0 as usize)
        && let Some(parent) = at.parent
    {
        steps.push(&at.step);
        path = parent;
    }
    steps.reverse();
    steps
}

impl Absent<'_> {
    /// Whether it is worth while to look there.
    fn is_open_for(&self, reads: &Reads, root: PathId) -> bool {
        !self.is_settled() && self.reads_from(reads, root)
    }

    /// Whether some of the maps it is looked up in come from there.
    fn reads_from(&self, reads: &Reads, root: PathId) -> bool {
        self.lookup.of.iter().any(|of| matches!(of, Of::Path(path) if root_of(reads, *path) == root))
    }
}
