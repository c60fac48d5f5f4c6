//! Descriptions of attached preludes for discovery.

use super::attached::{Attached, AttachedPrelude};
use crate::catalog::Entry;
use ptc_bytecode::{Datum, ExportRecord, NamespaceRecord, Node};

/// Maximum length of a description in a line of `dir`, in bytes.
const SHORT: usize = 120;

impl Attached {
    /// Returns all namespaces.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.parts().iter().flat_map(|part| part.namespaces())
    }

    /// Returns all entries that `apropos` searches.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.parts().iter().flat_map(|part| part.entries())
    }

    /// Returns the lines of `dir`.
    pub(crate) fn dir(&self, namespace: &str) -> Option<Vec<String>> {
        self.parts().iter().find_map(|part| part.dir(namespace))
    }

    /// Returns the map of `ns-publics`.
    pub(crate) fn publics(&self, namespace: &str) -> Option<Datum> {
        self.parts().iter().find_map(|part| part.publics(namespace))
    }

    /// Returns the text of `doc` on an export or a namespace.
    pub(crate) fn doc(&self, reference: &str) -> Option<String> {
        self.parts().iter().find_map(|part| part.doc(reference).or_else(|| part.namespace_doc(reference)))
    }

    /// Returns the map of `meta` on an export or a namespace.
    pub(crate) fn meta(&self, reference: &str) -> Option<Datum> {
        self.parts().iter().find_map(|part| part.meta(reference).or_else(|| part.namespace_meta(reference)))
    }

    /// Returns the text of `source`.
    pub(crate) fn source(&self, reference: &str) -> Option<&str> {
        self.parts().iter().find_map(|part| part.source(reference))
    }
}

impl AttachedPrelude {
    /// Returns its namespaces, sorted.
    fn namespaces(&self) -> impl Iterator<Item = &str> {
        self.prelude().namespaces().iter().map(|namespace| &*namespace.name)
    }

    /// Returns its entries for `apropos`.
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.prelude().entries();
        self.shown().filter_map(|(index, _)| entries.get(index))
    }

    /// Returns the exports of a namespace by name; None if it is not its own.
    fn members(&self, namespace: &str) -> Option<Vec<(usize, &ExportRecord)>> {
        self.namespaces().find(|own| *own == namespace)?;
        let exports = self.prelude().exports();
        let mut members: Vec<(usize, &ExportRecord)> = self
            .shown()
            .map(|(index, _)| (index, &exports[index]))
            .filter(|(_, export)| export.namespace == namespace)
            .collect();
        members.sort_by(|(_, a), (_, b)| a.symbol.cmp(&b.symbol));
        Some(members)
    }

    /// Returns the lines of `dir`.
    fn dir(&self, namespace: &str) -> Option<Vec<String>> {
        let line = |(_, export): (usize, &ExportRecord)| {
            let call = export.signatures().join(" ");
            let doc = one_line(export);
            match &doc[..doc.floor_char_boundary(SHORT)] {
                "" => call,
                doc => format!("{call} - {doc}"),
            }
        };
        Some(self.members(namespace)?.into_iter().map(line).collect())
    }

    /// Returns the map of `ns-publics`.
    fn publics(&self, namespace: &str) -> Option<Datum> {
        let members = self.members(namespace)?;
        let mut nodes = Vec::new();
        let count = members.len() as u32;
        for (index, export) in members {
            nodes.push(text(&export.symbol));
            let facts = self.facts(index, export);
            let keys = ["name", "doc", "arglists", "arity", "visibility", "effect", "source"];
            map(&mut nodes, facts.into_iter().filter(|(key, _)| keys.contains(key)).collect());
        }
        nodes.push(Node::Map(count));
        Datum::new(nodes)
    }

    /// Returns the text of `doc`.
    fn doc(&self, reference: &str) -> Option<String> {
        let (index, export) = self.find(reference)?;
        let doc = export.doc.as_deref().unwrap_or("no doc string");
        // Further lines are indented, so that none can pose as one of the lines below.
        let doc = doc.lines().map(str::trim).collect::<Vec<_>>().join("\n  ");
        let mut lines = vec![
            export.reference(),
            format!("Description: {doc}"),
            format!("Kind: {}", export.kind()),
            format!("Namespace: {}", export.namespace),
        ];
        lines.extend(export.signatures().iter().map(|signature| format!("Signature: {signature}")));
        lines.push(format!("Effect: {}", self.effect(index).name()));
        Some(lines.join("\n"))
    }

    /// Returns the map of `meta`.
    fn meta(&self, reference: &str) -> Option<Datum> {
        let (index, export) = self.find(reference)?;
        let mut nodes = Vec::new();
        map(&mut nodes, self.facts(index, export));
        Datum::new(nodes)
    }

    /// Returns the text of `source`.
    fn source(&self, reference: &str) -> Option<&str> {
        // A helper has no export that could be hidden; a hidden export has no source either.
        let is_hidden = self.prelude().export(reference).is_some() && self.find(reference).is_none();
        self.prelude().source_of(reference).filter(|_| !is_hidden)
    }

    /// Returns the text of `doc` on a namespace.
    fn namespace_doc(&self, name: &str) -> Option<String> {
        let members = self.members(name)?;
        let doc = self.namespace_record(name)?.doc.as_deref().unwrap_or("no doc string");
        let doc = doc.lines().map(str::trim).collect::<Vec<_>>().join("\n  ");
        let count = members.len();
        let lines = [
            name.to_string(),
            format!("Description: {doc}"),
            "Kind: namespace".to_string(),
            format!("Exports: {count}, listed by (dir '{name})"),
        ];
        Some(lines.join("\n"))
    }

    /// Returns the map of `meta` on a namespace.
    fn namespace_meta(&self, name: &str) -> Option<Datum> {
        let members = self.members(name)?;
        let record = self.namespace_record(name)?;
        let mut exports: Vec<Node> = members.iter().map(|(_, export)| text(&export.symbol)).collect();
        exports.push(Node::Vector(members.len() as u32));
        let mut nodes = Vec::new();
        let facts = vec![
            ("kind", vec![text("namespace")]),
            ("source", vec![text("prelude")]),
            ("name", vec![text(name)]),
            ("ref", vec![text(name)]),
            ("doc", vec![record.doc.as_deref().map_or(Node::Nil, text)]),
            ("visibility", vec![text(record.visibility.name())]),
            ("exports", exports),
        ];
        map(&mut nodes, facts);
        Datum::new(nodes)
    }

    fn namespace_record(&self, name: &str) -> Option<&NamespaceRecord> {
        self.prelude().namespaces().iter().find(|namespace| namespace.name == name)
    }

    fn facts(&self, index: usize, export: &ExportRecord) -> Vec<(&'static str, Vec<Node>)> {
        let optional = |value: Option<&str>| vec![value.map_or(Node::Nil, text)];
        let texts = |values: &mut dyn Iterator<Item = String>| {
            let mut nodes: Vec<Node> = values.map(|value| text(&value)).collect();
            nodes.push(Node::Vector(nodes.len() as u32));
            nodes
        };
        let arity = match export.is_variadic() {
            true => text("variadic"),
            false => Node::Int(export.min_arity() as i64),
        };
        let visibility = self.visibility(index).unwrap_or(export.visibility);
        vec![
            ("kind", vec![text(export.kind())]),
            ("source", vec![text("prelude")]),
            ("namespace", vec![text(&export.namespace)]),
            ("name", vec![text(&export.symbol)]),
            ("ref", vec![text(&export.reference())]),
            ("doc", optional(export.doc.as_deref())),
            ("arity", vec![arity]),
            ("arglists", texts(&mut export.params.iter().map(|params| format!("[{}]", params.join(" "))))),
            ("visibility", vec![text(visibility.name())]),
            ("effect", vec![text(self.effect(index).name())]),
            ("provider_ref", optional(export.provider_ref.as_deref())),
            ("requires", texts(&mut export.requires.iter().cloned())),
        ]
    }
}

fn text(value: &str) -> Node {
    Node::Str(value.into())
}

fn map(nodes: &mut Vec<Node>, facts: Vec<(&'static str, Vec<Node>)>) {
    let count = facts.len() as u32;
    for (key, value) in facts {
        nodes.push(Node::Keyword(key.into()));
        nodes.extend(value);
    }
    nodes.push(Node::Map(count));
}

fn one_line(export: &ExportRecord) -> String {
    export.doc.as_deref().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ")
}
