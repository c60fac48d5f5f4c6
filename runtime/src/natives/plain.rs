//! Loops of higher-order functions for a keyword or a builtin as the function: they run no code of the program, so they
//! can be Rust. For other functions they return nil, and the calling core library runs its own loop.

use super::args::arg;
use ptc_bytecode::{BuiltinId, Effect};
use ptc_vm::{Call, NativeFn, Ref, Stop, StopKind, Value};

/// `(%each f coll)`: returns the results of `f` for each element.
pub fn each(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Some((f, items)) = parts(call) else { return Ok(Value::Nil) };
    let mut out = Vec::with_capacity(items.room(call)?);
    if let (Plain::Field(key), Value::Vector(rows)) = (&f, items.0) {
        return column(call, rows, *key, out);
    }
    let done = items.visit(call, |call, item| {
        out.push(f.of(call, item)?);
        Ok(())
    });
    or_leave(done, || call.heap.new_vec(&out))
}

/// Returns the field of each row.
fn column(call: &mut Call<'_>, rows: Ref, key: Value, mut out: Vec<Value>) -> Result<Value, Stop> {
    call.pay_items(call.heap.vec_len(rows) * 2)?;
    let rows = call.heap.vec_items(rows);
    while out.len() < rows.len() {
        call.heap.known_fields(&rows[out.len()..], key, &mut out);
        // Handles any value, and remembers the position of the field in records of this shape.
        if let Some(row) = rows.get(out.len()) {
            out.push(ptc_vm::get(call.heap, *row, key)?);
        }
    }
    call.heap.new_vec(&out)
}

/// `(%each-where f coll wanted)`: returns the elements for which the truth of `f` is `wanted`.
pub fn each_where(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Some((f, items)) = parts(call) else { return Ok(Value::Nil) };
    let wanted = arg(call, 3).truthy();
    items.room(call)?;
    let mut out = Vec::new();
    let done = items.visit(call, |call, item| {
        if f.of(call, item)?.truthy() == wanted {
            out.push(item);
        }
        Ok(())
    });
    or_leave(done, || call.heap.new_vec(&out))
}

/// `(%fold f coll)`, `(%fold f init coll)`: `reduce` of numbers with `+`, `*`, `min`, `max`. A result that is
/// not a plain number is left to the core library: large integers make garbage that only it can have collected.
pub fn fold(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Value::Builtin(id) = arg(call, 1) else { return Ok(Value::Nil) };
    let step: fn(&mut Call<'_>, Value, Value) -> Result<Value, Stop> = match name_of(id) {
        "+" => |call, acc, x| ptc_vm::add(call.heap, acc, x),
        "*" => |call, acc, x| ptc_vm::mul(call.heap, acc, x),
        "max" => |call, acc, x| binary(call, super::number::max, acc, x),
        "min" => |call, acc, x| binary(call, super::number::min, acc, x),
        _ => return Ok(Value::Nil),
    };
    let adds = name_of(id) == "+";
    let Some(items) = Items::of(call, call.args.len()) else { return Ok(Value::Nil) };
    let mut acc = (call.args.len() == 3).then(|| arg(call, 2));
    let done = items.visit(call, |call, x| {
        let next = match (acc, x) {
            (None, x) => x,
            (Some(Value::Int(acc)), Value::Int(x)) if adds && let Some(sum) = acc.checked_add(x) => {
                Value::Int(sum)
            }
            (Some(Value::Float(acc)), Value::Float(x)) if adds => Value::float(acc.get() + x.get()),
            (Some(acc), x) => step(call, acc, x).map_err(|_| Stop::twin())?,
        };
        acc = Some(next);
        if matches!(next, Value::Int(_) | Value::Float(_)) { Ok(()) } else { Err(Stop::twin()) }
    });
    or_leave(done, || Ok(acc.unwrap_or(Value::Nil)))
}

fn name_of(id: u64) -> &'static str {
    BuiltinId(id as u32).row().map_or("", |row| row.name)
}

fn binary(call: &mut Call<'_>, body: NativeFn, a: Value, b: Value) -> Result<Value, Stop> {
    let Call { id, heap, budget, output, .. } = call;
    body(&mut Call { id: *id, args: &[a, b], heap, budget, output, owns_first: false })
}

/// Returns the value, or nil if a loop met a case for the core library. That includes faults, which are described
/// better from its loop.
fn or_leave(done: Result<(), Stop>, value: impl FnOnce() -> Result<Value, Stop>) -> Result<Value, Stop> {
    match done {
        Ok(()) => value(),
        Err(stop) if stop.is_twin() => Ok(Value::Nil),
        Err(stop) => match stop.into_kind() {
            StopKind::Room { cells, text } => Err(Stop::room(cells, text)),
            StopKind::Fault(_) => Ok(Value::Nil),
        },
    }
}

/// Returns function and collection of a call, if both are plain.
fn parts(call: &Call<'_>) -> Option<(Plain, Items)> {
    Some((Plain::from(arg(call, 1))?, Items::of(call, 2)?))
}

/// A function of one argument that runs no code of the program.
enum Plain {
    Field(Value),
    Native(BuiltinId, NativeFn),
}

impl Plain {
    fn from(f: Value) -> Option<Plain> {
        match f {
            Value::Keyword(_) => Some(Plain::Field(f)),
            Value::Builtin(id) => {
                let id = BuiltinId(id as u32);
                let row = id.row().filter(|row| row.takes(1) && row.effect == Effect::Pure)?;
                // Natives of the core library may write, or inspect the machine.
                let body = super::native(id).filter(|_| !row.name.starts_with('%'))?;
                Some(Plain::Native(id, body))
            }
            _ => None,
        }
    }

    #[inline]
    fn of(&self, call: &mut Call<'_>, x: Value) -> Result<Value, Stop> {
        match *self {
            Plain::Field(key) => match x {
                Value::Map(map) => Ok(call.heap.map_field_or(map, key, Value::Nil)),
                _ => ptc_vm::get(call.heap, x, key),
            },
            Plain::Native(id, body) => {
                let Call { heap, budget, output, .. } = call;
                body(&mut Call { id, args: &[x], heap, budget, output, owns_first: false })
            }
        }
    }
}

/// A vector or a range, whose elements are directly accessible.
#[derive(Clone, Copy)]
struct Items(Value);

/// Number of elements paid for at a time; the clock is checked in between.
const CHUNK: usize = 256;

impl Items {
    fn of(call: &Call<'_>, n: usize) -> Option<Items> {
        let coll = arg(call, n);
        matches!(coll, Value::Vector(_) | Value::Range(_)).then_some(Items(coll))
    }

    /// Returns the number of elements, if as many results would fit.
    fn room(self, call: &Call<'_>) -> Result<usize, Stop> {
        let len = call.heap.seq_len(self.0);
        call.heap.room(len.saturating_add(1), 0)?;
        Ok(len)
    }

    #[inline]
    fn visit(
        self,
        call: &mut Call<'_>,
        mut step: impl FnMut(&mut Call<'_>, Value) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let len = call.heap.seq_len(self.0);
        let mut from = 0;
        while from < len {
            let to = len.min(from + CHUNK);
            call.pay_items((to - from) * 2)?;
            for i in from..to {
                let item = call.heap.seq_at(self.0, i);
                step(call, item)?;
                call.heap.look()?;
            }
            from = to;
        }
        Ok(())
    }
}
