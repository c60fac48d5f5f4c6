//! Outline of a program: its top-level definitions, for tools that show them.

use crate::form::{Form, FormKind};
use crate::parse::parse;
use bumpalo::Bump;
use ptc_bytecode::{Limits, Span};

/// A definition at the top level of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Definition {
    /// Defined name.
    pub name: String,
    /// Span of the whole form.
    pub span: Span,
    /// Span of the name in it.
    pub name_span: Span,
    /// True for `defn` and `defn-`.
    pub is_function: bool,
    /// Doc string, if there is one.
    pub doc: Option<String>,
    /// Calls, such as `(f x & more)`, one for each arity; empty unless it is a `defn`.
    pub signatures: Vec<String>,
}

/// Returns the definitions of a program in order; empty for a text that cannot be read.
///
/// ```
/// use ptc_bytecode::Limits;
/// let found = ptc_compiler::outline("(def n 1) (defn twice \"Doubles.\" [x] (* 2 x))", &Limits::default());
/// assert_eq!(found[1].name, "twice");
/// assert_eq!(found[1].doc.as_deref(), Some("Doubles."));
/// assert_eq!(found[1].signatures, ["(twice x)"]);
/// ```
pub fn outline(source: &str, limits: &Limits) -> Vec<Definition> {
    let arena = Bump::new();
    let forms = parse(source, &arena, limits).unwrap_or_default();
    forms.iter().filter_map(|form| definition(form, source)).collect()
}

/// Returns the definition that a form is, if it is one.
pub(crate) fn definition(form: &Form<'_>, source: &str) -> Option<Definition> {
    let FormKind::List([head, Form { kind: FormKind::Symbol(name), span: name_span }, rest @ ..]) = form.kind
    else {
        return None;
    };
    let FormKind::Symbol(head) = head.kind else { return None };
    let name = *name;
    let is_function = match head {
        "defn" | "defn-" => true,
        "def" | "defonce" => false,
        _ => return None,
    };
    let doc = match rest {
        // `(def name "text")` is a value, not a doc string.
        [Form { kind: FormKind::Str(doc), .. }, _, ..] => Some((*doc).to_string()),
        _ => None,
    };
    let params = |form: &Form<'_>| match form.kind {
        FormKind::Vector(_) => Some(form.span),
        FormKind::List([first, ..]) if matches!(first.kind, FormKind::Vector(_)) => Some(first.span),
        _ => None,
    };
    let mut signatures = Vec::new();
    if is_function {
        let mut found = rest.iter().filter_map(|form| Some((params(form)?, form)));
        if let Some((span, first)) = found.next() {
            signatures.push(span);
            // Only clauses come several at a time; after `[params]` comes the body.
            if let FormKind::List(_) = first.kind {
                signatures.extend(found.map(|(span, _)| span));
            }
        }
    }
    let signature = |span: Span| {
        let whole = span.text(source);
        let inner = whole.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(whole);
        let words: Vec<&str> = std::iter::once(name).chain(inner.split_whitespace()).collect();
        format!("({})", words.join(" "))
    };
    Some(Definition {
        name: name.to_string(),
        span: form.span,
        name_span: *name_span,
        is_function,
        doc,
        signatures: signatures.into_iter().map(signature).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::outline;
    use ptc_bytecode::Limits;

    #[test]
    fn definitions_in_all_their_shapes() {
        let source = "(def a 1) (def b \"text\") (def c \"doc\" 2) (defonce d 3)\n\
                      (defn e ([] 1) ([x] x) ([x [y z]] x)) (defn- f {:m 1} [{:keys [p]} & r] [p])\n\
                      (let [x 1] (def hidden x)) (println 1) g (def) (def \"x\" 1) (defn h)";
        let found = outline(source, &Limits::default());
        let shown: Vec<String> = found
            .iter()
            .map(|d| format!("{} {:?} {}", d.name, d.doc.as_deref().unwrap_or("-"), d.signatures.join(" ")))
            .collect();
        assert_eq!(
            shown,
            [
                "a \"-\" ",
                "b \"-\" ",
                "c \"doc\" ",
                "d \"-\" ",
                "e \"-\" (e) (e x) (e x [y z])",
                "f \"-\" (f {:keys [p]} & r)",
                "h \"-\" ",
            ]
        );
        assert_eq!(found[0].span.text(source), "(def a 1)");
        assert!(outline("(defn f [x]", &Limits::default()).is_empty());
    }
}
