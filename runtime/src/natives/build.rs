//! Natives that build new sequences from old ones.

use super::args::{arg, finite_size, growing_room, indexed, items, refuse, size, to_whole, walk_price};
use super::number::number;
use ptc_vm::{Call, Fault, Stop, Value};

/// Maximum elements written between two checks of the room left.
const STRIDE: usize = 4096;

/// A vector under construction of unknown length: it never outgrows the heap, and is paid for as it grows.
struct Growing {
    items: Vec<Value>,
    paid: usize,
}

impl Growing {
    fn new() -> Growing {
        Growing { items: Vec::new(), paid: 0 }
    }

    fn push(&mut self, call: &mut Call<'_>, item: Value) -> Result<(), Stop> {
        if self.items.len() >= self.paid + STRIDE {
            growing_room(call.heap, self.items.len(), 0)?;
            call.pay_items(STRIDE)?;
            self.paid += STRIDE;
        }
        self.items.push(item);
        Ok(call.heap.look()?)
    }

    fn finish(self, call: &mut Call<'_>) -> Result<Value, Stop> {
        call.pay_items(self.items.len() - self.paid)?;
        call.heap.new_vec(&self.items)
    }
}

/// `(concat coll …)`
pub fn concat(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (mut total, mut price) = (0usize, 0usize);
    for n in 1..=call.args.len() {
        let len = finite_size(call, n)?;
        total = total.saturating_add(len);
        price = price.saturating_add(walk_price(arg(call, n), len));
    }
    call.heap.room(total, 0)?;
    call.pay_items(price)?;
    let mut all = Vec::with_capacity(total);
    for coll in call.args {
        all.extend_from_slice(&call.heap.to_vec(*coll)?);
    }
    call.heap.new_vec(&all)
}

/// Joins the elements of the elements of argument 1; the last step of `mapcat`.
pub fn concat_all(call: &mut Call<'_>) -> Result<Value, Stop> {
    let parts = items(call, 1)?;
    let (mut total, mut price) = (0usize, 0usize);
    for part in &parts {
        let Ok(len) = call.heap.count(*part) else { return Err(not_spliced(*part)) };
        total = total.saturating_add(len);
        price = price.saturating_add(walk_price(*part, len));
    }
    call.heap.room(total, 0)?;
    call.pay_items(price)?;
    let mut all = Vec::with_capacity(total);
    for part in parts {
        all.extend_from_slice(&call.heap.to_vec(part)?);
    }
    call.heap.new_vec(&all)
}

#[cold]
fn not_spliced(found: Value) -> Stop {
    Fault::type_error(format!(
        "`mapcat` needs collections from its function, but got {}",
        found.type_phrase()
    ))
    .hint("`(map f xs)` keeps single results; `[x]` wraps one")
    .into()
}

/// `(cons x coll)`
pub fn cons(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut all = vec![arg(call, 1)];
    all.extend(items(call, 2)?);
    call.heap.new_vec(&all)
}

/// `(rseq coll)`
pub fn rseq(call: &mut Call<'_>) -> Result<Value, Stop> {
    match arg(call, 1) {
        Value::Map(r) | Value::Set(r) if call.heap.sorted_order(r).is_none() => {
            Err(call.wrong_type(1, "a list or a sorted collection"))
        }
        Value::Str(_) => Err(call.wrong_type(1, "a list or a sorted collection")),
        _ if super::args::size(call, 1)? == 0 => Ok(Value::Nil),
        _ => reverse(call),
    }
}

/// `(list* x … coll)`
pub fn list_star(call: &mut Call<'_>) -> Result<Value, Stop> {
    let last = call.args.len();
    let mut all = call.args[..last - 1].to_vec();
    all.extend(items(call, last)?);
    call.heap.new_vec(&all)
}

/// `(reverse coll)`
pub fn reverse(call: &mut Call<'_>) -> Result<Value, Stop> {
    let mut all = items(call, 1)?;
    all.reverse();
    call.heap.new_vec(&all)
}

/// Returns the elements of arguments `first..` side by side: the number of rows, and the columns.
fn columns(call: &mut Call<'_>, first: usize) -> Result<(usize, Vec<Value>), Stop> {
    let mut rows = usize::MAX;
    for n in first..=call.args.len() {
        rows = rows.min(size(call, n)?);
    }
    let mut columns = Vec::new();
    for n in first..=call.args.len() {
        columns.push(indexed(call, n)?);
    }
    let rows = if columns.is_empty() { 0 } else { rows };
    let cells = rows.saturating_mul(columns.len());
    call.heap.room(cells, 0)?;
    call.pay_items(cells)?;
    Ok((rows, columns))
}

/// `(interleave coll …)`
pub fn interleave(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (rows, columns) = columns(call, 1)?;
    let mut all = Vec::with_capacity(rows * columns.len());
    for i in 0..rows {
        for column in &columns {
            all.push(call.heap.nth(*column, i)?.unwrap_or(Value::Nil));
        }
    }
    call.heap.new_vec(&all)
}

/// `(zipmap keys vals)`
pub fn zipmap(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (rows, columns) = columns(call, 1)?;
    let mut all = Vec::with_capacity(rows * 2);
    for i in 0..rows {
        for column in &columns {
            all.push(call.heap.nth(*column, i)?.unwrap_or(Value::Nil));
        }
    }
    call.heap.new_map(&all)
}

/// `(zip a b)`
pub fn zip(call: &mut Call<'_>) -> Result<Value, Stop> {
    if call.args.iter().any(|coll| matches!(coll, Value::Nil)) {
        return Err(refuse_nil(call));
    }
    rows(call)
}

#[cold]
fn refuse_nil(call: &Call<'_>) -> Stop {
    let n = if matches!(arg(call, 1), Value::Nil) { 1 } else { 2 };
    call.wrong_type(n, "a list")
}

/// Makes vectors of the elements of all arguments side by side.
pub fn rows(call: &mut Call<'_>) -> Result<Value, Stop> {
    let (rows, columns) = columns(call, 1)?;
    call.heap.room(rows.saturating_mul(columns.len() + 2), 0)?;
    let mut all = Vec::with_capacity(rows);
    let mut row = Vec::with_capacity(columns.len());
    for i in 0..rows {
        row.clear();
        for column in &columns {
            row.push(call.heap.nth(*column, i)?.unwrap_or(Value::Nil));
        }
        all.push(call.heap.new_vec(&row)?);
    }
    call.heap.new_vec(&all)
}

/// `(interpose sep coll)`
pub fn interpose(call: &mut Call<'_>) -> Result<Value, Stop> {
    super::args::whole_call(call, 2)?;
    let items = items(call, 2)?;
    let mut all = Vec::with_capacity(items.len() * 2);
    for item in items {
        all.extend([item, arg(call, 1)]);
    }
    all.pop();
    call.heap.new_vec(&all)
}

/// `(flatten coll)`
pub fn flatten(call: &mut Call<'_>) -> Result<Value, Stop> {
    let root = arg(call, 1);
    if !matches!(root, Value::Vector(_) | Value::Range(_)) {
        return Ok(call.heap.empty_vec());
    }
    let mut all = Growing::new();
    // Shared parts may be far larger written out than in memory, so every step is paid for.
    let mut open = vec![(root, 0usize)];
    while let Some((vector, at)) = open.pop() {
        call.pay_items(1)?;
        let Some(item) = call.heap.nth(vector, at)? else { continue };
        open.push((vector, at + 1));
        match item {
            Value::Vector(_) | Value::Range(_) => open.push((item, 0)),
            _ => all.push(call, item)?,
        }
    }
    all.finish(call)
}

/// `(range)`, `(range end)`, `(range start end)`, `(range start end step)`
pub fn range(call: &mut Call<'_>) -> Result<Value, Stop> {
    for n in 1..=call.args.len() {
        number(call, n)?;
    }
    let (start, end, step) = match call.args {
        [] => return Err(Stop::twin()),
        [end] => (Value::Int(0), *end, Value::Int(1)),
        [start, end] => (*start, *end, Value::Int(1)),
        [start, end, step, ..] => (*start, *end, *step),
    };
    let zero = Value::Int(0);
    let rising = call.heap.less(zero, step);
    if !rising && !call.heap.less(step, zero) {
        return Err(Fault::type_error("`range` needs a step that is not 0")
            .hint("`(repeat 3 x)` repeats one value")
            .into());
    }
    if matches!(end, Value::Float(x) if x.get() == if rising { f64::INFINITY } else { f64::NEG_INFINITY }) {
        return Err(Stop::twin());
    }
    match (start, step) {
        (Value::Int(first), Value::Int(by)) if !passes_integers(first, by, end) => {
            let last = match end {
                Value::Int(last) => last,
                // The first integer at or past the end; infinities become the largest or smallest integer.
                _ => {
                    let end = call.heap.to_float(end).unwrap_or(f64::NAN);
                    if rising { end.ceil() as i64 } else { end.floor() as i64 }
                }
            };
            call.heap.new_range(first, last, by)
        }
        _ => stepped(call, start, end, step, rising),
    }
}

/// True if a range continues beyond integers of 64 bits and gets there. A longer one is as good as endless.
fn passes_integers(first: i64, by: i64, end: Value) -> bool {
    let edge = if by > 0 { i64::MAX } else { i64::MIN };
    matches!(end, Value::Big(_)) && (i128::from(edge) - i128::from(first)) / i128::from(by) < 1 << 32
}

/// Builds a range by repeated addition, for floats and large integers.
fn stepped(call: &mut Call<'_>, start: Value, end: Value, step: Value, rising: bool) -> Result<Value, Stop> {
    let mut all = Growing::new();
    let mut x = start;
    while if rising { call.heap.less(x, end) } else { call.heap.less(end, x) } {
        all.push(call, x)?;
        x = ptc_vm::add(call.heap, x, step)?;
    }
    all.finish(call)
}

/// `(repeat n x)`
pub fn repeat(call: &mut Call<'_>) -> Result<Value, Stop> {
    super::args::whole_call(call, 2)?;
    let n = super::args::amount(call, 1)?;
    call.heap.room(n, 0)?;
    call.pay_items(n)?;
    let all = vec![arg(call, 2); n];
    call.heap.new_vec(&all)
}

/// `(combinations coll n)`
pub fn combinations(call: &mut Call<'_>) -> Result<Value, Stop> {
    let items = items(call, 1)?;
    let wanted = match arg(call, 2) {
        Value::Int(_) | Value::Float(_) => to_whole(call.heap, arg(call, 2)),
        _ => None,
    };
    let Some(n) = wanted.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= items.len()) else {
        return Ok(call.heap.empty_vec());
    };
    let cells = selections(items.len(), n).saturating_mul(n + 2);
    call.heap.room(cells, 0)?;
    call.pay_items(cells)?;
    let mut places: Vec<usize> = (0..n).collect();
    let mut all = Vec::new();
    loop {
        let chosen: Vec<Value> = places.iter().map(|i| items[*i]).collect();
        all.push(call.heap.new_vec(&chosen)?);
        // The last place that can still move right; those after it move back to its side.
        let Some(at) = (0..n).rev().find(|at| places[*at] < items.len() - n + at) else { break };
        places[at] += 1;
        for i in at + 1..n {
            places[i] = places[i - 1] + 1;
        }
    }
    call.heap.new_vec(&all)
}

/// Computes the number of ways to choose `n` of `len`.
fn selections(len: usize, n: usize) -> usize {
    let mut ways: usize = 1;
    for i in 0..n.min(len - n) {
        match ways.checked_mul(len - i) {
            Some(more) => ways = more / (i + 1),
            None => return usize::MAX,
        }
    }
    ways
}

/// Turns argument 1, a vector of collections, into rows of elements side by side.
pub fn zip_all(call: &mut Call<'_>) -> Result<Value, Stop> {
    let Value::Vector(colls) = arg(call, 1) else { return Err(refuse("`%zip` needs a vector")) };
    let colls = call.heap.vec_items(colls);
    let mut inner = Call {
        id: call.id,
        args: &colls,
        heap: call.heap,
        budget: call.budget,
        output: call.output,
        owns_first: false,
    };
    rows(&mut inner)
}
