//! Plan of a reader: the parts of a text that it builds, as a table instead of a tree.

use ptc_bytecode::Key;
use ptc_compiler::{Projection, finds};

/// The part that is built with everything in it.
pub(super) const WHOLE: u32 = 0;

/// The part that is not built.
pub(super) const SKIPPED: u32 = 1;

/// Number of the first part that is neither.
const FIRST: u32 = 2;

/// Parts of a text. The default is all of it.
#[derive(Default)]
pub(crate) struct Plan {
    /// Members of each part from [`FIRST`] on, the root at the start.
    parts: Vec<Vec<(Key, u32)>>,
}

impl Plan {
    pub fn of(projection: &Projection) -> Plan {
        let mut plan = Plan::default();
        if projection.is_whole() {
            return plan;
        }
        plan.parts.push(Vec::new());
        let mut waiting = vec![(0, projection)];
        while let Some((at, projection)) = waiting.pop() {
            for (key, part) in projection.members() {
                let number = if part.is_whole() {
                    WHOLE
                } else {
                    waiting.push((plan.parts.len(), part));
                    plan.parts.push(Vec::new());
                    plan.parts.len() as u32 - 1 + FIRST
                };
                plan.parts[at].push((key.clone(), number));
            }
        }
        plan
    }

    /// Returns the part of a whole text.
    pub fn root(&self) -> u32 {
        if self.parts.is_empty() { WHOLE } else { FIRST }
    }

    /// Returns the part that a member of a part leads to.
    pub fn member(&self, part: u32, name: &str) -> u32 {
        let Some(members) = part.checked_sub(FIRST).and_then(|at| self.parts.get(at as usize)) else {
            return part;
        };
        let mut found = members.iter().filter(|(key, _)| finds(key, name)).map(|(_, part)| *part);
        match (found.next(), found.next()) {
            (None, _) => SKIPPED,
            (Some(part), None) => part,
            // To build more than is observed is never wrong.
            (Some(_), Some(_)) => WHOLE,
        }
    }
}
