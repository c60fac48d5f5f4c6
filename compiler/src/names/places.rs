//! Places in the tree of a text that say something about its names: what binds them, keys, defaults, and requirements.

use crate::form::{Form, FormKind};
use ptc_bytecode::Span;
use std::collections::BTreeMap;

/// The places of a text.
pub(super) struct Places {
    /// Lists, in the order of the text.
    lists: Vec<Span>,
    /// Names that are taken out of a map by their own name, sorted.
    pub keys: Vec<Span>,
    /// Names with a default, each with the pattern that it belongs to.
    pub defaults: Vec<(Span, Span)>,
    /// Namespaces that are required.
    pub required: Vec<String>,
    /// Namespaces by alias.
    pub aliases: BTreeMap<String, String>,
    /// Full names by the name that was referred to.
    pub referred: BTreeMap<String, String>,
}

impl Places {
    pub fn of(forms: &[Form<'_>]) -> Places {
        let mut places = Places {
            lists: Vec::new(),
            keys: Vec::new(),
            defaults: Vec::new(),
            required: Vec::new(),
            aliases: BTreeMap::new(),
            referred: BTreeMap::new(),
        };
        let mut open: Vec<&[Form<'_>]> = vec![forms];
        while let Some(rest) = open.pop() {
            let Some((form, rest)) = rest.split_first() else { continue };
            open.push(rest);
            match form.kind {
                FormKind::List(items) => {
                    places.lists.push(form.span);
                    places.requirement(items);
                    open.push(items);
                }
                FormKind::Map(items) => {
                    places.pattern(form.span, items);
                    open.push(items);
                }
                FormKind::Vector(items) | FormKind::Set(items) | FormKind::ShortFn(items) => open.push(items),
                FormKind::Quote(quoted) => open.push(std::slice::from_ref(quoted)),
                _ => {}
            }
        }
        places.keys.sort_unstable();
        places
    }

    /// Notes what a map says about names, if it is a pattern.
    fn pattern(&mut self, span: Span, items: &[Form<'_>]) {
        for pair in items.chunks_exact(2) {
            let FormKind::Keyword(word) = pair[0].kind else { continue };
            let word = word.rsplit_once('/').map_or(word, |(_, word)| word);
            match (word, pair[1].kind) {
                ("keys" | "strs", FormKind::Vector(names)) => {
                    let names = names.iter().filter(|name| matches!(name.kind, FormKind::Symbol(_)));
                    self.keys.extend(names.map(|name| name.span));
                }
                ("or", FormKind::Map(entries)) => {
                    let names = entries.iter().step_by(2);
                    let names = names.filter(|name| matches!(name.kind, FormKind::Symbol(_)));
                    self.defaults.extend(names.map(|name| (name.span, span)));
                }
                _ => {}
            }
        }
    }

    /// Notes the names that `(require …)` and `(:require …)` give to other namespaces.
    fn requirement(&mut self, items: &[Form<'_>]) {
        let [Form { kind: FormKind::Symbol("require") | FormKind::Keyword("require"), .. }, specs @ ..] =
            items
        else {
            return;
        };
        for spec in specs {
            let spec = if let FormKind::Quote(spec) = spec.kind { spec } else { spec };
            let (space, options) = match spec.kind {
                FormKind::Symbol(space) => (space, &[][..]),
                FormKind::Vector([Form { kind: FormKind::Symbol(space), .. }, options @ ..]) => {
                    (*space, options)
                }
                _ => continue,
            };
            self.required.push(space.to_string());
            for option in options.chunks_exact(2) {
                match (option[0].kind, option[1].kind) {
                    (FormKind::Keyword("as"), FormKind::Symbol(alias)) => {
                        self.aliases.insert(alias.to_string(), space.to_string());
                    }
                    (FormKind::Keyword("refer"), FormKind::Vector(names)) => {
                        for name in names.iter().filter_map(Form::as_symbol) {
                            self.referred.insert(name.to_string(), format!("{space}/{name}"));
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    /// Returns where the scope of each binding ends: with the innermost list around it, whatever the form is. The
    /// bindings come in the order of the text.
    pub fn ends(&self, bound: &[Span]) -> Vec<u32> {
        let mut lists = self.lists.iter().peekable();
        let mut open: Vec<Span> = Vec::new();
        let mut ends = Vec::with_capacity(bound.len());
        for span in bound {
            while let Some(list) = lists.next_if(|list| list.start <= span.start) {
                while open.pop_if(|outer| outer.end <= list.start).is_some() {}
                open.push(*list);
            }
            while open.pop_if(|outer| outer.end <= span.start).is_some() {}
            ends.push(open.last().map_or(span.end, |list| list.end));
        }
        ends
    }
}
