//! Walk through a program that follows parts of its data.

use super::{Projection, Projections};
use crate::resolved::{Clause, Constant, DefRef, Kind, Lambda, Name, Node, Resolved};
use ptc_bytecode::Key;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Maximum forms that are walked, and their maximum nesting: the walk recurses, and walks functions at each call.
const MAX_STEPS: u32 = 50_000;
const MAX_DEPTH: u32 = 200;

/// Maximum parts that one value may be: more are used in full.
const MAX_PARTS: usize = 8;

/// Parts that a value may be; none for a value that is no part of the data, or of one that counts as used in full.
type Parts = SmallVec<[u32; 2]>;

/// A part of the data.
struct Part<'a> {
    /// True if the program may observe all of it.
    is_whole: bool,
    members: Vec<(Literal<'a>, u32)>,
}

/// A literal key: its text, and true for a keyword.
type Literal<'a> = (&'a str, bool);

pub(super) struct Walk<'a> {
    parts: Vec<Part<'a>>,
    /// Parts of the data that the program names.
    data: Vec<(&'a str, u32)>,
    /// Function of each definition that is defined once, by a function that captures nothing.
    functions: Vec<Option<&'a Lambda<'a>>>,
    /// The definition `step`, and the part that is its second argument.
    step: Option<DefRef>,
    row: u32,
    /// Functions being walked.
    active: Vec<*const Lambda<'a>>,
    steps_left: u32,
    depth: u32,
}

/// Locals and captures of the function being walked.
struct Frame {
    locals: Vec<Parts>,
    captures: Vec<Parts>,
}

impl<'a> Walk<'a> {
    pub fn over(program: &Resolved<'a>) -> Projections {
        let Some(entry) = program.entry else { return Projections::unknown() };
        let step = program.defs.iter().position(|name| *name == "step").map(|at| DefRef(at as u32));
        let mut walk = Walk {
            parts: Vec::new(),
            data: Vec::new(),
            functions: vec![None; program.defs.len()],
            step,
            row: 0,
            active: Vec::new(),
            steps_left: MAX_STEPS,
            depth: 0,
        };
        walk.row = walk.add();
        walk.find_functions(entry);
        let is_followed = step.is_some_and(|step| walk.functions[step.0 as usize].is_some());
        if !is_followed {
            walk.parts[0].is_whole = true;
        }
        walk.function(entry, &[], Vec::new());
        if walk.steps_left == 0 {
            return Projections::unknown();
        }
        let data = walk.data.iter().map(|(name, part)| ((*name).into(), walk.projection(*part))).collect();
        Projections { data, step: walk.projection(walk.row), is_unknown: false }
    }

    fn add(&mut self) -> u32 {
        self.parts.push(Part { is_whole: false, members: Vec::new() });
        self.parts.len() as u32 - 1
    }

    fn projection(&self, part: u32) -> Projection {
        let part = &self.parts[part as usize];
        if part.is_whole {
            return Projection::whole();
        }
        let members = part.members.iter();
        members.fold(Projection::default(), |all, ((name, is_keyword), member)| {
            all.with(Key { name: (*name).into(), is_keyword: *is_keyword }, self.projection(*member))
        })
    }

    /// Finds the definitions whose calls can be followed.
    fn find_functions(&mut self, entry: &'a Lambda<'a>) {
        let mut defined = BTreeSet::new();
        let mut waiting: Vec<Node<'a>> = bodies(entry).copied().collect();
        while let Some(node) = waiting.pop() {
            self.steps_left = self.steps_left.saturating_sub(1);
            if self.steps_left == 0 {
                return;
            }
            if let Kind::Define(def, once, value) = node.kind {
                let function = match value.kind {
                    Kind::Fn(lambda) if !once && lambda.captures.is_empty() => Some(lambda),
                    _ => None,
                };
                self.functions[def.0 as usize] = function.filter(|_| defined.insert(def));
                defined.insert(def);
            }
            if let Kind::Fn(lambda) = node.kind {
                waiting.extend(bodies(lambda).copied());
            }
            node.for_each_child(|child| waiting.push(*child));
        }
    }

    /// Walks every clause of a function whose arguments are no parts of the data. Its results go anywhere.
    fn function(&mut self, lambda: &'a Lambda<'a>, args: &[Parts], captures: Vec<Parts>) {
        for clause in lambda.clauses {
            let args = if clause.params() == args.len() && !clause.rest { args } else { &[] };
            let result = self.clause(lambda, clause, args, captures.clone());
            self.take(&result);
        }
    }

    fn clause(
        &mut self,
        lambda: &'a Lambda<'a>,
        clause: &'a Clause<'a>,
        args: &[Parts],
        captures: Vec<Parts>,
    ) -> Parts {
        let mut locals = args.to_vec();
        locals.resize(clause.locals.len().max(args.len()), Parts::new());
        let mut frame = Frame { locals, captures };
        self.active.push(lambda);
        let result = self.body(clause.body, &mut frame);
        self.active.pop();
        result
    }

    fn body(&mut self, nodes: &'a [Node<'a>], frame: &mut Frame) -> Parts {
        nodes.iter().fold(Parts::new(), |_, node| self.visit(node, frame))
    }

    /// Walks a form; returns the parts of the data that its value may be.
    fn visit(&mut self, node: &'a Node<'a>, frame: &mut Frame) -> Parts {
        if self.depth >= MAX_DEPTH {
            self.steps_left = 0;
        }
        self.steps_left = self.steps_left.saturating_sub(1);
        if self.steps_left == 0 {
            return Parts::new();
        }
        self.depth += 1;
        let parts = self.visit_kind(node, frame);
        self.depth -= 1;
        parts
    }

    fn visit_kind(&mut self, node: &'a Node<'a>, frame: &mut Frame) -> Parts {
        match node.kind {
            Kind::Const(_) | Kind::Break => Parts::new(),
            Kind::Name(name) => self.name(name, frame),
            Kind::Call(callee, args) => self.call(callee, args, frame),
            Kind::Vector(items) | Kind::Map(items) | Kind::Set(items) | Kind::Recur(items) => {
                items.iter().for_each(|item| self.use_up(item, frame));
                Parts::new()
            }
            Kind::Cond(parts) => {
                let (pairs, default) = parts.as_chunks::<2>();
                let mut all = Parts::new();
                for [test, result] in pairs {
                    self.visit(test, frame);
                    let result = self.visit(result, frame);
                    all = self.either(all, result);
                }
                for result in default {
                    let result = self.visit(result, frame);
                    all = self.either(all, result);
                }
                all
            }
            Kind::And(parts) | Kind::Or(parts) => {
                let mut all = Parts::new();
                for part in parts {
                    let part = self.visit(part, frame);
                    all = self.either(all, part);
                }
                all
            }
            Kind::Do(body) => self.body(body, frame),
            // A value that `recur` assigns is used in full, so a local is its start value or no part of the data.
            Kind::Let(bindings, body) | Kind::Loop(bindings, body) => {
                for (local, value) in bindings {
                    let value = self.visit(value, frame);
                    if let Some(slot) = frame.locals.get_mut(local.0 as usize) {
                        *slot = value;
                    }
                }
                self.body(body, frame)
            }
            Kind::Fn(lambda) => {
                self.closure(lambda, &[], frame);
                Parts::new()
            }
            Kind::Define(def, _, Node { kind: Kind::Fn(lambda), .. }) if Some(def) == self.step => {
                let row: Parts = std::iter::once(self.row).collect();
                // An arity with other parameters gets its records from nowhere.
                if !lambda.clauses.iter().any(|clause| clause.params() == 2 && !clause.rest) {
                    self.take(&row);
                }
                self.closure(lambda, &[Parts::new(), row], frame);
                Parts::new()
            }
            Kind::Define(_, _, value)
            | Kind::Finish(value)
            | Kind::Fail(value)
            | Kind::Throw(value)
            | Kind::Exit(value)
            | Kind::Deliver(value)
            | Kind::Assign(_, value) => {
                self.use_up(value, frame);
                Parts::new()
            }
            Kind::Try([body, handler]) => {
                self.use_up(body, frame);
                self.use_up(handler, frame);
                Parts::new()
            }
            Kind::Each(local, coll, body) => {
                self.use_up(coll, frame);
                if let Some(slot) = frame.locals.get_mut(local.0 as usize) {
                    slot.clear();
                }
                self.body(body, frame);
                Parts::new()
            }
        }
    }

    fn closure(&mut self, lambda: &'a Lambda<'a>, args: &[Parts], frame: &mut Frame) {
        let captures = lambda.captures.iter().map(|name| self.name(*name, frame)).collect();
        self.function(lambda, args, captures);
    }

    fn name(&mut self, name: Name<'a>, frame: &Frame) -> Parts {
        match name {
            Name::Local(local) => frame.locals.get(local.0 as usize).cloned().unwrap_or_default(),
            Name::Capture(at) => frame.captures.get(at as usize).cloned().unwrap_or_default(),
            Name::Data(name) => {
                let known = self.data.iter().find(|(known, _)| *known == name).map(|(_, part)| *part);
                let part = known.unwrap_or_else(|| {
                    let part = self.add();
                    self.data.push((name, part));
                    part
                });
                std::iter::once(part).collect()
            }
            // A value that is stored in a definition is used in full there.
            Name::This
            | Name::Def(_)
            | Name::DefOrNil(_)
            | Name::Var(_)
            | Name::Builtin(_)
            | Name::Tool(_)
            | Name::Sibling(_)
            | Name::Fixed(_)
            | Name::History(_) => Parts::new(),
        }
    }

    fn call(&mut self, callee: &'a Node<'a>, args: &'a [Node<'a>], frame: &mut Frame) -> Parts {
        match (callee.kind, args) {
            (Kind::Const(Constant::Keyword(name)), [of, default @ ..]) if default.len() < 2 => {
                self.look_up(of, &[(name, true)], default, frame)
            }
            (Kind::Name(Name::Builtin(id)), args) => {
                let name = id.row().map_or("", |row| row.name);
                self.call_builtin(name, args, frame)
            }
            (Kind::Name(Name::Def(def)), args) => self.call_definition(def, args, frame),
            (Kind::Name(Name::Data(_) | Name::Local(_) | Name::Capture(_)), [key, default @ ..])
                if default.len() < 2 && literal(key).is_some() =>
            {
                let keys: SmallVec<[Literal<'a>; 1]> = literal(key).into_iter().collect();
                self.look_up(callee, &keys, default, frame)
            }
            _ => {
                self.use_up(callee, frame);
                self.anything(args, frame)
            }
        }
    }

    fn call_builtin(&mut self, name: &str, args: &'a [Node<'a>], frame: &mut Frame) -> Parts {
        match (name, args) {
            ("get", [of, key, default @ ..]) if literal(key).is_some() => {
                let keys: SmallVec<[Literal<'a>; 1]> = literal(key).into_iter().collect();
                self.look_up(of, &keys, default, frame)
            }
            ("get-in", [of, path, default @ ..]) => match literals(path) {
                Some(keys) => self.look_up(of, &keys, default, frame),
                None => self.anything(args, frame),
            },
            ("select-keys", [of, keys]) => match literals(keys) {
                Some(keys) => {
                    let of = self.visit(of, frame);
                    for key in keys {
                        let member = self.member(&of, key);
                        self.take(&member);
                    }
                    Parts::new()
                }
                None => self.anything(args, frame),
            },
            // A member that is left out is there all the same, as nil.
            ("contains?", [of, key]) if literal(key).is_some() => {
                self.visit(of, frame);
                Parts::new()
            }
            ("nil?" | "some?" | "not", [of]) => {
                self.visit(of, frame);
                Parts::new()
            }
            _ => self.anything(args, frame),
        }
    }

    /// Walks a call of a function of the program with its arguments, unless it calls itself.
    fn call_definition(&mut self, def: DefRef, args: &'a [Node<'a>], frame: &mut Frame) -> Parts {
        let function = self.functions.get(def.0 as usize).copied().flatten();
        let is_new = |lambda: &&Lambda<'a>| !self.active.iter().any(|known| std::ptr::eq(*known, *lambda));
        let Some(lambda) = function.filter(is_new) else { return self.anything(args, frame) };
        let clause = lambda.clauses.iter().find(|clause| !clause.rest && clause.takes(args.len()));
        let Some(clause) = clause else { return self.anything(args, frame) };
        let args: SmallVec<[Parts; 4]> = args.iter().map(|arg| self.visit(arg, frame)).collect();
        self.clause(lambda, clause, &args, Vec::new())
    }

    /// Walks arguments of something that may observe all of them.
    fn anything(&mut self, args: &'a [Node<'a>], frame: &mut Frame) -> Parts {
        args.iter().for_each(|arg| self.use_up(arg, frame));
        Parts::new()
    }

    fn use_up(&mut self, node: &'a Node<'a>, frame: &mut Frame) {
        let parts = self.visit(node, frame);
        self.take(&parts);
    }

    fn take(&mut self, parts: &[u32]) {
        parts.iter().for_each(|part| self.parts[*part as usize].is_whole = true);
    }

    fn look_up(
        &mut self,
        of: &'a Node<'a>,
        keys: &[Literal<'a>],
        default: &'a [Node<'a>],
        frame: &mut Frame,
    ) -> Parts {
        let mut found = self.visit(of, frame);
        for key in keys {
            found = self.member(&found, *key);
        }
        for default in default {
            let default = self.visit(default, frame);
            found = self.either(found, default);
        }
        found
    }

    fn member(&mut self, of: &[u32], key: Literal<'a>) -> Parts {
        of.iter()
            .map(|part| {
                let known = self.parts[*part as usize].members.iter().find(|(known, _)| *known == key);
                if let Some((_, member)) = known {
                    return *member;
                }
                let member = self.add();
                self.parts[*part as usize].members.push((key, member));
                member
            })
            .collect()
    }

    /// Joins the parts of two values, of which a run has one.
    fn either(&mut self, mut all: Parts, more: Parts) -> Parts {
        for part in more {
            if !all.contains(&part) {
                all.push(part);
            }
        }
        if all.len() > MAX_PARTS {
            self.take(&all);
            all.clear();
        }
        all
    }
}

/// Returns the forms of all bodies of a function.
fn bodies<'a>(lambda: &'a Lambda<'a>) -> impl Iterator<Item = &'a Node<'a>> {
    lambda.clauses.iter().flat_map(|clause| clause.body)
}

/// Returns a key that is written literally.
fn literal<'a>(node: &Node<'a>) -> Option<Literal<'a>> {
    match node.kind {
        Kind::Const(constant) => literal_constant(constant),
        _ => None,
    }
}

fn literal_constant(constant: Constant<'_>) -> Option<Literal<'_>> {
    match constant {
        Constant::Keyword(name) => Some((name, true)),
        Constant::Str(name) => Some((name, false)),
        _ => None,
    }
}

/// Returns the keys of a vector that is written literally.
fn literals<'a>(node: &Node<'a>) -> Option<SmallVec<[Literal<'a>; 4]>> {
    match node.kind {
        Kind::Const(Constant::Vector(items)) => items.iter().map(|item| literal_constant(*item)).collect(),
        Kind::Vector(items) => items.iter().map(literal).collect(),
        _ => None,
    }
}
