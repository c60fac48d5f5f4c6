//! Return values of exports, as far as their source tells, so that programs can be checked before they run.
//!
//! They cannot be derived from the code, so they are trusted only as far as the file's definitions are.

use crate::artifact::ToolName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Maximum nodes of one export, and maximum fields of a map.
const MAX_NODES: usize = 256;
const MAX_FIELDS: usize = 256;

/// The key of a field.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Name, without the colon of a keyword.
    pub name: Box<str>,
    /// True for a keyword, false for a string.
    pub is_keyword: bool,
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_keyword {
            true => write!(f, ":{}", self.name),
            false => write!(f, "{:?}", self.name),
        }
    }
}

/// The return value of one export: the last of its nodes, which are made of those before them. Without nodes,
/// nothing is known about the export.
///
/// A list of numbers instead of a tree, since a file could nest a tree deeper than any stack.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Returns(pub Vec<Returned>);

/// A part of a return value. Numbers are indexes of earlier nodes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Returned {
    /// Any value.
    Anything,
    /// A list whose elements are this node.
    List(u32),
    /// A map with these keys, plus those of the map it was made from, if any.
    Map {
        /// Map it was made from.
        base: Option<u32>,
        /// Keys and their values.
        fields: Vec<(Key, u32)>,
    },
    /// Granted data of this name.
    Data(Box<str>),
    /// The reply of a tool.
    Answer(ToolName),
    /// The value of a field of a node.
    Field(u32, Key),
    /// Every element of a list, or every entry of a map.
    Each(u32),
    /// The element of a node at a position.
    Nth(u32, u32),
    /// Every value of a map.
    Values(u32),
}

impl Returns {
    /// True if every node is made of earlier ones and there are not too many.
    pub(crate) fn is_sound(&self) -> bool {
        let is_large =
            |node: &Returned| matches!(node, Returned::Map { fields, .. } if fields.len() > MAX_FIELDS);
        self.0.len() <= MAX_NODES
            && !self.0.iter().any(is_large)
            && self.0.iter().enumerate().all(|(at, node)| node.parts().all(|part| (part as usize) < at))
    }

    /// Iterates over its texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|node| {
            let (first, second, keys): (_, _, &[(Key, u32)]) = match node {
                Returned::Data(name) | Returned::Answer(ToolName::Named(name)) => (Some(name), None, &[]),
                Returned::Answer(ToolName::Upstream { server, tool }) => (Some(server), Some(tool), &[]),
                Returned::Field(_, key) => (Some(&key.name), None, &[]),
                Returned::Map { fields, .. } => (None, None, fields),
                _ => (None, None, &[]),
            };
            first.into_iter().chain(second).chain(keys.iter().map(|(key, _)| &key.name)).map(|text| &**text)
        })
    }
}

impl Returned {
    /// Iterates over the nodes it is made of.
    fn parts(&self) -> impl Iterator<Item = u32> {
        let (one, fields): (_, &[(Key, u32)]) = match self {
            Returned::Anything | Returned::Data(_) | Returned::Answer(_) => (None, &[]),
            Returned::List(of) | Returned::Each(of) | Returned::Values(of) => (Some(*of), &[]),
            Returned::Field(of, _) | Returned::Nth(of, _) => (Some(*of), &[]),
            Returned::Map { base, fields } => (*base, fields),
        };
        one.into_iter().chain(fields.iter().map(|(_, value)| *value))
    }
}
