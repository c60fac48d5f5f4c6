//! Fusion of a comparison and the jump on its result into one instruction.

use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::{Inline, Op};

/// A test that can be one jump.
pub(crate) struct Fused<'a> {
    inline: Inline,
    /// First operand as written.
    pub(crate) a: &'a Node<'a>,
    pub(crate) b: &'a Node<'a>,
    /// The other operand, if one is a small integer that fits a jump.
    pub(crate) small: Option<(&'a Node<'a>, i8)>,
}

/// Returns the jump that falls through where `test` holds, if there is one.
pub(crate) fn fuse<'a>(test: &Node<'a>) -> Option<Fused<'a>> {
    let Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, [a, b]) = test.kind else {
        return None;
    };
    let inline = match id.row()?.inline? {
        inline @ (Inline::Less | Inline::LessEq | Inline::Greater | Inline::GreaterEq | Inline::Eq) => inline,
        _ => return None,
    };
    let small = match inline {
        // `a <= 3` is not `a < 4` if `a` may be a float.
        Inline::LessEq | Inline::GreaterEq => None,
        _ => small_int(b).map(|imm| (a, imm)).or_else(|| small_int(a).map(|imm| (b, imm))),
    };
    Some(Fused { inline, a, b, small })
}

/// True if a jump can hold this operand itself.
pub(crate) fn fits_jump(node: &Node<'_>) -> bool {
    small_int(node).is_some()
}

fn small_int(node: &Node<'_>) -> Option<i8> {
    match node.kind {
        Kind::Const(Constant::Int(n)) => i8::try_from(n).ok(),
        _ => None,
    }
}

impl Fused<'_> {
    /// Returns the jump over two registers.
    pub(crate) fn with_regs(&self, a: u8, b: u8) -> Op {
        let (fuel, to) = (0, 0);
        match self.inline {
            Inline::Less => Op::JumpUnlessLess { a, b, fuel, to },
            Inline::Greater => Op::JumpUnlessLess { a: b, b: a, fuel, to },
            Inline::LessEq => Op::JumpUnlessLessEq { a, b, fuel, to },
            Inline::GreaterEq => Op::JumpUnlessLessEq { a: b, b: a, fuel, to },
            _ => Op::JumpUnlessEq { a, b, fuel, to },
        }
    }

    /// Returns the jump over a register and the small integer.
    pub(crate) fn with_int(&self, a: u8, imm: i8) -> Op {
        let (fuel, to) = (0, 0);
        let is_second = small_int(self.b).is_some();
        match self.inline {
            Inline::Eq => Op::JumpUnlessEqInt { a, imm, fuel, to },
            Inline::Less if is_second => Op::JumpUnlessLessInt { a, imm, fuel, to },
            Inline::Greater if !is_second => Op::JumpUnlessLessInt { a, imm, fuel, to },
            _ => Op::JumpUnlessGreaterInt { a, imm, fuel, to },
        }
    }
}
