//! Evaluator of core forms. Control that leaves a form (`recur`, `return`, a fault) is an error value, passed
//! up to the form that handles it.

use super::builtins;
use super::lookup;
use super::print::print;
use super::value::{Closure, Fault, Made, NO_OPINION, Value, work};
use num_bigint::BigInt;
use ptc_bytecode::BuiltinId;
use ptc_compiler::Resolved;
use ptc_compiler::resolved::{Clause, Constant, Kind, Lambda, LocalId, Name, Node};
use std::rc::Rc;

/// Reason why a form has no value.
pub enum Stop<'a> {
    Fault(Fault),
    /// `(return v)`
    Finish(Value<'a>),
    Recur(Vec<Value<'a>>),
    Break,
    /// `(%exit v)`
    Exit(Value<'a>),
}

impl From<Fault> for Stop<'_> {
    fn from(fault: Fault) -> Self {
        Stop::Fault(fault)
    }
}

pub type Answer<'a> = Result<Value<'a>, Stop<'a>>;

pub struct Machine<'a> {
    program: Resolved<'a>,
    pub(super) defs: Vec<Option<Value<'a>>>,
    pub(super) prints: Vec<String>,
    /// Levels of forms and calls left, all of them on the Rust stack.
    depth: u32,
}

/// Activation of one function.
struct Frame<'a> {
    locals: Vec<Value<'a>>,
    this: Rc<Closure<'a>>,
}

impl<'a> Machine<'a> {
    pub fn new(program: Resolved<'a>, depth: u32) -> Machine<'a> {
        Machine { program, defs: vec![None; program.defs.len()], prints: Vec::new(), depth }
    }

    /// Runs the program; returns the printed value or the reason there is none, and the printed lines.
    pub fn run(mut self) -> (Result<String, Fault>, Vec<String>) {
        let answer = match self.program.entry {
            Some(entry) => self.call(&closure(entry, Vec::new()), Vec::new()),
            None => Err(Stop::Fault(NO_OPINION)),
        };
        let answer = match answer {
            Ok(value) | Err(Stop::Finish(value)) => {
                let mut text = String::new();
                print(&value, &mut text);
                Ok(text)
            }
            Err(Stop::Fault(fault)) => Err(fault),
            Err(_) => Err("control left the program"),
        };
        (answer, self.prints)
    }

    fn eval(&mut self, node: &Node<'a>, frame: &mut Frame<'a>) -> Answer<'a> {
        work(1);
        if self.depth == 0 {
            return Err(NO_OPINION.into());
        }
        self.depth -= 1;
        let answer = self.eval_kind(&node.kind, frame);
        self.depth += 1;
        answer
    }

    fn eval_kind(&mut self, kind: &Kind<'a>, frame: &mut Frame<'a>) -> Answer<'a> {
        match *kind {
            Kind::Const(constant) => Ok(constant_value(&constant)?),
            Kind::Name(name) => self.name(name, frame),
            Kind::Call(callee, args) => {
                let callee = self.eval(callee, frame)?;
                let args = self.all(args, frame)?;
                self.call(&callee, args)
            }
            Kind::Vector(items) => Ok(Value::vector(self.all(items, frame)?)),
            Kind::Set(items) => Ok(Value::set(self.all(items, frame)?)),
            Kind::Map(items) => {
                let items = self.all(items, frame)?;
                Ok(Value::map(items.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone()))))
            }
            Kind::Cond(parts) => {
                for part in parts.chunks(2) {
                    // A last part without a partner is the default.
                    let Some(result) = part.get(1) else { return self.eval(&part[0], frame) };
                    if self.eval(&part[0], frame)?.truthy() {
                        return self.eval(result, frame);
                    }
                }
                Ok(Value::Nil)
            }
            Kind::And(parts) => self.until(parts, frame, Value::Bool(true), false),
            Kind::Or(parts) => self.until(parts, frame, Value::Nil, true),
            Kind::Do(body) => self.body(body, frame),
            Kind::Let(bindings, body) => {
                self.bind(bindings, frame)?;
                self.body(body, frame)
            }
            Kind::Loop(bindings, body) => {
                self.bind(bindings, frame)?;
                loop {
                    work(1);
                    match self.body(body, frame) {
                        Err(Stop::Recur(values)) => {
                            for ((local, _), value) in bindings.iter().zip(values) {
                                *self.local(frame, *local)? = value;
                            }
                        }
                        other => return other,
                    }
                }
            }
            Kind::Recur(args) => Err(Stop::Recur(self.all(args, frame)?)),
            Kind::Fn(lambda) => {
                let captures = lambda.captures.iter().map(|name| self.name(*name, frame));
                let captures = captures.collect::<Result<_, _>>()?;
                Ok(closure(lambda, captures))
            }
            Kind::Define(def, once, value) => {
                let at = def.0 as usize;
                if !(once && self.defs[at].is_some()) {
                    self.defs[at] = Some(self.eval(value, frame)?);
                }
                Ok(Value::Var(self.program.defs[at]))
            }
            Kind::Finish(value) => Err(Stop::Finish(self.eval(value, frame)?)),
            Kind::Fail(value) => {
                self.eval(value, frame)?;
                Err("fail".into())
            }
            Kind::Try([body, _]) => {
                let body = self.eval(body, frame)?;
                match self.call(&body, Vec::new()) {
                    // This evaluator has no exception values to pass to handlers.
                    Err(Stop::Fault(_)) => Err(NO_OPINION.into()),
                    other => other,
                }
            }
            Kind::Throw(value) => {
                self.eval(value, frame)?;
                Err(NO_OPINION.into())
            }
            Kind::Each(local, coll, body) => {
                for item in self.eval(coll, frame)?.items()? {
                    work(1);
                    *self.local(frame, local)? = item;
                    match self.body(body, frame) {
                        Err(Stop::Break) => break,
                        other => other?,
                    };
                }
                Ok(Value::Nil)
            }
            Kind::Break => Err(Stop::Break),
            Kind::Assign(local, value) => {
                let value = self.eval(value, frame)?;
                *self.local(frame, local)? = value;
                Ok(Value::Nil)
            }
            Kind::Exit(value) | Kind::Deliver(value) => Err(Stop::Exit(self.eval(value, frame)?)),
        }
    }

    fn local<'f>(&self, frame: &'f mut Frame<'a>, id: LocalId) -> Result<&'f mut Value<'a>, Fault> {
        frame.locals.get_mut(id.0 as usize).ok_or("a local is missing")
    }

    fn name(&mut self, name: Name<'a>, frame: &mut Frame<'a>) -> Answer<'a> {
        Ok(match name {
            Name::Local(id) => self.local(frame, id)?.clone(),
            Name::Capture(i) => frame.this.captures[i as usize].clone(),
            Name::This => Value::Closure(frame.this.clone()),
            Name::Def(def) => self.defs[def.0 as usize].clone().ok_or("unbound_var")?,
            Name::DefOrNil(def) => self.defs[def.0 as usize].clone().unwrap_or(Value::Nil),
            Name::Var(def) => Value::Var(self.program.defs[def.0 as usize]),
            Name::Builtin(BuiltinId(id)) => Value::Builtin(ptc_bytecode::BUILTINS[id as usize].name),
            // Siblings exist only in preludes, which this evaluator does not run.
            Name::Data(_) | Name::History(_) | Name::Sibling(_) | Name::Fixed(_) => Value::Nil,
            Name::Tool(_) => return Err(NO_OPINION.into()),
        })
    }

    fn all(&mut self, nodes: &'a [Node<'a>], frame: &mut Frame<'a>) -> Result<Vec<Value<'a>>, Stop<'a>> {
        nodes.iter().map(|node| self.eval(node, frame)).collect()
    }

    /// Evaluates forms in order until a value's truth is as wanted; returns that value or the last.
    fn until(
        &mut self,
        nodes: &'a [Node<'a>],
        frame: &mut Frame<'a>,
        none: Value<'a>,
        wanted: bool,
    ) -> Answer<'a> {
        let mut last = none;
        for node in nodes {
            last = self.eval(node, frame)?;
            if last.truthy() == wanted {
                break;
            }
        }
        Ok(last)
    }

    fn body(&mut self, nodes: &'a [Node<'a>], frame: &mut Frame<'a>) -> Answer<'a> {
        let mut last = Value::Nil;
        for node in nodes {
            last = self.eval(node, frame)?;
        }
        Ok(last)
    }

    fn bind(&mut self, bindings: &'a [(LocalId, Node<'a>)], frame: &mut Frame<'a>) -> Result<(), Stop<'a>> {
        for (local, node) in bindings {
            let value = self.eval(node, frame)?;
            *self.local(frame, *local)? = value;
        }
        Ok(())
    }

    /// Calls any callable value.
    pub fn call(&mut self, callee: &Value<'a>, args: Vec<Value<'a>>) -> Answer<'a> {
        work(1);
        if self.depth == 0 {
            return Err(NO_OPINION.into());
        }
        self.depth -= 1;
        let answer = self.call_kind(callee, args);
        self.depth += 1;
        answer
    }

    fn call_kind(&mut self, callee: &Value<'a>, args: Vec<Value<'a>>) -> Answer<'a> {
        Ok(match (callee, &args[..]) {
            (Value::Closure(closure), _) => return self.enter(closure, args),
            (Value::Builtin(name), _) => return builtins::call(self, name, args),
            (Value::Made(made), _) => return self.call_made(made, args),
            (Value::Keyword(_), [coll]) => lookup::get(coll, callee, Value::Nil),
            (Value::Keyword(_), [coll, default]) => lookup::get(coll, callee, default.clone()),
            (Value::Keyword(_), _) => return Err("invalid_keyword_call".into()),
            (Value::Map(_), [key]) => lookup::get(callee, key, Value::Nil),
            (Value::Map(_), [key, default]) => lookup::get(callee, key, default.clone()),
            (Value::Map(_), _) => return Err("invalid_map_call".into()),
            (Value::Vector(_), [key]) if !matches!(key, Value::Int(_)) => return Err("type_error".into()),
            (Value::Set(_) | Value::Vector(_), [key]) => lookup::get(callee, key, Value::Nil),
            (Value::Set(_) | Value::Vector(_), _) => return Err("arity_error".into()),
            _ => return Err("not_callable".into()),
        })
    }

    fn enter(&mut self, this: &Rc<Closure<'a>>, mut args: Vec<Value<'a>>) -> Answer<'a> {
        let clause = select(this.lambda, args.len()).ok_or("arity_mismatch")?;
        if clause.rest {
            let more = args.split_off(usize::from(clause.required));
            args.push(if more.is_empty() { Value::Nil } else { Value::vector(more) });
        }
        let mut frame = Frame { locals: args, this: this.clone() };
        frame.locals.resize_with(clause.locals.len(), || Value::Nil);
        loop {
            match self.body(clause.body, &mut frame) {
                Err(Stop::Recur(values)) => {
                    work(1);
                    for (place, value) in frame.locals.iter_mut().zip(values) {
                        *place = value;
                    }
                }
                Err(Stop::Exit(value)) => return Ok(value),
                other => return other,
            }
        }
    }

    fn call_made(&mut self, made: &Made<'a>, mut args: Vec<Value<'a>>) -> Answer<'a> {
        match made {
            Made::Comp(fs) => {
                let Some((last, others)) = fs.split_last() else {
                    return builtins::call(self, "identity", args);
                };
                let mut value = self.call(last, args)?;
                for f in others.iter().rev() {
                    value = self.call(f, vec![value])?;
                }
                Ok(value)
            }
            Made::Partial(f, given) => self.call(f, given.iter().cloned().chain(args).collect()),
            Made::Complement(f) => Ok(Value::Bool(!self.call(f, args)?.truthy())),
            Made::Constantly(value) => Ok(value.clone()),
            Made::Juxt(fs) => {
                let results: Result<_, _> = fs.iter().map(|f| self.call(f, args.clone())).collect();
                Ok(Value::vector(results?))
            }
            Made::Fnil(f, defaults) => {
                // With three defaults, two arguments are enough; otherwise each default needs one.
                if args.len() < defaults.len().min(2) {
                    return Err("arity_mismatch".into());
                }
                for (arg, default) in args.iter_mut().zip(defaults) {
                    if arg.is_nil() {
                        *arg = default.clone();
                    }
                }
                self.call(f, args)
            }
            Made::EveryPred(fs) => {
                for arg in &args {
                    for f in fs {
                        if !self.call(f, vec![arg.clone()])?.truthy() {
                            return Ok(Value::Bool(false));
                        }
                    }
                }
                Ok(Value::Bool(true))
            }
            Made::SomeFn(fs) => {
                let mut found = Value::Nil;
                for arg in &args {
                    for f in fs {
                        found = self.call(f, vec![arg.clone()])?;
                        if found.truthy() {
                            return Ok(found);
                        }
                    }
                }
                Ok(found)
            }
        }
    }
}

fn closure<'a>(lambda: &'a Lambda<'a>, captures: Vec<Value<'a>>) -> Value<'a> {
    Value::Closure(Rc::new(Closure { lambda, captures }))
}

/// Returns the arity that takes `n` arguments, preferring a fixed one.
fn select<'a>(lambda: &'a Lambda<'a>, n: usize) -> Option<&'a Clause<'a>> {
    let fixed = lambda.clauses.iter().find(|clause| !clause.rest && usize::from(clause.required) == n);
    fixed.or_else(|| lambda.clauses.iter().find(|clause| clause.rest && usize::from(clause.required) <= n))
}

fn constant_value<'a>(constant: &Constant<'a>) -> Result<Value<'a>, Fault> {
    let all = |items: &'a [Constant<'a>]| items.iter().map(constant_value).collect::<Result<Vec<_>, _>>();
    Ok(match *constant {
        Constant::Nil => Value::Nil,
        Constant::Bool(b) => Value::Bool(b),
        Constant::Int(n) => Value::int(n),
        Constant::Big(digits) => Value::Int(digits.parse::<BigInt>().map_err(|_| NO_OPINION)?),
        Constant::Float(x) => Value::Float(x),
        Constant::Str(text) => Value::str(text),
        Constant::Keyword(name) => Value::Keyword(name.into()),
        Constant::Symbol(name) => Value::Symbol(name.into()),
        Constant::Regex(_) | Constant::Instant(_) => return Err(NO_OPINION),
        Constant::Vector(items) => Value::vector(all(items)?),
        Constant::Set(items) => Value::set(all(items)?),
        Constant::Map(items) => {
            Value::map(all(items)?.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())))
        }
    })
}
