//! An independent check of verified code: walks it along random paths, as a VM would, and asserts the verifier's
//! promises.

use ptc_bytecode::{CodeBlock, Op, Operand, RegSet, Verified};

/// Walks every code block for some steps; `turn` decides at conditional jumps.
pub fn walk(verified: &Verified, turn: &[u8]) {
    for (index, block) in verified.artifact().blocks.iter().enumerate() {
        let captures = verified.blocks()[index].captures;
        let trail = walk_block(block, captures, turn);
        let live = verified.liveness(index as u32);
        // Liveness must have included every register that the rest of the trail reads before writing it.
        let mut needed = RegSet::default();
        for &(pc, went_on) in trail.iter().rev() {
            let (reads, writes) = registers(&block.ops[pc]);
            if went_on {
                needed = needed.without(writes);
            }
            assert!(needed.without(live.live_after(pc)).is_empty(), "live_after({pc}) lacks {needed:?}");
            needed = needed.union(reads);
            assert!(needed.without(live.live_before(pc)).is_empty(), "live_before({pc}) lacks {needed:?}");
        }
    }
}

/// Returns the instructions passed, and for each whether control fell through.
fn walk_block(block: &CodeBlock, captures: u16, turn: &[u8]) -> Vec<(usize, bool)> {
    let visible = block.regs.min(256);
    let mut written = RegSet::below(u16::from(block.params) + 1);
    let mut turns = turn.iter().cycle();
    let mut trail = Vec::new();
    let (mut pc, mut paid) = (0, 0);
    // Captures are found through the running function in r0.
    let mut own_function = true;
    for _ in 0..400 {
        let op = block.ops[pc];
        let (reads, writes) = registers(&op);
        assert!(reads.union(writes).without(RegSet::below(visible)).is_empty(), "{op:?} leaves the frame");
        assert!(reads.without(written).is_empty(), "{op:?} at {pc} reads what was not written");
        if let Op::Capture { index, .. } = op {
            assert!(index < captures && own_function, "{op:?} at {pc} finds no capture");
        }
        own_function &= !writes.contains(0);
        if let Op::Enter { fuel } = op {
            paid = i64::from(fuel);
        }
        paid -= i64::from(op.cost());
        assert!(paid >= 0, "{op:?} at {pc} runs free");
        let jumps = op.target().is_some() && (op.ends_block() || turns.next().is_some_and(|t| t % 2 == 1));
        trail.push((pc, !jumps));
        if jumps {
            pc = op.target().unwrap() as usize;
            assert!(matches!(block.ops[pc], Op::Enter { .. }), "{op:?} lands at {pc}");
            continue;
        }
        if op.ends_block() {
            break;
        }
        if let Some(fuel) = op.fall_through_fuel() {
            paid = i64::from(fuel);
        }
        op.operands(|_, operand| {
            if let Operand::Callee(base) | Operand::Args(base) = operand {
                written.remove_run(base, 256);
            }
        });
        written = written.union(writes);
        pc += 1;
    }
    trail
}

/// Returns the registers an instruction reads and writes, derived from the table alone.
fn registers(op: &Op) -> (RegSet, RegSet) {
    let mut n = 0;
    op.operands(|name, operand| {
        if let ("n", Operand::Small(count)) = (name, operand) {
            n = u16::from(count);
        }
    });
    let (mut reads, mut writes) = (RegSet::default(), RegSet::default());
    if let Op::Capture { .. } = op {
        reads.insert(0);
    }
    op.operands(|_, operand| match operand {
        Operand::Read(r) => reads.insert(r),
        Operand::Write(r) => writes.insert(r),
        Operand::ReadWrite(r) => {
            reads.insert(r);
            writes.insert(r);
        }
        Operand::ReadRun(r) => reads.insert_run(r, n),
        Operand::Callee(r) => {
            reads.insert_run(r, n + 1);
            writes.insert(r);
        }
        Operand::Args(r) => {
            let mut run = RegSet::default();
            run.insert_run(r, n + 1);
            run.remove_run(r, 1);
            reads = reads.union(run);
            writes.insert(r);
        }
        Operand::ReadPair(r) => reads.insert_run(r, 2),
        Operand::ReadWritePair(r) => {
            reads.insert_run(r, 2);
            writes.insert_run(r, 2);
        }
        Operand::WritePair(r) => writes.insert_run(r, 2),
        _ => {}
    });
    (reads, writes)
}
