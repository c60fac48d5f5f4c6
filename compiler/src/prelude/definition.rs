//! Reader of `def`, `defn` and `defn-` at the top level of a prelude.

use super::parts::{CompiledDefinition, Metadata, PreludeError};
use super::{metadata, render};
use crate::expand;
use crate::form::{Form, FormKind};
use crate::resolve::Definition;
use bumpalo::Bump;
use ptc_bytecode::{Code, Diagnostic, Returns, is_definition_name};

/// A definition as read.
pub(super) struct Read<'a> {
    pub name: &'a str,
    pub reference: &'a str,
    form: Form<'a>,
    /// Metadata before the name.
    marks: Vec<Form<'a>>,
    private: bool,
    doc: Option<&'a str>,
    metadata: Metadata,
    params: Vec<Vec<String>>,
    /// Value form of a constant.
    value: Option<Form<'a>>,
}

impl<'a> Read<'a> {
    pub fn to_resolve(&self) -> Definition<'a> {
        Definition { name: self.name, reference: self.reference, form: self.form, value: self.value }
    }

    pub fn to_compiled(&self, returns: Returns) -> CompiledDefinition {
        CompiledDefinition {
            name: self.name.to_string(),
            reference: self.reference.to_string(),
            private: self.private,
            constant: self.value.is_some(),
            doc: self.doc.map(str::to_string),
            metadata: self.metadata.clone(),
            params: self.params.clone(),
            rendered: render::with_marks(&self.form, &self.marks),
            span: self.form.span,
            returns,
        }
    }
}

pub(super) fn read<'a>(
    form: &Form<'a>,
    head: &str,
    namespace: &str,
    metadata: &[Form<'a>],
    arena: &'a Bump,
) -> Result<Read<'a>, PreludeError> {
    let bad = |what: String| {
        let usage = match head {
            "def" => "write (def page-size 50) or (def page-size \"Rows per page.\" 50)",
            _ => "write (defn find \"What it does.\" [id] …)",
        };
        let message = format!("{what} in {}", form.brief());
        PreludeError::new(Diagnostic::error(Code::InvalidSignature, form.span, message).hint(usage))
    };
    let FormKind::List([first, rest @ ..]) = form.kind else { return Err(bad("no name".into())) };
    let Some((target, rest)) = rest.split_first() else {
        return Err(bad(format!("`{head}` needs a name")));
    };
    let name = match target.kind {
        FormKind::Symbol(name) if is_definable(name) => name,
        _ => return Err(bad(format!("`{head}` needs a plain name, but found {}", target.brief()))),
    };
    let reference = bumpalo::format!(in arena, "{}/{}", namespace, name).into_bump_str();
    let at = |error: PreludeError| PreludeError { reference: Some(reference.to_string()), ..error };
    let mut read = Read {
        name,
        reference,
        form: *form,
        marks: Vec::new(),
        private: head == "defn-",
        doc: None,
        metadata: Metadata::default(),
        params: Vec::new(),
        value: None,
    };
    for mark in metadata::between(metadata, first.span.end, target.span.start) {
        metadata::of_definition(mark, &mut read.metadata).map_err(at)?;
        read.marks.push(*mark);
    }
    if head == "def" {
        read.private = read.metadata.private;
        (read.doc, read.value) = match rest {
            [value] => (None, Some(*value)),
            [Form { kind: FormKind::Str(doc), .. }, value] => (Some(*doc), Some(*value)),
            _ => return Err(at(bad("`def` needs a name, perhaps a doc string, and one value".into()))),
        };
        return Ok(read);
    }
    let mut rest = rest;
    if let [Form { kind: FormKind::Str(doc), .. }, more @ ..] = rest {
        read.doc = Some(*doc);
        rest = more;
    }
    if let [meta @ Form { kind: FormKind::Map(_), .. }, more @ ..] = rest {
        metadata::of_definition(meta, &mut read.metadata).map_err(at)?;
        rest = more;
    }
    read.private |= read.metadata.private;
    let vectors: Vec<&'a [Form<'a>]> = match rest {
        [Form { kind: FormKind::Vector(params), .. }, ..] => vec![*params],
        [_, ..] => rest
            .iter()
            .map(|arity| match arity.kind {
                FormKind::List([Form { kind: FormKind::Vector(params), .. }, ..]) => Some(*params),
                _ => None,
            })
            .collect::<Option<_>>()
            .ok_or_else(|| at(bad(format!("`{head}` needs a vector of parameters"))))?,
        [] => return Err(at(bad(format!("`{head}` needs a vector of parameters")))),
    };
    read.params = vectors.into_iter().map(shown).collect();
    Ok(read)
}

/// Formats parameters for display: plain names as they are, patterns by their position.
fn shown(params: &[Form<'_>]) -> Vec<String> {
    let mut place = 0;
    let show = |param: &Form<'_>| match param.as_symbol() {
        Some("&") => "&".to_string(),
        Some(name) => {
            place += 1;
            name.to_string()
        }
        None => {
            place += 1;
            format!("arg{place}")
        }
    };
    params.iter().map(show).collect()
}

/// True if a prelude may define this name: unqualified, and no form that cannot be redefined.
fn is_definable(name: &str) -> bool {
    let is_special = expand::is_form_name(name) && !expand::is_shadowable(name);
    is_definition_name(name) && !is_special
}
