//! The memory of a run: its own arena, and the frozen spaces it may read.
//!
//! An arena is a `Vec` of cells and a `String`; allocating is pushing, and nothing in it needs dropping. Objects refer
//! to each other by [`Ref`], relative to the space the reference is stored in: space 0 is that space itself, `j` is its
//! `deps[j - 1]`. A run numbers all spaces it has attached; reading a reference out of a frozen space rebases it to
//! those numbers.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use ptc_bytecode::{Code, Function, HashSecret, KeyedState, Limits};

use crate::fault::{Fault, Stop};
use crate::link::Module;
use crate::lot_table::Lots;
use crate::value::{CELL_BYTES, Ref, Value, base_objects};
use crate::watch::Watch;
use crate::work::Charges;

/// Bytes of garbage below which collecting is not worth it.
const MIN_THRESHOLD: usize = 1 << 20;

/// Maximum bytes of an arena, since cells and text are addressed by 32 bits.
const MAX_BYTES: usize = u32::MAX as usize;

/// Bytes from which comparing and hashing a text has a price; the instruction pays for shorter ones.
pub(crate) const LONG_TEXT: usize = 1 << 9;

/// Bytes of text or other contiguous data per step.
pub const STEP_BYTES: usize = 64;

/// An arena. Once behind an `Arc` it is frozen: many runs may read it at once.
#[derive(Default)]
pub(crate) struct Space {
    pub(crate) cells: Vec<Value>,
    pub(crate) text: String,
    pub(crate) deps: Vec<Arc<Space>>,
    pub(crate) modules: Vec<Arc<Module>>,
    /// True if any of its values may be veiled.
    pub(crate) veils: bool,
    /// True if any of its values may be unknown: see `value/unknown.rs`.
    pub(crate) unknowns: bool,
    /// True if it was made behind the firewall, so that nothing in it is left to be veiled.
    pub(crate) sealed: bool,
    /// True if any text in it begins like a firewalled name; computed on first use.
    pub(crate) names: OnceLock<bool>,
}

impl Space {
    /// True if nothing in it is left to be veiled: it was made behind the firewall, or has no text that begins like
    /// a firewalled name.
    pub(crate) fn is_sealed(&self) -> bool {
        let is_open = |space: &Space| !space.sealed && space.has_firewalled_text();
        let mut todo: Vec<&Space> = vec![self];
        while let Some(space) = todo.pop() {
            if is_open(space) {
                return false;
            }
            if !space.sealed {
                todo.extend(space.deps.iter().map(|dep| &**dep));
            }
        }
        true
    }

    fn has_firewalled_text(&self) -> bool {
        let is_firewalled = |cell: &Value| match cell {
            Value::TextHead(parts) | Value::PlainHead(parts) => {
                let (len, from) = parts.get();
                len > 0 && self.text.as_bytes().get(from as usize) == Some(&b'_')
            }
            // All strings of one character are those of the base.
            Value::Str(r) => r.at() == 1 + u32::from(b'_') && self.is_base(r.space()),
            _ => false,
        };
        *self.names.get_or_init(|| self.cells.iter().any(is_firewalled))
    }

    fn is_base(&self, dep: u32) -> bool {
        let dep = (dep as usize).checked_sub(1).and_then(|dep| self.deps.get(dep));
        dep.is_some_and(|dep| Arc::ptr_eq(dep, Space::base()))
    }

    /// True if a veil may be among its values; own arenas are not asked, since they learn that as they run.
    pub(crate) fn veils_or_own(&self, is_own: bool) -> bool {
        is_own || self.veils
    }

    /// Returns the bytes of memory it counts for, without its dependencies.
    pub(crate) fn bytes(&self) -> usize {
        self.cells.len() * CELL_BYTES + self.text.len()
    }

    /// Returns the space every heap has attached as number 1: the empty collections and the one-character ASCII
    /// strings, so that splitting text makes no objects.
    pub(crate) fn base() -> &'static Arc<Space> {
        static BASE: LazyLock<Arc<Space>> = LazyLock::new(|| {
            let (cells, text) = base_objects();
            // Its `_` is not a field name.
            Arc::new(Space { cells, text, sealed: true, ..Space::default() })
        });
        &BASE
    }
}

/// A frozen space as one run sees it.
pub(crate) struct Attached {
    pub(crate) space: Arc<Space>,
    /// Run-level numbers of `space.deps`.
    pub(crate) spaces: Vec<u32>,
    /// Run-level numbers of `space.modules`.
    pub(crate) modules: Vec<u32>,
}

/// Number of attached spaces that are searched as quickly as a place is hashed; most runs have no more.
const FEW_SPACES: usize = 8;

/// One run's view of its memory.
pub struct Heap {
    pub(crate) own: Space,
    /// Target of the collector; empty between collections.
    pub(crate) spare: Space,
    pub(crate) attached: Vec<Attached>,
    /// Numbers of attached spaces beyond the first [`FEW_SPACES`], by address.
    known: HashMap<usize, u32, KeyedState>,
    /// Numbers of released spaces, for reuse.
    free: Vec<u32>,
    pub(crate) lots: Lots,
    /// Bytes in the own arena at which to collect.
    threshold: usize,
    /// Minimum of the threshold, unless the limit is lower.
    floor: usize,
    limit: usize,
    /// In a branch: bytes held by its parents. The limit comes on top.
    above: usize,
    collections: u64,
    pub(crate) shapes: crate::value::ShapeCache,
    pub(crate) key_cache: crate::value::KeyCache,
    pub(crate) watched: Option<Box<crate::watched::Watched>>,
    /// Modules of the run by number, to print closures with their parameters.
    code: Vec<Arc<Module>>,
    watch: Option<Arc<dyn Watch>>,
    pub(crate) charges: Charges,
    pub(crate) secret: &'static HashSecret,
    /// True if values that enter maps under firewalled names are veiled.
    pub(crate) firewall: bool,
    /// True if any value may be veiled.
    pub(crate) veils: bool,
    /// True if any value may be unknown.
    pub(crate) unknowns: bool,
    /// True if either of the two is, for constructors of maps and sets.
    pub(crate) guarded: bool,
    /// True unless a test compares with a run that never changes a collection in place.
    pub(crate) in_place: bool,
    /// True once a register may own a collection.
    pub(crate) owns: bool,
    /// Cells that may be copied at no price, to change what is copied in place.
    pub(crate) credit: usize,
}

impl Heap {
    /// Makes an empty heap that may hold `limits.memory_bytes` of live data.
    pub fn new(limits: &Limits) -> Heap {
        Heap::with_limit(limits.memory_bytes)
    }

    /// Makes an empty heap as large as references allow: for granted data and constants, which have limits of their
    /// own.
    pub fn unbounded() -> Heap {
        let mut heap = Heap::with_limit(u64::MAX);
        heap.floor = heap.limit;
        heap.threshold = heap.limit;
        heap
    }

    /// Makes an empty heap that may hold `limit` bytes of live data.
    pub fn with_limit(limit: u64) -> Heap {
        let mut heap = Heap {
            own: Space::default(),
            spare: Space::default(),
            attached: Vec::new(),
            known: HashMap::default(),
            free: Vec::new(),
            lots: Lots::default(),
            threshold: 0,
            floor: MIN_THRESHOLD,
            limit: 0,
            above: 0,
            collections: 0,
            shapes: Default::default(),
            key_cache: Default::default(),
            watched: None,
            code: Vec::new(),
            watch: None,
            charges: Charges::default(),
            secret: HashSecret::of_process(),
            firewall: false,
            veils: false,
            unknowns: false,
            guarded: false,
            in_place: true,
            owns: false,
            credit: 0,
        };
        heap.set_limit(limit);
        heap.attach(Space::base().clone(), &mut Vec::new());
        heap
    }

    /// Makes an empty heap for a branch of a run that has this one and lends `lent` bytes.
    pub(crate) fn of_branch(&self, lent: usize) -> Heap {
        let mut heap = Heap::with_limit(0);
        heap.limit_as_branch(self, lent);
        heap
    }

    /// Sets the maximum live bytes in a branch of a run that has `parent` and lends `lent` bytes.
    pub(crate) fn limit_as_branch(&mut self, parent: &Heap, lent: usize) {
        self.above = parent.above.saturating_add(lent);
        self.set_limit(parent.limit().saturating_sub(lent as u64));
    }

    /// Drops all values and attached spaces but keeps the memory for the next run.
    pub fn reset(&mut self, limit: u64) {
        self.own.cells.clear();
        self.own.text.clear();
        self.attached.truncate(1);
        self.known.clear();
        self.free.clear();
        self.forget_lots();
        self.shapes.clear();
        self.key_cache.clear();
        self.code.clear();
        (self.veils, self.unknowns) = (false, false);
        (self.owns, self.credit) = (false, 0);
        self.set_firewall(false);
        self.set_limit(limit);
    }

    /// Drops all values and the replies received with them, and keeps other attached spaces: the same program runs
    /// again.
    pub(crate) fn empty(&mut self) {
        self.drop_lots();
        self.own.cells.clear();
        self.own.text.clear();
        self.shapes.clear();
        self.key_cache.forget_own();
        self.set_threshold(0);
    }

    /// Sets the host's watch on the run.
    pub(crate) fn set_watch(&mut self, watch: Option<Arc<dyn Watch>>) {
        self.watch = watch;
    }

    pub(crate) fn watch(&self) -> Option<&Arc<dyn Watch>> {
        self.watch.as_ref()
    }

    /// Registers the code its closures run; modules known already keep their numbers.
    pub(crate) fn know_code(&mut self, modules: &[Arc<Module>]) {
        self.code.extend(modules.iter().skip(self.code.len()).cloned());
    }

    /// Returns the modules of the run by number.
    pub(crate) fn code(&self) -> &[Arc<Module>] {
        &self.code
    }

    /// Returns the function a closure runs, unless it is in the core library or its module is not registered.
    pub fn closure_function(&self, r: Ref) -> Option<&Function> {
        let (module, function) = self.closure_code(r);
        self.code.get(module as usize).filter(|_| module != 0).map(|module| module.function(function))
    }

    /// Sets the maximum live bytes.
    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.limit = usize::try_from(limit).unwrap_or(MAX_BYTES).min(MAX_BYTES);
        self.set_threshold(0);
    }

    fn set_threshold(&mut self, wanted: usize) {
        self.threshold = self.floor.max(self.used() * 2).max(wanted).min(self.limit);
    }

    /// Returns the maximum live bytes.
    pub fn limit(&self) -> u64 {
        self.limit as u64
    }

    /// Returns the bytes in the own arena, garbage included.
    #[inline]
    pub fn used(&self) -> usize {
        self.own.cells.len() * CELL_BYTES + self.own.text.len()
    }

    /// Returns the cells in the own arena; right after a collection they are all live.
    pub fn live_cells(&self) -> usize {
        self.own.cells.len()
    }

    /// Returns the bytes of text in the own arena; right after a collection they are all live.
    pub fn live_text(&self) -> usize {
        self.own.text.len()
    }

    /// Returns the number of collections so far. Own references are only stable between collections, so caches of
    /// them store this number.
    pub fn collections(&self) -> u64 {
        self.collections
    }

    /// Checks that `cells` cells and `text` bytes may be appended without collecting first. Operations reserve
    /// everything they will need at once, before they change anything.
    #[inline]
    pub fn room(&self, cells: usize, text: usize) -> Result<(), Stop> {
        let wanted = cells.saturating_mul(CELL_BYTES).saturating_add(text);
        if self.used().saturating_add(wanted) <= self.threshold {
            Ok(())
        } else {
            Err(Stop::room(cells, text))
        }
    }

    /// Handles a request of [`StopKind::Room`](crate::StopKind::Room) after a collection: allows that much, or
    /// faults `memory_exceeded`. As the threshold never exceeds the limit, a fault does not depend on when garbage
    /// was collected.
    pub fn collected_for(&mut self, cells: usize, text: usize) -> Result<(), Fault> {
        let live = self.used();
        let wanted = live.saturating_add(cells.saturating_mul(CELL_BYTES)).saturating_add(text);
        if wanted > self.limit {
            return Err(self.exceeded(cells, text));
        }
        self.set_threshold(wanted);
        Ok(())
    }

    /// Makes the fault of a run whose live data and request do not fit.
    pub(crate) fn exceeded(&self, cells: usize, text: usize) -> Fault {
        let wanted = self.used().saturating_add(cells.saturating_mul(CELL_BYTES)).saturating_add(text);
        // Readers know the limit of the whole run.
        let (wanted, limit) = (wanted.saturating_add(self.above), self.limit.saturating_add(self.above));
        // The requested size may be a firewalled number, as in `(repeat n x)`.
        let live = if self.veils { String::new() } else { format!("{wanted} bytes, ") };
        Fault::new(
            Code::MemoryExceeded,
            format!("live data is {live}more than limits.memory_bytes = {limit}"),
        )
        .hint("keep less at a time: filter before you collect, or ask the host to raise limits.memory_bytes")
    }

    /// Lets the arena grow by this many cells before the next collection, limit permitting; false if it may already
    /// grow to its limit.
    pub(crate) fn allow(&mut self, cells: usize) -> bool {
        let grown = self.used().saturating_add(cells.saturating_mul(CELL_BYTES)).min(self.limit);
        let more = grown > self.threshold;
        self.threshold = self.threshold.max(grown);
        more
    }

    pub(crate) fn count_collection(&mut self) {
        self.collections += 1;
        self.shapes.clear();
        self.key_cache.clear();
        self.set_threshold(0);
    }

    /// Attaches a frozen space and returns its number. A space is attached once, together with the spaces it refers
    /// to, and its modules are added to `modules` unless they are there already.
    pub(crate) fn attach(&mut self, space: Arc<Space>, modules: &mut Vec<Arc<Module>>) -> u32 {
        // Dependencies first, without recursion: chains of commits may be long.
        let mut todo = vec![space.clone()];
        while let Some(next) = todo.last().cloned() {
            if self.known_as(&next).is_some() {
                todo.pop();
                continue;
            }
            let missing = todo.len();
            todo.extend(next.deps.iter().filter(|dep| self.known_as(dep).is_none()).cloned());
            if todo.len() == missing {
                todo.pop();
                let spaces = next.deps.iter().filter_map(|dep| self.known_as(dep)).collect();
                let modules = next.modules.iter().map(|module| module_id(modules, module)).collect();
                self.meet_veils(next.veils);
                self.meet_unknowns(next.unknowns);
                self.number(Attached { space: next, spaces, modules });
            }
        }
        self.known_as(&space).unwrap_or_default()
    }

    /// Gives a space a number.
    fn number(&mut self, attached: Attached) {
        let place = Arc::as_ptr(&attached.space) as usize;
        let at = match self.free.pop() {
            Some(id) => {
                self.attached[id as usize - 1] = attached;
                id as usize - 1
            }
            None => {
                self.attached.push(attached);
                self.attached.len() - 1
            }
        };
        if at >= FEW_SPACES {
            self.known.insert(place, at as u32 + 1);
        }
    }

    /// Takes the number back from a released space.
    pub(crate) fn forget_space(&mut self, space: &Arc<Space>, id: u32) {
        self.known.remove(&(Arc::as_ptr(space) as usize));
        self.free.push(id);
    }

    /// Returns the number of an attached space.
    pub(crate) fn known_as(&self, space: &Arc<Space>) -> Option<u32> {
        let first = self.attached.iter().take(FEW_SPACES);
        match first.map(|attached| &attached.space).position(|known| Arc::ptr_eq(known, space)) {
            Some(at) => Some(at as u32 + 1),
            None if self.known.is_empty() => None,
            None => self.known.get(&(Arc::as_ptr(space) as usize)).copied(),
        }
    }

    /// Returns an attached space by its number (1 or more).
    pub(crate) fn attached(&self, id: u32) -> Option<&Arc<Space>> {
        self.attached.get((id as usize).wrapping_sub(1)).map(|attached| &attached.space)
    }

    /// Returns the number of attached spaces; they are numbered from 1.
    pub fn attached_len(&self) -> u32 {
        self.attached.len() as u32
    }

    /// Converts a value stored relative to attached space `id` to a value of this run.
    #[inline]
    pub fn import(&self, id: u32, value: Value) -> Value {
        if id == 0 { value } else { self.rebase(id, value) }
    }

    /// Turns the heap into a frozen space without copying, garbage and all. Values of this heap are values of the
    /// space.
    pub(crate) fn into_space(self) -> Arc<Space> {
        self.into_space_with(&[])
    }

    /// Freezes it like [`Heap::into_space`], with closures of these modules.
    pub(crate) fn into_space_with(mut self, modules: &[Arc<Module>]) -> Arc<Space> {
        let mut space = std::mem::take(&mut self.own);
        space.cells.shrink_to_fit();
        space.text.shrink_to_fit();
        space.deps = self.attached.into_iter().map(|attached| attached.space).collect();
        space.modules = modules.to_vec();
        (space.veils, space.unknowns, space.sealed) = (self.veils, self.unknowns, self.firewall);
        Arc::new(space)
    }

    /// Releases spare memory of a resting heap.
    pub(crate) fn trim(&mut self) {
        self.spare = Space::default();
        self.own.cells.shrink_to_fit();
        self.own.text.shrink_to_fit();
        (self.shapes, self.key_cache) = Default::default();
    }

    /// Lends the own arena to parallel branches as a frozen space; this heap must not be used until [`Heap::reclaim`].
    pub(crate) fn lend(&mut self, modules: &[Arc<Module>]) -> Arc<Space> {
        let mut space = std::mem::take(&mut self.own);
        space.deps = self.attached.iter().map(|attached| attached.space.clone()).collect();
        space.modules = modules.to_vec();
        (space.veils, space.unknowns, space.sealed) = (self.veils, self.unknowns, self.firewall);
        Arc::new(space)
    }

    /// Takes a lent arena back. If a branch still holds it, it is copied.
    pub(crate) fn reclaim(&mut self, lent: Arc<Space>) {
        self.own = Arc::try_unwrap(lent).unwrap_or_else(|shared| Space {
            cells: shared.cells.clone(),
            text: shared.text.clone(),
            ..Space::default()
        });
        self.own.deps.clear();
        self.own.modules.clear();
        (self.own.veils, self.own.unknowns) = (false, false);
        (self.own.sealed, self.own.names) = (false, OnceLock::new());
    }

    // Reading objects. Heads are trusted: only the constructors of this crate make them.

    /// Returns the space with this run-level number.
    #[inline]
    pub(crate) fn space(&self, id: u32) -> &Space {
        if id == 0 { &self.own } else { &self.attached[id as usize - 1].space }
    }

    /// Returns the head of an object.
    #[inline]
    pub(crate) fn head(&self, r: Ref) -> Value {
        self.space(r.space()).cells[r.at() as usize]
    }

    /// Returns `n` payload cells from the `i`-th, as stored: relative to space `r.space()`.
    #[inline]
    pub(crate) fn raw(&self, r: Ref, i: usize, n: usize) -> &[Value] {
        let start = r.at() as usize + 1 + i;
        &self.space(r.space()).cells[start..start + n]
    }

    /// Returns the `i`-th payload cell.
    #[inline]
    pub(crate) fn field(&self, r: Ref, i: usize) -> Value {
        let cell = self.space(r.space()).cells[r.at() as usize + 1 + i];
        if r.space() == 0 { cell } else { self.rebase(r.space(), cell) }
    }

    /// Rebases a cell stored in attached space `id` to this run's numbers.
    #[inline]
    pub(crate) fn rebase(&self, id: u32, mut cell: Value) -> Value {
        if let Some(r) = cell.reference_mut() {
            *r = self.rebase_ref(id, *r);
        }
        cell
    }

    /// Rebases a reference stored in space `id` to this run's numbers.
    #[inline]
    pub(crate) fn rebase_ref(&self, id: u32, r: Ref) -> Ref {
        let space = match (id, r.space()) {
            (0, space) => space,
            (_, 0) => id,
            (_, dep) => self.attached[id as usize - 1].spaces[dep as usize - 1],
        };
        Ref::new(space, r.at())
    }

    /// Returns a value of this run as a cell of attached space `id` would hold it: [`Heap::rebase`] in reverse. The
    /// value must be in that space or in one that it refers to.
    pub(crate) fn stored_in(&self, id: u32, mut value: Value) -> Value {
        if let Some(r) = value.reference_mut() {
            let spaces = &self.attached[id as usize - 1].spaces;
            let dep = spaces.iter().position(|space| *space == r.space()).map_or(0, |at| at as u32 + 1);
            *r = Ref::new(if r.space() == id { 0 } else { dep }, r.at());
        }
        value
    }

    /// Returns the object the `i`-th payload cell refers to. Faster than `field`, as a reference fits a register.
    #[inline]
    pub(crate) fn child(&self, r: Ref, i: usize) -> Option<Ref> {
        let found = self.space(r.space()).cells[r.at() as usize + 1 + i].reference()?;
        Some(self.rebase_ref(r.space(), found))
    }

    /// Returns the run-level number of module `module` of the space of `r`.
    #[inline]
    pub(crate) fn module_of(&self, r: Ref, module: u32) -> u32 {
        match r.space() {
            0 => module,
            id => self.attached[id as usize - 1].modules.get(module as usize).copied().unwrap_or(0),
        }
    }

    // Writing objects. Callers have reserved room.

    /// Starts an object with this head; its payload is pushed next.
    #[inline]
    pub(crate) fn push_head(&mut self, head: Value) -> Ref {
        let at = self.own.cells.len();
        self.own.cells.push(head);
        Ref::own(at)
    }

    /// Pushes an object of a head and payload.
    #[inline]
    pub(crate) fn push_object(&mut self, head: Value, payload: &[Value]) -> Ref {
        let r = self.push_head(head);
        self.own.cells.extend_from_slice(payload);
        r
    }
}

fn module_id(modules: &mut Vec<Arc<Module>>, module: &Arc<Module>) -> u32 {
    let found = modules.iter().position(|known| Arc::ptr_eq(known, module));
    found.unwrap_or_else(|| {
        modules.push(module.clone());
        modules.len() - 1
    }) as u32
}
