//! Resolution of functions: arities, parameters, and captures.

use super::{Binding, FunctionScope, Resolver};
use crate::form::{Form, FormKind, Special};
use crate::resolved::{Clause, Kind, Lambda, Name, Node};
use bumpalo::collections::Vec as ArenaVec;
use ptc_bytecode::Span;

impl<'a> Resolver<'a, '_> {
    /// Resolves `name? ([params] body…)+`, the part of a `fn` after its head. `defined_as` is the name of its
    /// definition, if any.
    pub(super) fn function(
        &mut self,
        form: Form<'a>,
        parts: &'a [Form<'a>],
        defined_as: Option<&'a str>,
        doc: Option<&'a str>,
    ) -> Kind<'a> {
        self.any_function(form, parts, defined_as, doc, false)
    }

    /// Resolves a function that is part of a form, which `recur` neither leaves nor restarts.
    pub(super) fn function_part(&mut self, form: Form<'a>, parts: &'a [Form<'a>]) -> Kind<'a> {
        self.any_function(form, parts, None, None, true)
    }

    fn any_function(
        &mut self,
        form: Form<'a>,
        parts: &'a [Form<'a>],
        defined_as: Option<&'a str>,
        doc: Option<&'a str>,
        is_part: bool,
    ) -> Kind<'a> {
        let (own_name, arities) = match parts {
            [Form { kind: FormKind::Symbol(name), span }, rest @ ..] => (Some((*name, *span)), rest),
            _ => (None, parts),
        };
        let level = self.functions.len();
        let outer = self.bindings.len();
        let mut scope = FunctionScope::new(0);
        if is_part {
            (scope.is_part, scope.targets) = (true, Vec::new());
        }
        self.functions.push(scope);
        if let Some((name, span)) = own_name {
            self.bindings.push(Binding { name, level, what: Name::This, tool: None, span });
            self.sight_local(span, self.bindings.len() - 1);
        }
        let mut clauses = ArenaVec::with_capacity_in(arities.len(), self.arena);
        for arity in arities {
            let Some(([Form { kind: FormKind::Vector(params), span }, body @ ..], scope)) =
                arity.as_list().zip(self.functions.last_mut())
            else {
                self.malformed(arity.span, Special::Fn);
                continue;
            };
            // Arities share their captures, and nothing else.
            scope.locals.clear();
            scope.operations.clear();
            let inner = self.bindings.len();
            clauses.push(self.maybe(|this| this.clause(params, *span, body)));
            self.bindings.truncate(inner);
        }
        self.bindings.truncate(outer);
        let captures = self.functions.pop().map(|scope| scope.captures).unwrap_or_default();
        clauses.sort_by_key(|clause| (clause.rest, clause.required));
        let captures = self.arena.alloc_slice_copy(&captures);
        let clauses = clauses.into_bump_slice();
        let name = own_name.map(|(name, _)| name).or(defined_as);
        Kind::Fn(self.arena.alloc(Lambda { span: form.span, name, doc, captures, clauses }))
    }

    fn clause(&mut self, params: &'a [Form<'a>], span: Span, body: &'a [Form<'a>]) -> Clause<'a> {
        let rest_at = params.iter().position(|p| p.as_symbol() == Some("&"));
        let required = rest_at.unwrap_or(params.len());
        for param in &params[..required] {
            self.bind(param);
        }
        let rest = rest_at.and_then(|at| params.get(at + 1)).map(|rest| self.bind(rest)).is_some();
        let is_part = self.functions.last().is_some_and(|function| function.is_part);
        if !is_part {
            self.push_target(required + usize::from(rest));
        }
        let outer_each = self.functions.last_mut().map_or(0, |f| std::mem::take(&mut f.each));
        let body = match self.own_definitions(body) {
            None => self.body(body, true),
            Some(bindings) => {
                let body = self.body(body, true);
                let whole = Node { span, kind: Kind::Let(bindings, body) };
                self.arena.alloc_slice_copy(&[whole])
            }
        };
        if let Some(function) = self.functions.last_mut() {
            function.each = outer_each;
        }
        let restarts = !is_part && self.pop_target();
        let locals = self.functions.last().map_or(&[][..], |f| &f.locals);
        let locals = self.arena.alloc_slice_copy(locals);
        Clause { required: u8::try_from(required).unwrap_or(u8::MAX), rest, locals, restarts, body }
    }
}
