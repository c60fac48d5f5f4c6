//! Owned data outside any run: constants of an artifact, results, tool arguments and answers.
//!
//! A datum is flat, a list of nodes with children before their collection. So data nested
//! 300,000 deep is built, compared and dropped without recursion.

use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// One node of a [`Datum`]. A collection takes its items from the subtrees before it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Node {
    /// nil
    Nil,
    /// true, false
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// A larger integer, in decimal.
    Big(Box<str>),
    /// A float.
    Float(f64),
    /// A string.
    Str(Box<str>),
    /// A keyword, without its colon.
    Keyword(Box<str>),
    /// A symbol reference, `'x`.
    Symbol(Box<str>),
    /// A pattern's source.
    Regex(Box<str>),
    /// A calendar day: days since 1970-01-01.
    Day(i32),
    /// A point in time: microseconds since 1970-01-01T00:00Z.
    Instant(i64),
    /// Milliseconds.
    Duration(i64),
    /// A vector of the last n subtrees.
    Vector(u32),
    /// A map of the last 2n subtrees, keys and values in turn, in insertion order.
    Map(u32),
    /// A set of the last n subtrees.
    Set(u32),
    /// Something that has no data form (a function, a var, a tool), by its printed form.
    Opaque(Box<str>),
}

/// An owned value. Cloning it is cheap: the nodes are shared.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// let pair = Datum::new(vec![Node::Int(1), Node::Str("a".into()), Node::Vector(2)]).unwrap();
/// assert_eq!(pair.nodes().len(), 3);
/// assert!(Datum::new(vec![Node::Vector(2)]).is_none());
/// ```
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(try_from = "Vec<Node>")]
pub struct Datum(Arc<Vec<Node>>);

impl Datum {
    /// A datum from nodes in order; None unless they form exactly one value.
    pub fn new(nodes: Vec<Node>) -> Option<Datum> {
        let mut depth: u64 = 0;
        for node in &nodes {
            let takes = match node {
                Node::Vector(n) | Node::Set(n) => u64::from(*n),
                Node::Map(n) => u64::from(*n) * 2,
                _ => 0,
            };
            depth = depth.checked_sub(takes)? + 1;
        }
        (depth == 1).then(|| Datum(Arc::new(nodes)))
    }

    /// The nodes, children before their collection.
    pub fn nodes(&self) -> &[Node] {
        &self.0
    }

    /// A value that is a single node.
    pub fn scalar(node: Node) -> Datum {
        debug_assert!(!matches!(node, Node::Vector(1..) | Node::Map(1..) | Node::Set(1..)));
        Datum(Arc::new(vec![node]))
    }

    /// Roughly how many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.0
            .iter()
            .map(|node| {
                size_of::<Node>()
                    + match node {
                        Node::Big(s)
                        | Node::Str(s)
                        | Node::Keyword(s)
                        | Node::Symbol(s)
                        | Node::Regex(s)
                        | Node::Opaque(s) => s.len(),
                        _ => 0,
                    }
            })
            .sum()
    }
}

impl TryFrom<Vec<Node>> for Datum {
    type Error = &'static str;

    fn try_from(nodes: Vec<Node>) -> Result<Datum, Self::Error> {
        Datum::new(nodes).ok_or("nodes do not form one value")
    }
}

impl From<Datum> for Vec<Node> {
    fn from(datum: Datum) -> Vec<Node> {
        Arc::unwrap_or_clone(datum.0)
    }
}

impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}
