//! What an instruction does to registers and where it may go, worked out from its operand roles, so
//! that the verifier and liveness never list instructions by name.
//!
//! [`Op::operands`](crate::Op::operands) says the same one operand at a time. The analyses look at
//! every instruction several times, so here it is expanded from the table into plain fields.

use crate::for_each_op;
use crate::isa::Op;
use crate::regset::RegSet;

/// A run of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Run {
    pub first: u8,
    pub count: u16,
}

impl Run {
    fn new(first: u8, count: u16) -> Run {
        Run { first, count }
    }

    /// The registers behind `base` that hold the arguments of a call. There are none behind 255; a
    /// call that asks for some gets a run that fits no frame.
    fn arguments(base: u8, count: u16) -> Run {
        match base.checked_add(1) {
            _ if count == 0 => Run::default(),
            Some(first) => Run::new(first, count),
            None => Run::new(base, count + 1),
        }
    }

    /// One past the last register; 0 if there are none.
    pub fn end(self) -> u16 {
        if self.count == 0 { 0 } else { u16::from(self.first) + self.count }
    }
}

/// A table of the artifact that an operand is an index into.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Consts,
    Functions,
    Defs,
    Imports,
    Tools,
}

/// The parts of an instruction the analyses look at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    pub reads: [Run; 2],
    pub writes: [Run; 2],
    /// Where it may continue other than behind itself.
    pub target: Option<u32>,
    /// An entry of a table it names.
    pub entry: Option<(Table, u32)>,
    /// Whether it calls. A callee's window starts at `base`, so it may overwrite everything behind
    /// it, not only its arguments.
    pub calls: bool,
}

impl Shape {
    /// The shapes of a list of instructions.
    pub fn all(ops: &[Op]) -> Vec<Shape> {
        ops.iter().map(Shape::of).collect()
    }

    /// The registers that hold nothing known after this instruction.
    #[inline]
    pub fn clobbers(&self) -> Option<Run> {
        let first = self.writes[0].first.checked_add(1).filter(|_| self.calls)?;
        Some(Run::new(first, 256 - u16::from(first)))
    }

    /// The registers it reads.
    #[inline]
    pub fn read_set(&self) -> RegSet {
        runs_set(self.reads)
    }

    /// The registers it writes.
    #[inline]
    pub fn write_set(&self) -> RegSet {
        runs_set(self.writes)
    }

    #[inline]
    fn read(&mut self, run: Run) {
        let [first, second] = &mut self.reads;
        *(if first.count == 0 { first } else { second }) = run;
    }

    #[inline]
    fn write(&mut self, run: Run) {
        let [first, second] = &mut self.writes;
        *(if first.count == 0 { first } else { second }) = run;
    }
}

#[inline]
fn runs_set(runs: [Run; 2]) -> RegSet {
    let mut set = RegSet::default();
    for run in runs {
        if run.count > 0 {
            set.insert_run(run.first, run.count);
        }
    }
    set
}

macro_rules! define_shapes {
    ($($(#[doc = $doc:literal])* $name:ident { $($field:ident: $type:ident $role:ident),* } cost $cost:literal;)*) => {
        impl Shape {
            /// The shape of one instruction.
            #[inline]
            #[allow(unused_variables)] // numbers and flags have no shape
            pub fn of(op: &Op) -> Shape {
                let mut shape = Shape::default();
                match *op {
                    $(Op::$name { $($field),* } => {
                        let count = 0u16 $(+ count_of!($type $field, $field))*;
                        $(add_operand!(shape, count, $type $role $field);)*
                    })*
                }
                shape
            }
        }
    };
}

/// The `n` of an instruction, which says how long its run of registers is; 0 for other operands.
macro_rules! count_of {
    (Small n, $x:ident) => {
        u16::from($x)
    };
    ($type:ident $field:ident, $x:ident) => {
        0
    };
}

macro_rules! add_operand {
    ($shape:ident, $count:ident, Reg In $x:ident) => {
        $shape.read(Run::new($x, 1))
    };
    ($shape:ident, $count:ident, Reg Out $x:ident) => {
        $shape.write(Run::new($x, 1))
    };
    ($shape:ident, $count:ident, Reg InOut $x:ident) => {
        $shape.read(Run::new($x, 1));
        $shape.write(Run::new($x, 1))
    };
    ($shape:ident, $count:ident, Base In $x:ident) => {
        $shape.read(Run::new($x, $count))
    };
    ($shape:ident, $count:ident, Callee InOut $x:ident) => {
        $shape.read(Run::new($x, $count + 1));
        $shape.write(Run::new($x, 1));
        $shape.calls = true
    };
    ($shape:ident, $count:ident, Args InOut $x:ident) => {
        $shape.read(Run::arguments($x, $count));
        $shape.write(Run::new($x, 1));
        $shape.calls = true
    };
    ($shape:ident, $count:ident, Pair In $x:ident) => {
        $shape.read(Run::new($x, 2))
    };
    ($shape:ident, $count:ident, PairIn InOut $x:ident) => {
        $shape.read(Run::new($x, 2));
        $shape.write(Run::new($x, 2))
    };
    ($shape:ident, $count:ident, PairOut Out $x:ident) => {
        $shape.write(Run::new($x, 2))
    };
    ($shape:ident, $count:ident, Target At $x:ident) => {
        $shape.target = Some($x)
    };
    ($shape:ident, $count:ident, ConstId At $x:ident) => {
        $shape.entry = Some((Table::Consts, $x))
    };
    ($shape:ident, $count:ident, CodeId At $x:ident) => {
        $shape.entry = Some((Table::Functions, $x))
    };
    ($shape:ident, $count:ident, DefId At $x:ident) => {
        $shape.entry = Some((Table::Defs, $x))
    };
    ($shape:ident, $count:ident, ImportId At $x:ident) => {
        $shape.entry = Some((Table::Imports, $x))
    };
    ($shape:ident, $count:ident, ToolId At $x:ident) => {
        $shape.entry = Some((Table::Tools, $x))
    };
    ($shape:ident, $count:ident, Small At $x:ident) => {};
    ($shape:ident, $count:ident, Flag At $x:ident) => {};
    ($shape:ident, $count:ident, Int8 At $x:ident) => {};
    ($shape:ident, $count:ident, Int32 At $x:ident) => {};
    ($shape:ident, $count:ident, Slot At $x:ident) => {};
    ($shape:ident, $count:ident, Fuel At $x:ident) => {};
}

for_each_op!(define_shapes);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::OPS;

    fn sets(op: Op) -> (Vec<u8>, Vec<u8>, Option<u8>) {
        let shape = Shape::of(&op);
        let list = |set: RegSet| set.iter().collect();
        (list(shape.read_set()), list(shape.write_set()), shape.clobbers().map(|run| run.first))
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
        assert_eq!(sets(Op::Push { builder: 1, src: 2 }), (vec![1, 2], vec![1], None));
        assert_eq!(Shape::of(&Op::Jump { to: 9 }).target, Some(9));
        assert_eq!(Shape::of(&Op::SetDef { def: 3, src: 1 }).entry, Some((Table::Defs, 3)));
    }

    #[test]
    fn a_shape_has_room_for_every_instruction() {
        let most = |roles: &[&str], kinds: &[&str]| {
            let counts = |row: &crate::OpRow| {
                row.operands.iter().filter(|(_, k, r)| roles.contains(r) && kinds.contains(k)).count()
            };
            OPS.iter().map(counts).max().unwrap()
        };
        let registers = ["Reg", "Base", "Callee", "Args", "Pair", "PairIn", "PairOut"];
        assert!(most(&["In", "InOut"], &registers) <= 2);
        assert!(most(&["Out", "InOut"], &registers) <= 2);
        assert!(most(&["At"], &["ConstId", "CodeId", "DefId", "ImportId", "ToolId"]) <= 1);
        assert!(most(&["At"], &["Target"]) <= 1);
    }
}
