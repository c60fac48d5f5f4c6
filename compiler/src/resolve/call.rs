//! Resolution of calls: the callee, and whether the number of arguments can be right.

use super::Resolver;
use super::special::plural;
use crate::form::{Form, FormKind};
use crate::resolved::{Clause, Constant, Kind, Name, Node};
use ptc_bytecode::{Builtin, Code, Diagnostic, Span, lookup};
use std::collections::HashSet;

impl<'a> Resolver<'a, '_> {
    pub(super) fn call(&mut self, form: Form<'a>, head: &'a Form<'a>, args: &'a [Form<'a>]) -> Kind<'a> {
        if let FormKind::Symbol(name) = head.kind
            && let Some(kind) = self.discovery(form, name, args)
        {
            return kind;
        }
        if let FormKind::Symbol(name) = head.kind
            && let Some(calls) = self.mapped_upstream(form, name, args)
        {
            return self.kind_again(calls, false);
        }
        // The content of a form from another Lisp means nothing here: one error is enough.
        if let FormKind::Symbol(name) = head.kind
            && self.is_refused(name)
        {
            return self.unbound(name, head.span);
        }
        let callee = match head.kind {
            FormKind::Symbol(name) if name.starts_with("budget/") => match lookup(name) {
                Some(id) => Node { span: head.span, kind: Kind::Name(Name::Builtin(id)) },
                None => self.node(*head, false),
            },
            _ => self.node(*head, false),
        };
        if let FormKind::Symbol(name) = head.kind
            && let Some(kind) = self.constant_call(form, name, &callee, args.len())
        {
            return kind;
        }
        let args = self.body(args, false);
        if self.siblings.is_some()
            && let Some(kind) = self.host_call(form.span, &callee, args)
        {
            return kind;
        }
        match callee.kind {
            // Clojure reads a static field this way too: `(Math/PI)`.
            Kind::Const(Constant::Float(_) | Constant::Int(_))
                if args.is_empty() && head.as_symbol().is_some() =>
            {
                return callee.kind;
            }
            Kind::Name(Name::Builtin(id)) => {
                if let Some(row) = id.row().filter(|row| !row.takes(args.len())) {
                    return self.wrong_builtin_count(form, row, args.len());
                }
                if let ("not=", [_, _]) = (id.row().map_or("", |row| row.name), args) {
                    return self.not_equal(form.span, args);
                }
            }
            Kind::Name(Name::Def(def)) if self.is_export(head) => {
                if let Some(problem) = self.wrong_export_count(def, args.len(), form.span) {
                    return self.fail(problem);
                }
            }
            Kind::Name(Name::Def(def)) => {
                self.known_calls.push((def, args.len(), form.span));
            }
            Kind::Const(Constant::Keyword(name)) if args.is_empty() || args.len() > 2 => {
                let message =
                    format!("`:{name}` takes a map and perhaps a default, but got {} arguments", args.len());
                return self.fail(
                    Diagnostic::error(Code::InvalidKeywordCall, form.span, message)
                        .hint(format!("write (:{name} m), or (get-in m [:{name} …])")),
                );
            }
            _ => {}
        }
        Kind::Call(self.alloc(callee), args)
    }

    /// Rewrites `(not= a b)` to `(not (= a b))`, so that a test can invert it.
    fn not_equal(&mut self, span: Span, args: &'a [Node<'a>]) -> Kind<'a> {
        let equal = Node { span, kind: self.builtin("=", span) };
        let not = Node { span, kind: self.builtin("not", span) };
        let inner = Node { span, kind: Kind::Call(self.alloc(equal), args) };
        Kind::Call(self.alloc(not), self.arena.alloc_slice_copy(&[inner]))
    }

    #[cold]
    pub(super) fn wrong_builtin_count(&mut self, form: Form<'a>, row: &Builtin, got: usize) -> Kind<'a> {
        let words = row.arity_words();
        let noun = if words == "1" || words == "at least 1" { "argument" } else { "arguments" };
        let message = format!("`{}` takes {words} {noun}, but got {got}", row.name);
        // Forms check their operand counts before the run, with a code of their own.
        let code = if row.section == "Discovery" { Code::InvalidArity } else { Code::ArityError };
        let mut problem = Diagnostic::error(code, form.span, message);
        if let Some((call, _)) = row.example.split_once(" ;=>") {
            problem = problem.hint(format!("for example {call}"));
        }
        self.fail(problem)
    }

    /// Checks calls of functions that this program defines exactly once: with several definitions, any of them may
    /// be called.
    pub(super) fn check_known_calls(&mut self) {
        // Calls with the same mistake share one message, which lists all parameters.
        let mut told = HashSet::new();
        for (def, got, span) in std::mem::take(&mut self.known_calls) {
            let entry = &self.defs[def.0 as usize];
            let (name, earlier) = (entry.name, self.scope.has_def(entry.name));
            let Some(clauses) = entry.arities.filter(|_| entry.definitions == 1 && !earlier) else {
                continue;
            };
            if !self.meter.pay(clauses.len()) {
                return;
            }
            if !clauses.iter().any(|clause| clause.takes(got)) && told.insert((def, got)) {
                self.report(wrong_count(name, clauses, got, span));
            }
        }
    }
}

/// Makes the error for a call whose argument count fits no arity.
#[cold]
pub(super) fn wrong_count(name: &str, clauses: &[Clause<'_>], got: usize, span: Span) -> Diagnostic {
    let shown: Vec<String> = clauses.iter().map(|clause| format!("[{}]", params(clause))).collect();
    let message = format!("`{name}` takes {}, but got {got} {}", shown.join(" or "), plural(got, "argument"));
    Diagnostic::error(Code::ArityMismatch, span, message)
}

/// Formats parameters: `x y`, `a & r`, patterns as `_`.
pub(crate) fn params(clause: &Clause<'_>) -> String {
    let mut out = String::new();
    for (i, local) in clause.locals.iter().take(clause.params()).enumerate() {
        if i > 0 {
            out.push(' ');
        }
        if clause.rest && i == usize::from(clause.required) {
            out.push_str("& ");
        }
        // Expansion gives a pattern a name that cannot be written.
        out.push_str(if local.name.contains('·') { "_" } else { local.name });
    }
    out
}
