//! Reader of `(ns name "doc" {meta})`.

use super::metadata;
use super::parts::PreludeError;
use crate::form::{Form, FormKind};
use ptc_bytecode::{Code, Diagnostic, NamespaceRecord, Visibility, is_namespace_name, reserved_namespace};

/// An `ns` directive.
pub(super) struct Header<'a> {
    pub name: &'a str,
    doc: Option<&'a str>,
    pub visibility: Option<Visibility>,
    /// Specs of its `(:require …)`.
    pub requires: &'a [Form<'a>],
}

impl<'a> Header<'a> {
    pub fn record(&self) -> NamespaceRecord {
        NamespaceRecord {
            name: self.name.to_string(),
            doc: self.doc.map(str::to_string),
            visibility: self.visibility.unwrap_or(Visibility::Prompt),
        }
    }

    /// Returns the namespaces that its `(:require …)` names, those of the language included.
    pub fn required(&self) -> impl Iterator<Item = &'a str> {
        self.requires.iter().filter_map(|spec| match spec.kind {
            FormKind::Symbol(name) => Some(name),
            FormKind::Vector([first, ..]) | FormKind::List([first, ..]) => first.as_symbol(),
            _ => None,
        })
    }
}

pub(super) fn read<'a>(form: &Form<'a>, metadata: &[Form<'a>]) -> Result<Header<'a>, PreludeError> {
    let malformed = |message: String| {
        PreludeError::new(
            Diagnostic::error(Code::InvalidNamespace, form.span, message)
                .hint("write (ns crm \"What it is for.\" {:visibility :prompt})"),
        )
    };
    let FormKind::List([first, rest @ ..]) = form.kind else {
        return Err(malformed("`ns` needs a name".into()));
    };
    let Some((target, rest)) = rest.split_first() else {
        return Err(malformed("`ns` needs a name".into()));
    };
    let name = match target.kind {
        FormKind::Symbol(name) => name,
        _ => return Err(malformed(format!("`ns` needs a plain name, but found {}", target.brief()))),
    };
    if !is_namespace_name(name) {
        return Err(malformed(format!("`{name}` cannot be the name of a namespace")).in_namespace(name));
    }
    if let Some(why) = reserved_namespace(name) {
        let message = format!("cannot declare reserved namespace `{name}`: {why}");
        let problem = Diagnostic::error(Code::ReservedNamespace, target.span, message)
            .hint(format!("use a name of your own: (ns my-{})", name.rsplit('.').next().unwrap_or(name)));
        return Err(PreludeError::new(problem).in_namespace(name));
    }
    let (doc, rest) = match rest {
        [Form { kind: FormKind::Str(doc), .. }, rest @ ..] => (Some(*doc), rest),
        _ => (None, rest),
    };
    let (meta, rest) = match rest {
        [meta @ Form { kind: FormKind::Map(_), .. }, rest @ ..] => (Some(meta), rest),
        _ => (None, rest),
    };
    let (requires, rest) = match rest {
        [
            Form {
                kind: FormKind::List([Form { kind: FormKind::Keyword("require"), .. }, specs @ ..]), ..
            },
            rest @ ..,
        ] => (specs, rest),
        _ => (&[] as &'a [Form<'a>], rest),
    };
    if let Some(extra) = rest.first() {
        let message = format!(
            "`ns` takes a name, a doc string, a map and (:require …), in this order, but found {}",
            extra.brief()
        );
        return Err(malformed(message).in_namespace(name));
    }
    let mut visibility = None;
    for meta in metadata::between(metadata, first.span.end, target.span.start).into_iter().chain(meta) {
        let said = metadata::of_namespace(meta).map_err(|error| error.in_namespace(name))?;
        visibility = said.or(visibility);
    }
    Ok(Header { name, doc, visibility, requires })
}
