//! Visitor of the values at a path.

use ptc_compiler::reads::Step;
use ptc_vm::{Heap, Value};
use std::ops::ControlFlow;

/// Maximum length of a path that is followed: the visit recurses.
const MAX_STEPS: usize = 64;

/// A visit of values from one root, with a budget.
pub(super) struct Scan<'s> {
    pub heap: &'s mut Heap,
    pub root: Value,
    pub values_left: &'s mut u64,
}

/// A value, or an entry of a map, which is not a value by itself.
#[derive(Clone, Copy)]
enum At {
    Value(Value),
    Entry(Value, Value),
}

/// Error of a visit that was given up: too many values, or unknown data.
pub(super) struct GaveUp;

impl Scan<'_> {
    /// Calls `visit` with the values at a path, until it breaks.
    pub fn visit(
        &mut self,
        steps: &[&Step],
        mut visit: impl FnMut(&mut Heap, Value) -> ControlFlow<()>,
    ) -> Result<(), GaveUp> {
        if steps.len() > MAX_STEPS {
            return Err(GaveUp);
        }
        // Keys are made once for all values.
        let mut keys = Vec::with_capacity(steps.len());
        for step in steps {
            keys.push(match step {
                Step::Field(key) if key.is_keyword => self.heap.new_keyword(&key.name).map_err(|_| GaveUp)?,
                Step::Field(key) => self.heap.new_str(&key.name).map_err(|_| GaveUp)?,
                _ => Value::Nil,
            });
        }
        match self.descend(At::Value(self.root), steps, &keys, &mut visit) {
            ControlFlow::Break(Err(gave_up)) => Err(gave_up),
            _ => Ok(()),
        }
    }

    fn descend(
        &mut self,
        at: At,
        steps: &[&Step],
        keys: &[Value],
        visit: &mut dyn FnMut(&mut Heap, Value) -> ControlFlow<()>,
    ) -> ControlFlow<Result<(), GaveUp>> {
        if *self.values_left == 0 {
            return ControlFlow::Break(Err(GaveUp));
        }
        *self.values_left -= 1;
        let ([step, steps @ ..], [key, keys @ ..]) = (steps, keys) else {
            let At::Value(value) = at else { return ControlFlow::Continue(()) };
            return visit(self.heap, value).map_break(Ok);
        };
        match (step, at) {
            (_, At::Value(Value::Nil)) => ControlFlow::Continue(()),
            (Step::Field(_), At::Value(Value::Map(map))) => {
                match self.heap.map_field_or(map, *key, Value::Gone) {
                    Value::Gone => ControlFlow::Continue(()),
                    value => self.descend(At::Value(value), steps, keys, visit),
                }
            }
            (Step::Each, At::Value(Value::Vector(vector))) => {
                for i in 0..self.heap.vec_len(vector) {
                    if let Some(value) = self.heap.vec_get(vector, i) {
                        self.descend(At::Value(value), steps, keys, visit)?;
                    }
                }
                ControlFlow::Continue(())
            }
            (Step::Each | Step::Values, At::Value(Value::Map(map))) => {
                let mut cursor = 0;
                while let Some((name, value, next)) = self.heap.map_next(map, cursor) {
                    cursor = next;
                    let at = match step {
                        Step::Each => At::Entry(name, value),
                        _ => At::Value(value),
                    };
                    self.descend(at, steps, keys, visit)?;
                }
                ControlFlow::Continue(())
            }
            (Step::Nth(at), At::Value(Value::Vector(vector))) => {
                match self.heap.vec_get(vector, *at as usize) {
                    Some(value) => self.descend(At::Value(value), steps, keys, visit),
                    None => ControlFlow::Continue(()),
                }
            }
            (Step::Nth(0), At::Entry(name, _)) => self.descend(At::Value(name), steps, keys, visit),
            (Step::Nth(1), At::Entry(_, value)) => self.descend(At::Value(value), steps, keys, visit),
            _ => ControlFlow::Break(Err(GaveUp)),
        }
    }
}
