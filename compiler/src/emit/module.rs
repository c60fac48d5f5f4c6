//! Parts shared by all functions of an artifact: constants, imports, functions and their code.

use crate::meter::Meter;
use crate::resolved::Constant;
use ptc_bytecode::{Artifact, BuiltinId, Const, Datum, Function, KeyedState, Node as DatumNode};
use std::collections::HashMap;

/// Builder of an artifact.
pub(crate) struct Module<'a> {
    pub(crate) artifact: Artifact,
    /// Meter that pays for the code written.
    pub(crate) meter: &'a Meter<'a>,
    /// Scalar constants by value. The program chooses them, so the hash is unpredictable to it.
    constants: HashMap<Key<'a>, u32, KeyedState>,
    imports: HashMap<u32, u32, KeyedState>,
    /// Indexes of the constants that are keys of map literals.
    records: Vec<u32>,
    /// Functions of the definitions of a prelude namespace.
    pub(crate) siblings: Vec<u32>,
    /// Constants of those definitions whose value is known.
    pub(crate) known: Vec<Option<u32>>,
    /// The first part that exceeded the format.
    pub(crate) overflow: Option<&'static str>,
}

/// Key by which two constants are equal.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Int(i64),
    Float(u64),
    Str(&'a str),
    Keyword(&'a str),
    Symbol(&'a str),
}

/// Maximum map literals searched for shared keys; beyond it, equal ones are only stored twice.
const SHARED_RECORDS: usize = 32;

impl<'a> Module<'a> {
    pub(crate) fn new(meter: &'a Meter<'a>) -> Module<'a> {
        Module {
            artifact: Artifact::default(),
            meter,
            constants: HashMap::default(),
            imports: HashMap::default(),
            records: Vec::new(),
            siblings: Vec::new(),
            known: Vec::new(),
            overflow: None,
        }
    }

    /// Returns the index of a constant, equal for equal scalars.
    pub(crate) fn constant(&mut self, constant: Constant<'a>) -> u32 {
        let (key, value): (Key<'a>, fn(Constant<'a>) -> Const) = match constant {
            Constant::Int(n) => (Key::Int(n), to_const),
            Constant::Float(x) => (Key::Float(x.to_bits()), to_const),
            Constant::Str(text) => (Key::Str(text), to_const),
            Constant::Keyword(name) => (Key::Keyword(name), to_const),
            Constant::Symbol(name) => (Key::Symbol(name), to_const),
            other => return self.add(to_const(other)),
        };
        if let Some(id) = self.constants.get(&key) {
            return *id;
        }
        let id = self.add(value(constant));
        self.constants.insert(key, id);
        id
    }

    /// Returns the index of the keys of a map literal.
    pub(crate) fn record(&mut self, keys: &[Constant<'a>]) -> u32 {
        let keys = Const::Keys(to_datum(Constant::Vector(keys)));
        let known = self.records.iter().find(|id| self.artifact.consts[**id as usize] == keys);
        if let Some(id) = known {
            return *id;
        }
        let id = self.add(keys);
        if self.records.len() < SHARED_RECORDS {
            self.records.push(id);
        }
        id
    }

    /// Returns the index of a constant collection.
    pub(crate) fn data(&mut self, datum: Datum) -> u32 {
        self.add(Const::Data(datum))
    }

    fn add(&mut self, constant: Const) -> u32 {
        self.artifact.consts.push(constant);
        self.artifact.consts.len() as u32 - 1
    }

    /// Returns the index of an imported builtin.
    pub(crate) fn import(&mut self, id: BuiltinId) -> u32 {
        let imports = &mut self.artifact.imports;
        *self.imports.entry(id.0).or_insert_with(|| {
            imports.push(id.row().map_or("", |row| row.name).into());
            imports.len() as u32 - 1
        })
    }

    /// Reserves a function, so that inner ones come after the enclosing one.
    pub(crate) fn reserve_function(&mut self) -> u32 {
        let empty = Function { name: None, doc: None, captures: 0, arities: Vec::new() };
        self.artifact.functions.push(empty);
        self.artifact.functions.len() as u32 - 1
    }
}

fn to_const(constant: Constant<'_>) -> Const {
    match constant {
        Constant::Int(n) => Const::Int(n),
        Constant::Float(x) => Const::Float(x),
        Constant::Str(text) => Const::Str(text.into()),
        Constant::Keyword(name) => Const::Keyword(name.into()),
        other => Const::Data(to_datum(other)),
    }
}

/// Converts a constant to owned data.
fn to_datum(constant: Constant<'_>) -> Datum {
    let mut nodes = Vec::new();
    push_nodes(constant, &mut nodes);
    // The nodes form one value by construction.
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(DatumNode::Nil))
}

/// Appends a constant to owned data.
pub(crate) fn push_nodes(constant: Constant<'_>, out: &mut Vec<DatumNode>) {
    let node = match constant {
        Constant::Nil => DatumNode::Nil,
        Constant::Bool(b) => DatumNode::Bool(b),
        Constant::Int(n) => DatumNode::Int(n),
        Constant::Big(digits) => DatumNode::Big(digits.into()),
        Constant::Float(x) => DatumNode::Float(x),
        Constant::Str(text) => DatumNode::Str(text.into()),
        Constant::Keyword(name) => DatumNode::Keyword(name.into()),
        Constant::Regex(text) => DatumNode::Regex(text.into()),
        Constant::Instant(micros) => DatumNode::Instant(micros),
        Constant::Symbol(name) => DatumNode::Symbol(name.into()),
        Constant::Vector(items) | Constant::Map(items) | Constant::Set(items) => {
            for item in items {
                push_nodes(*item, out);
            }
            let n = items.len() as u32;
            match constant {
                Constant::Map(_) => DatumNode::Map(n / 2),
                Constant::Set(_) => DatumNode::Set(n),
                _ => DatumNode::Vector(n),
            }
        }
    };
    out.push(node);
}
