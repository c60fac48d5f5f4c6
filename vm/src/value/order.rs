//! Order: the one total order of `compare` and `sort`, and the partial one of `<`.

use std::cmp::Ordering;

use crate::fault::Fault;
use crate::heap::Heap;
use crate::value::equal::{REMEMBERING, UNREMEMBERED};
use crate::value::hash::RefSet;
use crate::value::{Ref, Value};
use crate::work::Work;

/// Returns the rank of a kind in the total order: nil, booleans, numbers, keywords, strings, dates, vectors, the rest.
fn rank(v: Value) -> u8 {
    match v {
        Value::Nil => 0,
        Value::True | Value::False => 1,
        Value::Int(_) | Value::Float(_) | Value::Big(_) => 2,
        Value::Keyword(_) => 3,
        Value::Str(_) => 4,
        Value::Day(_) => 5,
        Value::Instant(_) => 6,
        Value::Duration(_) => 7,
        Value::Vector(_) | Value::Range(_) => 8,
        Value::Set(_) => 9,
        Value::Map(_) => 10,
        Value::Symbol(_) => 11,
        Value::Var(_) => 12,
        Value::Regex(_) => 13,
        Value::Tool(_) => 14,
        Value::Builtin(_) => 15,
        _ => 16,
    }
}

impl Heap {
    /// Compares by the total order of `compare` and `sort`: by kind, then within it; vectors by length, then by
    /// item; maps and sets by size only. NaN comes after all other numbers, so that sorting works.
    #[inline]
    pub fn compare(&self, a: Value, b: Value, work: &mut Work) -> Result<Ordering, Fault> {
        if let (Value::Vector(x), Value::Vector(y)) = (a, b)
            && let (Some(xs), Some(ys)) = (self.flat_items(x), self.flat_items(y))
        {
            return self.compare_flat((x, xs), (y, ys), work);
        }
        match self.compare_leaf(a, b) {
            Some(order) => Ok(order),
            None => self.compare_vectors(self.unveil(a), self.unveil(b), 0, work),
        }
    }

    /// Compares vectors with contiguous items: mostly sort keys, short and of plain values.
    #[inline(never)]
    fn compare_flat(
        &self,
        (a, xs): (Ref, &[Value]),
        (b, ys): (Ref, &[Value]),
        work: &mut Work,
    ) -> Result<Ordering, Fault> {
        if a == b || xs.len() != ys.len() {
            return Ok(xs.len().cmp(&ys.len()));
        }
        for (at, (x, y)) in xs.iter().zip(ys).enumerate() {
            let (x, y) = (self.import(a.space(), *x), self.import(b.space(), *y));
            match self.compare_leaf(x, y) {
                Some(Ordering::Equal) => work.walk(self)?,
                Some(order) => return work.walk(self).map(|()| order),
                None => return self.compare_vectors(Value::Vector(a), Value::Vector(b), at, work),
            }
        }
        Ok(Ordering::Equal)
    }

    /// Compares a keyword or string with this text to a value.
    pub(crate) fn text_order(&self, keyword: bool, text: &str, other: Value) -> Ordering {
        match (keyword, other) {
            (true, Value::Keyword(r)) | (false, Value::Str(r)) => text.cmp(self.str(r)),
            (true, _) => 3.cmp(&rank(other)),
            (false, _) => 4.cmp(&rank(other)),
        }
    }

    /// Compares two values if that needs no look into vectors.
    #[inline]
    fn compare_leaf(&self, a: Value, b: Value) -> Option<Ordering> {
        Some(match (a, b) {
            (Value::Int(a), Value::Int(b)) => a.cmp(&b),
            (Value::Str(a), Value::Str(b))
            | (Value::Keyword(a), Value::Keyword(b))
            | (Value::Symbol(a), Value::Symbol(b))
            | (Value::Var(a), Value::Var(b))
            | (Value::Tool(a), Value::Tool(b))
            | (Value::Regex(a), Value::Regex(b)) => {
                self.charge_texts(a, b);
                if a == b { Ordering::Equal } else { self.str(a).cmp(self.str(b)) }
            }
            (Value::True | Value::False, Value::True | Value::False) => a.truthy().cmp(&b.truthy()),
            (Value::Day(a), Value::Day(b)) => a.cmp(&b),
            (Value::Instant(a), Value::Instant(b)) | (Value::Duration(a), Value::Duration(b)) => a.cmp(&b),
            (Value::Builtin(a), Value::Builtin(b)) => a.cmp(&b),
            (Value::Map(a), Value::Map(b)) => self.map_len(a).cmp(&self.map_len(b)),
            (Value::Set(a), Value::Set(b)) => self.set_len(a).cmp(&self.set_len(b)),
            (Value::Vector(a), Value::Vector(b)) if a == b => Ordering::Equal,
            (Value::Range(a), Value::Range(b)) => self.compare_ranges(a, b),
            (Value::Vector(_) | Value::Range(_), Value::Vector(_) | Value::Range(_)) => {
                match self.seq_len(a).cmp(&self.seq_len(b)) {
                    Ordering::Equal => return None,
                    order => order,
                }
            }
            _ if a.is_number() && b.is_number() => self.compare_numbers(a, b).unwrap_or_else(|| {
                let nan = |v| matches!(v, Value::Float(x) if x.get().is_nan());
                nan(a).cmp(&nan(b))
            }),
            (Value::Veiled(_), _) | (_, Value::Veiled(_)) => {
                return self.compare_leaf(self.unveil(a), self.unveil(b));
            }
            _ => rank(a).cmp(&rank(b)),
        })
    }

    /// Compares two ranges as the vectors they stand for: by length, first item, then second.
    pub(crate) fn compare_ranges(&self, a: Ref, b: Ref) -> Ordering {
        let ((a_start, a_step, a_len), (b_start, b_step, b_len)) = (self.range_parts(a), self.range_parts(b));
        let steps = if a_len > 1 { a_step.cmp(&b_step) } else { Ordering::Equal };
        a_len.cmp(&b_len).then(a_start.cmp(&b_start)).then(steps)
    }

    /// Compares vectors of one length that are equal up to `at`, without recursion. Pairs met again are equal, or
    /// the comparison would have ended.
    #[inline(never)]
    fn compare_vectors(&self, a: Value, b: Value, at: usize, work: &mut Work) -> Result<Ordering, Fault> {
        let mut frames = vec![(a, b, at)];
        let mut met: RefSet<(Ref, Ref)> = RefSet::default();
        let mut pairs = 0;
        while let Some((a, b, next)) = frames.pop() {
            let (Some(x), Some(y)) = (self.seq_get(a, next), self.seq_get(b, next)) else { continue };
            let (x, y) = (self.unveil(x), self.unveil(y));
            work.walk(self)?;
            // Not after the last item, so that chains take no memory.
            if next + 1 < self.seq_len(a) {
                frames.push((a, b, next + 1));
            }
            match self.compare_leaf(x, y) {
                Some(Ordering::Equal) => {}
                Some(order) => return Ok(order),
                None => {
                    pairs += 1;
                    let seen = match (x.reference(), y.reference()) {
                        (Some(x), Some(y)) if pairs > UNREMEMBERED => {
                            work.step(REMEMBERING)?;
                            !met.insert((x, y))
                        }
                        _ => false,
                    };
                    if !seen {
                        frames.push((x, y, 0));
                    }
                }
            }
        }
        Ok(Ordering::Equal)
    }

    /// Compares two numbers, strings, keywords, days, instants or durations; None between kinds, for NaN and for
    /// everything else.
    #[inline]
    pub fn partial(&self, a: Value, b: Value) -> Option<Ordering> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(&b)),
            (Value::Float(a), Value::Float(b)) => a.get().partial_cmp(&b.get()),
            (Value::Str(_), Value::Str(_))
            | (Value::Keyword(_), Value::Keyword(_))
            | (Value::Day(_), Value::Day(_))
            | (Value::Instant(_), Value::Instant(_))
            | (Value::Duration(_), Value::Duration(_)) => self.compare_leaf(a, b),
            _ if a.is_number() && b.is_number() => self.compare_numbers(a, b),
            (Value::Veiled(_), _) | (_, Value::Veiled(_)) => self.partial(self.unveil(a), self.unveil(b)),
            _ => None,
        }
    }

    /// Evaluates `a < b`, false between kinds.
    #[inline]
    pub fn less(&self, a: Value, b: Value) -> bool {
        self.partial(a, b) == Some(Ordering::Less)
    }

    /// Evaluates `a <= b`, false between kinds.
    #[inline]
    pub fn less_eq(&self, a: Value, b: Value) -> bool {
        matches!(self.partial(a, b), Some(Ordering::Less | Ordering::Equal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    #[test]
    fn kinds_are_in_order() {
        let mut heap = Heap::unbounded();
        let mut work = Work::new(1_000_000);
        let big = heap.new_integer(&BigInt::from(10u8).pow(30)).unwrap();
        let (ka, kb) = (heap.new_keyword("a").unwrap(), heap.new_keyword("b").unwrap());
        let (sa, sb) = (heap.new_str("aa").unwrap(), heap.new_str("b").unwrap());
        let short = heap.new_vec(&[Value::Int(9)]).unwrap();
        let low = heap.new_vec(&[Value::Int(1), Value::Nil]).unwrap();
        let high = heap.new_range(1, 3, 1).unwrap();
        let (set, map) = (heap.empty_set(), heap.empty_map());
        let all = [
            Value::Nil,
            Value::False,
            Value::True,
            Value::float(f64::NEG_INFINITY),
            Value::Int(-1),
            Value::float(0.5),
            Value::Int(2),
            big,
            Value::float(f64::INFINITY),
            Value::float(f64::NAN),
            ka,
            kb,
            sa,
            sb,
            Value::Day(1),
            Value::Instant(1),
            Value::Duration(1),
            short,
            low,
            high,
            set,
            map,
            Value::Builtin(1),
        ];
        for (i, a) in all.iter().enumerate() {
            for (j, b) in all.iter().enumerate() {
                assert_eq!(heap.compare(*a, *b, &mut work).unwrap(), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn vectors_of_every_form_compare_alike() {
        let mut heap = Heap::unbounded();
        let mut work = Work::new(1_000_000);
        let numbers: Vec<Value> = (0..100).map(Value::Int).collect();
        let flat = heap.new_vec(&numbers).unwrap();
        let range = heap.new_range(0, 100, 1).unwrap();
        let short = heap.new_vec(&numbers[..99]).unwrap();
        let Value::Vector(whole) = short else { panic!("a vector") };
        let trie = heap.vec_conj(whole, Value::Int(99)).unwrap();
        for a in [flat, range, trie] {
            for b in [flat, range, trie] {
                assert!(heap.compare(a, b, &mut work).unwrap().is_eq(), "{a:?} {b:?}");
            }
            // Past the first piece of a trie, and in a vector within.
            for at in [0, 31, 32, 64, 99] {
                let mut more = numbers.clone();
                more[at] = Value::Int(200);
                let more = heap.new_vec(&more).unwrap();
                assert!(heap.compare(a, more, &mut work).unwrap().is_lt(), "{a:?} {at}");
                assert!(heap.compare(more, a, &mut work).unwrap().is_gt(), "{a:?} {at}");
                let inner = [heap.new_vec(&[a, more]).unwrap(), heap.new_vec(&[a, a]).unwrap()];
                let rows = inner.map(|inner| heap.new_vec(&[Value::Nil, inner, Value::Int(1)]).unwrap());
                assert!(heap.compare(rows[0], rows[1], &mut work).unwrap().is_gt(), "{a:?} {at}");
                assert!(heap.compare(rows[0], rows[0], &mut work).unwrap().is_eq());
            }
        }
    }

    #[test]
    fn endless_ranges_compare_at_once() {
        let mut heap = Heap::unbounded();
        let a = heap.new_range(0, i64::MAX, 1).unwrap();
        let b = heap.new_range(0, i64::MAX, 1).unwrap();
        let c = heap.new_range(1, i64::MAX, 1).unwrap();
        let mut work = Work::new(10);
        assert!(heap.equal(a, b, &mut work).unwrap() && !heap.equal(a, c, &mut work).unwrap());
        assert!(heap.compare(a, b, &mut work).unwrap().is_eq());
        let (x, y) = (heap.new_range(1, 2, 5).unwrap(), heap.new_range(1, 2, 7).unwrap());
        assert!(heap.exact(x, y) && heap.key_hash(x, 0) == heap.key_hash(y, 0));
    }

    #[test]
    fn less_is_false_between_kinds() {
        let mut heap = Heap::unbounded();
        let s = heap.new_str("a").unwrap();
        for (a, b) in [(Value::Nil, Value::Int(1)), (Value::Int(1), s), (Value::Nil, Value::Nil)] {
            assert!(!heap.less(a, b) && !heap.less(b, a) && !heap.less_eq(a, b));
        }
        assert!(!heap.less(Value::float(f64::NAN), Value::Int(1)));
        assert!(heap.less(Value::Int(1), Value::float(1.5)));
        assert!(heap.less_eq(Value::Int(1), Value::float(1.0)));
    }
}
