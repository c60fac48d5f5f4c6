//! What exports give back, as far as their source tells, so that programs are held against it before they run.
//!
//! It cannot be worked out from the code, so a file that says it is believed only by those who believe its definitions.

use crate::artifact::ToolName;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most nodes of one export, and most fields of a map.
const MAX_NODES: usize = 256;
const MAX_FIELDS: usize = 256;

/// The key of a field.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Without the colon of a keyword.
    pub name: Box<str>,
    /// Whether it is a keyword; otherwise it is a string.
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

/// What one export gives back: the last of its nodes, which are made of those before them. Nothing is known of an
/// export without nodes.
///
/// A list of numbers and not a tree, since a file could nest a tree deeper than any stack.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Returns(pub Vec<Returned>);

/// A part of what is given back.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Returned {
    /// Anything.
    Anything,
    /// A list of these.
    List(u32),
    /// A map with these keys, and those of the map it was made from if there is one.
    Map {
        /// The map it was made from.
        base: Option<u32>,
        /// Its keys and values.
        fields: Vec<(Key, u32)>,
    },
    /// Granted data.
    Data(Box<str>),
    /// The answer of a tool.
    Answer(ToolName),
    /// The value of a field.
    Field(u32, Key),
    /// Every element of a list; every entry of a map.
    Each(u32),
    /// An element by its position.
    Nth(u32, u32),
    /// Every value of a map.
    Values(u32),
}

impl Returns {
    /// Whether every node is made of those before it, and there are not too many.
    pub(crate) fn is_sound(&self) -> bool {
        let is_large =
            |node: &Returned| matches!(node, Returned::Map { fields, .. } if fields.len() > MAX_FIELDS);
        self.0.len() <= MAX_NODES
            && !self.0.iter().any(is_large)
            && self.0.iter().enumerate().all(|(at, node)| node.parts().all(|part| (part as usize) < at))
    }

    /// The texts in it.
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
    /// The nodes it is made of.
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
