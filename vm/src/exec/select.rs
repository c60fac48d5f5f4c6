//! Runs a loop that selects records by their fields as a whole. Each record takes a handful of instructions that all
//! make the same tests: compared values are read once, and the places of fields once for each shape.
//!
//! It costs the same fuel, and stops before any record that needs anything else, or that fuel or memory may not suffice
//! for: the main loop then continues with that record.

use super::lookup::{less_at_once, less_eq_at_once};
use crate::budget::Budget;
use crate::heap::Heap;
use crate::loops::{FieldTest, Other, Relation, SelectLoop, TESTS};
use crate::machine::{Attached, WINDOW};
use crate::value::{FieldName, Ref, Value};
use smallvec::SmallVec;

/// Maximum bytes of a compared text that is cached.
const SHORT: usize = 24;

/// A running loop.
struct Selection {
    tests: SmallVec<[Test; TESTS]>,
    /// Space and keys of the previous record, whose places the tests know.
    shape: Option<(u32, Ref)>,
    /// Price of a record that fails the first test.
    least: u32,
}

/// Test of one field.
struct Test {
    name: FieldName,
    relation: Relation,
    /// Value the field is compared with.
    other: Value,
    /// Text of that value, if it is short: most often a word.
    text: SmallVec<[u8; SHORT]>,
    /// Price of going on to the next part.
    fuel: u32,
    /// Place of the field in records of the shape.
    place: u32,
}

/// Number of loops to let pass after one that gained nothing here.
pub(super) const PATIENCE: u32 = 64;

/// Selects from the next records, as the loop does; returns whether there were any. Registers of the fields are
/// left as they are: nothing reads them after their test.
#[inline(never)]
pub(super) fn run(
    heap: &mut Heap,
    budget: &mut Budget,
    module: &Attached,
    select: &SelectLoop,
    regs: &mut [Value; WINDOW],
) -> bool {
    let SelectLoop { item, iter, builder, most, .. } = *select;
    let (Value::Vector(items), Value::Int(first)) = (regs[iter as usize], regs[iter as usize + 1]) else {
        return false;
    };
    let tests = select.tests.iter().map(|test| Test::new(test, heap, module, regs)).collect();
    let mut selection = Selection { tests, shape: None, least: select.least };
    let mut cursor = first;
    while budget.has_in_slice(most)
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
    /// Tests a record and returns the cost; None if it has no known shape, or a field that takes more to compare.
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
    fn new(test: &FieldTest, heap: &Heap, module: &Attached, regs: &[Value; WINDOW]) -> Test {
        let FieldTest { name, mut relation, other, fuel } = *test;
        let other = match other {
            Other::Known(value) => value,
            Other::Register(reg) => regs[reg as usize],
        };
        let mut text = SmallVec::new();
        if let (Relation::Equal, Value::Str(word)) = (relation, other)
            && heap.text_bytes(word).len() <= SHORT
        {
            relation = Relation::Text;
            text.extend_from_slice(heap.text_bytes(word));
        }
        let name = FieldName::keyword(heap.rebase_ref(module.space, name));
        Test { name, relation, other, text, fuel, place: 0 }
    }

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
