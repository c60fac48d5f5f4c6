//! Excerpts of values that are too large to be kept or shown whole.

use ptc_bytecode::{Datum, Media, Node};
use ptc_contract::data::{Shown, Tree, View, show_public};
use ptc_runtime::Frozen;

/// Maximum bytes of a definition that are read to show it.
const SHOWN_BYTES: usize = 256 << 10;

/// Maximum bytes of an image or a document that is shown; its bytes are not shown as text.
const MEDIA_BYTES: usize = 16 << 20;

/// Maximum keys named of a large map, and maximum entries of the shown item of a large list.
const KEYS: usize = 12;

/// Maximum bytes of the shown item of a large list.
const ITEM_BYTES: usize = 4 << 10;

/// Maximum bytes of a result that its turn keeps.
const RESULT_BYTES: usize = 1 << 20;

/// Shortens a result for the record of its turn: large ones would be held once per turn.
pub(super) fn brief(value: &Datum) -> Datum {
    let is_large = value.nodes().len() > RESULT_BYTES / 9 || bytes(value.nodes()) > RESULT_BYTES;
    if is_large { cut(value, RESULT_BYTES) } else { value.clone() }
}

/// Estimates the bytes of data.
fn bytes(nodes: &[Node]) -> usize {
    let text = |node: &Node| match node {
        Node::Str(text) | Node::Keyword(text) | Node::Big(text) => text.len(),
        _ => 0,
    };
    nodes.iter().map(|node| 9 + text(node)).sum()
}

/// Returns the first items of a large collection, or the beginning of a text, in about `most` bytes.
pub(super) fn cut(value: &Datum, most: usize) -> Datum {
    let tree = Tree::new(value);
    let root = tree.root();
    let mut nodes = Vec::new();
    let (mut used, mut count) = (0, 0);
    let parts: Vec<Vec<View<'_>>> = match root.node() {
        Node::Map(_) => root.entries().into_iter().map(|(key, value)| vec![key, value]).collect(),
        Node::Vector(_) | Node::Set(_) => root.items().into_iter().map(|item| vec![item]).collect(),
        Node::Str(text) => {
            let head = Datum::scalar(Node::Str(ptc_contract::data::head(text, most).into()));
            return if root.is_veiled() { head.with_veiled(vec![0]) } else { head };
        }
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
    // Kept parts keep their places, except for the collection itself.
    let end = nodes.len() as u32 - 1;
    let inside = value.veiled().iter().copied().filter(|place| *place < end);
    let veiled = inside.chain(root.is_veiled().then_some(end)).collect();
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil)).with_veiled(veiled)
}

/// Returns a definition as it is shown: whole, or a description with its beginning.
pub(crate) fn shown(value: &Frozen) -> Datum {
    let fields = value.outline(0, Media::MAX_ENTRIES).fields;
    let is_media =
        ["type", "mimeType", "data"].iter().all(|name| fields.iter().any(|(known, _)| known == name));
    let most = if is_media { MEDIA_BYTES } else { SHOWN_BYTES };
    value.to_datum(most).unwrap_or_else(|_| {
        let beginning = beginning(value).map_or(String::new(), |text| format!("; {text}"));
        Datum::scalar(Node::Opaque(format!("#<{}{beginning}>", described(value)).into()))
    })
}

/// Describes a value that is too large to be shown: `list of 2000 items, 512400 bytes`.
pub(crate) fn described(value: &Frozen) -> String {
    let outline = value.outline(0, 0);
    let what = match outline.kind {
        "array" => format!("list of {} items", outline.len),
        "object" => format!("map of {} entries", outline.len),
        "string" => "text".to_string(),
        _ => "value".to_string(),
    };
    // The value may share its parts with other data, such as a cached answer.
    format!("{what}, {} bytes", Frozen::bytes_of_all(std::iter::once(value)))
}

/// Returns the first item of a list, or the keys of a map.
fn beginning(value: &Frozen) -> Option<String> {
    let outline = value.outline(0, KEYS);
    if outline.kind == "object" {
        let keys: Vec<&str> = outline.fields.iter().map(|(name, _)| name.as_str()).collect();
        return (!keys.is_empty()).then(|| format!("keys {}", keys.join(" ")));
    }
    let first = value.first_items(1, ITEM_BYTES)?.pop()??;
    let limits = Shown { items: KEYS, string: 60, chars: 160, depth: 3 };
    Some(format!("the first {}", show_public(Tree::new(&first).root(), limits)))
}
