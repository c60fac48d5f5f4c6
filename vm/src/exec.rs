//! The interpreter loop: fetches an instruction, executes it, goes on. Fast paths are in the arms; rare cases are named
//! handlers in `exec/`.

mod arith;
mod call;
mod granted;
mod lookup;
mod select;
mod tool_args;
mod twin;
mod unknown;

pub use arith::{add, div, modulo, mul, not_a_number, quot, rem, sub};
pub use granted::{is_data_name, missing_data};
pub use lookup::{assoc, assoc_last, conj, conj_last, float_out_of_range, get, get_or, no_positions};
pub use tool_args::host_args;

use crate::budget::Budget;
use crate::call::Call;
use crate::fault::{Fault, Stop};
use crate::fork::{Fork, ForkKind};
use crate::heap::Heap;
use crate::link::Target;
use crate::machine::{Attached, Ending, Entry, Event, Frame, State, ToolCall, Vm, WINDOW, count_tool_call};
use crate::remembered::earlier;
use crate::value::{FieldName, Value, is_firewalled, share_all};
use call::{Cx, Next};
use ptc_bytecode::{Code, Op};

/// Steps charged per byte of memory that a failed run filled.
const FILLING_STEPS: u64 = 4;

/// Units of fuel that a parallel branch costs besides its instructions: it is a separate machine.
const BRANCH_UNITS: usize = 100;

impl Vm {
    /// Runs until the program ends or needs the host. After a fault the run is over; the printed output and the
    /// fuel spent can still be read.
    pub fn run(&mut self) -> Result<Event, Fault> {
        self.heap.begin_work(&self.budget);
        let event = self.run_on();
        self.heap.end_work();
        event
    }

    fn run_on(&mut self) -> Result<Event, Fault> {
        loop {
            let done = match self.state {
                State::Ready if self.stress || self.heap.has_unknowns() => self.execute::<true>(),
                State::Ready => self.execute::<false>(),
                State::Start { args } => self.first_call(args),
                State::Answered(value) => Ok(Some(Event::Done(Ending::Value(value)))),
                State::Refused(ref fault) => Err(fault.clone().into()),
                State::Tool { .. } | State::Forked(_) | State::Ended => {
                    return Err(Fault::new(Code::Internal, "the run is not ready to go on"));
                }
            };
            if done.as_ref().is_err_and(|stop| !stop.is_fault()) {
                // The instruction did not finish. It is charged again when it is run again.
                self.heap.take_due();
            }
            let goes_on = match done {
                Ok(Some(event)) => {
                    // Results leave the machine only after they are paid for.
                    self.budget.pay_debts().map_err(|fault| self.end_with(fault))?;
                    match event {
                        Event::Done(_) => self.state = State::Ended,
                        Event::Fork => self.forks = self.forks.saturating_add(1),
                        Event::Tool | Event::Paused => {}
                    }
                    return Ok(event);
                }
                Ok(None) if !self.stress => Ok(()),
                Err(stop) if stop.is_pause() => return Ok(Event::Paused),
                Ok(None) => self.collect_for_stress(),
                // Outside the loop, since few calls need it: the loop stays small.
                Err(stop) if stop.is_twin() => self.call_twin().or_else(|stop| self.make_room(stop)),
                Err(stop) if stop.is_attach() => self.take_in(),
                Err(stop) => self.make_room(stop),
            };
            goes_on.or_else(|fault| self.unwind(fault))?;
        }
    }

    /// Makes the first call of a branch: `stack[0]` with the values after it.
    fn first_call(&mut self, args: usize) -> Result<Option<Event>, Stop> {
        let callee = self.stack[0];
        let mark = self.budget.mark();
        let Vm { library, modules, heap, stack, budget, output, .. } = self;
        let next =
            call::general(&mut Cx { library, modules, heap, stack, budget, output }, callee, 0, args, false);
        match next {
            Ok(Next::Value(value)) => {
                self.heap.settle(&mut self.budget);
                Ok(Some(Event::Done(Ending::Value(value))))
            }
            Ok(Next::Enter { module, block }) => {
                self.current = Frame { module, block, pc: 0, base: 0 };
                let regs = self.modules[module as usize].module.block(block).regs as usize;
                self.wide.resize(regs.saturating_sub(WINDOW), Value::Nil);
                self.state = State::Ready;
                Ok(None)
            }
            Ok(Next::Tool { name, args }) => {
                let call = ToolCall::new(name, args, None).fits(&self.heap, &mut self.budget)?;
                self.tool_calls += 1;
                count_tool_call(self.tool_calls, self.limits.tool_calls)?;
                self.state = State::Tool { call, dst: None };
                Ok(Some(Event::Tool))
            }
            Err(stop) => {
                if !stop.is_fault() {
                    self.budget.reset(mark);
                }
                Err(stop)
            }
        }
    }

    /// Ends the run; the fault gets the place where it happened.
    pub(crate) fn end_with(&mut self, fault: Fault) -> Fault {
        self.state = State::Ended;
        // Work of the instruction is paid for, even though it failed.
        self.heap.pay_last(&mut self.budget);
        if fault.code() == Code::MemoryExceeded {
            // The progress of an instruction depends on when garbage was collected, so every such run pays for
            // filling the memory.
            self.budget.owe(self.limits.memory_bytes.saturating_mul(FILLING_STEPS));
        }
        let mut fault = self.explain(fault).at(self.user_span());
        // The place where a run hits a limit says little, and varies.
        if fault.code().is_run_limit() || fault.code() == Code::Cancelled {
            return fault;
        }
        let mut trace = fault.take_trace();
        self.trace(&mut trace);
        fault.with_trace(trace)
    }

    /// Runs instructions. The careful variant stops at each `Enter` with None, which means: collect if stressing, then go
    /// on; it also looks for operands that are unknown. On `Err`, the current frame's `pc` names
    /// the instruction that stopped, so it can be run again.
    fn execute<const CAREFUL: bool>(&mut self) -> Result<Option<Event>, Stop> {
        let max_cells = self.limits.stack_bytes as usize / size_of::<Value>();
        let Vm {
            library,
            modules,
            heap,
            stack,
            wide,
            frames,
            current,
            defs,
            data,
            history,
            gaps,
            budget,
            output,
            limits,
            state,
            depth,
            tool_calls,
            strict_data,
            attempts,
            ..
        } = self;
        let modules: &[Attached] = modules;

        let mut module = &modules[current.module as usize];
        let mut block = module.module.block(current.block);
        let mut regs = window(stack, current.base);
        let mut pc = current.pc as usize;
        // Loops to let pass before `select` is tried again.
        let mut patience = 0;

        /// Unwraps, or leaves the loop with this instruction as the place.
        macro_rules! ok {
            ($e:expr) => {
                match $e {
                    Ok(value) => value,
                    Err(stop) => {
                        current.pc = pc as u32;
                        return Err(stop.into());
                    }
                }
            };
        }
        /// Leaves the loop. An instruction run again after a collection pays again; a faulted one has paid.
        macro_rules! again {
            ($stop:expr, $mark:expr) => {{
                let stop = $stop;
                if !stop.is_fault() {
                    budget.reset($mark);
                }
                current.pc = pc as u32;
                return Err(stop);
            }};
        }
        /// Unwraps like `ok!`, and pays for charges made on the way.
        macro_rules! paid {
            ($e:expr) => {{
                let value = ok!($e);
                heap.settle(budget);
                value
            }};
        }
        macro_rules! r {
            ($reg:expr) => {
                regs[$reg as usize]
            };
        }
        /// A register whose value goes where others may hold it: nobody owns it from here on.
        macro_rules! shared {
            ($reg:expr) => {{
                let reg = $reg as usize;
                if regs[reg].is_owned() {
                    regs[reg] = regs[reg].shared();
                }
                regs[reg]
            }};
        }
        /// As `shared!`, for `$n` consecutive registers.
        macro_rules! shared_run {
            ($first:expr, $n:expr) => {{
                let run = &mut regs[$first as usize..$first as usize + $n as usize];
                if heap.owns {
                    share_all(run);
                }
                &*run
            }};
        }
        /// Continues at another place, most often an `Enter`: paying there and then saves finding the
        /// way to it.
        macro_rules! goto {
            ($to:expr) => {{
                pc = $to as usize;
                if !CAREFUL && let Op::Enter { fuel } = block.ops[pc] {
                    ok!(budget.enter(fuel));
                    pc += 1;
                }
                continue;
            }};
        }
        /// Enters a code block whose function and arguments are in place from `base` on.
        macro_rules! enter {
            ($module:expr, $block:expr, $base:expr) => {{
                let new_base = current.base as usize + $base as usize;
                if new_base + frames.len() >= max_cells {
                    ok!(Err(stack_fault(limits.stack_bytes)))
                }
                current.pc = pc as u32;
                frames.push(*current);
                let called = Frame { module: $module, block: $block, pc: 0, base: new_base as u32 };
                if !called.runs_same(current) {
                    module = &modules[$module as usize];
                    block = module.module.block($block);
                }
                *current = called;
                if block.regs as usize > WINDOW {
                    wide.resize(wide.len() + block.regs as usize - WINDOW, Value::Nil);
                    if new_base + frames.len() + wide.len() >= max_cells {
                        ok!(Err(stack_fault(limits.stack_bytes)))
                    }
                }
                if new_base + WINDOW > stack.len() {
                    grow_stack(stack, new_base + WINDOW);
                }
                regs = window(stack, current.base);
                goto!(0);
            }};
        }
        /// Returns to the caller; without one the run ends with this value.
        macro_rules! leave {
            ($value:expr) => {{
                if block.regs as usize > WINDOW {
                    wide.truncate(wide.len() + WINDOW - block.regs as usize);
                }
                let Some(caller) = frames.pop() else {
                    return Ok(Some(Event::Done(Ending::Value($value.shared()))));
                };
                if !caller.runs_same(current) {
                    module = &modules[caller.module as usize];
                    block = module.module.block(caller.block);
                }
                *current = caller;
                regs = window(stack, current.base);
                pc = current.pc as usize;
            }};
        }
        /// Calls a native whose arguments are in place after `base`.
        macro_rules! call_native {
            ($id:expr, $body:expr, $base:expr, $n:expr) => {{
                let first = $base as usize + 1;
                let mark = budget.mark();
                let args = &mut regs[first..first + $n as usize];
                let owns_first = heap.owns && share_all(args);
                match $body(&mut Call { id: $id, args, heap, budget, output, owns_first }) {
                    Ok(value) => {
                        heap.settle(budget);
                        r!($base) = value;
                    }
                    Err(stop) => {
                        if owns_first && stop.is_room() {
                            r!(first) = r!(first).claimed();
                        }
                        again!(stop, mark)
                    }
                }
            }};
        }
        /// Calls a value: a closure of one arity is entered at once, a native run at once, everything else is in
        /// `exec/call.rs`.
        macro_rules! call_value {
            ($base:expr, $n:expr) => {
                match r!($base) {
                    Value::Closure(closure) => {
                        let (m, f) = heap.closure_code(closure);
                        let code = &modules[m as usize].module;
                        if let Some(b) = code.plain(f, $n).or_else(|| code.exact(f, $n)) {
                            enter!(m, b, $base);
                        }
                        general_call!(r!($base), $base, $n, false);
                    }
                    Value::Builtin(id) => match library.native_taking(id as u32, $n) {
                        Some((id, body)) => call_native!(id, body, $base, $n),
                        None => general_call!(r!($base), $base, $n, false),
                    },
                    key @ Value::Keyword(_) if $n == 1 => {
                        r!($base) = paid!(lookup::get(heap, r!($base + 1), key));
                    }
                    Value::Vector(_) | Value::OwnVector(_)
                        if $n == 1 && matches!(r!($base + 1), Value::Int(_)) =>
                    {
                        r!($base) = ok!(lookup::nth(heap, &r!($base), &r!($base + 1)));
                    }
                    coll @ (Value::Map(_) | Value::OwnMap(_)) if $n == 1 => {
                        let key = shared!($base + 1);
                        r!($base) = paid!(lookup::get(heap, coll, key));
                    }
                    _ => general_call!(r!($base), $base, $n, false),
                }
            };
        }
        /// Calls a callee that is not a plain closure, in `exec/call.rs`.
        macro_rules! general_call {
            ($callee:expr, $base:expr, $n:expr, $spread:expr) => {{
                if heap.owns {
                    share_all(&mut regs[$base as usize..=$base as usize + $n as usize]);
                }
                let callee = $callee.shared();
                let at = current.base as usize + $base as usize;
                let mark = budget.mark();
                let mut cx = Cx { library, modules, heap, stack, budget, output };
                let next = match call::general(&mut cx, callee, at, $n as usize, $spread) {
                    Ok(next) => next,
                    Err(stop) => again!(stop, mark),
                };
                heap.settle(budget);
                regs = window(stack, current.base);
                match next {
                    Next::Value(value) => r!($base) = value,
                    Next::Enter { module: m, block: b } => enter!(m, b, $base),
                    Next::Tool { name, args } => {
                        let call = match ToolCall::new(name, args, block.span_at(pc)).fits(heap, budget) {
                            Ok(call) => call,
                            Err(stop) => again!(stop, mark),
                        };
                        r!($base) = Value::Nil;
                        *tool_calls += 1;
                        ok!(count_tool_call(*tool_calls, limits.tool_calls));
                        *state = State::Tool { call, dst: Some($base) };
                        current.pc = pc as u32;
                        return Ok(Some(Event::Tool));
                    }
                }
            }};
        }
        // Fast paths read registers by reference and write in place: copies of values on the Rust stack would cost
        // more than the operation.
        macro_rules! int_arith {
            ($op:expr, $dst:expr, $a:expr, $b:expr, $checked:ident, $sign:tt) => {
                match (&r!($a), &r!($b)) {
                    (&Value::Int(x), &Value::Int(y)) if let Some(z) = x.$checked(y) => r!($dst) = Value::Int(z),
                    (&Value::Float(x), &Value::Float(y)) => r!($dst) = Value::float(x.get() $sign y.get()),
                    _ => ok!(arith::general(heap, budget, regs, $op)),
                }
            };
        }
        macro_rules! less {
            ($x:expr, $y:expr, $at_once:ident, $slow:ident) => {
                match lookup::$at_once($x, $y) {
                    Some(less) => less,
                    None => lookup::$slow(heap, budget, $x, $y),
                }
            };
        }
        macro_rules! equal {
            ($x:expr, $y:expr) => {
                match ($x, $y) {
                    (&Value::Int(x), &Value::Int(y)) => x == y,
                    (&Value::Str(x), &Value::Str(y)) => lookup::same_text(heap, budget, x, y),
                    (x, y) => ok!(lookup::equal(heap, budget, x, y)),
                }
            };
        }
        /// True if there is another element, which is then in `$dst`.
        macro_rules! next_element {
            ($dst:expr, $iter:expr) => {{
                let Value::Int(cursor) = r!($iter + 1) else {
                    ok!(Err(Fault::new(Code::BadInstruction, "a cursor is not a number")))
                };
                let seq = r!($iter);
                if let Value::Vector(items) = seq
                    && let Some(cell) = heap.flat_item(items, cursor as usize)
                {
                    r!($dst) = heap.import(items.space(), *cell);
                    r!($iter + 1) = Value::Int(cursor + 1);
                    true
                } else {
                    // The element is written only if there is one; 0 means the end.
                    let next = ok!(heap.iter_step(seq, cursor as usize, &mut r!($dst)));
                    if next != 0 {
                        r!($iter + 1) = Value::Int(next as i64);
                    }
                    next != 0
                }
            }};
        }
        /// The result of an operation that pays for its work itself.
        macro_rules! changed {
            ($dst:expr, $operation:expr, $($operand:expr),*) => {{
                let mark = budget.mark();
                match $operation(heap, budget, $($operand),*) {
                    Ok(value) => {
                        heap.settle(budget);
                        r!($dst) = value;
                    }
                    Err(stop) => again!(stop, mark),
                }
            }};
        }
        /// Jumps when `$jump` holds, else pays for what follows.
        macro_rules! branch {
            ($jump:expr, $fuel:expr, $to:expr) => {
                if $jump {
                    goto!($to)
                } else {
                    ok!(budget.pay(u32::from($fuel)));
                }
            };
        }

        loop {
            let op = &block.ops[pc];
            if CAREFUL && heap.has_unknowns() {
                ok!(unknown::check(heap, regs, op));
            }
            match *op {
                Op::Enter { fuel } => {
                    ok!(budget.enter(fuel));
                    if CAREFUL {
                        current.pc = pc as u32 + 1;
                        return Ok(None);
                    }
                }
                Op::Jump { to } => goto!(to),
                Op::Again { count, dst, src, to } => {
                    if limits.loop_iterations != 0 {
                        r!(count) = ok!(count_jump(r!(count), limits.loop_iterations));
                    }
                    r!(dst) = shared!(src);
                    goto!(to)
                }
                Op::AgainLast { count, dst, src, to } => {
                    if limits.loop_iterations != 0 {
                        r!(count) = ok!(count_jump(r!(count), limits.loop_iterations));
                    }
                    r!(dst) = r!(src);
                    goto!(to)
                }
                Op::JumpIf { test, fuel, to } => branch!(r!(test).truthy(), fuel, to),
                Op::JumpUnless { test, fuel, to } => branch!(!r!(test).truthy(), fuel, to),
                Op::JumpIfNil { src, fuel, to } => branch!(matches!(r!(src), Value::Nil), fuel, to),
                Op::JumpUnlessSeq { src, fuel, to } => {
                    branch!(!r!(src).is_finite_seq() && !lookup::is_veiled_seq(heap, r!(src)), fuel, to)
                }
                Op::JumpUnlessReduced { src, fuel, to } => {
                    branch!(!matches!(r!(src), Value::Builder(_)), fuel, to)
                }
                Op::JumpUnlessLess { a, b, fuel, to } => {
                    branch!(!less!(&r!(a), &r!(b), less_at_once, less), fuel, to)
                }
                Op::JumpUnlessLessEq { a, b, fuel, to } => {
                    branch!(!less!(&r!(a), &r!(b), less_eq_at_once, less_eq), fuel, to)
                }
                Op::JumpUnlessEq { a, b, fuel, to } => branch!(!equal!(&r!(a), &r!(b)), fuel, to),
                Op::JumpUnlessLessInt { a, imm, fuel, to } => {
                    branch!(!less!(&r!(a), &Value::Int(i64::from(imm)), less_at_once, less), fuel, to)
                }
                Op::JumpUnlessGreaterInt { a, imm, fuel, to } => {
                    branch!(!less!(&Value::Int(i64::from(imm)), &r!(a), less_at_once, less), fuel, to)
                }
                Op::JumpUnlessEqInt { a, imm, fuel, to } => {
                    branch!(!equal!(&r!(a), &Value::Int(i64::from(imm))), fuel, to)
                }
                Op::Attempt { fuel, to } => {
                    current.pc = pc as u32;
                    // What earlier instructions owe is theirs, and not given back with the attempt.
                    heap.settle(budget);
                    if !attempts.begin(frames.len(), current, to, budget) {
                        heap.begin_work(budget);
                        goto!(to)
                    }
                    ok!(budget.pay(u32::from(fuel)));
                }
                Op::Return { src } => {
                    let value = r!(src);
                    r!(0) = value;
                    leave!(value);
                }
                Op::Deliver { src } => {
                    let value = r!(src).shared();
                    leave!(value);
                    match block.ops[pc] {
                        Op::Call { base, .. }
                        | Op::CallDef { base, .. }
                        | Op::CallBuiltin { base, .. }
                        | Op::Apply { base, .. } => r!(base) = value,
                        Op::First { dst, .. } | Op::Nth { dst, .. } => r!(dst) = value,
                        // It reads its sequence again, and finds the link.
                        Op::IterNext { iter, .. } | Op::IterBack { iter, .. } => {
                            r!(iter) = value;
                            continue;
                        }
                        _ => ok!(Err(Fault::new(Code::BadInstruction, "a value has nowhere to go"))),
                    }
                }
                Op::Finish { src } => return Ok(Some(Event::Done(Ending::Returned(r!(src).shared())))),
                Op::Fail { src } => {
                    current.pc = pc as u32;
                    return Ok(Some(Event::Done(Ending::Failed(r!(src).shared()))));
                }

                // Outside the loop, which their code would slow down by several percent.
                Op::Throw { .. } | Op::Try { .. } => ok!(Err(Stop::twin())),

                Op::Move { dst, src } => r!(dst) = shared!(src),
                Op::MoveLast { dst, src } => r!(dst) = r!(src),
                Op::LoadNil { dst } => r!(dst) = Value::Nil,
                Op::LoadBool { dst, value } => r!(dst) = Value::bool(value),
                Op::LoadInt { dst, value } => r!(dst) = Value::Int(i64::from(value)),
                Op::Const { dst, id } => r!(dst) = heap.import(module.space, module.constant(id)),
                Op::LoadWide { dst, slot } => {
                    r!(dst) = wide[wide.len() + slot as usize - block.regs as usize];
                }
                Op::StoreWide { slot, src } => {
                    let at = wide.len() + slot as usize - block.regs as usize;
                    wide[at] = shared!(src);
                }
                Op::Capture { dst, index } => r!(dst) = ok!(lookup::capture(heap, r!(0), index)),
                Op::GetDef { dst, def } => r!(dst) = ok!(lookup::definition(defs, module, def)),
                Op::SetDef { def, src } => {
                    let definition = &mut defs[module.defs[def as usize] as usize];
                    let value = match heap.firewall() && is_firewalled(&definition.name) {
                        true => ok!(heap.veil(shared!(src))),
                        false => shared!(src),
                    };
                    definition.value = Some(value);
                    definition.entry = Entry::UNKNOWN;
                    definition.changed = true;
                }
                Op::HasDef { dst, def } => {
                    let definition = &defs[module.defs[def as usize] as usize];
                    r!(dst) = Value::bool(definition.value.is_some());
                }
                Op::LoadVar { dst, def } => {
                    let name = &defs[module.defs[def as usize] as usize].name;
                    r!(dst) = ok!(heap.new_var(name));
                }
                Op::GetData { dst, key } => {
                    r!(dst) = ok!(granted::granted(
                        heap,
                        data,
                        heap.import(module.space, module.constant(key)),
                        *strict_data
                    ));
                }
                Op::GetHistory { dst, nth } => r!(dst) = ok!(earlier(history, gaps, nth)),
                Op::LoadBuiltin { dst, import } => {
                    r!(dst) = Value::builtin(module.module.target(import).builtin().0);
                }
                Op::LoadTool { dst, tool } => {
                    let name = module.module.artifact().tools[tool as usize].granted_as();
                    r!(dst) = ok!(heap.new_tool(name));
                }
                Op::MakeClosure { dst, first, n, code } => {
                    let captured = shared_run!(first, n);
                    let value = ok!(heap.new_closure(current.module, code, captured));
                    r!(dst) = value;
                }

                Op::Call { base, n } => call_value!(base, n),
                Op::CallDef { base, n, def } => {
                    let definition = &mut defs[module.defs[def as usize] as usize];
                    let Entry { required, module: m, block: b } = definition.entry;
                    if required == n
                        && let Some(function) = definition.value
                    {
                        r!(base) = function;
                        enter!(m, b, base);
                    }
                    r!(base) = ok!(lookup::value_of(definition));
                    if let Value::Closure(closure) = r!(base) {
                        let (m, f) = heap.closure_code(closure);
                        if let Some(b) = modules[m as usize].module.plain(f, n) {
                            definition.entry = Entry { required: n, module: m, block: b };
                        }
                    }
                    call_value!(base, n)
                }
                Op::CallBuiltin { base, n, import } => match module.module.target(import) {
                    Target::Native(id, body) => call_native!(id, body, base, n),
                    Target::Core(id, f) => {
                        if let Some(b) = library.core().plain(f, n).or_else(|| library.core().exact(f, n)) {
                            enter!(0, b, base);
                        }
                        general_call!(Value::builtin(id.0), base, n, false);
                    }
                },
                Op::CallTool { base, n, tool } => {
                    let tool = &module.module.artifact().tools[tool as usize];
                    let args = ok!(tool_args::of_call(heap, tool, shared_run!(base as usize + 1, n)));
                    let name = tool.granted_as().to_string();
                    let call = ok!(ToolCall::new(name, args, block.span_at(pc)).fits(heap, budget));
                    r!(base) = Value::Nil;
                    *tool_calls += 1;
                    ok!(count_tool_call(*tool_calls, limits.tool_calls));
                    *state = State::Tool { call, dst: Some(base) };
                    current.pc = pc as u32;
                    return Ok(Some(Event::Tool));
                }
                Op::Apply { base, n } => general_call!(r!(base), base, n, true),
                Op::ParallelMap { dst, f, items } => {
                    let (f, items) = (shared!(f), shared!(items));
                    ok!(check_depth(*depth, limits.parallel_depth));
                    let items = ok!(branch_items(heap, budget, items));
                    *state = State::Forked(Box::new(Fork::new(ForkKind::Map { f }, items, dst)));
                    current.pc = pc as u32;
                    return Ok(Some(Event::Fork));
                }
                Op::ParallelCalls { dst, items } => {
                    let items = shared!(items);
                    ok!(check_depth(*depth, limits.parallel_depth));
                    let items = ok!(branch_items(heap, budget, items));
                    *state = State::Forked(Box::new(Fork::new(ForkKind::Calls, items, dst)));
                    current.pc = pc as u32;
                    return Ok(Some(Event::Fork));
                }

                Op::Add { dst, a, b } => int_arith!(op, dst, a, b, checked_add, +),
                Op::Sub { dst, a, b } => int_arith!(op, dst, a, b, checked_sub, -),
                Op::Mul { dst, a, b } => int_arith!(op, dst, a, b, checked_mul, *),
                Op::Div { .. } | Op::Quot { .. } | Op::Rem { .. } => {
                    ok!(arith::general(heap, budget, regs, op))
                }
                Op::Mod { dst, a, b } => match (&r!(a), &r!(b)) {
                    (&Value::Int(x), &Value::Int(y)) if y > 0 => {
                        r!(dst) = Value::Int(arith::mod_positive(x, y))
                    }
                    _ => ok!(arith::general(heap, budget, regs, op)),
                },
                Op::AddInt { dst, a, imm, .. } => match r!(a) {
                    Value::Int(x) if let Some(z) = x.checked_add(i64::from(imm)) => r!(dst) = Value::Int(z),
                    Value::Float(x) => r!(dst) = Value::float(x.get() + f64::from(imm)),
                    _ => ok!(arith::general(heap, budget, regs, op)),
                },
                Op::Less { dst, a, b } => r!(dst) = Value::bool(less!(&r!(a), &r!(b), less_at_once, less)),
                Op::LessEq { dst, a, b } => {
                    r!(dst) = Value::bool(less!(&r!(a), &r!(b), less_eq_at_once, less_eq))
                }
                Op::Eq { dst, a, b } => r!(dst) = Value::bool(equal!(&r!(a), &r!(b))),
                Op::Not { dst, a } => r!(dst) = Value::bool(!r!(a).truthy()),
                Op::IsNil { dst, a } => r!(dst) = Value::bool(matches!(r!(a), Value::Nil)),

                Op::Get { dst, coll, key } => r!(dst) = paid!(lookup::get(heap, r!(coll), r!(key))),
                Op::GetKey { dst, coll, key } => {
                    let key = module.constant(key);
                    if let (Value::Map(map), Value::Keyword(name)) = (r!(coll), key)
                        && let name = FieldName::keyword(heap.rebase_ref(module.space, name))
                        && let Some(cell) = heap.known_field(map, name)
                        && !matches!(cell, Value::Gone)
                    {
                        r!(dst) = heap.import(map.space(), *cell);
                    } else {
                        r!(dst) = paid!(lookup::get(heap, r!(coll), heap.import(module.space, key)));
                    }
                }
                Op::Nth { dst, coll, index } => r!(dst) = paid!(lookup::nth(heap, &r!(coll), &r!(index))),
                Op::First { dst, coll } => r!(dst) = paid!(lookup::first(heap, r!(coll))),
                Op::Count { dst, coll } => r!(dst) = paid!(lookup::count(heap, r!(coll))),
                Op::Assoc { dst, coll, key } => {
                    let (k, v) = (shared!(key), shared!(key + 1));
                    changed!(dst, lookup::assoc, shared!(coll), k, v)
                }
                Op::AssocLast { dst, coll, key } => {
                    let (k, v) = (shared!(key), shared!(key + 1));
                    changed!(dst, lookup::assoc_last, r!(coll), k, v)
                }
                Op::Conj { dst, coll, item } => {
                    let item = shared!(item);
                    changed!(dst, lookup::conj, shared!(coll), item)
                }
                Op::ConjLast { dst, coll, item } => {
                    let item = shared!(item);
                    changed!(dst, lookup::conj_last, r!(coll), item)
                }

                Op::NewVector { dst, first, n } => {
                    let value = ok!(heap.new_vec(shared_run!(first, n)));
                    r!(dst) = value;
                }
                Op::NewMap { dst, first, n } => {
                    let value = paid!(heap.new_map(shared_run!(first, n)));
                    r!(dst) = value;
                }
                Op::NewRecord { dst, first, n, id } => {
                    let values = shared_run!(first, n);
                    let value = paid!(lookup::new_record(
                        heap,
                        heap.import(module.space, module.constant(id)),
                        values
                    ));
                    r!(dst) = value;
                }
                Op::NewSet { dst, first, n } => {
                    let value = paid!(heap.new_set(shared_run!(first, n)));
                    r!(dst) = value;
                }

                Op::NewBuilder { dst } => r!(dst) = ok!(heap.new_builder()),
                Op::Push { builder, src } => {
                    let item = shared!(src);
                    ok!(heap.builder_add(&mut r!(builder), item));
                }
                Op::BuildVector { dst, builder } => r!(dst) = ok!(heap.builder_vector(r!(builder))),
                Op::BuildMap { dst, builder } => r!(dst) = paid!(heap.builder_map(r!(builder))),
                Op::BuildSet { dst, builder } => r!(dst) = paid!(heap.builder_set(r!(builder))),
                Op::IterStart { iter, coll } => {
                    r!(iter) = paid!(lookup::iter_start(heap, shared!(coll)));
                    r!(iter + 1) = Value::Int(0);
                }
                Op::IterNext { dst, iter, fuel, to } => branch!(!next_element!(dst, iter), fuel, to),
                Op::IterBack { dst, iter, fuel, to } => {
                    if !CAREFUL && let Some(found) = module.module.select_loop(current.block, pc) {
                        match patience {
                            0 if select::run(heap, budget, module, found, regs) => {}
                            0 => patience = select::PATIENCE,
                            _ => patience -= 1,
                        }
                    }
                    branch!(next_element!(dst, iter), fuel, to)
                }
            }
            pc += 1;
        }
    }
}

impl Attached {
    /// Returns a constant, relative to the module's own space.
    #[inline(always)]
    fn constant(&self, id: u32) -> Value {
        self.module.consts()[id as usize]
    }
}

/// Returns the items of a parallel form as a vector, and pays for a branch for each.
fn branch_items(heap: &mut Heap, budget: &mut Budget, items: Value) -> Result<Value, Stop> {
    let items = lookup::to_vector(heap, items)?;
    heap.settle(budget);
    if let Value::Vector(vector) = items {
        budget.pay_items(heap.vec_len(vector).saturating_mul(BRANCH_UNITS))?;
    }
    Ok(items)
}

/// Size in cells from which the stack grows by a quarter instead of double, so that a deep recursion takes little
/// more memory than `limits.stack_bytes`.
const LARGE_STACK: usize = 1 << 18;

/// Grows the stack to at least this length.
#[cold]
pub(crate) fn grow_stack(stack: &mut Vec<Value>, needed: usize) {
    let mut len = stack.len();
    while len < needed {
        len += if len < LARGE_STACK { len } else { len / 4 };
    }
    // Capacity is doubled, since moving a large stack leaves its old memory behind for a while; memory not written
    // to yet takes no room.
    stack.reserve(len - stack.len());
    stack.resize(len, Value::Nil);
}

/// Returns the registers a frame sees.
#[inline(always)]
fn window(stack: &mut [Value], base: u32) -> &mut [Value; WINDOW] {
    // The stack always reaches a whole window past the base: `enter!` grows it first.
    match stack[base as usize..].first_chunk_mut::<WINDOW>() {
        Some(window) => window,
        None => unreachable!("the stack reaches a window past every base"),
    }
}

#[cold]
fn stack_fault(limit: u64) -> Fault {
    Fault::new(
        Code::StackExceeded,
        format!("calls nest deeper than {limit} bytes of stack (limits.stack_bytes)"),
    )
    .hint("use loop/recur or reduce instead of recursion")
}

fn count_jump(count: Value, limit: u64) -> Result<Value, Fault> {
    match count {
        Value::Int(n) if (n as u64) < limit => Ok(Value::Int(n + 1)),
        _ => Err(Fault::new(
            Code::LoopLimitExceeded,
            format!("a loop jumped more than {limit} times (limits.loop_iterations)"),
        )
        .hint("use reduce or map over the data, or split the work")),
    }
}

fn check_depth(depth: u32, limit: u64) -> Result<(), Fault> {
    if u64::from(depth) >= limit {
        return Err(Fault::new(
            Code::ParallelCapacityExceeded,
            format!("`pmap` nests deeper than {limit} (limits.parallel_depth)"),
        )
        .hint("use map for the inner one"));
    }
    Ok(())
}
