//! Threading: `->` and its variants become one flat `let*`, however many steps there are. Only loops that can run as one
//! stand inside each other.

use super::{Call, Expanded, Expander, Forms, MAX_CLAUSES};
use crate::form::{Form, FormKind, Special};
use ptc_bytecode::{Code, Diagnostic, FormName};

/// The place where a step takes the value.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    First,
    Last,
}

impl<'a> Expander<'a> {
    pub(super) fn thread_form(&mut self, call: Call<'_, 'a>, place: Place) -> Expanded<'a> {
        let (first, steps) = operand(call)?;
        let mut value = first;
        let mut bindings = Forms::new();
        let mut temp = None;
        let (mut spliced, mut nested) = (0, 0);
        for (done, step) in steps.iter().enumerate() {
            if takes_syntax(step, place) {
                // The step may not evaluate its operand at all, or may bind names the operand uses: it gets the
                // form itself, together with the bindings so far.
                spliced += 1;
                if spliced > MAX_CLAUSES {
                    let message = format!("has more than {MAX_CLAUSES} steps that are special forms");
                    return Err(call.error_at(step.span, Code::InvalidThreadForm, message, "several forms"));
                }
                let whole = match takes_step(step) {
                    true => self.nested(call, first, &steps[..done], place)?,
                    false => self.let_star(call.span, &bindings, &[value]),
                };
                bindings.clear();
                value = self.insert(call, step, whole, place)?;
                continue;
            }
            if nested < MAX_NESTED && place == Place::Last && is_loop(&value) && is_loop_step(step) {
                nested += 1;
            } else if !is_atomic(&value) {
                nested = 0;
                let name = *temp.get_or_insert_with(|| self.temp("it", call.span));
                bindings.extend([name, value]);
                value = name;
            }
            value = self.insert(call, step, value, place)?;
        }
        Ok(self.let_star(call.span, &bindings, &[value]))
    }

    /// Nests the steps as they would be written without threading: `(g 1 (f x))`.
    fn nested(&self, call: Call<'_, 'a>, first: Form<'a>, steps: &[Form<'a>], place: Place) -> Expanded<'a> {
        // Deeper nesting could not be written by hand either.
        if let Some(step) = steps.get(MAX_CLAUSES) {
            let message = format!("has more than {MAX_CLAUSES} steps before one that threads itself");
            return Err(call.error_at(step.span, Code::InvalidThreadForm, message, "several forms"));
        }
        steps.iter().try_fold(first, |value, step| self.insert(call, step, value, place))
    }

    pub(super) fn as_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(as-> x it (f it) (g it))";
        let [value, name, steps @ ..] = call.args else {
            return Err(call.error(Code::InvalidThreadForm, "needs a value and a name", usage));
        };
        if !matches!(name.kind, FormKind::Symbol(_) | FormKind::Vector(_) | FormKind::Map(_)) {
            let message = format!("needs a name after the value, but found {}", name.kind_name());
            return Err(call.error_at(name.span, Code::InvalidThreadForm, message, usage));
        }
        let Some((last, steps)) = steps.split_last() else {
            self.bind(*name, *value, &mut Forms::new())?;
            return Ok(*value);
        };
        let mut bindings = Forms::new();
        self.bind(*name, *value, &mut bindings)?;
        for step in steps {
            self.bind(*name, *step, &mut bindings)?;
        }
        Ok(self.let_star(call.span, &bindings, &[*last]))
    }

    pub(super) fn cond_thread_form(&mut self, call: Call<'_, 'a>, place: Place) -> Expanded<'a> {
        let (value, clauses) = operand(call)?;
        if clauses.len() % 2 == 1 {
            let last = clauses[clauses.len() - 1];
            let message = format!("needs test and step in pairs, but {} has no step", last.brief());
            let usage = format!("({} x test (f))", call.name);
            return Err(call.error_at(last.span, Code::InvalidThreadForm, message, &usage));
        }
        let it = self.temp("it", value.span);
        let mut bindings = Forms::new();
        bindings.extend([it, value]);
        for clause in clauses.chunks_exact(2) {
            let step = self.insert(call, &clause[1], it, place)?;
            bindings.extend([it, self.special(clause[1].span, Special::If, &[clause[0], step, it])]);
        }
        Ok(self.let_star(call.span, &bindings, &[it]))
    }

    pub(super) fn some_thread_form(&mut self, call: Call<'_, 'a>, place: Place) -> Expanded<'a> {
        let (value, steps) = operand(call)?;
        if steps.is_empty() {
            return Ok(value);
        }
        let it = self.temp("it", value.span);
        let mut bindings = Forms::new();
        bindings.push(it);
        let mut value = value;
        for step in steps {
            bindings.extend([value, it]);
            let next = self.insert(call, step, it, place)?;
            let is_nil = self.builtin(step.span, "nil?", &[it]);
            value = self.special(step.span, Special::If, &[is_nil, self.nil(step.span), next]);
        }
        // The last step is the body, so that `recur` there is in tail position.
        bindings.pop();
        Ok(self.let_star(call.span, &bindings, &[value]))
    }

    /// Expands `(doto x (f a) g)`, which runs the steps on `x` and returns `x`.
    pub(super) fn doto_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let (value, steps) = operand(call)?;
        let it = self.temp("it", value.span);
        let mut body = Forms::new();
        for step in steps {
            body.push(self.insert(call, step, it, Place::First)?);
        }
        body.push(it);
        Ok(self.let_star(call.span, &[it, value], &body))
    }

    /// Inserts the value into the step: as an operand of a list, else as the argument of a call of the step.
    fn insert(&self, call: Call<'_, 'a>, step: &Form<'a>, value: Form<'a>, place: Place) -> Expanded<'a> {
        let FormKind::List(items) = step.kind else { return Ok(self.list(step.span, &[*step, value])) };
        let Some((head, args)) = items.split_first() else {
            let message = "has an empty list as a step";
            let usage = format!("({} x (f a) g)", call.name);
            return Err(call.error_at(step.span, Code::InvalidThreadForm, message, &usage));
        };
        let mut out = Forms::with_capacity(items.len() + 1);
        out.push(*head);
        match place {
            Place::First => {
                out.push(value);
                out.extend_from_slice(args);
            }
            Place::Last => {
                out.extend_from_slice(args);
                out.push(value);
            }
        }
        Ok(self.list(step.span, &out))
    }
}

fn operand<'a>(call: Call<'_, 'a>) -> Result<(Form<'a>, &'a [Form<'a>]), Diagnostic> {
    match call.args {
        [value, rest @ ..] => Ok((*value, rest)),
        [] => {
            let usage = match call.name {
                "cond->" | "cond->>" => format!("({} x test (f a))", call.name),
                _ => format!("({} x (f a) g)", call.name),
            };
            Err(call.error(Code::InvalidThreadForm, "needs a value to start from", &usage))
        }
    }
}

/// True if a step, with the collection as its last operand, is a loop over it that evaluates nothing else before: its
/// function and its first value are literals. Written inside each other, such loops can run as one.
fn is_loop_step(step: &Form<'_>) -> bool {
    let FormKind::List([Form { kind: FormKind::Symbol(head), .. }, f, rest @ ..]) = step.kind else {
        return false;
    };
    let is_function = match f.kind {
        FormKind::ShortFn(_) => true,
        FormKind::List([Form { kind: FormKind::Symbol(name), .. }, ..]) => *name == "fn",
        _ => false,
    };
    is_function
        && match rest {
            [] => LOOPS.contains(head),
            [init] => *head == "reduce" && is_literal(init),
            _ => false,
        }
}

/// True for such a loop, with its collection, that gives a collection.
fn is_loop(value: &Form<'_>) -> bool {
    match value.kind {
        FormKind::List([before @ .., _]) => {
            is_loop_step(&Form { span: value.span, kind: FormKind::List(before) }) && before.len() == 2
        }
        _ => false,
    }
}

/// The functions that give a collection of what they make of each element.
const LOOPS: &[&str] = &["map", "mapv", "filter", "filterv", "remove", "keep"];

/// Maximum loops written inside another.
const MAX_NESTED: usize = 3;

/// True if evaluating the form has no effect, cannot fault and gives the same anywhere.
fn is_literal(form: &Form<'_>) -> bool {
    match form.kind {
        FormKind::Nil | FormKind::Bool(_) | FormKind::Int(_) | FormKind::Float(_) => true,
        FormKind::Str(_) | FormKind::Keyword(_) => true,
        FormKind::Vector(items) | FormKind::Map(items) | FormKind::Set(items) => items.is_empty(),
        _ => false,
    }
}

/// True if evaluating the form again, or in another place, makes no difference.
fn is_atomic(form: &Form<'_>) -> bool {
    !matches!(
        form.kind,
        FormKind::List(_) | FormKind::Vector(_) | FormKind::Map(_) | FormKind::Set(_) | FormKind::ShortFn(_)
    )
}

/// True if the step threads another value into its last operand, so that its shape matters: `(-> x (f a))` calls
/// `f` with `x` first, however `(f a)` got there.
fn takes_step(step: &Form<'_>) -> bool {
    let FormKind::List([Form { kind: FormKind::Symbol(head), .. }, ..]) = step.kind else { return false };
    matches!(
        FormName::lookup(head),
        Some(
            FormName::ThreadFirst
                | FormName::ThreadLast
                | FormName::CondFirst
                | FormName::CondLast
                | FormName::SomeFirst
                | FormName::SomeLast
                | FormName::Doto
        )
    )
}

/// True if the step is a special form that does more with its operand than evaluate it first.
fn takes_syntax(step: &Form<'_>, place: Place) -> bool {
    let FormKind::List([Form { kind: FormKind::Symbol(head), .. }, rest @ ..]) = step.kind else {
        return false;
    };
    let Some(name) = FormName::lookup(head) else { return false };
    let evaluates_first = matches!(
        name,
        FormName::If
            | FormName::IfNot
            | FormName::When
            | FormName::WhenNot
            | FormName::And
            | FormName::Or
            | FormName::Do
            | FormName::Case
            | FormName::Cond
            | FormName::ThreadFirst
            | FormName::ThreadLast
            | FormName::ThreadAs
            | FormName::CondFirst
            | FormName::CondLast
            | FormName::SomeFirst
            | FormName::SomeLast
            | FormName::Doto
            | FormName::Return
            | FormName::Fail
            | FormName::Assert
    );
    !(evaluates_first && (place == Place::First || rest.is_empty()))
}
