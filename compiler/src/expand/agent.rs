//! Forms of programs that work in turns: tasks with their journal, and older spellings of tool calls and definitions.
//!
//! A task looks into the journal before it runs and reports to it afterwards, through the builtins `%task-get` and
//! `%task-put`. Without a journal the first finds nothing and the second returns its value, so `(task id e)` is `e`.

use super::{Call, Expanded, Expander};
use crate::form::{Form, FormKind, Special, split_qualified};
use ptc_bytecode::{Code, Diagnostic};

impl<'a> Expander<'a> {
    /// Expands `(task id e)` to `(let* [id· id known· (%task-get id·)] (if known· (first known·) (%task-put id· e)))`.
    pub(super) fn task_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(2, 2, "(task \"load-rows\" (tool/rows {}))")?;
        let (id, known) = (self.temp("id", call.args[0].span), self.temp("known", call.span));
        let get = self.builtin(call.span, "%task-get", &[id]);
        let first = self.builtin(call.span, "first", &[known]);
        let put = self.builtin(call.span, "%task-put", &[id, call.args[1]]);
        let choice = self.special(call.span, Special::If, &[known, first, put]);
        Ok(self.let_star(call.span, &[id, call.args[0], known, get], &[choice]))
    }

    /// Expands `(step-done id summary)`.
    pub(super) fn step_done_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(2, 2, "(step-done \"load-rows\" \"loaded 44 rows\")")?;
        Ok(self.builtin(call.span, "%step-done", call.args))
    }

    /// Expands `(task-reset id)`.
    pub(super) fn task_reset_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(1, 1, "(task-reset \"load-rows\")")?;
        Ok(self.builtin(call.span, "%task-reset", call.args))
    }

    /// Expands `(call "name" args…)` to `(tool/name args…)`, also `(call "return" v)` and `(call "fail" v)`.
    pub(super) fn call_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(tool/name {:key value})";
        let Some((name, args)) = call.args.split_first() else {
            return Err(call.error(Code::InvalidArity, "needs the name of a tool", usage));
        };
        let FormKind::Str(text) = name.kind else {
            let message = format!(
                "needs the tool's name as text, so that it can be checked before the run, but found {}",
                name.brief()
            );
            let usage = "(call \"name\" {:key value}), or choose with (case x 1 (tool/a {}) (tool/b {}))";
            return Err(call.error_at(name.span, Code::InvalidForm, message, usage));
        };
        let inner = Call { args, ..call };
        match text {
            "return" => inner.takes(1, 1, "(return value)").map(|()| self.respell(inner, Special::Return)),
            "fail" => inner.takes(1, 1, "(fail \"reason\")").map(|()| self.respell(inner, Special::Fail)),
            "" => Err(call.error_at(name.span, Code::InvalidForm, "needs the name of a tool", usage)),
            _ => {
                let tool = bumpalo::format!(in self.arena, "tool/{}", text).into_bump_str();
                let head = FormKind::Symbol(tool);
                Ok(self.headed_at(call.span, Form::new(name.span, head), args))
            }
        }
    }

    /// Expands `(memory/put :k v)`, which defines `k` and returns `v`.
    pub(super) fn memory_put_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(memory/put :name value), or (def name value)";
        call.takes(2, 2, usage)?;
        let name = remembered(call, usage)?;
        let name = Form::new(call.args[0].span, FormKind::Symbol(name));
        let value = self.temp("value", call.args[1].span);
        let def = self.special(call.span, Special::Def, &[name, value]);
        Ok(self.let_star(call.span, &[value, call.args[1]], &[def, value]))
    }

    /// Expands `(memory/get :k)` and `(memory/get :k default)`: the value of the definition `k`, or nil.
    pub(super) fn memory_get_form(&mut self, call: Call<'_, 'a>) -> Expanded<'a> {
        let usage = "(memory/get :name)";
        call.takes(1, 2, usage)?;
        let name = remembered(call, usage)?;
        let name = bumpalo::format!(in self.arena, "memory/{}", name).into_bump_str();
        let read = Form::new(call.args[0].span, FormKind::Symbol(name));
        let [_, default] = call.args else { return Ok(read) };
        let value = self.temp("value", call.span);
        let is_nil = self.builtin(call.span, "nil?", &[value]);
        let choice = self.special(call.span, Special::If, &[is_nil, *default, value]);
        Ok(self.let_star(call.span, &[value, read], &[choice]))
    }
}

/// Returns the name that a `memory/` form gives as a keyword, text or quoted symbol. It must be known before the
/// run, as for every definition.
fn remembered<'a>(call: Call<'_, 'a>, usage: &str) -> Result<&'a str, Diagnostic> {
    let form = &call.args[0];
    let name = match form.kind {
        FormKind::Keyword(name) | FormKind::Str(name) => Some(name),
        FormKind::Quote(Form { kind: FormKind::Symbol(name), .. }) => Some(*name),
        _ => None,
    };
    let is_name = |name: &str| {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"+-*<>=?!_.$'".contains(&b);
        name.bytes().next().is_some_and(|b| !b.is_ascii_digit()) && name.bytes().all(allowed)
    };
    match name {
        Some(name) if is_name(name) && split_qualified(name).is_none() => Ok(name),
        Some(_) => {
            let message = format!("cannot use {} as a name", form.brief());
            Err(call.error_at(form.span, Code::InvalidForm, message, usage))
        }
        None => {
            let message = format!("needs the name itself, known before the run, but found {}", form.brief());
            let usage =
                "(memory/put :name value); for computed keys keep a map: (def state (assoc state k v))";
            Err(call.error_at(form.span, Code::InvalidForm, message, usage))
        }
    }
}
