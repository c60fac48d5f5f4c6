//! Writer of a run as bytes.

use super::graph::{Graph, View};
use super::image::{
    CauseImage, Charge, EndedImage, FaultImage, FrameImage, Home, Image, Machine, StateImage, Val,
};
use super::seal;
use crate::fault::Fault;
use crate::fork::{Fork, ForkKind};
use crate::heap::Heap;
use crate::machine::{State, Vm};
use crate::value::Value;
use ptc_bytecode::{Code, encode};
use sha2::{Digest, Sha256};

impl Vm {
    /// Writes the run as bytes. It must wait for something or be about to start; it is not changed.
    pub fn snapshot(&self) -> Result<Vec<u8>, Fault> {
        if self.heap.has_unknowns() {
            let message = "a run that plans its writes cannot be saved";
            return Err(
                Fault::new(Code::SnapshotInvalid, message).hint("save the run that carries the plan out")
            );
        }
        let mut graph = Graph::default();
        let mut grants = Vec::new();
        for (name, space) in &self.granted {
            graph.add_grant(space, grants.len() as u32);
            grants.push((name.to_string(), space.fingerprint()));
        }
        let mut consts = Vec::with_capacity(self.modules.len());
        for attached in &self.modules {
            let space = attached.module.space();
            graph.add_consts(space, consts.len() as u32);
            consts.push(space.fingerprint());
        }
        let lots: Vec<u32> = self.heap.lots().map(|(id, _)| id).collect();
        let others = (1..=self.heap.attached_len()).filter(|id| lots.binary_search(id).is_err());
        others.filter_map(|id| self.heap.attached(id)).for_each(|space| graph.add_earlier(space));
        let mut machines = Vec::new();
        write_machine(self, None, &mut graph, &mut machines)?;
        for (i, machine) in machines.iter_mut().enumerate() {
            machine.objects = graph.take(Home::Machine(i as u32));
        }
        let core = self.library.core();
        let modules = self.modules.iter().map(|attached| {
            let artifact = attached.module.artifact();
            (!std::sync::Arc::ptr_eq(&attached.module, core)).then(|| encode(artifact))
        });
        let image = Image {
            modules: modules.collect(),
            consts,
            grants,
            shared: graph.take(Home::Shared),
            lots: graph.take_lots(),
            machines,
            entry: self.entry,
            core: Sha256::digest(encode(core.artifact())).into(),
            builtins: std::mem::take(&mut graph.builtins),
        };
        let body = postcard::to_stdvec(&image).map_err(|error| {
            Fault::new(Code::Internal, format!("the snapshot cannot be written: {error}"))
        })?;
        Ok(seal(&body))
    }
}

/// Appends a machine and its branches; returns its number.
fn write_machine(
    vm: &Vm,
    parent: Option<(u32, u64)>,
    graph: &mut Graph,
    machines: &mut Vec<Machine>,
) -> Result<u32, Fault> {
    let number = machines.len() as u32;
    let own = Home::Machine(number);
    // A lent arena is read through a heap that has it attached.
    let lent = match &vm.state {
        State::Forked(fork) => fork.lent.clone(),
        _ => None,
    };
    let lots = charges(&vm.heap, graph);
    let mut reader = Heap::unbounded();
    let lent_id = lent.as_ref().map(|space| {
        graph.add_lent(space, number);
        reader.attach(space.clone(), &mut vm.module_list.clone())
    });
    let (view, import) = match lent_id {
        Some(id) => (View { heap: &reader, own, lender: None }, id),
        None => (View { heap: &vm.heap, own, lender: None }, 0),
    };
    let mut val =
        |graph: &mut Graph, value: Value| graph.value(&view, view.heap.import(import, value.shared()));

    let mut frames = Vec::with_capacity(vm.frames.len() + 1);
    let framed =
        !matches!(vm.state, State::Start { .. } | State::Answered(_) | State::Tool { dst: None, .. });
    if framed {
        let waits = matches!(vm.state, State::Tool { .. } | State::Forked(_) | State::Refused(_));
        let last = vm.frames.len();
        for (i, frame) in vm.frames.iter().chain([&vm.current]).enumerate() {
            let module = &vm.modules[frame.module as usize].module;
            let live = module.live_at(frame.block, frame.pc, i < last || waits);
            let regs = live
                .iter()
                .map(|reg| (reg, val(graph, vm.stack[frame.base as usize + reg as usize])))
                .collect();
            frames.push(FrameImage {
                module: frame.module,
                block: frame.block,
                pc: frame.pc,
                base: frame.base,
                regs,
            });
        }
    }
    let wide = vm.wide.iter().map(|value| val(graph, *value)).collect();
    let defs = vm
        .defs
        .iter()
        .map(|def| {
            // Branches inherit their parent's definitions; only the ones they changed are written.
            let own = parent.is_none() || def.changed;
            let value = def.value.filter(|_| own).map(|value| val(graph, value));
            (Box::from(&*def.name), value, def.changed)
        })
        .collect();
    let history = vm.history.map(|value| val(graph, value));
    let state = write_state(vm, graph, &mut val)?;
    let watched = vm.heap.watched.as_deref();
    machines.push(Machine {
        parent,
        objects: Vec::new(),
        frames,
        wide,
        defs,
        history,
        gaps: vm.gaps.each_ref().map(|gap| gap.as_deref().map(Box::from)),
        fuel_limit: vm.budget.limit(),
        fuel_left: vm.budget.remaining(),
        refunded: vm.attempts.refunded(),
        attempts: vm
            .active_attempt()
            .into_iter()
            .map(|attempt| (attempt.depth as u32, attempt.frame.pc, attempt.fuel))
            .collect(),
        prints: vm.output.prints.clone(),
        watched: watched
            .filter(|_| parent.is_none())
            .map(|watched| watched.fields().to_vec())
            .unwrap_or_default(),
        seen: watched.map(|watched| watched.seen().clone()).unwrap_or_default(),
        tool_calls: vm.tool_calls,
        forks: vm.forks,
        granted: vm.granted_bytes,
        lots,
        peaks: vm.peaks.bytes().to_vec(),
        state,
    });
    if let State::Forked(fork) = &vm.state {
        let ended = write_ended(fork, number, graph, &view, lent_id.unwrap_or(0));
        if let StateImage::Forked { ended: slot, .. } = &mut machines[number as usize].state {
            *slot = ended;
        }
        for (index, branch) in &fork.running {
            write_machine(branch, Some((number, *index as u64)), graph, machines)?;
        }
    }
    Ok(number)
}

fn write_state(
    vm: &Vm,
    graph: &mut Graph,
    val: &mut impl FnMut(&mut Graph, Value) -> Val,
) -> Result<StateImage, Fault> {
    Ok(match &vm.state {
        State::Start { args } => {
            StateImage::Start { values: vm.stack[..=*args].iter().map(|value| val(graph, *value)).collect() }
        }
        State::Ready => StateImage::Ready,
        State::Tool { call, dst } => {
            StateImage::Tool { name: call.name.clone(), args: call.args.clone(), span: call.span, dst: *dst }
        }
        State::Answered(value) => StateImage::Answered(val(graph, *value)),
        State::Refused(fault) => StateImage::Refused(fault_image(fault)),
        State::Forked(fork) => StateImage::Forked {
            f: match fork.kind {
                ForkKind::Map { f } => Some(val(graph, f)),
                ForkKind::Calls => None,
            },
            items: val(graph, fork.items),
            dst: fork.dst,
            next: fork.next as u64,
            lent: fork.lent.is_some(),
            ended: Vec::new(),
        },
        State::Ended => {
            return Err(Fault::new(Code::SnapshotInvalid, "the run has ended; there is nothing to save"));
        }
    })
}

fn write_ended(fork: &Fork, number: u32, graph: &mut Graph, parent: &View<'_>, lent: u32) -> Vec<EndedImage> {
    let mut images = Vec::with_capacity(fork.ended.len());
    let none = Heap::unbounded();
    for (place, (index, branch)) in fork.ended.iter().enumerate() {
        let mut lots = Vec::new();
        let outcome = match &branch.outcome {
            Ok(answer) => {
                let own = Home::Ended(number, place as u32);
                let heap = answer.heap.as_deref().unwrap_or(&none);
                lots = charges(heap, graph);
                let view = View { heap, own, lender: Some((answer.lender, parent, lent)) };
                let value = graph.value(&view, answer.value);
                Ok((graph.take(own), value))
            }
            Err(fault) => Err(fault_image(fault)),
        };
        images.push(EndedImage {
            index: *index as u64,
            fuel: branch.fuel,
            tool_calls: branch.tool_calls,
            lots,
            peaks: branch.peaks.bytes().to_vec(),
            seen: branch.seen.clone(),
            outcome,
        });
    }
    images
}

/// Returns the lots of a machine that count.
fn charges(heap: &Heap, graph: &mut Graph) -> Vec<Charge> {
    let spaces = heap.lots().filter_map(|(id, charge)| Some((heap.attached(id)?, charge)));
    spaces.map(|(space, charge)| (graph.add_lot(space), charge)).collect()
}

fn fault_image(fault: &Fault) -> FaultImage {
    let CauseImage { reason, message, hint, span, value } = cause_image(fault);
    let mut causes = Vec::new();
    let mut next = &fault.parts().cause;
    while let Some((branch, cause)) = next {
        causes.push((*branch, cause_image(cause)));
        next = &cause.parts().cause;
    }
    let trace = fault.parts().trace.clone();
    FaultImage { reason, message, hint, span, value, causes, trace }
}

fn cause_image(fault: &Fault) -> CauseImage {
    let parts = fault.parts();
    CauseImage {
        reason: parts.code.reason().to_string(),
        message: parts.message.clone(),
        hint: parts.hint.clone(),
        span: parts.span,
        value: parts.value.clone(),
    }
}
