//! The tree as text: each form on one line where it fits, broken by its style where not.

use super::style::{Style, binds, breaks, style, width};
use super::tree::{Item, ItemKind, Node, NodeKind, elements};

/// The most columns of a line, where there is a choice.
const WIDTH: usize = 80;

/// How far from its own beginning a form may put its arguments. Behind a longer head they would be squeezed against the
/// right margin.
const MAX_HEAD: usize = 24;

impl<'s> Node<'s> {
    /// A form without metadata, measured.
    pub fn new(kind: NodeKind<'s>) -> Node<'s> {
        let flat = measure(&kind);
        Node { metadata: Vec::new(), kind, flat }
    }

    /// Puts metadata before it.
    pub fn add_metadata(&mut self, metadata: Vec<Node<'s>>) {
        for node in &metadata {
            self.flat = self.flat.and_then(|flat| Some(flat + node.flat? + 1));
        }
        self.metadata = metadata;
    }
}

/// The columns of a form on one line; None if it cannot be, or should not.
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

/// The text of a program.
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

    /// True if it is an element, neither a comment nor dropped.
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
    /// Columns of the last line so far.
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

    /// Begins a new line for an element, after a blank one if there was one.
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

    /// Writes a form, behind which so many brackets close on the same line.
    fn node(&mut self, node: &Node<'_>, is_binding: bool, closers: usize) {
        // Several bindings stand below each other even where they would fit.
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

    /// So many elements on the first line, the others below.
    fn body(&mut self, items: &[Item<'_>], header: usize, inside: usize, closers: usize) {
        let head = elements(items).next().and_then(Node::atom);
        let mut seen = 0;
        for (i, item) in items.iter().enumerate() {
            let after_comment = i > 0 && items[i - 1].is_comment();
            if i == 0 || item.is_trailing() {
                // Where it is.
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

    /// Arguments below each other: behind the head, or below it where that is too far to the right.
    fn call(&mut self, items: &[Item<'_>], inside: usize, closers: usize) {
        let head = items.first().and_then(Item::flat).unwrap_or(0);
        let aligned = inside + head + 1;
        // What cannot be broken decides; a bracket finds its way.
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
                // Where it is.
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

    /// Keys below each other and values behind them; with `below`, a value that has to break goes under its key. With
    /// `starts_below`, the first key begins a line.
    fn pairs(&mut self, items: &[Item<'_>], indent: usize, starts_below: bool, below: bool, closers: usize) {
        let mut is_value = false;
        for (i, item) in items.iter().enumerate() {
            let closers = if i + 1 == items.len() { closers } else { 0 };
            let after_comment = i > 0 && items[i - 1].is_comment();
            if item.is_trailing() || i == 0 && !starts_below {
                // Where it is.
            } else if is_value && !after_comment && !item.is_comment() {
                let key_is_long = i > 0 && items[i - 1].flat().is_none();
                let has_to_break = !self.fits(item.flat().map(|flat| flat + 1), closers);
                // A key in the place of a value belongs to the value.
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

/// The place behind so many elements and what trails them.
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
