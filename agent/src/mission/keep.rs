//! What programs leave behind for the ones after them: definitions, results, and how large they may be.

use super::engine::Engine;
use super::turns::Mission;
use crate::data::{Tree, View};
use crate::memory;
use ptc_bytecode::{Datum, Node};
use ptc_runtime::{Frozen, Outcome};

/// How much of a definition is looked at to show it.
const SHOWN_BYTES: usize = 256 << 10;

/// How much of a result its turn keeps.
const RESULT_BYTES: usize = 1 << 20;

/// What was kept of a program.
#[derive(Default)]
pub(super) struct Kept {
    /// Definitions, as far as they are shown.
    pub definitions: Vec<(String, Datum)>,
    /// What can be read as `data/…` from now on.
    pub keys: Vec<String>,
    /// Whether `*1` has only the beginning of the value.
    pub is_cut: bool,
    /// The bytes that would be in use, and the limit, if that is why nothing of the value can be read as `data/…`.
    pub unread: Option<(usize, usize)>,
}

impl Mission {
    /// Keeps what a program defined, and its value. If definitions are too large, everything is as before and
    /// the error has their size and the limit. A value that is too large is only not kept: nobody asked for that.
    pub(super) fn keep(
        &mut self,
        definitions: Vec<(String, Frozen)>,
        value: Option<(&Outcome, &Datum)>,
    ) -> Result<Kept, (usize, usize)> {
        let shown = definitions.iter().map(|(name, value)| (name.clone(), shown(value))).collect();
        let mut kept = Kept { definitions: shown, ..Kept::default() };
        if let Some(over) = self.define_all(definitions) {
            return Err(over);
        }
        let most = self.agent.options().format_options.history_max_bytes;
        let (Some(engine), Some((outcome, value))) = (&mut self.engine, value) else { return Ok(kept) };
        let before = engine.overlay.clone();
        kept.keys = engine.merge(outcome);
        kept.is_cut = engine.remember(outcome, value, most);
        if let Some(over) = self.memory_over() {
            if let Some(engine) = &mut self.engine {
                engine.overlay = before;
            }
            self.memory_over();
            (kept.keys, kept.unread) = (Vec::new(), Some(over));
        }
        Ok(kept)
    }

    /// Keeps the definitions of a turn that did not do what it should, unless they are too large: such a turn
    /// is not worth the mission, so they are undone. Gives their size and the limit then.
    pub(super) fn define_all(&mut self, definitions: Vec<(String, Frozen)>) -> Option<(usize, usize)> {
        let engine = self.engine.as_mut()?;
        let before = engine.session.clone();
        for (name, value) in definitions {
            engine.session.define(name, value);
        }
        let over = self.memory_over()?;
        if let Some(engine) = &mut self.engine {
            engine.session = before;
        }
        self.memory_over();
        Some(over)
    }

    /// Bytes of all definitions and results, if they are more than the limit.
    fn memory_over(&mut self) -> Option<(usize, usize)> {
        let engine = self.engine.as_ref()?;
        let limit = self.agent.options().memory_limit;
        let most = limit.unwrap_or(u64::MAX / 4);
        let values =
            engine.session.defined().filter_map(|name| Some((name, engine.session.definition(name)?)));
        let overlay = engine.overlay.iter().map(|(name, value)| (name.as_str(), value));
        let bytes = memory::total(values.chain(overlay), most);
        self.state.memory_bytes = bytes;
        let limit = limit.filter(|limit| bytes > *limit)?;
        Some((bytes as usize, limit as usize))
    }
}

impl Engine {
    /// Makes the entries of a result readable as `data/key`; any other result as `data/result`. Gives the names.
    fn merge(&mut self, outcome: &Outcome) -> Vec<String> {
        let fields = match outcome.freeze_fields() {
            Some(fields) => fields,
            None => {
                let value = outcome.freeze();
                if matches!(value.to_datum(64).as_ref().map(Datum::nodes), Ok([Node::Nil])) {
                    return Vec::new();
                }
                vec![("result".to_string(), value)]
            }
        };
        let mut names = Vec::new();
        for (name, value) in fields {
            self.overlay.retain(|known, _| !crate::keys::same(known, &name));
            names.push(name.clone());
            self.overlay.insert(name, value);
        }
        names
    }

    /// Makes a value `*1`; a large one is cut, and the answer says so.
    fn remember(&mut self, outcome: &Outcome, value: &Datum, most: usize) -> bool {
        let frozen = outcome.freeze();
        let is_large = memory::size(&frozen, most as u64) > most as u64;
        let kept = if is_large { Frozen::from_datum(&cut(value, most)).ok() } else { Some(frozen) };
        if let Some(kept) = kept {
            self.session.remember(kept);
        }
        is_large
    }
}

/// A result as its turn keeps it: large ones would be in memory once for every turn.
pub(super) fn brief(value: &Datum) -> Datum {
    let is_large = value.nodes().len() > RESULT_BYTES / 9 || bytes(value.nodes()) > RESULT_BYTES;
    if is_large { cut(value, RESULT_BYTES) } else { value.clone() }
}

/// About how large data is.
fn bytes(nodes: &[Node]) -> usize {
    let text = |node: &Node| match node {
        Node::Str(text) | Node::Keyword(text) | Node::Big(text) => text.len(),
        _ => 0,
    };
    nodes.iter().map(|node| 9 + text(node)).sum()
}

/// The first items of a large collection, or the beginning of a text, in about so many bytes.
fn cut(value: &Datum, most: usize) -> Datum {
    let tree = Tree::new(value);
    let root = tree.root();
    let mut nodes = Vec::new();
    let (mut used, mut count) = (0, 0);
    let parts: Vec<Vec<View<'_>>> = match root.node() {
        Node::Map(_) => root.entries().into_iter().map(|(key, value)| vec![key, value]).collect(),
        Node::Vector(_) | Node::Set(_) => root.items().into_iter().map(|item| vec![item]).collect(),
        Node::Str(text) => return Datum::scalar(Node::Str(crate::data::head(text, most).into())),
        _ => return value.clone(),
    };
    for part in parts {
        used += part.iter().map(|view| bytes(view.nodes())).sum::<usize>();
        if used > most {
            break;
        }
        part.iter().for_each(|view| nodes.extend_from_slice(view.nodes()));
        count += 1;
    }
    nodes.push(match root.node() {
        Node::Map(_) => Node::Map(count),
        Node::Set(_) => Node::Set(count),
        _ => Node::Vector(count),
    });
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil))
}

/// A definition as far as it is shown.
pub(crate) fn shown(value: &Frozen) -> Datum {
    let large = || Datum::scalar(Node::Opaque(format!("#<{} bytes>", value.bytes()).into()));
    value.to_datum(SHOWN_BYTES).unwrap_or_else(|_| large())
}
