//! Walk through a program, once, with abstract [`Value`]s.

use super::value::{Closure, Combination, NIL, Name, Record, Value};
use super::{Compared, Comparison, Lookup, Of, Operand, Path, PathId, Reads, Relation, Step, ToolCall};
use crate::interface::Interface;
use crate::resolved::{
    Clause, Constant, DefRef, Kind, Lambda, LocalId, Name as Named, Node, Resolved, Tool, ToolRef,
};
use bumpalo::Bump;
use ptc_bytecode::{Span, ToolName};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Maximum depth of functions and forms: the walk recurses.
const MAX_DEPTH: u32 = 160;

/// Maximum paths, lookups and comparisons that are kept.
const MAX_KEPT: usize = 2_000;

/// Capacity reserved for paths and lookups when the first one appears.
const USUAL: usize = 24;

/// Maximum fields of a map that are distinguished; the keys of a larger one are data.
pub(super) const MAX_FIELDS: usize = 256;

/// Maximum depth of recorded arguments of tools.
const GIVEN_DEPTH: u32 = 4;

/// Abstract values of arguments.
pub(super) type Values<'a> = SmallVec<[Value<'a>; 6]>;

pub(super) struct Walk<'p, 'a> {
    pub program: &'p Resolved<'a>,
    /// Interface with the functions of preludes.
    pub interface: Option<&'a Interface>,
    /// Functions of the namespace being walked.
    pub siblings: &'p [&'a Lambda<'a>],
    pub arena: &'a Bump,
    pub reads: Reads,
    /// Index in `reads.lookups` of each place; the key distinguishes lookups of one form.
    places: BTreeMap<(u32, &'a str), usize>,
    /// First and next child of each path.
    children: Vec<(Option<u32>, Option<u32>)>,
    /// Paths without a parent.
    roots: Vec<PathId>,
    /// Values of the definitions the program made so far.
    definitions: Vec<Option<Value<'a>>>,
    /// Locals of the active functions, one frame after the other.
    locals: Vec<Value<'a>>,
    /// Active functions.
    frames: Vec<Frame<'a>>,
    /// New values for each active loop that has restarted.
    again: Vec<Option<Values<'a>>>,
    /// Lists under construction.
    builders: Vec<Value<'a>>,
    /// Functions already walked, including those walked with unknown arguments because their callers are unknown.
    called: Vec<*const Lambda<'a>>,
    escaped: Vec<*const Lambda<'a>>,
    pub steps_left: u32,
    /// Number of argument parts that may still be recorded.
    given_left: u32,
    depth: u32,
    /// Nesting depth of `try`, of parts that a run may skip, and of parts that run for every element.
    tries: u32,
    conditions: u32,
    iterations: u32,
    /// True to record nothing: only the values matter.
    pub silent: bool,
}

#[derive(Clone, Copy)]
struct Frame<'a> {
    closure: &'a Closure<'a>,
    clause: &'a Clause<'a>,
    base: usize,
}

impl<'p, 'a> Walk<'p, 'a> {
    pub fn new(program: &'p Resolved<'a>, arena: &'a Bump, steps: u32) -> Walk<'p, 'a> {
        Walk {
            program,
            interface: None,
            siblings: &[],
            arena,
            reads: Reads::default(),
            places: BTreeMap::new(),
            children: Vec::new(),
            roots: Vec::new(),
            definitions: vec![None; program.defs.len()],
            locals: Vec::new(),
            frames: Vec::new(),
            again: Vec::new(),
            builders: Vec::new(),
            called: Vec::new(),
            escaped: Vec::new(),
            steps_left: steps,
            given_left: steps,
            depth: 0,
            tries: 0,
            conditions: 0,
            iterations: 0,
            silent: false,
        }
    }

    pub fn over(
        program: &'p Resolved<'a>,
        interface: Option<&'a Interface>,
        arena: &'a Bump,
        steps: u32,
    ) -> Reads {
        let mut walk = Walk { interface, ..Walk::new(program, arena, steps) };
        if let Some(entry) = program.entry {
            let closure = arena.alloc(Closure { lambda: entry, captures: &[] });
            walk.call_function(closure, &[], false);
            walk.visit_uncalled();
        }
        if walk.steps_left == 0 {
            // The unseen part may look up anything in anything.
            walk.reads.lookups.iter_mut().for_each(|lookup| lookup.is_open = true);
            walk.reads.comparisons.clear();
            walk.reads.calls.clear();
            walk.reads.operands.clear();
        }
        walk.reads.lookups.sort_by_key(|lookup| lookup.span.start);
        walk.reads
    }

    /// Walks functions that nothing called, since the next turn may call them.
    fn visit_uncalled(&mut self) {
        for at in 0..self.definitions.len() {
            if let Some(value @ Value::Fn(closure)) = self.definitions[at]
                && !self.called.iter().any(|called| std::ptr::eq(*called, closure.lambda))
            {
                self.escape(value);
            }
        }
    }

    /// Pays for one step; false if the budget is used up.
    fn pay(&mut self) -> bool {
        self.steps_left = self.steps_left.saturating_sub(1);
        self.steps_left > 0
    }

    /// Pays for the items of a literal: long ones may be walked again and again.
    pub fn pay_items(&mut self, items: usize) {
        let steps = u32::try_from(items / 16).unwrap_or(u32::MAX);
        self.steps_left = self.steps_left.saturating_sub(steps);
    }

    /// Walks one level deeper, paid; None if that is too deep.
    fn deeper<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            self.steps_left = 0;
        }
        if !self.pay() {
            return None;
        }
        self.depth += 1;
        let value = walk(self);
        self.depth -= 1;
        Some(value)
    }

    /// Returns the value of a form. With `tested`, the result is only tested for presence, so a missing value is fine.
    pub fn visit(&mut self, node: &'a Node<'a>, tested: bool) -> Value<'a> {
        let value = self.deeper(|walk| walk.visit_kind(node, tested)).unwrap_or(Value::Unknown);
        if tested {
            self.guard(value);
        }
        value
    }

    fn visit_kind(&mut self, node: &'a Node<'a>, tested: bool) -> Value<'a> {
        match node.kind {
            Kind::Const(constant) => Value::Const(constant),
            Kind::Name(name) => self.name(name),
            Kind::Call(callee, args) => self.call(node.span, callee, args, tested),
            Kind::Vector(items) => {
                let items = self.visit_all(items);
                Value::Tuple(self.arena.alloc_slice_copy(&items))
            }
            Kind::Map(items) => self.map(items),
            Kind::Set(items) => {
                self.visit_all(items).into_iter().for_each(|item| self.escape(item));
                Value::Unknown
            }
            Kind::Cond(parts) => {
                let mut value = Value::Never;
                let (pairs, default) = parts.as_chunks::<2>();
                for (i, [test, result]) in pairs.iter().enumerate() {
                    match i {
                        0 => self.visit(test, true),
                        _ => self.perhaps(|walk| walk.visit(test, true)),
                    };
                    value = value.or(self.perhaps(|walk| walk.visit(result, tested)));
                }
                default
                    .iter()
                    .fold(value, |value, node| value.or(self.perhaps(|walk| walk.visit(node, tested))))
            }
            Kind::And(parts) => {
                let last = parts.len().saturating_sub(1);
                let mut value = NIL;
                for (i, part) in parts.iter().enumerate() {
                    let tested = tested || i < last;
                    value = match i {
                        0 => self.visit(part, tested),
                        _ => self.perhaps(|walk| walk.visit(part, tested)),
                    };
                }
                value
            }
            Kind::Or(parts) => {
                let part = |walk: &mut Self, (i, part)| match i {
                    0 => walk.visit(part, true),
                    _ => walk.perhaps(|walk| walk.visit(part, true)),
                };
                let parts = parts.iter().enumerate();
                parts.fold(Value::Never, |value, next| value.or(part(self, next)))
            }
            Kind::Do(body) => self.body(body, tested),
            Kind::Let(bindings, body) => {
                for (local, node) in bindings {
                    let value = self.visit(node, false);
                    self.set_local(*local, value);
                }
                self.body(body, tested)
            }
            Kind::Loop(bindings, body) => {
                let start: Values<'a> = bindings.iter().map(|(_, node)| self.visit(node, false)).collect();
                let locals: SmallVec<[LocalId; 6]> = bindings.iter().map(|(local, _)| *local).collect();
                self.repeat(&locals, start, |walk| walk.body(body, tested))
            }
            Kind::Recur(values) => {
                let values: Values<'a> = self.visit_all(values);
                if let Some(before) = self.again.last_mut() {
                    *before = Some(match before.take() {
                        Some(before) => before.into_iter().zip(values).map(|(a, b)| a.or(b)).collect(),
                        None => values,
                    });
                }
                Value::Never
            }
            Kind::Fn(lambda) => {
                let captures: Values<'a> = lambda.captures.iter().map(|name| self.name(*name)).collect();
                let captures = self.arena.alloc_slice_copy(&captures);
                Value::Fn(self.arena.alloc(Closure { lambda, captures }))
            }
            Kind::Define(def, once, node) => {
                let value = self.visit(node, false);
                let slot = &mut self.definitions[def.0 as usize];
                *slot = Some(match slot {
                    _ if once => Value::Unknown,
                    Some(before) if *before != value => Value::Unknown,
                    _ => value,
                });
                Value::Unknown
            }
            Kind::Finish(node) | Kind::Fail(node) | Kind::Throw(node) => {
                self.visit(node, false);
                Value::Never
            }
            Kind::Exit(node) | Kind::Deliver(node) => {
                self.visit(node, false);
                Value::Never
            }
            Kind::Try([body, handler]) => {
                let body = self.visit(body, false);
                self.tries += 1;
                let value = self.apply(body, &[], node.span, tested);
                self.tries -= 1;
                let handler = self.visit(handler, false);
                let caught = self.perhaps(|walk| walk.apply(handler, &[Value::Unknown], node.span, tested));
                value.or(caught)
            }
            Kind::Each(local, coll, body) => {
                let coll = self.visit(coll, false);
                let element = self.element(coll);
                self.set_local(local, element);
                self.repeatedly(|walk| walk.body(body, false));
                NIL
            }
            Kind::Break => Value::Never,
            Kind::Assign(local, node) => {
                let value = self.visit(node, false);
                let value = self.local(local).or(value);
                self.set_local(local, value);
                NIL
            }
        }
    }

    pub fn visit_all(&mut self, nodes: &'a [Node<'a>]) -> Values<'a> {
        nodes.iter().map(|node| self.visit(node, false)).collect()
    }

    fn body(&mut self, nodes: &'a [Node<'a>], tested: bool) -> Value<'a> {
        let last = nodes.len().saturating_sub(1);
        let mut value = NIL;
        for (i, node) in nodes.iter().enumerate() {
            value = self.visit(node, tested && i == last);
        }
        value
    }

    fn map(&mut self, items: &'a [Node<'a>]) -> Value<'a> {
        let mut fields: SmallVec<[(Name<'a>, Value<'a>); 8]> = SmallVec::new();
        let mut is_open = items.len() / 2 > MAX_FIELDS;
        let mut all = Value::Never;
        for [key, value] in items.as_chunks::<2>().0 {
            let (key, value) = (self.visit(key, false), self.visit(value, false));
            if let Value::Fn(_) | Value::Made(..) = value {
                // The function may be fetched later and then called with anything.
                self.escape(value);
            }
            all = all.or(value);
            match Name::of(key) {
                Some(name) if !is_open => fields.push((name, value)),
                _ => is_open = true,
            }
        }
        match is_open {
            true => Value::Index(self.arena.alloc(all)),
            false => Value::Record(self.arena.alloc(Record {
                base: None,
                fields: self.arena.alloc_slice_copy(&fields),
                by: None,
            })),
        }
    }

    fn name(&mut self, name: Named<'a>) -> Value<'a> {
        match name {
            Named::Local(local) => self.local(local),
            Named::Capture(at) => {
                let captures = self.frames.last().map(|frame| frame.closure.captures);
                captures.and_then(|captures| captures.get(at as usize)).copied().unwrap_or(Value::Unknown)
            }
            Named::This => self.frames.last().map_or(Value::Unknown, |frame| Value::Fn(frame.closure)),
            Named::Def(def) | Named::DefOrNil(def) => self.definition(def),
            Named::Builtin(id) => Value::Builtin(id),
            Named::Tool(tool) => Value::Tool(tool),
            Named::Data(name) => {
                let is_same = |step: &Step| matches!(step, Step::Data(known) if **known == *name);
                self.root_of(is_same, || Step::Data(name.into()))
            }
            Named::Sibling(id) => match self.siblings.get(id as usize) {
                Some(lambda) => Value::Fn(self.arena.alloc(Closure { lambda, captures: &[] })),
                None => Value::Unknown,
            },
            Named::Var(_) | Named::Fixed(_) | Named::History(_) => Value::Unknown,
        }
    }

    fn definition(&mut self, def: DefRef) -> Value<'a> {
        match self.definitions.get(def.0 as usize) {
            Some(Some(value)) => *value,
            _ => match self.program.defs.get(def.0 as usize) {
                Some(name) if self.returns(name).is_some() => Value::Export(def),
                Some(name) => self.root(Step::Definition((*name).into())),
                None => Value::Unknown,
            },
        }
    }

    fn local(&self, local: LocalId) -> Value<'a> {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        self.locals.get(base + local.0 as usize).copied().unwrap_or(Value::Unknown)
    }

    fn set_local(&mut self, local: LocalId, value: Value<'a>) {
        let base = self.frames.last().map_or(0, |frame| frame.base);
        if let Some(slot) = self.locals.get_mut(base + local.0 as usize) {
            *slot = value;
        }
    }

    /// Returns the program's name for a local.
    pub fn local_name(&self, node: &Node<'a>) -> Option<&'a str> {
        let Kind::Name(Named::Local(local)) = node.kind else { return None };
        Some(self.frames.last()?.clause.locals.get(local.0 as usize)?.name)
    }

    /// Walks a body that may restart with other values of these locals.
    fn repeat(
        &mut self,
        locals: &[LocalId],
        start: Values<'a>,
        mut body: impl FnMut(&mut Self) -> Value<'a>,
    ) -> Value<'a> {
        let mut round = |walk: &mut Self, values: &Values<'a>| {
            locals.iter().zip(values).for_each(|(local, value)| walk.set_local(*local, *value));
            walk.again.push(None);
            let value = body(walk);
            (value, walk.again.pop().flatten())
        };
        // One silent pass finds the values it restarts with, unless it is known not to restart.
        let (_, again) = self.quietly(|walk| round(walk, &start));
        let values = match again {
            None => start,
            Some(again) => {
                start.into_iter().zip(again).map(|(start, again)| self.either_list(start, again)).collect()
            }
        };
        round(self, &values).0
    }

    /// Walks code for its value alone.
    pub fn quietly<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        let silent = std::mem::replace(&mut self.silent, true);
        let value = walk(self);
        self.silent = silent;
        value
    }

    /// Joins two values; a list and its rest are lists of the same elements.
    pub fn either_list(&mut self, start: Value<'a>, again: Value<'a>) -> Value<'a> {
        match (start, again) {
            (Value::Path(_), Value::List(element)) if self.element(start) == *element => again,
            _ => start.or(again),
        }
    }

    fn call(&mut self, span: Span, callee: &'a Node<'a>, args: &'a [Node<'a>], tested: bool) -> Value<'a> {
        if let Kind::Name(Named::Builtin(id)) = callee.kind {
            return self.call_builtin(span, id, args, tested);
        }
        let function = self.visit(callee, false);
        let values = self.visit_all(args);
        match function {
            // The place of the lookup is its key; the map is the value it is looked up in.
            Value::Const(_) => self.apply(function, &values, callee.span, tested),
            _ => self.apply(function, &values, span, tested),
        }
    }

    /// Returns the value of a call.
    pub fn apply(&mut self, function: Value<'a>, args: &[Value<'a>], place: Span, tested: bool) -> Value<'a> {
        match function {
            Value::Fn(closure) => self.call_function(closure, args, tested),
            Value::Builtin(id) => self.apply_builtin(id, args, place, tested),
            Value::Const(Constant::Keyword(_)) => match args {
                [of] => self.look_up(*of, function, place, tested),
                [of, default] => self.look_up(*of, function, place, true).or(*default),
                _ => Value::Unknown,
            },
            Value::Record(_) | Value::Index(_) | Value::Path(_) => match args {
                [key] => self.look_up(function, *key, place, tested),
                [key, default] => self.look_up(function, *key, place, true).or(*default),
                _ => Value::Unknown,
            },
            Value::Tool(tool) => {
                args.iter().for_each(|arg| self.escape(*arg));
                self.call_tool(tool, args, place)
            }
            Value::Made(combination, parts) => {
                let made = self.deeper(|walk| walk.apply_made(combination, parts, args, place, tested));
                made.unwrap_or(Value::Unknown)
            }
            Value::Export(def) => {
                args.iter().for_each(|arg| self.escape(*arg));
                self.returned(def)
            }
            _ => {
                args.iter().for_each(|arg| self.escape(*arg));
                Value::Unknown
            }
        }
    }

    fn apply_made(
        &mut self,
        combination: Combination,
        parts: &'a [Value<'a>],
        args: &[Value<'a>],
        place: Span,
        tested: bool,
    ) -> Value<'a> {
        match combination {
            Combination::Juxt => {
                let values: Values<'a> =
                    parts.iter().map(|part| self.apply(*part, args, place, false)).collect();
                Value::Tuple(self.arena.alloc_slice_copy(&values))
            }
            Combination::Comp => {
                let Some((last, before)) = parts.split_last() else {
                    return args.first().copied().unwrap_or(NIL);
                };
                let value = self.apply(*last, args, place, false);
                before.iter().rev().fold(value, |value, part| self.apply(*part, &[value], place, tested))
            }
            Combination::Partial => {
                let Some((function, first)) = parts.split_first() else { return Value::Unknown };
                let all: Values<'a> = first.iter().chain(args).copied().collect();
                self.apply(*function, &all, place, tested)
            }
            Combination::Asks => {
                parts.iter().for_each(|part| _ = self.apply(*part, args, place, true));
                Value::Unknown
            }
            Combination::TakesNil => {
                args.iter().for_each(|arg| self.guard(*arg));
                parts.first().map_or(Value::Unknown, |function| self.apply(*function, args, place, tested))
            }
            Combination::Constantly => parts.first().copied().unwrap_or(NIL),
        }
    }

    /// Walks a call of a tool with a map, or with keys and values in turn.
    fn call_tool(&mut self, tool: ToolRef, args: &[Value<'a>], span: Span) -> Value<'a> {
        let Some(tool) = self.program.tools.get(tool.0 as usize) else { return Value::Unknown };
        let args = match args {
            [args] => *args,
            pairs => {
                let is_key = |key: &Value<'a>| matches!(key, Value::Const(Constant::Keyword(_)));
                match pairs.iter().step_by(2).all(is_key) {
                    true => self.assoc(NIL, pairs),
                    false => Value::Unknown,
                }
            }
        };
        let tool = operation(args).filter(|_| *tool == Tool::Named(ToolName::CALL)).unwrap_or((*tool).into());
        if !self.silent && self.tries == 0 && self.reads.calls.len() < MAX_KEPT {
            let call =
                ToolCall { span, tool: tool.clone(), args: args.given(GIVEN_DEPTH, &mut self.given_left) };
            if !self.reads.calls.contains(&call) {
                self.reads.calls.push(call);
            }
        }
        self.root(Step::Answer(tool))
    }

    /// Walks a function with these arguments.
    pub fn call_function(&mut self, closure: &'a Closure<'a>, args: &[Value<'a>], tested: bool) -> Value<'a> {
        let lambda = closure.lambda;
        let under_way = self.frames.iter().filter(|frame| std::ptr::eq(frame.closure.lambda, lambda)).count();
        let Some(clause) = lambda.clauses.iter().find(|clause| clause.takes(args.len())) else {
            return Value::Unknown;
        };
        // A recursive function may be called with anything: one more pass with unknown arguments covers all calls.
        let anything: Values<'a> = args.iter().map(|_| Value::Unknown).collect();
        let args = match under_way {
            0 => args,
            1 => &anything,
            _ => return Value::Unknown,
        };
        if !self.pay() {
            return Value::Unknown;
        }
        if !self.silent && !self.called.iter().any(|called| std::ptr::eq(*called, lambda)) {
            self.called.push(lambda);
        }
        let base = self.locals.len();
        self.locals.resize(base + clause.locals.len(), Value::Unknown);
        self.frames.push(Frame { closure, clause, base });
        let required = usize::from(clause.required).min(args.len());
        let mut params: Values<'a> = args[..required].iter().copied().collect();
        if clause.rest {
            let more = &args[required..];
            params.push(if more.is_empty() { NIL } else { Value::Tuple(self.arena.alloc_slice_copy(more)) });
        }
        let locals: SmallVec<[LocalId; 6]> = (0..params.len() as u32).map(LocalId).collect();
        let value = match clause.restarts {
            true => self.repeat(&locals, params, |walk| walk.body(clause.body, tested)),
            false => {
                locals.iter().zip(&params).for_each(|(local, value)| self.set_local(*local, *value));
                self.body(clause.body, tested)
            }
        };
        self.frames.pop();
        self.locals.truncate(base);
        if under_way > 0 { Value::Unknown } else { value }
    }

    /// Handles a value that reaches unknown code: a function may be called with anything.
    pub fn escape(&mut self, value: Value<'a>) {
        match value {
            Value::Fn(closure) => {
                let lambda: *const Lambda<'a> = closure.lambda;
                if self.silent || self.escaped.contains(&lambda) {
                    return;
                }
                self.escaped.push(lambda);
                for clause in closure.lambda.clauses {
                    let args: Values<'a> = (0..clause.params()).map(|_| Value::Unknown).collect();
                    self.perhaps(|walk| walk.call_function(closure, &args, false));
                }
            }
            Value::Made(_, parts) | Value::Tuple(parts) => {
                self.deeper(|walk| parts.iter().for_each(|part| walk.escape(*part)));
            }
            _ => {}
        }
    }

    /// Returns the elements of a list, or the entries of a map.
    pub fn element(&mut self, coll: Value<'a>) -> Value<'a> {
        match coll {
            Value::Path(path) => self.step(path, Step::Each),
            Value::List(element) => *element,
            Value::Tuple(items) => {
                self.pay_items(items.len());
                items.iter().fold(Value::Never, |all, item| all.or(*item))
            }
            Value::Index(value) => Value::Tuple(self.arena.alloc_slice_copy(&[Value::Unknown, *value])),
            Value::Const(Constant::Nil) => Value::Never,
            Value::Const(Constant::Vector(items)) => {
                self.pay_items(items.len());
                items.iter().fold(Value::Never, |all, item| all.or(Value::Const(*item)))
            }
            _ => Value::Unknown,
        }
    }

    /// Returns the element at a position.
    pub fn nth(&mut self, coll: Value<'a>, at: u32) -> Value<'a> {
        match coll {
            Value::Path(path) => self.step(path, Step::Nth(at)),
            Value::Tuple(items) => items.get(at as usize).copied().unwrap_or(NIL),
            Value::Const(Constant::Vector(items)) => {
                items.get(at as usize).map_or(NIL, |item| Value::Const(*item))
            }
            coll => self.element(coll),
        }
    }

    /// Returns the values of a map.
    pub fn values_of(&mut self, map: Value<'a>) -> Value<'a> {
        match map {
            Value::Path(path) => self.step(path, Step::Values),
            Value::Index(value) => *value,
            Value::Record(Record { base: None, fields, .. }) => {
                self.pay_items(fields.len());
                fields.iter().fold(Value::Never, |all, (_, value)| all.or(*value))
            }
            _ => Value::Unknown,
        }
    }

    /// Returns the fields of a map, and pays for searching them.
    fn fields(&mut self, record: &'a Record<'a>) -> &'a [(Name<'a>, Value<'a>)] {
        self.pay_items(record.fields.len());
        record.fields
    }

    /// Looks up a field.
    pub fn look_up(&mut self, of: Value<'a>, key: Value<'a>, place: Span, tested: bool) -> Value<'a> {
        if !self.pay() {
            return Value::Unknown;
        }
        if let Value::Const(Constant::Int(at)) = key {
            return u32::try_from(at).map_or(NIL, |at| self.nth(of, at));
        }
        let Some(name) = Name::of(key) else {
            // An unknown key: it finds one of the values, if any.
            return if let Value::Path(_) | Value::Index(_) = of {
                self.values_of(of)
            } else {
                Value::Unknown
            };
        };
        match of {
            Value::Path(path) => {
                self.write_down(place, name, Some(Of::Path(path)), tested, false);
                let value = self.field(path, name);
                if tested {
                    self.guard(value);
                }
                value
            }
            Value::Record(record) => {
                match self.fields(record).iter().rev().find(|(known, _)| name.finds(*known)) {
                    // The field exists, so a watch on it will see it.
                    Some((_, value)) => *value,
                    None => match record.base {
                        Some(base) => self.look_up(Value::Path(base), key, place, tested),
                        None => {
                            let keys = record.fields.iter().map(|(name, _)| name.key()).collect();
                            let by = record.by.map(Into::into);
                            self.write_down(place, name, Some(Of::Made { keys, by }), tested, false);
                            NIL
                        }
                    },
                }
            }
            Value::Index(value) => {
                // Keys that are data may be missing.
                self.write_down(place, name, None, true, false);
                *value
            }
            _ => {
                self.write_down(place, name, None, tested, false);
                Value::Unknown
            }
        }
    }

    /// Records the removal of a field.
    pub fn remove(&mut self, of: Value<'a>, key: Value<'a>, place: Span) {
        if let (Value::Path(path), Some(name)) = (of, Name::of(key)) {
            self.write_down(place, name, Some(Of::Path(path)), false, true);
        }
    }

    fn write_down(&mut self, span: Span, name: Name<'a>, of: Option<Of>, guarded: bool, is_removed: bool) {
        if self.silent {
            return;
        }
        let next = self.reads.lookups.len();
        let at = *self.places.entry((span.start, name.text)).or_insert(next);
        if at == next {
            if next >= MAX_KEPT {
                self.steps_left = 0;
                return;
            }
            if next == 0 {
                self.reads.lookups.reserve(USUAL);
            }
            let (of, is_open, guarded) = (Vec::with_capacity(1), false, false);
            let lookup = Lookup { span, key: name.key(), of, is_open, guarded, is_removed };
            self.reads.lookups.push(lookup);
        }
        let Some(lookup) = self.reads.lookups.get_mut(at) else { return };
        lookup.guarded |= guarded;
        match of {
            Some(of) if !lookup.of.contains(&of) => lookup.of.push(of),
            Some(_) => {}
            None => lookup.is_open = true,
        }
    }

    /// Records a comparison of a value with a constant.
    pub fn compare(&mut self, span: Span, by: Relation, value: Value<'a>, constant: Compared) {
        let of = match value {
            Value::Path(path) => Compared::Path(path),
            Value::Number => Compared::Number,
            _ if constant == Compared::Nil => Compared::Nil,
            _ => return,
        };
        if !self.silent && self.reads.comparisons.len() < MAX_KEPT {
            let comparison = Comparison { span, by, of, constant };
            if !self.reads.comparisons.contains(&comparison) {
                self.reads.comparisons.push(comparison);
            }
        }
    }

    /// Records arithmetic on a value.
    pub fn compute(&mut self, span: Span, builtin: &'static str, value: Value<'a>) {
        let is_certain = !self.silent && self.tries == 0 && self.conditions == 0 && self.iterations <= 1;
        if let Value::Path(path) = value
            && is_certain
            && self.reads.operands.len() < MAX_KEPT
        {
            let operand = Operand { span, builtin, path };
            if !self.reads.operands.contains(&operand) {
                self.reads.operands.push(operand);
            }
        }
    }

    /// Walks a part that a run may skip.
    pub fn perhaps<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.conditions += 1;
        let value = walk(self);
        self.conditions -= 1;
        value
    }

    /// Walks a part that runs for every element.
    pub fn repeatedly<T>(&mut self, walk: impl FnOnce(&mut Self) -> T) -> T {
        self.iterations += 1;
        let value = walk(self);
        self.iterations -= 1;
        value
    }

    /// Marks a value as one whose absence the program handles.
    pub fn guard(&mut self, value: Value<'a>) {
        if let Value::Path(path) = value {
            self.reads.paths[path.0 as usize].guarded = true;
        }
    }

    pub fn root(&mut self, step: Step) -> Value<'a> {
        self.root_of(|known| *known == step, || step.clone())
    }

    /// Returns the path of this root, or a new one; only a new one takes memory.
    fn root_of(&mut self, is_same: impl Fn(&Step) -> bool, step: impl FnOnce() -> Step) -> Value<'a> {
        let known = self.roots.iter().find(|root| is_same(&self.reads.paths[root.0 as usize].step));
        if let Some(known) = known {
            return Value::Path(*known);
        }
        let root = self.add(None, step());
        if let Value::Path(root) = root {
            self.roots.push(root);
        }
        root
    }

    pub fn step(&mut self, parent: PathId, step: Step) -> Value<'a> {
        self.step_of(parent, |known| *known == step, || step.clone())
    }

    fn field(&mut self, parent: PathId, name: Name<'a>) -> Value<'a> {
        let is_same = |step: &Step| match step {
            Step::Field(key) => *key.name == *name.text && key.is_keyword == name.is_keyword,
            _ => false,
        };
        self.step_of(parent, is_same, || Step::Field(name.key()))
    }

    /// Returns the path of this step from a parent, or a new one.
    fn step_of(
        &mut self,
        parent: PathId,
        is_same: impl Fn(&Step) -> bool,
        step: impl FnOnce() -> Step,
    ) -> Value<'a> {
        let mut child = self.children[parent.0 as usize].0;
        while let Some(at) = child {
            if is_same(&self.reads.paths[at as usize].step) {
                return Value::Path(PathId(at));
            }
            child = self.children[at as usize].1;
        }
        self.add(Some(parent), step())
    }

    fn add(&mut self, parent: Option<PathId>, step: Step) -> Value<'a> {
        let id = self.reads.paths.len();
        if id >= MAX_KEPT {
            self.steps_left = 0;
            return Value::Unknown;
        }
        if id == 0 {
            // Programs that read anything mostly read a dozen fields: growing to that in steps took as long as the
            // walk.
            self.reads.paths.reserve(USUAL);
            self.children.reserve(USUAL);
        }
        self.reads.paths.push(Path { parent, step, guarded: false });
        let before = parent.map(|parent| self.children[parent.0 as usize].0.replace(id as u32));
        self.children.push((None, before.flatten()));
        Value::Path(PathId(id as u32))
    }

    pub fn new_builder(&mut self) -> Value<'a> {
        self.builders.push(Value::Never);
        Value::Builder(self.builders.len() as u32 - 1)
    }

    pub fn push(&mut self, builder: Value<'a>, value: Value<'a>) {
        if let Value::Builder(at) = builder
            && let Some(held) = self.builders.get_mut(at as usize)
        {
            *held = held.or(value);
        }
    }

    pub fn built(&mut self, builder: Value<'a>) -> Value<'a> {
        match builder {
            Value::Builder(at) => self.builders.get(at as usize).copied().unwrap_or(Value::Unknown),
            _ => Value::Unknown,
        }
    }
}

/// Returns the operation of a server that the arguments of `tool/call` name.
fn operation(args: Value<'_>) -> Option<ToolName> {
    let text = |wanted: &str| match args {
        Value::Record(record) => record.fields.iter().rev().find_map(|(name, value)| match value {
            Value::Const(Constant::Str(text)) if name.text == wanted => Some(Box::from(*text)),
            _ => None,
        }),
        _ => None,
    };
    Some(ToolName::Upstream { server: text("server")?, tool: text("tool")? })
}
