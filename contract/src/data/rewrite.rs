//! Copies of owned data with some subtrees replaced.

use super::{Tree, View};
use crate::firewall::FIREWALLED;
use ptc_bytecode::{Datum, Node};

/// Position of a value in its parent.
#[derive(Clone, Copy)]
pub enum Role<'t> {
    /// The whole value.
    Root,
    /// An item of a list or set.
    Item,
    /// The key of an entry.
    Key,
    /// The value of an entry with this key.
    Value(View<'t>),
}

/// Decision on one value.
pub enum Action {
    /// Keeps the value; its parts are decided next.
    Keep,
    /// Keeps the value with all its parts, undecided.
    KeepWhole,
    /// Puts this scalar in the value's place.
    Replace(Node),
}

/// Copies data, replacing the values that `decide` picks. Values are decided before their parts. Time grows with the
/// size, the stack does not. Veiled values stay veiled.
pub fn rewrite(datum: &Datum, mut decide: impl FnMut(Role<'_>, View<'_>) -> Action) -> Datum {
    let tree = Tree::new(datum);
    let end = tree.root().index() as isize;
    // Nodes are written last to first: a collection is met before its parts, and keys after values.
    let mut out = Vec::with_capacity(datum.nodes().len());
    // Places of veiled subtrees, counted from the last node.
    let mut veiled: Vec<usize> = Vec::new();
    // Open collections: whether each is a map, and how many of its subtrees are still to come.
    let mut open: Vec<(bool, usize)> = Vec::new();
    let mut at = end;
    while at >= 0 {
        let view = tree.at(at as usize);
        while open.last().is_some_and(|(_, left)| *left == 0) {
            open.pop();
        }
        let role = match open.last_mut() {
            None => Role::Root,
            Some((is_map, left)) => {
                *left -= 1;
                match (*is_map, *left % 2) {
                    (false, _) => Role::Item,
                    (true, 1) => Role::Value(tree.at(at as usize - view.size())),
                    (true, _) => Role::Key,
                }
            }
        };
        let is_veiled = view.is_marked();
        match decide(role, view) {
            Action::Replace(node) => {
                // The marker that a value was here is no secret itself.
                veiled.extend((is_veiled && !is_marker(&node)).then_some(out.len()));
                out.push(node);
                at -= view.size() as isize;
            }
            Action::KeepWhole => {
                let (whole, size) = (out.len(), view.size());
                veiled.extend(view.marks_below(0).map(|place| whole + size - 1 - place as usize));
                out.extend(view.nodes().iter().rev().cloned());
                at -= size as isize;
            }
            Action::Keep => {
                veiled.extend(is_veiled.then_some(out.len()));
                out.push(view.node().clone());
                match view.node() {
                    Node::Map(n) => open.push((true, *n as usize * 2)),
                    Node::Vector(n) | Node::Set(n) => open.push((false, *n as usize)),
                    _ => {}
                }
                at -= 1;
            }
        }
    }
    out.reverse();
    let last = out.len() - 1;
    let datum = Datum::new(out).unwrap_or_else(|| Datum::scalar(Node::Nil));
    datum.with_veiled(veiled.into_iter().map(|place| (last - place) as u32).collect())
}

fn is_marker(node: &Node) -> bool {
    matches!(node, Node::Str(text) if &**text == FIREWALLED)
}
