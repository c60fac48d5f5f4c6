//! Properties of the whole value layer: collections compared with plain models, deep and shared data, and equal results
//! however often memory is collected or frozen.

use proptest::prelude::*;

use crate::heap::Heap;
use crate::value::{Ref, Value};
use crate::work::Work;

fn work() -> Work {
    Work::new(100_000_000)
}

fn print(heap: &Heap, v: Value) -> String {
    let mut out = String::new();
    heap.print(v, &mut out, 100_000_000).unwrap();
    out
}

fn at(v: Value) -> Ref {
    v.reference().unwrap()
}

/// Makes a key of one of several types, some of which look alike.
fn key(heap: &mut Heap, n: i64) -> Value {
    match n % 5 {
        0 => Value::Int(n),
        1 => Value::float((n - 1) as f64),
        2 => heap.new_str(&format!("k{n}")).unwrap(),
        3 => heap.new_keyword(&format!("k{}", n - 1)).unwrap(),
        _ => heap.new_vec(&[Value::Int(n), Value::Nil]).unwrap(),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Add(i64, i64),
    Remove(i64),
    /// Continue from an older version.
    Back(usize),
    Collect,
    Freeze,
}

fn steps(most: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0i64..60, any::<i64>()).prop_map(|(k, v)| Step::Add(k, v)),
        4 => (0i64..60).prop_map(Step::Remove),
        1 => (0usize..1000).prop_map(Step::Back),
        1 => Just(Step::Collect),
        1 => Just(Step::Freeze),
    ];
    prop::collection::vec(step, 0..most)
}

fn collect(heap: &mut Heap, roots: &mut [Value]) {
    let mut collector = heap.collect();
    collector.roots(roots);
    collector.finish();
}

fn freeze(heap: &mut Heap, roots: &mut [Value]) {
    let space = heap.copy_out(roots, &[]);
    let id = heap.attach(space, &mut Vec::new());
    roots.iter_mut().for_each(|root| *root = heap.import(id, *root));
    collect(heap, &mut []);
}

proptest! {
    #[test]
    fn maps_are_ordered_pairs(start in 0i64..40, steps in steps(200)) {
        let mut heap = Heap::unbounded();
        let pairs: Vec<(i64, i64)> = (0..start).map(|n| (n, n * 10)).collect();
        let mut items = Vec::new();
        for (k, v) in &pairs {
            items.extend([key(&mut heap, *k), Value::Int(*v)]);
        }
        let mut versions = vec![(heap.new_map(&items).unwrap(), pairs)];
        for step in steps {
            let (v, mut model) = versions.last().cloned().unwrap();
            match step {
                Step::Add(k, n) => {
                    match model.iter_mut().find(|(known, _)| *known == k) {
                        Some(pair) => pair.1 = n,
                        None => model.push((k, n)),
                    }
                    let key = key(&mut heap, k);
                    versions.push((heap.map_assoc(at(v), key, Value::Int(n)).unwrap(), model));
                }
                Step::Remove(k) => {
                    model.retain(|(known, _)| *known != k);
                    let key = key(&mut heap, k);
                    versions.push((heap.map_dissoc(at(v), key).unwrap(), model));
                }
                Step::Back(n) => { let version = versions[n % versions.len()].clone(); versions.push(version); }
                Step::Collect | Step::Freeze => {
                    let mut roots: Vec<Value> = versions.iter().map(|(v, _)| *v).collect();
                    if matches!(step, Step::Freeze) { freeze(&mut heap, &mut roots) } else { collect(&mut heap, &mut roots) }
                    versions.iter_mut().zip(roots).for_each(|(version, root)| version.0 = root);
                }
            }
        }
        for (v, model) in versions {
            prop_assert_eq!(heap.map_len(at(v)), model.len());
            let mut items = Vec::new();
            for (k, n) in &model {
                let key = key(&mut heap, *k);
                prop_assert!(matches!(heap.map_get(at(v), key), Some(Value::Int(found)) if found == *n));
                prop_assert!(heap.map_get_flex(at(v), key).is_some());
                items.extend([key, Value::Int(*n)]);
            }
            let rebuilt = heap.new_map(&items).unwrap();
            prop_assert_eq!(print(&heap, rebuilt), print(&heap, v));
            // Equality ignores order.
            let reversed: Vec<Value> = items.chunks(2).rev().flatten().copied().collect();
            let reversed = heap.new_map(&reversed).unwrap();
            prop_assert!(heap.equal(reversed, v, &mut work()).unwrap() && heap.exact(v, reversed));
            prop_assert_eq!(heap.key_hash(reversed, 0), heap.key_hash(v, 0));
            for k in 60..70 {
                let key = key(&mut heap, k);
                prop_assert!(heap.map_get(at(v), key).is_none());
            }
        }
    }

    #[test]
    fn sets_are_ordered_lists(start in 0i64..40, steps in steps(200)) {
        let mut heap = Heap::unbounded();
        let members: Vec<i64> = (0..start).collect();
        let mut items: Vec<Value> = members.iter().map(|n| key(&mut heap, *n)).collect();
        items.extend_from_within(..);
        let mut versions = vec![(heap.new_set(&items).unwrap(), members)];
        for step in steps {
            let (v, mut model) = versions.last().cloned().unwrap();
            match step {
                Step::Add(k, _) => {
                    if !model.contains(&k) { model.push(k); }
                    let key = key(&mut heap, k);
                    versions.push((heap.set_conj(at(v), key).unwrap(), model));
                }
                Step::Remove(k) => {
                    model.retain(|known| *known != k);
                    let key = key(&mut heap, k);
                    versions.push((heap.set_disj(at(v), key).unwrap(), model));
                }
                Step::Back(n) => { let version = versions[n % versions.len()].clone(); versions.push(version); }
                Step::Collect | Step::Freeze => {
                    let mut roots: Vec<Value> = versions.iter().map(|(v, _)| *v).collect();
                    if matches!(step, Step::Freeze) { freeze(&mut heap, &mut roots) } else { collect(&mut heap, &mut roots) }
                    versions.iter_mut().zip(roots).for_each(|(version, root)| version.0 = root);
                }
            }
        }
        for (v, model) in versions {
            let items: Vec<Value> = model.iter().map(|n| key(&mut heap, *n)).collect();
            prop_assert_eq!(heap.set_len(at(v)), items.len());
            let rebuilt = heap.new_set(&items).unwrap();
            prop_assert_eq!(print(&heap, rebuilt), print(&heap, v));
            let reversed: Vec<Value> = items.iter().rev().copied().collect();
            let reversed = heap.new_set(&reversed).unwrap();
            prop_assert!(heap.equal(reversed, v, &mut work()).unwrap());
            prop_assert_eq!(heap.key_hash(reversed, 0), heap.key_hash(v, 0));
        }
    }

    /// The same program on three heaps: never collected, collected at every step, and frozen now and then.
    #[test]
    fn collecting_changes_nothing(ops in prop::collection::vec((0u8..12, 0usize..1000, 0usize..1000), 1..150)) {
        let run = |mode: u8| {
            let mut heap = Heap::unbounded();
            let mut pool = vec![heap.empty_vec(), heap.empty_map(), heap.empty_set(), Value::Int(1)];
            for (step, (op, a, b)) in ops.iter().enumerate() {
                let (x, y) = (pool[a % pool.len()], pool[b % pool.len()]);
                let made = match (op, x) {
                    (0, _) => heap.new_vec(&[x, y, x]),
                    (1..=4, Value::Vector(r)) => heap.vec_conj(r, y),
                    (5, Value::Vector(r)) => heap.vec_assoc(r, b % (heap.vec_len(r) + 1), y).map(|v| v.unwrap()),
                    (6, Value::Vector(r)) => heap.vec_slice(r, 1, usize::MAX),
                    (1..=4, Value::Map(r)) => heap.map_assoc(r, y, Value::Int(*b as i64)),
                    (5 | 6, Value::Map(r)) => heap.map_dissoc(r, y),
                    (1..=4, Value::Set(r)) => heap.set_conj(r, y),
                    (5 | 6, Value::Set(r)) => heap.set_disj(r, y),
                    (7, _) => heap.new_str(&format!("text {b}")),
                    (8, _) => heap.new_keyword(&format!("key{}", b % 40)),
                    (9, _) => heap.new_range(*a as i64, *b as i64, 3),
                    (10, _) => heap.new_closure(0, 7, &[x, y]),
                    _ => Ok(Value::Int(*b as i64)),
                };
                pool.push(made.unwrap());
                match mode {
                    1 => collect(&mut heap, &mut pool),
                    2 if step % 17 == 3 => freeze(&mut heap, &mut pool),
                    _ => {}
                }
            }
            // A bound, since vectors of vectors grow fast when printed.
            let mut out = String::new();
            for v in &pool {
                let mut one = String::new();
                let fits = heap.print(*v, &mut one, 2000).is_ok();
                out.push_str(if fits { &one } else { "long" });
                out.push('\n');
            }
            out
        };
        let plain = run(0);
        prop_assert_eq!(&plain, &run(1));
        prop_assert_eq!(&plain, &run(2));
    }
}

#[test]
fn flexible_keys() {
    let mut heap = Heap::unbounded();
    for extra in [0, 40] {
        let mut items = Vec::new();
        for i in 0..extra {
            items.extend([Value::Int(i), Value::Nil]);
        }
        let price = heap.new_str("unit_price").unwrap();
        let id = heap.new_keyword("id").unwrap();
        let line = heap.new_keyword("line_no").unwrap();
        items.extend([price, Value::Int(4), id, Value::Int(7), line, Value::Int(9)]);
        let map = at(heap.new_map(&items).unwrap());
        let get = |heap: &mut Heap, key: Value| heap.map_get_flex(map, key).map(|v| print(heap, v));
        for (keyword, name, wanted) in [
            (true, "unit-price", Some("4")),
            (false, "unit-price", Some("4")),
            (true, "unit_price", Some("4")),
            (false, "id", Some("7")),
            (true, "id", Some("7")),
            (true, "no", None),
            // Two keywords are two keys.
            (true, "line-no", None),
            (false, "line-no", Some("9")),
        ] {
            let key = if keyword { heap.new_keyword(name) } else { heap.new_str(name) }.unwrap();
            assert_eq!(get(&mut heap, key).as_deref(), wanted, "{name}");
        }
        let symbol = heap.new_symbol("id").unwrap();
        assert!(heap.map_get_flex(map, symbol).is_none());
        let underscore = heap.new_keyword("unit_price").unwrap();
        let (spelt, _) = heap.map_find_flex(map, underscore).unwrap();
        assert!(spelt.same(price));
    }
}

#[test]
fn records_made_in_a_loop_share_their_keys() {
    let mut heap = Heap::unbounded();
    let (a, b) = (heap.new_keyword("a").unwrap(), heap.new_keyword("b").unwrap());
    let keys = heap.new_keys(&[a]).unwrap();
    let x = at(heap.new_record(keys, &[Value::Int(1)]).unwrap());
    let y = at(heap.new_record(keys, &[Value::Int(2)]).unwrap());
    let x = at(heap.map_assoc(x, b, Value::Nil).unwrap());
    let y = at(heap.map_assoc(y, b, Value::Nil).unwrap());
    assert!(heap.map_shape(x).is_some());
    assert_eq!(heap.map_shape(x), heap.map_shape(y));
    assert!(heap.map_shape(x).is_some_and(|keys| heap.vec_items(keys)[1].same(b)));
    let x = at(heap.map_dissoc(x, a).unwrap());
    let y = at(heap.map_dissoc(y, a).unwrap());
    assert_eq!(heap.map_shape(x), heap.map_shape(y));
    assert_eq!(print(&heap, Value::Map(x)), "{:b nil}");
}

#[test]
fn numbers_as_values_and_as_keys() {
    let mut heap = Heap::unbounded();
    let ints = heap.new_vec(&[Value::Int(1)]).unwrap();
    let floats = heap.new_vec(&[Value::float(1.0)]).unwrap();
    assert!(heap.equal(ints, floats, &mut work()).unwrap() && !heap.exact(ints, floats));
    let a = heap.new_map(&[Value::Nil, ints]).unwrap();
    let b = heap.new_map(&[Value::Nil, floats]).unwrap();
    assert!(heap.equal(a, b, &mut work()).unwrap());
    let a = heap.new_map(&[ints, Value::Nil]).unwrap();
    let b = heap.new_map(&[floats, Value::Nil]).unwrap();
    assert!(!heap.equal(a, b, &mut work()).unwrap());
    let nan = Value::float(f64::NAN);
    let (x, y) = (heap.new_vec(&[nan]).unwrap(), heap.new_vec(&[nan]).unwrap());
    assert!(!heap.equal(x, y, &mut work()).unwrap() && !heap.equal(nan, nan, &mut work()).unwrap());
    let set = heap.new_set(&[nan, nan]).unwrap();
    assert_eq!(heap.set_len(at(set)), 2);
    let zeros = heap.new_set(&[Value::float(0.0), Value::float(-0.0)]).unwrap();
    assert_eq!(heap.set_len(at(zeros)), 1);
}

/// Runs a test on a stack as small as a worker's may be.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(256 << 10).spawn(test).unwrap().join().unwrap();
}

#[test]
fn deep_data() {
    on_a_small_stack(|| {
        const DEPTH: usize = 300_000;
        for kind in 0..4 {
            let mut heap = Heap::unbounded();
            let nest = |heap: &mut Heap| {
                let mut v = Value::Int(1);
                for _ in 0..DEPTH {
                    v = match kind {
                        0 => heap.new_vec(&[v]),
                        1 => heap.new_map(&[Value::Nil, v]),
                        2 => heap.new_map(&[v, Value::Nil]),
                        _ => heap.new_set(&[v]),
                    }
                    .unwrap();
                }
                v
            };
            let mut roots = [nest(&mut heap), nest(&mut heap)];
            assert!(heap.equal(roots[0], roots[1], &mut work()).unwrap());
            assert!(heap.exact(roots[0], roots[1]));
            assert_eq!(heap.key_hash(roots[0], 0), heap.key_hash(roots[1], 0));
            assert!(heap.compare(roots[0], roots[1], &mut work()).unwrap().is_eq());
            collect(&mut heap, &mut roots);
            let text = print(&heap, roots[0]);
            freeze(&mut heap, &mut roots);
            assert_eq!(print(&heap, roots[1]), text);
            let datum = heap.to_datum(roots[0], usize::MAX).unwrap();
            let back = heap.from_datum(&datum).unwrap();
            assert!(heap.equal(back, roots[0], &mut work()).unwrap());
            let mut other = Heap::unbounded();
            let copied = other.copy_in(&heap, roots[0], |id| (id == 1).then_some(1), |m| m).unwrap();
            assert_eq!(print(&other, copied), text);
        }
    });
}

#[test]
fn shared_data_is_compared_once() {
    on_a_small_stack(|| {
        let mut heap = Heap::unbounded();
        let grow = |heap: &mut Heap, maps: bool| {
            let mut v = heap.new_vec(&[Value::Int(1), Value::Int(1)]).unwrap();
            for i in 0..200 {
                v = if maps && i % 2 == 0 {
                    heap.new_map(&[Value::Int(0), v, v, v])
                } else {
                    heap.new_vec(&[v, v])
                }
                .unwrap();
            }
            v
        };
        for maps in [false, true] {
            let (a, b) = (grow(&mut heap, maps), grow(&mut heap, maps));
            let mut work = Work::new(100_000);
            assert!(heap.equal(a, b, &mut work).unwrap());
            assert!(heap.exact(a, b));
            assert!(heap.compare(a, b, &mut work).unwrap().is_eq());
            heap.allow_steps(80_000);
            assert_eq!(heap.key_hash(a, 0), heap.key_hash(b, 0));
            assert!(heap.look().is_ok());
            heap.end_work();
            assert!(heap.print(a, &mut String::new(), 10_000).is_err());
            assert!(heap.to_datum(a, 10_000).is_err());
        }
    });
}

#[test]
fn keys_that_collide_deep_down() {
    on_a_small_stack(|| {
        let mut heap = Heap::unbounded();
        // Every level has two keys whose hashes agree, as they only differ further down.
        let grow = |heap: &mut Heap| {
            let (mut a, mut b) = (Value::Int(1), Value::Int(2));
            for _ in 0..1000 {
                let (x, y) = (heap.new_vec(&[a]).unwrap(), heap.new_vec(&[b]).unwrap());
                a = heap.new_map(&[x, Value::Int(1), y, Value::Int(1)]).unwrap();
                b = heap.new_map(&[y, Value::Int(1), x, Value::Int(2)]).unwrap();
            }
            (a, b)
        };
        let ((a, b), (c, _)) = (grow(&mut heap), grow(&mut heap));
        let mut work = Work::new(10_000_000);
        assert!(!heap.equal(a, b, &mut work).unwrap_or(false));
        let _ = heap.equal(a, c, &mut work);
    });
}

#[test]
fn work_is_bounded() {
    let mut heap = Heap::unbounded();
    let items: Vec<Value> = (0..1000).map(Value::Int).collect();
    let (a, b) = (heap.new_vec(&items).unwrap(), heap.new_vec(&items).unwrap());
    let fault = heap.equal(a, b, &mut Work::new(100)).unwrap_err();
    assert_eq!(fault.code(), ptc_bytecode::Code::FuelExceeded);
}
