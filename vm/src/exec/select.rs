//! Loops that choose records by their fields: `(filter (fn [o] (and (> (:amount o) 100) (= (:status o) "paid")))
//! orders)` and its like, where each record takes a handful of instructions that all ask the same of it. Such a
//! loop is recognised when it goes round, and run here as a whole: what the instructions say is read once, and
//! where records keep their fields once for each shape.
//!
//! It costs the same fuel, and stops before any record that needs anything else, or that fuel or memory may not
//! suffice for: the main loop then goes on with that one.

use super::lookup::{less_at_once, less_eq_at_once};
use crate::budget::Budget;
use crate::heap::Heap;
use crate::machine::{Attached, WINDOW};
use crate::value::{FieldName, Ref, Value};
use ptc_bytecode::Op;
use smallvec::SmallVec;

/// How many tests a loop may have.
const TESTS: usize = 4;

/// How many bytes a text may have that is kept at hand.
const SHORT: usize = 24;

/// What such a loop is made of.
struct Selection {
    item: u8,
    iter: u8,
    builder: u8,
    tests: SmallVec<[Test; TESTS]>,
    /// Space and keys of the record before, whose places the tests know.
    shape: Option<(u32, Ref)>,
    /// The price of a record that fails the first test, and of one that passes all.
    least: u32,
    most: u32,
}

/// The test of one field.
struct Test {
    name: FieldName,
    relation: Relation,
    /// What the field is compared with.
    other: Value,
    /// Its text, if it is short: most often a word.
    text: SmallVec<[u8; SHORT]>,
    /// The price of going on to what follows.
    fuel: u32,
    /// Where records of the shape have the field.
    place: u32,
}

#[derive(Clone, Copy)]
enum Relation {
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Equal,
    /// Is the short text.
    Text,
    True,
}

/// How many loops to let pass after one that was of no use here.
pub(super) const PATIENCE: u32 = 64;

/// Whether the loop that goes from `back` to `to` looks like one of these.
#[inline(always)]
pub(super) fn may_run(ops: &[Op], to: u32, back: usize) -> bool {
    matches!(ops.get(..back), Some([.., Op::Push { .. }, Op::Enter { .. }]))
        && matches!(ops.get(to as usize + 1), Some(Op::GetKey { .. }))
}

/// Chooses from the records that follow, as the loop that ends at `back` does; says whether there were any.
/// Of the registers, those of the fields are left as they are: nothing reads them behind their test.
#[inline(never)]
pub(super) fn run(
    heap: &mut Heap,
    budget: &mut Budget,
    module: &Attached,
    ops: &[Op],
    regs: &mut [Value; WINDOW],
    back: usize,
) -> bool {
    let Some(mut selection) = Selection::of(heap, module, ops, regs, back) else { return false };
    let Selection { item, iter, builder, .. } = selection;
    let (Value::Vector(items), Value::Int(first)) = (regs[iter as usize], regs[iter as usize + 1]) else {
        return false;
    };
    let mut cursor = first;
    while budget.has_in_slice(selection.most)
        && let Some(cell) = heap.flat_item(items, cursor as usize)
        && let record @ Value::Map(r) = heap.import(items.space(), *cell)
        && let Some((passes, price)) = selection.judge(heap, r)
        && (!passes || heap.builder_add(&mut regs[builder as usize], record).is_ok())
        && budget.pay(price).is_ok()
    {
        regs[item as usize] = record;
        cursor += 1;
    }
    regs[iter as usize + 1] = Value::Int(cursor);
    cursor > first
}

impl Selection {
    /// The loop whose last instruction is at `back`, if it is one of these.
    fn of(
        heap: &Heap,
        module: &Attached,
        ops: &[Op],
        regs: &[Value; WINDOW],
        back: usize,
    ) -> Option<Selection> {
        let Op::IterBack { dst: item, iter, to, .. } = *ops.get(back)? else { return None };
        let [Op::Enter { fuel: first }, ref tests @ .., Op::Push { builder, src }, Op::Enter { fuel: again }] =
            *ops.get(to as usize..back)?
        else {
            return None;
        };
        if src != item || tests.len() % 2 != 0 || tests.len() > 2 * TESTS {
            return None;
        }
        let is_written = |reg: u8| {
            [item, iter, iter + 1, builder].contains(&reg)
                || tests.iter().any(|op| matches!(op, Op::GetKey { dst, .. } if *dst == reg))
        };
        let fixed = |reg: u8| (!is_written(reg)).then(|| regs[reg as usize]);
        let small = |imm: i8| Value::Int(imm.into());
        let most = first.checked_add(again)?;
        let mut selection =
            Selection { item, iter, builder, tests: SmallVec::new(), shape: None, least: most, most };
        for pair in tests.chunks_exact(2) {
            let &[Op::GetKey { dst, coll, key }, jump] = pair else { return None };
            let Value::Keyword(name) = module.constant(key) else { return None };
            // What does not pass goes to the instruction before the last.
            if coll != item
                || [item, iter, iter + 1, builder].contains(&dst)
                || jump.target()? as usize + 1 != back
            {
                return None;
            }
            let (relation, other) = match jump {
                Op::JumpUnless { test, .. } if test == dst => (Relation::True, Value::Nil),
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
            let (relation, text) = match (relation, other) {
                (Relation::Equal, Value::Str(text)) if heap.text_bytes(text).len() <= SHORT => {
                    (Relation::Text, SmallVec::from_slice(heap.text_bytes(text)))
                }
                _ => (relation, SmallVec::new()),
            };
            let name = FieldName::keyword(heap.rebase_ref(module.space, name));
            let fuel = u32::from(jump.fall_through_fuel()?);
            selection.tests.push(Test { name, relation, other, text, fuel, place: 0 });
            selection.most = selection.most.checked_add(fuel)?;
        }
        Some(selection)
    }

    /// Whether a record passes, and what that costs; None if it is no record of a known shape, or has something
    /// that takes more to compare.
    #[inline(always)]
    fn judge(&mut self, heap: &Heap, r: Ref) -> Option<(bool, u32)> {
        let (keys, values) = heap.record(r)?;
        if self.shape != Some((r.space(), keys)) {
            for test in &mut self.tests {
                test.place = heap.known_place(r.space(), keys, test.name)?;
            }
            self.shape = Some((r.space(), keys));
        }
        let mut price = self.least;
        for test in &self.tests {
            let field = heap.placed(r.space(), values, test.place)?;
            if !test.holds(heap, field)? {
                return Some((false, price));
            }
            price += test.fuel;
        }
        Some((true, price))
    }
}

impl Test {
    #[inline(always)]
    fn holds(&self, heap: &Heap, field: Value) -> Option<bool> {
        match self.relation {
            Relation::Less => less_at_once(&field, &self.other),
            Relation::LessEq => less_eq_at_once(&field, &self.other),
            Relation::Greater => less_at_once(&self.other, &field),
            Relation::GreaterEq => less_eq_at_once(&self.other, &field),
            Relation::Equal => match (field, self.other) {
                (Value::Int(x), Value::Int(y)) => Some(x == y),
                // The loop itself charges for long texts.
                (Value::Str(x), Value::Str(y)) => (!heap.is_long(x)).then(|| heap.same_text(x, y)),
                (Value::Nil, Value::Int(_) | Value::Str(_)) => Some(false),
                _ => None,
            },
            Relation::Text => match field {
                Value::Str(text) => Some(heap.text_bytes(text) == &*self.text),
                Value::Nil => Some(false),
                _ => None,
            },
            Relation::True => Some(field.truthy()),
        }
    }
}
