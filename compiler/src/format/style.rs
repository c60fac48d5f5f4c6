//! Styles: layouts of forms that do not fit on one line.

use super::tree::{Item, Node, NodeKind, elements};
use ptc_bytecode::FormName;

/// The layout of a bracket that breaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// A number of elements on the first line, the head included; the others below it, indented by two.
    Body(usize),
    /// A number of elements on the first line, followed by pairs of a test and a value.
    Clauses(usize),
    /// Arguments below each other.
    Call,
    /// Elements below each other.
    Elements,
    /// Keys below each other, with their values after them.
    Pairs,
    /// As many elements per line as fit.
    Fill,
}

/// Returns the style of a bracket; `is_binding` for the vector of `let` and the like.
pub(super) fn style(open: &str, items: &[Item<'_>], is_binding: bool) -> Style {
    match open {
        "{" => Style::Pairs,
        "[" if is_binding => Style::Pairs,
        "[" | "#{" => match elements(items).all(|node| node.atom().is_some()) {
            true => Style::Fill,
            false => Style::Elements,
        },
        // Without a name as head it is an arity, `([x] body)`, or a call of a form.
        _ => match elements(items).next().and_then(Node::atom) {
            Some(head) => list(head, items),
            None => Style::Elements,
        },
    }
}

fn list(head: &str, items: &[Item<'_>]) -> Style {
    use FormName::*;
    let Some(form) = FormName::lookup(head) else {
        return match head {
            "catch" => Style::Body(3),
            "deftest" | "testing" => Style::Body(2),
            "finally" => Style::Body(1),
            // A form of the core library.
            "%for" => Style::Body(2),
            _ => Style::Call,
        };
    };
    match form {
        Do | Comment | LazySeq | Try => Style::Body(1),
        Def | DefOnce | Let | Letfn | If | IfNot | When | WhenNot | IfLet | WhenLet | IfSome | WhenSome
        | WhenFirst | Loop | For | Doseq | Dotimes | While | Ns | Task => Style::Body(2),
        Defn | DefnPrivate | Fn => Style::Body(function_header(items)),
        Cond => Style::Clauses(1),
        Case => Style::Clauses(2),
        Condp => Style::Clauses(3),
        CondFirst | CondLast => Style::Clauses(2),
        ThreadAs => Style::Body(3),
        Declare | And | Or | Recur | ThreadFirst | ThreadLast | SomeFirst | SomeLast | Doto | Quote | Var
        | Assert | Require | Return | Fail | Throw | StepDone | TaskReset | ToolCall | MemoryPut
        | MemoryGet => Style::Call,
    }
}

/// Returns the number of elements of a function on its first line: up to the parameters, unless a doc string comes
/// before them.
fn function_header(items: &[Item<'_>]) -> usize {
    let mut header = 1;
    for node in elements(items).skip(1) {
        match &node.kind {
            NodeKind::Bracket { open: "[", .. } => return header + 1,
            NodeKind::Atom(text) if !text.starts_with('"') => header += 1,
            _ => return header,
        }
    }
    header
}

/// True if the vector after this head binds names to values, in pairs.
pub(super) fn binds(head: &str) -> bool {
    use FormName::*;
    matches!(
        FormName::lookup(head),
        Some(Let | Loop | For | Doseq | Dotimes | IfLet | WhenLet | IfSome | WhenSome | WhenFirst)
    )
}

/// True for an arity of a function: `([x] body)`.
fn is_arity(node: &Node<'_>) -> bool {
    node.items("(").is_some_and(|items| elements(items).next().is_some_and(|head| head.items("[").is_some()))
}

/// Returns the maximum width of a form on one line, brackets included.
pub(super) fn width(head: &str) -> usize {
    match FormName::lookup(head) {
        // Readers look for a body below the name; only a short one may be on the same line.
        Some(FormName::Defn | FormName::DefnPrivate) => 60,
        _ => usize::MAX,
    }
}

/// True if a form is easier to read in several lines even if it fits on one.
pub(super) fn breaks(head: &str, items: &[Item<'_>]) -> bool {
    use FormName::*;
    let count = elements(items).count();
    let Some(form) = FormName::lookup(head) else {
        return match head {
            "deftest" => true,
            "catch" => count > 4,
            "testing" => count > 3,
            "finally" => count > 2,
            _ => false,
        };
    };
    match form {
        Let | Loop | For | Doseq => {
            let bindings = elements(items).nth(1).and_then(|node| node.items("["));
            count > 3 || bindings.is_some_and(|items| elements(items).count() > 2)
        }
        When | WhenNot | WhenLet | WhenSome | WhenFirst | Dotimes | While => count > 3,
        Do => count > 2,
        Try => true,
        Cond => count > 3,
        Case | CondFirst | CondLast => count > 4,
        Condp => count > 5,
        ThreadFirst | ThreadLast | SomeFirst | SomeLast => count > 4,
        Fn => elements(items).filter(|node| is_arity(node)).count() > 1,
        Defn | DefnPrivate => {
            let is_doc = |node: &Node<'_>| node.atom().is_some_and(|text| text.starts_with('"'));
            let after_name = elements(items).nth(2);
            count > 4 || after_name.is_some_and(|node| is_doc(node) || is_arity(node))
        }
        _ => false,
    }
}
