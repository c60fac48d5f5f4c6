//! Correct programs with one slip each, and its detection: before the run, with the result, or not at all.

mod generated;
mod slips;
mod sources;

pub use generated::generated;
pub use slips::{Kind, Slip, slips};
pub use sources::{Right, right_programs};

use ptc_runtime::{Diagnostic, Failure, Grants, Runtime};
use std::collections::BTreeMap;

/// Detection of a slip.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Met {
    /// The answer is unchanged, so it was no mistake.
    Harmless,
    /// Reported before the first instruction.
    Before {
        /// True if the correct name was given.
        named: bool,
    },
    /// Reported after the run began, by a fault or with the result.
    After {
        /// True if the correct name was given.
        named: bool,
    },
    /// Another answer without any report.
    Silent,
}

impl Right {
    /// Returns grants with the program's data.
    pub fn grants(&self) -> Grants {
        let granted = self.data.iter().try_fold(Grants::new(), |all, (name, json)| all.json(name, json));
        granted.expect("the data of a right program is JSON")
    }

    /// Runs `program`, which has a slip, with the data of this one; returns how the slip was detected.
    pub fn meet(&self, runtime: &Runtime, program: &str, right_name: &str) -> Met {
        let before = |problems: &[Diagnostic]| Met::Before { named: names(problems, right_name) };
        let compiled = match runtime.compile(program) {
            Ok(compiled) => compiled,
            Err(failure) => return before(&failure.diagnostics),
        };
        let run = match runtime.start_with(&compiled, &self.grants()) {
            Ok(run) => run,
            Err(failure) => return before(&failure.diagnostics),
        };
        let told_before = run.program().warnings().to_vec();
        let (answer, told): (Option<String>, Vec<Diagnostic>) = match run.finish() {
            Ok(outcome) => (outcome.print().ok(), outcome.warnings().to_vec()),
            Err(failure) => (None, all_of(&failure)),
        };
        match () {
            () if answer.as_ref() == Some(&self.answer) => Met::Harmless,
            () if !told_before.is_empty() => before(&told_before),
            () if !told.is_empty() => Met::After { named: names(&told, right_name) },
            () => Met::Silent,
        }
    }
}

fn all_of(failure: &Failure) -> Vec<Diagnostic> {
    failure.diagnostics.iter().chain(failure.warnings()).cloned().collect()
}

/// Returns whether a name appears in a message or hint, as a whole word.
fn names(problems: &[Diagnostic], name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '?' | '!');
    problems.iter().any(|problem| {
        let told = [Some(&problem.message), problem.hint.as_ref()];
        told.into_iter().flatten().any(|text| text.split(|c| !is_part(c)).any(|word| word == name))
    })
}

/// Counts of slips by kind and detection.
#[derive(Clone, Default, Debug)]
pub struct Tally(BTreeMap<(Kind, Met), usize>);

impl Tally {
    /// Counts one slip.
    pub fn count(&mut self, kind: Kind, met: Met) {
        *self.0.entry((kind, met)).or_default() += 1;
    }

    /// Returns the share of a kind's harmful slips with this detection.
    pub fn share(&self, kind: Kind, is_counted: impl Fn(Met) -> bool) -> f64 {
        let of = |is_counted: &dyn Fn(Met) -> bool| -> usize {
            let rows = self.0.iter().filter(|((known, met), _)| *known == kind && is_counted(*met));
            rows.map(|(_, count)| count).sum()
        };
        let all = of(&|met| met != Met::Harmless);
        of(&|met| met != Met::Harmless && is_counted(met)) as f64 / all.max(1) as f64
    }

    /// Returns the number of a kind's harmful slips.
    pub fn harmful(&self, kind: Kind) -> usize {
        let rows = self.0.iter().filter(|((known, met), _)| *known == kind && *met != Met::Harmless);
        rows.map(|(_, count)| count).sum()
    }

    /// Formats the counts as a table.
    pub fn to_text(&self) -> String {
        let mut out =
            format!("{:<12} {:>6} {:>8} {:>8} {:>8}\n", "slip", "harm", "silent", "named", "before");
        for kind in Kind::ALL {
            let percent = |is_counted: &dyn Fn(Met) -> bool| 100.0 * self.share(*kind, is_counted);
            out += &format!(
                "{:<12} {:>6} {:>7.1}% {:>7.1}% {:>7.1}%\n",
                format!("{kind:?}"),
                self.harmful(*kind),
                percent(&|met| met == Met::Silent),
                percent(&|met| matches!(met, Met::Before { named: true } | Met::After { named: true })),
                percent(&|met| matches!(met, Met::Before { .. })),
            );
        }
        out
    }
}
