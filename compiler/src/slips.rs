//! Slips in a text that are legal: warnings about its forms, beside those of the lexer about its brackets.

use crate::form::{Form, FormKind};
use ptc_bytecode::{Code, Diagnostic};

/// Maximum warnings per text.
const MAX_WARNINGS: usize = 20;
/// Characters of a doc string that a hint shows.
const MAX_DOC: usize = 40;

/// Returns warnings about the top-level forms of a text, in its order.
pub fn slips(forms: &[Form<'_>]) -> Vec<Diagnostic> {
    forms.iter().filter_map(misplaced_doc).take(MAX_WARNINGS).collect()
}

/// Returns a warning about a text that stands as a doc string after the parameters, where it is a value that nobody
/// reads: `(defn f [x] "Doubles x." (* 2 x))`. A text that is the last form is the result.
fn misplaced_doc(form: &Form<'_>) -> Option<Diagnostic> {
    let FormKind::List([Form { kind: FormKind::Symbol(head @ ("defn" | "defn-")), .. }, name, rest @ ..]) =
        form.kind
    else {
        return None;
    };
    // A doc string, metadata, or both may stand before the parameters.
    let mut rest = rest;
    let mut has_doc = false;
    while let [Form { kind: kind @ (FormKind::Str(_) | FormKind::Map(_)), .. }, more @ ..] = rest {
        has_doc |= matches!(kind, FormKind::Str(_));
        rest = more;
    }
    let doc = rest.iter().find_map(|arity| match arity.kind {
        FormKind::Vector(_) => doc_in(rest),
        FormKind::List(arity) => doc_in(arity),
        _ => None,
    })?;
    let FormKind::Str(text) = doc.kind else { return None };
    let name = name.as_symbol()?;
    let message = format!("this text is not the doc string of `{name}`: it comes after the parameters");
    let hint = match has_doc {
        true => "remove it: the doc string is the one before the parameters".to_string(),
        false => {
            format!("put it before the parameters: ({head} {name} {} [{}] …)", shown(text), params(rest))
        }
    };
    Some(Diagnostic::warning(Code::MisplacedDoc, doc.span, message).hint(hint))
}

/// Returns the text between the parameters and the body of an arity.
fn doc_in<'a>(arity: &'a [Form<'a>]) -> Option<&'a Form<'a>> {
    match arity {
        [Form { kind: FormKind::Vector(_), .. }, doc @ Form { kind: FormKind::Str(_), .. }, _, ..] => {
            Some(doc)
        }
        _ => None,
    }
}

/// Returns the beginning of a doc string, as a literal.
fn shown(text: &str) -> String {
    let line: String = text.chars().take_while(|c| *c != '\n').take(MAX_DOC).collect();
    let cut = if line.len() < text.len() { "…" } else { "" };
    format!("{:?}", format!("{line}{cut}"))
}

/// Returns plain parameters as they are; `…` for patterns and several arities.
fn params(rest: &[Form<'_>]) -> String {
    let names = match rest {
        [Form { kind: FormKind::Vector(params), .. }, ..] => {
            params.iter().map(Form::as_symbol).collect::<Option<Vec<&str>>>()
        }
        _ => None,
    };
    names.map_or("…".to_string(), |names| names.join(" "))
}
