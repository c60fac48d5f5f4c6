//! Stable sort whose comparison may fail. The standard one may panic if a comparison that ran out of fuel answers at
//! random.

/// Sorts bottom-up by merging; `swapped` returns whether its first argument must come after its second.
pub fn merge_sort<T: Copy, E>(
    mut from: Vec<T>,
    mut swapped: impl FnMut(&T, &T) -> Result<bool, E>,
) -> Result<Vec<T>, E> {
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
            let sorted = merge_sort((0..len).collect(), |a: &u32, b| {
                Ok::<bool, ()>(keys[*a as usize] > keys[*b as usize])
            })
            .unwrap();
            let mut wanted: Vec<u32> = (0..len).collect();
            wanted.sort_by_key(|i| keys[*i as usize]);
            assert_eq!(sorted, wanted);
        }
    }

    #[test]
    fn a_lying_comparison_terminates() {
        let mut n = 0;
        let sorted = merge_sort((0..500).collect(), |_: &u32, _| {
            n += 1;
            Ok::<bool, ()>(n % 3 == 0)
        });
        assert_eq!(sorted.unwrap().len(), 500);
    }
}
