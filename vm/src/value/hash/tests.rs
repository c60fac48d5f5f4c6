use super::*;
use ptc_bytecode::{Code, HashSecret};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering;

/// Makes a heap with another secret than that of this process.
fn heap_with(secret: HashSecret) -> Heap {
    let mut heap = Heap::unbounded();
    heap.secret = Box::leak(Box::new(secret));
    heap
}

fn map_ref(v: Value) -> Ref {
    v.reference().unwrap()
}

fn ints(heap: &mut Heap, items: impl Iterator<Item = i64>) -> Value {
    let items: Vec<Value> = items.map(Value::Int).collect();
    heap.new_vec(&items).unwrap()
}

#[test]
fn equal_keys_hash_alike() {
    let mut heap = Heap::unbounded();
    let range = heap.new_range(0, 300, 1).unwrap();
    let vector = ints(&mut heap, 0..300);
    let longer = ints(&mut heap, -5..400);
    let slice = heap.vec_slice(map_ref(longer), 5, 305).unwrap();
    for same in [range, slice] {
        assert_eq!(heap.key_hash(same, 0), heap.key_hash(vector, 0));
    }
    assert_eq!(heap.key_hash(Value::float(0.0), 0), heap.key_hash(Value::float(-0.0), 0));
    // Maps and sets inside maps and sets, flat, hashed and sorted, in two orders.
    for n in [2, 100] {
        let build = |heap: &mut Heap, reverse: bool, sorted: bool| {
            let mut numbers: Vec<i64> = (0..n).collect();
            if reverse {
                numbers.reverse();
            }
            let mut items = Vec::new();
            let mut members = Vec::new();
            for i in numbers {
                let inner = if sorted {
                    heap.new_sorted_map(&[Value::Int(i), range, Value::Int(-1), Value::Nil], reverse).unwrap()
                } else {
                    heap.new_map(&[Value::Int(-1), Value::Nil, Value::Int(i), vector]).unwrap()
                };
                let inner = heap.new_set(&[inner, Value::Nil]).unwrap();
                items.extend([inner, Value::Int(i)]);
                members.push(inner);
            }
            let (map, set) = (heap.new_map(&items).unwrap(), heap.new_set(&members).unwrap());
            heap.new_vec(&[map, set]).unwrap()
        };
        let first = build(&mut heap, false, false);
        for (reverse, sorted) in [(true, false), (false, true), (true, true)] {
            let second = build(&mut heap, reverse, sorted);
            assert!(heap.exact(first, second));
            assert_eq!(heap.key_hash(first, 0), heap.key_hash(second, 0));
        }
    }
}

#[test]
fn keys_that_differ_anywhere_hash_apart() {
    let mut heap = Heap::unbounded();
    let id = heap.new_keyword("id").unwrap();
    let mut keys = Vec::new();
    for i in 0..300 {
        // Differences far towards the end, deep inside, in a key, in a member, and in the type.
        let wide = (0..200).map(|at| if at == 190 { i } else { 0 });
        keys.push(ints(&mut heap, wide));
        let mut deep = heap.new_map(&[id, Value::Int(i)]).unwrap();
        keys.push(deep);
        for _ in 0..100 {
            deep = heap.new_vec(&[Value::Nil, deep]).unwrap();
        }
        keys.push(deep);
        let in_key = heap.new_map(&[deep, id]).unwrap();
        keys.push(heap.new_set(&[in_key]).unwrap());
        let text = heap.new_str(&i.to_string()).unwrap();
        keys.extend([text, Value::Int(i), Value::Duration(i), Value::float(i as f64)]);
        keys.push(heap.new_keyword(&i.to_string()).unwrap());
        keys.push(heap.new_set(&[text, Value::Int(i)]).unwrap());
        keys.push(heap.new_vec(&[text, Value::Int(i)]).unwrap());
        keys.push(heap.new_vec(&[Value::Int(i), text]).unwrap());
        keys.push(heap.new_map(&[text, Value::Int(i)]).unwrap());
        keys.push(heap.new_map(&[Value::Int(i), text]).unwrap());
    }
    let mut deep = HashSet::new();
    for key in &keys {
        let hash = match is_collection(*key) {
            true => heap.deep_hash(*key, &mut Work::unlimited(), &mut RefMap::default()).unwrap(),
            false => heap.scalar(*key),
        };
        assert!(deep.insert(hash), "two of {} keys have one hash", keys.len());
    }
}

#[test]
fn hashing_is_paid_by_size_every_time() {
    let mut heap = Heap::unbounded();
    let items = ints(&mut heap, 0..1000);
    let (long, short) = (heap.new_str(&"x".repeat(32_000)).unwrap(), heap.new_str(&"x".repeat(500)).unwrap());
    let range = heap.new_range(0, 1000, 1).unwrap();
    heap.allow_steps(8_000_000);
    let cost = |heap: &Heap, key: Value| {
        let _ = heap.key_hash(key, 7);
        heap.take_due()
    };
    for _ in 0..2 {
        assert_eq!(cost(&heap, items), 8000);
        assert_eq!(cost(&heap, range), 8000);
        assert_eq!(cost(&heap, long), 8000);
        assert_eq!(cost(&heap, short), 0);
        assert_eq!(cost(&heap, Value::Int(1)), 0);
        // It is compared with each of the seven others.
        assert_eq!(cost(&heap, Value::float(f64::NAN)), 56);
    }
    // A small map hashes nothing, at the same price.
    let map = map_ref(heap.new_map(&[Value::Int(1), Value::Nil, Value::Nil, Value::Nil]).unwrap());
    assert!(heap.map_get(map, items).is_none());
    assert_eq!(heap.take_due(), 8000);
}

#[test]
fn shared_data_are_hashed_once() {
    let mut heap = Heap::unbounded();
    let mut huge = [Value::Int(1); 2];
    for huge in &mut huge {
        for _ in 0..60 {
            *huge = heap.new_vec(&[*huge, *huge]).unwrap();
        }
    }
    let map = map_ref(heap.new_map(&[huge[0], Value::True]).unwrap());
    heap.allow_steps(80_000);
    assert!(matches!(heap.map_get(map, huge[1]), Some(Value::True)));
    assert!(heap.take_due() < 4_000, "what it takes in memory is paid for, once");
    // A key of many parts also ends when the fuel is used up.
    heap.allow_steps(1_000);
    let wide = ints(&mut heap, 0..10_000);
    let fault = heap.map_assoc(map, wide, Value::Nil).unwrap_err().into_kind();
    let crate::StopKind::Fault(fault) = fault else { panic!("room") };
    assert_eq!(fault.code(), Code::FuelExceeded);
}

/// Number of kinds of keys chosen by an attacker who knows this code, but not the secret.
const KINDS: usize = 12;

fn key_set(heap: &mut Heap, kind: usize, n: usize, random: &mut impl FnMut() -> u64) -> Vec<Value> {
    let (step, start) = (random() | 1, random());
    let shift = random() % 40;
    let secret = HashSecret::new(random(), random());
    let numbers = (0..n as u64).map(|i| match kind {
        0 => i,
        1 => i << shift,
        2 => start.wrapping_add(i.wrapping_mul(step)),
        3 => i.reverse_bits(),
        4 => (i % 16) << 60 | (i / 16),
        // Gray code: each differs from the previous one in one bit.
        5 => start ^ i ^ i >> 1,
        // Keys that collide under a secret guessed by the attacker.
        6 => (0..).map(|_| random()).find(|n| secret.number(kind::INT, *n).is_multiple_of(64)).unwrap(),
        _ => i,
    });
    let numbers: Vec<u64> = numbers.collect();
    let mut keys = Vec::with_capacity(n);
    for i in numbers {
        keys.push(match kind {
            7 => heap.new_str(&format!("{i}")).unwrap(),
            8 => heap.new_keyword(&format!("a-long-prefix-of-all-names-{i:b}-and-a-suffix")).unwrap(),
            9 => {
                let text = (0..).map(|k| format!("{i} {k}"));
                let mut text = text.filter(|text| secret.text(text.as_bytes()).is_multiple_of(64));
                heap.new_str(&text.next().unwrap()).unwrap()
            }
            10 => {
                let inner = heap.new_map(&[Value::Nil, Value::Int(i as i64)]).unwrap();
                heap.new_map(&[Value::True, inner]).unwrap()
            }
            11 => {
                // Permutations of the same parts.
                let (a, b) = (Value::Int(i as i64 / 64), Value::Int(i as i64 % 64));
                let pair = heap.new_vec(&[a, b]).unwrap();
                heap.new_vec(&[pair, Value::Nil]).unwrap()
            }
            _ => Value::Int(i as i64),
        });
    }
    keys
}

/// Counts the slots visited to build maps of these keys, growing, and to look each up.
fn probes(heap: &mut Heap, keys: &[Value]) -> usize {
    let mut total = 0;
    for part in [keys.len() / 4, keys.len() / 2, keys.len()] {
        let items: Vec<Value> = keys[..part].iter().flat_map(|key| [*key, Value::Nil]).collect();
        let map = heap.new_map(&items).unwrap();
        let (probes, entries) = heap.table_probes(map_ref(map)).unwrap();
        assert_eq!(entries, part);
        // Once to find that a key is new, and once to insert it.
        total += 2 * probes;
        if part == keys.len() {
            assert!(keys.iter().all(|key| heap.map_get(map_ref(map), *key).is_some()));
            total += probes;
        }
    }
    total
}

/// `PTC_KEY_SETS=10000` tries that many sets.
#[test]
#[allow(clippy::disallowed_methods)] // a test may read the environment; the crate may not
fn no_choice_of_keys_makes_a_table_slow() {
    let sets: usize = std::env::var("PTC_KEY_SETS").ok().and_then(|n| n.parse().ok()).unwrap_or(240);
    let seed = RandomState::new();
    let mut state = 0_u64;
    let mut random = move || {
        state += 1;
        seed.hash_one(state)
    };
    for set in 0..sets {
        // Half of the sets use a table as full as it gets.
        let n = [1536, 700][set / KINDS % 2];
        let mut heap = heap_with(HashSecret::new(random(), random()));
        let scattered: Vec<Value> = (0..n).map(|_| Value::Int(random() as i64)).collect();
        let scattered = probes(&mut heap, &scattered);
        let chosen = key_set(&mut heap, set % KINDS, n, &mut random);
        let chosen = probes(&mut heap, &chosen);
        assert!(
            chosen <= 3 * scattered,
            "kind {}: {chosen} probes, {scattered} for random keys",
            set % KINDS
        );
    }
}

#[test]
fn tables_of_any_secret_lay_data_out_the_same() {
    let spaces: Vec<_> = (0..20)
        .map(|secret| {
            let mut heap = heap_with(HashSecret::new(secret, !secret));
            let keys = key_set(&mut heap, 10, 200, &mut || 1);
            let mut map = heap.empty_map();
            for (i, key) in keys.iter().enumerate() {
                map = heap.map_assoc(map_ref(map), *key, Value::Int(i as i64)).unwrap();
            }
            for key in &keys[..150] {
                map = heap.map_dissoc(map_ref(map), *key).unwrap();
            }
            let set = heap.new_set(&keys).unwrap();
            let pair = heap.new_vec(&[map, set]).unwrap();
            let mut printed = String::new();
            heap.print(pair, &mut printed, 100_000).unwrap();
            (printed, heap.into_space().fingerprint())
        })
        .collect();
    for other in &spaces[1..] {
        assert_eq!(other, &spaces[0]);
    }
}

/// A slice is hashed and compared by a walk, and a short vector without one.
#[test]
fn short_keys_are_those_that_a_walk_finds() {
    let mut heap = Heap::unbounded();
    let (text, keyword) = (heap.new_str("tea").unwrap(), heap.new_keyword("tea").unwrap());
    let scalars =
        [Value::Int(-7), text, Value::float(1.0), Value::Nil, keyword, Value::True, Value::float(-0.0)];
    let due = |heap: &Heap| heap.charges.due.swap(0, Ordering::Relaxed);
    for len in 0..=SHORT_KEY + 1 {
        let items: Vec<Value> = scalars.iter().cycle().take(len).copied().collect();
        let short = heap.new_vec(&items).unwrap();
        let longer: Vec<Value> = [&[Value::Nil; 40], &items[..], &[Value::Nil; 40]].concat();
        let longer = heap.new_vec(&longer).unwrap();
        let slice = heap.vec_slice(map_ref(longer), 40, 40 + len).unwrap();
        heap.charges.allowance.store(1_000_000, Ordering::Relaxed);
        let (hash, price) = (heap.key_hash(short, 0), due(&heap));
        assert_eq!((heap.key_hash(slice, 0), due(&heap)), (hash, price), "{len}");
        assert!(heap.exact(short, slice) && heap.exact(slice, short));
        for i in 0..len {
            let mut other = items.clone();
            other[i] = Value::Int(3);
            let other = heap.new_vec(&other).unwrap();
            assert!(!heap.exact(short, other) && heap.key_hash(other, 0) != hash, "{len} {i}");
            due(&heap);
        }
        assert_eq!(heap.charges.due.load(Ordering::Relaxed), 0);
        heap.charges.allowance.store(crate::work::FREE, Ordering::Relaxed);
    }
    // An item that takes a walk itself.
    let inner = ints(&mut heap, 0..2);
    let (a, b) = (heap.new_vec(&[inner, Value::Nil]).unwrap(), ints(&mut heap, 0..2));
    let c = heap.new_vec(&[b, Value::Nil]).unwrap();
    assert!(heap.exact(a, c));
    assert_eq!(heap.key_hash(a, 0), heap.key_hash(c, 0));
}
