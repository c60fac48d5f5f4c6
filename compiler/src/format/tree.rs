//! Lossless tree of a text: every token exactly, and every comment; only blanks are dropped.

use crate::token::Raw;
use logos::Logos;

/// The items of a bracket, or of the whole text.
pub(super) type Items<'s> = Vec<Item<'s>>;

/// A form or a comment, with the blank lines before it.
pub(super) struct Item<'s> {
    pub kind: ItemKind<'s>,
    /// True if blank lines come before it.
    pub after_blank: bool,
}

pub(super) enum ItemKind<'s> {
    Node(Node<'s>),
    Comment {
        text: &'s str,
        /// True if another item comes before it on its line.
        is_trailing: bool,
    },
}

/// A form with its metadata and width.
pub(super) struct Node<'s> {
    /// Forms after `^` that belong to this one.
    pub metadata: Vec<Node<'s>>,
    pub kind: NodeKind<'s>,
    /// Width on one line, metadata included; None if it has to break.
    pub flat: Option<usize>,
}

pub(super) enum NodeKind<'s> {
    Atom(&'s str),
    /// A mark (`'`, `@`, `#inst`, `#_` or `^`) with the forms after it: dropped ones, and last the one it belongs to.
    Marked {
        mark: &'s str,
        forms: Vec<Node<'s>>,
    },
    Bracket {
        open: &'s str,
        close: &'s str,
        items: Items<'s>,
    },
}

impl<'s> Node<'s> {
    /// True for a form that is not an element of its bracket: `#_x`.
    pub fn is_dropped(&self) -> bool {
        matches!(self.kind, NodeKind::Marked { mark: "#_" | "^", .. })
    }

    /// Returns its text, if it is one token.
    pub fn atom(&self) -> Option<&'s str> {
        match self.kind {
            NodeKind::Atom(text) => Some(text),
            _ => None,
        }
    }

    /// Returns its items, if it is this kind of bracket.
    pub fn items(&self, bracket: &str) -> Option<&Items<'s>> {
        match &self.kind {
            NodeKind::Bracket { open, items, .. } if *open == bracket => Some(items),
            _ => None,
        }
    }
}

/// Iterates over the forms among items, without dropped ones.
pub(super) fn elements<'t, 's>(items: &'t [Item<'s>]) -> impl Iterator<Item = &'t Node<'s>> + Clone {
    items.iter().filter_map(|item| match &item.kind {
        ItemKind::Node(node) if !node.is_dropped() => Some(node),
        _ => None,
    })
}

/// Reads a text whose brackets are known to match and whose nesting is known to be bounded.
pub(super) fn read(text: &str) -> Items<'_> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader { text, tokens: Raw::lexer(text), end: 0, hoisted: Vec::new() };
    reader.items().0
}

struct Reader<'s> {
    text: &'s str,
    tokens: logos::Lexer<'s, Raw>,
    /// End of the last token.
    end: usize,
    /// Comments between a mark and its form, which move before the mark.
    hoisted: Vec<&'s str>,
}

/// The comments and blank lines between two tokens.
struct Gap<'s> {
    comments: Items<'s>,
    /// True if blank lines come right before the next token.
    after_blank: bool,
}

impl<'s> Reader<'s> {
    fn next(&mut self) -> (Gap<'s>, Option<(Raw, &'s str)>) {
        let token = self.tokens.next();
        let span = self.tokens.span();
        let start = if token.is_some() { span.start } else { self.text.len() };
        let gap = self.gap(start);
        self.end = span.end;
        (gap, token.map(|raw| (raw.unwrap_or(Raw::Other), &self.text[span])))
    }

    fn gap(&self, start: usize) -> Gap<'s> {
        let mut comments = Items::new();
        let mut rest = &self.text[self.end..start];
        // Comments up to the first line end trail the last token, except at the beginning of the text.
        let mut lines = usize::from(self.end == 0);
        loop {
            let blank = rest.find(';').unwrap_or(rest.len());
            lines += rest[..blank].matches('\n').count();
            if blank == rest.len() {
                return Gap { comments, after_blank: lines > 1 };
            }
            let end = rest[blank..].find('\n').map_or(rest.len(), |end| blank + end);
            let text = rest[blank..end].trim_end();
            comments.push(Item {
                kind: ItemKind::Comment { text, is_trailing: lines == 0 },
                after_blank: lines > 1,
            });
            rest = &rest[end..];
            lines = 0;
        }
    }

    /// Reads up to the closing bracket, and returns it too; empty at the end of the text.
    fn items(&mut self) -> (Items<'s>, &'s str) {
        let mut items = Items::new();
        let mut metadata = Vec::new();
        loop {
            let (gap, token) = self.next();
            let close = match token {
                None => "",
                Some((Raw::ListClose | Raw::VectorClose | Raw::MapClose, text)) => text,
                Some((raw, text)) => {
                    items.extend(gap.comments);
                    let mut node = self.node(raw, text);
                    items.extend(self.hoisted.drain(..).map(|text| Item {
                        kind: ItemKind::Comment { text, is_trailing: false },
                        after_blank: false,
                    }));
                    if matches!(node.kind, NodeKind::Marked { mark: "^", .. }) {
                        metadata.push(node);
                        continue;
                    }
                    if !metadata.is_empty() {
                        node.add_metadata(std::mem::take(&mut metadata));
                    }
                    items.push(Item { kind: ItemKind::Node(node), after_blank: gap.after_blank });
                    continue;
                }
            };
            // Metadata without a form.
            items.extend(
                metadata.drain(..).map(|node| Item { kind: ItemKind::Node(node), after_blank: false }),
            );
            items.extend(gap.comments);
            return (items, close);
        }
    }

    fn node(&mut self, raw: Raw, text: &'s str) -> Node<'s> {
        let kind = match raw {
            Raw::ListOpen | Raw::VectorOpen | Raw::MapOpen | Raw::SetOpen | Raw::FnOpen => {
                let hoisted = std::mem::take(&mut self.hoisted);
                let (items, close) = self.items();
                self.hoisted = hoisted;
                NodeKind::Bracket { open: text, close, items }
            }
            Raw::Quote | Raw::Discard | Raw::Meta | Raw::Inst | Raw::Deref => {
                let forms = self.marked();
                NodeKind::Marked { mark: text, forms }
            }
            _ => NodeKind::Atom(text),
        };
        Node::new(kind)
    }

    /// Reads the forms of a mark: dropped ones, and then one that is not.
    fn marked(&mut self) -> Vec<Node<'s>> {
        let mut forms = Vec::new();
        loop {
            let (gap, token) = self.next();
            self.hoisted.extend(gap.comments.iter().filter_map(|item| match item.kind {
                ItemKind::Comment { text, .. } => Some(text),
                ItemKind::Node(_) => None,
            }));
            let Some((raw, text)) = token else { return forms };
            let node = self.node(raw, text);
            let is_last = !node.is_dropped();
            forms.push(node);
            if is_last {
                return forms;
            }
        }
    }
}
