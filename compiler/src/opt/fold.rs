//! Values known before the run: arithmetic and comparisons of literals, constant collections.
//!
//! Only calls that lowering turns into instructions are folded. A native charges for its work while it runs, so leaving
//! one out would change a program's cost.

use crate::meter::Meter;
use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::{Datum, Inline, Node as DatumNode};

/// A value known before the run.
pub(crate) enum Folded<'a> {
    /// A single value.
    Scalar(Constant<'a>),
    /// A collection.
    Data(Datum),
}

/// Returns the value of a call of literals, if it can be known.
pub(crate) fn fold<'a>(node: &Node<'a>, meter: &Meter<'_>) -> Option<Folded<'a>> {
    match node.kind {
        Kind::Call(..) => value(node, meter).map(Folded::Scalar),
        _ => None,
    }
}

/// Returns the truth of a test, if it is known.
pub(crate) fn known_truth(test: &Node<'_>, meter: &Meter<'_>) -> Option<bool> {
    value(test, meter).map(|constant| constant.is_truthy())
}

/// Evaluates a node of literals. A call inside a call is evaluated again for each enclosing call, so every
/// evaluation is paid for.
fn value<'a>(node: &Node<'a>, meter: &Meter<'_>) -> Option<Constant<'a>> {
    if !meter.pay(1) {
        return None;
    }
    match node.kind {
        Kind::Const(constant) => Some(constant),
        Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, args) => {
            let inline = id.row()?.inline?;
            match args {
                [a] => unary(inline, value(a, meter)?),
                [a, b] => binary(inline, value(a, meter)?, value(b, meter)?),
                // Longer sums are only instructions if the rest is literal.
                [a, b, rest @ ..] if matches!(inline, Inline::Add | Inline::Sub | Inline::Mul) => {
                    let first = binary(inline, value(a, meter)?, value(b, meter)?)?;
                    rest.iter().try_fold(first, |sum, node| match node.kind {
                        Kind::Const(next) => binary(inline, sum, next),
                        _ => None,
                    })
                }
                _ => None,
            }
        }
        _ => None,
    }
}

fn unary<'a>(inline: Inline, a: Constant<'a>) -> Option<Constant<'a>> {
    match (inline, a) {
        (Inline::Inc, Constant::Int(n)) => n.checked_add(1).map(Constant::Int),
        (Inline::Dec, Constant::Int(n)) => n.checked_sub(1).map(Constant::Int),
        (Inline::Not, a) => Some(Constant::Bool(!a.is_truthy())),
        (Inline::IsNil, a) => Some(Constant::Bool(a == Constant::Nil)),
        _ => None,
    }
}

fn binary<'a>(inline: Inline, a: Constant<'a>, b: Constant<'a>) -> Option<Constant<'a>> {
    if let (Constant::Int(a), Constant::Int(b)) = (a, b) {
        return match inline {
            Inline::Add => a.checked_add(b).map(Constant::Int),
            Inline::Sub => a.checked_sub(b).map(Constant::Int),
            Inline::Mul => a.checked_mul(b).map(Constant::Int),
            Inline::Less => Some(Constant::Bool(a < b)),
            Inline::LessEq => Some(Constant::Bool(a <= b)),
            Inline::Greater => Some(Constant::Bool(a > b)),
            Inline::GreaterEq => Some(Constant::Bool(a >= b)),
            Inline::Eq => Some(Constant::Bool(a == b)),
            Inline::NotEq => Some(Constant::Bool(a != b)),
            _ => None,
        };
    }
    match (inline, a, b) {
        (Inline::Eq, Constant::Keyword(a), Constant::Keyword(b)) => Some(Constant::Bool(a == b)),
        (Inline::Eq, Constant::Bool(a), Constant::Bool(b)) => Some(Constant::Bool(a == b)),
        _ => None,
    }
}

/// Returns a collection literal as data, if all its parts are literals.
pub(crate) fn constant_collection(node: &Node<'_>, meter: &Meter<'_>) -> Option<Datum> {
    // Checked first: most literals hold a part that is not known, and their data would be made for nothing.
    let mut nodes = Vec::with_capacity(size(node, meter)?);
    push(node, &mut nodes);
    Datum::new(nodes)
}

/// Returns the minimum number of data nodes of a literal, if all its parts are literals.
fn size(node: &Node<'_>, meter: &Meter<'_>) -> Option<usize> {
    if !meter.pay(1) {
        return None;
    }
    match node.kind {
        Kind::Const(_) => Some(1),
        Kind::Vector(items) | Kind::Map(items) | Kind::Set(items) => {
            items.iter().try_fold(1, |sum, item| Some(sum + size(item, meter)?))
        }
        _ => None,
    }
}

fn push(node: &Node<'_>, out: &mut Vec<DatumNode>) {
    let (items, make): (_, fn(u32) -> DatumNode) = match node.kind {
        Kind::Const(constant) => return crate::emit::push_nodes(constant, out),
        Kind::Vector(items) => (items, DatumNode::Vector),
        Kind::Map(items) => (items, |n| DatumNode::Map(n / 2)),
        Kind::Set(items) => (items, DatumNode::Set),
        // Sizes are computed first, and this has none.
        _ => return,
    };
    items.iter().for_each(|item| push(item, out));
    out.push(make(items.len() as u32));
}
