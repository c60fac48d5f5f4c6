//! Loader of a run from untrusted bytes.

use super::graph::of_kind;
use super::image::{
    CauseImage, Charge, EndedImage, FaultImage, FrameImage, Home, Image, Machine, Obj, StateImage, Val,
};
use super::{invalid, open};
use crate::attempt::{Attempt, Attempts};
use crate::budget::{Budget, STEPS};
use crate::exec::grow_stack;
use crate::fault::{Fault, StopKind};
use crate::fork::{Answer, Branch, Fork, ForkKind};
use crate::frozen::Frozen;
use crate::heap::{Heap, Space};
use crate::link::{Library, Module};
use crate::lot_table::Peaks;
use crate::machine::{Entry, Frame, State, ToolCall, Vm, WINDOW};
use crate::value::{Ref, StateKind, TextKind, Value};
use crate::watch::Watch;
use crate::watched::{Seen, Watched};
use ptc_bytecode::{Artifact, Code, Limits, Op, code_bytes, decode, encode, lookup, verify};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Vm {
    /// Loads a run from bytes that [`Vm::snapshot`] wrote, perhaps in another process. `grants` must hold the data
    /// the run was granted, under the same names, and `preludes` the code of the preludes it uses: the preludes'
    /// code in the bytes is not trusted.
    pub fn load(
        bytes: &[u8],
        library: &Arc<Library>,
        preludes: &[Arc<Module>],
        limits: &Limits,
        watch: Option<Arc<dyn Watch>>,
        grants: &[(String, Frozen)],
    ) -> Result<Vm, Fault> {
        let body = open(bytes)?;
        let (image, rest) = postcard::take_from_bytes::<Image>(body).map_err(invalid)?;
        if !rest.is_empty() {
            return Err(invalid("it has trailing bytes"));
        }
        Loader::new(image, library, preludes, limits, watch, grants)?.load()
    }
}

/// Minimum fuel for hashing while loading, under any limit: the run did not pay for keys made by the host.
const LEAST_FUEL: u64 = 1 << 26;

/// Returns the attached prelude with this code. Only preludes have exports, and with them the right to call private
/// tools, so a module with exports must be one that the host attached.
fn attached(artifact: &Artifact, preludes: &[Arc<Module>]) -> Result<Arc<Module>, Fault> {
    let code = code_bytes(artifact);
    let found = preludes.iter().find(|module| code_bytes(module.artifact()) == code);
    found.cloned().ok_or_else(|| invalid("it holds code of a prelude that is not attached"))
}

/// Values loaded so far, by home: each machine's are numbered as that machine does.
struct Loader<'a> {
    image: Image,
    library: &'a Arc<Library>,
    limits: &'a Limits,
    watch: Option<Arc<dyn Watch>>,
    modules: Vec<Arc<Module>>,
    grants: Vec<(String, Frozen)>,
    shared: Arc<Space>,
    shared_values: Vec<Value>,
    /// Spaces of the lots, with their objects.
    lots: Vec<(Arc<Space>, Vec<Value>)>,
}

/// A machine being loaded, with the facts its branches need.
struct Loaded {
    vm: Vm,
    /// Objects of the machine, as values of its own arena.
    values: Vec<Value>,
    lent: Option<Arc<Space>>,
}

impl<'a> Loader<'a> {
    fn new(
        image: Image,
        library: &'a Arc<Library>,
        preludes: &[Arc<Module>],
        limits: &'a Limits,
        watch: Option<Arc<dyn Watch>>,
        grants: &[(String, Frozen)],
    ) -> Result<Loader<'a>, Fault> {
        if image.core != <[u8; 32]>::from(Sha256::digest(encode(library.core().artifact()))) {
            return Err(invalid("it was written with another core library; run the program again"));
        }
        let mut modules = Vec::with_capacity(image.modules.len());
        for (i, module) in image.modules.iter().enumerate() {
            modules.push(match module {
                None if i == 0 => library.core().clone(),
                Some(bytes) if i > 0 => {
                    let artifact = decode(bytes).map_err(|d| invalid(d.message))?;
                    match artifact.exports.is_empty() {
                        true => Module::link(verify(artifact).map_err(|d| invalid(d.message))?, library)?,
                        false => attached(&artifact, preludes)?,
                    }
                }
                _ => return Err(invalid("its first module, and only that, is the core library")),
            });
        }
        if !modules.iter().map(|module| module.space().fingerprint()).eq(image.consts.iter().copied()) {
            return Err(invalid("its constants are laid out in another way; run the program again"));
        }
        if image.entry == 0 || image.entry as usize >= modules.len() {
            return Err(invalid("it has no program"));
        }
        let mut granted = Vec::with_capacity(image.grants.len());
        for (name, fingerprint) in &image.grants {
            let Some((_, frozen)) = grants.iter().find(|(known, _)| known == name) else {
                return Err(invalid(format_args!("the run was granted `data/{name}`; grant it again")));
            };
            if frozen.space().fingerprint() != *fingerprint {
                return Err(invalid(format_args!("`data/{name}` is not the data the run was granted")));
            }
            granted.push((name.clone(), frozen.clone()));
        }
        Ok(Loader {
            image,
            library,
            limits,
            watch,
            modules,
            grants: granted,
            shared: Arc::default(),
            shared_values: Vec::new(),
            lots: Vec::new(),
        })
    }

    fn load(mut self) -> Result<Vm, Fault> {
        self.load_shared()?;
        self.load_lots()?;
        let machines = std::mem::take(&mut self.image.machines);
        let depth = self.limits.parallel_depth as usize;
        let mut loaded: Vec<Loaded> = Vec::with_capacity(machines.len());
        let mut parents: Vec<Option<(u32, u64)>> = Vec::with_capacity(machines.len());
        for (number, machine) in machines.into_iter().enumerate() {
            // Parents come first, so the chain of a machine is complete when it is reached.
            let chain = chain(&parents, machine.parent, number)
                .ok_or_else(|| invalid("its branches do not form a tree"))?;
            if chain.len() > depth {
                return Err(invalid("its branches nest deeper than limits.parallel_depth"));
            }
            parents.push(machine.parent);
            let next = self.machine(machine, number as u32, &chain, &loaded)?;
            loaded.push(next);
        }
        // Branches move into their parents, the last ones first.
        while loaded.len() > 1 {
            let (Some(branch), Some(parent)) = (loaded.pop(), parents.pop()) else { break };
            let Some((parent, index)) = parent else { return Err(invalid("it has two runs")) };
            let State::Forked(fork) = &mut loaded[parent as usize].vm.state else {
                return Err(invalid("a branch's parent does not wait for branches"));
            };
            let index = index as usize;
            if index >= fork.next || fork.ended.contains_key(&index) {
                return Err(invalid("a branch has an impossible index"));
            }
            if fork.running.insert(index, Box::new(branch.vm)).is_some() {
                return Err(invalid("two branches have the same index"));
            }
        }
        let run = loaded.pop().ok_or_else(|| invalid("it holds no run"))?;
        if parents.first() != Some(&None) {
            return Err(invalid("its first machine is a branch"));
        }
        Ok(run.vm)
    }

    /// Loads objects that belong to no machine into a space of their own, as before.
    fn load_shared(&mut self) -> Result<(), Fault> {
        let mut heap = Heap::unbounded();
        let names = self.names(&mut heap, Home::Shared, &[]);
        let values = names.build_all(&mut heap, &self.image.shared, self)?;
        self.shared = heap.into_space_with(&self.modules);
        self.shared_values = values;
        Ok(())
    }

    /// Loads each lot into a space of its own again, so that it is released separately.
    fn load_lots(&mut self) -> Result<(), Fault> {
        for (number, lot) in std::mem::take(&mut self.image.lots).into_iter().enumerate() {
            let mut heap = Heap::unbounded();
            for dep in &lot.deps {
                let (space, _) = self
                    .lots
                    .get(*dep as usize)
                    .ok_or_else(|| invalid("its incoming data has no valid order"))?;
                heap.attach(space.clone(), &mut self.modules.clone());
            }
            let names = self.names(&mut heap, Home::Lot(number as u32), &[]);
            let values = names.build_all(&mut heap, &lot.objects, self)?;
            self.lots.push((heap.into_space_with(&self.modules), values));
        }
        Ok(())
    }

    /// Attaches the lots of a machine, with the bytes they count for.
    fn attach_lots(&self, heap: &mut Heap, lots: &[Charge]) -> Result<(), Fault> {
        for (number, charge) in lots {
            let (space, _) = self
                .lots
                .get(*number as usize)
                .ok_or_else(|| invalid("it refers to incoming data that is missing"))?;
            let id = heap.attach(space.clone(), &mut self.modules.clone());
            // More than any run receives, yet small enough that all lots can be added up.
            if !heap.make_lot(id, (*charge).min(u64::from(u32::MAX) << 8)) {
                return Err(invalid("the same incoming data is listed twice"));
            }
        }
        Ok(())
    }

    /// Attaches to `heap` everything its values may refer to, and stores the numbers.
    fn names<'l>(&self, heap: &mut Heap, own: Home, above: &[(u32, &'l Loaded)]) -> Names<'l> {
        let mut modules = self.modules.clone();
        let grants =
            self.grants.iter().map(|(_, frozen)| heap.attach(frozen.space().clone(), &mut modules)).collect();
        let consts =
            self.modules.iter().map(|module| heap.attach(module.space().clone(), &mut modules)).collect();
        let shared = heap.attach(self.shared.clone(), &mut modules);
        let above = above
            .iter()
            .filter_map(|(number, loaded)| {
                let lent = loaded.lent.clone()?;
                Some((*number, heap.attach(lent, &mut modules), &loaded.values[..]))
            })
            .collect();
        Names { own, grants, consts, shared, above }
    }

    /// Loads one machine; `chain` are those it branched from, the nearest first.
    fn machine(
        &self,
        image: Machine,
        number: u32,
        chain: &[u32],
        loaded: &[Loaded],
    ) -> Result<Loaded, Fault> {
        let limit = image.fuel_limit.min(self.limits.fuel);
        let mut budget = Budget::new(limit, self.watch.clone());
        budget.set_remaining(image.fuel_left);
        let above: Vec<(u32, &Loaded)> = chain.iter().map(|i| (*i, &loaded[*i as usize])).collect();
        let parent = above.first().map(|(_, parent)| *parent);
        let limits = parent.map_or(*self.limits, |parent| parent.vm.limits_of_branches());
        let mut vm = Vm::with_heap(self.library.clone(), &limits, budget, Heap::unbounded())?;
        for module in &self.modules {
            vm.attach_module(module.clone())?;
        }
        vm.entry = self.image.entry;
        vm.depth = chain.len() as u32;
        // A count that no run reaches; counting on from it must not overflow.
        vm.tool_calls = image.tool_calls.min(u64::MAX / 2);
        vm.forks = image.forks;
        vm.heap.watch_fields(match parent {
            Some(parent) => parent.vm.heap.watched.as_ref().map(|watched| Box::new(watched.of_branch())),
            None => (!image.watched.is_empty()).then(|| Box::new(Watched::new(image.watched))),
        });
        if let Some(watched) = &mut vm.heap.watched {
            watched.add(load_seen(image.seen)?);
        }
        for print in image.prints {
            vm.output.print(print)?;
        }
        for (name, frozen) in &self.grants {
            vm.grant(name, frozen)?;
        }
        let names = self.names(&mut vm.heap, Home::Machine(number), &above);
        if names.above.len() < chain.len() {
            return Err(invalid("a branch's parent has lent it nothing"));
        }
        vm.lender = names.above.first().map_or(0, |(_, id, _)| *id);
        self.attach_lots(&mut vm.heap, &image.lots)?;
        vm.granted_bytes = vm.granted_bytes.max(image.granted.min(u64::MAX / 2));
        vm.peaks = load_peaks(image.peaks)?;

        let values = names.build_all(&mut vm.heap, &image.objects, self)?;
        let value = |heap: &Heap, val: Val| names.value(heap, val, &values, self);

        // Definitions: the parent's, then its own.
        if let Some((_, parent)) = above.first() {
            let inherited: Vec<_> = parent.vm.defs.iter().map(|def| (def.name.clone(), def.value)).collect();
            for (name, inherited) in inherited {
                let slot = vm.def_slot(&name) as usize;
                vm.defs[slot].entry = Entry::UNKNOWN;
                vm.defs[slot].value = inherited.map(|value| vm.heap.import(vm.lender, value));
            }
        }
        for (name, val, changed) in image.defs {
            let slot = vm.def_slot(&name) as usize;
            if let Some(val) = val {
                vm.defs[slot].entry = Entry::UNKNOWN;
                vm.defs[slot].value = Some(value(&vm.heap, val)?);
                vm.defs[slot].changed = changed;
            }
        }
        for (slot, val) in image.history.into_iter().enumerate() {
            vm.history[slot] = value(&vm.heap, val)?;
        }
        vm.gaps = image.gaps.map(|gap| gap.map(Arc::from));
        for val in image.wide {
            vm.wide.push(value(&vm.heap, val)?);
        }
        load_frames(&mut vm, &image.frames, &image.state, value)?;
        vm.attempts = load_attempts(&vm, &image.attempts, image.refunded)?;
        let mut lent = None;
        let mut endings = Vec::new();
        vm.state = match image.state {
            StateImage::Start { values } => {
                let args = values
                    .len()
                    .checked_sub(1)
                    .filter(|n| *n <= 1)
                    .ok_or_else(|| invalid("a call has no function"))?;
                for (slot, val) in values.into_iter().enumerate() {
                    vm.stack[slot] = value(&vm.heap, val)?;
                }
                State::Start { args }
            }
            StateImage::Ready => State::Ready,
            StateImage::Tool { name, args, span, dst } => {
                State::Tool { call: ToolCall::new(name, args, span), dst }
            }
            StateImage::Answered(val) => State::Answered(value(&vm.heap, val)?),
            StateImage::Refused(fault) => State::Refused(load_fault(fault)),
            StateImage::Forked { f, items, dst, next, lent: is_lent, ended } => {
                let items = value(&vm.heap, items)?;
                let Value::Vector(vector) = items else { return Err(invalid("branches have no items")) };
                let kind = match f {
                    Some(f) => ForkKind::Map { f: value(&vm.heap, f)? },
                    None => ForkKind::Calls,
                };
                let mut fork = Fork::new(kind, items, dst);
                fork.count = vm.heap.vec_len(vector);
                fork.next = usize::try_from(next).unwrap_or(usize::MAX);
                if fork.next > fork.count || (!is_lent && (fork.next > 0 || !ended.is_empty())) {
                    return Err(invalid("it started more branches than there are"));
                }
                self.limit(&mut vm.heap, parent);
                if is_lent {
                    let space = vm.heap.lend(&vm.module_list);
                    fork.lent = Some(space.clone());
                    lent = Some(space);
                }
                endings = ended;
                State::Forked(Box::new(fork))
            }
        };
        self.limit(&mut vm.heap, parent);
        let mut machine = Loaded { vm, values, lent };
        if !endings.is_empty() {
            let above: Vec<(u32, &Loaded)> = std::iter::once((number, &machine)).chain(above).collect();
            let ended = self.ended(endings, number, &above)?;
            if let State::Forked(fork) = &mut machine.vm.state {
                ended.into_iter().for_each(|(index, branch)| fork.end(index, branch));
            }
        }
        Ok(machine)
    }

    /// Sets the memory limit of a machine once everything is loaded.
    fn limit(&self, heap: &mut Heap, parent: Option<&Loaded>) {
        match parent {
            Some(Loaded { vm, lent, .. }) => {
                heap.limit_as_branch(&vm.heap, lent.as_ref().map_or(0, |space| space.bytes()));
            }
            None => heap.set_limit(self.limits.memory_bytes),
        }
    }

    /// Loads branches that have ended: each value in a heap of its own.
    fn ended(
        &self,
        images: Vec<EndedImage>,
        number: u32,
        above: &[(u32, &Loaded)],
    ) -> Result<BTreeMap<usize, Branch>, Fault> {
        let next = above.first().map_or(0, |(_, parent)| match &parent.vm.state {
            State::Forked(fork) => fork.next,
            _ => 0,
        });
        let mut ended = BTreeMap::new();
        for (place, image) in images.into_iter().enumerate() {
            let outcome = match image.outcome {
                Err(fault) => Err(load_fault(fault)),
                Ok((objects, val)) => {
                    let mut heap = Heap::unbounded();
                    let names = self.names(&mut heap, Home::Ended(number, place as u32), above);
                    let lender = names.above.first().map_or(0, |(_, id, _)| *id);
                    self.attach_lots(&mut heap, &image.lots)?;
                    let values = names.build_all(&mut heap, &objects, self)?;
                    let value = names.value(&heap, val, &values, self)?;
                    heap.release(lender);
                    let heap = value.reference().is_some().then(|| Box::new(heap));
                    Ok(Answer { heap, value, lender })
                }
            };
            let index = usize::try_from(image.index).unwrap_or(usize::MAX);
            // More than any run makes, yet small enough to be added up.
            let tool_calls = image.tool_calls.min(u64::from(u32::MAX));
            let peaks = load_peaks(image.peaks)?;
            let seen = load_seen(image.seen)?;
            let branch = Branch { fuel: image.fuel, tool_calls, peaks, seen, outcome };
            if index >= next || ended.insert(index, branch).is_some() {
                return Err(invalid("an ended branch has an impossible index"));
            }
        }
        Ok(ended)
    }
}

/// The objects that values of one arena may refer to, by the numbers its heap gave them.
struct Names<'l> {
    own: Home,
    grants: Vec<u32>,
    /// Spaces of the constants of each module.
    consts: Vec<u32>,
    shared: u32,
    /// Machines it branched from, the nearest first: number, space, objects.
    above: Vec<(u32, u32, &'l [Value])>,
}

impl Names<'_> {
    fn value(&self, heap: &Heap, val: Val, own: &[Value], loader: &Loader<'_>) -> Result<Value, Fault> {
        self.find(heap, val, own, loader).ok_or_else(|| invalid("a value refers to nothing"))
    }

    fn find(&self, heap: &Heap, val: Val, own: &[Value], loader: &Loader<'_>) -> Option<Value> {
        Some(match val {
            Val::Nil => Value::Nil,
            Val::Bool(b) => Value::bool(b),
            Val::Int(n) => Value::Int(n),
            Val::Float(bits) => Value::float(f64::from_bits(bits)),
            Val::Day(n) => Value::day(n),
            Val::Instant(n) => Value::Instant(n),
            Val::Duration(n) => Value::Duration(n),
            Val::Builtin(i) => Value::builtin(lookup(loader.image.builtins.get(i as usize)?)?.0),
            Val::Grant { grant, kind, at } => sound(heap, *self.grants.get(grant as usize)?, kind, at)?,
            Val::Const { module, kind, at } => sound(heap, *self.consts.get(module as usize)?, kind, at)?,
            Val::Obj { home, index } if home == self.own => *own.get(index as usize)?,
            Val::Obj { home: Home::Shared, index } => {
                heap.import(self.shared, *loader.shared_values.get(index as usize)?)
            }
            Val::Obj { home: Home::Lot(number), index } => {
                let (space, values) = loader.lots.get(number as usize)?;
                heap.import(heap.known_as(space)?, *values.get(index as usize)?)
            }
            Val::Obj { home: Home::Machine(number), index } => {
                let (_, id, values) = self.above.iter().find(|(above, _, _)| *above == number)?;
                heap.import(*id, *values.get(index as usize)?)
            }
            Val::Obj { .. } => return None,
        })
    }

    /// Builds the objects of an arena, each from earlier ones; then fills places.
    fn build_all(&self, heap: &mut Heap, objects: &[Obj], loader: &Loader<'_>) -> Result<Vec<Value>, Fault> {
        let mut values = Vec::with_capacity(objects.len());
        // Keys may share parts so that they are exponentially larger than the snapshot; a run paid for hashing its own.
        heap.allow_steps(loader.limits.fuel.max(LEAST_FUEL).saturating_mul(STEPS));
        for object in objects {
            let value = self.build(heap, object, &values, loader)?;
            values.push(value);
        }
        heap.end_work();
        for (object, value) in objects.iter().zip(&values) {
            if let (Obj::State { held, .. }, Value::State(place)) = (object, *value) {
                let held = self.value(heap, *held, &values, loader)?;
                heap.set_state(place, held);
            }
        }
        Ok(values)
    }

    /// Builds an object from parts that were built before it.
    fn build(
        &self,
        heap: &mut Heap,
        object: &Obj,
        own: &[Value],
        loader: &Loader<'_>,
    ) -> Result<Value, Fault> {
        let values = |heap: &Heap, vals: &[Val]| -> Result<Vec<Value>, Fault> {
            vals.iter().map(|val| self.value(heap, *val, own, loader)).collect()
        };
        let made = match object {
            Obj::Text { kind, text } => match text_kind(*kind) {
                Some(kind) => heap.new_text(kind, text),
                None => return Err(invalid("a text is of an unknown kind")),
            },
            Obj::Big(digits) => match digits.parse() {
                Ok(n) => heap.new_integer(&n),
                Err(_) => return Err(invalid("a large integer is malformed")),
            },
            // The shared empty vector is in no machine's arena.
            Obj::Vector(items) if items.is_empty() => {
                heap.room(1, 0).map(|()| Value::Vector(heap.push_object(Value::FlatHead { len: 0 }, &[])))
            }
            Obj::Vector(items) => {
                let items = values(heap, items)?;
                heap.new_vec(&items)
            }
            Obj::Trie(items) => {
                let items = values(heap, items)?;
                heap.new_trie(&items)
            }
            Obj::Slice { whole, start, len } => {
                let whole = self.value(heap, *whole, own, loader)?;
                match heap.new_slice(whole, *start, *len) {
                    Some(slice) => slice,
                    None => return Err(invalid("a part of a vector does not fit the vector")),
                }
            }
            Obj::Record(parts) => {
                let parts = values(heap, parts)?;
                if let Some(Value::Vector(keys)) = parts.first() {
                    bare(heap.vec_items(*keys), 1)?;
                }
                match heap.new_shaped(&parts) {
                    Some(record) => record,
                    None => return Err(invalid("a map does not fit its keys")),
                }
            }
            Obj::Map(items) if items.len() % 2 == 0 => {
                let items = bare(values(heap, items)?, 2)?;
                heap.new_map(&items)
            }
            Obj::Map(_) => return Err(invalid("a map lacks a value")),
            Obj::Set(items) => {
                let items = bare(values(heap, items)?, 1)?;
                heap.new_set(&items)
            }
            Obj::Sorted { set: true, descending, items } => {
                let items = bare(values(heap, items)?, 1)?;
                heap.new_sorted_set(&items, *descending)
            }
            Obj::Sorted { descending, items, .. } if items.len() % 2 == 0 => {
                let items = bare(values(heap, items)?, 2)?;
                heap.new_sorted_map(&items, *descending)
            }
            Obj::Sorted { .. } => return Err(invalid("a map lacks a value")),
            Obj::Gaps { set, items, gone } => {
                let stride = if *set { 1 } else { 2 };
                let items = bare(values(heap, items)?, stride)?;
                if items.len() % stride != 0 || !gone.is_sorted_by(|a, b| a < b) {
                    return Err(invalid("a map or set has impossible gaps"));
                }
                heap.new_with_gaps(&items, stride, gone)
            }
            Obj::Range { step: 0, .. } => return Err(invalid("a range has a step of 0")),
            Obj::Range { start, end, step } => heap.new_range(*start, *end, *step),
            Obj::Link(first, rest) => {
                let (first, rest) =
                    (self.value(heap, *first, own, loader)?, self.value(heap, *rest, own, loader)?);
                heap.new_link(first, rest)
            }
            Obj::Step(call) if !call.is_empty() => {
                let call = values(heap, call)?;
                heap.new_step(&call)
            }
            Obj::Step(_) => return Err(invalid("an endless sequence has no function")),
            Obj::Veil(behind) => {
                let behind = self.value(heap, *behind, own, loader)?;
                match heap.veil(behind) {
                    // Veils and values that are never veiled come back unchanged.
                    Ok(same) if same.same(behind) => {
                        return Err(invalid("a veil hides a value that is never veiled"));
                    }
                    made => made,
                }
            }
            Obj::Exception(parts) => match values(heap, parts)?[..] {
                [Value::Map(map), place @ (Value::Nil | Value::Int(_))] => heap.new_exception(map, place),
                _ => return Err(invalid("an exception is malformed")),
            },
            // A place may contain itself, so its content comes last.
            Obj::State { kind, .. } => match StateKind::from_number(u64::from(*kind)) {
                Some(kind) => heap.new_state(kind.stored(), Value::Nil),
                None => return Err(invalid("an atom or another state is of an unknown kind")),
            },
            Obj::Builder(items) => {
                let items = values(heap, items)?;
                heap.new_builder().and_then(|builder| {
                    items.into_iter().try_fold(builder, |builder, item| heap.builder_push(builder, item))
                })
            }
            Obj::Closure { module, code, captures } => {
                let artifact = loader.modules.get(*module as usize).map(|module| module.artifact());
                let function = artifact.and_then(|artifact| artifact.functions.get(*code as usize));
                if function.is_none_or(|function| function.captures as usize != captures.len()) {
                    return Err(invalid("a function does not fit its code"));
                }
                let captures = values(heap, captures)?;
                heap.new_closure(*module, *code, &captures)
            }
        };
        made.map_err(|stop| match stop.into_kind() {
            StopKind::Fault(fault) => fault,
            StopKind::Room { .. } => invalid("its data does not fit"),
        })
    }
}

/// Returns entries of a map or members of a set without veiled keys: maps and sets hold no such key.
fn bare(items: Vec<Value>, stride: usize) -> Result<Vec<Value>, Fault> {
    match items.iter().step_by(stride).any(|key| matches!(key, Value::Veiled(_))) {
        true => Err(invalid("a key is veiled")),
        false => Ok(items),
    }
}

/// Returns the object at this cell of an attached space, if there is one of this kind.
fn sound(heap: &Heap, space: u32, kind: u8, at: u32) -> Option<Value> {
    let value = of_kind(kind, Ref::new(space, at))?;
    heap.is_sound(value).then_some(value)
}

/// Maximum nesting of branches that a fault can come from.
const MOST_CAUSES: usize = 64;

/// Loads frames onto the stack. Each must be at an instruction that waits for the next one, and the registers must
/// be exactly those that may still be read.
fn load_frames(
    vm: &mut Vm,
    frames: &[FrameImage],
    state: &StateImage,
    value: impl Fn(&Heap, Val) -> Result<Value, Fault>,
) -> Result<(), Fault> {
    let frameless = matches!(
        state,
        StateImage::Start { .. } | StateImage::Answered(_) | StateImage::Tool { dst: None, .. }
    );
    if frameless != frames.is_empty() {
        return Err(invalid("its frames do not fit what it waits for"));
    }
    let max_cells = vm.limits.stack_bytes as usize / size_of::<Value>();
    let mut expected_base = 0;
    let mut wide = 0;
    for (i, frame) in frames.iter().enumerate() {
        let module = vm.modules.get(frame.module as usize).map(|attached| attached.module.clone());
        let block = module.as_ref().and_then(|module| module.artifact().blocks.get(frame.block as usize));
        let (Some(module), Some(block)) = (&module, block) else {
            return Err(invalid("a frame has no code"));
        };
        let Some(op) = block.ops.get(frame.pc as usize) else {
            return Err(invalid("a frame is outside its code"));
        };
        let base = frame.base as usize;
        if base != expected_base || base + i >= max_cells {
            return Err(invalid("a frame is in the wrong place"));
        }
        let top = i + 1 == frames.len();
        let waits = match (op, state) {
            (
                Op::Call { base, .. }
                | Op::CallDef { base, .. }
                | Op::CallBuiltin { base, .. }
                | Op::Apply { base, .. }
                | Op::Try { base, .. },
                _,
            ) if !top => {
                expected_base = frame.base as usize + *base as usize;
                true
            }
            // They wait for functions that return to them.
            (Op::First { .. } | Op::Nth { .. } | Op::IterNext { .. } | Op::IterBack { .. }, _) if !top => {
                expected_base = frame.base as usize + (block.regs as usize).min(WINDOW);
                frames.get(i + 1).is_some_and(|above| vm.delivers(above.module, above.block))
            }
            (_, _) if !top => false,
            (
                Op::Call { base, .. }
                | Op::CallDef { base, .. }
                | Op::CallTool { base, .. }
                | Op::Apply { base, .. },
                StateImage::Tool { dst: Some(dst), .. },
            ) => dst == base,
            (
                Op::Call { .. } | Op::CallDef { .. } | Op::CallTool { .. } | Op::Apply { .. },
                StateImage::Refused(_),
            ) => true,
            (Op::ParallelMap { dst, .. }, StateImage::Forked { dst: to, f: Some(_), .. })
            | (Op::ParallelCalls { dst, .. }, StateImage::Forked { dst: to, f: None, .. }) => dst == to,
            (_, StateImage::Ready) => true,
            _ => false,
        };
        if !waits {
            return Err(invalid("a frame stands where it cannot wait"));
        }
        let ready = top && matches!(state, StateImage::Ready);
        let live = module.live_at(frame.block, frame.pc, !ready);
        if !live.iter().eq(frame.regs.iter().map(|(reg, _)| *reg)) {
            return Err(invalid("a frame lacks a register"));
        }
        wide += (block.regs as usize).saturating_sub(WINDOW);
        if vm.stack.len() < base + 2 * WINDOW {
            grow_stack(&mut vm.stack, base + 2 * WINDOW);
        }
        for (reg, val) in &frame.regs {
            vm.stack[base + *reg as usize] = value(&vm.heap, *val)?;
        }
        let loaded = Frame { module: frame.module, block: frame.block, pc: frame.pc, base: frame.base };
        if top {
            vm.current = loaded;
        } else {
            vm.frames.push(loaded);
        }
    }
    if vm.wide.len() != wide {
        return Err(invalid("its frames have other locals than their code"));
    }
    Ok(())
}

/// Loads the attempts that go on. A file may claim that one had more fuel than is left now, so up to the limit is believed:
/// the run then does no more work than a new one.
fn load_attempts(vm: &Vm, images: &[(u32, u32, u64)], refunded: u64) -> Result<Attempts, Fault> {
    let mut begun: Vec<Attempt> = Vec::with_capacity(images.len().min(vm.frames.len() + 1));
    for (depth, pc, fuel) in images {
        let depth = *depth as usize;
        let frame = vm.frames.get(depth).or((depth == vm.frames.len()).then_some(&vm.current));
        let attempt = frame.and_then(|frame| {
            vm.attempt_at(depth, *frame, *pc, (*fuel).min(vm.budget.limit()))
                .filter(|attempt| attempt.holds(frame))
        });
        match attempt {
            Some(attempt) if begun.last().is_none_or(|before| before.depth < depth) => begun.push(attempt),
            _ => return Err(invalid("an attempt has no frame")),
        }
    }
    Ok(Attempts::of(begun, refunded))
}

/// Returns the machines a new one branched from, the nearest first; None if that is no tree.
fn chain(parents: &[Option<(u32, u64)>], parent: Option<(u32, u64)>, number: usize) -> Option<Vec<u32>> {
    if parent.is_none() != (number == 0) {
        return None;
    }
    let mut chain = Vec::new();
    let mut next = parent;
    while let Some((above, _)) = next {
        chain.push(above);
        // Parents come before their branches, so this ends.
        let below = chain.get(chain.len().wrapping_sub(2)).map_or(number, |below| *below as usize);
        next = *parents.get(above as usize).filter(|_| (above as usize) < below)?;
    }
    Some(chain)
}

fn text_kind(kind: u8) -> Option<TextKind> {
    use TextKind::{Keyword, Regex, Str, Symbol, Tool, Var};
    [Str, Keyword, Symbol, Var, Tool, Regex].into_iter().find(|known| *known as u8 == kind)
}

fn load_seen(seen: Seen) -> Result<Seen, Fault> {
    match seen.is_sound() {
        true => Ok(seen),
        false => Err(invalid("it records more fields than a run can")),
    }
}

fn load_peaks(peaks: Vec<u64>) -> Result<Peaks, Fault> {
    Peaks::from_bytes(peaks).ok_or_else(|| invalid("it counts more incoming data than there is"))
}

fn load_fault(image: FaultImage) -> Fault {
    let FaultImage { reason, message, hint, span, value, mut causes, trace } = image;
    // Branches nest no deeper; further causes in a file are forged.
    causes.truncate(MOST_CAUSES);
    let mut inner = None;
    for (branch, cause) in causes.into_iter().rev() {
        inner = Some((branch, load_cause(cause, inner)));
    }
    let fault = load_cause(CauseImage { reason, message, hint, span, value }, inner);
    fault.with_trace(trace.filter(|trace| trace.is_sound()).map(|trace| *trace).unwrap_or_default())
}

fn load_cause(image: CauseImage, cause: Option<(u64, Fault)>) -> Fault {
    let code = Code::from_reason(&image.reason).unwrap_or(Code::RuntimeError);
    let mut fault = Fault::new(code, image.message).at(image.span);
    if let Some(hint) = image.hint {
        fault = fault.hint(hint);
    }
    if let Some((branch, cause)) = cause {
        fault = fault.caused_by(branch, cause);
    }
    match image.value {
        Some(value) => fault.with_value(value),
        None => fault,
    }
}
