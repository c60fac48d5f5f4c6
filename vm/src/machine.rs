//! Machine: the state of one run, plain data that can be held, moved between threads and written to bytes.

use crate::attempt::Attempts;
use crate::budget::Budget;
use crate::call::Output;
use crate::fault::Fault;
use crate::fork::Fork;
use crate::frozen::Frozen;
use crate::heap::{Heap, Space};
use crate::link::{Library, Module};
use crate::lot_table::Peaks;
use crate::remembered::Remembered;
use crate::value::Value;
use crate::watched::{Lookups, MissedField, Watched, WatchedField};
use ptc_bytecode::{Code, Datum, Limits, Op, Span};
use std::sync::Arc;

/// An activation of a function: its place in the code and its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub module: u32,
    pub block: u32,
    /// Index of the current instruction: the call, for a frame that waits for one.
    pub pc: u32,
    /// Index of `r0` in the stack.
    pub base: u32,
}

impl Frame {
    /// True if both run the same code, as a function and its recursive call do.
    #[inline(always)]
    pub(crate) fn runs_same(&self, other: &Frame) -> bool {
        self.block == other.block && self.module == other.module
    }
}

/// A module as this run sees it.
pub(crate) struct Attached {
    pub module: Arc<Module>,
    /// Number of its constants' space in this run's heap.
    pub space: u32,
    /// Run-level index of each definition the module names.
    pub defs: Vec<u32>,
}

/// A definition of the session as this run sees it.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: Arc<str>,
    /// Current value; None until it has one.
    pub value: Option<Value>,
    /// Initial value, in a frozen space, which it has again when the run restarts.
    pub given: Option<Value>,
    /// True if this run set it.
    pub changed: bool,
    /// Cached target for calls of its value; setting the value clears it.
    pub entry: Entry,
}

/// The code of a plain function, cached for calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// Number of arguments it takes; a count that no call passes if the function is not known.
    pub required: u8,
    pub module: u32,
    pub block: u32,
}

impl Entry {
    pub const UNKNOWN: Entry = Entry { required: u8::MAX, module: 0, block: 0 };
}

/// A tool call the run waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Name of the tool.
    pub name: String,
    /// Arguments, a map with string keys.
    pub args: Datum,
    /// Place of the call in the program, when known.
    pub span: Option<Span>,
    /// Bytes that count as the program's while it waits.
    pub(crate) held: usize,
}

/// The state of a run between two steps.
pub(crate) enum State {
    /// About to call `stack[0]` with the values after it.
    Start { args: usize },
    /// Has instructions to run.
    Ready,
    /// Waits for a tool. The reply goes to this register of the current frame; None if the call is all the branch does.
    Tool { call: ToolCall, dst: Option<u8> },
    /// The tool call that was all the branch does has been answered.
    Answered(Value),
    /// The call was refused: the run ends with this fault when it goes on.
    Refused(Fault),
    /// Waits for its branches.
    Forked(Box<Fork>),
    /// Has ended.
    Ended,
}

/// The result of running a machine.
#[derive(Debug)]
pub enum Event {
    /// The run ended with a value.
    Done(Ending),
    /// The run waits for a tool: see [`Vm::pending_call`].
    Tool,
    /// The run waits for branches: see [`Vm::start_branches`].
    Fork,
    /// The run's slice of time is over ([`Watch::is_slice_over`](crate::Watch::is_slice_over)); it can go on any time.
    Paused,
}

/// The ending of a run without a fault.
#[derive(Clone, Copy, Debug)]
pub enum Ending {
    /// The value of the last form.
    Value(Value),
    /// The value of `(return v)`.
    Returned(Value),
    /// The value of `(fail v)`.
    Failed(Value),
}

impl Ending {
    /// Returns the value it ended with.
    pub fn value(self) -> Value {
        match self {
            Ending::Value(v) | Ending::Returned(v) | Ending::Failed(v) => v,
        }
    }
}

/// One run of a program: code, data, budget and everything in progress.
///
/// `run` continues until the program ends or needs the host. In between, the machine is plain data, `Send` and
/// without borrowed parts.
pub struct Vm {
    pub(crate) library: Arc<Library>,
    pub(crate) modules: Vec<Attached>,
    /// Modules as the heap numbers them.
    pub(crate) module_list: Vec<Arc<Module>>,
    pub(crate) heap: Heap,
    pub(crate) stack: Vec<Value>,
    /// Locals beyond the 256 registers of a window, those of the current frame on top.
    pub(crate) wide: Vec<Value>,
    /// Callers, outermost first.
    pub(crate) frames: Vec<Frame>,
    pub(crate) current: Frame,
    pub(crate) defs: Vec<Definition>,
    pub(crate) data: Vec<(Arc<str>, Value)>,
    /// Spaces of granted data, for snapshots.
    pub(crate) granted: Vec<(Arc<str>, Arc<Space>)>,
    pub(crate) history: [Value; 3],
    /// Reasons that results in the history were not kept.
    pub(crate) gaps: [Option<Arc<str>>; 3],
    pub(crate) budget: Budget,
    pub(crate) output: Output,
    pub(crate) limits: Limits,
    pub(crate) state: State,
    /// Number of enclosing `pmap`s.
    pub(crate) depth: u32,
    pub(crate) tool_calls: u64,
    /// Number of times it has split into branches.
    pub(crate) forks: u64,
    /// Bytes of granted data, and in a branch of everything received before it began. Lots of the heap come on top.
    pub(crate) granted_bytes: u64,
    /// Those of them that were granted to one run only.
    shared_bytes: u64,
    /// In a branch: peaks of the bytes it received.
    pub(crate) peaks: Peaks,
    pub(crate) strict_data: bool,
    /// Collect at every safepoint: a test mode that finds missing roots.
    pub(crate) stress: bool,
    /// The module of the program itself; faults are placed in its source.
    pub(crate) entry: u32,
    /// Place where an instruction last requested room (fuel left, instruction, frames), and the extra room it got.
    pub(crate) room_asked: Option<((u64, u32, usize), usize)>,
    /// Exception of a `throw`, until it is caught.
    pub(crate) thrown: Option<Value>,
    pub(crate) attempts: Attempts,
    /// In a branch: number of the parent's arena in its heap.
    pub(crate) lender: u32,
    /// Lookup for names used only by code attached during the run.
    pub(crate) definitions: Option<Definitions>,
}

/// Lookup of the value of a name, if it has one.
pub type Definitions = Arc<dyn Fn(&str) -> Option<Frozen> + Send + Sync>;

/// Number of registers a frame can see.
pub(crate) const WINDOW: usize = 256;

/// Cells of stack that a run or a branch begins with. Each is written at the start, which a program of one line notices:
/// two windows are what the first frame and one call need.
pub(crate) const STACK: usize = 2 * WINDOW;

impl Vm {
    /// Makes an idle machine with an empty heap.
    pub fn new(library: Arc<Library>, limits: &Limits, budget: Budget) -> Result<Vm, Fault> {
        Vm::with_heap(library, limits, budget, Heap::new(limits))
    }

    pub(crate) fn with_heap(
        library: Arc<Library>,
        limits: &Limits,
        budget: Budget,
        heap: Heap,
    ) -> Result<Vm, Fault> {
        let mut vm = Vm {
            heap,
            modules: Vec::new(),
            module_list: Vec::new(),
            stack: vec![Value::Nil; STACK],
            wide: Vec::new(),
            frames: Vec::new(),
            current: Frame { module: 0, block: 0, pc: 0, base: 0 },
            defs: Vec::new(),
            data: Vec::new(),
            granted: Vec::new(),
            history: [Value::Nil; 3],
            gaps: [const { None }; 3],
            budget,
            output: Output::new(limits),
            limits: *limits,
            state: State::Ended,
            depth: 0,
            tool_calls: 0,
            forks: 0,
            granted_bytes: 0,
            shared_bytes: 0,
            peaks: Peaks::default(),
            strict_data: true,
            stress: false,
            entry: 0,
            lender: 0,
            room_asked: None,
            thrown: None,
            attempts: Attempts::default(),
            definitions: None,
            library,
        };
        vm.heap.set_watch(vm.budget.watch());
        let core = vm.library.core().clone();
        vm.attach_module(core)?;
        Ok(vm)
    }

    /// Makes a machine that runs the same code in the same way, in a separate heap. Definitions, data and history
    /// are available under this machine's names.
    pub(crate) fn child(&self, limits: Limits, fuel: u64, heap: Heap) -> Result<Vm, Fault> {
        let budget = Budget::new(fuel, self.budget.watch());
        let mut vm = Vm::with_heap(self.library.clone(), &limits, budget, heap)?;
        (vm.defs, vm.data) = (self.defs.clone(), self.data.clone());
        (vm.history, vm.gaps) = (self.history, self.gaps.clone());
        (vm.tool_calls, vm.granted_bytes) = (self.tool_calls, self.taken_in());
        (vm.strict_data, vm.stress) = (self.strict_data, self.stress);
        (vm.entry, vm.depth) = (self.entry, self.depth + 1);
        vm.heap.set_firewall(self.heap.firewall());
        vm.heap.in_place = self.heap.in_place;
        vm.set_fused(!self.attempts.are_none());
        vm.heap.watch_fields(self.heap.watched.as_ref().map(|watched| Box::new(watched.of_branch())));
        vm.output.set_context(self.output.shared_context(), true);
        for attached in &self.modules {
            vm.attach_module(attached.module.clone())?;
        }
        Ok(vm)
    }

    /// Makes a module callable and returns its number in this run.
    pub fn attach_module(&mut self, module: Arc<Module>) -> Result<u32, Fault> {
        if let Some(known) = self.modules.iter().position(|known| Arc::ptr_eq(&known.module, &module)) {
            return Ok(known as u32);
        }
        let id = self.modules.len();
        if id == self.module_list.len() {
            self.module_list.push(module.clone());
        }
        let space = self.heap.attach(module.space().clone(), &mut self.module_list);
        let defs = module.artifact().defs.iter().map(|name| self.def_slot(name)).collect();
        self.modules.push(Attached { module, space, defs });
        self.heap.know_code(&self.module_list);
        self.attach_new_modules()?;
        Ok(id as u32)
    }

    /// Attaches the modules that came with a space.
    fn attach_new_modules(&mut self) -> Result<(), Fault> {
        while let Some(module) = self.module_list.get(self.modules.len()).cloned() {
            self.attach_module(module)?;
        }
        Ok(())
    }

    /// Attaches a frozen space and returns its number in this run.
    pub(crate) fn attach_space(&mut self, space: Arc<Space>) -> u32 {
        let id = self.heap.attach(space, &mut self.module_list);
        // Modules of a space were linked before, so attaching them cannot fail.
        let _ = self.attach_new_modules();
        id
    }

    /// Returns the number of the definition called `name`, made if needed.
    pub(crate) fn def_slot(&mut self, name: &str) -> u32 {
        let known = self.defs.iter().position(|def| &*def.name == name);
        known.unwrap_or_else(|| {
            self.defs.push(Definition {
                name: name.into(),
                value: None,
                given: None,
                changed: false,
                entry: Entry::UNKNOWN,
            });
            self.defs.len() - 1
        }) as u32
    }

    /// Sets the firewall, also for branches of a loaded run: values under names that begin with `_` are veiled when
    /// they are received, and no output of the run shows them or derived values. Call it before granting anything.
    pub fn set_firewall(&mut self, up: bool) {
        self.heap.set_firewall(up);
        if let State::Forked(fork) = &mut self.state {
            fork.running.values_mut().for_each(|branch| branch.set_firewall(up));
        }
    }

    /// Gives a definition its value from an earlier turn or a prelude.
    pub fn define(&mut self, name: &str, value: &Frozen) {
        let value = self.admit(Some(name), value);
        let slot = self.def_slot(name);
        self.defs[slot as usize].value = Some(value);
        self.defs[slot as usize].given = Some(value);
        self.defs[slot as usize].entry = Entry::UNKNOWN;
    }

    /// Grants data: the program reads it as `data/<name>`.
    pub fn grant(&mut self, name: &str, value: &Frozen) -> Result<(), Fault> {
        self.granted_bytes += value.bytes() as u64;
        if self.granted_bytes > self.limits.granted_bytes {
            return Err(too_much_granted(self.granted_bytes, self.limits.granted_bytes));
        }
        let value = self.firewalled(Some(name), value);
        self.granted.push((name.into(), value.space().clone()));
        let value = self.thaw(&value);
        self.data.push((name.into(), value));
        Ok(())
    }

    /// Takes in data for this run only, without a copy. It counts as granted until the machine is prepared for the
    /// next run.
    pub fn share(&mut self, name: &str, value: &Frozen) -> Result<Value, Fault> {
        let bytes = value.bytes() as u64;
        let (wanted, limit) = (self.granted_bytes.saturating_add(bytes), self.limits.granted_bytes);
        if wanted > limit {
            return Err(too_much_granted(wanted, limit));
        }
        self.granted_bytes = wanted;
        self.shared_bytes += bytes;
        Ok(self.admit(Some(name), value))
    }

    /// Sets `*1`, `*2`, `*3`, newest first.
    pub fn set_history(&mut self, results: &[Remembered]) {
        for (slot, result) in results.iter().take(3).enumerate() {
            match result {
                Remembered::Value(frozen) => self.history[slot] = self.admit(None, frozen),
                Remembered::Gap(why) => self.gaps[slot] = Some(why.clone()),
            }
        }
    }

    /// Sets the lookup context of natives; branches share it.
    pub fn set_context(&mut self, context: Option<Arc<dyn std::any::Any + Send + Sync>>) {
        // A loaded run may have branches already.
        if let State::Forked(fork) = &mut self.state {
            fork.running.values_mut().for_each(|branch| branch.set_context(context.clone()));
        }
        self.output.set_context(context, self.depth > 0);
    }

    /// Returns the lookup context of natives, if it is a `T`.
    pub fn context<T: std::any::Any>(&self) -> Option<&T> {
        self.output.context()
    }

    /// True for a branch of a `pmap` or `pcalls`.
    pub fn is_branch(&self) -> bool {
        self.depth > 0
    }

    /// Sets the lookup for names used by functions that reach the run through the host.
    pub fn set_definitions(&mut self, definitions: Definitions) {
        self.definitions = Some(definitions);
    }

    /// Attaches the shared data that the host gave a native.
    pub(crate) fn take_in(&mut self) -> Result<(), Fault> {
        let Some(frozen) = self.output.incoming.clone() else {
            return Err(Fault::new(Code::Internal, "a native waits for nothing"));
        };
        self.attach_answer(&frozen, false)?;
        if let Some(definitions) = self.definitions.clone() {
            let find = |name: &str| Some((name.to_string(), definitions(name)?));
            while let Some((name, value)) = { self.undefined().find_map(find) } {
                self.define(&name, &value);
            }
        }
        Ok(())
    }

    /// Returns the bytes of received data that count: granted data, and replies that a live value refers to, or did
    /// before the last collection.
    pub(crate) fn taken_in(&self) -> u64 {
        self.granted_bytes.saturating_add(self.heap.lot_bytes())
    }

    /// Attaches data received while the program runs, and counts it. `current_done` as for collections.
    fn attach_answer(&mut self, frozen: &Frozen, current_done: bool) -> Result<Value, Fault> {
        let (bytes, limit) = (frozen.bytes() as u64, self.limits.granted_bytes);
        // A new maximum of a branch also decides about the branches after it.
        let is_most = self.is_branch() && self.heap.lot_bytes().saturating_add(bytes) > self.peaks.highest();
        if self.heap.has_lots() && (is_most || self.taken_in().saturating_add(bytes) > limit) {
            self.collect_frames(current_done);
        }
        let wanted = self.taken_in().saturating_add(bytes);
        if wanted > limit {
            return Err(too_much_taken_in(&format!(
                "granted data and tool results are {wanted} bytes, more than limits.granted_bytes = {limit}"
            )));
        }
        let id = self.attach_lot(frozen.space(), bytes);
        if self.is_branch() {
            self.peaks.note(self.heap.lot_bytes());
        }
        Ok(self.heap.import(id, frozen.root()))
    }

    /// Attaches a space that counts for `charge` bytes, and returns its number.
    pub(crate) fn attach_lot(&mut self, space: &Arc<Space>, charge: u64) -> u32 {
        let id = self.heap.attach_lot(space, charge, &mut self.module_list);
        // Modules of a space were linked before, so attaching them cannot fail.
        let _ = self.attach_new_modules();
        id
    }

    /// Sets whether a missing `data/x` faults, the default, or is nil.
    pub fn set_strict_data(&mut self, strict: bool) {
        self.strict_data = strict;
    }

    /// Returns the bytes of data granted before it began.
    pub fn granted_at_start(&self) -> u64 {
        self.granted_bytes
    }

    /// Sets the test mode that collects at every safepoint to find missing roots.
    pub fn set_stress(&mut self, stress: bool) {
        self.stress = stress;
    }

    /// Sets whether collections are changed in place; `false` is a test mode that finds values which should not have
    /// changed.
    pub fn set_in_place(&mut self, in_place: bool) {
        self.heap.in_place = in_place;
    }

    /// Sets whether attempts are made; `false` is a test mode without fused loops, which shows whether fusion makes a
    /// difference.
    pub fn set_fused(&mut self, fused: bool) {
        self.attempts = if fused { Attempts::default() } else { Attempts::none() };
    }

    /// Data from outside as it is behind the firewall, if that is up.
    fn firewalled(&self, name: Option<&str>, value: &Frozen) -> Frozen {
        if self.heap.firewall() { value.firewalled(name) } else { value.clone() }
    }

    /// Converts a value from outside to one of this run, by the name it is given.
    fn admit(&mut self, name: Option<&str>, value: &Frozen) -> Value {
        let value = self.firewalled(name, value);
        self.thaw(&value)
    }

    /// Converts a frozen value to one of this run.
    pub fn thaw(&mut self, frozen: &Frozen) -> Value {
        let id = self.attach_space(frozen.space().clone());
        self.heap.import(id, frozen.root())
    }

    /// Copies a value out of this run.
    pub fn freeze(&self, value: Value) -> Frozen {
        let mut roots = [value];
        let space = self.heap.copy_out(&mut roots, &self.module_list);
        Frozen::new(space, roots[0])
    }

    /// Copies the values of a map whose keys are names out of the run, together; None for anything else.
    pub fn freeze_fields(&self, value: Value) -> Option<Vec<(String, Frozen)>> {
        let Value::Map(map) = self.heap.unveil(value) else { return None };
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let mut cursor = 0;
        while let Some((key, value, next)) = self.heap.map_next(map, cursor) {
            names.push(match key {
                Value::Str(name) | Value::Keyword(name) => self.heap.str(name).to_string(),
                _ => return None,
            });
            values.push(value);
            cursor = next;
        }
        let space = self.heap.copy_out(&mut values, &self.module_list);
        let fields = names.into_iter().zip(values).map(|(n, value)| (n, Frozen::new(space.clone(), value)));
        // Each value of a veiled map is veiled itself.
        Some(match value {
            Value::Veiled(_) => fields.map(|(name, field)| (name, field.veiled())).collect(),
            _ => fields.collect(),
        })
    }

    /// Prepares the machine to run the program of an attached module.
    pub fn start(&mut self, module: u32) -> Result<(), Fault> {
        match self.modules[module as usize].module.artifact().entry {
            Some(entry) => self.start_at(module, entry),
            None => Err(Fault::new(Code::ArtifactInvalid, "a library has no program to run")),
        }
    }

    /// Prepares the machine to run one function of an attached module, which takes no arguments.
    pub fn start_at(&mut self, module: u32, function: u32) -> Result<(), Fault> {
        let attached = &self.modules[module as usize];
        let found = attached.module.artifact().functions.get(function as usize);
        let Some(block) = found.and_then(|_| attached.module.plain(function, 0)) else {
            return Err(Fault::new(Code::ArtifactInvalid, "a program is a function without parameters"));
        };
        self.current = Frame { module, block, pc: 0, base: 0 };
        self.frames.clear();
        let regs = attached.module.block(block).regs as usize;
        self.wide.clear();
        self.wide.resize(regs.saturating_sub(WINDOW), Value::Nil);
        self.stack[0] = Value::Nil;
        self.entry = module;
        self.state = State::Ready;
        Ok(())
    }

    /// Prepares the machine to run the same program again: its values are gone, data granted before the first run
    /// is still there, and the budget is full.
    pub fn restart(&mut self) -> Result<(), Fault> {
        self.heap.empty();
        self.data.truncate(self.granted.len());
        self.granted_bytes -= std::mem::take(&mut self.shared_bytes);
        self.begin_again(self.entry)
    }

    /// Prepares the machine to run the program of an attached module over the data given to the previous one.
    /// Nothing else of that run is left, and the budget is full.
    pub fn switch(&mut self, module: u32) -> Result<(), Fault> {
        self.begin_again(module)
    }

    fn begin_again(&mut self, module: u32) -> Result<(), Fault> {
        for def in &mut self.defs {
            (def.value, def.changed, def.entry) = (def.given, false, Entry::UNKNOWN);
        }
        self.budget.restart();
        self.output.clear();
        (self.tool_calls, self.forks) = (0, 0);
        (self.room_asked, self.thrown) = (None, None);
        self.attempts.restart();
        self.start(module)
    }

    /// Watches whether these fields are found in any map that they are looked up in, in this run and all later ones
    /// on this machine. At most [`MAX_WATCHED`](crate::MAX_WATCHED).
    pub fn watch_fields(&mut self, fields: Vec<WatchedField>) {
        self.heap.watch_fields((!fields.is_empty()).then(|| Box::new(Watched::new(fields))));
    }

    /// Returns watched fields that no map had, by their place in the program; ended branches count once they are
    /// joined.
    pub fn missed_fields(&self) -> Vec<MissedField> {
        self.heap.watched.as_ref().map(|watched| watched.never_found()).unwrap_or_default()
    }

    /// Returns the places of the watched fields that some map had.
    pub fn found_fields(&self) -> Vec<Span> {
        self.heap.watched.as_ref().map(|watched| watched.found_places()).unwrap_or_default()
    }

    /// Adds the findings about watched fields of runs on this machine.
    pub fn add_lookups(&self, lookups: &mut Lookups) {
        lookups.add(self.heap.watched.as_deref());
    }

    /// Gives the program data in its own memory, read as `data/<name>`, until it is restarted.
    pub fn give(&mut self, name: &Arc<str>, value: Value) {
        self.data.push((name.clone(), value));
    }

    /// Returns the heap, to make values in it for [`Vm::give`].
    pub fn heap_mut(&mut self) -> &mut Heap {
        &mut self.heap
    }

    /// Returns the module of the program.
    pub fn entry_module(&self) -> &Arc<Module> {
        &self.modules[self.entry as usize].module
    }

    /// Returns the tool call this run waits for, branches aside.
    pub fn pending_call(&self) -> Option<&ToolCall> {
        match &self.state {
            State::Tool { call, .. } => Some(call),
            _ => None,
        }
    }

    /// Answers the pending tool call with owned data. Data that does not fit ends the run when it goes on.
    pub fn resume(&mut self, answer: &Datum) -> Result<(), Fault> {
        match self.with_room(|vm| vm.heap.from_datum(answer)) {
            Ok(value) => self.resume_with(value),
            Err(fault) => {
                self.refuse(fault);
                Ok(())
            }
        }
    }

    /// Answers the pending tool call with frozen data, which is not copied. Data that does not fit ends the run when it
    /// goes on.
    pub fn resume_frozen(&mut self, answer: &Frozen) -> Result<(), Fault> {
        let answer = &self.firewalled(None, answer);
        match self.attach_answer(answer, true) {
            Ok(value) => self.resume_with(value),
            Err(fault) => {
                self.refuse(fault);
                Ok(())
            }
        }
    }

    /// Answers the pending tool call with an unknown value: `write` is the number of a write that is planned and not sent. The
    /// run ends where the program looks at the value.
    pub fn resume_unknown(&mut self, write: u64) -> Result<(), Fault> {
        self.heap.meet_unknowns(true);
        self.resume_with(Value::Unknown(write))
    }

    fn resume_with(&mut self, value: Value) -> Result<(), Fault> {
        match std::mem::replace(&mut self.state, State::Ready) {
            State::Tool { dst: Some(dst), .. } => {
                self.stack[self.current.base as usize + dst as usize] = value;
                self.current.pc += 1;
                Ok(())
            }
            State::Tool { dst: None, .. } => {
                self.state = State::Answered(value);
                Ok(())
            }
            other => {
                self.state = other;
                Err(Fault::new(Code::Internal, "the run does not wait for a tool"))
            }
        }
    }

    /// Answers the pending tool call with an error: the run ends with it when it goes on.
    pub fn refuse(&mut self, fault: Fault) {
        let fault = fault.at(self.user_span());
        self.state = State::Refused(fault);
    }

    /// Returns the definitions this run made, in the order the session knows them.
    pub(crate) fn changed_defs(&self) -> impl Iterator<Item = (&str, Value)> {
        self.defs
            .iter()
            .filter(|def| def.changed)
            .filter_map(|def| def.value.map(|value| (&*def.name, value)))
    }

    /// Returns definitions the code names that have no value, including those of functions of earlier turns.
    pub fn undefined(&self) -> impl Iterator<Item = &str> {
        self.defs.iter().filter(|def| def.value.is_none()).map(|def| &*def.name)
    }

    /// Copies the definitions this run made out of it together, so that shared data stays shared.
    pub fn freeze_changed(&self) -> Vec<(String, Frozen)> {
        let (names, mut values): (Vec<String>, Vec<Value>) =
            self.changed_defs().map(|(name, value)| (name.to_string(), value)).unzip();
        if names.is_empty() {
            return Vec::new();
        }
        let space = self.heap.copy_out(&mut values, &self.module_list);
        names.into_iter().zip(values).map(|(name, value)| (name, Frozen::new(space.clone(), value))).collect()
    }

    /// Returns the printed output.
    pub fn prints(&self) -> &[String] {
        &self.output.prints
    }

    /// Takes the clear text of the firewalled entries in the printed output, by number: for the host alone.
    pub fn take_clear_prints(&mut self) -> Vec<(usize, String)> {
        std::mem::take(&mut self.output.clear)
    }

    /// Takes the printed output.
    pub fn take_prints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.output.prints)
    }

    /// Returns the budget.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns its limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the heap of its values.
    pub fn heap(&self) -> &Heap {
        &self.heap
    }

    /// Returns the number of tool calls it made.
    pub fn tool_calls(&self) -> u64 {
        self.tool_calls
    }

    /// Returns the number of times it has split into branches. Together with the numbers of tool calls, this tells
    /// every call of a run from every other, also if branches were given up.
    pub fn forks(&self) -> u64 {
        self.forks
    }

    /// Returns the current place in the program: the innermost one in its own source.
    pub fn user_span(&self) -> Option<Span> {
        let (module, frame) = self.user_frame()?;
        module.block(frame.block).span_at(frame.pc as usize)
    }

    /// Returns the export of a prelude on whose behalf the machine currently acts: the innermost active one, if no
    /// code of the program itself runs inside it. The core library does not count, and helpers and closures of a
    /// prelude act for the export of it that runs them; if only such are active, `outside` names the export that
    /// started this machine. A function run by an export of another prelude acts for the export of its own prelude
    /// that is active further out, if any: it does not get its caller's authority.
    pub fn active_export<'a>(&'a self, outside: Option<&'a str>) -> Option<&'a str> {
        let mut acting = None;
        for frame in std::iter::once(&self.current).chain(self.frames.iter().rev()) {
            if frame.module == 0 {
                continue;
            }
            if frame.module == self.entry {
                return None;
            }
            let module = &self.modules.get(frame.module as usize)?.module;
            // Functions of earlier programs are the program's own.
            if module.artifact().exports.is_empty() {
                return None;
            }
            if *acting.get_or_insert(frame.module) != frame.module {
                continue;
            }
            if let Some(name) = module.export_of(module.owner(frame.block)) {
                return Some(name);
            }
        }
        let Some(acting) = acting else { return outside };
        let module = &self.modules.get(acting as usize)?.module;
        outside.filter(|name| module.artifact().exports.iter().any(|export| *export.name == **name))
    }

    /// Returns the function the program was calling there, as a program spells it.
    pub(crate) fn user_call(&self) -> Option<&str> {
        let (module, frame) = self.user_frame()?;
        let name = match module.block(frame.block).ops.get(frame.pc as usize)? {
            Op::CallBuiltin { import, .. } => &**module.artifact().imports.get(*import as usize)?,
            Op::Count { .. } => "count",
            Op::First { .. } => "first",
            Op::Nth { .. } => "nth",
            _ => return None,
        };
        (!name.starts_with('%')).then_some(name)
    }

    /// Returns the innermost frame of the program itself: where it runs, or where it called the library.
    fn user_frame(&self) -> Option<(&Module, &Frame)> {
        let frame = std::iter::once(&self.current)
            .chain(self.frames.iter().rev())
            .find(|frame| frame.module == self.entry && self.entry != 0)?;
        Some((&*self.modules.get(frame.module as usize)?.module, frame))
    }
}

/// Makes the fault of a run that was granted more data than allowed before it began.
fn too_much_granted(bytes: u64, limit: u64) -> Fault {
    let message = format!("granted data is {bytes} bytes, more than limits.granted_bytes = {limit}");
    Fault::new(Code::MemoryExceeded, message)
}

/// Makes the fault of a run that received more data than allowed.
pub(crate) fn too_much_taken_in(what: &str) -> Fault {
    Fault::new(Code::MemoryExceeded, what).hint(
        "ask for less, and keep only what you need of each result: results that nothing refers to no longer \
         count",
    )
}

/// Checks that this many tool calls are within the limit.
pub(crate) fn count_tool_call(calls: u64, limit: u64) -> Result<(), Fault> {
    if limit != 0 && calls > limit {
        return Err(Fault::new(
            Code::ToolCallLimitExceeded,
            format!(
                "the program made more than {limit} tool call{} (limits.tool_calls)",
                if limit == 1 { "" } else { "s" }
            ),
        ));
    }
    Ok(())
}
