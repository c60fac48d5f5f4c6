//! Call traces of faults. They are computed when the fault ends the run, never before.

use crate::machine::{Frame, Vm};
use crate::value::Value;
use ptc_bytecode::{CallFrame, Op, Trace};

/// The role of a frame for readers.
enum Role<'a> {
    /// A part of the core library, by the name programs know.
    Library(Option<&'a str>),
    /// A function of the program.
    Program(Option<&'a str>),
    /// An export of a prelude, or a function of an earlier program: its code is not in the displayed source.
    Elsewhere(Option<&'a str>),
    /// A helper of a prelude that works for one of its exports.
    Helper,
}

impl Vm {
    /// Adds the calls under way around those of `trace`.
    pub(crate) fn trace(&self, trace: &mut Trace) {
        let frames: Vec<&Frame> = std::iter::once(&self.current).chain(self.frames.iter().rev()).collect();
        let mut next = 0;
        // The library may be active at the place of the fault, for the program or for other code.
        let (_, index, place) = self.caller(&frames, &mut next);
        if let (Some(Role::Program(_)), None, true) = (place, trace.index, trace.inner.is_empty()) {
            trace.index = index;
        }
        while let Some(frame) = frames.get(next) {
            next += 1;
            let function = match self.role(frame) {
                Role::Program(name) | Role::Elsewhere(name) => name,
                Role::Library(_) | Role::Helper => continue,
            };
            let mut site = next;
            let (by, index, caller) = self.caller(&frames, &mut site);
            // The program itself, and the first call of a branch, have no caller.
            let Some(caller) = caller else { return };
            let span = match caller {
                Role::Program(_) => frames.get(site).and_then(|frame| self.span_of(frame)),
                _ => None,
            };
            trace.push(CallFrame {
                function: function.map(str::to_string),
                by: by.map(str::to_string),
                index,
                span,
            });
        }
    }

    /// Walks from `next` over frames of the library to its caller; returns the name it called, the element it was
    /// at, and its role.
    fn caller<'a>(
        &'a self,
        frames: &[&Frame],
        next: &mut usize,
    ) -> (Option<&'a str>, Option<u64>, Option<Role<'a>>) {
        let (mut by, mut index) = (None, None);
        while let Some(frame) = frames.get(*next) {
            index = index.or_else(|| self.index_at(frame));
            match self.role(frame) {
                Role::Library(name) => by = name.or(by),
                Role::Helper => {}
                role => return (by, index, Some(role)),
            }
            *next += 1;
        }
        (by, index, None)
    }

    fn role(&self, frame: &Frame) -> Role<'_> {
        let Some(module) = self.modules.get(frame.module as usize).map(|attached| &attached.module) else {
            return Role::Helper;
        };
        let owner = module.owner(frame.block);
        let function = module.artifact().functions.get(owner as usize);
        let name = function.and_then(|function| function.name.as_deref());
        if frame.module == 0 && self.entry != 0 {
            return Role::Library(module.export_of(owner).filter(|name| !name.starts_with('%')));
        }
        if frame.module == self.entry {
            return Role::Program(name);
        }
        match (module.artifact().exports.is_empty(), module.export_of(owner)) {
            (true, _) => Role::Elsewhere(name),
            (false, Some(export)) => Role::Elsewhere(Some(export)),
            (false, None) => Role::Helper,
        }
    }

    fn span_of(&self, frame: &Frame) -> Option<ptc_bytecode::Span> {
        self.modules.get(frame.module as usize)?.module.block(frame.block).span_at(frame.pc as usize)
    }

    /// Returns the index of the element in the innermost loop of a frame, from 0; None outside loops, and for
    /// anything but a vector.
    fn index_at(&self, frame: &Frame) -> Option<u64> {
        let block = self.modules.get(frame.module as usize)?.module.block(frame.block);
        let iter = block.ops.get(frame.pc as usize..)?.iter().find_map(|op| match op {
            Op::IterBack { iter, to, .. } if *to <= frame.pc => Some(*iter),
            _ => None,
        })?;
        let walked = frame.base as usize + iter as usize;
        match *self.stack.get(walked..walked + 2)? {
            [Value::Vector(_) | Value::Range(_), Value::Int(behind)] => {
                u64::try_from(behind).ok()?.checked_sub(1)
            }
            _ => None,
        }
    }
}
