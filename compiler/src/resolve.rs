//! Resolver of forms into core forms: expands other forms, resolves every name, and checks everything that can be known
//! before a run.
//!
//! Errors are collected, not thrown: a model that misspelled three names should be told all three. A form with an error
//! resolves to nil and the walk goes on.

use crate::expand::{self, Expander};
use crate::form::{Form, FormKind};
use crate::meter::Meter;
use crate::resolved::{
    Clause, Constant, DefRef, Kind, Lambda, Local, LocalId, Name, Node, Resolved, Sighting, Tool, ToolRef,
};
use crate::scope::Scope;
use bindings::{Binding, Bindings};
use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;
use ptc_bytecode::{Code, Diagnostic, KeyedState, Span};
use require::Required;
use siblings::Siblings;
use std::collections::{HashMap, HashSet};

mod bindings;
mod call;
mod discovery;
mod function;
mod literal;
mod names;
mod namespace;
mod pattern;
mod require;
mod siblings;
mod sightings;
mod special;

pub(crate) use call::params;
pub(crate) use namespace::{Space, resolve_namespace};
pub(crate) use siblings::Definition;
pub(crate) use sightings::{sightings, sightings_in};

/// Maximum nesting of forms, those made by expansion included. Both this walk and lowering recurse over the tree;
/// the bound keeps them inside a 2 MB stack, also in unoptimised builds.
const MAX_DEPTH: u32 = 600;

/// Maximum errors reported; a text of nothing but slips must not flood the reader.
const MAX_ERRORS: usize = 20;

/// Units of work for resolving a form, expansion included.
const RESOLVED_NODE: usize = 16;

/// Maximum misses of a name that are searched for a suggestion: finding a similar name takes a while.
const MAX_MISSES: u32 = 8;

/// Resolves the top-level forms of a program, or of a library.
pub(crate) fn resolve<'a>(
    forms: &'a [Form<'a>],
    scope: &Scope,
    library: bool,
    arena: &'a Bump,
    meter: &Meter<'_>,
) -> Result<Resolved<'a>, Vec<Diagnostic>> {
    let mut resolver = Resolver::new(forms, scope, library, arena, meter);
    let (entry, exports) =
        if library { (None, resolver.library(forms)) } else { (Some(resolver.program(forms)), &[][..]) };
    resolver.check_known_calls();
    meter.charge(0).map_err(|problem| vec![problem])?;
    if resolver.errors.is_empty() {
        // Functions of a library call each other as builtins: it has no definitions of its own.
        let defs = if library { &[][..] } else { &resolver.defs[..] };
        let names = arena.alloc_slice_fill_iter(defs.iter().map(|def| def.name));
        let tools = arena.alloc_slice_copy(&resolver.tools);
        let data = arena.alloc_slice_copy(&resolver.data);
        return Ok(Resolved { entry, exports, defs: names, tools, data });
    }
    let mut errors = resolver.errors;
    // Structure before names before tools, as one reads a program (language §27).
    errors.sort_by_key(|e| match e.code {
        Code::UnknownTool => 2,
        Code::UnboundVar => 1,
        _ => 0,
    });
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

/// The state of one walk.
struct Resolver<'a, 's> {
    arena: &'a Bump,
    scope: &'s Scope,
    /// The whole program, searched for definitions that come too late.
    forms: &'a [Form<'a>],
    /// Meter that pays for every node; once it is over, the walk ends with nil everywhere.
    meter: &'s Meter<'s>,
    library: bool,
    expander: Expander<'a>,
    /// Enclosing functions, the program itself first.
    functions: Vec<FunctionScope<'a>>,
    /// Local names in scope.
    bindings: Bindings<'a>,
    defs: Vec<Def<'a>>,
    /// Definitions by name. The program chooses the names, so the hash is unpredictable to it.
    def_ids: HashMap<&'a str, DefRef, KeyedState>,
    /// Definitions whose value is being resolved, with the number of enclosing functions: their names may only be
    /// used inside inner functions.
    pending: Vec<(&'a str, usize)>,
    /// Calls of definitions with a known function, checked when all definitions have been seen.
    known_calls: Vec<(DefRef, usize, Span)>,
    tools: Vec<Tool<'a>>,
    tool_ids: HashMap<Tool<'a>, ToolRef>,
    /// Granted data that was named, with its first place.
    data: Vec<(&'a str, Span)>,
    data_names: HashSet<&'a str, KeyedState>,
    /// Definitions of the prelude namespace being compiled, if any.
    siblings: Option<Siblings<'a>>,
    /// Names introduced by `ns` and `require`.
    required: Required<'a>,
    errors: Vec<Diagnostic>,
    /// Number of times each name was not found.
    missing: HashMap<String, u32>,
    depth: u32,
    /// True if the current form is sure to run once the program gets there; false inside branches and functions.
    /// Only sure definitions shadow builtins.
    is_certain: bool,
    /// True if the current form belongs to a finished task, so that it will not run.
    is_done: bool,
    /// True if a task may have been reset by now.
    may_reset: bool,
    /// Places of names, for editors; None when compiling.
    sightings: Option<Vec<Sighting<'a>>>,
}

/// A function whose body is being resolved.
struct FunctionScope<'a> {
    locals: Vec<Local<'a>>,
    /// Captured names, in the order of first use.
    captures: Vec<Name<'a>>,
    /// Captures by the index of their binding.
    captured: HashMap<usize, u32>,
    /// Targets of `recur`: enclosing loops and the function itself.
    targets: Vec<Target>,
    /// Number of enclosing `Each` loops.
    each: u32,
    /// True if it is a part of a form, which `recur` does not leave.
    is_part: bool,
    /// In preludes: locals that hold a map naming the operation of a `tool/call`.
    operations: Vec<(LocalId, &'a str, &'a str)>,
}

/// A target of `recur`.
struct Target {
    arity: usize,
    is_used: bool,
}

/// A definition the program mentions.
struct Def<'a> {
    name: &'a str,
    /// Number of times the program defines it.
    definitions: u32,
    /// True if it is sure to have a value at the current place.
    is_certain: bool,
    /// True if a `declare` promised it.
    is_declared: bool,
    /// Argument counts of the function that this program defines it as.
    arities: Option<&'a [Clause<'a>]>,
}

impl<'a, 's> Resolver<'a, 's> {
    fn new(
        forms: &'a [Form<'a>],
        scope: &'s Scope,
        library: bool,
        arena: &'a Bump,
        meter: &'s Meter<'s>,
    ) -> Resolver<'a, 's> {
        Resolver {
            arena,
            scope,
            forms,
            meter,
            library,
            expander: Expander::new(arena, library).in_test(scope.test.is_some()),
            functions: Vec::new(),
            bindings: Bindings::default(),
            defs: Vec::new(),
            def_ids: HashMap::default(),
            pending: Vec::new(),
            known_calls: Vec::new(),
            tools: Vec::new(),
            tool_ids: HashMap::new(),
            data: Vec::new(),
            data_names: HashSet::default(),
            siblings: None,
            required: Required::default(),
            errors: Vec::new(),
            missing: HashMap::new(),
            depth: 0,
            is_certain: true,
            is_done: false,
            may_reset: false,
            sightings: None,
        }
    }

    fn program(&mut self, forms: &'a [Form<'a>]) -> &'a Lambda<'a> {
        self.functions.push(FunctionScope::new(0));
        // No target: `recur` outside any loop or function has nowhere to go.
        self.functions[0].targets.clear();
        let body = self.top_level(forms);
        let locals = self.functions.pop().map(|f| f.locals).unwrap_or_default();
        let locals = self.arena.alloc_slice_copy(&locals);
        let clause = Clause { required: 0, rest: false, locals, restarts: false, body };
        let span = forms.first().map_or(Span::default(), |first| first.span.to(forms[forms.len() - 1].span));
        let clauses = self.arena.alloc_slice_copy(&[clause]);
        self.arena.alloc(Lambda { span, name: None, doc: None, captures: &[], clauses })
    }

    /// Resolves the top-level forms of a program; those that introduce names for namespaces become nil.
    fn top_level(&mut self, forms: &'a [Form<'a>]) -> &'a [Node<'a>] {
        let mut nodes = ArenaVec::with_capacity_in(forms.len(), self.arena);
        for form in forms {
            nodes.push(match self.declaration(form) {
                Some(kind) => Node { span: form.span, kind },
                None => self.node(*form, false),
            });
        }
        nodes.into_bump_slice()
    }

    /// Resolves a library, in which every top-level form is a `defn`.
    fn library(&mut self, forms: &'a [Form<'a>]) -> &'a [(&'a str, &'a Lambda<'a>)] {
        let mut exports = ArenaVec::with_capacity_in(forms.len(), self.arena);
        self.functions.push(FunctionScope::new(0));
        for form in forms {
            let node = self.node(*form, false);
            match node.kind {
                Kind::Define(def, false, Node { kind: Kind::Fn(lambda), .. }) => {
                    exports.push((self.defs[def.0 as usize].name, *lambda));
                }
                Kind::Const(Constant::Nil) => {}
                _ => self.report(Diagnostic::error(
                    Code::UnrecognizedNode,
                    form.span,
                    "only functions are allowed at the top level of a library",
                )),
            }
        }
        exports.into_bump_slice()
    }

    /// Resolves all of `forms`, the last in tail position if `tail` is true.
    fn body(&mut self, forms: &'a [Form<'a>], tail: bool) -> &'a [Node<'a>] {
        let last = forms.len().saturating_sub(1);
        let mut nodes = ArenaVec::with_capacity_in(forms.len(), self.arena);
        for (i, form) in forms.iter().enumerate() {
            nodes.push(self.node(*form, tail && i == last));
        }
        nodes.into_bump_slice()
    }

    /// Resolves one form. `tail`: true if `recur` may be here.
    fn node(&mut self, form: Form<'a>, tail: bool) -> Node<'a> {
        if !self.meter.pay(RESOLVED_NODE) {
            return Node { span: form.span, kind: Kind::Const(Constant::Nil) };
        }
        self.depth += 1;
        let kind = if self.depth > MAX_DEPTH { self.too_deep(form.span) } else { self.kind(form, tail) };
        self.depth -= 1;
        Node { span: form.span, kind }
    }

    fn kind(&mut self, form: Form<'a>, tail: bool) -> Kind<'a> {
        let constant = match form.kind {
            FormKind::Nil => Constant::Nil,
            FormKind::Bool(b) => Constant::Bool(b),
            FormKind::Int(n) => Constant::Int(n),
            FormKind::BigInt(digits) => Constant::Big(digits),
            FormKind::Float(x) => Constant::Float(x),
            FormKind::Str(text) => Constant::Str(text),
            FormKind::Keyword(name) => Constant::Keyword(name),
            FormKind::Regex(text) => return self.regex(text, form.span),
            FormKind::Inst(text) => return self.instant(text, form.span),
            FormKind::Symbol(name) => return self.symbol(name, form.span),
            FormKind::List(items) => return self.list(form, items, tail),
            FormKind::Vector(items) => return Kind::Vector(self.body(items, false)),
            FormKind::Map(items) => return Kind::Map(self.body(items, false)),
            FormKind::Set(items) => return Kind::Set(self.body(items, false)),
            FormKind::ShortFn(_) => {
                let expanded = expand::expand_short_fn(form, &mut self.expander);
                if !self.meter.pay(self.expander.take_work()) {
                    return Kind::Const(Constant::Nil);
                }
                return match expanded {
                    Ok(form) => self.kind_again(form, tail),
                    Err(problem) => self.fail(problem),
                };
            }
            FormKind::Quote(quoted) => self.quoted(quoted),
            FormKind::VarRef(name) => return self.var(name, form.span),
            FormKind::Special(special) => {
                let message = format!("`{}` is a form, not a value", special.name());
                return self.fail(Diagnostic::error(Code::InvalidForm, form.span, message));
            }
            FormKind::Builtin(name) => return self.builtin(name, form.span),
        };
        Kind::Const(constant)
    }

    /// Resolves a form that replaced another; expansion counts as nesting, so that it ends.
    fn kind_again(&mut self, form: Form<'a>, tail: bool) -> Kind<'a> {
        self.node(form, tail).kind
    }

    fn list(&mut self, form: Form<'a>, items: &'a [Form<'a>], tail: bool) -> Kind<'a> {
        if let Some(problem) = self.protected(items) {
            return self.fail(problem);
        }
        let Some((head, args)) = items.split_first() else {
            // The empty list is an empty vector: there is only one sequential type.
            return Kind::Vector(&[]);
        };
        if let Some(full) = head.as_symbol().and_then(|name| self.in_full(name)) {
            let head = self.arena.alloc(Form::new(head.span, FormKind::Symbol(full)));
            return self.call(form, head, args);
        }
        match head.kind {
            FormKind::Special(special) => self.special(special, form, args, tail),
            FormKind::Symbol("call") if self.defines_function("call") => self.call(form, head, args),
            FormKind::Symbol(name) if !self.is_shadowed(name) => match self.expanded(name, form) {
                Ok(Some(expanded)) => {
                    let outside = (self.is_done, self.is_done_task(name, args));
                    self.is_done |= outside.1;
                    let kind = self.kind_again(expanded, tail);
                    self.is_done = outside.0;
                    self.may_reset |= name == "task-reset";
                    kind
                }
                Ok(None) => self.call(form, head, args),
                Err(problem) => self.fail(problem),
            },
            _ => self.call(form, head, args),
        }
    }

    /// Expands a form by one step, paid for; nil once compiling has to end.
    fn expanded(&mut self, head: &str, form: Form<'a>) -> Result<Option<Form<'a>>, Diagnostic> {
        let expanded = expand::expand(head, form, &mut self.expander);
        match self.meter.pay(self.expander.take_work()) {
            true => expanded,
            false => Ok(Some(Form::new(form.span, FormKind::Nil))),
        }
    }

    /// True for a task whose value is sure to be stored when the program gets there.
    fn is_done_task(&self, name: &str, args: &[Form<'a>]) -> bool {
        let FormKind::Str(id) = args.first().map_or(FormKind::Nil, |form| form.kind) else { return false };
        name == "task"
            && !self.scope.done_tasks.is_empty()
            && self.scope.done_tasks.contains(id)
            && self.functions.len() == 1
            && !self.may_reset
    }

    /// True if a local replaces the form called `name`.
    fn is_shadowed(&self, name: &str) -> bool {
        self.binding(name).is_some() && expand::is_shadowable(name)
    }

    /// True if a function of that name was defined, by this program or an earlier turn. It then replaces older
    /// spellings and discovery forms of that name.
    fn defines_function(&self, name: &str) -> bool {
        if self.siblings.as_ref().is_some_and(|siblings| siblings.has(name)) {
            return true;
        }
        let own = self.def_ids.get(name).map(|def| &self.defs[def.0 as usize]);
        own.is_some_and(|def| def.arities.is_some())
            || self.scope.has_def(name)
            || self.pending.iter().any(|(pending, _)| *pending == name)
    }

    /// Returns the number of `name` among the definitions of this program.
    fn def_ref(&mut self, name: &'a str) -> DefRef {
        if let Some(def) = self.def_ids.get(name) {
            return *def;
        }
        let def = DefRef(self.defs.len() as u32);
        let is_certain = self.scope.has_def(name);
        self.defs.push(Def { name, definitions: 0, is_certain, is_declared: false, arities: None });
        self.def_ids.insert(name, def);
        def
    }

    fn tool_ref(&mut self, wanted: Tool<'a>) -> ToolRef {
        *self.tool_ids.entry(wanted).or_insert_with(|| {
            self.tools.push(wanted);
            ToolRef(self.tools.len() as u32 - 1)
        })
    }

    fn report(&mut self, problem: Diagnostic) {
        // A misspelling repeated ten times is reported once.
        let is_new = |known: &Diagnostic| known.code != problem.code || known.message != problem.message;
        if self.errors.len() < 4 * MAX_ERRORS && self.errors.iter().all(is_new) {
            self.errors.push(problem);
        }
    }

    /// Reports an error; nil replaces the form.
    #[cold]
    fn fail(&mut self, problem: Diagnostic) -> Kind<'a> {
        self.report(problem);
        Kind::Const(Constant::Nil)
    }

    #[cold]
    fn too_deep(&mut self, span: Span) -> Kind<'a> {
        let message =
            format!("forms are too deeply nested here, more than {MAX_DEPTH} with what they expand to");
        self.fail(
            Diagnostic::error(Code::InvalidForm, span, message).hint("give parts a name: (let [part …] …)"),
        )
    }

    fn alloc(&self, node: Node<'a>) -> &'a Node<'a> {
        self.arena.alloc(node)
    }

    /// Resolves a form that may not run: its definitions are not sure.
    fn maybe<T>(&mut self, resolve: impl FnOnce(&mut Self) -> T) -> T {
        let was_certain = std::mem::replace(&mut self.is_certain, false);
        let result = resolve(self);
        self.is_certain = was_certain;
        result
    }
}

impl FunctionScope<'_> {
    fn new(arity: usize) -> Self {
        FunctionScope {
            locals: Vec::new(),
            captures: Vec::new(),
            captured: HashMap::new(),
            targets: vec![Target { arity, is_used: false }],
            each: 0,
            is_part: false,
            operations: Vec::new(),
        }
    }
}
