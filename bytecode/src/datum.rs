//! Owned data outside any run: constants of an artifact, results, tool arguments and replies.
//!
//! A datum is flat, a list of nodes with children before their collection, so data nested 300,000 deep is built,
//! compared and dropped without recursion.

use serde::{Deserialize, Serialize, Serializer};
use std::sync::Arc;

/// One node of a [`Datum`]. A collection takes its items from the subtrees before it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Node {
    /// The value nil.
    Nil,
    /// A boolean.
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
    /// The source of a regular expression.
    Regex(Box<str>),
    /// A calendar day: days since 1970-01-01.
    Day(i32),
    /// A point in time: microseconds since 1970-01-01T00:00Z.
    Instant(i64),
    /// A duration in milliseconds.
    Duration(i64),
    /// A vector of the last n subtrees.
    Vector(u32),
    /// A map of the last 2n subtrees, keys and values in turn, in insertion order.
    Map(u32),
    /// A set of the last n subtrees.
    Set(u32),
    /// A value without a data form (a function, a var, a tool), as its printed form.
    Opaque(Box<str>),
}

/// An owned value. Cloning is cheap: the nodes are shared.
///
/// Parts of it may be *veiled*: they came from firewalled fields and are shown to no model. The marks stand beside
/// the nodes and are not part of the value, so equality ignores them and they are never written out.
///
/// ```
/// use ptc_bytecode::{Datum, Node};
/// let pair = Datum::new(vec![Node::Int(1), Node::Str("a".into()), Node::Vector(2)]).unwrap();
/// assert_eq!(pair.nodes().len(), 3);
/// assert!(Datum::new(vec![Node::Vector(2)]).is_none());
/// ```
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Vec<Node>")]
pub struct Datum {
    nodes: Arc<Vec<Node>>,
    /// Indexes of the nodes that end veiled subtrees, in order.
    veiled: Option<Arc<[u32]>>,
}

impl PartialEq for Datum {
    fn eq(&self, other: &Datum) -> bool {
        self.nodes == other.nodes
    }
}

impl Datum {
    /// Makes a datum from nodes in order; None unless they form exactly one value.
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
        (depth == 1).then(|| Datum { nodes: Arc::new(nodes), veiled: None })
    }

    /// Veils the subtrees that end at these nodes. Places that do not exist are ignored.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// let pair = Datum::new(vec![Node::Int(1), Node::Int(7), Node::Vector(2)]).unwrap().with_veiled(vec![1]);
    /// assert!(pair.is_veiled(1) && !pair.is_veiled(2));
    /// ```
    #[must_use]
    pub fn with_veiled(mut self, mut places: Vec<u32>) -> Datum {
        places.sort_unstable();
        places.dedup();
        places.retain(|place| (*place as usize) < self.nodes.len());
        self.veiled = (!places.is_empty()).then(|| places.into());
        self
    }

    /// Returns the indexes of the nodes that end veiled subtrees, in order.
    pub fn veiled(&self) -> &[u32] {
        self.veiled.as_deref().unwrap_or_default()
    }

    /// True if the subtree that ends at node `place` is veiled.
    pub fn is_veiled(&self, place: usize) -> bool {
        u32::try_from(place).is_ok_and(|place| self.veiled().binary_search(&place).is_ok())
    }

    /// Returns a copy with this text in place of every veiled subtree.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// let pair = Datum::new(vec![Node::Int(1), Node::Int(2), Node::Vector(2), Node::Int(3), Node::Vector(2)]).unwrap();
    /// let hidden = Datum::new(vec![Node::Str("…".into()), Node::Int(3), Node::Vector(2)]).unwrap();
    /// assert_eq!(pair.with_veiled(vec![2]).redacted("…"), hidden);
    /// ```
    #[must_use]
    pub fn redacted(&self, hidden: &str) -> Datum {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        // Starts of the subtrees that are written and belong to no collection yet.
        let mut starts: Vec<usize> = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            let takes = match node {
                Node::Vector(n) | Node::Set(n) => *n as usize,
                Node::Map(n) => 2 * *n as usize,
                _ => 0,
            };
            let first = starts.len().saturating_sub(takes);
            let start = starts.get(first).copied().unwrap_or(nodes.len());
            starts.truncate(first);
            starts.push(start);
            match self.is_veiled(place) {
                true => {
                    nodes.truncate(start);
                    nodes.push(Node::Str(hidden.into()));
                }
                false => nodes.push(node.clone()),
            }
        }
        Datum { nodes: Arc::new(nodes), veiled: None }
    }

    /// Returns the nodes, children before their collection.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Makes a value of a single node.
    pub fn scalar(node: Node) -> Datum {
        debug_assert!(!matches!(node, Node::Vector(1..) | Node::Map(1..) | Node::Set(1..)));
        Datum { nodes: Arc::new(vec![node]), veiled: None }
    }

    /// Estimates its size in bytes.
    pub fn bytes(&self) -> usize {
        self.nodes
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
        Arc::unwrap_or_clone(datum.nodes)
    }
}

impl Serialize for Datum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.nodes.serialize(serializer)
    }
}
