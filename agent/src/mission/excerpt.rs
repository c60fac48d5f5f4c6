//! Beginnings of values that are too large to be kept or shown whole.

use ptc_bytecode::{Datum, Media, Node};
use ptc_contract::data::{Shown, Tree, View, show_public};
use ptc_runtime::Frozen;

/// How much of a definition is looked at to show it.
const SHOWN_BYTES: usize = 256 << 10;

/// The same for an image or a document, whose bytes are not shown as text.
const MEDIA_BYTES: usize = 16 << 20;

/// Keys of a large map that are named, and entries of the item that is shown of a large list.
const KEYS: usize = 12;

/// How large the item that is shown of a large list may be.
const ITEM_BYTES: usize = 4 << 10;

/// How much of a result its turn keeps.
const RESULT_BYTES: usize = 1 << 20;

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
    // Parts that are kept stand where they stood, but for the collection itself.
    let end = nodes.len() as u32 - 1;
    let inside = value.veiled().iter().copied().filter(|place| *place < end);
    let veiled = inside.chain(root.is_veiled().then_some(end)).collect();
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil)).with_veiled(veiled)
}

/// A definition as far as it is shown: itself, or what it is and how it begins.
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

/// What a value is that is too large to be shown, and how large: `list of 2000 items, 512400 bytes`.
pub(crate) fn described(value: &Frozen) -> String {
    let outline = value.outline(0, 0);
    let what = match outline.kind {
        "array" => format!("list of {} items", outline.len),
        "object" => format!("map of {} entries", outline.len),
        "string" => "text".to_string(),
        _ => "value".to_string(),
    };
    // It may only name what other data holds, such as an answer that is shared with the cache.
    format!("{what}, {} bytes", Frozen::bytes_of_all(std::iter::once(value)))
}

/// The first item of a list, or the keys of a map.
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
