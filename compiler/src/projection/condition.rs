//! Conditions of a filter: comparisons of members of a record with literals, without which the program gives nil.

use crate::resolved::{Constant, Kind, Lambda, Name, Node, Resolved};
use crate::scope::Scope;
use crate::{Options, resolve_source};
use bumpalo::Bump;
use ptc_bytecode::{Key, Limits};

/// A comparison of a member of a record with a literal.
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// Member that is compared.
    pub member: Key,
    /// How it has to compare with the literal.
    pub order: Order,
    /// Literal.
    pub literal: Literal,
}

/// The order of a member and a literal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// The member is less.
    Less,
    /// The member is not greater.
    LessOrEqual,
    /// They are equal.
    Equal,
    /// The member is not less.
    GreaterOrEqual,
    /// The member is greater.
    Greater,
}

/// A literal that members are compared with.
#[derive(Clone, PartialEq, Debug)]
pub enum Literal {
    /// An integer.
    Int(i64),
    /// A float, which is a number.
    Float(f64),
    /// A string.
    Text(Box<str>),
}

/// Returns conditions that all have to hold for a program to give anything but nil, in the order in which it evaluates them.
/// Before the last of them it does nothing that could fail but evaluate the others. `record` is the name of the record;
/// `is_member` tells which other data are members of it.
///
/// ```
/// use ptc_compiler::{Scope, conditions};
/// let source = "(when (and (> (:n data/row) 5) (= \"NO\" (:country data/row))) (:id data/row))";
/// let found = conditions(source, &Scope::default(), &Default::default(), "row", |_| false);
/// assert_eq!(found.len(), 2);
/// ```
pub fn conditions(
    source: &str,
    scope: &Scope,
    limits: &Limits,
    record: &str,
    is_member: impl Fn(&str) -> bool,
) -> Vec<Condition> {
    let arena = Bump::new();
    let resolved = resolve_source(source, scope, limits, Options::default(), &arena);
    let finder = Finder { record, is_member };
    resolved.ok().and_then(|resolved| finder.program(&resolved)).unwrap_or_default()
}

/// A value that is known without running anything that could fail.
#[derive(Clone, Copy)]
enum Plain<'a> {
    Record,
    Member(&'a str, bool),
    Constant(Constant<'a>),
}

struct Finder<'n, M> {
    record: &'n str,
    is_member: M,
}

impl<M: Fn(&str) -> bool> Finder<'_, M> {
    fn program<'a>(&self, program: &Resolved<'a>) -> Option<Vec<Condition>> {
        let Lambda { clauses: [clause], .. } = program.entry? else { return None };
        let mut locals: Vec<Option<Plain<'a>>> = vec![None; clause.locals.len()];
        let mut body = clause.body;
        while let [Node { kind: Kind::Let(bindings, inner), .. }] = body {
            for (local, value) in *bindings {
                *locals.get_mut(local.0 as usize)? = Some(self.plain(value, &locals)?);
            }
            body = inner;
        }
        let [Node { kind: Kind::Cond([test, _, other]), .. }] = body else { return None };
        if !matches!(other.kind, Kind::Const(Constant::Nil)) {
            return None;
        }
        let tests = match test.kind {
            Kind::And(tests) => tests,
            _ => std::slice::from_ref(test),
        };
        Some(tests.iter().map_while(|test| self.condition(test, &locals)).collect())
    }

    fn condition<'a>(&self, test: &Node<'a>, locals: &[Option<Plain<'a>>]) -> Option<Condition> {
        let Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, [a, b]) = test.kind else {
            return None;
        };
        let order = match id.row()?.name {
            "<" => Order::Less,
            "<=" => Order::LessOrEqual,
            "=" => Order::Equal,
            ">=" => Order::GreaterOrEqual,
            ">" => Order::Greater,
            _ => return None,
        };
        let (name, is_keyword, constant, order) = match (self.plain(a, locals)?, self.plain(b, locals)?) {
            (Plain::Member(name, is_keyword), Plain::Constant(constant)) => {
                (name, is_keyword, constant, order)
            }
            (Plain::Constant(constant), Plain::Member(name, is_keyword)) => {
                (name, is_keyword, constant, order.flipped())
            }
            _ => return None,
        };
        let literal = match constant {
            Constant::Int(n) => Literal::Int(n),
            Constant::Float(x) if x.is_finite() => Literal::Float(x),
            Constant::Str(text) if order == Order::Equal => Literal::Text(text.into()),
            _ => return None,
        };
        Some(Condition { member: Key { name: name.into(), is_keyword }, order, literal })
    }

    fn plain<'a>(&self, node: &Node<'a>, locals: &[Option<Plain<'a>>]) -> Option<Plain<'a>> {
        match node.kind {
            Kind::Const(constant) => Some(Plain::Constant(constant)),
            Kind::Name(Name::Local(local)) => locals.get(local.0 as usize).copied().flatten(),
            Kind::Name(Name::Data(name)) if name == self.record => Some(Plain::Record),
            Kind::Name(Name::Data(name)) if (self.is_member)(name) => Some(Plain::Member(name, true)),
            Kind::Call(Node { kind: Kind::Const(key), .. }, [of]) => self.member(of, *key, locals),
            Kind::Call(Node { kind: Kind::Name(Name::Builtin(id)), .. }, [of, key])
                if id.row().is_some_and(|row| row.name == "get") =>
            {
                match key.kind {
                    Kind::Const(key) => self.member(of, key, locals),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn member<'a>(
        &self,
        of: &Node<'a>,
        key: Constant<'a>,
        locals: &[Option<Plain<'a>>],
    ) -> Option<Plain<'a>> {
        match (self.plain(of, locals)?, key) {
            (Plain::Record, Constant::Keyword(name)) => Some(Plain::Member(name, true)),
            (Plain::Record, Constant::Str(name)) => Some(Plain::Member(name, false)),
            _ => None,
        }
    }
}

impl Order {
    /// Returns the order of the two the other way round.
    fn flipped(self) -> Order {
        match self {
            Order::Less => Order::Greater,
            Order::LessOrEqual => Order::GreaterOrEqual,
            Order::Equal => Order::Equal,
            Order::GreaterOrEqual => Order::LessOrEqual,
            Order::Greater => Order::Less,
        }
    }
}
