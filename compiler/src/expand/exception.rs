//! Expansion of `try` with its handlers and its cleanup.

use super::{Call, Expanded, Expander, Forms};
use crate::form::{Form, FormKind, Special};
use ptc_bytecode::{Code, Diagnostic, Span, exception_class, exception_classes};

const USAGE: &str = "(try (f x) (catch Exception e (ex-message e)) (finally (println \"done\")))";

/// A clause `(catch class name body…)`.
struct Handler<'a> {
    span: Span,
    /// Class to catch; None for `:default`, which catches everything.
    class: Option<&'static str>,
    name: Form<'a>,
    body: &'a [Form<'a>],
}

impl<'a> Expander<'a> {
    pub(super) fn try_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let is_clause = |form: &Form<'a>| clause(form).is_some();
        let clauses_at = call.args.iter().position(is_clause).unwrap_or(call.args.len());
        let (body, clauses) = call.args.split_at(clauses_at);
        let mut handlers = Vec::new();
        let mut cleanup = None;
        for form in clauses {
            match clause(form) {
                Some(("catch", parts)) if cleanup.is_none() => {
                    handlers.push(handler(call, form.span, parts)?)
                }
                Some(("finally", parts)) if cleanup.is_none() => cleanup = Some((form.span, parts)),
                Some((name, _)) => {
                    let message =
                        format!("has a `{name}` after `finally`, which must come last and only once");
                    return Err(call.error_at(form.span, Code::InvalidForm, message, USAGE));
                }
                None => {
                    let message = "has a form of its body after `catch` or `finally`";
                    return Err(call.error_at(form.span, Code::InvalidForm, message, USAGE));
                }
            }
        }
        let tried = match handlers.is_empty() {
            true => self.body(call.span, body),
            false => self.caught(call.span, body, &handlers),
        };
        Ok(match cleanup {
            None => tried,
            Some((span, parts)) => self.cleaned_up(call.span, tried, span, parts),
        })
    }

    /// Makes `(try* (fn* ([] body…)) (fn* ([e] (cond* (%catches e "Class") handler … (throw e)))))`.
    fn caught(&mut self, span: Span, body: &[Form<'a>], handlers: &[Handler<'a>]) -> Form<'a> {
        let exception = self.temp("exception", span);
        let mut choices = Forms::new();
        for handler in handlers {
            choices.push(match handler.class {
                Some(class) => {
                    let class = Form::new(handler.span, FormKind::Str(class));
                    self.builtin(handler.span, "%catches", &[exception, class])
                }
                None => Form::new(handler.span, FormKind::Bool(true)),
            });
            choices.push(self.let_star(handler.span, &[handler.name, exception], handler.body));
        }
        choices.push(self.special(span, Special::Throw, &[exception]));
        let chosen = self.special(span, Special::Cond, &choices);
        let (tried, handler) = (self.thunk(span, &[], body), self.thunk(span, &[exception], &[chosen]));
        self.special(span, Special::Try, &[tried, handler])
    }

    /// Makes a form that returns the value of `tried` after the cleanup, which also runs if `tried` stops with an
    /// exception.
    fn cleaned_up(&mut self, span: Span, tried: Form<'a>, at: Span, cleanup: &[Form<'a>]) -> Form<'a> {
        let (clean, value) = (self.temp("finally", at), self.temp("value", span));
        let exception = self.temp("exception", span);
        let call = self.list(at, &[clean]);
        let again = self.special(span, Special::Throw, &[exception]);
        let body = self.thunk(span, &[], &[tried]);
        let handler = self.thunk(span, &[exception], &[call, again]);
        let tried = self.special(span, Special::Try, &[body, handler]);
        let function = self.thunk(at, &[], cleanup);
        self.let_star(span, &[clean, function, value, tried], &[call, value])
    }

    /// Makes `(fn* ([params…] body…))`.
    fn thunk(&self, span: Span, params: &[Form<'a>], body: &[Form<'a>]) -> Form<'a> {
        let mut arity = Forms::with_capacity(body.len() + 1);
        arity.push(self.vector(span, params));
        arity.extend_from_slice(body);
        self.special(span, Special::Fn, &[self.list(span, &arity)])
    }
}

/// Splits a `catch` or `finally` into its name and its parts.
fn clause<'a>(form: &Form<'a>) -> Option<(&'a str, &'a [Form<'a>])> {
    let [head, parts @ ..] = form.as_list()? else { return None };
    head.as_symbol().filter(|name| matches!(*name, "catch" | "finally")).map(|name| (name, parts))
}

fn handler<'a>(call: Call<'_, 'a>, span: Span, parts: &'a [Form<'a>]) -> Result<Handler<'a>, Diagnostic> {
    let wrong = |at: Span, message: &str| call.error_at(at, Code::InvalidForm, message, USAGE);
    let [class, rest @ ..] = parts else {
        return Err(wrong(span, "has a `catch` without a class and a name"));
    };
    let class = match class.kind {
        FormKind::Keyword("default") => None,
        FormKind::Symbol(name) => match exception_class(name) {
            Some("Throwable") => None,
            Some(known) => Some(known),
            None => {
                let known: Vec<&str> = exception_classes().collect();
                let message = format!("catches `{name}`, which is not an exception class");
                return Err(Diagnostic::error(Code::InvalidForm, class.span, format!("`try` {message}"))
                    .hint(format!("write (catch Exception e …) for all, or one of {}", known.join(", "))));
            }
        },
        _ => return Err(wrong(class.span, "catches something that is not an exception class")),
    };
    match rest {
        [name, body @ ..] if name.as_symbol().is_some() => Ok(Handler { span, class, name: *name, body }),
        _ => Err(wrong(span, "has a `catch` without a name for the exception")),
    }
}
