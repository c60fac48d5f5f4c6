//! Loops that select records by their fields, found when a module is linked: `(filter (fn [o] (and (> (:amount o) 100)
//! (= (:status o) "paid"))) orders)` and the like. `exec/select.rs` runs them as a whole.

use crate::value::{Ref, Value};
use ptc_bytecode::Op;

/// Maximum tests of a loop.
pub(crate) const TESTS: usize = 4;

/// The parts of such a loop.
pub(crate) struct SelectLoop {
    /// Index of the instruction that goes back.
    back: usize,
    pub item: u8,
    pub iter: u8,
    pub builder: u8,
    pub tests: Box<[FieldTest]>,
    /// Price of a record that fails the first test, and of one that passes all.
    pub least: u32,
    pub most: u32,
}

/// Test of one field.
pub(crate) struct FieldTest {
    /// Name of the field, a keyword among the module's constants.
    pub name: Ref,
    pub relation: Relation,
    pub other: Other,
    /// Price of going on to the next part.
    pub fuel: u32,
}

/// The relation between the field and the other value.
#[derive(Clone, Copy)]
pub(crate) enum Relation {
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Equal,
    /// Equals a short text: replaces `Equal` if the other value is one.
    Text,
    /// Is neither nil nor false.
    True,
}

/// The value that a field is compared with.
#[derive(Clone, Copy)]
pub(crate) enum Other {
    Known(Value),
    /// Content of this register, which the loop does not write.
    Register(u8),
}

impl SelectLoop {
    /// Finds all such loops in a code block, given the constants of its module.
    pub fn find(ops: &[Op], consts: &[Value]) -> Box<[SelectLoop]> {
        let ends = ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::IterBack { .. }));
        ends.filter_map(|(back, _)| SelectLoop::of(ops, consts, back)).collect()
    }

    /// Returns the loop whose last instruction is at `back`. Loops are in code order, and a program may have
    /// thousands of them, so a linear search would be unpaid work.
    #[inline(always)]
    pub fn at(found: &[SelectLoop], back: usize) -> Option<&SelectLoop> {
        let at = found.binary_search_by_key(&back, |known| known.back).ok()?;
        found.get(at)
    }

    fn of(ops: &[Op], consts: &[Value], back: usize) -> Option<SelectLoop> {
        let Op::IterBack { dst: item, iter, to, .. } = *ops.get(back)? else { return None };
        let [Op::Enter { fuel: first }, ref tests @ .., Op::Push { builder, src }, Op::Enter { fuel: again }] =
            *ops.get(to as usize..back)?
        else {
            return None;
        };
        if src != item || tests.is_empty() || tests.len() % 2 != 0 || tests.len() > 2 * TESTS {
            return None;
        }
        let is_own = |reg: u8| [item, iter, iter + 1, builder].contains(&reg);
        let is_written = |reg: u8| {
            is_own(reg) || tests.iter().any(|op| matches!(op, Op::GetKey { dst, .. } if *dst == reg))
        };
        let fixed = |reg: u8| (!is_written(reg)).then_some(Other::Register(reg));
        let small = |imm: i8| Other::Known(Value::Int(imm.into()));
        let least = first.checked_add(again)?;
        let mut most = least;
        let mut found = Vec::with_capacity(tests.len() / 2);
        for pair in tests.chunks_exact(2) {
            let &[Op::GetKey { dst, coll, key }, jump] = pair else { return None };
            let Value::Keyword(name) = *consts.get(key as usize)? else { return None };
            // A record that fails the test skips the push: the jump leads to the instruction before `IterBack`.
            if coll != item || is_own(dst) || jump.target()? as usize + 1 != back {
                return None;
            }
            let (relation, other) = match jump {
                Op::JumpUnless { test, .. } if test == dst => (Relation::True, Other::Known(Value::Nil)),
                Op::JumpUnlessLess { a, b, .. } if a == dst => (Relation::Less, fixed(b)?),
                Op::JumpUnlessLess { a, b, .. } if b == dst => (Relation::Greater, fixed(a)?),
                Op::JumpUnlessLessEq { a, b, .. } if a == dst => (Relation::LessEq, fixed(b)?),
                Op::JumpUnlessLessEq { a, b, .. } if b == dst => (Relation::GreaterEq, fixed(a)?),
                Op::JumpUnlessEq { a, b, .. } if a == dst => (Relation::Equal, fixed(b)?),
                Op::JumpUnlessEq { a, b, .. } if b == dst => (Relation::Equal, fixed(a)?),
                Op::JumpUnlessLessInt { a, imm, .. } if a == dst => (Relation::Less, small(imm)),
                Op::JumpUnlessGreaterInt { a, imm, .. } if a == dst => (Relation::Greater, small(imm)),
                Op::JumpUnlessEqInt { a, imm, .. } if a == dst => (Relation::Equal, small(imm)),
                _ => return None,
            };
            let fuel = u32::from(jump.fall_through_fuel()?);
            found.push(FieldTest { name, relation, other, fuel });
            most = most.checked_add(fuel)?;
        }
        Some(SelectLoop { back, item, iter, builder, tests: found.into(), least, most })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the code compiled in `snapshots/bytecode/loops_in_place.snap`, from its instruction 8 on.
    fn compiled() -> Vec<Op> {
        vec![
            Op::Enter { fuel: 4 },
            Op::GetKey { dst: 9, coll: 7, key: 0 },
            Op::JumpUnlessLess { a: 1, b: 9, fuel: 4, to: 6 },
            Op::GetKey { dst: 9, coll: 7, key: 0 },
            Op::JumpUnlessEq { a: 9, b: 8, fuel: 1, to: 6 },
            Op::Push { builder: 3, src: 7 },
            Op::Enter { fuel: 2 },
            Op::IterBack { dst: 7, iter: 5, fuel: 0, to: 0 },
        ]
    }

    #[test]
    fn a_filter_over_fields_is_found_with_its_prices() {
        let consts = [Value::Keyword(Ref::new(1, 0))];
        let found = SelectLoop::find(&compiled(), &consts);
        let select = SelectLoop::at(&found, 7).expect("the loop");
        assert_eq!((select.item, select.iter, select.builder), (7, 5, 3));
        assert_eq!((select.least, select.most), (6, 11));
        assert!(matches!(
            &*select.tests,
            [
                FieldTest { relation: Relation::Greater, other: Other::Register(1), fuel: 4, .. },
                FieldTest { relation: Relation::Equal, other: Other::Register(8), fuel: 1, .. },
            ]
        ));
        assert!(SelectLoop::at(&found, 6).is_none());
    }

    #[test]
    fn loops_that_do_anything_else_are_left_alone() {
        let keyword = [Value::Keyword(Ref::new(1, 0))];
        let others = [
            // A field compared with a field of the same record.
            (4, Op::JumpUnlessEq { a: 9, b: 9, fuel: 1, to: 6 }),
            (4, Op::JumpUnlessEq { a: 9, b: 7, fuel: 1, to: 6 }),
            // An exit that leads elsewhere.
            (2, Op::JumpUnlessLess { a: 1, b: 9, fuel: 4, to: 0 }),
            (3, Op::GetKey { dst: 9, coll: 8, key: 0 }),
            (5, Op::Push { builder: 3, src: 9 }),
        ];
        for (at, op) in others {
            let mut ops = compiled();
            ops[at] = op;
            assert!(SelectLoop::find(&ops, &keyword).is_empty(), "{op:?}");
        }
        assert!(SelectLoop::find(&compiled(), &[Value::Int(1)]).is_empty());
    }
}
