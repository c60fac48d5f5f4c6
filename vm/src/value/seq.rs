//! Operations of all collections: walking, counting, access by position. Also ranges, which are vectors of evenly
//! spaced integers that are not written out.

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::{Ref, Value};

impl Heap {
    /// Returns `coll` in a form that [`Heap::iter_next`] can walk from cursor 0. Faults `type_error` if it is not a
    /// collection.
    #[inline]
    pub fn iter_start(&mut self, coll: Value) -> Result<Value, Stop> {
        match coll {
            Value::Vector(_) | Value::Map(_) | Value::Set(_) | Value::Range(_) | Value::Endless(_) => {
                Ok(coll)
            }
            Value::Nil => Ok(self.empty_vec()),
            Value::Str(r) => self.graphemes(r),
            _ => Err(self.not_a_collection(coll)),
        }
    }

    /// Returns the next element and the cursor after it. Entries of maps are new vectors of two.
    pub fn iter_next(&mut self, seq: Value, cursor: usize) -> Result<Option<(Value, usize)>, Stop> {
        let mut item = Value::Nil;
        let next = self.iter_step(seq, cursor, &mut item)?;
        Ok((next > 0).then_some((item, next)))
    }

    /// Puts the next element in `item` and returns the cursor after it, or 0 at the end. The fastest form of
    /// [`Heap::iter_next`], as the element is copied once.
    #[inline]
    pub(crate) fn iter_step(&mut self, seq: Value, cursor: usize, item: &mut Value) -> Result<usize, Stop> {
        match seq {
            Value::Vector(r) => {
                if let Some(cell) = self.flat_item(r, cursor) {
                    *item = self.import(r.space(), *cell);
                    return Ok(cursor + 1);
                }
                Ok(self.vector_step(r, cursor, item))
            }
            Value::Range(r) => {
                let (start, step, len) = self.range_parts(r);
                if cursor as u64 >= len {
                    return Ok(0);
                }
                *item = range_item(start, step, cursor as i64);
                Ok(cursor + 1)
            }
            _ => self.other_step(seq, cursor, item),
        }
    }

    #[inline(never)]
    fn vector_step(&self, r: Ref, cursor: usize, item: &mut Value) -> usize {
        match self.other_item(r, cursor, Value::Gone) {
            Value::Gone => 0,
            found => {
                *item = found;
                cursor + 1
            }
        }
    }

    #[inline(never)]
    fn other_step(&mut self, seq: Value, cursor: usize, item: &mut Value) -> Result<usize, Stop> {
        let (found, next) = match self.other_next(seq, cursor)? {
            Some(step) => step,
            None => return Ok(0),
        };
        *item = found;
        Ok(next)
    }

    fn other_next(&mut self, seq: Value, cursor: usize) -> Result<Option<(Value, usize)>, Stop> {
        match seq {
            Value::Map(r) => match self.map_next(r, cursor) {
                Some((key, value, next)) => Ok(Some((self.new_vec(&[key, value])?, next))),
                None => Ok(None),
            },
            Value::Set(r) => Ok(self.set_next(r, cursor)),
            Value::Nil => Ok(None),
            _ => Err(self.not_a_collection(seq)),
        }
    }

    /// Returns the number of elements. Faults `type_error` if it is not a collection.
    pub fn count(&self, coll: Value) -> Result<usize, Stop> {
        Ok(match coll {
            Value::Nil => 0,
            Value::Vector(_) | Value::Range(_) => self.seq_len(coll),
            Value::Map(r) => self.map_len(r),
            Value::Set(r) => self.set_len(r),
            Value::Str(r) => {
                let len = self.text_len(r);
                // A call may count many texts.
                self.look()?;
                len
            }
            _ => return Err(self.not_a_collection(coll)),
        })
    }

    /// Returns element `i` of a vector, range or string; None out of range and for nil. Faults `type_error` for
    /// anything else.
    pub fn nth(&mut self, coll: Value, i: usize) -> Result<Option<Value>, Stop> {
        match coll {
            Value::Vector(r) => Ok(self.vec_get(r, i)),
            Value::Range(r) => Ok(self.range_get(r, i)),
            Value::Str(r) => self.grapheme(r, i),
            Value::Nil => Ok(None),
            Value::Endless(_) => Err(Stop::twin()),
            _ => Err(Fault::expected("a sequential collection", coll.type_phrase()).into()),
        }
    }

    /// Returns the first element of any collection, nil if it has none.
    pub fn first(&mut self, coll: Value) -> Result<Value, Stop> {
        let first = match coll {
            Value::Nil => None,
            Value::Str(r) => self.grapheme(r, 0)?,
            Value::Endless(r) => match self.link_parts(r) {
                Some((first, _)) => Some(first),
                None => return Err(Stop::twin()),
            },
            _ => self.iter_next(coll, 0)?.map(|(item, _)| item),
        };
        Ok(first.unwrap_or(Value::Nil))
    }

    /// Returns all elements. Not counted against the heap: charge for them first.
    pub fn to_vec(&mut self, coll: Value) -> Result<Vec<Value>, Stop> {
        match coll {
            Value::Nil => Ok(Vec::new()),
            Value::Vector(r) => Ok(self.vec_items(r)),
            Value::Set(r) => Ok(self.set_items(r)),
            Value::Range(r) => {
                let (_, _, len) = self.range_parts(r);
                // As much as a vector of it would take, so that a huge range is refused.
                self.room(len.min(u64::from(u32::MAX)) as usize, 0)?;
                Ok((0..len as usize).filter_map(|i| self.range_get(r, i)).collect())
            }
            Value::Map(r) => {
                self.room(3 * self.map_len(r), 0)?;
                let items = self.map_items(r);
                items.chunks_exact(2).map(|pair| self.new_vec(pair)).collect()
            }
            Value::Str(r) => match self.graphemes(r)? {
                Value::Vector(parts) => Ok(self.vec_items(parts)),
                _ => Ok(Vec::new()),
            },
            _ => Err(self.not_a_collection(coll)),
        }
    }

    /// Returns all elements as a vector; a vector as it is.
    pub fn to_vector(&mut self, coll: Value) -> Result<Value, Stop> {
        match coll {
            Value::Vector(_) => Ok(coll),
            Value::Str(r) => self.graphemes(r),
            Value::Map(r) => {
                self.room(1 + 4 * self.map_len(r), 0)?;
                let items = self.to_vec(coll)?;
                self.new_vec(&items)
            }
            Value::Range(r) => {
                let (start, step, len) = self.range_parts(r);
                self.room(len.saturating_add(1).min(usize::MAX as u64) as usize, 0)?;
                let new = self.push_head(Value::FlatHead { len });
                self.own.cells.extend((0..len as i64).map(|i| range_item(start, step, i)));
                Ok(Value::Vector(new))
            }
            _ => {
                let items = self.to_vec(coll)?;
                self.new_vec(&items)
            }
        }
    }

    /// Returns elements `from..to` of a vector or range, clamped; shares with the original if possible. Other
    /// collections become vectors first.
    pub fn slice(&mut self, coll: Value, from: usize, to: usize) -> Result<Value, Stop> {
        match coll {
            Value::Vector(r) => self.vec_slice(r, from, to),
            Value::Range(r) => {
                let (start, step, len) = self.range_parts(r);
                let to = (to as u64).min(len);
                let from = (from as u64).min(to);
                if to == from {
                    return Ok(self.empty_vec());
                }
                // Inside the range, so within 64 bits.
                let first = start.wrapping_add(step.wrapping_mul(from as i64));
                self.push_range(first, step, to - from)
            }
            _ => {
                let items = self.to_vec(coll)?;
                let to = to.min(items.len());
                self.new_vec(&items[from.min(to)..to])
            }
        }
    }

    /// Makes the integers from `start` to before `end`; none if the step leads away or is 0.
    pub fn new_range(&mut self, start: i64, end: i64, step: i64) -> Result<Value, Stop> {
        let (start_wide, end_wide, step_wide) = (i128::from(start), i128::from(end), i128::from(step));
        let len = match step {
            0 => 0,
            1.. => (end_wide - start_wide + step_wide - 1).div_euclid(step_wide).max(0),
            _ => (start_wide - end_wide - step_wide - 1).div_euclid(-step_wide).max(0),
        };
        if len == 0 {
            return Ok(self.empty_vec());
        }
        self.push_range(start, step, len as u64)
    }

    fn push_range(&mut self, start: i64, step: i64, len: u64) -> Result<Value, Stop> {
        self.room(3, 0)?;
        let head = Value::RangeHead { len };
        Ok(Value::Range(self.push_object(head, &[Value::Int(start), Value::Int(step)])))
    }

    /// Returns start, step and length of a range.
    #[inline]
    pub fn range_parts(&self, r: Ref) -> (i64, i64, u64) {
        let cells = &self.space(r.space()).cells[r.at() as usize..r.at() as usize + 3];
        match *cells {
            [Value::RangeHead { len }, Value::Int(start), Value::Int(step)] => (start, step, len),
            _ => (0, 1, 0), // heads are trusted
        }
    }

    #[inline]
    pub(crate) fn range_get(&self, r: Ref, i: usize) -> Option<Value> {
        let (start, step, len) = self.range_parts(r);
        ((i as u64) < len).then(|| range_item(start, step, i as i64))
    }

    /// Returns an item of a vector or range; nil past its end.
    #[inline]
    pub fn seq_at(&self, v: Value, i: usize) -> Value {
        match v {
            Value::Vector(r) => self.vec_at(r, i, Value::Nil),
            Value::Range(r) => self.range_get(r, i).unwrap_or(Value::Nil),
            _ => Value::Nil,
        }
    }

    /// Returns the length of a vector or range.
    #[inline]
    pub fn seq_len(&self, v: Value) -> usize {
        match v {
            Value::Vector(r) => self.vec_len(r),
            Value::Range(r) => self.range_parts(r).2 as usize,
            _ => 0,
        }
    }

    /// Returns an item of a vector or range.
    #[inline]
    pub(crate) fn seq_get(&self, v: Value, i: usize) -> Option<Value> {
        match v {
            Value::Vector(r) => self.vec_get(r, i),
            Value::Range(r) => self.range_get(r, i),
            _ => None,
        }
    }

    /// Makes the fault "expected a collection, got …".
    #[cold]
    pub fn not_a_collection(&self, v: Value) -> Stop {
        if let Value::Endless(_) = v {
            return Stop::twin();
        }
        let mut fault = Fault::expected("a collection", v.type_phrase());
        if matches!(v, Value::Closure(_) | Value::Builtin(_) | Value::Tool(_)) {
            fault = fault.hint("the arguments may be swapped: the function comes before the collection");
        }
        fault.into()
    }
}

#[inline]
fn range_item(start: i64, step: i64, i: i64) -> Value {
    // Between start and end, so the true result fits even where the product wraps.
    Value::Int(start.wrapping_add(step.wrapping_mul(i)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::StopKind;
    use ptc_bytecode::Code;

    fn ints(heap: &mut Heap, v: Value) -> Vec<i64> {
        let seq = heap.iter_start(v).unwrap();
        let mut cursor = 0;
        let mut found = Vec::new();
        while let Some((item, next)) = heap.iter_next(seq, cursor).unwrap() {
            let Value::Int(n) = item else { panic!("{item:?}") };
            found.push(n);
            cursor = next;
        }
        found
    }

    #[test]
    fn ranges_count_right() {
        let mut heap = Heap::unbounded();
        for (start, end, step) in
            [(0, 5, 1), (0, 5, 2), (5, 0, -1), (5, 0, -2), (0, 0, 1), (3, 1, 1), (1, 3, -1), (-3, 4, 3)]
        {
            let v = heap.new_range(start, end, step).unwrap();
            let model: Vec<i64> = std::iter::successors(Some(start), |n| Some(n + step))
                .take_while(|n| if step > 0 { *n < end } else { *n > end })
                .collect();
            assert_eq!(ints(&mut heap, v), model, "{start} {end} {step}");
            assert_eq!(heap.count(v).unwrap(), model.len());
            let part = heap.slice(v, 1, 3).unwrap();
            let wanted: Vec<i64> = model.iter().copied().skip(1).take(2).collect();
            assert_eq!(ints(&mut heap, part), wanted);
            let vector = heap.to_vector(v).unwrap();
            assert_eq!(ints(&mut heap, vector), model);
        }
        let all = heap.new_range(i64::MIN, i64::MAX, 1).unwrap();
        let Value::Range(r) = all else { panic!() };
        assert_eq!(heap.range_parts(r).2, u64::MAX);
        let last = heap.nth(all, usize::MAX - 1).unwrap();
        assert!(matches!(last, Some(Value::Int(n)) if n == i64::MAX - 1));
    }

    #[test]
    fn a_huge_range_is_not_written_down() {
        let mut heap = Heap::with_limit(1_000_000);
        let v = heap.new_range(0, 1 << 40, 1).unwrap();
        assert!(matches!(heap.to_vector(v).unwrap_err().into_kind(), StopKind::Room { .. }));
        assert!(matches!(heap.to_vec(v).unwrap_err().into_kind(), StopKind::Room { .. }));
    }

    #[test]
    fn entries_are_pairs_and_others_fault() {
        let mut heap = Heap::unbounded();
        let map = heap.new_map(&[Value::Int(1), Value::Int(2)]).unwrap();
        let Value::Vector(pair) = heap.first(map).unwrap() else { panic!() };
        assert_eq!(heap.vec_len(pair), 2);
        let nothing = heap.first(Value::Nil).unwrap();
        assert!(matches!(nothing, Value::Nil));
        match heap.iter_start(Value::Int(1)).unwrap_err().into_kind() {
            StopKind::Fault(fault) => {
                assert_eq!(fault.code(), Code::TypeError);
                assert_eq!(fault.parts().message, "expected a collection, got a number");
            }
            other => panic!("{other:?}"),
        }
    }
}
