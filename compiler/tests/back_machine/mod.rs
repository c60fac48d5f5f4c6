//! A tiny machine for tests: runs an artifact with the builtins a test needs and counts the fuel its blocks charge.
//! Deliberately slow and simple; the real machine is another crate.
#![allow(dead_code)]

use ptc_bytecode::{Artifact, Const, Datum, Limits, Node, Op, disassemble, verify};
use ptc_compiler::{Options, Scope, compile};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// A value of the tiny machine.
#[derive(Clone, Debug)]
pub enum V {
    Nil,
    Bool(bool),
    Int(i64),
    Text(String),
    Vector(Rc<Vec<V>>),
    Map(Rc<Vec<(V, V)>>),
    Fn(u32, Rc<Vec<V>>),
    Builtin(String),
    Builder(Rc<RefCell<Vec<V>>>),
    Iter(Rc<RefCell<Vec<V>>>),
}

impl PartialEq for V {
    fn eq(&self, other: &V) -> bool {
        self.to_string() == other.to_string()
    }
}

impl std::fmt::Display for V {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let join = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join(" ");
        match self {
            V::Nil => write!(f, "nil"),
            V::Bool(b) => write!(f, "{b}"),
            V::Int(n) => write!(f, "{n}"),
            V::Text(text) => write!(f, "{text}"),
            V::Vector(items) => write!(f, "[{}]", join(&mut items.iter().map(ToString::to_string))),
            V::Map(items) => write!(f, "{{{}}}", join(&mut items.iter().map(|(k, v)| format!("{k} {v}")))),
            V::Fn(..) | V::Builtin(_) => write!(f, "#fn"),
            V::Builder(_) | V::Iter(_) => write!(f, "#internal"),
        }
    }
}

impl V {
    fn truthy(&self) -> bool {
        !matches!(self, V::Nil | V::Bool(false))
    }

    fn items(&self) -> Result<Vec<V>, String> {
        match self {
            V::Vector(items) => Ok(items.to_vec()),
            _ => Ok(Vec::new()),
        }
    }
}

/// The result of a run, and its cost.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Printed value, or the fault.
    pub result: Result<String, String>,
    /// Fuel charged by all entered blocks.
    pub fuel: u64,
}

enum Stop {
    Fault(String),
    Finish(V),
}

impl From<String> for Stop {
    fn from(message: String) -> Stop {
        Stop::Fault(message)
    }
}

struct Machine<'a> {
    artifact: &'a Artifact,
    defs: BTreeMap<u32, V>,
    fuel: u64,
    depth: u32,
}

/// Compiles with and without optimisation, checks that both verify and run alike at the same price, and returns the
/// outcome.
pub fn check(source: &str) -> Outcome {
    let plain = build(source, false);
    let optimized = build(source, true);
    let (a, b) = (run(&plain), run(&optimized));
    // Merged blocks are paid for together, so a run that stops in the middle of one may have paid more.
    let b = if a.result.is_err() { Outcome { fuel: a.fuel, ..b } } else { b };
    assert_eq!(a, b, "\n{source}\n{}\n{}", disassemble(&plain, None), disassemble(&optimized, None));
    a
}

/// Checks like [`check`] a program that must end with this value.
pub fn check_value(source: &str, expected: &str) {
    assert_eq!(check(source).result, Ok(expected.to_owned()), "{source}");
}

pub fn build(source: &str, optimize: bool) -> Artifact {
    let options = Options { optimize, library: false };
    let limits = Limits { nesting: 256, ..Limits::default() };
    let artifact = compile(source, &Scope::default(), &limits, options).unwrap_or_else(|problems| {
        let shown: Vec<String> = problems.iter().map(|p| p.to_text(source)).collect();
        panic!("{}", shown.join("\n"))
    });
    if let Err(problem) = verify(artifact.clone()) {
        panic!("{source}\n{problem:?}\n{}", disassemble(&artifact, None));
    }
    artifact
}

pub fn run(artifact: &Artifact) -> Outcome {
    let mut machine = Machine { artifact, defs: BTreeMap::new(), fuel: 0, depth: 0 };
    let entry = artifact.entry.expect("a program");
    let result = match machine.call(V::Fn(entry, Rc::default()), Vec::new()) {
        Ok(value) | Err(Stop::Finish(value)) => Ok(value.to_string()),
        Err(Stop::Fault(message)) => Err(message),
    };
    Outcome { result, fuel: machine.fuel }
}

impl Machine<'_> {
    fn call(&mut self, callee: V, args: Vec<V>) -> Result<V, Stop> {
        let (function, captures) = match &callee {
            V::Fn(function, captures) => (*function, captures.clone()),
            V::Builtin(name) => return Ok(builtin(name, args)?),
            other => return Err(Stop::Fault(format!("not callable: {other}"))),
        };
        self.depth += 1;
        if self.depth > 200 || self.fuel > 1_000_000 {
            return Err(Stop::Fault("too deep or too long".into()));
        }
        let arities = &self.artifact.functions[function as usize].arities;
        let arity = arities.iter().find(|a| {
            if a.rest { args.len() >= a.required.into() } else { args.len() == usize::from(a.required) }
        });
        let Some(arity) = arity else { return Err(Stop::Fault("arity".into())) };
        let regs = usize::from(self.artifact.blocks[arity.block as usize].regs);
        let mut frame = vec![V::Nil; regs.max(256)];
        frame[0] = callee.clone();
        let required = usize::from(arity.required);
        for (i, arg) in args.iter().take(required).enumerate() {
            frame[i + 1] = arg.clone();
        }
        if arity.rest && args.len() > required {
            frame[required + 1] = V::Vector(Rc::new(args[required..].to_vec()));
        }
        let result = self.block(arity.block, &mut frame, &captures);
        self.depth -= 1;
        result
    }

    fn block(&mut self, block: u32, r: &mut [V], captures: &[V]) -> Result<V, Stop> {
        let (mut pc, mut attempt) = (0, None);
        loop {
            let result = self.instructions(block, r, captures, &mut pc, &mut attempt);
            // The instructions of an attempt that stops with a fault do not count.
            match (&result, attempt.take()) {
                (Err(Stop::Fault(_)), Some((to, fuel))) if pc <= to => (pc, self.fuel) = (to, fuel),
                _ => return result,
            }
        }
    }

    fn instructions(
        &mut self,
        block: u32,
        r: &mut [V],
        captures: &[V],
        next: &mut usize,
        attempt: &mut Option<(usize, u64)>,
    ) -> Result<V, Stop> {
        let code = &self.artifact.blocks[block as usize];
        let mut pc = *next;
        loop {
            let op = code.ops[pc];
            pc += 1;
            *next = pc;
            if let Op::Attempt { fuel, to } = op {
                *attempt = Some((to as usize, self.fuel - u64::from(op.cost())));
                self.fuel += u64::from(fuel);
                continue;
            }
            // True if a conditional jump is taken.
            let taken = match op {
                Op::JumpIf { test, .. } => Some(r[test as usize].truthy()),
                Op::JumpUnless { test, .. } => Some(!r[test as usize].truthy()),
                Op::JumpIfNil { src, .. } => Some(matches!(r[src as usize], V::Nil)),
                Op::JumpUnlessSeq { src, .. } => Some(r[src as usize].items().is_err()),
                Op::JumpUnlessReduced { .. } => Some(true),
                Op::JumpUnlessLess { a, b, .. } => Some(!less(&r[a as usize], &r[b as usize])),
                Op::JumpUnlessLessEq { a, b, .. } => Some(!less_eq(&r[a as usize], &r[b as usize])),
                Op::JumpUnlessEq { a, b, .. } => Some(r[a as usize] != r[b as usize]),
                Op::JumpUnlessLessInt { a, imm, .. } => Some(!less(&r[a as usize], &V::Int(imm.into()))),
                Op::JumpUnlessGreaterInt { a, imm, .. } => Some(!less(&V::Int(imm.into()), &r[a as usize])),
                Op::JumpUnlessEqInt { a, imm, .. } => Some(r[a as usize] != V::Int(imm.into())),
                Op::IterNext { dst, iter, .. } | Op::IterBack { dst, iter, .. } => {
                    let V::Iter(items) = r[iter as usize].clone() else {
                        return Err(Stop::Fault("no iterator".into()));
                    };
                    let next = items.borrow_mut().pop();
                    let is_back = matches!(op, Op::IterBack { .. });
                    match next {
                        Some(item) => {
                            r[dst as usize] = item;
                            Some(is_back)
                        }
                        None => Some(!is_back),
                    }
                }
                _ => None,
            };
            match taken {
                Some(true) => {
                    pc = op.target().expect("a jump") as usize;
                    continue;
                }
                Some(false) => {
                    self.fuel += u64::from(op.fall_through_fuel().expect("a conditional jump"));
                    continue;
                }
                None => {}
            }
            match op {
                Op::Enter { fuel } => {
                    self.fuel += u64::from(fuel);
                    if self.fuel > 1_000_000 {
                        return Err(Stop::Fault("too deep or too long".into()));
                    }
                }
                Op::Jump { to } => pc = to as usize,
                Op::Again { dst, src, to, .. } | Op::AgainLast { dst, src, to, .. } => {
                    r[dst as usize] = r[src as usize].clone();
                    pc = to as usize;
                }
                Op::Return { src } => return Ok(r[src as usize].clone()),
                Op::Finish { src } => return Err(Stop::Finish(r[src as usize].clone())),
                Op::Fail { src } => return Err(Stop::Fault(format!("fail {}", r[src as usize]))),
                _ => self.straight(op, r, captures)?,
            }
        }
    }

    fn straight(&mut self, op: Op, r: &mut [V], captures: &[V]) -> Result<(), Stop> {
        let (dst, value) = match op {
            Op::Move { dst, src } | Op::MoveLast { dst, src } => (dst, r[src as usize].clone()),
            Op::LoadNil { dst } => (dst, V::Nil),
            Op::LoadBool { dst, value } => (dst, V::Bool(value)),
            Op::LoadInt { dst, value } => (dst, V::Int(value.into())),
            Op::Const { dst, id } => (dst, constant(&self.artifact.consts[id as usize])),
            Op::LoadWide { dst, slot } => (dst, r[slot as usize].clone()),
            Op::StoreWide { slot, src } => {
                assert!(slot >= 256);
                r[slot as usize] = r[src as usize].clone();
                return Ok(());
            }
            Op::Capture { dst, index } => (dst, captures[index as usize].clone()),
            Op::GetDef { dst, def } => (dst, self.defs.get(&def).cloned().ok_or("unbound".to_owned())?),
            Op::SetDef { def, src } => {
                self.defs.insert(def, r[src as usize].clone());
                return Ok(());
            }
            Op::HasDef { dst, def } => (dst, V::Bool(self.defs.contains_key(&def))),
            Op::LoadVar { dst, def } => (dst, V::Text(format!("#'{}", self.artifact.defs[def as usize]))),
            Op::LoadBuiltin { dst, import } => {
                (dst, V::Builtin(self.artifact.imports[import as usize].to_string()))
            }
            Op::MakeClosure { dst, first, n, code } => {
                let captured = r[first as usize..first as usize + n as usize].to_vec();
                assert_eq!(captured.len(), self.artifact.functions[code as usize].captures as usize);
                (dst, V::Fn(code, Rc::new(captured)))
            }
            Op::Call { base, n } => (base, self.call(r[base as usize].clone(), args(r, base, n))?),
            Op::CallDef { base, n, def } => {
                let callee = self.defs.get(&def).cloned().ok_or("unbound".to_owned())?;
                (base, self.call(callee, args(r, base, n))?)
            }
            Op::CallBuiltin { base, n, import } => {
                let callee = V::Builtin(self.artifact.imports[import as usize].to_string());
                (base, self.call(callee, args(r, base, n))?)
            }
            Op::Apply { base, n } => {
                let mut given = args(r, base, n);
                let spread = given.pop().unwrap_or(V::Nil).items()?;
                given.extend(spread);
                (base, self.call(r[base as usize].clone(), given)?)
            }
            Op::Add { dst, a, b } => (dst, number(r, a, b, i64::checked_add)?),
            Op::Sub { dst, a, b } => (dst, number(r, a, b, i64::checked_sub)?),
            Op::Mul { dst, a, b } => (dst, number(r, a, b, i64::checked_mul)?),
            Op::Quot { dst, a, b } => (dst, number(r, a, b, i64::checked_div)?),
            Op::AddInt { dst, a, imm, .. } => {
                (dst, V::Int(int(&r[a as usize]).checked_add(imm.into()).unwrap_or(0)))
            }
            Op::Less { dst, a, b } => (dst, V::Bool(less(&r[a as usize], &r[b as usize]))),
            Op::LessEq { dst, a, b } => (dst, V::Bool(less_eq(&r[a as usize], &r[b as usize]))),
            Op::Eq { dst, a, b } => (dst, V::Bool(r[a as usize] == r[b as usize])),
            Op::Not { dst, a } => (dst, V::Bool(!r[a as usize].truthy())),
            Op::IsNil { dst, a } => (dst, V::Bool(matches!(r[a as usize], V::Nil))),
            Op::Get { dst, coll, key } => (dst, get(&r[coll as usize], &r[key as usize])),
            Op::GetKey { dst, coll, key } => {
                (dst, get(&r[coll as usize], &constant(&self.artifact.consts[key as usize])))
            }
            Op::Nth { dst, coll, index } => (dst, get(&r[coll as usize], &r[index as usize])),
            Op::First { dst, coll } => (dst, r[coll as usize].items()?.first().cloned().unwrap_or(V::Nil)),
            Op::Count { dst, coll } => (dst, V::Int(r[coll as usize].items()?.len() as i64)),
            Op::Conj { dst, coll, item } | Op::ConjLast { dst, coll, item } => {
                let mut items = r[coll as usize].items()?;
                items.push(r[item as usize].clone());
                (dst, V::Vector(Rc::new(items)))
            }
            Op::NewVector { dst, first, n } => {
                (dst, V::Vector(Rc::new(r[first as usize..first as usize + n as usize].to_vec())))
            }
            Op::NewMap { dst, first, n } => (dst, map_of(&r[first as usize..first as usize + n as usize])),
            Op::NewRecord { dst, first, n, id } => {
                let V::Vector(keys) = constant(&self.artifact.consts[id as usize]) else { unreachable!() };
                let values = &r[first as usize..first as usize + n as usize];
                (dst, V::Map(Rc::new(keys.iter().cloned().zip(values.iter().cloned()).collect())))
            }
            Op::NewBuilder { dst } => (dst, V::Builder(Rc::default())),
            Op::Push { builder, src } => {
                let V::Builder(items) = &r[builder as usize] else {
                    return Err(Stop::Fault("builder".into()));
                };
                items.borrow_mut().push(r[src as usize].clone());
                return Ok(());
            }
            Op::BuildVector { dst, builder } => (dst, V::Vector(Rc::new(built(&r[builder as usize])?))),
            Op::BuildMap { dst, builder } => (dst, map_of(&built(&r[builder as usize])?)),
            Op::IterStart { iter, coll } => {
                let mut items = r[coll as usize].items()?;
                items.reverse();
                (iter, V::Iter(Rc::new(RefCell::new(items))))
            }
            other => return Err(Stop::Fault(format!("the test machine lacks {}", other.name()))),
        };
        r[dst as usize] = value;
        Ok(())
    }
}

fn args(r: &[V], base: u8, n: u8) -> Vec<V> {
    r[base as usize + 1..base as usize + 1 + n as usize].to_vec()
}

/// Returns an integer; anything but a number counts as 0, so that random programs get far.
fn int(value: &V) -> i64 {
    if let V::Int(n) = value { *n } else { 0 }
}

fn number(r: &[V], a: u8, b: u8, op: fn(i64, i64) -> Option<i64>) -> Result<V, String> {
    Ok(V::Int(op(int(&r[a as usize]), int(&r[b as usize])).unwrap_or(0)))
}

fn less(a: &V, b: &V) -> bool {
    matches!((a, b), (V::Int(a), V::Int(b)) if a < b)
}

fn less_eq(a: &V, b: &V) -> bool {
    matches!((a, b), (V::Int(a), V::Int(b)) if a <= b)
}

fn get(coll: &V, key: &V) -> V {
    let found = match (coll, key) {
        (V::Vector(items), V::Int(i)) => usize::try_from(*i).ok().and_then(|i| items.get(i)).cloned(),
        (V::Map(items), key) => items.iter().find(|(k, _)| k == key).map(|(_, v)| v.clone()),
        _ => None,
    };
    found.unwrap_or(V::Nil)
}

fn map_of(items: &[V]) -> V {
    V::Map(Rc::new(items.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()))
}

fn built(builder: &V) -> Result<Vec<V>, String> {
    match builder {
        V::Builder(items) => Ok(items.borrow().clone()),
        _ => Err("builder".into()),
    }
}

fn builtin(name: &str, args: Vec<V>) -> Result<V, String> {
    Ok(match name {
        "+" => V::Int(args.iter().map(int).fold(0, |a: i64, b| a.checked_add(b).unwrap_or(0))),
        "vector" | "list" => V::Vector(Rc::new(args)),
        "str" => V::Text(args.iter().map(ToString::to_string).collect()),
        "identity" => args[0].clone(),
        "<" => V::Bool(args.windows(2).all(|pair| less(&pair[0], &pair[1]))),
        "get" => match get(&args[0], &args[1]) {
            V::Nil => args.get(2).cloned().unwrap_or(V::Nil),
            found => found,
        },
        _ => return Err(format!("the test machine lacks `{name}`")),
    })
}

fn constant(constant: &Const) -> V {
    match constant {
        Const::Int(n) => V::Int(*n),
        Const::Float(x) => V::Text(x.to_string()),
        Const::Str(text) => V::Text(text.to_string()),
        Const::Keyword(name) => V::Text(format!(":{name}")),
        Const::Data(datum) | Const::Keys(datum) => data(datum),
    }
}

fn data(datum: &Datum) -> V {
    let mut stack: Vec<V> = Vec::new();
    for node in datum.nodes() {
        let value = match node {
            Node::Nil => V::Nil,
            Node::Bool(b) => V::Bool(*b),
            Node::Int(n) => V::Int(*n),
            Node::Vector(n) => V::Vector(Rc::new(stack.split_off(stack.len() - *n as usize))),
            Node::Map(n) => map_of(&stack.split_off(stack.len() - 2 * *n as usize)),
            Node::Keyword(name) => V::Text(format!(":{name}")),
            Node::Symbol(text) | Node::Str(text) => V::Text(text.to_string()),
            other => V::Text(format!("{other:?}")),
        };
        stack.push(value);
    }
    stack.pop().unwrap_or(V::Nil)
}
