//! Completion: the names that could stand at a place.

use crate::catalogue::entry_of;
use crate::document::Document;
use crate::hover;
use crate::neighbours::Neighbours;
use crate::project::Project;
use ptc_bytecode::{NAMESPACES, Span};
use ptc_compiler::names::Names;
use ptc_compiler::{Piece, PieceKind, pieces};
use ptc_runtime::{Catalog, Entry, Origin};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Maximum number of candidates; with more, the editor asks again after the next character.
const MAX: usize = 200;

/// Kinds of candidates, as the protocol numbers them.
#[derive(Clone, Copy)]
enum Kind {
    Method = 2,
    Function = 3,
    Variable = 6,
    Namespace = 9,
    Keyword = 12,
    Form = 14,
    Constant = 21,
}

/// Something that could stand there.
struct Candidate {
    label: String,
    kind: Kind,
    /// Signature, or what it is.
    detail: String,
    documentation: Option<Value>,
}

/// Returns the candidates for the word before a byte of the document.
pub fn complete(
    document: &mut Document,
    offset: u32,
    markdown: bool,
    project: &Project,
    beside: &mut Neighbours,
) -> Value {
    let none = json!({"isIncomplete": false, "items": []});
    if document.is_too_large(project) {
        return none;
    }
    let pieces = pieces(&document.text);
    let Some(span) = word_before(&document.text, &pieces, offset) else { return none };
    let catalog = document.catalogue(project, beside);
    document.names(project);
    let text = document.text.clone();
    let word = span.text(&text);
    let candidates = Candidates {
        names: document.names(project),
        catalog: &catalog,
        text: &text,
        pieces: &pieces,
        markdown,
    };
    let mut found = candidates.of(word, span.start);
    let mut seen = BTreeSet::new();
    found.retain(|candidate| seen.insert(candidate.label.clone()));
    let is_incomplete = found.len() > MAX;
    found.truncate(MAX);
    let range = document.range(span);
    let items: Vec<Value> = found
        .into_iter()
        .enumerate()
        .map(|(place, candidate)| {
            let mut item = json!({
                "label": candidate.label,
                "kind": candidate.kind as u8,
                "detail": candidate.detail,
                "sortText": format!("{place:04}"),
                "filterText": candidate.label,
                "textEdit": {"range": range, "newText": candidate.label},
            });
            if let Some(documentation) = candidate.documentation {
                item["documentation"] = documentation;
            }
            item
        })
        .collect();
    json!({"isIncomplete": is_incomplete, "items": items})
}

/// Returns the word that ends at a byte, which may be empty; None inside of texts and comments.
fn word_before(text: &str, pieces: &[Piece], offset: u32) -> Option<Span> {
    let after = pieces.partition_point(|piece| piece.span.start < offset);
    if let Some(piece) = pieces[..after].last() {
        let piece_text = piece.span.text(text);
        let is_inside = match piece.kind {
            PieceKind::Comment => offset <= piece.span.end,
            PieceKind::Text | PieceKind::Pattern => {
                let is_closed = piece_text.len() > 1 + usize::from(piece_text.starts_with('#'))
                    && piece_text.ends_with('"');
                offset < piece.span.end || !is_closed
            }
            PieceKind::Char => offset <= piece.span.end,
            _ => false,
        };
        if is_inside {
            return None;
        }
    }
    let before = text.get(..offset as usize)?;
    let ends_word = |c: char| c.is_whitespace() || "()[]{}\",;`~@^'".contains(c);
    let start =
        before.char_indices().rev().find(|(_, c)| ends_word(*c)).map_or(0, |(at, c)| at + c.len_utf8());
    let start = if before[start..].starts_with('#') { start + 1 } else { start };
    Some(Span::new(start, offset as usize))
}

/// What candidates are made of.
struct Candidates<'d> {
    names: &'d Names,
    catalog: &'d Catalog,
    text: &'d str,
    pieces: &'d [Piece],
    markdown: bool,
}

impl Candidates<'_> {
    /// Returns the names that begin with a word which starts at this byte, those nearest to it first.
    fn of(&self, word: &str, at: u32) -> Vec<Candidate> {
        if word.starts_with(':') {
            return self.words(word, PieceKind::Keyword, Kind::Keyword, "keyword");
        }
        if let Some((space, _)) = word.split_once('/').filter(|(space, _)| !space.is_empty()) {
            return self.members(space, word);
        }
        let begins = |name: &str| name.starts_with(word);
        let mut found: Vec<Candidate> = Vec::new();
        let mut locals: Vec<&str> = self.names.locals_at(at).map(|bound| bound.text(self.text)).collect();
        locals.reverse();
        found.extend(locals.into_iter().filter(|name| begins(name)).map(|name| Candidate {
            label: name.to_string(),
            kind: Kind::Variable,
            detail: "local".to_string(),
            documentation: None,
        }));
        let definitions = self.names.definitions().iter().filter(|known| begins(&known.name));
        found.extend(definitions.map(|definition| self.entry(&definition.name, &entry_of(definition))));
        found.extend(self.entries(Origin::Prelude, |entry| begins(&entry.reference)));
        if word.is_empty() {
            return found;
        }
        found.extend(self.entries(Origin::Local, |entry| begins(&entry.reference)));
        let mut spaces: BTreeSet<&str> = NAMESPACES.iter().flat_map(|space| space.names).copied().collect();
        spaces.extend(["data", "tool"]);
        spaces.extend(self.names.aliases().map(|(alias, _)| alias));
        found.extend(spaces.into_iter().filter(|space| begins(space)).map(|space| Candidate {
            label: format!("{space}/"),
            kind: Kind::Namespace,
            detail: "namespace".to_string(),
            documentation: None,
        }));
        // Someone may know what it is called and not where it is.
        found.extend(self.entries(Origin::Prelude, |entry| begins(&entry.name)));
        found
    }

    /// Returns the members of a namespace, as the text calls it.
    fn members(&self, space: &str, word: &str) -> Vec<Candidate> {
        if matches!(space, "data" | "tool") {
            let what = if space == "data" { "granted data" } else { "granted tool" };
            return self.words(word, PieceKind::Symbol, Kind::Variable, what);
        }
        let members = self.catalog.members(self.names.namespace(space)).into_iter();
        let member = |entry: &Entry| {
            let name = entry.reference.split_once('/').map_or(&*entry.reference, |(_, name)| name);
            self.entry(&format!("{space}/{name}"), entry)
        };
        members.map(member).filter(|member| member.label.starts_with(word)).collect()
    }

    fn entries(&self, origin: Origin, wanted: impl Fn(&Entry) -> bool) -> Vec<Candidate> {
        let entries = self.catalog.entries().iter();
        let wanted = entries.filter(|entry| entry.origin == origin && wanted(entry));
        let mut found: Vec<Candidate> = wanted.map(|entry| self.entry(&entry.reference, entry)).collect();
        found.sort_by(|a, b| a.label.cmp(&b.label));
        found
    }

    fn entry(&self, label: &str, entry: &Entry) -> Candidate {
        let kind = match entry.kind {
            "form" => Kind::Form,
            "constant" | "value" => Kind::Constant,
            "method" => Kind::Method,
            _ => Kind::Function,
        };
        Candidate {
            label: label.to_string(),
            kind,
            detail: entry.signatures.join(" "),
            documentation: Some(hover::page(entry, self.markdown)),
        }
    }

    /// Returns the words of a kind that the text has elsewhere.
    fn words(&self, word: &str, wanted: PieceKind, kind: Kind, what: &str) -> Vec<Candidate> {
        let of_kind = self.pieces.iter().filter(|piece| piece.kind == wanted);
        let texts = of_kind.map(|piece| piece.span.text(self.text));
        let found: BTreeSet<&str> = texts.filter(|text| text.starts_with(word) && *text != word).collect();
        let candidate = |label: &str| Candidate {
            label: label.to_string(),
            kind,
            detail: what.to_string(),
            documentation: None,
        };
        found.into_iter().map(candidate).collect()
    }
}
