//! Return values of prelude functions: recorded when the prelude is compiled, and used where programs call them.

use super::value::{Closure, Name, Record, Value};
use super::walk::Walk;
use super::{PathId, Step};
use crate::resolved::{Constant, DefRef, Lambda, Resolved, Tool};
use bumpalo::Bump;
use ptc_bytecode::{Key, Returned, Returns};
use smallvec::SmallVec;

/// Maximum depth of a recorded return value; `MAX_NODES` bounds its parts.
const MAX_DEPTH: u32 = 5;
const MAX_NODES: usize = 128;

impl<'p, 'a> Walk<'p, 'a> {
    /// Walks the functions of a namespace, each called with unknown arguments.
    pub fn over_namespace(
        functions: &[&'a Lambda<'a>],
        tools: &'a [Tool<'a>],
        arena: &'a Bump,
        steps: u32,
    ) -> Vec<Returns> {
        let program = Resolved { entry: None, exports: &[], defs: &[], tools, data: &[] };
        let mut walk = Walk::new(&program, arena, steps);
        walk.siblings = functions;
        // Only the values matter here.
        walk.silent = true;
        functions.iter().map(|function| walk.returns_of(function)).collect()
    }

    fn returns_of(&mut self, lambda: &'a Lambda<'a>) -> Returns {
        let closure = &*self.arena.alloc(Closure { lambda, captures: &[] });
        let mut value = Value::Never;
        for clause in lambda.clauses {
            let args: SmallVec<[Value<'a>; 6]> = (0..clause.params()).map(|_| Value::Unknown).collect();
            value = value.or(self.call_function(closure, &args, false));
        }
        let mut returns = Returns::default();
        if self.steps_left > 0 {
            self.tell(value, MAX_DEPTH, &mut returns.0);
        }
        // A value without any map says nothing, and takes room in the file.
        let tells = |node: &Returned| !matches!(node, Returned::Anything | Returned::List(_));
        if !returns.0.iter().any(tells) || returns.0.len() > MAX_NODES {
            return Returns::default();
        }
        returns
    }

    /// Adds a value, and returns its number.
    fn tell(&self, value: Value<'a>, depth: u32, to: &mut Vec<Returned>) -> u32 {
        let node = match (value, depth.checked_sub(1)) {
            (_, None) => Returned::Anything,
            (Value::Path(path), _) => return self.tell_path(path, to),
            (Value::List(of), Some(depth)) => Returned::List(self.tell(*of, depth, to)),
            (Value::Record(record), Some(depth)) => {
                let base = record.base.map(|base| self.tell_path(base, to));
                let fields = record.fields.iter();
                let fields = fields.map(|(name, value)| (name.key(), self.tell(*value, depth, to))).collect();
                Returned::Map { base, fields }
            }
            (Value::Const(Constant::Map(items)), Some(depth)) => {
                let mut fields = Vec::new();
                for [key, value] in items.as_chunks::<2>().0 {
                    let Some(name) = Name::of(Value::Const(*key)) else { return add(Returned::Anything, to) };
                    fields.push((name.key(), self.tell(Value::Const(*value), depth, to)));
                    if fields.len() > MAX_NODES {
                        break;
                    }
                }
                Returned::Map { base: None, fields }
            }
            _ => Returned::Anything,
        };
        add(node, to)
    }

    fn tell_path(&self, path: PathId, to: &mut Vec<Returned>) -> u32 {
        let Some(path) = self.reads.paths.get(path.0 as usize) else { return add(Returned::Anything, to) };
        let parent = path.parent.map(|parent| self.tell_path(parent, to));
        let node = match (&path.step, parent) {
            (Step::Data(name), _) => Returned::Data(name.clone()),
            (Step::Answer(tool), _) => Returned::Answer(tool.clone()),
            (Step::Field(key), Some(of)) => Returned::Field(of, key.clone()),
            (Step::Each, Some(of)) => Returned::Each(of),
            (Step::Nth(at), Some(of)) => Returned::Nth(of, *at),
            (Step::Values, Some(of)) => Returned::Values(of),
            _ => Returned::Anything,
        };
        add(node, to)
    }

    /// Returns the known return value of an export; None if nothing is known, or it is not an export.
    pub fn returns(&self, name: &str) -> Option<&'a Returns> {
        let returns = &self.interface?.export(name)?.returns;
        (!returns.0.is_empty()).then_some(returns)
    }

    /// Returns the value of a call of an export.
    pub fn returned(&mut self, def: DefRef) -> Value<'a> {
        let Some(name) = self.program.defs.get(def.0 as usize).copied() else { return Value::Unknown };
        let Some(returns) = self.returns(name) else { return Value::Unknown };
        self.pay_items(returns.0.len());
        let mut values: SmallVec<[Value<'a>; 16]> = SmallVec::new();
        for node in &returns.0 {
            let at = |id: &u32| values.get(*id as usize).copied().unwrap_or(Value::Unknown);
            let value = match node {
                Returned::Anything => Value::Unknown,
                Returned::List(of) => at(of).list(self.arena),
                Returned::Map { base, fields } => {
                    let base = match base.as_ref().map(at) {
                        None => None,
                        Some(Value::Path(base)) => Some(base),
                        Some(_) => {
                            values.push(Value::Unknown);
                            continue;
                        }
                    };
                    let fields = fields.iter().map(|(key, value)| (name_of(key), at(value)));
                    let fields = self.arena.alloc_slice_fill_iter(fields);
                    Value::Record(self.arena.alloc(Record { base, fields, by: Some(name) }))
                }
                Returned::Data(name) => self.root(Step::Data(name.clone())),
                Returned::Answer(tool) => self.root(Step::Answer(tool.clone())),
                Returned::Field(of, key) => self.step_from(at(of), Step::Field(key.clone())),
                Returned::Each(of) => self.step_from(at(of), Step::Each),
                Returned::Nth(of, position) => self.step_from(at(of), Step::Nth(*position)),
                Returned::Values(of) => self.step_from(at(of), Step::Values),
            };
            values.push(value);
        }
        values.last().copied().unwrap_or(Value::Unknown)
    }

    fn step_from(&mut self, of: Value<'a>, step: Step) -> Value<'a> {
        match of {
            Value::Path(path) => self.step(path, step),
            _ => Value::Unknown,
        }
    }
}

fn name_of(key: &Key) -> Name<'_> {
    Name { text: &key.name, is_keyword: key.is_keyword }
}

fn add(node: Returned, to: &mut Vec<Returned>) -> u32 {
    to.push(node);
    to.len() as u32 - 1
}
