//! Resolution of special forms after expansion, which has checked their shape and reports the user's mistakes.

use super::{Resolver, Target};
use crate::form::{Form, FormKind, Special};
use crate::resolved::{Constant, Kind, LocalId, Name, Node};
use bumpalo::collections::Vec as ArenaVec;
use ptc_bytecode::{Code, Diagnostic, Span};

impl<'a> Resolver<'a, '_> {
    pub(super) fn special(
        &mut self,
        special: Special,
        form: Form<'a>,
        args: &'a [Form<'a>],
        tail: bool,
    ) -> Kind<'a> {
        match (special, args) {
            (Special::If, [test, then]) => self.if_form(form, test, then, None, tail),
            (Special::If, [test, then, otherwise]) => self.if_form(form, test, then, Some(otherwise), tail),
            (Special::Do, _) => self.do_form(args, tail),
            (Special::Let, [Form { kind: FormKind::Vector(bindings), .. }, body @ ..]) => {
                self.let_form(bindings, body, tail)
            }
            (Special::Loop, [Form { kind: FormKind::Vector(bindings), .. }, body @ ..]) => {
                self.loop_form(bindings, body)
            }
            (Special::Recur, _) => self.recur(form, args, tail),
            (Special::Fn, _) => self.function(form, args, None, None),
            (
                Special::Def | Special::DefOnce,
                [target @ Form { kind: FormKind::Symbol(name), .. }, value @ ..],
            ) => self.define(form, target, name, value, special == Special::DefOnce),
            (Special::And, _) => self.and_or(args, tail, Constant::Bool(true), Kind::And),
            (Special::Or, _) => self.and_or(args, tail, Constant::Nil, Kind::Or),
            (Special::Cond, _) => self.cond(args, tail),
            (Special::Quote, [quoted]) => Kind::Const(self.quoted(quoted)),
            (Special::Return, [value]) => Kind::Finish(self.operand(value)),
            (Special::Fail, [value]) => Kind::Fail(self.operand(value)),
            (Special::Throw, [value]) => Kind::Throw(self.operand(value)),
            (Special::Try, [body, handler]) => self.try_form(body, handler),
            (Special::Exit, [value]) => Kind::Exit(self.operand(value)),
            (Special::Deliver, [value]) => Kind::Deliver(self.operand(value)),
            (Special::Each, [Form { kind: FormKind::Vector([item, coll]), .. }, body @ ..]) => {
                self.each(item, coll, body)
            }
            (Special::Assign, [Form { kind: FormKind::Symbol(name), .. }, value]) => {
                self.assign(form, name, value)
            }
            (Special::Break, _) if self.functions.last().is_some_and(|f| f.each > 0) => Kind::Break,
            (
                Special::If
                | Special::Let
                | Special::Loop
                | Special::Def
                | Special::DefOnce
                | Special::Quote
                | Special::Return
                | Special::Fail
                | Special::Throw
                | Special::Try
                | Special::Exit
                | Special::Deliver
                | Special::Each
                | Special::Assign
                | Special::Break,
                _,
            ) => self.malformed(form.span, special),
        }
    }

    /// Resolves `try`, whose parts are separate functions that `recur` does not leave.
    fn try_form(&mut self, body: &Form<'a>, handler: &Form<'a>) -> Kind<'a> {
        let [body, handler] = [body, handler].map(|part| match part.kind {
            FormKind::List([Form { kind: FormKind::Special(Special::Fn), .. }, parts @ ..]) => {
                Node { span: part.span, kind: self.function_part(*part, parts) }
            }
            _ => Node { span: part.span, kind: self.malformed(part.span, Special::Try) },
        });
        Kind::Try(self.arena.alloc([body, handler]))
    }

    fn operand(&mut self, form: &Form<'a>) -> &'a Node<'a> {
        let node = self.node(*form, false);
        self.alloc(node)
    }

    fn if_form(
        &mut self,
        form: Form<'a>,
        test: &Form<'a>,
        then: &Form<'a>,
        otherwise: Option<&Form<'a>>,
        tail: bool,
    ) -> Kind<'a> {
        let test = self.node(*test, false);
        let (then, otherwise) = self.maybe(|this| {
            let then = this.node(*then, tail);
            let nil = Node { span: form.span, kind: Kind::Const(Constant::Nil) };
            (then, otherwise.map_or(nil, |form| this.node(*form, tail)))
        });
        Kind::Cond(self.arena.alloc_slice_copy(&[test, then, otherwise]))
    }

    fn do_form(&mut self, args: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        match args {
            [] => Kind::Const(Constant::Nil),
            [only] => self.kind_again(*only, tail),
            _ => Kind::Do(self.body(args, tail)),
        }
    }

    /// Resolves tests and results in turn, then perhaps a default; only the first test is sure to run.
    fn cond(&mut self, args: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        let mut nodes = ArenaVec::with_capacity_in(args.len() + 1, self.arena);
        let pairs = args.len() / 2 * 2;
        for (i, form) in args.iter().enumerate() {
            let is_result = i % 2 == 1 || i == pairs;
            let node = if i == 0 {
                self.node(*form, false)
            } else {
                self.maybe(|this| this.node(*form, tail && is_result))
            };
            nodes.push(node);
        }
        match nodes.len() {
            0 => return Kind::Const(Constant::Nil),
            1 => return nodes[0].kind,
            n if n % 2 == 0 => {
                nodes.push(Node { span: nodes[n - 1].span, kind: Kind::Const(Constant::Nil) });
            }
            _ => {}
        }
        Kind::Cond(nodes.into_bump_slice())
    }

    fn and_or(
        &mut self,
        args: &'a [Form<'a>],
        tail: bool,
        none: Constant<'a>,
        make: fn(&'a [Node<'a>]) -> Kind<'a>,
    ) -> Kind<'a> {
        let is_or = none == Constant::Nil;
        let last = args.len().saturating_sub(1);
        let mut nodes = ArenaVec::with_capacity_in(args.len(), self.arena);
        for (i, form) in args.iter().enumerate() {
            // A bare name inside `or` may not be defined by any turn yet (D11).
            let unset = if is_or { form.as_symbol().and_then(|name| self.def_or_nil(name)) } else { None };
            let node = match unset {
                Some(name) => {
                    self.sight_definition(form.as_symbol().unwrap_or_default(), form.span);
                    Node { span: form.span, kind: Kind::Name(name) }
                }
                None if i == 0 => self.node(*form, tail && i == last),
                None => self.maybe(|this| this.node(*form, tail && i == last)),
            };
            nodes.push(node);
        }
        match nodes.as_slice() {
            [] => Kind::Const(none),
            [only] => only.kind,
            _ => make(nodes.into_bump_slice()),
        }
    }

    fn let_form(&mut self, bindings: &'a [Form<'a>], body: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        let outer = self.bindings.len();
        let bindings = self.bind_all(bindings);
        let body = self.body(body, tail);
        self.bindings.truncate(outer);
        Kind::Let(bindings, body)
    }

    fn loop_form(&mut self, bindings: &'a [Form<'a>], body: &'a [Form<'a>]) -> Kind<'a> {
        let outer = self.bindings.len();
        let bindings = self.bind_all(bindings);
        self.push_target(bindings.len());
        let body = self.body(body, true);
        let restarts = self.pop_target();
        self.bindings.truncate(outer);
        if restarts { Kind::Loop(bindings, body) } else { Kind::Let(bindings, body) }
    }

    pub(super) fn push_target(&mut self, arity: usize) {
        if let Some(function) = self.functions.last_mut() {
            function.targets.push(Target { arity, is_used: false });
        }
    }

    /// Ends a target of `recur`; true if a `recur` used it.
    pub(super) fn pop_target(&mut self) -> bool {
        self.functions.last_mut().and_then(|f| f.targets.pop()).is_some_and(|target| target.is_used)
    }

    /// Resolves names and values in turn; later ones see the earlier ones.
    fn bind_all(&mut self, pairs: &'a [Form<'a>]) -> &'a [(LocalId, Node<'a>)] {
        let mut bound = ArenaVec::with_capacity_in(pairs.len() / 2, self.arena);
        for pair in pairs.chunks_exact(2) {
            let mut value = self.node(pair[1], false);
            let local = self.bind(&pair[0]);
            if let (Kind::Name(Name::Tool(tool)), Some(binding), true) =
                (value.kind, self.bindings.last_mut(), self.siblings.is_some())
            {
                binding.tool = Some(tool);
                // The local is never read: a tool that is not used as a value is known by its calls.
                value.kind = Kind::Const(Constant::Nil);
            }
            self.note_operation(local, &value);
            bound.push((local, value));
        }
        bound.into_bump_slice()
    }

    fn recur(&mut self, form: Form<'a>, args: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        let values = self.body(args, false);
        let target = self.functions.last_mut().and_then(|function| function.targets.last_mut());
        let Some(target) = target.filter(|_| tail) else {
            let is_in_try =
                self.functions.last().is_some_and(|function| function.is_part && function.targets.is_empty());
            let (message, hint) = match is_in_try {
                true => (
                    "`recur` cannot leave `try`",
                    "give a value from `try`, and `recur` after it: (let [x (try …)] (recur x))",
                ),
                false => (
                    "`recur` must be the last thing its `loop` or function does",
                    "use reduce, or call the function by its name",
                ),
            };
            return self.fail(Diagnostic::error(Code::InvalidForm, form.span, message).hint(hint));
        };
        target.is_used = true;
        let arity = target.arity;
        if arity != values.len() {
            let message = format!(
                "`recur` needs {arity} {}, one for each binding of its loop or function, but got {}",
                plural(arity, "value"),
                values.len()
            );
            return self.fail(Diagnostic::error(Code::ArityMismatch, form.span, message));
        }
        Kind::Recur(values)
    }

    /// Resolves `(def name "doc"? value)`, `(defonce …)`, and `(def name)` made by `declare`.
    fn define(
        &mut self,
        form: Form<'a>,
        target: &Form<'a>,
        name: &'a str,
        value: &'a [Form<'a>],
        once: bool,
    ) -> Kind<'a> {
        let (doc, value) = match value {
            [] => (None, None),
            [Form { kind: FormKind::Str(doc), .. }, value] => (Some(*doc), Some(value)),
            [value, ..] => (None, Some(value)),
        };
        if self.siblings.is_some() {
            return self.define_here(form, target, name, value);
        }
        let def = self.def_ref(name);
        self.sight_definition(name, target.span);
        let Some(value) = value else {
            self.defs[def.0 as usize].is_declared = true;
            return Kind::Name(Name::Var(def));
        };
        self.pending.push((name, self.functions.len()));
        let node = match value.kind {
            // The function takes the name of its definition, in traces and messages.
            FormKind::List([Form { kind: FormKind::Special(Special::Fn), .. }, rest @ ..]) => {
                let kind = self.function(*value, rest, Some(name), doc);
                Node { span: value.span, kind }
            }
            _ => self.node(*value, false),
        };
        self.pending.pop();
        let arities = match node.kind {
            Kind::Fn(lambda) if !once => Some(lambda.clauses),
            _ => None,
        };
        let is_certain = self.is_certain;
        if let Some(entry) = self.defs.get_mut(def.0 as usize) {
            entry.definitions += 1;
            entry.is_certain |= is_certain;
            entry.arities = arities;
        }
        Kind::Define(def, once, self.alloc(node))
    }

    fn each(&mut self, item: &Form<'a>, coll: &Form<'a>, body: &'a [Form<'a>]) -> Kind<'a> {
        let coll = self.operand(coll);
        let outer = self.bindings.len();
        let local = self.bind(item);
        let body = self.maybe(|this| {
            this.count_each(1);
            let body = this.body(body, false);
            this.count_each(-1);
            body
        });
        self.bindings.truncate(outer);
        Kind::Each(local, coll, body)
    }

    fn count_each(&mut self, by: i32) {
        if let Some(function) = self.functions.last_mut() {
            function.each = function.each.wrapping_add_signed(by);
        }
    }

    fn assign(&mut self, form: Form<'a>, name: &str, value: &Form<'a>) -> Kind<'a> {
        let value = self.operand(value);
        match self.binding(name).map(|i| self.bindings[i]) {
            Some(binding) if binding.level + 1 == self.functions.len() => {
                let Name::Local(local) = binding.what else {
                    return self.malformed(form.span, Special::Assign);
                };
                if let Some(function) = self.functions.last_mut() {
                    function.locals[local.0 as usize].assigned = true;
                }
                Kind::Assign(local, value)
            }
            // A closure has its own copy, so an assignment would not be seen outside.
            _ => self.malformed(form.span, Special::Assign),
        }
    }

    #[cold]
    pub(super) fn malformed(&mut self, span: Span, special: Special) -> Kind<'a> {
        let message = format!("`{}` is malformed or in the wrong place", special.name());
        self.fail(Diagnostic::error(Code::InvalidForm, span, message))
    }

    /// Makes a new local of the function with this name.
    pub(super) fn bind(&mut self, form: &Form<'a>) -> LocalId {
        if form.as_symbol().is_none() {
            self.malformed(form.span, Special::Let);
        }
        self.bind_name(form.as_symbol().unwrap_or("_"), form.span)
    }
}

/// Formats a count with its word: "1 value", "2 values".
pub(super) fn plural(n: usize, word: &str) -> String {
    if n == 1 { word.to_owned() } else { format!("{word}s") }
}
