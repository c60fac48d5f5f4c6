//! A stable sort whose comparison may fail. The standard one may panic when a comparison that ran
//! out of fuel answers at random.

use ptc_vm::{Call, Stop, Value};
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
    let places = merge_sort(places, |a, b| {
        work.walk(heap)?;
        Ok(heap.compare(keys[*a as usize], keys[*b as usize], &mut work)? == wrong)
    })?;
    call.budget.settle(&work)?;
    Ok(places)
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
    use super::merge_sort;

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
    fn a_lying_comparison_terminates() {
        let mut n = 0;
        let sorted = merge_sort((0..500).collect(), |_, _| {
            n += 1;
            Ok(n % 3 == 0)
        });
        assert_eq!(sorted.unwrap().len(), 500);
    }
}
