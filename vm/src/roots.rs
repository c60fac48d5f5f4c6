//! Roots of a collection: exactly the registers that may still be read, and the tables of the run.

use crate::collect::Collector;
use crate::fault::{Fault, Stop, StopKind};
use crate::fork::ForkKind;
use crate::machine::{State, Vm, WINDOW};
use crate::value::Value;

impl Vm {
    /// Runs `make` for a run whose current instruction is done except for its result; collects as often as `make`
    /// requests room.
    pub(crate) fn with_room<T>(&mut self, make: impl Fn(&mut Vm) -> Result<T, Stop>) -> Result<T, Fault> {
        loop {
            match make(self).map_err(Stop::into_kind) {
                Ok(made) => return Ok(made),
                Err(StopKind::Fault(fault)) => return Err(fault),
                Err(StopKind::Room { cells, text }) => {
                    self.collect_frames(true);
                    self.heap.collected_for(cells, text)?;
                }
            }
        }
    }

    /// Collects for an instruction that stopped for want of room and will be run again, then makes sure that its
    /// request fits. Any other reason to stop is the fault.
    pub(crate) fn make_room(&mut self, stop: Stop) -> Result<(), Fault> {
        let (cells, text) = match stop.into_kind() {
            StopKind::Fault(fault) => return Err(fault),
            StopKind::Room { cells, text } => (cells, text),
        };
        self.collect_frames(false);
        // Collecting costs time instead of fuel, and with little room free there is a collection for every few objects.
        self.heap.look_at_clock()?;
        self.heap.collected_for(cells, text)?;
        // An operation of several steps requests room for one at a time, and its earlier work is garbage when it is
        // run again. A second request from the same place with the same fuel gets twice as much, until the
        // operation succeeds or has all the room there is.
        let place = (self.budget.remaining(), self.current.pc, self.frames.len());
        let asked = cells + text / size_of::<Value>();
        let before = self.room_asked.replace((place, asked));
        if let Some((_, given)) = before.filter(|(then, _)| *then == place) {
            let more = given.max(asked).saturating_mul(2);
            self.room_asked = Some((place, more));
            if !self.heap.allow(more) {
                return Err(self.heap.exceeded(cells, text));
            }
        }
        Ok(())
    }

    /// Collects a run that waits for a reply or for branches.
    pub(crate) fn collect_resting(&mut self) {
        self.collect_frames(true);
    }

    /// Collects without need, in the test mode.
    pub(crate) fn collect_for_stress(&mut self) -> Result<(), Fault> {
        self.collect_frames(false);
        self.heap.collected_for(0, 0)
    }

    /// Collects. `current_done` is true if the current instruction is done except for its result.
    pub(crate) fn collect_frames(&mut self, current_done: bool) {
        self.collect_with(current_done, |_| {});
    }

    /// Collects, with further roots from outside this run.
    pub(crate) fn collect_with(&mut self, current_done: bool, show_others: impl FnOnce(&mut Collector<'_>)) {
        let Vm { heap, stack, wide, frames, current, modules, defs, data, history, state, output, .. } = self;
        let incoming = output.incoming.as_ref().and_then(|frozen| heap.known_as(frozen.space()));
        let mut collector = heap.collect();
        show_others(&mut collector);
        // Data for a native that has not been run again yet.
        incoming.into_iter().for_each(|id| collector.keep_space(id));
        let top = frames.len();
        // A branch that has not made its first call, or only waited for a tool, has no frame.
        let framed =
            !matches!(state, State::Start { .. } | State::Answered(_) | State::Tool { dst: None, .. });
        for (i, frame) in frames.iter().chain(std::iter::once(&*current)).enumerate().filter(|_| framed) {
            let module = &modules[frame.module as usize].module;
            let live = module.live_at(frame.block, frame.pc, i < top || current_done);
            let base = frame.base as usize;
            let registers = &mut stack[base..base + WINDOW];
            for reg in live.iter() {
                collector.root(&mut registers[reg as usize]);
            }
        }
        collector.roots(wide);
        for def in defs.iter_mut() {
            if let Some(value) = &mut def.value {
                collector.root(value);
            }
        }
        for (_, value) in data.iter_mut() {
            collector.root(value);
        }
        collector.roots(history);
        match state {
            State::Forked(fork) => {
                collector.root(&mut fork.items);
                if let ForkKind::Map { f } = &mut fork.kind {
                    collector.root(f);
                }
            }
            State::Start { args } => collector.roots(&mut stack[..=*args]),
            State::Answered(value) => collector.root(value),
            State::Ready | State::Tool { .. } | State::Refused(_) | State::Ended => {}
        }
        collector.finish();
    }
}
