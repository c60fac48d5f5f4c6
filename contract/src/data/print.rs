//! Owned data as the text that a program would print, within limits on items, strings and the whole.

use super::View;
use crate::firewall::{FIREWALLED, is_firewalled};
use ptc_bytecode::text::{write_day, write_float, write_instant, write_quoted};
use ptc_bytecode::{Datum, Media, Node};

/// Limits on how much of a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Items of each list, set or map.
    pub items: usize,
    /// Bytes of each string.
    pub string: usize,
    /// Approximate characters of the whole text.
    pub chars: usize,
    /// Levels of nested collections.
    pub depth: usize,
}

impl Default for Shown {
    fn default() -> Shown {
        Shown { items: usize::MAX, string: usize::MAX, chars: usize::MAX, depth: 64 }
    }
}

/// Prints a value in readable form. Omissions are marked: `…(+3 items)`, `…(+312 bytes)`, `…`.
///
/// ```
/// use ptc_contract::data::{show, Shown, Tree};
/// let datum = ptc_runtime::bridge::json_to_datum(&serde_json::json!([1, 2, 3, "abc"]))?;
/// let tree = Tree::new(&datum);
/// assert_eq!(show(tree.root(), Shown::default()), r#"[1 2 3 "abc"]"#);
/// assert_eq!(show(tree.root(), Shown { items: 2, ..Shown::default() }), "[1 2 …(+2 items)]");
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn show(view: View<'_>, limits: Shown) -> String {
    print(view, limits, Reader::Host).0
}

/// Prints a value for models: values of firewalled keys and values derived from them do not appear, and images and
/// documents are placeholders.
///
/// ```
/// use ptc_contract::data::{show_public, Shown, Tree};
/// let rows = serde_json::json!([{"_id": 7, "n": {"type": "image", "mimeType": "image/png", "data": "iVBORw=="}}]);
/// let datum = ptc_runtime::bridge::json_to_datum(&rows)?;
/// let text = show_public(Tree::new(&datum).root(), Shown::default());
/// assert_eq!(text, "[{\"_id\" <Firewalled> \"n\" <image image/png, 4 bytes>}]");
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn show_public(view: View<'_>, limits: Shown) -> String {
    show_public_cut(view, limits).0
}

/// Prints a value for models, and returns whether anything was left out.
pub fn show_public_cut(view: View<'_>, limits: Shown) -> (String, bool) {
    show_public_with(view, limits, &mut |media| media.to_string())
}

/// Prints a value for models with the caller's own placeholder for each image and document.
pub fn show_public_with<'t>(
    view: View<'t>,
    limits: Shown,
    place: &mut dyn FnMut(Media<'t>) -> String,
) -> (String, bool) {
    print(view, limits, Reader::Model(place))
}

/// Prints a value for models so that it can be read again: images and documents stay maps.
pub(super) fn show_whole(view: View<'_>, limits: Shown) -> (String, bool) {
    print(view, limits, Reader::Machine)
}

/// Returns the size of a value's printed form in bytes, without printing all of it at once. Nothing is redacted.
///
/// ```
/// use ptc_contract::data::printed_bytes;
/// let datum = ptc_runtime::bridge::json_to_datum(&serde_json::json!({"a": [1, 2, "x"], "b": null}))?;
/// assert_eq!(printed_bytes(&datum), r#"{"a" [1 2 "x"] "b" nil}"#.len() as u64);
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub fn printed_bytes(datum: &Datum) -> u64 {
    let mut leaf = String::new();
    let between = |brackets: u64, parts: u64| brackets + parts.saturating_sub(1);
    let of = |node: &Node| match node {
        Node::Vector(n) => between(2, u64::from(*n)),
        Node::Set(n) => between(3, u64::from(*n)),
        Node::Map(n) => between(2, u64::from(*n) * 2),
        node => {
            leaf.clear();
            write_leaf(node, usize::MAX, &mut leaf);
            leaf.len() as u64
        }
    };
    datum.nodes().iter().map(of).sum()
}

fn print<'t>(view: View<'t>, limits: Shown, reader: Reader<'_, 't>) -> (String, bool) {
    let is_public = !matches!(reader, Reader::Host);
    let mut printer =
        Printer { out: String::new(), limits, is_cut: false, is_partial: false, is_public, reader };
    printer.value(view, 0);
    let mut text = printer.out;
    if let Some((at, _)) = text.char_indices().nth(limits.chars) {
        text.truncate(at);
        printer.is_cut = true;
    }
    if printer.is_cut && !text.ends_with('…') {
        text.push('…');
    }
    (text, printer.is_cut || printer.is_partial)
}

/// Reader of the printed text.
enum Reader<'p, 't> {
    /// The host, which sees everything.
    Host,
    /// A program that may not see firewalled values.
    Machine,
    /// A model, which receives images separately; the function returns the placeholder of one.
    Model(&'p mut dyn FnMut(Media<'t>) -> String),
}

struct Printer<'p, 't> {
    out: String,
    limits: Shown,
    /// Flag: the end of the text is missing.
    is_cut: bool,
    /// Flag: something inside the text is missing.
    is_partial: bool,
    is_public: bool,
    reader: Reader<'p, 't>,
}

impl<'t> Printer<'_, 't> {
    fn is_full(&mut self) -> bool {
        // Bytes are at least characters, so this never stops early.
        self.is_cut |= self.out.len() / 4 > self.limits.chars;
        self.is_cut
    }

    /// Prints one value. Recurses at most `limits.depth` deep.
    fn value(&mut self, view: View<'t>, depth: usize) {
        if let Reader::Model(place) = &mut self.reader
            && let Some(media) = view.media()
        {
            self.out.push_str(&place(media));
            return;
        }
        match view.node() {
            _ if self.is_public && view.is_veiled() => self.out.push_str(FIREWALLED),
            Node::Vector(_) => self.several(view, "[", "]", depth),
            Node::Set(_) => self.several(view, "#{", "}", depth),
            Node::Map(_) => self.several(view, "{", "}", depth),
            node => {
                self.is_partial |= matches!(node, Node::Str(text) if text.len() > self.limits.string);
                write_leaf(node, self.limits.string, &mut self.out);
            }
        }
    }

    fn several(&mut self, view: View<'t>, open: &str, close: &str, depth: usize) {
        self.out.push_str(open);
        let count = view.len();
        if depth >= self.limits.depth && count > 0 {
            self.is_partial = true;
            self.out.push_str(&format!("…({count} items)"));
        } else {
            let per_item = if matches!(view.node(), Node::Map(_)) { 2 } else { 1 };
            let shown = self.limits.items.min(count);
            let mut is_hidden = false;
            for (i, child) in view.children().into_iter().take(shown.saturating_mul(per_item)).enumerate() {
                if self.is_full() {
                    return;
                }
                if i > 0 {
                    self.out.push(' ');
                }
                if std::mem::take(&mut is_hidden) {
                    self.out.push_str(FIREWALLED);
                    continue;
                }
                let is_key = per_item == 2 && i % 2 == 0;
                is_hidden = self.is_public && is_key && child.name().is_some_and(is_firewalled);
                self.value(child, depth + 1);
            }
            if shown < count {
                self.is_partial = true;
                let gap = if shown > 0 { " " } else { "" };
                self.out.push_str(&format!("{gap}…(+{} items)", count - shown));
            }
        }
        self.out.push_str(close);
    }
}

/// Writes a scalar; strings end after `most` bytes with a note.
fn write_leaf(node: &Node, most: usize, out: &mut String) {
    match node {
        Node::Nil => out.push_str("nil"),
        Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Node::Int(n) => out.push_str(&n.to_string()),
        Node::Big(digits) => out.push_str(digits),
        Node::Float(x) => write_float(*x, out),
        Node::Str(text) if text.len() > most => {
            let kept = head(text, most);
            write_quoted(kept, out);
            out.push_str(&format!("…(+{} bytes)", text.len() - kept.len()));
        }
        Node::Str(text) => write_quoted(text, out),
        Node::Keyword(name) => out.push_str(&format!(":{name}")),
        Node::Symbol(name) => out.push_str(&format!("'{name}")),
        Node::Regex(source) => out.push_str(&format!("#\"{source}\"")),
        Node::Day(day) => {
            out.push('"');
            write_day(i64::from(*day), out);
            out.push('"');
        }
        Node::Instant(micros) => {
            out.push('"');
            write_instant(*micros, out);
            out.push('"');
        }
        Node::Duration(ms) => out.push_str(&format!("#duration[{ms}ms]")),
        Node::Opaque(text) => out.push_str(text),
        Node::Vector(_) | Node::Map(_) | Node::Set(_) => out.push('…'),
    }
}

/// Returns the first `most` bytes of a text, or slightly fewer so that it ends between characters.
pub fn head(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// Returns the first `most` characters of a text, with a count of the missing ones.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…(+{} chars)", &text[..at], text[at..].chars().count()),
        None => text.to_string(),
    }
}

/// Returns a value as a template inserts it: text and dates without quotes.
pub fn plain(view: View<'_>) -> String {
    let mut out = String::new();
    match view.node() {
        Node::Str(text) => out.push_str(text),
        Node::Keyword(name) => out.push_str(name),
        Node::Day(day) => write_day(i64::from(*day), &mut out),
        Node::Instant(micros) => write_instant(*micros, &mut out),
        Node::Nil => {}
        _ => out = show(view, Shown::default()),
    }
    out
}
