//! Locals read by an expression, which must not be overwritten before it is computed.

use crate::resolved::{Kind, LocalId, Name, Node};

/// Calls `visit` with every local of this function that `node` may read, captures of its closures included. Returns
/// the number of nodes visited.
pub(super) fn locals_read(node: &Node<'_>, visit: &mut impl FnMut(LocalId)) -> usize {
    let mut visited = 1;
    match node.kind {
        Kind::Name(Name::Local(local)) => visit(local),
        Kind::Fn(lambda) => {
            visited += lambda.captures.len();
            for name in lambda.captures {
                if let Name::Local(local) = name {
                    visit(*local);
                }
            }
        }
        _ => node.for_each_child(|child| visited += locals_read(child, visit)),
    }
    visited
}
