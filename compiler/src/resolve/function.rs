//! Functions: their arities, their parameters, and what they capture.

use super::{Binding, FunctionScope, Resolver};
use crate::form::{Form, FormKind};
use crate::resolved::{Clause, Kind, Lambda, Name, Node};
use bumpalo::collections::Vec as ArenaVec;
use ptc_bytecode::{Code, Diagnostic, Span};

/// Parameters of one function at most; more are passed as a map or vector.
const MAX_PARAMS: usize = 100;

impl<'a> Resolver<'a, '_> {
    /// `name? ([params] body…)+`, the part of a `fn` behind its head. `defined_as` is the name of the
    /// definition it becomes, if any.
    pub(super) fn function(
        &mut self,
        form: Form<'a>,
        parts: &'a [Form<'a>],
        defined_as: Option<&'a str>,
        doc: Option<&'a str>,
    ) -> Kind<'a> {
        let (own_name, arities) = match parts {
            [Form { kind: FormKind::Symbol(name), .. }, rest @ ..] => (Some(*name), rest),
            _ => (None, parts),
        };
        let level = self.functions.len();
        let outer = self.bindings.len();
        self.functions.push(FunctionScope::new(0));
        if let Some(name) = own_name {
            self.bindings.push(Binding { name, level, what: Name::This, tool: None });
        }
        let mut clauses = ArenaVec::with_capacity_in(arities.len(), self.arena);
        for arity in arities {
            let Some(([Form { kind: FormKind::Vector(params), span }, body @ ..], scope)) =
                arity.as_list().zip(self.functions.last_mut())
            else {
                self.bad_function(arity.span);
                continue;
            };
            // Arities share what they capture, and nothing else.
            scope.locals.clear();
            scope.operations.clear();
            let inner = self.bindings.len();
            clauses.push(self.maybe(|this| this.clause(params, *span, body)));
            self.bindings.truncate(inner);
        }
        self.bindings.truncate(outer);
        let captures = self.functions.pop().map(|scope| scope.captures).unwrap_or_default();
        if clauses.is_empty() {
            self.bad_function(form.span);
        }
        clauses.sort_by_key(|clause| (clause.rest, clause.required));
        if let Some(pair) = clauses.windows(2).find(|p| p[0].rest && p[1].rest || same_arity(&p[0], &p[1])) {
            let what = if pair[1].rest {
                "two arities with `&`".into()
            } else {
                format!("two arities of {}", pair[1].required)
            };
            let message = format!("a function cannot have {what}");
            self.report(Diagnostic::error(Code::InvalidForm, form.span, message));
        }
        let captures = self.arena.alloc_slice_copy(&captures);
        let clauses = clauses.into_bump_slice();
        let name = own_name.or(defined_as);
        Kind::Fn(self.arena.alloc(Lambda { span: form.span, name, doc, captures, clauses }))
    }

    fn clause(&mut self, params: &'a [Form<'a>], span: Span, body: &'a [Form<'a>]) -> Clause<'a> {
        let rest_at = params.iter().position(|p| p.as_symbol() == Some("&"));
        let required = rest_at.unwrap_or(params.len());
        if required > MAX_PARAMS {
            let message =
                format!("a function takes at most {MAX_PARAMS} parameters, but this has {required}");
            self.report(
                Diagnostic::error(Code::InvalidForm, span, message)
                    .hint("take a map: (fn [{:keys [a b]}] …)"),
            );
        }
        for param in &params[..required] {
            self.bind(param);
        }
        if let Some(at) = rest_at {
            match &params[at + 1..] {
                [rest] => {
                    self.bind(rest);
                }
                _ => self.report(
                    Diagnostic::error(Code::InvalidForm, span, "`&` needs exactly one name behind it")
                        .hint("write [a b & more]"),
                ),
            }
        }
        let rest = rest_at.is_some();
        self.push_target(required + usize::from(rest));
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
        let restarts = self.pop_target();
        let locals = self.functions.last().map_or(&[][..], |f| &f.locals);
        let locals = self.arena.alloc_slice_copy(locals);
        Clause { required: required.min(MAX_PARAMS) as u8, rest, locals, restarts, body }
    }

    #[cold]
    fn bad_function(&mut self, span: Span) {
        self.report(
            Diagnostic::error(Code::InvalidForm, span, "a function needs a vector of parameters")
                .hint("write (fn [x] x)"),
        );
    }
}

fn same_arity(a: &Clause<'_>, b: &Clause<'_>) -> bool {
    !a.rest && !b.rest && a.required == b.required
}
