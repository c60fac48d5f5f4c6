//! Names that involve preludes: inside a prelude namespace its definitions, in a program the exports of attached
//! preludes.

use super::call::wrong_count;
use super::{Definition, FunctionScope, Resolver, Siblings};
use crate::form::{Form, FormKind, Special, split_qualified};
use crate::interface::{Held, Interface};
use crate::meter::Meter;
use crate::resolved::{Constant, DefRef, Kind, Lambda, LocalId, Name, Node, Tool, ToolRef};
use crate::scope::Scope;
use crate::suggest;
use bumpalo::Bump;
use ptc_bytecode::{Code, Diagnostic, Span, ToolName, used_as, used_export};
use std::collections::HashSet;
use std::sync::Arc;

/// The result of resolving a namespace.
pub(crate) struct ResolvedNamespace<'a> {
    /// One function per definition.
    pub functions: Vec<&'a Lambda<'a>>,
    pub tools: Vec<Tool<'a>>,
    /// Definitions of the run that stand for exports of other namespaces.
    pub defs: Vec<&'a str>,
    /// Errors by the number of the definition; None for errors in the requirements.
    pub errors: Vec<(Option<usize>, Diagnostic)>,
}

/// A namespace and the names its definitions can use.
pub(crate) struct Space<'a> {
    pub name: &'a str,
    /// All namespaces of the source.
    pub namespaces: &'a [&'a str],
    /// Specs of its `(:require …)`.
    pub requires: &'a [Form<'a>],
    /// Exports of the namespaces that it requires.
    pub used: Option<Arc<Interface>>,
}

/// Resolves the definitions of one namespace, which see each other in any order.
pub(crate) fn resolve_namespace<'a>(
    space: Space<'a>,
    definitions: &[Definition<'a>],
    arena: &'a Bump,
    meter: &Meter<'_>,
) -> ResolvedNamespace<'a> {
    let Space { name: namespace, namespaces, requires, used } = space;
    let scope = Scope::default().with_interface(used);
    let mut resolver = Resolver::new(&[], &scope, false, arena, meter);
    resolver.siblings = Some(Siblings::of(namespace, namespaces, definitions));
    // A function around everything, without parameters and locals.
    resolver.functions.push(FunctionScope::new(0));
    let mut functions: Vec<&'a Lambda<'a>> = Vec::with_capacity(definitions.len());
    let mut errors = Vec::new();
    if let Err(problem) = requires.iter().try_for_each(|spec| resolver.required_spec(spec)) {
        errors.push((None, problem));
    }
    errors.extend(resolver.errors.drain(..).map(|problem| (None, problem)));
    let mut calls = Vec::new();
    for (i, definition) in definitions.iter().enumerate() {
        if let Some(siblings) = &mut resolver.siblings {
            siblings.current = i as u32;
        }
        functions.push(resolver.definition(definition));
        errors.extend(resolver.errors.drain(..).map(|problem| (Some(i), problem)));
        let made = resolver.siblings.as_mut().map(|siblings| std::mem::take(&mut siblings.calls));
        calls.extend(made.into_iter().flatten().map(|call| (i, call)));
    }
    let mut told = HashSet::new();
    for (i, (callee, got, span)) in calls {
        let (Some(lambda), Some(definition)) =
            (functions.get(callee as usize), definitions.get(callee as usize))
        else {
            continue;
        };
        if !lambda.clauses.iter().any(|clause| clause.takes(got)) && told.insert((callee, got)) {
            errors.push((Some(i), wrong_count(definition.name, lambda.clauses, got, span)));
        }
    }
    let defs = resolver.defs.iter().map(|def| def.name).collect();
    ResolvedNamespace { functions, tools: resolver.tools, defs, errors }
}

impl<'a> Resolver<'a, '_> {
    /// Resolves a definition to a function; a constant to one without parameters.
    pub(super) fn definition(&mut self, definition: &Definition<'a>) -> &'a Lambda<'a> {
        let span = definition.form.span;
        let found = match definition.value {
            Some(value) => {
                let arity = [Form::new(span, FormKind::Vector(&[])), value];
                let arity = Form::new(span, FormKind::List(self.arena.alloc_slice_copy(&arity)));
                let parts = self.arena.alloc_slice_copy(&[arity]);
                self.function(definition.form, parts, Some(definition.reference), None)
            }
            None => match self.expanded("defn", definition.form) {
                Ok(Some(Form { kind: FormKind::List([.., function]), .. })) => match function.kind {
                    FormKind::List([Form { kind: FormKind::Special(Special::Fn), .. }, parts @ ..]) => {
                        self.function(*function, parts, Some(definition.reference), None)
                    }
                    _ => Kind::Const(Constant::Nil),
                },
                Ok(_) => Kind::Const(Constant::Nil),
                Err(problem) => self.fail(problem),
            },
        };
        match found {
            Kind::Fn(lambda) => lambda,
            _ => {
                let empty = Lambda { span, name: None, doc: None, captures: &[], clauses: &[] };
                self.arena.alloc(empty)
            }
        }
    }

    /// Resolves a bare name in a prelude namespace, if it is one of its definitions.
    pub(super) fn sibling(&self, name: &str) -> Option<Name<'a>> {
        let siblings = self.siblings.as_ref()?;
        let (index, is_constant) = *siblings.names.get(name)?;
        Some(match is_constant {
            true => Name::Fixed(index),
            // The outermost function and the one being resolved: no closure is between.
            false if index == siblings.current && self.functions.len() == 2 => Name::This,
            false => Name::Sibling(index),
        })
    }

    /// Resolves `ns/name` inside a prelude, where `ns` is one of its own namespaces.
    pub(super) fn other_namespace(&mut self, name: &str, space: &str, span: Span) -> Option<Kind<'a>> {
        let siblings = self.siblings.as_ref()?;
        let member = name.get(space.len() + 1..).unwrap_or_default();
        let problem = if siblings.namespace == space {
            let message = format!("`{name}` names its own namespace");
            Diagnostic::error(Code::QualifiedSelfReference, span, message)
                .hint(format!("inside `{space}` write `{member}`"))
        } else if siblings.namespaces.contains(&space) {
            let own = siblings.namespace;
            let message = format!("`{name}` is in another namespace, which `{own}` does not require");
            Diagnostic::error(Code::CompileError, span, message)
                .hint(format!("name it where `{own}` begins: (ns {own} (:require [{space}]))"))
        } else {
            return None;
        };
        Some(self.fail(problem))
    }

    #[cold]
    pub(super) fn no_history(&mut self, name: &str, span: Span) -> Kind<'a> {
        let constant = self.siblings.as_ref().is_some_and(|siblings| {
            siblings.names.values().any(|(index, is_constant)| *index == siblings.current && *is_constant)
        });
        let (code, message) = match constant {
            true => (Code::ImpureConstant, format!("a constant cannot read `{name}`, an earlier result")),
            false => (Code::CompileError, format!("a prelude cannot read `{name}`, an earlier result")),
        };
        self.fail(Diagnostic::error(code, span, message).hint("take it as an argument: (defn f [x] …)"))
    }

    /// Makes locals for the names that a function body of a prelude defines: they belong to that call.
    pub(super) fn own_definitions(&mut self, body: &'a [Form<'a>]) -> Option<&'a [(LocalId, Node<'a>)]> {
        self.siblings.as_ref()?;
        let mut names = Vec::new();
        let work = defined_names(body, &mut names, &mut HashSet::new());
        if !self.meter.pay(work) {
            return None;
        }
        let level = self.functions.len().checked_sub(1)?;
        // Bindings of this function are the innermost ones.
        let is_param =
            |name: &str| self.binding(name).is_some_and(|index| self.bindings[index].level == level);
        names.retain(|(name, _)| !is_param(name));
        if names.is_empty() {
            return None;
        }
        let mut bindings = Vec::new();
        for (name, span) in names {
            bindings.push((self.bind_name(name, span), Node { span, kind: Kind::Const(Constant::Nil) }));
        }
        Some(self.arena.alloc_slice_copy(&bindings))
    }

    /// Resolves `(def name value)` inside a function of a prelude to a local of that function.
    pub(super) fn define_here(
        &mut self,
        form: Form<'a>,
        target: &Form<'a>,
        name: &'a str,
        value: Option<&'a Form<'a>>,
    ) -> Kind<'a> {
        let symbol = Node { span: form.span, kind: Kind::Const(Constant::Symbol(name)) };
        let Some(value) = value else { return symbol.kind };
        let node = match value.kind {
            // It may call itself, which is impossible for a local without a value yet.
            FormKind::List([Form { kind: FormKind::Special(Special::Fn), .. }, rest @ ..])
                if !matches!(rest.first(), Some(Form { kind: FormKind::Symbol(_), .. })) =>
            {
                let own = Form::new(target.span, FormKind::Symbol(name));
                let mut parts = vec![own];
                parts.extend_from_slice(rest);
                let kind = self.function(*value, self.arena.alloc_slice_copy(&parts), None, None);
                Node { span: value.span, kind }
            }
            _ => self.node(*value, false),
        };
        if let Some(index) = self.binding(name) {
            self.sight_local(target.span, index);
        }
        let binding = self.binding(name).map(|index| self.bindings[index]);
        let local = match binding {
            Some(binding) if binding.level + 1 == self.functions.len() => match binding.what {
                Name::Local(local) => Some(local),
                _ => None,
            },
            _ => None,
        };
        let (Some(local), Some(function)) = (local, self.functions.last_mut()) else {
            let message = format!("`{name}` cannot be defined here");
            return self.fail(
                Diagnostic::error(Code::InvalidForm, form.span, message).hint("use let: (let [x 1] …)"),
            );
        };
        if let Some(entry) = function.locals.get_mut(local.0 as usize) {
            entry.assigned = true;
        }
        let assign = Node { span: form.span, kind: Kind::Assign(local, self.alloc(node)) };
        Kind::Do(self.arena.alloc_slice_copy(&[assign, symbol]))
    }

    /// Checks host calls inside a prelude: records calls of siblings to be checked, and names the operation of a
    /// `tool/call` that has it written out.
    pub(super) fn host_call(
        &mut self,
        span: Span,
        callee: &Node<'a>,
        args: &'a [Node<'a>],
    ) -> Option<Kind<'a>> {
        match callee.kind {
            Kind::Name(name @ (Name::Sibling(_) | Name::This)) => {
                if let Some(siblings) = &mut self.siblings {
                    let index = if let Name::Sibling(index) = name { index } else { siblings.current };
                    // `This` may also be an inner function by its own name.
                    if name != Name::This || self.functions.len() == 2 {
                        siblings.calls.push((index, args.len(), span));
                    }
                }
                None
            }
            Kind::Name(Name::Tool(tool)) if self.is_upstream(tool) => {
                let tool = self.upstream(args)?;
                let callee = Node { span: callee.span, kind: Kind::Name(Name::Tool(tool)) };
                Some(Kind::Call(self.alloc(callee), args))
            }
            _ => None,
        }
    }

    fn is_upstream(&self, tool: ToolRef) -> bool {
        self.tools.get(tool.0 as usize) == Some(&Tool::Named(ToolName::CALL))
    }

    /// Rewrites `(map tool/call [{…} {…}])` as the calls it makes, if each names its operation: as a value,
    /// `tool/call` could go anywhere.
    pub(super) fn mapped_upstream(
        &mut self,
        form: Form<'a>,
        head: &str,
        args: &'a [Form<'a>],
    ) -> Option<Form<'a>> {
        self.siblings.as_ref()?;
        let [callee @ Form { kind: FormKind::Symbol(name), .. }, Form { kind: FormKind::Vector(items), .. }] =
            args
        else {
            return None;
        };
        let is_known = matches!(head, "map" | "mapv" | "pmap")
            && self.binding(head).is_none()
            && !self.defines_function(head);
        let bound = self.binding(name).map(|index| self.bindings[index].tool);
        let is_call = match bound {
            Some(tool) => tool.is_some_and(|tool| self.is_upstream(tool)),
            None => *name == "tool/call",
        };
        if !is_known || !is_call || !items.iter().all(names_operation) {
            return None;
        }
        let list =
            |span, items: &[Form<'a>]| Form::new(span, FormKind::List(self.arena.alloc_slice_copy(items)));
        let calls = items.iter().map(|item| list(item.span, &[*callee, *item]));
        if head != "pmap" {
            let calls = self.arena.alloc_slice_fill_iter(calls.collect::<Vec<_>>());
            return Some(Form::new(form.span, FormKind::Vector(calls)));
        }
        let mut branches = vec![Form::new(form.span, FormKind::Builtin("pcalls"))];
        for call in calls {
            let arity = list(call.span, &[Form::new(call.span, FormKind::Vector(&[])), call]);
            branches.push(list(call.span, &[Form::new(call.span, FormKind::Special(Special::Fn)), arity]));
        }
        Some(list(form.span, &branches))
    }

    /// Returns the operation named by these arguments of `tool/call`, as a separate tool.
    fn upstream(&mut self, args: &[Node<'a>]) -> Option<ToolRef> {
        let held = match args {
            [Node { kind: Kind::Name(Name::Local(local)), .. }] => {
                self.functions.last().and_then(|function| {
                    if !self.meter.pay(function.operations.len()) {
                        return None;
                    }
                    let held = function.operations.iter().find(|(holder, ..)| holder == local);
                    held.map(|(_, server, tool)| (*server, *tool))
                })
            }
            _ => None,
        };
        let (server, tool) = held.or_else(|| operation(args))?;
        Some(self.tool_ref(Tool::Upstream(server, tool)))
    }

    /// Records that a local holds a map naming the operation of a call: `(-> {…} tool/call)`.
    pub(super) fn note_operation(&mut self, local: LocalId, value: &Node<'a>) {
        if self.siblings.is_some()
            && matches!(value.kind, Kind::Map(_))
            && let (Some((server, tool)), Some(function)) =
                (operation(std::slice::from_ref(value)), self.functions.last_mut())
        {
            function.operations.push((local, server, tool));
        }
    }

    /// Resolves `ns/name` if an attached prelude declares `ns`; in a prelude, one that it requires.
    pub(super) fn export(&mut self, name: &'a str, space: &str, span: Span) -> Option<Kind<'a>> {
        let scope = self.scope;
        let interface = scope.interface.as_ref().filter(|interface| interface.has_namespace(space))?;
        let Some(shape) = interface.export(name) else {
            if !self.is_worth_a_hint(name) {
                return Some(Kind::Const(Constant::Nil));
            }
            let member = name.get(space.len() + 1..).unwrap_or_default();
            let hint = format!("(ns-publics '{space}) lists its exports, (apropos \"{member}\") searches");
            let message = format!("`{name}` is not an export of `{space}`");
            let problem = Diagnostic::error(Code::InvalidForm, span, message);
            let problem = match suggest::nearest(name, interface.names()) {
                Some(near) => problem.hint(format!("did you mean `{near}`? {hint}")).fix(span, near),
                None => problem.hint(hint),
            };
            return Some(self.fail(problem));
        };
        // Its tools are checked now: later, other calls may have been made already.
        let missing = shape.tools.iter().find(|tool| !self.scope.has_tool_for_preludes(tool));
        if let Some(tool) = missing {
            let message = format!("`{name}` calls `tool/{tool}`, which is not granted to this program");
            return Some(
                self.fail(
                    Diagnostic::error(Code::UnknownTool, span, message)
                        .hint("ask the host to grant it, or do without this function"),
                ),
            );
        }
        let held = shape.constant;
        let name = match self.siblings {
            Some(_) => self.arena.alloc_str(&used_as(name)),
            None => name,
        };
        let def = Kind::Name(Name::Def(self.def_ref(name)));
        Some(match held {
            Some(Held::Made) => Kind::Call(self.alloc(Node { span, kind: def }), &[]),
            Some(Held::Value) | None => def,
        })
    }

    /// Resolves `(ns/constant)`, which returns the constant; with arguments it is a mistake. In a prelude this also
    /// holds for its own constants, except that those may hold functions, which take arguments.
    pub(super) fn constant_call(
        &mut self,
        form: Form<'a>,
        name: &str,
        callee: &Node<'a>,
        n_args: usize,
    ) -> Option<Kind<'a>> {
        if let Kind::Name(Name::Fixed(_)) = callee.kind {
            return (n_args == 0).then_some(callee.kind);
        }
        let shape = self.scope.interface.as_ref()?.export(name)?;
        if shape.constant.is_none() || self.binding(name).is_some() {
            return None;
        }
        if n_args == 0 {
            return Some(callee.kind);
        }
        let message = format!("`{name}` is a constant and takes no arguments, but got {n_args}");
        Some(
            self.fail(Diagnostic::error(Code::ArityError, form.span, message).hint(format!(
                "`{name}` alone is its value; call what is in it with (let [f {name}] (f …))"
            ))),
        )
    }

    pub(super) fn is_export(&self, head: &Form<'a>) -> bool {
        let interface = self.scope.interface.as_ref();
        head.as_symbol().is_some_and(|name| interface.is_some_and(|i| i.export(name).is_some()))
    }

    /// Returns the error of a call of an export with a wrong argument count.
    pub(super) fn wrong_export_count(&self, def: DefRef, got: usize, span: Span) -> Option<Diagnostic> {
        let name = self.defs.get(def.0 as usize)?.name;
        let name = used_export(name).unwrap_or(name);
        let shape = self.scope.interface.as_ref()?.export(name)?;
        if shape.constant.is_some() || shape.takes(got) {
            return None;
        }
        let message = format!("`{name}` expects {} argument(s), got {got}", shape.arity_words());
        Some(
            Diagnostic::error(Code::ArityError, span, message)
                .hint(format!("(doc '{name}) shows how it is called")),
        )
    }

    /// Returns the error for a definition of a name that belongs to the attached prelude.
    pub(super) fn protected(&self, items: &[Form<'a>]) -> Option<Diagnostic> {
        let interface = self.scope.interface.as_ref()?;
        let [Form { kind: FormKind::Symbol(head), .. }, targets @ ..] = items else { return None };
        let targets = match *head {
            "def" | "defn" | "defn-" | "defonce" => targets.get(..1)?,
            "declare" => targets,
            _ => return None,
        };
        let (target, name) = targets.iter().find_map(|target| {
            let name = target.as_symbol()?;
            let (space, _) = split_qualified(name)?;
            interface.has_namespace(space).then_some((target, name))
        })?;
        let (space, member) = split_qualified(name)?;
        let message = match interface.export(name) {
            Some(_) => {
                format!("cannot redefine {name}: it is a public export, and {space} is a protected namespace")
            }
            None => format!("cannot define {name}: {space} is a protected namespace"),
        };
        Some(
            Diagnostic::error(Code::InvalidForm, target.span, message)
                .hint(format!("use a name of your own: ({head} {member} …)")),
        )
    }
}

/// Returns the server and tool that the arguments of `tool/call` name, if both are written out: `{:server "s" :tool
/// "t"}`, `:server "s" :tool "t"`, or `'s/t`.
fn operation<'a>(args: &[Node<'a>]) -> Option<(&'a str, &'a str)> {
    let (server, tool) = match args {
        [Node { kind: Kind::Const(Constant::Symbol(name)), .. }, ..] => split_qualified(name)?,
        [Node { kind: Kind::Map(items), .. }] => literal_pair(items)?,
        [Node { kind: Kind::Const(Constant::Map(items)), .. }] => {
            let text = |name: &str| {
                items.chunks_exact(2).find_map(|pair| match pair {
                    [Constant::Keyword(key) | Constant::Str(key), Constant::Str(text)] if *key == name => {
                        Some(*text)
                    }
                    _ => None,
                })
            };
            (text("server")?, text("tool")?)
        }
        _ => literal_pair(args)?,
    };
    // The id `upstream:s/t` must be unambiguous.
    (!server.is_empty() && !tool.is_empty() && !server.contains('/')).then_some((server, tool))
}

fn literal_pair<'a>(items: &[Node<'a>]) -> Option<(&'a str, &'a str)> {
    let text = |name: &str| {
        items.chunks_exact(2).find_map(|pair| match (pair[0].kind, pair[1].kind) {
            (Kind::Const(Constant::Keyword(key) | Constant::Str(key)), Kind::Const(Constant::Str(text)))
                if key == name =>
            {
                Some(text)
            }
            _ => None,
        })
    };
    Some((text("server")?, text("tool")?))
}

/// True if a map literal gives `:server` and `:tool` as text.
fn names_operation(form: &Form<'_>) -> bool {
    let FormKind::Map(items) = form.kind else { return false };
    let has = |name: &str| {
        items.chunks_exact(2).any(|pair| match (pair[0].kind, pair[1].kind) {
            (FormKind::Keyword(key) | FormKind::Str(key), FormKind::Str(text)) => {
                key == name && !text.is_empty() && (name != "server" || !text.contains('/'))
            }
            _ => false,
        })
    };
    has("server") && has("tool")
}

/// Collects the names that these forms define, except in inner functions. Returns the number of forms visited.
fn defined_names<'a>(
    forms: &[Form<'a>],
    names: &mut Vec<(&'a str, Span)>,
    known: &mut HashSet<&'a str>,
) -> usize {
    let mut seen = forms.len();
    for form in forms {
        let (defined, inside) = match form.kind {
            FormKind::List([Form { kind: FormKind::Symbol(head), .. }, rest @ ..]) => match *head {
                "defn" | "defn-" => (rest.get(..1), &[][..]),
                "declare" => (Some(rest), &[][..]),
                "def" | "defonce" => (rest.get(..1), rest),
                "fn" | "letfn" | "lazy-seq" | "quote" | "comment" => continue,
                _ => (None, rest),
            },
            FormKind::List(items) | FormKind::Vector(items) | FormKind::Map(items) | FormKind::Set(items) => {
                (None, items)
            }
            _ => continue,
        };
        for target in defined.unwrap_or_default() {
            if let Some(name) = target.as_symbol().filter(|name| split_qualified(name).is_none())
                && known.insert(name)
            {
                names.push((name, target.span));
            }
        }
        seen += defined_names(inside, names, known);
    }
    seen
}
