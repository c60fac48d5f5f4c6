//! Views of owned data as a tree. A [`Datum`] is flat; a [`Tree`] adds the size of each subtree, so that keys and
//! items are found without copying and walks never recurse on the data.

mod excerpt;
mod json;
mod limit;
mod print;
mod rewrite;

pub use excerpt::{Excerpt, Omission, Omissions};
pub use json::{NoJson, to_json};
pub use limit::PromptLimit;
pub use print::{
    Shown, cut, head, plain, printed_bytes, show, show_public, show_public_cut, show_public_with,
};
pub use rewrite::{Action, Role, rewrite};

use ptc_bytecode::{Datum, Media, Node};

/// A datum with the size of each subtree.
///
/// ```
/// use ptc_contract::data::Tree;
/// use ptc_runtime::bridge::json_to_datum;
/// let datum = json_to_datum(&serde_json::json!({"rows": [1, 2]}))?;
/// let tree = Tree::new(&datum);
/// let rows = tree.root().get("rows").unwrap();
/// assert_eq!(rows.len(), 2);
/// # Ok::<(), ptc_runtime::BridgeError>(())
/// ```
pub struct Tree<'d> {
    datum: &'d Datum,
    nodes: &'d [Node],
    /// Number of nodes in the subtree that ends at each index.
    sizes: Vec<u32>,
    /// Flag per node: it is a veiled value or part of one. Empty if nothing is veiled.
    inside: Vec<bool>,
}

impl<'d> Tree<'d> {
    /// Indexes a datum, in one pass over its nodes.
    pub fn new(datum: &'d Datum) -> Tree<'d> {
        let nodes = datum.nodes();
        let mut sizes: Vec<u32> = Vec::with_capacity(nodes.len());
        for (i, node) in nodes.iter().enumerate() {
            let mut start = i;
            for _ in 0..children(node) {
                start -= sizes[start - 1] as usize;
            }
            sizes.push((i - start + 1) as u32);
        }
        let mut inside = vec![false; if datum.veiled().is_empty() { 0 } else { nodes.len() }];
        // Backwards, so that marks inside marked values are skipped and each node is written once.
        for place in datum.veiled().iter().rev().map(|place| *place as usize) {
            if !inside[place] {
                inside[place + 1 - sizes[place] as usize..=place].fill(true);
            }
        }
        Tree { datum, nodes, sizes, inside }
    }

    /// Returns the whole value.
    pub fn root(&self) -> View<'_> {
        View { tree: self, at: self.nodes.len() - 1 }
    }

    /// Returns the value that ends at this node.
    pub fn at(&self, at: usize) -> View<'_> {
        View { tree: self, at }
    }
}

/// Returns the number of subtrees that a node has.
fn children(node: &Node) -> usize {
    match node {
        Node::Vector(n) | Node::Set(n) => *n as usize,
        Node::Map(n) => *n as usize * 2,
        _ => 0,
    }
}

/// A value inside a [`Tree`].
#[derive(Clone, Copy)]
pub struct View<'t> {
    tree: &'t Tree<'t>,
    at: usize,
}

impl<'t> View<'t> {
    /// Returns the value's last node; the nodes of its parts come before it.
    pub fn node(self) -> &'t Node {
        &self.tree.nodes[self.at]
    }

    /// Returns all nodes of the value, its own last.
    pub fn nodes(self) -> &'t [Node] {
        &self.tree.nodes[self.start()..=self.at]
    }

    /// Iterates over the value and all values inside it, parts before their wholes.
    pub(crate) fn parts(self) -> impl Iterator<Item = View<'t>> {
        (self.start()..=self.at).map(move |at| View { tree: self.tree, at })
    }

    /// Copies the value into owned data, marks included.
    pub fn datum(self) -> Datum {
        let datum = Datum::new(self.nodes().to_vec()).unwrap_or_else(|| Datum::scalar(Node::Nil));
        datum.with_veiled(self.veiled_below(0).collect())
    }

    /// Returns whether the value is marked as firewalled, or part of a marked one; names of keys do not matter here.
    /// Keys and items of a marked collection are as secret as the whole.
    ///
    /// ```
    /// use ptc_bytecode::{Datum, Node};
    /// use ptc_contract::data::Tree;
    /// let list = Datum::new(vec![Node::Int(7), Node::Vector(1)]).unwrap().with_veiled(vec![1]);
    /// let item = Tree::new(&list).root().items()[0].datum();
    /// assert_eq!(item.veiled(), [0]);
    /// ```
    pub fn is_veiled(self) -> bool {
        self.tree.inside.get(self.at).is_some_and(|inside| *inside)
    }

    /// Returns whether the mark stands at this very value.
    pub(crate) fn is_marked(self) -> bool {
        self.tree.datum.is_veiled(self.at)
    }

    /// Returns the places of the marks that a copy of the value needs if its first node is put at position `start` of
    /// other data. A copy taken from inside a marked value is marked as a whole.
    pub fn veiled_below(self, start: usize) -> impl Iterator<Item = u32> + use<'t> {
        let is_part = self.is_veiled() && !self.is_marked();
        let whole = is_part.then(|| (start + self.size() - 1) as u32);
        self.marks_below(start).chain(whole)
    }

    /// Returns the places of the value's own marks, counted from `start`, for copies inside a copy of the whole.
    pub(crate) fn marks_below(self, start: usize) -> impl Iterator<Item = u32> + use<'t> {
        let (first, last) = (self.start(), self.at);
        let all = self.tree.datum.veiled();
        let from = all.partition_point(|place| (*place as usize) < first);
        let own = all[from..].iter().map(|place| *place as usize).take_while(move |place| *place <= last);
        own.map(move |place| (place - first + start) as u32)
    }

    /// Returns the value's place in its tree: [`Tree::at`] finds it there.
    pub fn index(self) -> usize {
        self.at
    }

    pub(crate) fn size(self) -> usize {
        self.tree.sizes[self.at] as usize
    }

    fn start(self) -> usize {
        self.at + 1 - self.size()
    }

    /// Returns the number of items of a list or set, or of entries of a map; 0 for anything else.
    pub fn len(self) -> usize {
        match self.node() {
            Node::Vector(n) | Node::Set(n) | Node::Map(n) => *n as usize,
            _ => 0,
        }
    }

    /// Returns whether the value has no items or entries.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the direct subtrees in order: items, or keys and values in turn.
    pub fn children(self) -> Vec<View<'t>> {
        let count = children(self.node());
        let mut found = Vec::with_capacity(count);
        let mut end = self.at;
        for _ in 0..count {
            let view = View { tree: self.tree, at: end - 1 };
            end -= view.size();
            found.push(view);
        }
        found.reverse();
        found
    }

    /// Returns the keys and values of a map.
    pub fn entries(self) -> Vec<(View<'t>, View<'t>)> {
        match self.node() {
            Node::Map(_) => self.children().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the items of a list or set.
    pub fn items(self) -> Vec<View<'t>> {
        match self.node() {
            Node::Vector(_) | Node::Set(_) => self.children(),
            _ => Vec::new(),
        }
    }

    /// Returns the text of a string or the name of a keyword: anything that can name a field.
    pub fn name(self) -> Option<&'t str> {
        match self.node() {
            Node::Str(name) | Node::Keyword(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the value of a field. The exact spelling wins; otherwise `-` and `_` are equal.
    pub fn get(self, name: &str) -> Option<View<'t>> {
        let Node::Map(count) = self.node() else { return None };
        let mut same = None;
        let mut end = self.at;
        for _ in 0..*count {
            let value = View { tree: self.tree, at: end - 1 };
            let key = View { tree: self.tree, at: end - 1 - value.size() };
            match key.name() {
                Some(known) if known == name => return Some(value),
                Some(known) if crate::keys::same(known, name) => same = Some(value),
                _ => {}
            }
            end = key.start();
        }
        same
    }

    /// Returns the image or document that the value holds, if any. A map with a firewalled field is never one, so that
    /// nothing reveals that it was.
    ///
    /// ```
    /// use ptc_contract::data::Tree;
    /// let image = serde_json::json!({"type": "image", "mimeType": "image/png", "data": "iVBORw=="});
    /// let datum = ptc_runtime::bridge::json_to_datum(&image)?;
    /// assert_eq!(Tree::new(&datum).root().media().unwrap().media_type, "image/png");
    /// # Ok::<(), ptc_runtime::BridgeError>(())
    /// ```
    pub fn media(self) -> Option<Media<'t>> {
        if self.is_veiled() { None } else { self.media_where(|value| !value.is_veiled()) }
    }

    /// Returns the image or document that the value holds, firewalled or not: for readers who may see everything.
    pub(crate) fn media_or_veiled(self) -> Option<Media<'t>> {
        self.media_where(|_| true)
    }

    fn media_where(self, may_see: impl Fn(View<'t>) -> bool) -> Option<Media<'t>> {
        if !matches!(self.node(), Node::Map(_)) || self.len() > Media::MAX_ENTRIES {
            return None;
        }
        let entries = self.entries();
        Media::of_fields(|name| {
            let (_, value) = entries.iter().find(|(key, _)| key.name() == Some(name))?;
            value.name().filter(|_| may_see(*value))
        })
    }

    /// Returns the kind of the value, in the one word that messages use.
    pub fn kind(self) -> &'static str {
        match self.node() {
            Node::Nil => "nil",
            Node::Bool(_) => "bool",
            Node::Int(_) | Node::Big(_) => "int",
            Node::Float(_) => "float",
            Node::Str(_) => "string",
            Node::Keyword(_) => "keyword",
            Node::Symbol(_) => "symbol",
            Node::Regex(_) => "regex",
            Node::Day(_) => "date",
            Node::Instant(_) => "datetime",
            Node::Duration(_) => "duration",
            Node::Vector(_) => "list",
            Node::Map(_) => "map",
            Node::Set(_) => "set",
            Node::Opaque(_) => "function",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptc_runtime::bridge::json_to_datum;
    use serde_json::json;

    #[test]
    fn children_are_found_in_order() {
        let datum = json_to_datum(&json!({"a": [1, [2, 3]], "user-id": {"b": null}})).unwrap();
        let tree = Tree::new(&datum);
        let items = tree.root().get("a").unwrap().items();
        assert_eq!(items[1].nodes(), [Node::Int(2), Node::Int(3), Node::Vector(2)]);
        assert_eq!(tree.root().get("user_id").unwrap().get("b").unwrap().kind(), "nil");
        assert!(tree.root().get("missing").is_none());
    }

    /// Returns `{"list" [7 "inner"] "person" {"mail" "ada@engine.uk"}}` with the list and the person marked.
    fn marked() -> Datum {
        let text = |text: &str| Node::Str(text.into());
        let list = [text("list"), Node::Int(7), text("inner"), Node::Vector(2)];
        let person = [text("person"), text("mail"), text("ada@engine.uk"), Node::Map(1)];
        let nodes = list.into_iter().chain(person).chain([Node::Map(2)]).collect();
        Datum::new(nodes).unwrap().with_veiled(vec![3, 7])
    }

    #[test]
    fn parts_of_a_marked_value_are_marked_wherever_they_go() {
        let datum = marked();
        let tree = Tree::new(&datum);
        let (list, person) = (tree.root().get("list").unwrap(), tree.root().get("person").unwrap());
        assert!(!tree.root().is_veiled() && list.is_veiled() && list.items()[1].is_veiled());
        assert!(person.entries()[0].0.is_veiled() && person.get("mail").unwrap().is_veiled());
        assert_eq!(person.get("mail").unwrap().datum().veiled(), [0]);
        assert_eq!(list.items()[0].veiled_below(5).collect::<Vec<_>>(), [5]);
        assert_eq!(tree.root().datum().veiled(), [3, 7]);
    }

    #[test]
    fn templates_show_no_part_of_a_marked_value() {
        use crate::template::{Filling, Template};
        let datum = marked();
        let text = "{{#list}}<{{.}}>{{/list}} {{person.mail}} {{#person}}{{mail}}{{/person}}";
        let filled = Template::parse(text).unwrap().fill(Tree::new(&datum).root(), &Filling::text()).unwrap();
        assert_eq!(filled, "<Firewalled> <Firewalled> <Firewalled>");
    }

    #[test]
    fn contracts_quote_neither_parts_nor_keys_of_marked_values() {
        use crate::signature::{Signature, Type};
        let datum = marked();
        let told = |signature: &str, strict| {
            let errors = Signature::parse(signature).unwrap().returns.check(&datum, strict);
            errors.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            told("{list [:int], person {mail :int}}", false),
            [
                "list[1]: expected int, got string <Firewalled>",
                "person.mail: expected int, got string <Firewalled>"
            ]
        );
        assert_eq!(
            told("{list :any, person {}}", true),
            ["person.<Firewalled>: is not a field of the signature"]
        );
        assert_eq!(Type::infer(Tree::new(&datum).root()).to_string(), "{list [:any], person :map}");
    }

    #[test]
    fn conditions_do_not_quote_a_marked_value_once_it_is_coerced() {
        let signature = crate::Signature::parse("(n :int[>18]) -> :any").unwrap();
        for age in [Node::Int(12), Node::Str("12".into())] {
            let args =
                Datum::new(vec![Node::Str("n".into()), age, Node::Map(1)]).unwrap().with_veiled(vec![1]);
            let rejected = signature.check_input(&args, crate::signature::Validation::Enabled).unwrap_err();
            assert_eq!(rejected.errors[0].to_string(), "n: expected int >18, got int <Firewalled>");
        }
    }

    #[test]
    fn very_deep_data_is_a_tree() {
        let mut nodes = vec![Node::Int(1)];
        nodes.extend((0..300_000).map(|_| Node::Vector(1)));
        let datum = Datum::new(nodes).unwrap();
        let tree = Tree::new(&datum);
        assert_eq!(tree.root().size(), 300_001);
        assert_eq!(tree.root().items().len(), 1);
    }
}
