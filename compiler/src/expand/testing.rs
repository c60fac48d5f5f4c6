//! Forms of test files: `is` and its variants become calls of the tool that counts checks.

use super::{Call, Expander, Forms};
use crate::form::{Form, FormKind, Special};
use crate::testing::{CALLS_TOOL, CHECK_TOOL, usage};
use ptc_bytecode::{Code, Diagnostic, FormName, Span, exception_class};

/// Maximum operands of a check that are shown.
const MAX_OPERANDS: usize = 8;

/// A check with its place and message.
#[derive(Clone, Copy)]
struct Checked<'a> {
    span: Span,
    message: Option<Form<'a>>,
}

impl<'a> Expander<'a> {
    /// Expands a form that only test files know; None for any other name.
    pub(super) fn test_form(&mut self, call: Call<'_, 'a>) -> Result<Option<Form<'a>>, Diagnostic> {
        let Some(usage) = usage(call.name) else { return Ok(None) };
        self.check_size(call.span)?;
        Ok(Some(match call.name {
            "is" => self.is_form(call, usage)?,
            "testing" => match call.args {
                [Form { kind: FormKind::Str(_), .. }, body @ ..] => self.body(call.span, body),
                _ => return Err(call.error(Code::InvalidForm, "takes a text and what belongs to it", usage)),
            },
            // The host reads stubs before the test runs.
            "stub-tool" => self.nil(call.span),
            "tool-calls" => match call.args {
                [Form { kind: FormKind::Quote(Form { kind: FormKind::Symbol(tool), .. }), .. }] => {
                    self.calls_of(call.span, tool.strip_prefix("tool/").unwrap_or(tool))
                }
                _ => return Err(call.error(Code::InvalidForm, "takes the quoted name of a tool", usage)),
            },
            "deftest" => {
                return Err(call.error(Code::InvalidForm, "belongs at the top level of a test file", usage));
            }
            _ => return Err(call.error(Code::InvalidForm, "belongs inside `is`", usage)),
        }))
    }

    /// Expands `(is expr message?)`.
    fn is_form(&mut self, call: Call<'_, 'a>, usage: &str) -> Result<Form<'a>, Diagnostic> {
        call.takes(1, 2, usage)?;
        let checked = Checked { span: call.span, message: call.args.get(1).copied() };
        let expr = call.args[0];
        let Some([head, args @ ..]) = expr.as_list() else { return Ok(self.truth(checked, expr)) };
        match head.as_symbol() {
            Some(name @ ("thrown?" | "thrown-with-msg?")) => self.thrown(checked, expr, name, args),
            Some(name @ ("fails?" | "fails-with?")) => self.failing(checked, expr, name, args),
            Some(name) if FormName::lookup(name).is_none() && (1..=MAX_OPERANDS).contains(&args.len()) => {
                Ok(self.application(checked, expr, *head, args))
            }
            _ => Ok(self.truth(checked, expr)),
        }
    }

    /// Makes a check that shows its value.
    fn truth(&mut self, checked: Checked<'a>, expr: Form<'a>) -> Form<'a> {
        let value = self.temp("value", expr.span);
        let decided = self.decided(checked, value, &[value]);
        self.let_star(checked.span, &[value, expr], &[decided, value])
    }

    /// Makes a check that shows the operands of the deciding function. Operands are computed once, before the
    /// function is called, as usual.
    fn application(
        &mut self,
        checked: Checked<'a>,
        expr: Form<'a>,
        head: Form<'a>,
        args: &'a [Form<'a>],
    ) -> Form<'a> {
        let mut bindings = Forms::new();
        let mut operands = Forms::new();
        for arg in args {
            let is_computed = matches!(
                arg.kind,
                FormKind::List(_) | FormKind::Vector(_) | FormKind::Map(_) | FormKind::Set(_)
            );
            operands.push(if is_computed { self.temp("operand", arg.span) } else { *arg });
            if is_computed {
                bindings.extend([operands[operands.len() - 1], *arg]);
            }
        }
        let value = self.temp("value", expr.span);
        bindings.extend([value, self.headed_at(expr.span, head, &operands)]);
        let decided = self.decided(checked, value, &operands);
        self.let_star(checked.span, &bindings, &[decided, value])
    }

    /// Expands `(is (thrown? Class body…))` and `(is (thrown-with-msg? Class pattern body…))`; the class is optional.
    fn thrown(
        &mut self,
        checked: Checked<'a>,
        expr: Form<'a>,
        name: &str,
        args: &'a [Form<'a>],
    ) -> Result<Form<'a>, Diagnostic> {
        let call = Call { name, span: expr.span, args };
        let usage = usage(name).unwrap_or_default();
        let everything = Form::new(expr.span, FormKind::Keyword("default"));
        let is_class = |form: &Form<'a>| match form.kind {
            FormKind::Symbol(name) => exception_class(name).is_some(),
            FormKind::Keyword("default") => true,
            _ => false,
        };
        let (class, rest) = match args {
            [class, rest @ ..] if is_class(class) => (*class, rest),
            _ => (everything, args),
        };
        let exception = self.temp("exception", expr.span);
        let message = self.builtin(expr.span, "ex-message", &[exception]);
        let (caught, body) = match (name, rest) {
            ("thrown-with-msg?", [pattern, body @ ..]) if !body.is_empty() => {
                let matches = match pattern.kind {
                    FormKind::Str(_) => self.list(
                        expr.span,
                        &[Form::new(expr.span, FormKind::Symbol("str/includes?")), message, *pattern],
                    ),
                    _ => self.builtin(expr.span, "re-find", &[*pattern, message]),
                };
                (self.decided(checked, matches, &[message]), body)
            }
            ("thrown?", [_, ..]) => (self.report(checked, &[]), rest),
            _ => return Err(call.error(Code::InvalidForm, "needs something that throws", usage)),
        };
        let word = |text| Form::new(expr.span, FormKind::Symbol(text));
        let mut tried = Forms::new();
        tried.push(word("try"));
        tried.extend_from_slice(body);
        tried.push(self.failed(checked, "nothing was thrown", &[]));
        tried.push(self.list(expr.span, &[word("catch"), class, exception, caught, exception]));
        Ok(self.list(expr.span, &tried))
    }

    /// Expands `(is (fails? body…))` and `(is (fails-with? value body…))`: the host is told in advance which
    /// failure will end the run.
    fn failing(
        &mut self,
        checked: Checked<'a>,
        expr: Form<'a>,
        name: &str,
        args: &'a [Form<'a>],
    ) -> Result<Form<'a>, Diagnostic> {
        let call = Call { name, span: expr.span, args };
        let (wanted, body) = match (name, args) {
            ("fails?", [_, ..]) => (None, args),
            ("fails-with?", [wanted, body @ ..]) if !body.is_empty() => (Some(*wanted), body),
            _ => {
                let usage = usage(name).unwrap_or_default();
                return Err(call.error(Code::InvalidForm, "needs something that fails", usage));
            }
        };
        let key = Form::new(checked.span, FormKind::Keyword("expects"));
        let flag = Form::new(checked.span, FormKind::Bool(true));
        let values = wanted.map_or(Vec::new(), |wanted| vec![wanted]);
        let expects = self.told(checked, &[key, flag], &values);
        let mut items = Forms::new();
        items.push(expects);
        items.extend_from_slice(body);
        items.push(self.failed(checked, "nothing failed", &[]));
        Ok(self.special(checked.span, Special::Do, &items))
    }

    /// Makes `(if test (report) (report failure with values))`.
    fn decided(&mut self, checked: Checked<'a>, test: Form<'a>, values: &[Form<'a>]) -> Form<'a> {
        let (held, failed) = (self.report(checked, &[]), self.failed(checked, "", values));
        self.special(checked.span, Special::If, &[test, held, failed])
    }

    /// Makes the call that reports a failed check.
    fn failed(&self, checked: Checked<'a>, why: &'static str, values: &[Form<'a>]) -> Form<'a> {
        let at = |kind| Form::new(checked.span, kind);
        let mut entries = Forms::new();
        entries.extend([at(FormKind::Keyword("failed")), at(FormKind::Str(why))]);
        if let Some(message) = checked.message {
            entries.extend([at(FormKind::Keyword("message")), self.builtin(checked.span, "str", &[message])]);
        }
        self.told(checked, &entries, values)
    }

    /// Makes the call that reports a passed check.
    fn report(&self, checked: Checked<'a>, entries: &[Form<'a>]) -> Form<'a> {
        self.told(checked, entries, &[])
    }

    /// Makes `(tool/%check {:at offset entries… :values [(pr-str value)…]})`.
    fn told(&self, checked: Checked<'a>, entries: &[Form<'a>], values: &[Form<'a>]) -> Form<'a> {
        let at = |kind| Form::new(checked.span, kind);
        let mut all = Forms::new();
        all.extend([at(FormKind::Keyword("at")), at(FormKind::Int(i64::from(checked.span.start)))]);
        all.extend_from_slice(entries);
        if !values.is_empty() {
            let texts: Forms<'a> =
                values.iter().map(|value| self.builtin(checked.span, "pr-str", &[*value])).collect();
            all.extend([at(FormKind::Keyword("values")), self.vector(checked.span, &texts)]);
        }
        self.tool(checked.span, CHECK_TOOL, &all)
    }

    /// Makes the arguments of the calls of a tool; for an operation of a server, the operation's own arguments.
    fn calls_of(&self, span: Span, tool: &'a str) -> Form<'a> {
        let at = |kind| Form::new(span, kind);
        let calls = self.tool(span, CALLS_TOOL, &[at(FormKind::Keyword("tool")), at(FormKind::Str(tool))]);
        match tool.contains('/') {
            true => self.builtin(span, "mapv", &[at(FormKind::Keyword("args")), calls]),
            false => calls,
        }
    }

    /// Makes `(tool/name {entries…})`.
    fn tool(&self, span: Span, name: &str, entries: &[Form<'a>]) -> Form<'a> {
        let name = bumpalo::format!(in self.arena, "tool/{}", name).into_bump_str();
        self.did(super::MADE_FORM * entries.len());
        let map = Form::new(span, FormKind::Map(self.arena.alloc_slice_copy(entries)));
        self.headed(span, FormKind::Symbol(name), &[map])
    }
}
