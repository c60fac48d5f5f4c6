//! Names of a text: where each local and definition is bound and used, and what other namespaces are called there. For
//! editors, which ask while a text is being written, so that texts with errors have names too.

mod places;

use crate::form::{Form, FormKind};
use crate::meter::Meter;
use crate::outline::{self, Definition};
use crate::parse::parse_anyway;
use crate::resolve::{self, sightings, sightings_in};
use crate::resolved::Sighting;
use bumpalo::Bump;
use places::Places;
use ptc_bytecode::{Limits, Span};
use std::collections::BTreeMap;

/// The meaning of a name at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Meaning {
    /// A local, which is bound at this place.
    Local(Span),
    /// A definition of the text, by the place that defines it first, or is the first to use it.
    Definition(Span),
}

/// A place of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NameUse {
    /// The name in the text.
    pub span: Span,
    /// Its meaning there.
    pub meaning: Meaning,
}

/// A local, with the text in which it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Local {
    bound: Span,
    /// End of the form that binds it.
    end: u32,
}

/// The names of a text.
///
/// ```
/// use ptc_compiler::{Meter, names::names};
/// let text = "(defn area [w h] (* w h)) (let [w 1] (area w w";
/// let limits = ptc_bytecode::Limits::default();
/// let names = names(text, &limits, &Meter::new(&limits, &|| false));
/// let found = names.at(20).unwrap();
/// assert_eq!(names.uses_of(found.meaning).map(|span| span.start).collect::<Vec<_>>(), [12, 20]);
/// assert_eq!(names.locals_at(46).map(|span| span.text(text)).collect::<Vec<_>>(), ["w"]);
/// assert_eq!(names.definitions()[0].name, "area");
/// ```
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// By place, each place once.
    uses: Vec<NameUse>,
    locals: Vec<Local>,
    definitions: Vec<Definition>,
    required: Vec<String>,
    aliases: BTreeMap<String, String>,
    referred: BTreeMap<String, String>,
    keys: Vec<Span>,
}

impl Names {
    /// Returns the name at a byte of the text, or just before it.
    pub fn at(&self, offset: u32) -> Option<NameUse> {
        let after = self.uses.partition_point(|name| name.span.start <= offset);
        self.uses[..after].last().filter(|name| offset <= name.span.end).copied()
    }

    /// Returns all places of names, in the order of the text.
    pub fn uses(&self) -> &[NameUse] {
        &self.uses
    }

    /// Returns the places of one name, in the order of the text.
    pub fn uses_of(&self, meaning: Meaning) -> impl Iterator<Item = Span> {
        self.uses.iter().filter(move |name| name.meaning == meaning).map(|name| name.span)
    }

    /// Returns the places that bind the locals known at a byte of the text, inner ones last.
    pub fn locals_at(&self, offset: u32) -> impl Iterator<Item = Span> {
        let known = self.locals.iter().filter(move |local| local.bound.end < offset && offset <= local.end);
        known.map(|local| local.bound)
    }

    /// Returns the definitions at the top level, in the order of the text.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// Returns the namespace that goes by this name in the text.
    pub fn namespace<'n>(&'n self, name: &'n str) -> &'n str {
        self.aliases.get(name).map_or(name, String::as_str)
    }

    /// Returns the namespaces that the text requires, in its order.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        self.required.iter().map(String::as_str)
    }

    /// Returns the aliases of namespaces, sorted.
    pub fn aliases(&self) -> impl Iterator<Item = (&str, &str)> {
        self.aliases.iter().map(|(alias, space)| (alias.as_str(), space.as_str()))
    }

    /// Returns the full name of a name that the text writes with an alias or has referred to; others unchanged.
    pub fn in_full(&self, name: &str) -> String {
        match name.split_once('/') {
            Some((space, member)) if !space.is_empty() => format!("{}/{member}", self.namespace(space)),
            _ => self.referred.get(name).map_or(name, String::as_str).to_string(),
        }
    }

    /// True if the name at this place is also the key of a map, as in `{:keys [name]}`: another name would take
    /// something else out of the map.
    pub fn is_key(&self, bound: Span) -> bool {
        self.keys.binary_search(&bound).is_ok()
    }
}

/// Returns the names of a text. Errors are ignored; a text of which nothing can be read has no names.
pub fn names(source: &str, limits: &Limits, meter: &Meter<'_>) -> Names {
    let arena = Bump::new();
    let Some(text) = parse_anyway(source, &arena, limits, meter) else { return Names::default() };
    let mut definitions: Vec<Definition> = Vec::new();
    definitions.extend(text.forms.iter().filter_map(|form| outline::definition(form, source)));
    let places = Places::of(text.forms);
    let mut found = Vec::new();
    if is_prelude(text.forms) {
        let starts: Vec<usize> = (0..text.forms.len()).filter(|i| head(&text.forms[*i]) == "ns").collect();
        for (i, start) in starts.iter().enumerate() {
            let end = starts.get(i + 1).copied().unwrap_or(text.forms.len());
            let forms = &text.forms[*start..end];
            let defined: Vec<resolve::Definition<'_>> = forms.iter().filter_map(defined).collect();
            let own = sightings_in(namespace_name(&forms[0]), &defined, &arena, meter);
            let targets = defined.iter().filter_map(|definition| {
                let FormKind::List([_, name, ..]) = definition.form.kind else { return None };
                Some(Sighting::Definition { at: name.span, name: definition.name })
            });
            collect(source, targets.chain(own), &places, &mut found);
        }
    } else {
        let forms = arena.alloc_slice_fill_iter(text.forms.iter().map(|form| without_test(form, &arena)));
        collect(source, sightings(forms, &arena, meter), &places, &mut found);
    }
    found.sort_by_key(|name| (name.span, name.meaning));
    found.dedup_by_key(|name| name.span);
    let bound: Vec<Span> =
        found.iter().filter(|name| name.meaning == Meaning::Local(name.span)).map(|name| name.span).collect();
    let locals =
        bound.iter().zip(places.ends(&bound)).map(|(bound, end)| Local { bound: *bound, end }).collect();
    Names {
        uses: found,
        locals,
        definitions,
        required: places.required,
        aliases: places.aliases,
        referred: places.referred,
        keys: places.keys,
    }
}

/// Adds names at their places. Names that expansion made up do not stand in the text.
fn collect<'a>(
    source: &str,
    sightings: impl IntoIterator<Item = Sighting<'a>>,
    places: &Places,
    found: &mut Vec<NameUse>,
) {
    let mut first: BTreeMap<&str, Span> = BTreeMap::new();
    let mut locals: Vec<Span> = Vec::new();
    for sighting in sightings {
        match sighting {
            Sighting::Local { at, bound } => {
                let name = bound.text(source);
                if !name.is_empty() && at.text(source) == name && is_name(name) {
                    found.push(NameUse { span: at, meaning: Meaning::Local(bound) });
                    if at == bound {
                        locals.push(bound);
                    }
                }
            }
            Sighting::Definition { at, name } => {
                if at.text(source) == name {
                    let defined = *first.entry(name).or_insert(at);
                    found.push(NameUse { span: at, meaning: Meaning::Definition(defined) });
                }
            }
        }
    }
    // Names in `:or {name default}` belong to the pattern around them.
    locals.sort_unstable();
    for (at, pattern) in &places.defaults {
        let from = locals.partition_point(|bound| bound.start < pattern.start);
        let inside = locals[from..].iter().take_while(|bound| bound.end <= pattern.end);
        if let Some(bound) = inside.into_iter().find(|bound| bound.text(source) == at.text(source)) {
            found.push(NameUse { span: *at, meaning: Meaning::Local(*bound) });
        }
    }
}

/// True for names that a text can write, and which are not `%`, `%1` and the like.
fn is_name(name: &str) -> bool {
    !name.starts_with('%') && name != "&"
}

fn head<'a>(form: &Form<'a>) -> &'a str {
    match form.kind {
        FormKind::List([Form { kind: FormKind::Symbol(head), .. }, ..]) => head,
        _ => "",
    }
}

/// True for a namespace, then nothing but definitions.
fn is_prelude(forms: &[Form<'_>]) -> bool {
    forms.first().is_some_and(|form| head(form) == "ns")
        && forms.iter().all(|form| matches!(head(form), "ns" | "def" | "defn" | "defn-"))
}

fn namespace_name<'a>(form: &Form<'a>) -> &'a str {
    match form.kind {
        FormKind::List([_, Form { kind: FormKind::Symbol(name), .. }, ..]) => name,
        _ => "",
    }
}

/// Returns a definition of a prelude, of which only the name has to be right.
fn defined<'a>(form: &Form<'a>) -> Option<resolve::Definition<'a>> {
    let FormKind::List([head, Form { kind: FormKind::Symbol(name), .. }, rest @ ..]) = form.kind else {
        return None;
    };
    let value = match (head.kind, rest) {
        (FormKind::Symbol("def"), [.., value]) => Some(*value),
        (FormKind::Symbol("def"), []) => Some(Form::new(form.span, FormKind::Nil)),
        (FormKind::Symbol("defn" | "defn-"), _) => None,
        _ => return None,
    };
    Some(resolve::Definition { name, reference: name, form: *form, value })
}

/// Returns the body of a test as a form of its own; other forms unchanged.
fn without_test<'a>(form: &Form<'a>, arena: &'a Bump) -> Form<'a> {
    match form.kind {
        FormKind::List([Form { kind: FormKind::Symbol("deftest"), span }, _, body @ ..]) => {
            let together = Form::new(*span, FormKind::Symbol("do"));
            let items: Vec<Form<'a>> = std::iter::once(together).chain(body.iter().copied()).collect();
            Form::new(form.span, FormKind::List(arena.alloc_slice_copy(&items)))
        }
        _ => *form,
    }
}

#[cfg(test)]
mod tests;
