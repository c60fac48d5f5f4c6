//! Sorting by the total order, with a faster path for keys that begin with numbers.

use ptc_vm::{Call, Heap, Stop, Value, Work, merge_sort};
use std::cmp::Ordering;

/// Sorts `keys` by the total order, or its reverse; returns the indexes of the sorted keys. Equal keys keep their
/// order either way.
pub fn sorted_places(call: &mut Call<'_>, keys: &[Value], reverse: bool) -> Result<Vec<u32>, Stop> {
    let len = keys.len();
    call.pay_items(len.saturating_mul(len.max(2).ilog2() as usize) / 4)?;
    let mut places: Vec<u32> = (0..len as u32).collect();
    let ints: Option<Vec<i64>> =
        keys.iter().map(|key| if let Value::Int(n) = key { Some(*n) } else { None }).collect();
    if let Some(ints) = ints {
        // Comparing whole numbers cannot fail.
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
    let places = merge_sort(places, |a, b| -> Result<bool, Stop> {
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

/// The beginning of a key such as `[(- n) name]`: a vector that starts with a number.
struct Row {
    /// First number as an integer of the same order.
    first: i64,
    /// Second element, if it is the last and no vector.
    last: Option<Value>,
}

/// Maximum keys that are taken apart: that takes memory not counted anywhere.
const MOST_ROWS: usize = 1 << 20;

/// Returns the beginnings of all keys, if they are vectors of one length that start with numbers of one kind.
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
    /// Compares two keys, if their rows decide; costs as much as comparing the keys.
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

/// Maps a float to an integer, keeping the order of floats.
fn ordered(x: f64) -> i64 {
    // Adding zero turns the negative zero into the positive one, which it equals.
    let bits = (x + 0.0).to_bits() as i64;
    if bits < 0 { i64::MIN - bits } else { bits }
}

#[cfg(test)]
mod tests {
    use super::ordered;

    #[test]
    fn floats_are_ordered_as_integers() {
        let floats = [f64::NEG_INFINITY, f64::MIN, -1.5, -1e-300, -0.0, 0.0, 5e-324, 0.1, 1.0, 1.5, f64::MAX];
        for (a, b) in floats.iter().flat_map(|a| floats.map(|b| (*a, b))) {
            assert_eq!(Some(ordered(a).cmp(&ordered(b))), a.partial_cmp(&b), "{a} {b}");
        }
    }
}
