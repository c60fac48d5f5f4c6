//! Resolution of names: locals, then definitions, then builtins; qualified names by their prefix.

use super::{Binding, MAX_ERRORS, MAX_MISSES, Resolver};
use crate::expand;
use crate::form::{Form, FormKind, split_qualified};
use crate::resolved::{Constant, DefRef, Kind, Local, LocalId, Name, Node, Tool};
use crate::suggest;
use ptc_bytecode::{
    BUILTINS, CONSTANTS, Code, Diagnostic, Literal, Meaning, NAMESPACES, Span, Subject, ToolName, constant,
    lookup, namespace, qualified,
};

/// Units of work to capture a name through one function.
const CAPTURE: usize = 8;

/// Units of work to compare a name with an unknown one.
const COMPARED_NAME: usize = 32;

impl<'a> Resolver<'a, '_> {
    /// Returns the index of the innermost local called `name`.
    pub(super) fn binding(&self, name: &str) -> Option<usize> {
        self.bindings.find(name)
    }

    pub(super) fn bind_name(&mut self, name: &'a str, span: Span) -> LocalId {
        let level = self.functions.len() - 1;
        let locals = &mut self.functions[level].locals;
        let id = LocalId(locals.len() as u32);
        locals.push(Local { name, assigned: false });
        self.bindings.push(Binding { name, level, what: Name::Local(id), tool: None, span });
        self.sight_local(span, self.bindings.len() - 1);
        id
    }

    /// Returns the name by which the current function reaches a binding, captured on the way if needed.
    fn reach(&mut self, index: usize) -> Name<'a> {
        let Binding { level, what, .. } = self.bindings[index];
        let mut name = what;
        let between = &mut self.functions[level + 1..];
        // Unpaid work has no effect here: the next node ends the walk.
        let _ = self.meter.pay(CAPTURE * between.len());
        for function in between {
            let captures = &mut function.captures;
            let position = *function.captured.entry(index).or_insert_with(|| {
                captures.push(name);
                captures.len() as u32 - 1
            });
            name = Name::Capture(position);
        }
        name
    }

    /// Resolves a symbol used as a value.
    pub(super) fn symbol(&mut self, name: &'a str, span: Span) -> Kind<'a> {
        if let Some(index) = self.binding(name) {
            self.sight_local(span, index);
            return Kind::Name(match self.bindings[index].tool {
                Some(tool) => Name::Tool(tool),
                None => self.reach(index),
            });
        }
        let name = self.in_full(name).unwrap_or(name);
        if let Some((space, member)) = split_qualified(name) {
            return self.qualified(name, space, member, span);
        }
        if let Some(found) = self.global(name) {
            self.sight_global(found, name, span);
            return Kind::Name(found);
        }
        if self.siblings.is_some() && matches!(name, "*1" | "*2" | "*3") {
            return self.no_history(name, span);
        }
        match name {
            "*1" => Kind::Name(Name::History(1)),
            "*2" => Kind::Name(Name::History(2)),
            "*3" => Kind::Name(Name::History(3)),
            _ => match constant(name) {
                Some(value) => Kind::Const(literal(value)),
                None => self.unbound(name, span),
            },
        }
    }

    /// Resolves a definition or builtin.
    fn global(&mut self, name: &'a str) -> Option<Name<'a>> {
        if let Some(sibling) = self.sibling(name) {
            return Some(sibling);
        }
        let builtin = lookup(name).filter(|_| self.library || !name.starts_with('%'));
        if self.library {
            // Library functions call each other as builtins, even across files.
            return builtin.map(Name::Builtin);
        }
        let known = self.def_ids.get(name).copied();
        let is_sure = match known {
            Some(def) => self.defs[def.0 as usize].is_certain,
            None => self.scope.has_def(name),
        };
        if is_sure {
            return Some(Name::Def(self.def_ref(name)));
        }
        // A definition inside a branch or function counts too, but does not hide a builtin: it may never have run.
        let level = self.functions.len();
        let is_pending = self.pending.iter().any(|(pending, outside)| *pending == name && *outside < level);
        match builtin {
            Some(id) if !is_pending => Some(Name::Builtin(id)),
            _ if is_pending || known.is_some_and(|def| self.is_declared(def)) => {
                Some(Name::Def(self.def_ref(name)))
            }
            _ => None,
        }
    }

    /// True if the text so far defines or declares it: its own value does not count.
    fn is_declared(&self, def: DefRef) -> bool {
        let entry = &self.defs[def.0 as usize];
        entry.definitions > 0 || entry.is_declared
    }

    /// Resolves a bare name inside `or` to the definition it may become, if nothing else has that name.
    pub(super) fn def_or_nil(&mut self, name: &'a str) -> Option<Name<'a>> {
        let is_builtin = lookup(name).is_some() || constant(name).is_some();
        let is_name = split_qualified(name).is_none() && !name.starts_with('%') && !name.starts_with('*');
        if !is_name || self.library || self.siblings.is_some() || self.binding(name).is_some() || is_builtin {
            return None;
        }
        let def = self.def_ref(name);
        (!self.defs[def.0 as usize].is_certain).then_some(Name::DefOrNil(def))
    }

    fn qualified(&mut self, name: &'a str, space: &'a str, member: &'a str, span: Span) -> Kind<'a> {
        match space {
            "data" | "ctx" => {
                // A finished task does not run again, so the data it read may be gone.
                if !self.is_done && self.data_names.insert(member) {
                    self.data.push((member, span));
                }
                return Kind::Name(Name::Data(member));
            }
            "memory" if self.siblings.is_some() => return self.unbound(name, span),
            // An older spelling of reading a definition.
            "memory" if !expand::is_form_name(name) => {
                let def = self.def_ref(member);
                let is_certain = self.defs[def.0 as usize].is_certain;
                return Kind::Name(if is_certain { Name::Def(def) } else { Name::DefOrNil(def) });
            }
            "memory" => return self.unbound(name, span),
            "budget" => {
                // A bare `budget/remaining` means the call.
                return match lookup(name) {
                    Some(id) => {
                        let callee = Node { span, kind: Kind::Name(Name::Builtin(id)) };
                        Kind::Call(self.alloc(callee), &[])
                    }
                    None => self.unknown_member(name, space, span),
                };
            }
            _ => {}
        }
        match qualified(space, member) {
            Some(Meaning::Builtin(id)) => return Kind::Name(Name::Builtin(id)),
            Some(Meaning::Constant(value)) => return Kind::Const(literal(value)),
            None => {}
        }
        if space == "tool" {
            // `tool/call` is the host's if it grants one, and may exist wherever a prelude is attached; otherwise
            // it and `tool/servers` belong to the language.
            let calls_upstream = member == ToolName::CALL
                && (self.siblings.is_some()
                    || self.scope.tools.as_ref().is_some_and(|tools| tools.contains(member)));
            if let Some(id) = lookup(name).filter(|_| !calls_upstream) {
                return Kind::Name(Name::Builtin(id));
            }
            return self.tool(member, span);
        }
        if let Some(kind) = self.export(name, space, span) {
            return kind;
        }
        if let Some(kind) = self.other_namespace(name, space, span) {
            return kind;
        }
        self.unknown_member(name, space, span)
    }

    fn tool(&mut self, name: &'a str, span: Span) -> Kind<'a> {
        if self.scope.has_tool(name) || self.is_done {
            return Kind::Name(Name::Tool(self.tool_ref(Tool::Named(name))));
        }
        if self.scope.private_tools.contains(name) {
            let message = format!("`tool/{name}` may only be called by a prelude");
            return self.fail(
                Diagnostic::error(Code::PrivateToolUnauthorized, span, message)
                    .hint("call the prelude function that wraps it; (all-ns) lists the namespaces"),
            );
        }
        if !self.is_worth_a_hint(name) {
            return Kind::Const(Constant::Nil);
        }
        // Tools with names that no program can write serve expansions.
        let granted =
            || self.scope.tools.iter().flatten().map(|tool| &**tool).filter(|tool| !tool.starts_with('%'));
        let mut problem =
            Diagnostic::error(Code::UnknownTool, span, format!("`tool/{name}` is not a granted tool"));
        problem = match suggest::nearest(name, granted()) {
            Some(near) => problem.suggest(&format!("tool/{near}")).fix(span, format!("tool/{near}")),
            None if granted().next().is_none() => problem.hint("no tools are granted to this program"),
            None => {
                let some: Vec<&str> = granted().take(20).collect();
                problem.hint(format!("granted tools: {}", some.join(", ")))
            }
        };
        self.fail(problem)
    }

    /// Resolves `#'name` to the var of a definition; builtins have none and stand for themselves.
    pub(super) fn var(&mut self, name: &'a str, span: Span) -> Kind<'a> {
        let found = self.global(name);
        if let Some(found) = found {
            // Behind the `#'`.
            self.sight_global(found, name, Span { start: span.start + 2, ..span });
        }
        match found {
            Some(Name::Def(def)) => Kind::Name(Name::Var(def)),
            Some(found) => Kind::Name(found),
            None => self.unbound(name, span),
        }
    }

    /// Resolves a builtin named by expansion.
    pub(super) fn builtin(&mut self, name: &'static str, span: Span) -> Kind<'a> {
        match lookup(name) {
            Some(id) => Kind::Name(Name::Builtin(id)),
            None => {
                let message = format!("this form needs the builtin `{name}`, which does not exist");
                self.fail(Diagnostic::error(Code::CompileError, span, message))
            }
        }
    }

    /// True if an unknown name is worth a search for suggestions: not if the error would be dropped anyway, and the
    /// search has to be paid for.
    #[cold]
    pub(super) fn is_worth_a_hint(&mut self, name: &str) -> bool {
        if self.sightings.is_some() {
            return false;
        }
        let misses = self.missing.entry(name.to_string()).or_default();
        *misses += 1;
        if *misses > MAX_MISSES || self.errors.len() >= 4 * MAX_ERRORS {
            return false;
        }
        let exports = self.scope.interface.as_ref().map_or(0, |interface| interface.names().count());
        let tools = self.scope.tools.as_ref().map_or(0, |tools| tools.len());
        let names = self.bindings.len() + self.defs.len() + self.scope.defs.len() + exports + tools;
        self.meter.pay(COMPARED_NAME * (names + BUILTINS.len()))
    }

    #[cold]
    pub(super) fn unbound(&mut self, name: &str, span: Span) -> Kind<'a> {
        if !self.is_worth_a_hint(name) {
            return Kind::Const(Constant::Nil);
        }
        if expand::is_placeholder(name) {
            return self.fail(
                Diagnostic::error(
                    Code::InvalidPlaceholder,
                    span,
                    format!("`{name}` is only allowed inside `#(…)`"),
                )
                .hint("write #(inc %), or (fn [x] (inc x))"),
            );
        }
        if name.starts_with('.') {
            return self.unknown_method(name, span);
        }
        if self.pending.iter().any(|(pending, _)| *pending == name) {
            let message = format!("`{name}` has no value yet inside its own definition");
            return self.fail(unbound(name, span, message).hint(format!(
                "start from another value; (or {name} 0) when an earlier turn may have set it"
            )));
        }
        // The whole program is searched; a form is about four bytes long.
        let bytes = self.forms.last().map_or(0, |last| last.span.end as usize);
        if !self.meter.pay(bytes / 4) {
            return Kind::Const(Constant::Nil);
        }
        if let Some(head) = defined_in(self.forms, name) {
            let message = format!("`{name}` is used before it is defined");
            return self.fail(unbound(name, span, message).hint(format!(
                "move ({head} {name} …) up; for functions that call each other write (declare {name}) first"
            )));
        }
        let mut problem = unbound(name, span, format!("`{name}` is not defined"));
        if let Some(hint) = self.hint_for(name) {
            problem = match hint {
                NameHint::Advice(text) => problem.hint(text),
                NameHint::Near(near) => problem.suggest(&near).fix(span, near),
            };
        }
        self.fail(problem)
    }

    /// True if `name` has no meaning here except as a known form or function of another Lisp.
    pub(super) fn is_refused(&mut self, name: &'a str) -> bool {
        // Called for every call, so the most common test comes first.
        lookup(name).is_none()
            && self.binding(name).is_none()
            && suggest::foreign(name).is_some()
            && self.global(name).is_none()
    }

    fn hint_for(&self, name: &str) -> Option<NameHint> {
        if expand::is_form_name(name) {
            let text = format!("`{name}` is a form, not a value: write it in parentheses, ({name} …)");
            return Some(NameHint::Advice(text));
        }
        let locals = self.bindings.iter().map(|binding| binding.name).filter(|name| !name.contains('·'));
        let defs = self.defs.iter().filter(|def| def.definitions > 0).map(|def| def.name);
        let earlier = self.scope.defs.iter().map(|name| &**name);
        let siblings = self.siblings.iter().flat_map(|siblings| siblings.names());
        let own = locals.chain(siblings).chain(defs).chain(earlier);
        if let Some(hint) = suggest::foreign(name) {
            // `chunk` is a function of Clojure, and a misspelling if the program has `chunks`.
            return Some(NameHint::Advice(match suggest::nearest(name, own) {
                Some(near) => format!("did you mean `{near}`? If not: {hint}"),
                None => hint.to_owned(),
            }));
        }
        let dashed = name.replace('_', "-");
        let is_known = |name: &str| {
            self.binding(name).is_some()
                || self.scope.has_def(name)
                || self.def_ids.get(name).is_some_and(|def| self.is_declared(*def))
                || lookup(name).is_some()
        };
        if dashed != name && is_known(&dashed) {
            return Some(NameHint::Near(dashed));
        }
        let builtins = BUILTINS.iter().map(|row| row.name).filter(|name| !name.starts_with('%'));
        let prefixed =
            builtins.clone().find(|known| split_qualified(known).is_some_and(|(_, own)| own == name));
        let constants = CONSTANTS.iter().map(|row| row.name);
        let all = own.chain(builtins).chain(constants);
        let near = prefixed.or_else(|| suggest::nearest(name, all));
        near.map(|near| NameHint::Near(near.to_string()))
    }

    #[cold]
    fn unknown_method(&mut self, name: &str, span: Span) -> Kind<'a> {
        let methods: Vec<&str> = BUILTINS.iter().map(|row| row.name).filter(|n| n.starts_with('.')).collect();
        let problem =
            Diagnostic::error(Code::UnsupportedMethod, span, format!("there is no method `{name}`"));
        let alike = alike(name, &methods);
        let problem = if let Some(hint) = suggest::foreign(name) {
            problem.hint(hint)
        } else if let Some(near) = suggest::nearest(name, methods.iter().copied()) {
            problem.suggest(near).fix(span, near)
        } else if !alike.is_empty() {
            problem.hint(format!("methods that begin in the same way: {}", alike.join(" ")))
        } else {
            let of_text = BUILTINS.iter().filter(|row| row.section == "Methods").map(|row| row.name);
            // Methods of dates would double the message.
            problem.hint(format!(
                "supported methods: {}; of dates .plusDays .isBefore .format .getYear and more",
                of_text.collect::<Vec<_>>().join(" ")
            ))
        };
        self.fail(problem)
    }

    #[cold]
    fn unknown_member(&mut self, name: &str, space: &str, span: Span) -> Kind<'a> {
        if !self.is_worth_a_hint(name) {
            return Kind::Const(Constant::Nil);
        }
        if space == "mcp" {
            let message = format!("`{name}` is not available");
            return self.fail(Diagnostic::error(Code::InvalidForm, span, message).hint(
                "(tool/servers) lists the servers, (tool/call {:server \"s\" :tool \"t\"}) calls one",
            ));
        }
        let member = &name[space.len() + 1..];
        let message = match namespace(space) {
            Some(_) => format!("there is no `{name}`"),
            None => format!("unknown namespace {name}: there is no `{space}` here"),
        };
        let problem = Diagnostic::error(Code::InvalidForm, span, message);
        let foreign = suggest::foreign(name).or_else(|| suggest::foreign(member));
        let problem = match (namespace(space), foreign) {
            (None, Some(hint)) => problem.hint(hint),
            (None, None) if self.scope.tools.as_ref().is_some_and(|tools| tools.contains("call")) => problem
                .hint(format!(
                    "a tool of a server is called with `(tool/call {{:server \"{space}\" :tool \"{member}\" :args {{…}}}})`"
                )),
            (None, None) => {
                let attached = self.scope.interface.iter().flat_map(|interface| interface.namespaces());
                let known = attached.chain(NAMESPACES.iter().map(|space| space.names[0]));
                let known: Vec<String> = known.map(|space| format!("{space}/")).collect();
                problem.hint(format!("namespaces: data/ tool/ {}", known.join(" ")))
            }
            (Some(found), foreign) if found.takes_all() => {
                let near =
                    suggest::nearest(member, bare_builtins()).map(|near| format!("did you mean `{near}`?"));
                match foreign.map(str::to_owned).or(near) {
                    Some(hint) => problem.hint(hint),
                    None => problem,
                }
            }
            (Some(_), Some(hint)) if lookup(member).is_none() => problem.hint(hint),
            (Some(found), _) => {
                let has = format!("`{space}/` has {}", found.list().join(" "));
                if lookup(member).is_some() {
                    problem.hint(format!("`{member}` takes no prefix; {has}"))
                } else if let Some(near) = suggest::nearest(member, found.spellings()) {
                    problem
                        .hint(format!("did you mean `{space}/{near}`? {has}"))
                        .fix(span, format!("{space}/{near}"))
                } else {
                    problem.hint(has)
                }
            }
        };
        self.fail(problem)
    }
}

/// Help for an unknown name.
enum NameHint {
    /// The name that was probably meant.
    Near(String),
    /// Any other text.
    Advice(String),
}

/// Returns the methods that share the first word of `name`: for `.getZone`, those that begin with `.get`.
fn alike<'name>(name: &str, methods: &[&'name str]) -> Vec<&'name str> {
    let word = |name: &str| name.find(|c: char| c.is_ascii_uppercase()).unwrap_or(name.len());
    let first = &name[..word(name)];
    methods.iter().copied().filter(|method| first.len() > 2 && &method[..word(method)] == first).collect()
}

/// Returns the builtins that a program writes without a prefix.
fn bare_builtins() -> impl Iterator<Item = &'static str> {
    BUILTINS
        .iter()
        .map(|row| row.name)
        .filter(|name| !name.starts_with('%') && split_qualified(name).is_none())
}

fn literal<'a>(value: Literal) -> Constant<'a> {
    match value {
        Literal::Int(n) => Constant::Int(n),
        Literal::Float(x) => Constant::Float(x),
        Literal::Keyword(name) => Constant::Keyword(name),
    }
}

/// Finds the form that defines `name` in these forms, for the message that it comes too late.
fn defined_in<'a>(forms: &[Form<'a>], name: &str) -> Option<&'a str> {
    forms.iter().find_map(|form| match form.kind {
        FormKind::List(
            [
                Form { kind: FormKind::Symbol(head @ ("def" | "defn" | "defn-" | "defonce")), .. },
                Form { kind: FormKind::Symbol(defined), .. },
                ..,
            ],
        ) if *defined == name => Some(*head),
        FormKind::List(items) => defined_in(items, name),
        _ => None,
    })
}

/// Makes the error for a name without a meaning here.
#[cold]
fn unbound(name: &str, span: Span, message: String) -> Diagnostic {
    Diagnostic::error(Code::UnboundVar, span, message).about(Subject::Name(name.to_string()))
}
