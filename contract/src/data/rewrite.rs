//! Owned data with some of its subtrees replaced.

use super::{Tree, View};
use crate::firewall::FIREWALLED;
use ptc_bytecode::{Datum, Node};

/// Where a value stands.
#[derive(Clone, Copy)]
pub enum Role<'t> {
    /// It is the whole.
    Root,
    /// An item of a list or set.
    Item,
    /// The key of an entry.
    Key,
    /// The value of an entry with this key.
    Value(View<'t>),
}

/// What becomes of a value.
pub enum Action {
    /// It stays; its parts are asked about next.
    Keep,
    /// It stays with all its parts, which are not asked about.
    KeepWhole,
    /// This scalar stands in its place.
    Replace(Node),
}

/// A copy in which `decide` replaced what it wanted. Values are asked about before their parts.
/// Takes time by size and no stack. What is veiled stays so.
pub fn rewrite(datum: &Datum, mut decide: impl FnMut(Role<'_>, View<'_>) -> Action) -> Datum {
    let tree = Tree::new(datum);
    let end = tree.root().index() as isize;
    // Nodes are written last to first: a collection is met before its parts, and keys after values.
    let mut out = Vec::with_capacity(datum.nodes().len());
    // Places of veiled subtrees, counted from the last node.
    let mut veiled: Vec<usize> = Vec::new();
    // Open collections: whether a map, and how many subtrees are still to come.
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
                // The mark that says that there was something is no secret itself.
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
