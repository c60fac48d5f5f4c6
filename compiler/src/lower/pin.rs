//! Pinning: constants that a loop reads in every iteration stay in registers while it runs.

use super::inline::small_addend;
use super::{Dest, Lower};
use crate::opt::fits_jump;
use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::Inline;

/// Maximum constants pinned by one loop.
const MOST: usize = 8;

impl<'a> Lower<'_, 'a> {
    /// Loads the constants that instructions of a loop body read. Returns the argument for [`unpin`](Self::unpin).
    pub(super) fn pin(&mut self, body: &'a [Node<'a>]) -> usize {
        let outer = self.pins.len();
        let mut found: Vec<Constant<'a>> = Vec::new();
        for node in body {
            let visited = operands(node, &mut |constant| {
                let is_known = |known: &Constant<'a>| same(known, constant);
                if found.len() < MOST && !found.iter().any(is_known) {
                    found.push(*constant);
                }
            });
            // A loop inside a loop is searched for both.
            if !self.module.meter.pay(2 * visited) {
                return outer;
            }
        }
        for constant in found {
            if self.pinned(&constant).is_none() && self.regs.has_local() {
                let reg = self.regs.alloc();
                self.constant(constant, Dest::Into(reg));
                self.pins.push((constant, reg));
            }
        }
        outer
    }

    /// Ends a [`pin`](Self::pin); the registers belong to the scope.
    pub(super) fn unpin(&mut self, outer: usize) {
        self.pins.truncate(outer);
    }

    /// Returns the register that holds a constant, if a loop pins it.
    pub(super) fn pinned(&self, constant: &Constant<'a>) -> Option<u8> {
        self.pins.iter().find(|(known, _)| same(known, constant)).map(|(_, reg)| *reg)
    }
}

/// True if two constants are the same value, of a kind that is pinned. `==` would not do, since 0.0 equals -0.0.
fn same(a: &Constant<'_>, b: &Constant<'_>) -> bool {
    match (a, b) {
        (Constant::Int(a), Constant::Int(b)) => a == b,
        (Constant::Float(a), Constant::Float(b)) => a.to_bits() == b.to_bits(),
        (Constant::Str(a), Constant::Str(b)) | (Constant::Keyword(a), Constant::Keyword(b)) => a == b,
        _ => false,
    }
}

/// Calls `visit` with the constants that instructions take from a register. A closure reads its constants in its
/// own registers. Returns the number of nodes visited.
fn operands<'a>(node: &Node<'a>, visit: &mut impl FnMut(&Constant<'a>)) -> usize {
    let mut visited = 1;
    node.for_each_child(|child| visited += operands(child, visit));
    let Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) = node.kind else {
        return visited;
    };
    let Some(inline) = id.row().and_then(|row| row.inline) else { return visited };
    for (i, arg) in args.iter().enumerate() {
        if let Kind::Const(constant) = &arg.kind
            && takes_register(inline, args.len(), i, arg)
        {
            visit(constant);
        }
    }
    visited
}

/// True if the constant in this place is read from a register, not kept in the instruction.
fn takes_register(inline: Inline, n: usize, i: usize, arg: &Node<'_>) -> bool {
    match inline {
        Inline::Add | Inline::Sub => n >= 2 && small_addend(inline, arg).is_none(),
        Inline::Mul | Inline::Div => n >= 2,
        Inline::Less | Inline::Greater | Inline::Eq => n == 2 && !fits_jump(arg),
        Inline::LessEq | Inline::GreaterEq | Inline::Quot | Inline::Rem | Inline::Mod => n == 2,
        Inline::Nth => n == 2 && i == 1,
        _ => false,
    }
}
