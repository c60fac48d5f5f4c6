//! Checks that no instruction runs free: the price of a basic block covers its instructions.

use super::facts::BlockFacts;
use super::report::at_op;
use crate::artifact::Artifact;
use crate::codes::Code;
use crate::diag::Diagnostic;
use crate::isa::Op;

/// Checks one code block whose jumps land on an `Enter`.
pub fn check(artifact: &Artifact, block: usize, facts: BlockFacts) -> Result<(), Diagnostic> {
    let ops = &artifact.blocks[block].ops;
    let wrong = |pc: usize, what: String| at_op(Code::MissingFuelCheck, artifact, block, facts, pc, what);
    // The instruction that paid for the current ones, and the amount; None where control never comes.
    let mut payer: Option<(usize, u64)> = None;
    let mut cost: u64 = 0;
    for (pc, op) in ops.iter().enumerate() {
        if !op.is_enter() {
            cost += u64::from(op.cost());
        }
        if let Op::Enter { fuel } = *op {
            settle(payer, cost).map_err(|(pc, what)| wrong(pc, what))?;
            (payer, cost) = (Some((pc, u64::from(fuel))), u64::from(op.cost()));
        } else if let Some(fuel) = op.fall_through_fuel() {
            settle(payer, cost).map_err(|(pc, what)| wrong(pc, what))?;
            (payer, cost) = (payer.map(|_| (pc, u64::from(fuel))), 0);
        } else if op.ends_block() {
            settle(payer, cost).map_err(|(pc, what)| wrong(pc, what))?;
            (payer, cost) = (None, 0);
        }
        if let Some(to) = op.target().filter(|to| *to as usize <= pc)
            && matches!(ops[to as usize], Op::Enter { fuel: 0 })
        {
            return Err(wrong(to as usize, "starts a loop, but pays nothing".into()));
        }
    }
    Ok(())
}

/// Fails if the payer does not cover the cost.
fn settle(payer: Option<(usize, u64)>, cost: u64) -> Result<(), (usize, String)> {
    match payer {
        Some((pc, paid)) if paid < cost => {
            Err((pc, format!("pays {paid} for instructions that cost {cost}")))
        }
        _ => Ok(()),
    }
}
