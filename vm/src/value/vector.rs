//! Vectors have three forms: flat (built whole, or short), a trie with a tail (what adding to or
//! changing a longer one gives, see `trie`), and a part of one of those (what `rest` gives).

use crate::fault::Stop;
use crate::heap::Heap;
use crate::value::{Ref, Two, Value};

/// Up to this length, changes copy the whole vector.
const FLAT_MAX: usize = 32;

impl Heap {
    /// Returns the number of items.
    #[inline]
    pub fn vec_len(&self, r: Ref) -> usize {
        match self.head(r) {
            Value::FlatHead { len } => len as usize,
            Value::TrieHead(parts) | Value::SliceHead(parts) => parts.get().0 as usize,
            _ => 0, // heads are trusted
        }
    }

    /// Returns the item at `i`.
    #[inline]
    pub fn vec_get(&self, r: Ref, i: usize) -> Option<Value> {
        match self.vec_at(r, i, Value::Gone) {
            Value::Gone => None,
            item => Some(item),
        }
    }

    /// Returns the item at `i`, or `default`. Faster than [`Heap::vec_get`], since an optional value is moved in
    /// two pieces.
    #[inline]
    pub(crate) fn vec_at(&self, r: Ref, i: usize, default: Value) -> Value {
        match self.flat_item(r, i) {
            Some(cell) => self.import(r.space(), *cell),
            None => self.other_item(r, i, default),
        }
    }

    /// The cell of the item at `i` of a flat vector; None if there is none, or the vector is another kind.
    /// As it is stored, since a reference fits a register.
    #[inline]
    pub(crate) fn flat_item(&self, r: Ref, i: usize) -> Option<&Value> {
        let cells = &self.space(r.space()).cells[..];
        let at = r.at() as usize;
        match cells.get(at) {
            Some(Value::FlatHead { len }) if (i as u64) < *len => cells.get(at + 1 + i),
            _ => None,
        }
    }

    /// Returns all items of a flat vector, as they are stored.
    #[inline]
    pub(crate) fn flat_items(&self, r: Ref) -> Option<&[Value]> {
        let cells = self.space(r.space()).cells.get(r.at() as usize..)?;
        match cells {
            [Value::FlatHead { len }, items @ ..] => items.get(..*len as usize),
            _ => None,
        }
    }

    #[inline(never)]
    pub(crate) fn other_item(&self, r: Ref, i: usize, default: Value) -> Value {
        match self.head(r) {
            Value::FlatHead { len } if i < len as usize => self.field(r, i),
            Value::FlatHead { .. } => default,
            head => self.deep_get(r, head, i).unwrap_or(default),
        }
    }

    fn deep_get(&self, r: Ref, head: Value, i: usize) -> Option<Value> {
        match head {
            Value::TrieHead(parts) if i < parts.get().0 as usize => {
                let (len, shift) = parts.get();
                let leaf = self.trie_leaf(r, len as usize, shift, i);
                Some(self.field(leaf, i % super::trie::WIDTH))
            }
            Value::SliceHead(parts) if i < parts.get().0 as usize => {
                self.vec_get(self.child(r, 0)?, parts.get().1 as usize + i)
            }
            _ => None,
        }
    }

    /// Returns the contiguous items from `i` on, and the space they are relative to: pass each through
    /// `import(space, item)`. Empty past the end.
    pub fn vec_chunk(&self, r: Ref, i: usize) -> (&[Value], u32) {
        match self.head(r) {
            Value::FlatHead { len } if i < len as usize => (self.raw(r, i, len as usize - i), r.space()),
            Value::TrieHead(parts) if i < parts.get().0 as usize => {
                let (len, shift) = parts.get();
                let leaf = self.trie_leaf(r, len as usize, shift, i);
                let from = i % super::trie::WIDTH;
                let n = (super::trie::WIDTH - from).min(len as usize - i);
                (self.raw(leaf, from, n), leaf.space())
            }
            Value::SliceHead(parts) if i < parts.get().0 as usize => match self.child(r, 0) {
                Some(whole) => {
                    let (len, start) = parts.get();
                    let (items, space) = self.vec_chunk(whole, start as usize + i);
                    (&items[..items.len().min(len as usize - i)], space)
                }
                None => (&[], 0),
            },
            _ => (&[], 0),
        }
    }

    /// Returns all items.
    pub fn vec_items(&self, r: Ref) -> Vec<Value> {
        let mut items = Vec::with_capacity(self.vec_len(r));
        loop {
            let (chunk, space) = self.vec_chunk(r, items.len());
            if chunk.is_empty() {
                return items;
            }
            if space == 0 {
                items.extend_from_slice(chunk);
            } else {
                items.extend(chunk.iter().map(|item| self.rebase(space, *item)));
            }
        }
    }

    /// Makes a vector of these items.
    #[inline]
    pub fn new_vec(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if items.is_empty() {
            return Ok(self.empty_vec());
        }
        self.room(1 + items.len(), 0)?;
        Ok(Value::Vector(self.push_object(Value::FlatHead { len: items.len() as u64 }, items)))
    }

    /// Appends `item`.
    pub fn vec_conj(&mut self, r: Ref, item: Value) -> Result<Value, Stop> {
        match self.head(r) {
            Value::TrieHead(parts) => {
                let (len, shift) = parts.get();
                self.room(self.trie_push_cells(shift), 0)?;
                Ok(Value::Vector(self.trie_push(r, len as usize, shift, &[item])))
            }
            Value::SliceHead(parts) if parts.get().0 as usize >= FLAT_MAX => {
                let (len, start) = parts.get();
                self.slice_conj(r, start, len, item)
            }
            _ => {
                let len = self.vec_len(r);
                if len < FLAT_MAX {
                    self.room(2 + len, 0)?;
                    let new = self.push_head(Value::FlatHead { len: len as u64 + 1 });
                    self.push_items(r, 0, len);
                    self.own.cells.push(item);
                    return Ok(Value::Vector(new));
                }
                self.copy_to_trie(len + 1, |heap, i| if i < len { heap.vec_get(r, i) } else { Some(item) })
            }
        }
    }

    /// Appends to a slice. Appending to the end slice of a trie appends to the trie: a queue (`rest`, then `conj`)
    /// stays fast.
    fn slice_conj(&mut self, r: Ref, start: u32, len: u32, item: Value) -> Result<Value, Stop> {
        if let Some(whole) = self.child(r, 0)
            && let Value::TrieHead(parts) = self.head(whole)
            && let (whole_len, shift) = parts.get()
            && start + len == whole_len
        {
            self.room(2 + self.trie_push_cells(shift), 0)?;
            let whole = self.trie_push(whole, whole_len as usize, shift, &[item]);
            let head = Value::SliceHead(Two::new(len + 1, start));
            return Ok(Value::Vector(self.push_object(head, &[Value::Vector(whole)])));
        }
        let len = len as usize;
        self.copy_to_trie(len + 1, |heap, i| if i < len { heap.vec_get(r, i) } else { Some(item) })
    }

    /// Replaces the item at `i`; at the length, appends. None beyond.
    pub(crate) fn vec_assoc(&mut self, r: Ref, i: usize, item: Value) -> Result<Option<Value>, Stop> {
        let len = self.vec_len(r);
        if i >= len {
            return if i == len { self.vec_conj(r, item).map(Some) } else { Ok(None) };
        }
        if let Value::TrieHead(parts) = self.head(r) {
            let (_, shift) = parts.get();
            self.room(self.trie_push_cells(shift), 0)?;
            return Ok(Some(Value::Vector(self.trie_set(r, len, shift, i, &[item]))));
        }
        if len <= FLAT_MAX {
            self.room(1 + len, 0)?;
            let new = self.push_head(Value::FlatHead { len: len as u64 });
            self.push_items(r, 0, len);
            self.own.cells[new.at() as usize + 1 + i] = item;
            return Ok(Some(Value::Vector(new)));
        }
        self.copy_to_trie(len, |heap, at| if at == i { Some(item) } else { heap.vec_get(r, at) }).map(Some)
    }

    /// Rewrites a long vector as a trie, which can be changed at little cost from then on.
    fn copy_to_trie(
        &mut self,
        len: usize,
        get: impl Fn(&Heap, usize) -> Option<Value>,
    ) -> Result<Value, Stop> {
        self.charge(len);
        self.look()?;
        self.room(super::trie::trie_cells(len), 0)?;
        Ok(Value::Vector(self.build_trie(len, |heap, i| get(heap, i).unwrap_or(Value::Nil))))
    }

    /// Makes a vector of these items as a trie, the form of long ones that were extended.
    pub(crate) fn new_trie(&mut self, items: &[Value]) -> Result<Value, Stop> {
        if items.is_empty() {
            return Ok(self.empty_vec());
        }
        self.copy_to_trie(items.len(), |_, i| items.get(i).copied())
    }

    /// Returns items `from..to`, clamped to the length.
    ///
    /// A slice at least half as long as the whole shares it, so repeated `rest` copies each item about once, and no
    /// slice keeps more than twice its size alive.
    pub(crate) fn vec_slice(&mut self, r: Ref, from: usize, to: usize) -> Result<Value, Stop> {
        let len = self.vec_len(r);
        let to = to.min(len);
        let from = from.min(to);
        let n = to - from;
        if n == len {
            return Ok(Value::Vector(r));
        }
        if n == 0 {
            return Ok(self.empty_vec());
        }
        let (whole, start) = match self.head(r) {
            Value::SliceHead(parts) => (self.child(r, 0).unwrap_or(r), parts.get().1 as usize + from),
            _ => (r, from),
        };
        if n > FLAT_MAX && 2 * n >= self.vec_len(whole) {
            self.room(2, 0)?;
            let head = Value::SliceHead(Two::new(n as u32, start as u32));
            return Ok(Value::Vector(self.push_object(head, &[Value::Vector(whole)])));
        }
        self.room(1 + n, 0)?;
        let new = self.push_head(Value::FlatHead { len: n as u64 });
        self.push_items(whole, start, n);
        Ok(Value::Vector(new))
    }

    /// Removes the last item; None if the vector is empty.
    pub fn vec_pop(&mut self, r: Ref) -> Result<Option<Value>, Stop> {
        match self.head(r) {
            Value::TrieHead(parts) if parts.get().0 > 1 => {
                let (len, shift) = parts.get();
                self.room(self.trie_push_cells(shift), 0)?;
                Ok(Some(Value::Vector(self.trie_pop(r, len as usize, shift))))
            }
            _ => match self.vec_len(r) {
                0 => Ok(None),
                len => self.vec_slice(r, 0, len - 1).map(Some),
            },
        }
    }

    /// Pushes `n` items of a vector from the `i`-th as payload of the object being written.
    pub(crate) fn push_items(&mut self, r: Ref, i: usize, n: usize) {
        let mut done = 0;
        while done < n {
            let (chunk, space) = self.vec_chunk(r, i + done);
            let count = chunk.len().min(n - done);
            if count == 0 {
                return;
            }
            if space == 0 {
                // Index in the own arena, which cannot be borrowed while pushing.
                let start = self.chunk_start(r, i + done);
                self.own.cells.extend_from_within(start..start + count);
            } else {
                for at in 0..count {
                    let item = self.vec_get(r, i + done + at).unwrap_or(Value::Nil);
                    self.own.cells.push(item);
                }
            }
            done += count;
        }
    }

    /// Returns the index of the cell of item `i` of a vector whose items are in the own arena.
    fn chunk_start(&self, r: Ref, i: usize) -> usize {
        match self.head(r) {
            Value::TrieHead(parts) => {
                let (len, shift) = parts.get();
                self.trie_leaf(r, len as usize, shift, i).at() as usize + 1 + i % super::trie::WIDTH
            }
            Value::SliceHead(parts) => {
                self.child(r, 0).map_or(0, |whole| self.chunk_start(whole, parts.get().1 as usize + i))
            }
            _ => r.at() as usize + 1 + i,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ints(heap: &Heap, v: Value) -> Vec<i64> {
        let r = v.reference().unwrap();
        let by_get: Vec<i64> = (0..heap.vec_len(r))
            .map(|i| match heap.vec_get(r, i) {
                Some(Value::Int(n)) => n,
                other => panic!("{other:?}"),
            })
            .collect();
        let by_chunk: Vec<i64> = heap
            .vec_items(r)
            .into_iter()
            .map(|v| match v {
                Value::Int(n) => n,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(by_get, by_chunk);
        assert!(heap.vec_get(r, by_get.len()).is_none());
        by_get
    }

    #[test]
    fn conj_in_a_loop_keeps_every_version() {
        let mut heap = Heap::unbounded();
        let mut v = heap.empty_vec();
        let mut versions = Vec::new();
        for i in 0..5000 {
            v = heap.vec_conj(v.reference().unwrap(), Value::Int(i)).unwrap();
            if i % 97 == 0 {
                versions.push((v, i + 1));
            }
        }
        for (v, len) in versions {
            assert_eq!(ints(&heap, v), (0..len).collect::<Vec<_>>());
            // A second branch from an old version must not be seen by the newer ones.
            let w = heap.vec_conj(v.reference().unwrap(), Value::Int(-1)).unwrap();
            assert_eq!(ints(&heap, w).last(), Some(&-1));
        }
        assert_eq!(ints(&heap, v), (0..5000).collect::<Vec<_>>());
    }

    #[test]
    fn a_queue_is_linear() {
        let mut heap = Heap::unbounded();
        let start: Vec<Value> = (0..1000).map(Value::Int).collect();
        let mut q = heap.new_vec(&start).unwrap();
        for i in 1000..21_000 {
            let r = q.reference().unwrap();
            let len = heap.vec_len(r);
            q = heap.vec_slice(r, 1, len).unwrap();
            q = heap.vec_conj(q.reference().unwrap(), Value::Int(i)).unwrap();
        }
        assert_eq!(ints(&heap, q), (20_000..21_000).collect::<Vec<_>>());
        assert!(heap.live_cells() < 20_000 * 20, "{}", heap.live_cells());
    }

    #[derive(Debug, Clone)]
    enum Step {
        Conj(i64),
        Assoc(usize, i64),
        Pop,
        Slice(usize, usize),
        Back(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => any::<i64>().prop_map(Step::Conj),
            3 => (0usize..400, any::<i64>()).prop_map(|(i, n)| Step::Assoc(i, n)),
            2 => Just(Step::Pop),
            1 => (0usize..40, 0usize..400).prop_map(|(a, b)| Step::Slice(a, b)),
            1 => (0usize..1000).prop_map(Step::Back),
        ];
        prop::collection::vec(step, 0..300)
    }

    proptest! {
        #[test]
        fn vectors_are_vecs(start in 0usize..300, steps in steps()) {
            let mut heap = Heap::unbounded();
            let items: Vec<i64> = (0..start as i64).collect();
            let values: Vec<Value> = items.iter().copied().map(Value::Int).collect();
            let mut versions = vec![(heap.new_vec(&values).unwrap(), items)];
            for step in steps {
                let (v, mut model) = versions.last().cloned().unwrap();
                let r = v.reference().unwrap();
                let v = match step {
                    Step::Conj(n) => { model.push(n); heap.vec_conj(r, Value::Int(n)).unwrap() }
                    Step::Assoc(i, n) if i < model.len() => {
                        model[i] = n;
                        heap.vec_assoc(r, i, Value::Int(n)).unwrap().unwrap()
                    }
                    Step::Assoc(..) => continue,
                    Step::Pop => {
                        if model.pop().is_none() {
                            prop_assert!(heap.vec_pop(r).unwrap().is_none());
                            continue;
                        }
                        heap.vec_pop(r).unwrap().unwrap()
                    }
                    Step::Slice(from, to) => {
                        let to = to.min(model.len());
                        let from = from.min(to);
                        model = model[from..to].to_vec();
                        heap.vec_slice(r, from, to).unwrap()
                    }
                    Step::Back(n) => { versions.truncate(1 + n % versions.len()); continue }
                };
                versions.push((v, model));
            }
            for (v, model) in versions {
                prop_assert_eq!(ints(&heap, v), model);
            }
        }
    }
}
