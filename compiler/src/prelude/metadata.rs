//! Reader of metadata: `{:visibility :prompt :requires ["tool:x"] …}` after an `ns` or a definition, and `^:private`
//! before its name.
//!
//! Metadata decides visibility and privacy, so none of it is silently ignored: an unknown key or value is an error that
//! names the right one.

use super::parts::{Metadata, PreludeError};
use crate::form::{Form, FormKind};
use crate::suggest::nearest;
use ptc_bytecode::{Code, Diagnostic, Effects, Visibility};

/// Metadata keys of a definition.
const OF_DEFINITION: &[&str] = &["visibility", "requires", "provider-ref", "effect", "private"];
/// Metadata keys of a namespace.
const OF_NAMESPACE: &[&str] = &["visibility"];

/// Effects as metadata spells them.
const EFFECTS: &[(&str, Effects)] = &[
    ("read", Effects::Read),
    ("write", Effects::Write),
    ("unknown", Effects::Unknown),
    ("pure", Effects::Pure),
];

/// Words that people and models write for an effect, with the effect they mean.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("destructive", "write"),
    ("delete", "write"),
    ("create", "write"),
    ("update", "write"),
    ("mutate", "write"),
    ("mutation", "write"),
    ("side-effect", "write"),
    ("read-write", "write"),
    ("read-only", "read"),
    ("readonly", "read"),
    ("safe", "read"),
    ("idempotent", "read"),
    ("get", "read"),
    ("none", "pure"),
];

/// Adds the facts of one piece of metadata to a definition.
pub(super) fn of_definition(meta: &Form<'_>, found: &mut Metadata) -> Result<(), PreludeError> {
    for (key, value) in entries(meta)? {
        match key.name {
            "visibility" => found.visibility = Some(visibility(value)?),
            "requires" => found.requires = requires(value)?,
            "provider-ref" => found.provider_ref = Some(provider_ref(value)?),
            "effect" => found.effect = Some(effect(value)?),
            "private" => found.private |= private(value)?,
            _ => return Err(unknown(&key, "a definition", OF_DEFINITION)),
        }
    }
    Ok(())
}

/// Returns the default visibility that one piece of metadata gives a namespace.
pub(super) fn of_namespace(meta: &Form<'_>) -> Result<Option<Visibility>, PreludeError> {
    let mut found = None;
    for (key, value) in entries(meta)? {
        match key.name {
            "visibility" => found = Some(visibility(value)?),
            _ => return Err(unknown(&key, "a namespace", OF_NAMESPACE)),
        }
    }
    Ok(found)
}

/// Returns the pieces of metadata before a name: those that end between `from` and `to`. `all` is in the order of
/// the text.
pub(super) fn between<'a, 'f>(all: &'f [Form<'a>], from: u32, to: u32) -> Vec<&'f Form<'a>> {
    let first = all.partition_point(|meta| meta.span.end <= from);
    let behind = all.partition_point(|meta| meta.span.end <= to).max(first);
    let mut found: Vec<&Form<'a>> = Vec::new();
    // From the back: nested metadata ends before the enclosing one, and is part of it.
    for meta in all[first..behind].iter().rev() {
        if found.last().is_none_or(|last| meta.span.end <= last.span.start) {
            found.push(meta);
        }
    }
    found.reverse();
    found
}

/// A key and its form.
struct Key<'f, 'a> {
    name: &'a str,
    form: &'f Form<'a>,
}

/// The value of `^:private`, which is short for `^{:private true}`.
const TRUE: Form<'static> =
    Form { span: ptc_bytecode::Span { start: 0, end: 0 }, kind: FormKind::Bool(true) };

fn entries<'a, 'f>(meta: &'f Form<'a>) -> Result<Vec<(Key<'f, 'a>, &'f Form<'a>)>, PreludeError> {
    let items = match meta.kind {
        FormKind::Map(items) => items,
        FormKind::Keyword(name) => return Ok(vec![(Key { name, form: meta }, &TRUE)]),
        // A type hint, `^String f`, which means nothing here.
        _ => return Ok(Vec::new()),
    };
    let pair = |pair: &'a [Form<'a>]| match &pair[0].kind {
        FormKind::Keyword(name) => Ok((Key { name, form: &pair[0] }, &pair[1])),
        _ => {
            let message =
                format!("metadata keys are keywords, but found {} {}", pair[0].brief(), pair[1].brief());
            Err(problem(Code::InvalidMetadata, &pair[0], message).hinted("write {:visibility :prompt}"))
        }
    };
    items.chunks_exact(2).map(pair).collect()
}

#[cold]
fn unknown(key: &Key<'_, '_>, of: &str, known: &[&str]) -> PreludeError {
    let name = key.name;
    let list: Vec<String> = known.iter().map(|known| format!(":{known}")).collect();
    let message = format!("unknown metadata :{name}: {of} takes {}", list.join(", "));
    let error = problem(Code::InvalidMetadata, key.form, message);
    if let Some(near) = nearest(name, known.iter().copied()) {
        return error.hinted(&format!("write :{near}"));
    }
    match name {
        "doc" => error.hinted("put the doc string after the name: (defn find \"Finds one.\" [id] …)"),
        _ if OF_DEFINITION.contains(&name) || nearest(name, OF_DEFINITION.iter().copied()).is_some() => {
            error.hinted("say it of each definition: (defn purge {:effect :write} [id] …)")
        }
        _ => error.hinted("leave it out, or put it into a comment"),
    }
}

fn visibility(value: &Form<'_>) -> Result<Visibility, PreludeError> {
    match value.kind {
        FormKind::Keyword("prompt") => Ok(Visibility::Prompt),
        FormKind::Keyword("discoverable") => Ok(Visibility::Discoverable),
        _ => {
            let message =
                format!("invalid visibility {}: it must be :prompt or :discoverable", value.brief());
            Err(problem(Code::InvalidVisibility, value, message)
                .hinted("write {:visibility :discoverable}; for a private helper use defn-"))
        }
    }
}

fn effect(value: &Form<'_>) -> Result<Effects, PreludeError> {
    let word = match value.kind {
        FormKind::Keyword(word) => word,
        FormKind::Str(word) => word,
        _ => "",
    };
    if let (FormKind::Keyword(_), Some((_, effect))) =
        (value.kind, EFFECTS.iter().find(|(name, _)| *name == word))
    {
        return Ok(*effect);
    }
    let message = format!("invalid effect {}: it is :read, :write, :unknown or :pure", value.brief());
    let error = problem(Code::InvalidMetadata, value, message);
    let meant = || OTHER_WORDS.iter().find(|(other, _)| *other == word).map(|(_, meant)| *meant);
    let is_spelled = EFFECTS.iter().find(|(name, _)| *name == word).map(|(name, _)| *name);
    let near = is_spelled.or_else(meant).or_else(|| nearest(word, EFFECTS.iter().map(|(name, _)| *name)));
    Err(match near {
        Some(near) => error.hinted(&format!("write :effect :{near}")),
        None => error.hinted("write :effect :write if it may change anything"),
    })
}

fn provider_ref(value: &Form<'_>) -> Result<String, PreludeError> {
    match value.kind {
        FormKind::Str(text) => Ok(text.to_string()),
        _ => {
            let message = format!(":provider-ref must be a string, but it is {}", value.brief());
            Err(problem(Code::InvalidMetadata, value, message)
                .hinted("write :provider-ref \"upstream:crm/search\""))
        }
    }
}

fn private(value: &Form<'_>) -> Result<bool, PreludeError> {
    match value.kind {
        FormKind::Bool(is_private) => Ok(is_private),
        _ => {
            let message = format!(":private must be true or false, but it is {}", value.brief());
            Err(problem(Code::InvalidMetadata, value, message).hinted("write ^:private before the name"))
        }
    }
}

fn requires(value: &Form<'_>) -> Result<Vec<String>, PreludeError> {
    let bad = |what: String| {
        let message = format!(":requires must be a list of strings, but {what}");
        Err(problem(Code::InvalidRequires, value, message)
            .hinted("write :requires [\"upstream:crm/search\" \"tool:fetch\"]"))
    };
    let Some(items) = value.as_vector() else { return bad(format!("it is {}", value.brief())) };
    let wrong: Vec<String> =
        items.iter().filter(|item| !matches!(item.kind, FormKind::Str(_))).map(Form::brief).collect();
    if !wrong.is_empty() {
        return bad(format!("found {}", wrong.join(", ")));
    }
    let text = |item: &Form<'_>| match item.kind {
        FormKind::Str(text) => Some(text.to_string()),
        _ => None,
    };
    Ok(items.iter().filter_map(text).collect())
}

fn problem(code: Code, at: &Form<'_>, message: String) -> PreludeError {
    PreludeError::new(Diagnostic::error(code, at.span, message))
}

impl PreludeError {
    fn hinted(mut self, hint: &str) -> PreludeError {
        if let Some(first) = self.diagnostics.first_mut() {
            first.hint = Some(hint.to_string());
        }
        self
    }
}
