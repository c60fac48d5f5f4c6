//! Sorting of a prelude's forms into namespaces.

use super::parts::PreludeError;
use super::{definition, header, metadata};
use crate::form::{Form, FormKind};
use crate::parse::ReadText;
use bumpalo::Bump;
use ptc_bytecode::{Code, Diagnostic};

/// A namespace as read.
pub(super) struct Draft<'a> {
    pub header: header::Header<'a>,
    pub definitions: Vec<definition::Read<'a>>,
}

/// Sorts the top-level forms into namespaces.
pub(super) fn drafts<'a>(text: &ReadText<'a>, arena: &'a Bump) -> Result<Vec<Draft<'a>>, PreludeError> {
    let mut drafts: Vec<Draft<'a>> = Vec::new();
    let mut end = 0;
    for form in text.forms {
        // `^:private (defn f …)` marks the form, not the definition: nothing would be private.
        if let Some(stray) = metadata::between(&text.metadata, end, form.span.start).first() {
            return Err(PreludeError::new(
                Diagnostic::error(
                    Code::InvalidMetadata,
                    stray.span,
                    format!("the metadata ^{} is before a form, where it means nothing", stray.brief()),
                )
                .hint("put it before the name: (defn ^:private clean [x] …)"),
            ));
        }
        end = form.span.end;
        let head = match form.kind {
            FormKind::List([Form { kind: FormKind::Symbol(head), .. }, ..]) => *head,
            _ => "",
        };
        match head {
            "ns" => {
                let header = header::read(form, &text.metadata)?;
                if drafts.iter().any(|draft| draft.header.name == header.name) {
                    let message = format!("namespace '{}' is declared more than once", header.name);
                    let problem = Diagnostic::error(Code::InvalidNamespace, form.span, message)
                        .hint("put all its definitions below one (ns …)");
                    return Err(PreludeError::new(problem).in_namespace(header.name));
                }
                drafts.push(Draft { header, definitions: Vec::new() });
            }
            "def" | "defn" | "defn-" => {
                let Some(draft) = drafts.last_mut() else {
                    let name = match form.kind {
                        FormKind::List([_, name, ..]) => name.brief(),
                        _ => String::new(),
                    };
                    let message = format!("`{name}` is defined before any (ns …)");
                    return Err(PreludeError::new(
                        Diagnostic::error(Code::MissingNamespace, form.span, message)
                            .hint("start the file with a namespace: (ns crm)"),
                    ));
                };
                let read = definition::read(form, head, draft.header.name, &text.metadata, arena)
                    .map_err(|error| error.in_namespace(draft.header.name))?;
                if draft.definitions.iter().any(|known| known.name == read.name) {
                    let message = format!(
                        "duplicate definition `{}`: a name can have only one definition",
                        read.reference
                    );
                    let problem = Diagnostic::error(Code::DuplicateRef, form.span, message)
                        .hint("rename one of them; public and private names share one namespace");
                    return Err(PreludeError::of(read.reference, problem));
                }
                draft.definitions.push(read);
            }
            _ => {
                let message = format!(
                    "only ns, def, defn and defn- are allowed at the top level of a prelude, but found {}",
                    form.brief()
                );
                let hint = match crate::testing::usage(head) {
                    Some(_) => crate::suggest::TESTS,
                    None => "put it into a function: (defn f [] …)",
                };
                let problem = Diagnostic::error(Code::CompileError, form.span, message).hint(hint);
                let error = PreludeError::new(problem);
                return Err(match drafts.last() {
                    Some(draft) => error.in_namespace(draft.header.name),
                    None => error,
                });
            }
        }
    }
    if drafts.is_empty() {
        let problem = Diagnostic::without_span(Code::MissingNamespace, "the prelude declares no namespace")
            .hint("start the file with a namespace: (ns crm)");
        return Err(PreludeError::new(problem));
    }
    Ok(drafts)
}
