//! Builders: vectors under construction. The function that makes one is the only one to hold it, so it is written in
//! place, and becomes a vector by changing its head.

use ptc_bytecode::Code;

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::{Ref, Two, Value};

const FIRST_CAP: usize = 4;

impl Heap {
    /// Makes an empty builder.
    pub fn new_builder(&mut self) -> Result<Value, Stop> {
        self.room(1 + FIRST_CAP, 0)?;
        let head = Value::BuilderHead(Two::new(0, FIRST_CAP as u32));
        Ok(Value::Builder(self.push_object(head, &[Value::Nil; FIRST_CAP])))
    }

    /// Appends an item; returns the builder, which may have moved.
    pub fn builder_push(&mut self, mut builder: Value, item: Value) -> Result<Value, Stop> {
        self.builder_add(&mut builder, item)?;
        Ok(builder)
    }

    /// Appends an item, and updates the builder if it moves. Faster than [`Heap::builder_push`].
    #[inline]
    pub(crate) fn builder_add(&mut self, builder: &mut Value, item: Value) -> Result<(), Stop> {
        if let Value::Builder(r) = *builder
            && r.space() == 0
            && let Some(Value::BuilderHead(counts)) = self.own.cells.get_mut(r.at() as usize)
            && let (len, cap) = counts.get()
            && len < cap
        {
            let place = r.at() as usize + 1 + len as usize;
            *counts = Two::new(len + 1, cap);
            self.own.cells[place] = item;
            return Ok(());
        }
        *builder = self.push_grown(*builder, item)?;
        Ok(())
    }

    #[inline(never)]
    fn push_grown(&mut self, builder: Value, item: Value) -> Result<Value, Stop> {
        let (r, len) = self.builder_parts(builder)?;
        let cap = (len * 2).max(FIRST_CAP);
        let at = r.at() as usize;
        if at + 1 + len == self.own.cells.len() {
            // Last object of the arena: grow in place.
            self.room(cap - len, 0)?;
            self.own.cells.resize(at + 1 + cap, Value::Nil);
            self.own.cells[at] = Value::BuilderHead(Two::new(len as u32 + 1, cap as u32));
            self.own.cells[at + 1 + len] = item;
            return Ok(builder);
        }
        self.room(1 + cap, 0)?;
        let new = self.push_head(Value::BuilderHead(Two::new(len as u32 + 1, cap as u32)));
        self.own.cells.extend_from_within(at + 1..at + 1 + len);
        self.own.cells.push(item);
        self.own.cells.resize(new.at() as usize + 1 + cap, Value::Nil);
        Ok(Value::Builder(new))
    }

    /// Returns an unfinished builder and its number of items. Anything else is a bug of the compiler that verified
    /// code may still contain.
    fn builder_parts(&self, builder: Value) -> Result<(Ref, usize), Stop> {
        if let Value::Builder(r) = builder
            && r.space() == 0
            && let Value::BuilderHead(counts) = self.own.cells[r.at() as usize]
        {
            return Ok((r, counts.get().0 as usize));
        }
        Err(Fault::new(Code::BadInstruction, "a builder was used after it was built").into())
    }

    /// Turns the items into a vector and uses up the builder.
    pub fn builder_vector(&mut self, builder: Value) -> Result<Value, Stop> {
        let (r, len) = self.builder_parts(builder)?;
        let at = r.at() as usize;
        if let Value::BuilderHead(counts) = self.own.cells[at]
            && at + 1 + counts.get().1 as usize == self.own.cells.len()
        {
            self.own.cells.truncate(at + 1 + len);
        }
        self.own.cells[at] = Value::FlatHead { len: len as u64 };
        Ok(Value::Vector(r))
    }

    /// Turns the items, keys and values in turn, into a map and uses up the builder.
    pub fn builder_map(&mut self, builder: Value) -> Result<Value, Stop> {
        let (r, len) = self.builder_parts(builder)?;
        let items = self.raw(r, 0, len).to_vec();
        self.new_map(&items)
    }

    /// Turns the items into a set and uses up the builder.
    pub fn builder_set(&mut self, builder: Value) -> Result<Value, Stop> {
        let (r, len) = self.builder_parts(builder)?;
        let items = self.raw(r, 0, len).to_vec();
        self.new_set(&items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builders_grow_in_place_and_elsewhere() {
        let mut heap = Heap::unbounded();
        for noise in [false, true] {
            let mut b = heap.new_builder().unwrap();
            for i in 0..1000 {
                b = heap.builder_push(b, Value::Int(i)).unwrap();
                if noise {
                    heap.new_str("something behind it").unwrap();
                }
            }
            let before = heap.live_cells();
            let Value::Vector(r) = heap.builder_vector(b).unwrap() else { panic!() };
            assert_eq!(heap.vec_len(r), 1000);
            assert!(matches!(heap.vec_get(r, 999), Some(Value::Int(999))));
            assert!(heap.live_cells() <= before);
            assert!(heap.builder_push(b, Value::Nil).is_err());
        }
    }

    #[test]
    fn builders_become_maps_and_sets() {
        let mut heap = Heap::unbounded();
        let mut b = heap.new_builder().unwrap();
        for n in [1, 10, 2, 20, 1, 30] {
            b = heap.builder_push(b, Value::Int(n)).unwrap();
        }
        let Value::Map(m) = heap.builder_map(b).unwrap() else { panic!() };
        assert!(matches!(heap.map_get(m, Value::Int(1)), Some(Value::Int(30))));
        assert_eq!(heap.map_len(m), 2);
        let Value::Set(s) = heap.builder_set(b).unwrap() else { panic!() };
        assert_eq!(heap.set_len(s), 5);
    }
}
