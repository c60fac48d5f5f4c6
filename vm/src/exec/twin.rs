//! Twins: work that natives and instructions leave to the core library, because it takes calls of functions: elements
//! of endless sequences, and the arities of sequence functions that give transducers. Also the instructions for
//! exceptions, which are too rare for the loop.

use super::call::{self, Cx, Next};
use crate::fault::{Fault, Stop};
use crate::machine::{Frame, Vm, WINDOW};
use crate::value::Value;
use ptc_bytecode::{BuiltinId, Code, Op, lookup};

impl Vm {
    /// Continues where the current instruction stopped with [`Stop::twin`].
    pub(crate) fn call_twin(&mut self) -> Result<(), Stop> {
        let Frame { module, block, pc, base } = self.current;
        let module = self.modules[module as usize].module.clone();
        let block = module.block(block);
        let base = base as usize;
        // Behind every register of this frame, where a call overwrites none of them.
        let top = (block.regs as usize).min(WINDOW);
        let is_own = matches!(block.ops[pc as usize], Op::Throw { .. } | Op::Try { .. });
        // A function that gives elements of an endless sequence may have effects.
        if !is_own && self.abandon() {
            return Ok(());
        }
        match block.ops[pc as usize] {
            Op::CallBuiltin { base: at, n, import } => {
                let twin = self.twin(module.target(import).builtin(), n)?;
                self.enter(twin, at as usize, n as usize)
            }
            Op::Call { base: at, n } | Op::CallDef { base: at, n, .. } => {
                let Value::Builtin(id) = self.stack[base + at as usize] else { return Err(Stop::twin()) };
                let twin = self.twin(BuiltinId(id as u32), n)?;
                self.enter(twin, at as usize, n as usize)
            }
            Op::First { coll, .. } => {
                let coll = self.stack[base + coll as usize];
                self.enter_behind(top, named("%first*")?, &[coll])
            }
            Op::Nth { coll, index, .. } => {
                let args = [self.stack[base + coll as usize], self.stack[base + index as usize]];
                self.enter_behind(top, named("%nth*")?, &args)
            }
            op @ (Op::IterNext { dst, iter, fuel, .. } | Op::IterBack { dst, iter, fuel, .. }) => {
                let Value::Endless(seq) = self.stack[base + iter as usize] else { return Err(Stop::twin()) };
                if let Some((first, rest)) = self.heap.link_parts(seq) {
                    // A back edge leads to an `Enter`, which charges its own price.
                    match op {
                        Op::IterBack { to, .. } => self.current.pc = to,
                        _ => {
                            self.budget.pay(u32::from(fuel))?;
                            self.current.pc += 1;
                        }
                    }
                    self.stack[base + iter as usize] = rest;
                    self.stack[base + dst as usize] = first;
                    return Ok(());
                }
                match self.heap.step_parts(seq)[..] {
                    [callee, ref args @ ..] => self.enter_behind(top, callee, args),
                    [] => Err(Stop::twin()),
                }
            }
            Op::Throw { src } => {
                let exception = self.stack[base + src as usize];
                Err(super::lookup::throw(&self.heap, exception, &mut self.thrown).into())
            }
            Op::Try { base: at, .. } => self.enter(self.stack[base + at as usize], at as usize, 0),
            _ => Err(Stop::twin()),
        }
    }

    /// True if a code block returns to instructions that are not calls.
    pub(crate) fn delivers(&self, module: u32, block: u32) -> bool {
        let core = &self.modules[0].module;
        let block = core.artifact().blocks.get(block as usize).filter(|_| module == 0);
        block.is_some_and(|block| block.ops.iter().any(|op| matches!(op, Op::Deliver { .. })))
    }

    /// Returns the core function that takes over from a native.
    fn twin(&self, id: BuiltinId, n: u8) -> Result<Value, Stop> {
        let twin = self.library.twin(id).filter(|twin| twin.row().is_some_and(|row| row.takes(n as usize)));
        twin.map(|twin| Value::builtin(twin.0)).ok_or_else(Stop::twin)
    }

    /// Calls with these arguments, put after the frame's registers.
    fn enter_behind(&mut self, top: usize, callee: Value, args: &[Value]) -> Result<(), Stop> {
        let at = self.current.base as usize + top;
        if self.stack.len() < at + 1 + args.len() {
            super::grow_stack(&mut self.stack, at + 1 + args.len());
        }
        self.stack[at + 1..at + 1 + args.len()].copy_from_slice(args);
        self.enter(callee, top, args.len())
    }

    /// Enters a function whose arguments are in place.
    fn enter(&mut self, callee: Value, at: usize, n: usize) -> Result<(), Stop> {
        let new_base = self.current.base as usize + at;
        let Vm { library, modules, heap, stack, budget, output, .. } = self;
        let mut cx = Cx { library, modules, heap, stack, budget, output };
        let Next::Enter { module, block } = call::general(&mut cx, callee, new_base, n, false)? else {
            return Err(Fault::new(Code::Internal, "there is no function to enter").into());
        };
        let max_cells = self.limits.stack_bytes as usize / size_of::<Value>();
        let regs = self.modules[module as usize].module.block(block).regs as usize;
        let wide = self.wide.len() + regs.saturating_sub(WINDOW);
        if new_base + self.frames.len() + wide >= max_cells {
            return Err(super::stack_fault(self.limits.stack_bytes).into());
        }
        self.wide.resize(wide, Value::Nil);
        if self.stack.len() < new_base + WINDOW {
            super::grow_stack(&mut self.stack, new_base + WINDOW);
        }
        self.frames.push(self.current);
        self.current = Frame { module, block, pc: 0, base: new_base as u32 };
        Ok(())
    }
}

fn named(name: &str) -> Result<Value, Stop> {
    lookup(name).map(|id| Value::builtin(id.0)).ok_or_else(Stop::twin)
}
