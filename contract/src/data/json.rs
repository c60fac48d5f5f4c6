//! Strict conversion of data to JSON: anything that JSON cannot hold is an error.

use super::{Tree, View};
use crate::firewall::FIREWALLED;
use ptc_bytecode::{Datum, Node};
use ptc_runtime::bridge::datum_to_json;
use serde_json::Value;
use std::fmt;

/// Data that has no JSON form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoJson {
    /// Path to the value, such as `rows[0].ts`; empty for the whole.
    pub path: String,
    /// Description of the value found there.
    pub found: &'static str,
}

impl fmt::Display for NoJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.path.is_empty() { "the top" } else { &self.path };
        write!(f, "non-JSON-encodable value at {place}: {}", self.found)
    }
}

impl std::error::Error for NoJson {}

/// Converts data to JSON: keywords become strings, sets and lists arrays, instants ISO 8601. Keys that are not
/// text, functions, and numbers that JSON does not have are errors with their path.
///
/// ```
/// use ptc_contract::data::to_json;
/// use ptc_bytecode::{Datum, Node};
/// let rows = vec![Node::Keyword("rows".into()), Node::Int(7), Node::Int(1), Node::Map(1), Node::Vector(1), Node::Map(1)];
/// let error = to_json(&Datum::new(rows).unwrap()).unwrap_err();
/// assert_eq!(error.to_string(), "non-JSON-encodable value at rows[0]: a key that is not text");
/// ```
pub fn to_json(datum: &Datum) -> Result<Value, NoJson> {
    let tree = Tree::new(datum);
    match first_wrong(tree.root()) {
        Some(wrong) => Err(wrong),
        None => {
            datum_to_json(datum).map_err(|_| NoJson { path: String::new(), found: "more than JSON can hold" })
        }
    }
}

/// A value on the way from the root: its parent's place in the list, and the step that leads from there.
struct Visited<'t> {
    view: View<'t>,
    parent: usize,
    step: Step<'t>,
}

enum Step<'t> {
    Root,
    Item(usize),
    Key(View<'t>),
}

/// Finds the first value, from the top, that JSON cannot hold. Without recursion: data may be deep.
fn first_wrong(root: View<'_>) -> Option<NoJson> {
    let mut visited = vec![Visited { view: root, parent: 0, step: Step::Root }];
    let mut at = 0;
    while at < visited.len() {
        let view = visited[at].view;
        let found = match view.node() {
            Node::Opaque(_) => Some("a function, or something else that cannot be sent"),
            Node::Float(x) if !x.is_finite() => Some("a number that JSON does not have"),
            Node::Map(_) if view.entries().iter().any(|(key, _)| key.name().is_none()) => {
                Some("a key that is not text")
            }
            _ => None,
        };
        if let Some(found) = found {
            return Some(NoJson { path: path(&visited, at), found });
        }
        match view.node() {
            Node::Map(_) => visited.extend(
                view.entries()
                    .into_iter()
                    .filter(|(_, value)| is_collection_or_odd(*value))
                    .map(|(key, value)| Visited { view: value, parent: at, step: Step::Key(key) }),
            ),
            Node::Vector(_) | Node::Set(_) => visited.extend(
                view.items()
                    .into_iter()
                    .enumerate()
                    .filter(|(_, item)| is_collection_or_odd(*item))
                    .map(|(i, item)| Visited { view: item, parent: at, step: Step::Item(i) }),
            ),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Returns whether a value needs a closer look. Most of large data is plain scalars, which are never wrong.
fn is_collection_or_odd(view: View<'_>) -> bool {
    matches!(view.node(), Node::Map(_) | Node::Vector(_) | Node::Set(_) | Node::Opaque(_) | Node::Float(_))
}

fn path(visited: &[Visited<'_>], mut at: usize) -> String {
    let mut steps = Vec::new();
    loop {
        match &visited[at].step {
            Step::Root => break,
            Step::Item(i) => steps.push(format!("[{i}]")),
            Step::Key(key) if key.is_veiled() => steps.push(format!(".{FIREWALLED}")),
            Step::Key(key) => steps.push(format!(".{}", key.name().unwrap_or("?"))),
        }
        at = visited[at].parent;
    }
    steps.reverse();
    steps.concat().trim_start_matches('.').to_string()
}
