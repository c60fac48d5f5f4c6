//! Comprehensions and loops over collections, built from `%for` and a builder.

use super::{Call, Expanded, Expander, Forms, MAX_CLAUSES};
use crate::form::{Form, FormKind, Special};
use ptc_bytecode::{Code, Diagnostic};

impl<'a> Expander<'a> {
    /// Expands `(for [x xs …] body…)` into nested loops that fill a builder.
    pub(super) fn for_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let clauses = clauses(call)?;
        if call.args.len() < 2 {
            return Err(call.error(Code::InvalidArity, "needs a body", &usage(call)));
        }
        let builder = self.temp("for", call.span);
        let start = self.builtin(call.span, "%builder", &[]);
        let value = self.body(call.span, &call.args[1..]);
        let push = self.builtin(value.span, "%push", &[builder, value]);
        let loops = self.nest(call, clauses, push)?;
        let finish = self.builtin(call.span, "%finish", &[builder]);
        Ok(self.let_star(call.span, &[builder, start], &[loops, finish]))
    }

    /// Expands `(doseq [x xs …] body…)` into the loops alone.
    pub(super) fn doseq_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let clauses = clauses(call)?;
        let body = self.body(call.span, &call.args[1..]);
        let loops = self.nest(call, clauses, body)?;
        Ok(self.special(call.span, Special::Do, &[loops, self.nil(call.span)]))
    }

    /// Expands `(dotimes [i n] body…)`.
    pub(super) fn dotimes_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(dotimes [i 10] body)";
        call.takes(1, usize::MAX, usage)?;
        let FormKind::Vector([name, count]) = call.args[0].kind else {
            let message = "needs a vector of a name and a number";
            return Err(call.error_at(call.args[0].span, Code::InvalidForm, message, usage));
        };
        let range = self.builtin(count.span, "range", &[*count]);
        let each = self.each(call, *name, range, &call.args[1..])?;
        Ok(self.special(call.span, Special::Do, &[each, self.nil(call.span)]))
    }

    /// Expands `(lazy-seq body…)` into the elements of its body, since sequences are eager.
    pub(super) fn lazy_seq_form(&mut self, call: Call<'_, 'a>) -> Form<'a> {
        let body = self.body(call.span, call.args);
        self.builtin(call.span, "vec", &[body])
    }

    /// Expands `(while test body…)`.
    pub(super) fn while_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(1, usize::MAX, "(while test body)")?;
        let mut body = Forms::new();
        body.extend_from_slice(&call.args[1..]);
        body.push(self.special(call.span, Special::Recur, &[]));
        let again = self.body(call.span, &body);
        let test = self.special(call.span, Special::If, &[call.args[0], again, self.nil(call.span)]);
        Ok(self.special(call.span, Special::Loop, &[self.vector(call.span, &[]), test]))
    }

    /// Expands `(%for [pattern coll] body…)` of the core library.
    pub(super) fn each_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let Some(Form { kind: FormKind::Vector([pattern, coll]), .. }) = call.args.first() else {
            return Err(call.error(
                Code::InvalidForm,
                "needs a vector of a name and a collection",
                &usage(call),
            ));
        };
        self.each(call, *pattern, *coll, &call.args[1..])
    }

    fn each(
        &mut self,
        call: Call<'_, 'a>,
        pattern: Form<'a>,
        coll: Form<'a>,
        body: &[Form<'a>],
    ) -> Expanded<'a> {
        let mut items = Forms::new();
        if pattern.as_symbol().is_some() {
            super::binding::check_name(&pattern)?;
            items.push(self.vector(call.span, &[pattern, coll]));
            items.extend_from_slice(body);
        } else {
            let name = self.temp("each", pattern.span);
            let mut bindings = Forms::new();
            self.bind(pattern, name, &mut bindings)?;
            items.push(self.vector(call.span, &[name, coll]));
            items.push(self.let_star(call.span, &bindings, body));
        }
        Ok(self.special(call.span, Special::Each, &items))
    }

    /// Wraps `body` in the clauses, the last one innermost.
    fn nest(&mut self, call: Call<'_, 'a>, clauses: &'a [Form<'a>], body: Form<'a>) -> Expanded<'a> {
        let mut inner = body;
        // `for` keeps every element, so it must not start on a collection without an end.
        let (keeps, mut ends) = (call.name == "for", false);
        for clause in clauses.chunks_exact(2).rev() {
            let (head, value) = (clause[0], clause[1]);
            inner = match head.kind {
                FormKind::Keyword("when") => {
                    self.special(value.span, Special::If, &[value, inner, self.nil(value.span)])
                }
                FormKind::Keyword("while") => {
                    ends = true;
                    let stop = self.special(value.span, Special::Break, &[]);
                    self.special(value.span, Special::If, &[value, inner, stop])
                }
                FormKind::Keyword(_) => {
                    let mut bindings = Forms::new();
                    for pair in value.as_vector().unwrap_or(&[]).chunks_exact(2) {
                        self.bind(pair[0], pair[1], &mut bindings)?;
                    }
                    self.let_star(value.span, &bindings, &[inner])
                }
                _ => {
                    let ends = std::mem::take(&mut ends);
                    let is_literal = matches!(value.kind, FormKind::Vector(_) | FormKind::Map(_));
                    let coll = match keeps && !ends && !is_literal {
                        true => self.builtin(value.span, "%bounded", &[value]),
                        false => value,
                    };
                    self.each(call, head, coll, &[inner])?
                }
            };
        }
        Ok(inner)
    }
}

fn usage(call: Call<'_, '_>) -> String {
    format!("({} [x xs :when (odd? x)] body)", call.name)
}

/// Returns the clauses of `for` or `doseq`, checked: an even vector that starts with a binding.
fn clauses<'a>(call: Call<'_, 'a>) -> Result<&'a [Form<'a>], Diagnostic> {
    let usage = usage(call);
    let fault = |span, message: String| Err(call.error_at(span, Code::InvalidForm, message, &usage));
    let Some(vector) = call.args.first() else {
        return fault(call.span, "needs a vector of bindings".to_owned());
    };
    let FormKind::Vector(clauses) = vector.kind else {
        return fault(vector.span, format!("needs a vector of bindings, but found {}", vector.kind_name()));
    };
    if clauses.is_empty() {
        return fault(vector.span, "needs at least one binding".to_owned());
    }
    if clauses.len() % 2 == 1 {
        let last = clauses[clauses.len() - 1];
        return fault(last.span, format!("needs a value for every name, but {} has none", last.brief()));
    }
    if clauses.len() / 2 > MAX_CLAUSES {
        return fault(vector.span, format!("has more than {MAX_CLAUSES} clauses"));
    }
    for (i, clause) in clauses.chunks_exact(2).enumerate() {
        let (head, value) = (clause[0], clause[1]);
        let FormKind::Keyword(word) = head.kind else {
            let literal = matches!(value.kind, FormKind::Int(_) | FormKind::Float(_) | FormKind::Keyword(_));
            if literal {
                let message =
                    format!("walks a collection, but {} is bound to {}", head.brief(), value.kind_name());
                let usage = match value.kind {
                    FormKind::Int(n) => format!("({} [{} (range {n})] body)", call.name, head.brief()),
                    _ => usage,
                };
                return Err(call.error_at(value.span, Code::InvalidArity, message, &usage));
            }
            continue;
        };
        if i == 0 {
            return fault(head.span, format!("needs a binding before `:{word}`"));
        }
        match (word, value.kind) {
            ("when" | "while", _) => {}
            ("let", FormKind::Vector(pairs)) if pairs.len() % 2 == 0 => {}
            ("let", FormKind::Vector(_)) => {
                return fault(value.span, "`:let` needs a value for every name".to_owned());
            }
            ("let", _) => return fault(value.span, "needs a vector after `:let`".to_owned()),
            _ => return fault(head.span, format!("has `:when`, `:while` and `:let`, but not `:{word}`")),
        }
    }
    Ok(clauses)
}
