//! A stable sort whose comparison may fail. The standard one may panic when a comparison that ran
//! out of fuel answers at random.

use ptc_vm::{Call, Heap, Stop, Value, Work};
use std::cmp::Ordering;

/// Sorts `keys` by the total order, or its reverse; gives the places of the sorted keys. Equal
/// keys keep their order either way.
pub fn sorted_places(call: &mut Call<'_>, keys: &[Value], reverse: bool) -> Result<Vec<u32>, Stop> {
    let len = keys.len();
    call.pay_items(len.saturating_mul(len.max(2).ilog2() as usize) / 4)?;
    let mut places: Vec<u32> = (0..len as u32).collect();
    let ints: Option<Vec<i64>> =
        keys.iter().map(|key| if let Value::Int(n) = key { Some(*n) } else { None }).collect();
    if let Some(ints) = ints {
        // Whole numbers compare without fail.
        match reverse {
            false => places.sort_by_key(|i| ints[*i as usize]),
            true => places.sort_by_key(|i| std::cmp::Reverse(ints[*i as usize])),
        }
        return Ok(places);
    }
    let mut work = call.budget.work();
    let wrong = if reverse { Ordering::Less } else { Ordering::Greater };
    let heap = &*call.heap;
    let rows = rows(heap, keys);
    let places = merge_sort(places, |a, b| {
        let (a, b) = (*a as usize, *b as usize);
        work.walk(heap)?;
        let order = match &rows {
            Some(rows) if !keys[a].same(keys[b]) => rows[a].compare(&rows[b], heap, &mut work)?,
            _ => None,
        };
        let order = match order {
            Some(order) => order,
            None => heap.compare(keys[a], keys[b], &mut work)?,
        };
        Ok(order == wrong)
    })?;
    call.budget.settle(&work)?;
    Ok(places)
}

/// The beginning of a key like `[(- n) name]`: a vector that starts with a number.
struct Row {
    /// An integer in the order of these numbers.
    first: i64,
    /// What follows, if that is all, and no vector itself.
    last: Option<Value>,
}

/// More keys than these are not taken apart: that takes memory nobody counts.
const MOST_ROWS: usize = 1 << 20;

/// The beginnings of all keys, if they are vectors of one length that start with numbers of one kind.
fn rows(heap: &Heap, keys: &[Value]) -> Option<Vec<Row>> {
    let Some(Value::Vector(model)) = keys.first() else { return None };
    let (len, is_float) = (heap.vec_len(*model), matches!(heap.vec_get(*model, 0)?, Value::Float(_)));
    let row = |key: &Value| {
        let Value::Vector(r) = *key else { return None };
        let first = match heap.vec_get(r, 0)? {
            Value::Int(n) if !is_float => n,
            Value::Float(x) if is_float && !x.get().is_nan() => ordered(x.get()),
            _ => return None,
        };
        let last =
            heap.vec_get(r, 1).filter(|last| len == 2 && !matches!(last, Value::Vector(_) | Value::Range(_)));
        (heap.vec_len(r) == len).then_some(Row { first, last })
    };
    (keys.len() <= MOST_ROWS).then(|| keys.iter().map(row).collect())?
}

impl Row {
    /// The order of two keys, if their rows tell; counted as comparing the keys would be.
    fn compare(&self, other: &Row, heap: &Heap, work: &mut Work) -> Result<Option<Ordering>, Stop> {
        let order = self.first.cmp(&other.first);
        if order.is_ne() {
            work.walk(heap)?;
            return Ok(Some(order));
        }
        match (self.last, other.last) {
            (Some(a), Some(b)) => {
                work.walk(heap)?;
                work.walk(heap)?;
                Ok(Some(heap.compare(a, b, work)?))
            }
            _ => Ok(None),
        }
    }
}

/// An integer that is to others of its kind as a float is to other floats.
fn ordered(x: f64) -> i64 {
    // Adding zero makes the negative zero the other one, which it equals.
    let bits = (x + 0.0).to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

/// Bottom-up merge sort; `swapped` says whether its first argument must come after its second.
fn merge_sort(
    mut from: Vec<u32>,
    mut swapped: impl FnMut(&u32, &u32) -> Result<bool, Stop>,
) -> Result<Vec<u32>, Stop> {
    const RUN: usize = 8;
    for run in from.chunks_mut(RUN) {
        for i in 1..run.len() {
            let mut j = i;
            while j > 0 && swapped(&run[j - 1], &run[j])? {
                run.swap(j - 1, j);
                j -= 1;
            }
        }
    }
    let len = from.len();
    let mut to = Vec::with_capacity(len);
    let mut width = RUN;
    while width < len {
        to.clear();
        for low in (0..len).step_by(width * 2) {
            let (middle, high) = ((low + width).min(len), (low + width * 2).min(len));
            let (mut i, mut j) = (low, middle);
            while i < middle && j < high {
                if swapped(&from[i], &from[j])? {
                    to.push(from[j]);
                    j += 1;
                } else {
                    to.push(from[i]);
                    i += 1;
                }
            }
            to.extend_from_slice(&from[i..middle]);
            to.extend_from_slice(&from[j..high]);
        }
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    Ok(from)
}

#[cfg(test)]
mod tests {
    use super::{merge_sort, ordered};

    #[test]
    fn sorts_and_is_stable() {
        for len in [0, 1, 2, 7, 8, 9, 31, 100, 1000] {
            let keys: Vec<u32> = (0..len).map(|i| (i * 7919) % 17).collect();
            let sorted =
                merge_sort((0..len).collect(), |a, b| Ok(keys[*a as usize] > keys[*b as usize])).unwrap();
            let mut wanted: Vec<u32> = (0..len).collect();
            wanted.sort_by_key(|i| keys[*i as usize]);
            assert_eq!(sorted, wanted);
        }
    }

    #[test]
    fn floats_are_ordered_as_integers() {
        let floats = [f64::NEG_INFINITY, f64::MIN, -1.5, -1e-300, -0.0, 0.0, 5e-324, 0.1, 1.0, 1.5, f64::MAX];
        for (a, b) in floats.iter().flat_map(|a| floats.map(|b| (*a, b))) {
            assert_eq!(Some(ordered(a).cmp(&ordered(b))), a.partial_cmp(&b), "{a} {b}");
        }
    }

    #[test]
    fn a_lying_comparison_terminates() {
        let mut n = 0;
        let sorted = merge_sort((0..500).collect(), |_, _| {
            n += 1;
            Ok(n % 3 == 0)
        });
        assert_eq!(sorted.unwrap().len(), 500);
    }
}
