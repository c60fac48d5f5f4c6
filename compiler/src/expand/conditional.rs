//! Expansion of `if` and the forms based on it.

use super::{Call, Expanded, Expander, Forms, MAX_CLAUSES, is_form_name};
use crate::duplicate::Fingerprints;
use crate::form::{Form, FormKind, Special};
use ptc_bytecode::{Code, Diagnostic};

impl<'a> Expander<'a> {
    pub(super) fn if_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(2, 3, "(if test then else)")?;
        Ok(self.respell(call, Special::If))
    }

    pub(super) fn if_not_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(2, 3, "(if-not test then else)")?;
        let otherwise = call.args.get(2).copied().unwrap_or(self.nil(call.span));
        Ok(self.special(call.span, Special::If, &[call.args[0], otherwise, call.args[1]]))
    }

    /// Expands `when` and `when-not`; `wanted` is the outcome of the test that runs the body.
    pub(super) fn when_form(&mut self, call: Call<'_, 'a>, wanted: bool) -> Expanded<'a> {
        call.takes(1, usize::MAX, &format!("({} test body)", call.name))?;
        let body = self.body(call.span, &call.args[1..]);
        let nil = self.nil(call.span);
        let branches = if wanted { [call.args[0], body, nil] } else { [call.args[0], nil, body] };
        Ok(self.special(call.span, Special::If, &branches))
    }

    pub(super) fn cond_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let clauses = call.args;
        if clauses.len() % 2 == 1 {
            let last = clauses[clauses.len() - 1];
            return Err(Diagnostic::error(
                Code::InvalidCondForm,
                last.span,
                format!("`cond` needs test and result in pairs, but {} has no result", last.brief()),
            )
            .hint("write (cond test result :else default)"));
        }
        let (rest, default) = match clauses {
            [] => return Ok(self.nil(call.span)),
            // An `:else` at the end is the default and needs no test.
            [rest @ .., Form { kind: FormKind::Keyword(_) | FormKind::Bool(true), .. }, value] => {
                (rest, *value)
            }
            _ => (clauses, self.nil(call.span)),
        };
        Ok(self.cond_star(call, rest, default))
    }

    /// Makes `(cond* clauses… default)`, or just the default if there are no clauses.
    fn cond_star(&self, call: Call<'_, 'a>, clauses: &[Form<'a>], default: Form<'a>) -> Form<'a> {
        if clauses.is_empty() {
            return default;
        }
        let mut items = Forms::with_capacity(clauses.len() + 1);
        items.extend_from_slice(clauses);
        items.push(default);
        self.special(call.span, Special::Cond, &items)
    }

    pub(super) fn case_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(case x 1 :one (2 3) :few :other)";
        let Some((&value, clauses)) = call.args.split_first() else {
            return Err(call.error(Code::InvalidForm, "needs a value to look at", usage));
        };
        let (clauses, default) = match clauses.len() % 2 {
            1 => (&clauses[..clauses.len() - 1], clauses[clauses.len() - 1]),
            _ => (clauses, self.nil(call.span)),
        };
        let name = self.temp("case", value.span);
        let mut tests = Forms::with_capacity(clauses.len());
        let mut constants: Vec<Form<'a>> = Vec::with_capacity(clauses.len() / 2);
        for clause in clauses.chunks_exact(2) {
            let start = constants.len();
            match clause[0].kind {
                FormKind::List([]) => {
                    let message = "has an empty group of constants";
                    return Err(call.error_at(clause[0].span, Code::InvalidForm, message, usage));
                }
                FormKind::List(group) => constants.extend_from_slice(group),
                _ => constants.push(clause[0]),
            }
            let mut equals = Forms::new();
            for constant in &constants[start..] {
                check_constant(constant)?;
                equals.push(self.builtin(constant.span, "=", &[name, self.constant(*constant)]));
            }
            tests.push(match equals[..] {
                [test] => test,
                _ => self.special(clause[0].span, Special::Or, &equals),
            });
            tests.push(clause[1]);
        }
        let mut prints = Fingerprints::default();
        let repeated = prints.find(constants.iter());
        self.did(prints.work());
        if let Some((_, again)) = repeated {
            return Err(Diagnostic::error(
                Code::InvalidForm,
                again.span,
                format!("`case` lists the constant {} twice", again.brief()),
            )
            .hint("remove the second clause, which could never be reached"));
        }
        let choice = self.cond_star(call, &tests, default);
        Ok(self.let_star(call.span, &[name, value], &[choice]))
    }

    /// Makes a form that evaluates to a constant.
    fn constant(&self, form: Form<'a>) -> Form<'a> {
        match form.kind {
            FormKind::Vector(_) | FormKind::Map(_) | FormKind::Set(_) | FormKind::List(_) => {
                Form::new(form.span, FormKind::Quote(self.arena.alloc(form)))
            }
            _ => form,
        }
    }

    pub(super) fn condp_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(condp = x 1 :one 2 :two :other)";
        let [pred, value, clauses @ ..] = call.args else {
            return Err(call.error(Code::InvalidForm, "needs a predicate, a value and clauses", usage));
        };
        if clauses.is_empty() {
            return Err(call.error(Code::InvalidForm, "needs at least one clause", usage));
        }
        let mut bindings = Forms::new();
        // A name stays in call position, so that a builtin is still recognised.
        let pred = match pred.kind {
            FormKind::Symbol(name) if !is_form_name(name) => *pred,
            _ => {
                let temp = self.temp("pred", pred.span);
                bindings.extend([temp, *pred]);
                temp
            }
        };
        let name = self.temp("condp", value.span);
        bindings.extend([name, *value]);
        let choice = self.condp_clauses(call, pred, name, clauses)?;
        Ok(self.let_star(call.span, &bindings, &[choice]))
    }

    fn condp_clauses(
        &mut self,
        call: Call<'_, 'a>,
        pred: Form<'a>,
        value: Form<'a>,
        mut clauses: &'a [Form<'a>],
    ) -> Expanded<'a> {
        // Runs of plain clauses, each but the last ended by a `:>>` clause, which has to bind the outcome of its
        // test and so nests the clauses after it.
        let mut runs: Vec<(Forms<'a>, Option<[Form<'a>; 3]>)> = Vec::new();
        let mut run = Forms::new();
        let mut default = self.nil(call.span);
        loop {
            match clauses {
                [] => break,
                [only] => {
                    default = *only;
                    break;
                }
                [test, Form { kind: FormKind::Keyword(">>"), .. }, f, rest @ ..] => {
                    let holds = self.list(test.span, &[pred, *test, value]);
                    let outcome = self.temp("holds", test.span);
                    runs.push((std::mem::take(&mut run), Some([outcome, holds, *f])));
                    clauses = rest;
                }
                [test, Form { kind: FormKind::Keyword(">>"), .. }] => {
                    let message = "needs a function after `:>>`";
                    let usage = "(condp some xs #{1 2} :>> inc :none)";
                    return Err(call.error_at(test.span, Code::InvalidForm, message, usage));
                }
                [test, result, rest @ ..] => {
                    run.push(self.list(test.span, &[pred, *test, value]));
                    run.push(*result);
                    clauses = rest;
                }
            }
        }
        if runs.len() > MAX_CLAUSES {
            let message = format!("has more than {MAX_CLAUSES} `:>>` clauses");
            return Err(call.error(Code::InvalidForm, message, "plain clauses, or several `condp` forms"));
        }
        runs.push((run, None));
        let mut result = default;
        for (run, last) in runs.into_iter().rev() {
            if let Some([outcome, holds, f]) = last {
                let then = self.list(f.span, &[f, outcome]);
                let choice = self.special(f.span, Special::If, &[outcome, then, result]);
                result = self.let_star(f.span, &[outcome, holds], &[choice]);
            }
            result = self.cond_star(call, &run, result);
        }
        Ok(result)
    }

    /// Expands `(assert test message?)` into nil, or a fault that shows the test as written.
    pub(super) fn assert_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(1, 2, "(assert test \"message\")")?;
        // The whole test is printed before it is cut.
        self.did(call.args[0].span.bytes());
        let text = self.arena.alloc_str(&call.args[0].brief());
        let mut parts = Forms::new();
        parts.push(Form::new(call.args[0].span, FormKind::Str(text)));
        parts.extend_from_slice(&call.args[1..]);
        let failed = self.builtin(call.span, "%assert-failed", &parts);
        Ok(self.special(call.span, Special::If, &[call.args[0], self.nil(call.span), failed]))
    }
}

fn check_constant(form: &Form<'_>) -> Result<(), Diagnostic> {
    let problem = |message: String| Diagnostic::error(Code::InvalidForm, form.span, message);
    match form.kind {
        FormKind::Symbol(name) => {
            Err(problem(format!("`case` compares with constants, and `{name}` is a name"))
                .hint(format!("write :{name} or \"{name}\" for a constant, or (cond (= x {name}) …)")))
        }
        FormKind::Quote(quoted) => Err(problem("`case` constants are not quoted".to_owned())
            .hint(format!("write {} without the quote", quoted.brief()))),
        FormKind::Regex(_) | FormKind::ShortFn(_) | FormKind::VarRef(_) => {
            Err(problem(format!("`case` compares with constants, and this is {}", form.kind_name()))
                .hint("use `cond` with tests, such as (cond (re-find #\"a\" s) …)"))
        }
        _ => Ok(()),
    }
}
