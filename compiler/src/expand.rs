//! Expansion of the language's forms into special forms, one step at a time.
//!
//! The resolver calls [`expand`] on each list whose head is a name that no local shadows, and again on the result until
//! the head is a [`Special`]. No definition of a program can interfere: heads made here are [`FormKind::Special`] and
//! [`FormKind::Builtin`], never symbols, and temporaries have a `·` in their name, which the reader does not accept.
//!
//! Forms that a program can make long stay flat in the result (`cond`, threading, `let`), because later passes recurse
//! over forms; forms that must nest (`for` clauses) are capped.

mod agent;
mod binding;
mod condition;
mod conditional;
mod exception;
mod function;
mod iterate;
mod testing;
mod thread;

use crate::form::{Form, FormKind, Special};
use bumpalo::Bump;
use ptc_bytecode::{Code, Diagnostic, FormName, Span};
use smallvec::SmallVec;
use std::cell::Cell;

pub use function::{expand_short_fn, is_placeholder};

/// Maximum nesting of clauses of one form.
const MAX_CLAUSES: usize = 64;

/// Maximum temporaries of one program, far above any program written by hand; it ends expansions that double with
/// every level.
const MAX_TEMPS: u32 = 100_000;

/// Maximum names and patterns that one program may bind; it ends sources that consist of patterns only.
const MAX_BOUND: u32 = 200_000;

/// Units of work per form that expansion writes.
const MADE_FORM: usize = 2;

/// Context of expansion: room for new forms, and names that programs cannot write.
pub struct Expander<'a> {
    /// Arena for new forms.
    pub arena: &'a Bump,
    /// Number of the next temporary.
    pub next_temp: u32,
    /// Number of names and patterns bound so far.
    pub bound: u32,
    /// Units of work done since they were last taken.
    work: Cell<usize>,
    /// True if the forms of the core library (`%for`, `%set!`, `%exit`, `%break`) are known.
    pub core: bool,
    /// True if the forms of test files (`is`, `testing`) are known.
    pub in_test: bool,
}

/// Forms under construction; most lists are short.
type Forms<'a> = SmallVec<[Form<'a>; 8]>;
type Expanded<'a> = Result<Form<'a>, Diagnostic>;

/// True if `name` heads a special form or macro, so that it cannot be used as a value.
pub fn is_form_name(name: &str) -> bool {
    FormName::lookup(name).is_some()
}

/// True if a local of this name replaces the form in call position.
pub fn is_shadowable(name: &str) -> bool {
    FormName::lookup(name).is_none_or(|form| !form.row().is_fixed)
}

/// Expands `form`, a list headed by the symbol `head`, by one step; `None` if `head` is not a form.
///
/// The result may itself need expanding. Operands are passed on as they are.
pub fn expand<'a>(head: &str, form: Form<'a>, cx: &mut Expander<'a>) -> Result<Option<Form<'a>>, Diagnostic> {
    let FormKind::List([_, args @ ..]) = form.kind else { return Ok(None) };
    let Some(name) = FormName::lookup(head) else {
        return match cx.core && head.starts_with('%') {
            true => cx.core_form(head, form.span, args),
            false if cx.in_test => cx.test_form(Call { name: head, span: form.span, args }),
            false => Ok(None),
        };
    };
    let call = Call { name: head, span: form.span, args };
    cx.check_size(form.span)?;
    match name {
        FormName::If => cx.if_form(call),
        FormName::Do => Ok(cx.respell(call, Special::Do)),
        FormName::And => Ok(cx.respell(call, Special::And)),
        FormName::Or => Ok(cx.respell(call, Special::Or)),
        FormName::Recur => Ok(cx.respell(call, Special::Recur)),
        FormName::Quote => call.takes(1, 1, "(quote name)").map(|()| cx.respell(call, Special::Quote)),
        FormName::Var => cx.var_form(call),
        FormName::Return => call.takes(1, 1, "(return value)").map(|()| cx.respell(call, Special::Return)),
        FormName::Fail => call.takes(1, 1, "(fail \"reason\")").map(|()| cx.respell(call, Special::Fail)),
        FormName::Try => cx.try_form(call),
        FormName::Throw => {
            call.takes(1, 1, "(throw (ex-info \"reason\" {}))").map(|()| cx.respell(call, Special::Throw))
        }
        FormName::Let => cx.let_form(call),
        FormName::Loop => cx.loop_form(call),
        FormName::Fn => cx.fn_form(call),
        FormName::Def => cx.def_form(call, Special::Def),
        FormName::DefOnce => cx.def_form(call, Special::DefOnce),
        FormName::Defn | FormName::DefnPrivate => cx.defn_form(call),
        FormName::Letfn => cx.letfn_form(call),
        FormName::Declare => cx.declare_form(call),
        FormName::When => cx.when_form(call, true),
        FormName::WhenNot => cx.when_form(call, false),
        FormName::IfNot => cx.if_not_form(call),
        FormName::Cond => cx.cond_form(call),
        FormName::Case => cx.case_form(call),
        FormName::Condp => cx.condp_form(call),
        FormName::Assert => cx.assert_form(call),
        FormName::Ns | FormName::Require => Err(call.error(
            Code::InvalidForm,
            "belongs at the top level of a program, not inside another form",
            "(require '[clojure.string :as s]) before the other forms",
        )),
        FormName::LazySeq => Ok(cx.lazy_seq_form(call)),
        FormName::Comment => Ok(Form::new(call.span, FormKind::Nil)),
        FormName::IfLet => cx.if_let_form(call, binding::Test::Truthy),
        FormName::IfSome => cx.if_let_form(call, binding::Test::NotNil),
        FormName::WhenLet => cx.when_let_form(call, binding::Test::Truthy),
        FormName::WhenSome => cx.when_let_form(call, binding::Test::NotNil),
        FormName::WhenFirst => cx.when_first_form(call),
        FormName::ThreadFirst => cx.thread_form(call, thread::Place::First),
        FormName::ThreadLast => cx.thread_form(call, thread::Place::Last),
        FormName::ThreadAs => cx.as_form(call),
        FormName::CondFirst => cx.cond_thread_form(call, thread::Place::First),
        FormName::CondLast => cx.cond_thread_form(call, thread::Place::Last),
        FormName::SomeFirst => cx.some_thread_form(call, thread::Place::First),
        FormName::SomeLast => cx.some_thread_form(call, thread::Place::Last),
        FormName::Doto => cx.doto_form(call),
        FormName::For => cx.for_form(call),
        FormName::Doseq => cx.doseq_form(call),
        FormName::Dotimes => cx.dotimes_form(call),
        FormName::While => cx.while_form(call),
        FormName::Task => cx.task_form(call),
        FormName::StepDone => cx.step_done_form(call),
        FormName::TaskReset => cx.task_reset_form(call),
        FormName::ToolCall => cx.call_form(call),
        FormName::MemoryPut => cx.memory_put_form(call),
        FormName::MemoryGet => cx.memory_get_form(call),
    }
    .map(Some)
}

/// A form being expanded: `(name args…)`.
#[derive(Clone, Copy)]
struct Call<'s, 'a> {
    name: &'s str,
    span: Span,
    args: &'a [Form<'a>],
}

impl<'a> Call<'_, 'a> {
    /// Checks the number of operands; `usage` shows the correct form.
    fn takes(&self, min: usize, max: usize, usage: &str) -> Result<(), Diagnostic> {
        if (min..=max).contains(&self.args.len()) {
            return Ok(());
        }
        let (min_text, max_text) = (min.to_string(), max.to_string());
        let count = match (min, max) {
            _ if max == usize::MAX => format!("at least {min_text}"),
            _ if min == max => min_text,
            _ => format!("{min_text} to {max_text}"),
        };
        let noun = if min == 1 && (max == 1 || max == usize::MAX) { "operand" } else { "operands" };
        Err(self.error(
            Code::InvalidArity,
            format!("takes {count} {noun}, but got {}", self.args.len()),
            usage,
        ))
    }

    /// Makes an error about the whole form; `message` follows its name.
    fn error(&self, code: Code, message: impl AsRef<str>, usage: &str) -> Diagnostic {
        self.error_at(self.span, code, message, usage)
    }

    /// Makes an error about a part of the form.
    fn error_at(&self, span: Span, code: Code, message: impl AsRef<str>, usage: &str) -> Diagnostic {
        Diagnostic::error(code, span, format!("`{}` {}", self.name, message.as_ref()))
            .hint(format!("write {usage}"))
    }
}

impl<'a> Expander<'a> {
    /// Makes an expander whose forms live in `arena`. `core` enables the core library's own forms.
    pub fn new(arena: &'a Bump, core: bool) -> Expander<'a> {
        Expander { arena, next_temp: 0, bound: 0, work: Cell::new(0), core, in_test: false }
    }

    /// Enables the forms of test files.
    #[must_use]
    pub fn in_test(mut self, in_test: bool) -> Expander<'a> {
        self.in_test = in_test;
        self
    }

    /// Returns the units of work done since the last call: each step of expansion costs in proportion to the forms
    /// it makes and searches.
    pub fn take_work(&self) -> usize {
        self.work.take()
    }

    /// Counts work.
    fn did(&self, units: usize) {
        self.work.set(self.work.get().saturating_add(units));
    }

    /// Checks that the program may grow further, before each form and each pattern.
    fn check_size(&self, span: Span) -> Result<(), Diagnostic> {
        if self.next_temp <= MAX_TEMPS && self.bound <= MAX_BOUND {
            return Ok(());
        }
        let message = "the program grows too large when expanded";
        Err(Diagnostic::error(Code::CompileMemoryExceeded, span, message)
            .hint("take patterns with defaults out of nested `loop` bindings, and bind fewer names"))
    }

    /// Makes a symbol that no program can write.
    fn temp(&mut self, stem: &str, span: Span) -> Form<'a> {
        let number = self.next_temp;
        self.next_temp += 1;
        let name = bumpalo::format!(in self.arena, "{}·{}", stem, number).into_bump_str();
        Form::new(span, FormKind::Symbol(name))
    }

    fn list(&self, span: Span, items: &[Form<'a>]) -> Form<'a> {
        self.did(MADE_FORM * items.len());
        Form::new(span, FormKind::List(self.arena.alloc_slice_copy(items)))
    }

    fn vector(&self, span: Span, items: &[Form<'a>]) -> Form<'a> {
        self.did(MADE_FORM * items.len());
        Form::new(span, FormKind::Vector(self.arena.alloc_slice_copy(items)))
    }

    /// Makes `(special items…)`.
    fn special(&self, span: Span, special: Special, items: &[Form<'a>]) -> Form<'a> {
        self.headed(span, FormKind::Special(special), items)
    }

    /// Makes `(builtin args…)`.
    fn builtin(&self, span: Span, name: &'static str, args: &[Form<'a>]) -> Form<'a> {
        self.headed(span, FormKind::Builtin(name), args)
    }

    fn headed(&self, span: Span, head: FormKind<'a>, rest: &[Form<'a>]) -> Form<'a> {
        self.headed_at(span, Form::new(span, head), rest)
    }

    fn headed_at(&self, span: Span, head: Form<'a>, rest: &[Form<'a>]) -> Form<'a> {
        self.did(MADE_FORM * (rest.len() + 1));
        let items =
            self.arena.alloc_slice_fill_with(rest.len() + 1, |i| if i == 0 { head } else { rest[i - 1] });
        Form::new(span, FormKind::List(items))
    }

    /// Replaces the head of a list by a special form.
    fn respell(&self, call: Call<'_, 'a>, special: Special) -> Form<'a> {
        self.special(call.span, special, call.args)
    }

    /// Expands `(var name)` into `#'name`.
    fn var_form(&self, call: Call<'_, 'a>) -> Expanded<'a> {
        call.takes(1, 1, "(var name)")?;
        match call.args {
            [Form { kind: FormKind::Symbol(name), .. }] => Ok(Form::new(call.span, FormKind::VarRef(name))),
            _ => Err(call.error(Code::InvalidForm, "takes a name", "(var name)")),
        }
    }

    /// Joins forms in sequence into one form.
    fn body(&self, span: Span, forms: &[Form<'a>]) -> Form<'a> {
        match forms {
            [] => Form::new(span, FormKind::Nil),
            [form] => *form,
            _ => self.special(span, Special::Do, forms),
        }
    }

    /// Makes `(let* [bindings…] body…)`, or just the body if there is nothing to bind.
    fn let_star(&self, span: Span, bindings: &[Form<'a>], body: &[Form<'a>]) -> Form<'a> {
        if bindings.is_empty() {
            return self.body(span, body);
        }
        let mut items = Forms::with_capacity(body.len() + 1);
        items.push(self.vector(span, bindings));
        items.extend_from_slice(body);
        self.special(span, Special::Let, &items)
    }

    fn nil(&self, span: Span) -> Form<'a> {
        Form::new(span, FormKind::Nil)
    }

    /// Expands the forms reserved for the core library.
    fn core_form(
        &mut self,
        head: &str,
        span: Span,
        args: &'a [Form<'a>],
    ) -> Result<Option<Form<'a>>, Diagnostic> {
        let call = Call { name: head, span, args };
        match head {
            "%for" => self.each_form(call),
            "%set!" => call.takes(2, 2, "(%set! name value)").map(|()| self.respell(call, Special::Assign)),
            "%exit" => call.takes(1, 1, "(%exit value)").map(|()| self.respell(call, Special::Exit)),
            "%deliver" => call.takes(1, 1, "(%deliver value)").map(|()| self.respell(call, Special::Deliver)),
            "%break" => call.takes(0, 0, "(%break)").map(|()| self.respell(call, Special::Break)),
            _ => return Ok(None),
        }
        .map(Some)
    }
}

#[cfg(test)]
mod tests;
