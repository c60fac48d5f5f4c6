//! Which locals an expression reads: what may not be overwritten before it is computed.

use crate::resolved::{Kind, LocalId, Name, Node};

/// Calls `visit` with every local of this function that `node` may read, captures of closures made
/// in it included.
pub(super) fn locals_read(node: &Node<'_>, visit: &mut impl FnMut(LocalId)) {
    let mut all = |nodes: &[Node<'_>]| {
        for node in nodes {
            locals_read(node, visit);
        }
    };
    match node.kind {
        Kind::Const(_) | Kind::Break => {}
        Kind::Name(Name::Local(local)) => visit(local),
        Kind::Name(_) => {}
        Kind::Call(callee, args) => {
            all(args);
            locals_read(callee, visit);
        }
        Kind::Vector(items)
        | Kind::Map(items)
        | Kind::Set(items)
        | Kind::Cond(items)
        | Kind::And(items)
        | Kind::Or(items)
        | Kind::Do(items)
        | Kind::Recur(items) => all(items),
        Kind::Let(bindings, body) | Kind::Loop(bindings, body) => {
            all(body);
            for (_, value) in bindings {
                locals_read(value, visit);
            }
        }
        Kind::Fn(lambda) => {
            for name in lambda.captures {
                if let Name::Local(local) = name {
                    visit(*local);
                }
            }
        }
        Kind::Define(_, _, value)
        | Kind::Finish(value)
        | Kind::Fail(value)
        | Kind::Exit(value)
        | Kind::Deliver(value)
        | Kind::Assign(_, value) => locals_read(value, visit),
        Kind::Each(_, coll, body) => {
            all(body);
            locals_read(coll, visit);
        }
    }
}
