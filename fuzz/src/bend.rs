//! Changes to the meaning of an artifact: to its instructions, tables and functions instead of the bytes of a
//! file. The result is encoded as a compiler would encode it, so only the verifier stands between it and a run.

use crate::take::Take;
use ptc_bytecode::{Artifact, BUILTINS, Op};

/// Maximum number of changes; with more, hardly any artifact could still run.
const CHANGES: usize = 24;

/// Changes an artifact; the bytes choose the changes.
pub fn bend(artifact: &mut Artifact, take: &mut Take<'_>) {
    // Makes every block pay far too much, so that changes are not refused just because of its price.
    if take.pick(4) > 0 {
        overpay(artifact);
    }
    for _ in 0..CHANGES {
        if take.is_empty() {
            return;
        }
        match take.pick(16) {
            0..=10 => code(artifact, take),
            11 => function(artifact, take),
            12 => names(artifact, take),
            13 => constant(artifact, take),
            14 => frame(artifact, take),
            _ => shuffle(artifact, take),
        }
    }
}

fn overpay(artifact: &mut Artifact) {
    for op in artifact.blocks.iter_mut().flat_map(|block| &mut block.ops) {
        match op {
            Op::Enter { fuel } => *fuel = 300,
            other => {
                if let Some(fuel) = other.fall_through_fuel_mut() {
                    *fuel = 255;
                }
            }
        }
    }
}

/// Replaces, inserts, removes or moves one instruction.
fn code(artifact: &mut Artifact, take: &mut Take<'_>) {
    let which = take.pick(artifact.blocks.len());
    let other = take.pick(artifact.blocks.len());
    let from = artifact.blocks.get(other).map_or(&[][..], |block| &block.ops);
    let copied = from.get(take.pick(from.len())).copied();
    let Some(block) = artifact.blocks.get_mut(which) else { return };
    let ops = &mut block.ops;
    let at = take.pick(ops.len());
    let Some(old) = ops.get(at).copied() else { return };
    match take.pick(8) {
        0 => ops[at] = copied.unwrap_or(old),
        // Inserted between two others, with or without correcting the targets of jumps.
        1 => insert(ops, at, copied.unwrap_or(old), take.pick(2) == 0),
        2 => remove(ops, at, take.pick(2) == 0),
        3 => {
            let to = take.pick(ops.len() + 1);
            ops[at] = old.with_target(to as u32);
        }
        4 => {
            let with = take.pick(ops.len());
            ops.swap(at, with);
        }
        _ => {
            // Another operand or another instruction, through its bytes.
            let Ok(mut bytes) = postcard::to_stdvec(&old) else { return };
            let byte = take.pick(bytes.len());
            bytes[byte] = match take.pick(2) {
                0 => take.byte(),
                _ => bytes[byte].wrapping_add(take.byte() % 5).wrapping_sub(2),
            };
            if let Ok(op) = postcard::from_bytes(&bytes) {
                ops[at] = op;
            }
        }
    }
}

fn insert(ops: &mut Vec<Op>, at: usize, op: Op, is_put_right: bool) {
    ops.insert(at, op);
    if is_put_right {
        retarget(ops, |to| if to as usize > at { to + 1 } else { to });
    }
}

fn remove(ops: &mut Vec<Op>, at: usize, is_put_right: bool) {
    if ops.len() > 1 {
        ops.remove(at);
        if is_put_right {
            retarget(ops, |to| if to as usize > at { to - 1 } else { to });
        }
    }
}

fn retarget(ops: &mut [Op], moved: impl Fn(u32) -> u32) {
    for op in ops {
        if let Some(to) = op.target() {
            *op = op.with_target(moved(to));
        }
    }
}

/// Changes the arguments, captures or code of a function.
fn function(artifact: &mut Artifact, take: &mut Take<'_>) {
    let (which, blocks) = (take.pick(artifact.functions.len()), artifact.blocks.len());
    let Some(function) = artifact.functions.get_mut(which) else { return };
    let at = take.pick(function.arities.len());
    let value = take.byte();
    match (take.pick(6), function.arities.get_mut(at)) {
        (0, Some(arity)) => arity.required = value % 9,
        (1, Some(arity)) => arity.rest = !arity.rest,
        (2, Some(arity)) => arity.block = (usize::from(value) % (blocks + 1)) as u32,
        (3, Some(arity)) => {
            let copy = arity.clone();
            function.arities.push(copy);
        }
        (4, _) => function.captures = u16::from(value % 5),
        (_, Some(_)) => drop(function.arities.remove(at)),
        _ => {}
    }
}

/// Replaces a builtin, a definition or a tool by another one.
fn names(artifact: &mut Artifact, take: &mut Take<'_>) {
    match take.pick(3) {
        0 => {
            let at = take.pick(artifact.imports.len());
            let builtin = &BUILTINS[take.pick(BUILTINS.len())];
            if let Some(import) = artifact.imports.get_mut(at) {
                *import = builtin.name.into();
            }
        }
        1 => {
            let (a, b) = (take.pick(artifact.imports.len()), take.pick(artifact.imports.len()));
            if !artifact.imports.is_empty() {
                artifact.imports.swap(a, b);
            }
        }
        _ => {
            let name = take.one_of(&["x", "f", "*1", "data/x", "", "map"]);
            match artifact.defs.first_mut() {
                Some(def) => *def = name.into(),
                None => artifact.defs.push(name.into()),
            }
        }
    }
}

/// Changes a byte of a constant, or replaces the constant.
fn constant(artifact: &mut Artifact, take: &mut Take<'_>) {
    let (at, from) = (take.pick(artifact.consts.len()), take.pick(artifact.consts.len()));
    let Some(old) = artifact.consts.get(at) else { return };
    let Ok(mut bytes) = postcard::to_stdvec(old) else { return };
    if take.pick(3) == 0 {
        artifact.consts.swap(at, from);
    } else if !bytes.is_empty() {
        let byte = take.pick(bytes.len());
        bytes[byte] = take.byte();
        if let Ok(made) = postcard::from_bytes(&bytes) {
            artifact.consts[at] = made;
        }
    }
}

/// Changes the number of registers or parameters of a block.
fn frame(artifact: &mut Artifact, take: &mut Take<'_>) {
    let which = take.pick(artifact.blocks.len());
    let Some(block) = artifact.blocks.get_mut(which) else { return };
    match take.pick(3) {
        0 => block.regs = block.regs.wrapping_add(u16::from(take.byte() % 5)).wrapping_sub(2),
        1 => block.regs = 250 + u16::from(take.byte()),
        _ => block.params = block.params.wrapping_add(take.byte() % 3).wrapping_sub(1),
    }
}

/// Swaps functions or blocks, or moves the start of the program.
fn shuffle(artifact: &mut Artifact, take: &mut Take<'_>) {
    let (functions, blocks) = (artifact.functions.len(), artifact.blocks.len());
    match take.pick(3) {
        0 if functions > 0 => artifact.functions.swap(take.pick(functions), take.pick(functions)),
        1 if blocks > 0 => artifact.blocks.swap(take.pick(blocks), take.pick(blocks)),
        _ => artifact.entry = Some(take.pick(functions + 1) as u32),
    }
}
