//! Effects of instructions on registers, derived from their operand roles, so that the verifier and liveness need not
//! list instructions by name.

use crate::isa::{Op, Operand};
use crate::regset::RegSet;

/// A run of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    pub first: u8,
    pub count: u16,
}

impl Run {
    fn new(first: u8, count: u16) -> Run {
        Run { first, count }
    }

    /// One past the last register; equal to `first` for an empty run.
    pub fn end(self) -> u16 {
        u16::from(self.first) + self.count
    }
}

impl Op {
    /// Returns the number of registers after the base operand of this instruction; 0 without one.
    fn run_length(&self) -> u16 {
        let mut n = 0;
        self.operands(|name, operand| {
            if let ("n", Operand::Small(count)) = (name, operand) {
                n = u16::from(count);
            }
        });
        n
    }

    /// Calls `visit` with every run of registers this instruction reads.
    #[inline]
    pub(crate) fn reads(&self, mut visit: impl FnMut(Run)) {
        // The running function in `r0` is the one register that is read without being an operand.
        if let Op::Capture { .. } = self {
            visit(Run::new(0, 1));
        }
        self.operands(|_, operand| match operand {
            Operand::Read(r) | Operand::ReadWrite(r) => visit(Run::new(r, 1)),
            Operand::ReadPair(r) | Operand::ReadWritePair(r) => visit(Run::new(r, 2)),
            Operand::ReadRun(r) => visit(Run::new(r, self.run_length())),
            Operand::Callee(r) => visit(Run::new(r, self.run_length() + 1)),
            // A base of 255 leaves no room for arguments; `first` only matters if there are some.
            Operand::Args(r) => match self.run_length() {
                0 => {}
                n if r == u8::MAX => visit(Run::new(r, n + 1)),
                n => visit(Run::new(r + 1, n)),
            },
            _ => {}
        });
    }

    /// Returns true if it calls something, after which the registers of its arguments hold anything.
    pub(crate) fn calls(&self) -> bool {
        let mut calls = false;
        self.operands(|_, operand| calls |= matches!(operand, Operand::Callee(_) | Operand::Args(_)));
        calls
    }

    /// Calls `visit` with every run of registers this instruction writes.
    #[inline]
    pub(crate) fn writes(&self, mut visit: impl FnMut(Run)) {
        self.operands(|_, operand| match operand {
            Operand::Write(r) | Operand::ReadWrite(r) | Operand::Callee(r) | Operand::Args(r) => {
                visit(Run::new(r, 1));
            }
            Operand::WritePair(r) | Operand::ReadWritePair(r) => visit(Run::new(r, 2)),
            _ => {}
        });
    }

    /// Returns the registers whose content is unknown after this instruction. A callee's window starts at `base`,
    /// so it may overwrite everything after it, not only its arguments.
    #[inline]
    pub(crate) fn clobbers(&self) -> Option<Run> {
        let mut found = None;
        self.operands(|_, operand| {
            if let Operand::Callee(r) | Operand::Args(r) = operand {
                found = r.checked_add(1).map(|first| Run::new(first, 256 - u16::from(first)));
            }
        });
        found
    }

    /// Returns the registers this instruction reads.
    pub(crate) fn read_set(&self) -> RegSet {
        let mut set = RegSet::default();
        self.reads(|run| set.insert_run(run.first, run.count));
        set
    }

    /// Returns the registers this instruction writes.
    pub(crate) fn write_set(&self) -> RegSet {
        let mut set = RegSet::default();
        self.writes(|run| set.insert_run(run.first, run.count));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(op: Op) -> (Vec<u8>, Vec<u8>, Option<u8>) {
        let list = |set: RegSet| set.iter().collect();
        (list(op.read_set()), list(op.write_set()), op.clobbers().map(|run| run.first))
    }

    #[test]
    fn roles_become_runs() {
        assert_eq!(sets(Op::Add { dst: 1, a: 2, b: 3 }), (vec![2, 3], vec![1], None));
        assert_eq!(sets(Op::Call { base: 4, n: 2 }), (vec![4, 5, 6], vec![4], Some(5)));
        assert_eq!(sets(Op::CallDef { base: 4, n: 2, def: 0 }), (vec![5, 6], vec![4], Some(5)));
        assert_eq!(sets(Op::CallDef { base: 255, n: 0, def: 0 }), (vec![], vec![255], None));
        assert_eq!(sets(Op::Assoc { dst: 1, coll: 2, key: 3 }), (vec![2, 3, 4], vec![1], None));
        assert_eq!(sets(Op::IterStart { iter: 7, coll: 2 }), (vec![2], vec![7, 8], None));
        assert_eq!(sets(Op::IterNext { dst: 1, iter: 7, fuel: 0, to: 0 }), (vec![7, 8], vec![1, 7, 8], None));
        assert_eq!(sets(Op::NewSet { dst: 1, first: 9, n: 0 }), (vec![], vec![1], None));
        assert_eq!(sets(Op::Capture { dst: 4, index: 2 }), (vec![0], vec![4], None));
        assert_eq!(sets(Op::Push { builder: 1, src: 2 }), (vec![1, 2], vec![1], None));
    }
}
