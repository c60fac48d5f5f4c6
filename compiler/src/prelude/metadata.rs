//! `{:visibility :prompt :requires ["tool:x"] …}` behind an `ns` or a definition.

use super::{Metadata, PreludeError};
use crate::form::{Form, FormKind};
use ptc_bytecode::{Code, Diagnostic, Effects, Visibility};

/// The metadata of a definition.
pub(super) fn of_definition(meta: &Form<'_>) -> Result<Metadata, PreludeError> {
    let mut found = Metadata::default();
    for (key, value) in entries(meta)? {
        match key {
            "visibility" => found.visibility = Some(visibility(value)?),
            "requires" => found.requires = requires(value)?,
            "provider-ref" => match value.kind {
                FormKind::Str(text) => found.provider_ref = Some(text.to_string()),
                _ => {
                    let message = format!(":provider-ref must be a string, but it is {}", value.brief());
                    return Err(problem(Code::InvalidMetadata, value, message)
                        .hinted("write :provider-ref \"upstream:crm/search\""));
                }
            },
            "effect" => {
                found.effect = match value.kind {
                    FormKind::Keyword("read") => Some(Effects::Read),
                    FormKind::Keyword("write") => Some(Effects::Write),
                    FormKind::Keyword("unknown") => Some(Effects::Unknown),
                    _ => None,
                };
            }
            _ => {}
        }
    }
    Ok(found)
}

/// The default visibility of a namespace.
pub(super) fn of_namespace(meta: &Form<'_>) -> Result<Option<Visibility>, PreludeError> {
    let mut found = None;
    for (key, value) in entries(meta)? {
        if key == "visibility" {
            found = Some(visibility(value)?);
        }
    }
    Ok(found)
}

fn entries<'a>(meta: &Form<'a>) -> Result<Vec<(&'a str, &'a Form<'a>)>, PreludeError> {
    let FormKind::Map(items) = meta.kind else { return Ok(Vec::new()) };
    let pair = |pair: &'a [Form<'a>]| match &pair[0].kind {
        FormKind::Keyword(key) => Ok((*key, &pair[1])),
        _ => {
            let message =
                format!("metadata keys are keywords, but found {} {}", pair[0].brief(), pair[1].brief());
            Err(problem(Code::InvalidMetadata, &pair[0], message).hinted("write {:visibility :prompt}"))
        }
    };
    items.chunks_exact(2).map(pair).collect()
}

fn visibility(value: &Form<'_>) -> Result<Visibility, PreludeError> {
    match value.kind {
        FormKind::Keyword("prompt") => Ok(Visibility::Prompt),
        FormKind::Keyword("discoverable") => Ok(Visibility::Discoverable),
        _ => {
            let message = format!("invalid visibility {}: it is :prompt or :discoverable", value.brief());
            Err(problem(Code::InvalidVisibility, value, message)
                .hinted("write {:visibility :discoverable}; for a private helper use defn-"))
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
