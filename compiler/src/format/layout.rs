//! Layout of the tree as text: each form on one line if it fits, otherwise broken by its style.

use super::style::{Style, binds, breaks, style, width};
use super::tree::{Item, ItemKind, Node, NodeKind, elements};

/// Maximum columns of a line, where there is a choice.
const WIDTH: usize = 80;

/// Maximum distance of a form's arguments from its start. Behind a longer head they would be squeezed against the
/// right margin.
const MAX_HEAD: usize = 24;

impl<'s> Node<'s> {
    /// Makes a node without metadata, and measures it.
    pub fn new(kind: NodeKind<'s>) -> Node<'s> {
        let flat = measure(&kind);
        Node { metadata: Vec::new(), kind, flat }
    }

    /// Adds metadata before it.
    pub fn add_metadata(&mut self, metadata: Vec<Node<'s>>) {
        for node in &metadata {
            self.flat = self.flat.and_then(|flat| Some(flat + node.flat? + 1));
        }
        self.metadata = metadata;
    }
}

/// Returns the width of a form on one line; None if it cannot or should not be on one.
fn measure(kind: &NodeKind<'_>) -> Option<usize> {
    match kind {
        NodeKind::Atom(text) if text.contains('\n') => None,
        NodeKind::Atom(text) => Some(columns(text)),
        NodeKind::Marked { mark, forms } => {
            let blanks = forms.len().saturating_sub(1) + usize::from(*mark == "#inst");
            forms.iter().try_fold(mark.len() + blanks, |sum, node| Some(sum + node.flat?))
        }
        NodeKind::Bracket { open, close, items } => {
            let head = elements(items).next().and_then(Node::atom);
            let head = head.filter(|_| open.ends_with('('));
            if head.is_some_and(|head| breaks(head, items)) {
                return None;
            }
            let mut sum = open.len() + close.len() + items.len().saturating_sub(1);
            for item in items {
                match &item.kind {
                    ItemKind::Comment { .. } => return None,
                    ItemKind::Node(node) => sum += node.flat?,
                }
            }
            (sum <= head.map_or(usize::MAX, width)).then_some(sum)
        }
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// Renders a program as text.
pub(super) fn text(items: &[Item<'_>]) -> String {
    let mut printer = Printer::default();
    for (i, item) in items.iter().enumerate() {
        if i > 0 && !item.is_trailing() {
            if item.after_blank {
                printer.out.push('\n');
            }
            printer.line(0);
        }
        printer.item(item, false, 0);
    }
    if !printer.out.is_empty() {
        printer.out.push('\n');
    }
    printer.out
}

impl Item<'_> {
    fn is_trailing(&self) -> bool {
        matches!(self.kind, ItemKind::Comment { is_trailing: true, .. })
    }

    fn is_comment(&self) -> bool {
        matches!(self.kind, ItemKind::Comment { .. })
    }

    /// True for an element, neither a comment nor dropped.
    fn is_element(&self) -> bool {
        matches!(&self.kind, ItemKind::Node(node) if !node.is_dropped())
    }

    fn flat(&self) -> Option<usize> {
        match &self.kind {
            ItemKind::Node(node) => node.flat,
            ItemKind::Comment { .. } => None,
        }
    }
}

#[derive(Default)]
struct Printer {
    out: String,
    /// Column at the end of the text so far.
    column: usize,
}

impl Printer {
    fn write(&mut self, text: &str) {
        self.out.push_str(text);
        match text.rfind('\n') {
            Some(at) => self.column = columns(&text[at + 1..]),
            None => self.column += columns(text),
        }
    }

    fn line(&mut self, indent: usize) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }

    /// Begins a new line for an element, keeping one blank line before it.
    fn next_line(&mut self, item: &Item<'_>, indent: usize) {
        if item.after_blank {
            self.out.push('\n');
        }
        self.line(indent);
    }

    fn fits(&self, flat: Option<usize>, closers: usize) -> bool {
        flat.is_some_and(|flat| self.column + flat + closers <= WIDTH)
    }

    fn item(&mut self, item: &Item<'_>, is_binding: bool, closers: usize) {
        match &item.kind {
            ItemKind::Node(node) => self.node(node, is_binding, closers),
            ItemKind::Comment { text, is_trailing } => {
                if *is_trailing && self.column > 0 {
                    self.write(" ");
                }
                self.write(text);
            }
        }
    }

    /// Writes a form followed by `closers` brackets on the same line.
    fn node(&mut self, node: &Node<'_>, is_binding: bool, closers: usize) {
        // Several bindings go on separate lines even if they would fit.
        let has_to_break = is_binding && node.items("[").is_some_and(|items| elements(items).count() > 2);
        if self.fits(node.flat, closers) && !has_to_break {
            return self.flat(node);
        }
        for before in &node.metadata {
            self.node(before, false, 0);
            self.write(" ");
        }
        match &node.kind {
            NodeKind::Atom(text) => self.write(text),
            NodeKind::Marked { mark, forms } => {
                self.mark(mark);
                for (i, form) in forms.iter().enumerate() {
                    if i > 0 {
                        self.write(" ");
                    }
                    self.node(form, false, if i + 1 == forms.len() { closers } else { 0 });
                }
            }
            NodeKind::Bracket { open, close, items } => {
                let start = self.column;
                self.write(open);
                self.bracket(open, items, start, is_binding, closers + 1);
                if items.last().is_some_and(Item::is_comment) {
                    self.line(start + open.len());
                }
                self.write(close);
            }
        }
    }

    fn flat(&mut self, node: &Node<'_>) {
        for before in &node.metadata {
            self.flat(before);
            self.write(" ");
        }
        match &node.kind {
            NodeKind::Atom(text) => self.write(text),
            NodeKind::Marked { mark, forms } => {
                self.mark(mark);
                for (i, form) in forms.iter().enumerate() {
                    if i > 0 {
                        self.write(" ");
                    }
                    self.flat(form);
                }
            }
            NodeKind::Bracket { open, close, items } => {
                self.write(open);
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        self.write(" ");
                    }
                    if let ItemKind::Node(node) = &item.kind {
                        self.flat(node);
                    }
                }
                self.write(close);
            }
        }
    }

    fn mark(&mut self, mark: &str) {
        self.write(mark);
        if mark == "#inst" {
            self.write(" ");
        }
    }

    fn bracket(&mut self, open: &str, items: &[Item<'_>], start: usize, is_binding: bool, closers: usize) {
        let inside = start + open.len();
        match style(open, items, is_binding) {
            Style::Body(header) => self.body(items, header, inside, closers),
            Style::Clauses(header) => {
                let split = place_of(items, header);
                self.body(&items[..split], header, inside, 0);
                self.pairs(&items[split..], inside + 1, split > 0, true, closers);
            }
            Style::Call => self.call(items, inside, closers),
            Style::Elements => self.elements(items, inside, closers),
            Style::Pairs => self.pairs(items, inside, false, false, closers),
            Style::Fill => self.fill(items, inside, closers),
        }
    }

    /// Writes `header` elements on the first line and the others below.
    fn body(&mut self, items: &[Item<'_>], header: usize, inside: usize, closers: usize) {
        let head = elements(items).next().and_then(Node::atom);
        let mut seen = 0;
        for (i, item) in items.iter().enumerate() {
            let after_comment = i > 0 && items[i - 1].is_comment();
            if i == 0 || item.is_trailing() {
                // A trailing comment stays on its line.
            } else if after_comment || seen >= header || item.is_comment() {
                self.next_line(item, if seen == 0 { inside } else { inside + 1 });
            } else {
                self.write(" ");
            }
            let is_binding = seen == 1 && head.is_some_and(binds);
            seen += usize::from(item.is_element());
            self.item(item, is_binding, if i + 1 == items.len() { closers } else { 0 });
        }
    }

    /// Writes arguments below each other: aligned after the head, or below the head if that is too far to the right.
    fn call(&mut self, items: &[Item<'_>], inside: usize, closers: usize) {
        let head = items.first().and_then(Item::flat).unwrap_or(0);
        let aligned = inside + head + 1;
        // Only atoms decide, since brackets can break.
        let is_long = |item: &Item<'_>| match &item.kind {
            ItemKind::Node(Node { kind: NodeKind::Atom(_), flat: Some(flat), .. }) => {
                aligned + flat > WIDTH && inside + flat <= WIDTH
            }
            _ => false,
        };
        let is_behind = head > 0 && head <= MAX_HEAD && !items.iter().skip(1).any(is_long);
        let indent = if is_behind { aligned } else { inside };
        for (i, item) in items.iter().enumerate() {
            let after_comment = i > 0 && items[i - 1].is_comment();
            if i == 0 || item.is_trailing() {
                // The head, or a trailing comment, stays on its line.
            } else if i == 1 && is_behind && !after_comment && !item.is_comment() {
                self.write(" ");
            } else {
                self.next_line(item, indent);
            }
            self.item(item, false, if i + 1 == items.len() { closers } else { 0 });
        }
    }

    fn elements(&mut self, items: &[Item<'_>], inside: usize, closers: usize) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 && !item.is_trailing() {
                self.next_line(item, inside);
            }
            self.item(item, false, if i + 1 == items.len() { closers } else { 0 });
        }
    }

    fn fill(&mut self, items: &[Item<'_>], inside: usize, closers: usize) {
        for (i, item) in items.iter().enumerate() {
            let closers = if i + 1 == items.len() { closers } else { 0 };
            if i > 0 && !item.is_trailing() {
                let goes_on = !items[i - 1].is_comment() && !item.is_comment() && !item.after_blank;
                if goes_on && self.fits(item.flat().map(|flat| flat + 1), closers) {
                    self.write(" ");
                } else {
                    self.next_line(item, inside);
                }
            }
            self.item(item, false, closers);
        }
    }

    /// Writes keys below each other with values after them; with `below`, a value that has to break goes under its
    /// key. With `starts_below`, the first key begins a line.
    fn pairs(&mut self, items: &[Item<'_>], indent: usize, starts_below: bool, below: bool, closers: usize) {
        let mut is_value = false;
        for (i, item) in items.iter().enumerate() {
            let closers = if i + 1 == items.len() { closers } else { 0 };
            let after_comment = i > 0 && items[i - 1].is_comment();
            if item.is_trailing() || i == 0 && !starts_below {
                // A trailing comment, or the first key, stays on its line.
            } else if is_value && !after_comment && !item.is_comment() {
                let key_is_long = i > 0 && items[i - 1].flat().is_none();
                let has_to_break = !self.fits(item.flat().map(|flat| flat + 1), closers);
                // Behind a key of several lines, a value that has to break goes below the key, too.
                if has_to_break && (below || key_is_long) {
                    self.line(indent + 2);
                } else {
                    self.write(" ");
                }
            } else {
                self.next_line(item, if is_value { indent + 2 } else { indent });
            }
            is_value ^= item.is_element();
            self.item(item, false, closers);
        }
    }
}

/// Returns the index after `count` elements and their trailing comments.
fn place_of(items: &[Item<'_>], count: usize) -> usize {
    let mut seen = 0;
    for (i, item) in items.iter().enumerate() {
        if seen == count && !item.is_trailing() {
            return i;
        }
        seen += usize::from(item.is_element());
    }
    items.len()
}
