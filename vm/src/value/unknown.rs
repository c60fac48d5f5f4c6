//! Unknown values: the answers of writes that a plan lists and does not send.
//!
//! A program may pass an unknown value on, store it and return it. Looking at it ends the run with a fault that names the
//! write, since nobody knows how the program would go on. Hot code pays nothing for this: no fast path matches the tag of
//! an unknown value, and a heap that has met one is run by the careful variant of the interpreter loop, which looks at the
//! operands of each instruction first (`exec/unknown.rs`). Natives are asked by their wrapper.

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::hash::RefSet;
use crate::value::{Ref, Value};
use ptc_bytecode::{Code, Subject};

/// Steps for searching an object.
const LOOK_STEPS: usize = 4;

/// Number of cells of one object that are searched before they are charged.
const LOOK_EVERY: usize = 4096;

impl Heap {
    /// True if any value of this run may be unknown.
    #[inline(always)]
    pub fn has_unknowns(&self) -> bool {
        self.unknowns
    }

    /// Records that there may be unknown values from here on. Natives ask for them where they ask for veils.
    pub(crate) fn meet_unknowns(&mut self, met: bool) {
        self.unknowns |= met;
        self.meet_veils(met);
    }

    /// Faults if a value is unknown.
    #[inline]
    pub fn check_known(&self, v: Value) -> Result<(), Fault> {
        match v {
            Value::Unknown(write) => Err(looked_at(write)),
            _ => Ok(()),
        }
    }

    /// Faults if a value is unknown or contains an unknown value, at any depth.
    pub fn check_known_deep(&self, v: Value) -> Result<(), Stop> {
        match self.find_unknown(v)? {
            Some(write) => Err(looked_at(write).into()),
            None => Ok(()),
        }
    }

    /// Returns the write of an unknown value in this one, at any depth; None if there is none.
    pub fn find_unknown(&self, v: Value) -> Result<Option<u64>, Stop> {
        if !self.unknowns {
            return Ok(None);
        }
        let (mut todo, mut met) = (Vec::new(), RefSet::default());
        let mut found = None;
        let mut meet = |todo: &mut Vec<Ref>, cell: Value| {
            if let Value::Unknown(write) = cell {
                found.get_or_insert(write);
            }
            if let Some(r) = self.searched(cell)
                && met.insert(r)
            {
                todo.push(r);
            }
            found
        };
        meet(&mut todo, v.shared());
        while let Some(r) = todo.pop() {
            self.charge(LOOK_STEPS);
            self.look()?;
            let cells = self.walked(r);
            for start in (0..cells).step_by(LOOK_EVERY) {
                let end = cells.min(start + LOOK_EVERY);
                self.charge(end - start);
                self.look()?;
                for i in start..end {
                    meet(&mut todo, self.walked_cell(r, i));
                }
            }
        }
        Ok(found)
    }

    /// Returns the object of a cell, if there may be unknown values in it.
    fn searched(&self, cell: Value) -> Option<Ref> {
        let r = match cell {
            Value::Vector(r)
            | Value::Map(r)
            | Value::Set(r)
            | Value::Keys(r)
            | Value::TailRef(r)
            | Value::IndexRef(r)
            | Value::Closure(r)
            | Value::Builder(r)
            | Value::Endless(r)
            | Value::State(r)
            | Value::Veiled(r)
            | Value::Exception(r) => r,
            _ => return None,
        };
        (r.space() == 0 || self.space(r.space()).unknowns).then_some(r)
    }
}

/// Makes the fault of a program that looks at the answer of a planned write.
#[cold]
pub(crate) fn looked_at(write: u64) -> Fault {
    Fault::new(
        Code::UnknownAnswer,
        "the program looks at the answer of a write that was planned and not sent",
    )
    .hint("apply the plan, and plan the rest with the same ledger: then the answer is known")
    .about(Subject::Write(write))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_found_at_any_depth() {
        let mut heap = Heap::unbounded();
        assert!(heap.find_unknown(Value::Unknown(1)).unwrap().is_none(), "no run without a plan has any");
        heap.meet_unknowns(true);
        let name = heap.new_keyword("receipt").unwrap();
        let map = heap.new_map(&[name, Value::Unknown(7)]).unwrap();
        let known = heap.new_vec(&[Value::Int(1), name]).unwrap();
        let deep = heap.new_vec(&[known, map]).unwrap();
        assert_eq!(heap.find_unknown(deep).unwrap(), Some(7));
        assert_eq!(heap.find_unknown(known).unwrap(), None);
        let fault = heap.check_known(Value::Unknown(7)).unwrap_err();
        assert_eq!(fault.code(), Code::UnknownAnswer);
        assert!(heap.check_known_deep(deep).is_err() && heap.check_known(deep).is_ok());
    }
}
