//! Forks: `pmap` and `pcalls`, in which a run waits for branches.
//!
//! A branch is a separate machine. It reads the parent's values in place, since the parent's arena is lent to all
//! branches as a frozen space while the parent waits, and makes its own in an arena of its own. The driver decides
//! where branches run; everything here is plain data, so a run can be held or written to bytes with its branches.

mod order;
mod serial;

use crate::budget::fuel_fault;
use crate::collect::Collector;
use crate::fault::{Fault, Stop, StopKind};
use crate::heap::{Heap, Space};
use crate::lot_table::Peaks;
use crate::machine::{Ending, Entry, STACK, State, Vm, WINDOW, count_tool_call};
use crate::value::Value;
use crate::watched::Seen;
use ptc_bytecode::{Code, Limits};
use serial::Before;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;

/// The work of the branches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ForkKind {
    /// For `(pmap f items)`: each branch calls `f` with its item.
    Map { f: Value },
    /// For `(pcalls …)`: each branch calls its item.
    Calls,
}

impl ForkKind {
    /// Returns the form as programs spell it.
    fn form(self) -> &'static str {
        match self {
            ForkKind::Map { .. } => "pmap",
            ForkKind::Calls => "pcalls",
        }
    }
}

/// The memory that runs hold, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// Bytes in arenas, and in waiting calls.
    pub bytes: u64,
    /// Bytes of replies received, except those from before the run began.
    pub granted: u64,
    /// Bytes on stacks of branches, beyond the initial stack.
    pub stack: u64,
}

impl Held {
    /// Adds another run's memory.
    #[must_use]
    pub fn plus(self, more: Held) -> Held {
        self.with(more, u64::saturating_add)
    }

    /// Subtracts a part.
    #[must_use]
    pub fn minus(self, part: Held) -> Held {
        self.with(part, u64::saturating_sub)
    }

    fn with(self, other: Held, of: fn(u64, u64) -> u64) -> Held {
        Held {
            bytes: of(self.bytes, other.bytes),
            granted: of(self.granted, other.granted),
            stack: of(self.stack, other.stack),
        }
    }
}

/// The branches of a run.
pub(crate) struct Fork {
    pub kind: ForkKind,
    /// Vector of the parent with one item per branch.
    pub items: Value,
    /// Register for the vector of results.
    pub dst: u8,
    /// Number of branches; known once the arena is lent.
    pub count: usize,
    /// Index of the first branch not yet started.
    pub next: usize,
    /// Arena of the parent while it is lent.
    pub lent: Option<Arc<Space>>,
    /// Branches that were started and have not ended.
    pub running: BTreeMap<usize, Box<Vm>>,
    /// Branches that have ended.
    pub ended: BTreeMap<usize, Branch>,
    /// Totals of the ended branches: bytes held and tool calls. There may be very many branches, and the totals are
    /// read often.
    ended_bytes: usize,
    ended_granted: u64,
    /// Bytes of replies held by the branches before the first that has not ended.
    before: Before,
    ended_calls: u64,
    /// Index of the first failed branch.
    failed: Option<usize>,
}

/// A branch that has ended.
pub(crate) struct Branch {
    pub fuel: u64,
    pub tool_calls: u64,
    /// Bytes of replies it received.
    pub peaks: Peaks,
    /// Lookups of watched fields in it.
    pub seen: Seen,
    pub outcome: Result<Answer, Fault>,
}

impl Branch {
    /// Returns the bytes it holds until its result is taken.
    fn bytes(&self) -> usize {
        let heap = self.outcome.as_ref().ok().and_then(|answer| answer.heap.as_deref());
        size_of::<Branch>() + self.seen.bytes() + heap.map_or(0, |heap| heap.used() + size_of::<Heap>())
    }

    /// Returns the bytes of the tool replies that its result refers to.
    fn granted(&self) -> u64 {
        let heap = self.outcome.as_ref().ok().and_then(|answer| answer.heap.as_deref());
        heap.map_or(0, Heap::lot_bytes)
    }
}

/// The value of a branch, still in the branch's own arena.
pub(crate) struct Answer {
    /// Heap of the value; None for a value that is not in any arena.
    pub heap: Option<Box<Heap>>,
    pub value: Value,
    /// Number of the parent's arena in the branch's heap.
    pub lender: u32,
}

impl Answer {
    /// Marks the objects it refers to in the parent's arena for a collection there, and updates its references.
    fn follow(&mut self, collector: &mut Collector<'_>) {
        let Some(heap) = &mut self.heap else { return };
        // Nothing in the arena is garbage: a branch is collected when it ends.
        for cell in heap.own.cells.iter_mut().chain([&mut self.value]) {
            collector.root_of(self.lender, cell);
        }
    }

    /// Returns the parent's frozen spaces that it refers to, by the parent's numbers.
    fn spaces_in(&self, parent: &Heap) -> Vec<u32> {
        let Some(heap) = self.heap.as_deref() else { return Vec::new() };
        // Replies to the branch itself are attached when the branch's value is.
        let own: HashSet<u32> = heap.lots().map(|(id, _)| id).collect();
        let ids = heap.spaces_of(self.value).into_iter();
        let others = ids.filter(|id| *id != self.lender && !own.contains(id));
        others.filter_map(|id| parent.known_as(heap.attached(id)?)).collect()
    }
}

impl Fork {
    pub fn new(kind: ForkKind, items: Value, dst: u8) -> Fork {
        Fork {
            kind,
            items,
            dst,
            count: 0,
            next: 0,
            lent: None,
            running: BTreeMap::new(),
            ended: BTreeMap::new(),
            ended_bytes: 0,
            ended_granted: 0,
            before: Before::default(),
            ended_calls: 0,
            failed: None,
        }
    }

    /// Records the end of a branch.
    pub fn end(&mut self, index: usize, branch: Branch) {
        self.ended_bytes += branch.bytes();
        self.ended_granted = self.ended_granted.saturating_add(branch.granted());
        if branch.outcome.is_err() {
            self.failed = Some(self.failed.map_or(index, |first| first.min(index)));
        }
        self.ended_calls = self.ended_calls.saturating_add(branch.tool_calls);
        self.ended.insert(index, branch);
    }
}

/// The branches of a run, for hosts that watch it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Branches {
    /// `pmap` or `pcalls`.
    pub form: &'static str,
    /// Number of branches.
    pub count: usize,
    /// Number of branches that ended with a value.
    pub succeeded: usize,
    /// Number of branches that ended otherwise.
    pub failed: usize,
}

impl Vm {
    /// Returns the branches the run waits for.
    pub fn forked(&self) -> Option<Branches> {
        let State::Forked(fork) = &self.state else { return None };
        let count = match (&fork.lent, fork.items) {
            (None, Value::Vector(items)) => self.heap.vec_len(items),
            _ => fork.count,
        };
        let failed = fork.ended.values().filter(|branch| branch.outcome.is_err()).count();
        Some(Branches { form: fork.kind.form(), count, succeeded: fork.ended.len() - failed, failed })
    }

    /// Starts up to `most` branches that have not started yet; [`Vm::take_branches`] then returns them among
    /// others. None is started once a branch has failed: the first failure by index decides, and all before it have
    /// started already.
    pub fn start_branches(&mut self, most: usize) -> Result<(), Fault> {
        let modules = self.module_list.clone();
        if matches!(&self.state, State::Forked(fork) if fork.lent.is_none()) {
            // The more the parent holds, the less branches may hold, so it must not hold garbage, whose amount varies.
            self.collect_resting();
        }
        let State::Forked(fork) = &mut self.state else { return Ok(()) };
        let Value::Vector(items) = fork.items else {
            return Err(Fault::new(Code::Internal, "branches have no items"));
        };
        if fork.lent.is_none() {
            fork.count = self.heap.vec_len(items);
            fork.lent = Some(self.heap.lend(&modules));
        }
        let Some(lent) = fork.lent.clone() else { return Ok(()) };
        let (kind, first, failed) = (fork.kind, fork.next, fork.failed);
        let last = if failed.is_some() { first } else { fork.count.min(first + most) };
        let fuel = self.budget.remaining();
        let mut started = Vec::with_capacity(last - first);
        for i in first..last {
            started.push((i, Box::new(self.branch(&lent, kind, items, i, fuel)?)));
        }
        if let State::Forked(fork) = &mut self.state {
            fork.next = last;
            fork.running.extend(started);
        }
        Ok(())
    }

    /// Returns the number of branches that were started and have not ended.
    pub fn branches_running(&self) -> usize {
        match &self.state {
            State::Forked(fork) => fork.running.len(),
            _ => 0,
        }
    }

    /// Takes out the branches that can go on (those not waiting for a tool), to be run anywhere and put back.
    pub fn take_branches(&mut self) -> Vec<(usize, Box<Vm>)> {
        let State::Forked(fork) = &mut self.state else { return Vec::new() };
        if let Some(failed) = fork.failed {
            // Branches after the first failure no longer matter.
            fork.running.retain(|i, _| *i < failed);
        }
        let ready: Vec<usize> =
            fork.running.iter().filter(|(_, vm)| vm.can_advance()).map(|(i, _)| *i).collect();
        ready.into_iter().filter_map(|i| fork.running.remove(&i).map(|vm| (i, vm))).collect()
    }

    /// Releases memory that a branch no longer needs, once it rests. Call it where the branch ran: many rest before
    /// the first of them is put back.
    pub fn settle(&mut self, ended: Option<&mut Ending>) {
        if let Some(Ending::Value(value)) = ended {
            // A value that waits to be copied should be as small as possible.
            let mut collector = self.heap.collect();
            collector.root(value);
            collector.finish();
        }
        if matches!(self.state, State::Ended) {
            (self.stack, self.wide, self.frames) = (Vec::new(), Vec::new(), Vec::new());
        }
        self.heap.trim();
    }

    /// Releases memory that a run does not need while it waits for tools.
    pub fn trim(&mut self) {
        self.heap.trim();
        self.stack.truncate(self.current.base as usize + WINDOW);
        self.stack.shrink_to_fit();
        self.wide.shrink_to_fit();
        self.frames.shrink_to_fit();
    }

    /// Returns the memory of this run and its branches, as [`Vm::check_branches`] counts it: without its own stack.
    pub fn held(&self) -> Held {
        Held {
            bytes: self.held_bytes() as u64,
            granted: self.held_granted(),
            stack: self.held_stack() as u64,
        }
    }

    /// Returns the memory this run adds to that of its parent.
    pub fn held_as_branch(&self) -> Held {
        let held = self.held();
        Held { stack: held.stack + self.own_stack() as u64, ..held }
    }

    /// Puts back a branch that waits for a tool, or for its next slice of time.
    pub fn put_branch(&mut self, index: usize, branch: Box<Vm>) {
        if let State::Forked(fork) = &mut self.state {
            fork.running.insert(index, branch);
        }
    }

    /// Puts back a branch that has ended and was [settled](Vm::settle).
    pub fn end_branch(&mut self, index: usize, branch: Box<Vm>, outcome: Result<Ending, Fault>) {
        let word = match &self.state {
            State::Forked(fork) => fork.kind.form(),
            _ => "pmap",
        };
        let fuel = branch.budget.spent();
        let tool_calls = branch.tool_calls.saturating_sub(self.tool_calls);
        let Vm { mut heap, peaks, lender, .. } = *branch;
        let seen = heap.watched.take().map(|watched| watched.into_seen()).unwrap_or_default();
        let outcome = match outcome {
            Ok(Ending::Value(value)) => {
                heap.release(lender);
                let heap = value.reference().is_some().then(|| Box::new(heap));
                Ok(Answer { heap, value, lender })
            }
            Ok(Ending::Returned(_)) => {
                Err(branch_fault(word, index, "called `return`; only the whole program can return"))
            }
            Ok(Ending::Failed(value)) => {
                let what =
                    format!("called `fail` with {}; only the whole program can fail", heap.brief(value));
                Err(branch_fault(word, index, &what).hint("`throw` instead, or give the failure as a value"))
            }
            // The branch had the rest of the fuel; readers know the limit of the whole run.
            Err(fault) if fault.code() == Code::FuelExceeded => {
                Err(fuel_fault(self.budget.limit()).at(fault.parts().span))
            }
            Err(fault) if keeps_its_kind(fault.code()) => Err(fault),
            Err(mut fault) => {
                let trace = fault.take_trace();
                let parts = fault.parts();
                let mut wrapped = branch_fault(
                    word,
                    index,
                    &format!("stopped: {}: {}", parts.code.reason(), parts.message),
                );
                if let Some(hint) = &parts.hint {
                    wrapped = wrapped.hint(hint.clone());
                }
                let span = parts.span;
                Err(wrapped.caused_by(index as u64, fault).at(span).with_trace(trace))
            }
        };
        if let State::Forked(fork) = &mut self.state {
            fork.end(index, Branch { fuel, tool_calls, peaks, seen, outcome });
        }
    }

    /// Checks the memory of this run and its branches against the program's limit, once all of them rest. Garbage
    /// does not count: it is collected first where that could matter. Branches count in the order of their items,
    /// so the fault is the same on any number of threads.
    pub fn check_branches(&mut self) -> Result<(), Fault> {
        // Each of very many branches may be too short to check the clock itself. A failed branch decides alone.
        let is_failed = matches!(&self.state, State::Forked(fork) if fork.failed.is_some());
        if !is_failed {
            self.heap.look_at_clock().map_err(|fault| self.end_with(fault))?;
        }
        count_tool_call(self.calls_made(), self.limits.tool_calls).map_err(|fault| self.end_with(fault))?;
        let limit = self.limits.stack_bytes;
        if self.held_stack() as u64 > limit && self.first_over(u64::MAX, limit).is_some() {
            let message =
                format!("the waiting branches of `pmap` use more than limits.stack_bytes = {limit} together");
            let fault = Fault::new(Code::StackExceeded, message);
            return Err(self.end_with(fault.hint("call tools outside of deep recursion")));
        }
        let limit = self.limits.memory_bytes;
        if self.held_bytes() as u64 > limit {
            self.shrink();
            if let Some(Held { bytes, .. }) = self.first_over(limit, u64::MAX) {
                let held =
                    if self.heap.has_veils() { String::new() } else { format!("{bytes} bytes together, ") };
                let fault = Fault::new(
                    Code::MemoryExceeded,
                    format!("the branches of `pmap` hold {held}more than limits.memory_bytes = {limit}"),
                );
                return Err(self.end_with(fault.hint("give it fewer or smaller items at a time")));
            }
        }
        self.check_lots().map_err(|fault| self.end_with(fault))
    }

    /// Returns the bytes of replies received by this run and its branches, except those from before it began.
    fn held_granted(&self) -> u64 {
        let own = self.heap.lot_bytes();
        let State::Forked(fork) = &self.state else { return own };
        let running = fork.running.values().map(|branch| branch.held_granted());
        running.chain([fork.ended_granted]).fold(own, u64::saturating_add)
    }

    /// Returns the bytes in the arenas of this run and its branches, and in the calls they wait for.
    fn held_bytes(&self) -> usize {
        let fork = match &self.state {
            State::Forked(fork) => fork,
            State::Tool { call, .. } => return self.heap.used() + call.held,
            _ => return self.heap.used(),
        };
        self.heap.used()
            + fork.lent.as_ref().map_or(0, |space| space.bytes())
            + fork.running.values().map(|branch| branch.held_bytes()).sum::<usize>()
            + fork.ended_bytes
    }

    /// Returns the bytes of the stacks of this run's branches, beyond their initial stacks.
    fn held_stack(&self) -> usize {
        let State::Forked(fork) = &self.state else { return 0 };
        fork.running.values().map(|branch| branch.own_stack() + branch.held_stack()).sum()
    }

    /// Returns the number of tool calls of this run and its branches so far.
    fn calls_made(&self) -> u64 {
        let State::Forked(fork) = &self.state else { return self.tool_calls };
        let running = fork.running.values().map(|branch| branch.calls_made().saturating_sub(self.tool_calls));
        running.chain([fork.ended_calls]).fold(self.tool_calls, u64::saturating_add)
    }

    fn own_stack(&self) -> usize {
        self.stack.len().saturating_sub(STACK) * size_of::<Value>()
    }

    /// Collects the garbage of a waiting run, and of every waiting branch.
    pub fn shrink(&mut self) {
        match &mut self.state {
            State::Forked(fork) if fork.lent.is_some() => {
                fork.running.values_mut().for_each(|branch| branch.shrink());
            }
            State::Tool { .. } => self.collect_resting(),
            _ => {}
        }
    }

    /// True if this run can go on by itself: it has instructions, or branches that have.
    pub fn can_advance(&self) -> bool {
        match &self.state {
            State::Start { .. } | State::Ready | State::Answered(_) | State::Refused(_) => true,
            State::Forked(fork) => {
                fork.running.values().any(|branch| branch.can_advance()) || fork.running.is_empty()
            }
            State::Tool { .. } | State::Ended => false,
        }
    }

    /// Iterates over branches that were started and have not ended, by index.
    pub fn branches(&self) -> impl Iterator<Item = (usize, &Vm)> {
        let running = match &self.state {
            State::Forked(fork) => Some(&fork.running),
            _ => None,
        };
        running.into_iter().flatten().map(|(index, branch)| (*index, &**branch))
    }

    /// Returns one of [`Vm::branches`].
    pub fn branch_at(&self, index: usize) -> Option<&Vm> {
        match &self.state {
            State::Forked(fork) => fork.running.get(&index).map(|branch| &**branch),
            _ => None,
        }
    }

    /// Returns one of [`Vm::branches`].
    pub fn branch_mut(&mut self, index: usize) -> Option<&mut Vm> {
        match &mut self.state {
            State::Forked(fork) => fork.running.get_mut(&index).map(|branch| &mut **branch),
            _ => None,
        }
    }

    /// True if every branch that matters has ended, so that [`Vm::join`] may be called.
    pub fn branches_done(&self) -> bool {
        match &self.state {
            State::Forked(fork) => {
                fork.lent.is_some()
                    && fork.running.is_empty()
                    && (fork.next >= fork.count || fork.failed.is_some())
            }
            _ => false,
        }
    }

    /// Takes the branches' results, in order, and continues after the fork. Fuel is summed in index order, so the
    /// first branch that overdraws the budget decides, however they were scheduled.
    pub fn join(&mut self) -> Result<(), Fault> {
        let kept = self.wide.len();
        self.join_branches().or_else(|fault| {
            self.wide.truncate(kept);
            self.unwind(fault)
        })
    }

    fn join_branches(&mut self) -> Result<(), Fault> {
        let State::Forked(fork) = std::mem::replace(&mut self.state, State::Ready) else {
            return Err(Fault::new(Code::Internal, "there are no branches to join"));
        };
        if self.is_branch() {
            let own = self.heap.lot_bytes();
            fork.before.peaks.bytes().iter().for_each(|peak| self.peaks.note(own.saturating_add(*peak)));
        }
        let Fork { dst, mut ended, lent, .. } = *fork;
        if let Some(lent) = lent {
            self.heap.reclaim(lent);
        }
        let mut left = self.budget.remaining();
        let mut answers = Vec::with_capacity(ended.len());
        while let Some((_, branch)) = ended.pop_first() {
            if branch.fuel > left {
                self.budget.set_remaining(0);
                return Err(fuel_fault(self.budget.limit()));
            }
            left -= branch.fuel;
            self.budget.set_remaining(left);
            self.tool_calls = self.tool_calls.saturating_add(branch.tool_calls);
            if let Some(watched) = &mut self.heap.watched {
                watched.add(branch.seen);
            }
            answers.push(branch.outcome?);
        }

        // Results move into the parent's heap one by one. They are roots as soon as they are there, since `wide` is
        // scanned whole. Those still waiting refer to the parent's arena, too, and are updated when it moves.
        let kept = self.wide.len();
        let mut waiting: VecDeque<Answer> = answers.into();
        while let Some(answer) = waiting.front() {
            match self.adopt(answer).map_err(Stop::into_kind) {
                Ok(value) => {
                    self.wide.push(value);
                    waiting.pop_front();
                    if self.stress {
                        self.collect_before(&mut waiting);
                        self.heap.collected_for(0, 0)?;
                    }
                }
                Err(StopKind::Fault(fault)) => return Err(fault),
                Err(StopKind::Room { cells, text }) => {
                    self.collect_before(&mut waiting);
                    self.heap.collected_for(cells, text)?;
                }
            }
        }
        let vector = self.with_room(|vm| vm.heap.new_vec(&vm.wide[kept..]))?;
        self.wide.truncate(kept);
        self.stack[self.current.base as usize + dst as usize] = vector;
        self.current.pc += 1;
        Ok(())
    }

    /// Collects while results wait to be adopted.
    fn collect_before(&mut self, waiting: &mut VecDeque<Answer>) {
        let spaces: Vec<u32> = waiting.iter().flat_map(|answer| answer.spaces_in(&self.heap)).collect();
        self.collect_with(true, |collector| {
            spaces.into_iter().for_each(|id| collector.keep_space(id));
            waiting.iter_mut().for_each(|answer| answer.follow(collector));
        });
    }

    /// Copies a branch's value into this run.
    fn adopt(&mut self, answer: &Answer) -> Result<Value, Stop> {
        // Plain values come without their heap.
        self.heap.meet_unknowns(matches!(answer.value, Value::Unknown(_)));
        let Some(heap) = answer.heap.as_deref() else { return Ok(answer.value) };
        let mut spaces = vec![0; heap.attached_len() as usize + 1];
        let charges: HashMap<u32, u64> = heap.lots().collect();
        for id in heap.spaces_of(answer.value).into_iter().filter(|id| *id != answer.lender) {
            let Some(space) = heap.attached(id) else { continue };
            spaces[id as usize] = match (charges.get(&id), self.heap.known_as(space)) {
                (Some(charge), _) => self.attach_lot(space, *charge),
                (None, Some(known)) => known,
                (None, None) => self.attach_space(space.clone()),
            };
        }
        // Branches number modules as the parent does: they attach them in its order.
        self.heap.copy_in(
            heap,
            answer.value,
            |id| if id == 0 { None } else { spaces.get(id as usize).copied() },
            |module| module,
        )
    }

    /// Returns the limits of a branch. Its own branches share the number of calls in flight with its siblings.
    pub(crate) fn limits_of_branches(&self) -> Limits {
        let siblings = match &self.state {
            State::Forked(fork) => fork.count as u64,
            _ => 1,
        };
        let most = self.limits.parallel_in_flight;
        let parallel_in_flight = (most / siblings.clamp(1, most.max(1))).max(1);
        Limits { parallel_in_flight, ..self.limits }
    }

    /// Makes a machine for branch `index`.
    fn branch(
        &self,
        lent: &Arc<Space>,
        kind: ForkKind,
        items: crate::value::Ref,
        index: usize,
        fuel: u64,
    ) -> Result<Vm, Fault> {
        let heap = self.heap.of_branch(lent.bytes());
        let mut vm = self.child(self.limits_of_branches(), fuel, heap)?;
        let space = vm.attach_space(lent.clone());
        vm.lender = space;
        let import = |vm: &Vm, value: Value| vm.heap.import(space, value);
        for i in 0..vm.defs.len() {
            vm.defs[i].entry = Entry::UNKNOWN;
            vm.defs[i].value = vm.defs[i].value.map(|value| import(&vm, value));
            vm.defs[i].changed = false;
            vm.defs[i].given = None;
        }
        for i in 0..vm.data.len() {
            vm.data[i].1 = import(&vm, vm.data[i].1);
        }
        vm.history = vm.history.map(|value| import(&vm, value));
        let item = import(&vm, Value::Vector(items));
        let item = match item {
            Value::Vector(items) => vm.heap.vec_get(items, index).unwrap_or(Value::Nil),
            _ => Value::Nil,
        };
        match kind {
            ForkKind::Map { f } => {
                vm.stack[0] = import(&vm, f);
                vm.stack[1] = item;
                vm.state = State::Start { args: 1 };
            }
            ForkKind::Calls => {
                vm.stack[0] = item;
                vm.state = State::Start { args: 0 };
            }
        }
        Ok(vm)
    }
}

/// True for limits of the whole run, which are reported as such, not as a failed branch.
fn keeps_its_kind(code: Code) -> bool {
    matches!(
        code,
        Code::MemoryExceeded
            | Code::Timeout
            | Code::Cancelled
            | Code::ParallelCapacityExceeded
            | Code::FuelExceeded
            | Code::StackExceeded
            | Code::ToolCallLimitExceeded
            | Code::EffectDiverged
            | Code::UnknownAnswer
            | Code::PlanDiffers
    )
}

fn branch_fault(word: &str, index: usize, what: &str) -> Fault {
    let code = if word == "pmap" { Code::PmapError } else { Code::PcallsError };
    Fault::new(code, format!("`{word}`: branch {index} {what}"))
}
