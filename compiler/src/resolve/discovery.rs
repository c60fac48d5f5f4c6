//! Resolution of `doc` and its variants, which take names without evaluating them.

use super::Resolver;
use crate::form::{Form, FormKind};
use crate::resolved::{Constant, Kind, Name, Node};
use ptc_bytecode::lookup;

impl<'a> Resolver<'a, '_> {
    /// Resolves a call of a discovery form whose operand is a name: the name itself is passed on, together with the
    /// value for a definition of the program. None for every other call, and if the program has a local or function
    /// of that name.
    pub(super) fn discovery(&mut self, form: Form<'a>, name: &str, args: &'a [Form<'a>]) -> Option<Kind<'a>> {
        let (of_definition, [target, rest @ ..]) = (definition_form(name)?, args) else { return None };
        if self.library || self.binding(name).is_some() || self.defines_function(name) {
            return None;
        }
        if let Some(row) = lookup(name).and_then(|id| id.row()).filter(|row| !row.takes(args.len())) {
            return Some(self.wrong_builtin_count(form, row, args.len()));
        }
        let (reference, is_bare) = match target.kind {
            FormKind::Symbol(reference) => (reference, true),
            FormKind::Quote(Form { kind: FormKind::Symbol(reference), .. }) => (*reference, false),
            FormKind::Str(reference) => (reference, false),
            _ => return None,
        };
        // A local is a value like any other.
        if is_bare && self.binding(reference).is_some() {
            return None;
        }
        let reference = self.in_full(reference).unwrap_or(reference);
        let is_defined = self.scope.has_def(reference)
            || self.def_ids.get(reference).is_some_and(|def| self.defs[def.0 as usize].definitions > 0);
        let text = Node { span: target.span, kind: Kind::Const(Constant::Str(reference)) };
        let (callee, args) = match of_definition {
            Some(callee) if is_defined && rest.is_empty() => {
                let def = self.def_ref(reference);
                let value = Node { span: target.span, kind: Kind::Name(Name::DefOrNil(def)) };
                (callee, self.arena.alloc_slice_copy(&[text, value]))
            }
            _ => {
                let mut nodes = vec![text];
                nodes.extend_from_slice(self.body(rest, false));
                (name, self.arena.alloc_slice_copy(&nodes))
            }
        };
        let callee = Node { span: form.span, kind: Kind::Name(Name::Builtin(lookup(callee)?)) };
        Some(Kind::Call(self.alloc(callee), args))
    }
}

/// Returns the function that a discovery form calls for a definition of the program, if it differs; None for other
/// forms.
fn definition_form(name: &str) -> Option<Option<&'static str>> {
    match name {
        "doc" => Some(Some("%doc-def")),
        "meta" => Some(Some("%meta-def")),
        "dir" | "source" | "ns-publics" | "ns-name" => Some(None),
        _ => None,
    }
}
