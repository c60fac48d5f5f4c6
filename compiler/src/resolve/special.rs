//! The special forms, after expansion.

use super::{Resolver, Target, is_internal};
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
        match special {
            Special::If => self.if_form(form, args, tail),
            Special::Do => self.do_form(args, tail),
            Special::Let => self.let_form(form, args, tail),
            Special::Loop => self.loop_form(form, args),
            Special::Recur => self.recur(form, args, tail),
            Special::Fn => self.function(form, args, None, None),
            Special::Def => self.define(form, args, false),
            Special::DefOnce => self.define(form, args, true),
            Special::And => self.and_or(args, tail, Constant::Bool(true), Kind::And),
            Special::Or => self.and_or(args, tail, Constant::Nil, Kind::Or),
            Special::Cond => self.cond(args, tail),
            Special::Quote => match args {
                [quoted] => Kind::Const(self.quoted(quoted)),
                _ => self.wrong_count(form, "quote", "one form", args.len()),
            },
            Special::Return => match args {
                [value] => Kind::Finish(self.operand(value)),
                _ => self.wrong_count(form, "return", "one value", args.len()),
            },
            Special::Fail => match args {
                [value] => Kind::Fail(self.operand(value)),
                _ => self.wrong_count(form, "fail", "one value", args.len()),
            },
            Special::Exit => match args {
                [value] => Kind::Exit(self.operand(value)),
                _ => self.malformed(form, special),
            },
            Special::Deliver => match args {
                [value] => Kind::Deliver(self.operand(value)),
                _ => self.malformed(form, special),
            },
            Special::Each => self.each(form, args),
            Special::Assign => self.assign(form, args),
            Special::Break => match self.functions.last() {
                Some(function) if function.each > 0 => Kind::Break,
                _ => self.malformed(form, special),
            },
        }
    }

    fn operand(&mut self, form: &Form<'a>) -> &'a Node<'a> {
        let node = self.node(*form, false);
        self.alloc(node)
    }

    fn if_form(&mut self, form: Form<'a>, args: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        let (test, then, otherwise) = match args {
            [test, then] => (test, then, None),
            [test, then, otherwise] => (test, then, Some(otherwise)),
            _ => return self.wrong_count(form, "if", "a test, a result and perhaps an else", args.len()),
        };
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

    /// Tests and results in turn, then perhaps a default; each is sure to run only as far as the
    /// first test.
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
            // A bare name inside `or` may be one that no turn has defined yet (D11).
            let unset = if is_or { form.as_symbol().and_then(|name| self.def_or_nil(name)) } else { None };
            let node = match unset {
                Some(name) => Node { span: form.span, kind: Kind::Name(name) },
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

    fn let_form(&mut self, form: Form<'a>, args: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        let Some((bindings, body)) = self.binding_vector(form, args, "let") else {
            return Kind::Const(Constant::Nil);
        };
        let outer = self.bindings.len();
        let bindings = self.bind_all(bindings);
        let body = self.body(body, tail);
        self.bindings.truncate(outer);
        Kind::Let(bindings, body)
    }

    fn loop_form(&mut self, form: Form<'a>, args: &'a [Form<'a>]) -> Kind<'a> {
        let Some((bindings, body)) = self.binding_vector(form, args, "loop") else {
            return Kind::Const(Constant::Nil);
        };
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

    /// Whether a `recur` went there.
    pub(super) fn pop_target(&mut self) -> bool {
        self.functions.last_mut().and_then(|f| f.targets.pop()).is_some_and(|target| target.is_used)
    }

    fn binding_vector(
        &mut self,
        form: Form<'a>,
        args: &'a [Form<'a>],
        what: &str,
    ) -> Option<(&'a [Form<'a>], &'a [Form<'a>])> {
        let split = args.split_first().and_then(|(first, body)| Some((first.as_vector()?, body)));
        match split {
            Some((bindings, body)) if bindings.len() % 2 == 0 => Some((bindings, body)),
            _ => {
                let message = format!("`{what}` needs a vector of names and values in pairs");
                self.report(
                    Diagnostic::error(Code::InvalidForm, form.span, message)
                        .hint(format!("write ({what} [x 1] x)")),
                );
                None
            }
        }
    }

    /// Names and values in turn; later ones see the earlier ones.
    fn bind_all(&mut self, pairs: &'a [Form<'a>]) -> &'a [(LocalId, Node<'a>)] {
        let mut bound = ArenaVec::with_capacity_in(pairs.len() / 2, self.arena);
        for pair in pairs.chunks_exact(2) {
            let mut value = self.node(pair[1], false);
            let local = self.bind(&pair[0]);
            if let (Kind::Name(Name::Tool(tool)), Some(binding), true) =
                (value.kind, self.bindings.last_mut(), self.siblings.is_some())
            {
                binding.tool = Some(tool);
                // Nobody reads the local: a tool nobody takes as a value can be known by its calls.
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
            return self.fail(
                Diagnostic::error(
                    Code::InvalidForm,
                    form.span,
                    "`recur` must be the last thing its `loop` or function does",
                )
                .hint("use reduce, or call the function by its name"),
            );
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

    /// `(def name "doc"? value)`, `(defonce …)`, and `(def name)` made by `declare`.
    fn define(&mut self, form: Form<'a>, args: &'a [Form<'a>], once: bool) -> Kind<'a> {
        let spelled = if once { "defonce" } else { "def" };
        let (target, doc, value) = match args {
            [target] if !once => (target, None, None),
            [target, value] => (target, None, Some(value)),
            [target, Form { kind: FormKind::Str(doc), .. }, value] => (target, Some(*doc), Some(value)),
            _ => return self.wrong_count(form, spelled, "a name and a value", args.len()),
        };
        let Some(name) = self.definable(target, spelled) else { return Kind::Const(Constant::Nil) };
        if self.siblings.is_some() {
            return self.define_here(form, name, value);
        }
        let def = self.def_ref(name);
        let Some(value) = value else {
            self.defs[def.0 as usize].is_declared = true;
            return Kind::Name(Name::Var(def));
        };
        self.pending.push((name, self.functions.len()));
        let node = match value.kind {
            // The function is called what it is defined as, in traces and messages.
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

    /// The name a definition may have.
    fn definable(&mut self, target: &Form<'a>, spelled: &str) -> Option<&'a str> {
        let problem = match target.kind {
            FormKind::Symbol(name) => match super::names::split_qualified(name) {
                None if name.starts_with('%') && !self.library => {
                    format!("`{spelled}` cannot define `{name}`: names do not start with %")
                }
                None => return Some(name),
                Some(_) if self.library => return Some(name),
                Some((space @ ("tool" | "data" | "ctx" | "memory" | "budget" | "mcp" | "ptc.core"), _)) => {
                    format!("`{spelled}` cannot define `{name}`: `{space}/` is protected")
                }
                Some(_) => {
                    format!("`{spelled}` cannot define `{name}`: qualified definitions are not supported")
                }
            },
            _ => format!("`{spelled}` needs a name first, but found {}", target.kind_name()),
        };
        self.report(
            Diagnostic::error(Code::InvalidForm, target.span, problem)
                .hint(format!("use a plain name: ({spelled} total 1)")),
        );
        None
    }

    fn each(&mut self, form: Form<'a>, args: &'a [Form<'a>]) -> Kind<'a> {
        let split = args.split_first().and_then(|(first, body)| Some((first.as_vector()?, body)));
        let Some(([item, coll], body)) = split else { return self.malformed(form, Special::Each) };
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

    fn assign(&mut self, form: Form<'a>, args: &'a [Form<'a>]) -> Kind<'a> {
        let [Form { kind: FormKind::Symbol(name), .. }, value] = args else {
            return self.malformed(form, Special::Assign);
        };
        let value = self.operand(value);
        match self.binding(name).map(|i| self.bindings[i]) {
            Some(binding) if binding.level + 1 == self.functions.len() => {
                let Name::Local(local) = binding.what else { return self.malformed(form, Special::Assign) };
                if let Some(function) = self.functions.last_mut() {
                    function.locals[local.0 as usize].assigned = true;
                }
                Kind::Assign(local, value)
            }
            // A closure has its own copy, so an assignment would not be seen outside.
            _ => self.malformed(form, Special::Assign),
        }
    }

    #[cold]
    fn malformed(&mut self, form: Form<'a>, special: Special) -> Kind<'a> {
        debug_assert!(self.library || is_internal(special));
        let message = format!("`{}` is malformed or stands in the wrong place", special.name());
        self.fail(Diagnostic::error(Code::InvalidForm, form.span, message))
    }

    #[cold]
    fn wrong_count(&mut self, form: Form<'a>, name: &str, needs: &str, got: usize) -> Kind<'a> {
        let message = format!("`{name}` needs {needs}, but got {got} {}", plural(got, "form"));
        self.fail(Diagnostic::error(Code::InvalidArity, form.span, message))
    }

    /// Gives a name to a new local of the function; anything but a symbol is reported.
    pub(super) fn bind(&mut self, form: &Form<'a>) -> LocalId {
        let name = match form.kind {
            FormKind::Symbol(name) if super::names::split_qualified(name).is_none() => name,
            FormKind::Symbol(name) => {
                self.bad_local(form.span, format!("`{name}` cannot be a local name: it has a namespace"));
                name
            }
            _ => {
                self.bad_local(form.span, format!("a name is needed here, but found {}", form.kind_name()));
                "_"
            }
        };
        self.bind_name(name)
    }

    #[cold]
    fn bad_local(&mut self, span: Span, message: String) {
        self.report(Diagnostic::error(Code::UnsupportedPattern, span, message));
    }
}

/// "1 value", "2 values": the word alone, in the right number.
pub(super) fn plural(n: usize, word: &str) -> String {
    if n == 1 { word.to_owned() } else { format!("{word}s") }
}
