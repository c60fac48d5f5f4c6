//! Collecting.
use crate::heap::Heap;
use crate::value::Value;
/// A collection in progress.
pub struct Collector<'h> {
    heap: &'h mut Heap,
}
impl Heap {
    /// Begins a collection: show every root to the collector, then finish it.
    pub fn collect(&mut self) -> Collector<'_> {
        Collector { heap: self }
    }
}
impl Collector<'_> {
    /// Keeps what `root` refers to and updates it.
    pub fn root(&mut self, _root: &mut Value) {
        todo!()
    }
    /// Keeps all of these.
    pub fn roots(&mut self, roots: &mut [Value]) {
        roots.iter_mut().for_each(|root| self.root(root));
    }
    /// Copies what the roots lead to and forgets the rest.
    pub fn finish(self) {
        let _ = &self.heap;
        todo!()
    }
}
