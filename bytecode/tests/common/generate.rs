//! Generator of sound artifacts from any bytes: straight code, branches, loops and calls.

use super::{arity, block, function, tables};
use ptc_bytecode::{Artifact, Op, RegSet};

/// Generates a sound artifact; the bytes decide its content.
pub fn artifact(entropy: &[u8]) -> Artifact {
    let mut entropy = Entropy { bytes: entropy.iter() };
    let mut out = tables();
    let functions = 1 + entropy.below(3);
    for index in 0..functions {
        let (required, rest) =
            if index == 0 { (0, false) } else { (entropy.below(4), entropy.below(2) == 1) };
        let params = required + u8::from(rest);
        let captures = if index == 0 { 0 } else { u16::from(entropy.below(3)) };
        let ops = Builder::new(&mut entropy, params, captures).finish();
        out.functions.push(function("f", captures, vec![arity(required, rest, u32::from(index), "…")]));
        out.blocks.push(block(Builder::REGS.into(), params, ops));
    }
    out.entry = Some(0);
    out
}

/// Decisions taken from bytes; when they run out, zeros follow, which end every construct soon.
struct Entropy<'e> {
    bytes: std::slice::Iter<'e, u8>,
}

impl Entropy<'_> {
    fn below(&mut self, end: u8) -> u8 {
        self.bytes.next().copied().unwrap_or(0) % end.max(1)
    }

    fn is_over(&self) -> bool {
        self.bytes.len() == 0
    }
}

struct Builder<'a, 'e> {
    entropy: &'a mut Entropy<'e>,
    captures: u16,
    ops: Vec<Op>,
    written: RegSet,
    /// Registers below it are used by enclosing loops, so calls stay above.
    floor: u8,
}

impl<'a, 'e> Builder<'a, 'e> {
    const REGS: u8 = 40;

    fn new(entropy: &'a mut Entropy<'e>, params: u8, captures: u16) -> Self {
        let written = RegSet::below(u16::from(params) + 1);
        let ops = vec![Op::Enter { fuel: 0 }];
        Builder { entropy, captures, ops, written, floor: params + 1 }
    }

    fn finish(mut self) -> Vec<Op> {
        self.statements(3);
        let src = self.some_written();
        self.ops.push(Op::Return { src });
        price(&mut self.ops);
        self.ops
    }

    fn statements(&mut self, depth: u8) {
        for _ in 0..self.entropy.below(8) {
            if self.entropy.is_over() {
                return;
            }
            match self.entropy.below(12) {
                0 if depth > 0 => self.branch(depth - 1),
                1 if depth > 0 && self.floor < 30 => self.iteration(depth - 1),
                2 if depth > 0 && self.floor < 30 => self.counted_loop(depth - 1),
                3 => self.call(),
                _ => self.simple(),
            }
        }
    }

    fn some_written(&mut self) -> u8 {
        let all: Vec<u8> = self.written.iter().collect();
        all[usize::from(self.entropy.below(all.len() as u8))]
    }

    /// Picks any register but `r0`, through which captures are found.
    fn some_register(&mut self) -> u8 {
        1 + self.entropy.below(Self::REGS - 1)
    }

    fn simple(&mut self) {
        let (dst, a, b) = (self.some_register(), self.some_written(), self.some_written());
        let capture = Op::Capture { dst, index: 0 };
        let op = match self.entropy.below(10) {
            0 => Op::LoadInt { dst, value: -3 },
            1 => Op::Const { dst, id: 3 },
            2 => Op::Move { dst, src: a },
            3 => Op::GetKey { dst, coll: a, key: 1 },
            4 => Op::NewVector { dst, first: a, n: 1 },
            5 => Op::GetData { dst, key: 0 },
            6 => Op::SetDef { def: 0, src: a },
            7 if self.captures > 0 => capture,
            8 => Op::AddInt { dst, a, said: 3, imm: 1 },
            _ => Op::Add { dst, a, b },
        };
        self.ops.push(op);
        if !matches!(op, Op::SetDef { .. }) {
            self.written.insert(dst);
        }
    }

    fn call(&mut self) {
        let base = self.floor + self.entropy.below(Self::REGS - self.floor - 3);
        let n = self.entropy.below(3);
        for dst in base + 1..=base + n {
            self.ops.push(Op::LoadBool { dst, value: true });
        }
        self.ops.push(match self.entropy.below(3) {
            0 => Op::CallTool { base, n, tool: 0 },
            1 => Op::CallBuiltin { base, n, import: 1 },
            _ => Op::CallDef { base, n, def: 0 },
        });
        self.written.remove_run(base, 256);
        self.written.insert(base);
    }

    fn branch(&mut self, depth: u8) {
        let test = self.some_written();
        let jump = self.ops.len();
        self.ops.push(Op::JumpUnless { test, fuel: 0, to: 0 });
        let before = self.written;
        self.statements(depth);
        let then = std::mem::replace(&mut self.written, before);
        let leave = self.ops.len();
        self.ops.push(Op::Jump { to: 0 });
        self.enter_from(jump);
        self.statements(depth);
        self.enter_from(leave);
        self.written = self.written.intersection(then);
    }

    fn iteration(&mut self, depth: u8) {
        let (coll, iter) = (self.some_written(), self.floor);
        self.ops.push(Op::IterStart { iter, coll });
        let leave = |dst| Op::IterNext { dst, iter, fuel: 0, to: 0 };
        self.looped(depth, 2, leave, |to| Op::Jump { to });
    }

    fn counted_loop(&mut self, depth: u8) {
        let count = self.floor;
        self.ops.push(Op::LoadInt { dst: count, value: 0 });
        let leave = |_| Op::JumpUnlessLessInt { a: count, imm: 9, fuel: 0, to: 0 };
        self.looped(depth, 1, leave, |to| Op::Again { count, dst: count, src: count, to });
    }

    /// Generates a loop that owns `own` registers at the floor and leaves by its first instruction.
    fn looped(&mut self, depth: u8, own: u8, leave: impl Fn(u8) -> Op, again: impl Fn(u32) -> Op) {
        let floor = self.floor;
        self.floor += own;
        self.written.insert_run(floor, own.into());
        self.written = self.written.intersection(RegSet::below(self.floor.into()));
        let (head, at_head) = (self.ops.len(), self.written);
        self.ops.push(Op::Enter { fuel: 0 });
        let op = leave(self.floor);
        let exit = self.ops.len();
        self.ops.push(op);
        if matches!(op, Op::IterNext { .. }) {
            self.written.insert(self.floor);
        }
        self.statements(depth);
        self.ops.push(again(head as u32));
        self.enter_from(exit);
        (self.written, self.floor) = (at_head, floor);
    }

    /// Points the jump at `from` to an `Enter` here.
    fn enter_from(&mut self, from: usize) {
        self.ops[from] = self.ops[from].with_target(self.ops.len() as u32);
        self.ops.push(Op::Enter { fuel: 0 });
    }
}

/// Sets every price to the cost of its block.
fn price(ops: &mut [Op]) {
    let mut cost = 0;
    for pc in (0..ops.len()).rev() {
        if ops[pc].ends_block() {
            cost = 0;
        }
        if ops[pc].fall_through_fuel().is_some() {
            let paid = u8::try_from(cost).expect("blocks of the generator are short");
            set_fuel(&mut ops[pc], paid);
            cost = 0;
        }
        if let Op::Enter { fuel } = &mut ops[pc] {
            *fuel = cost;
            cost = 0;
        }
        cost += ops[pc].cost();
    }
}

fn set_fuel(op: &mut Op, paid: u8) {
    match op {
        Op::JumpUnless { fuel, .. } | Op::JumpUnlessLessInt { fuel, .. } | Op::IterNext { fuel, .. } => {
            *fuel = paid
        }
        other => unreachable!("the generator makes no {}", other.name()),
    }
}
