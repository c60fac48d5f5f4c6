//! Types that guide the generator, and their notation in its tables.
//!
//! Types are written in prefix notation without spaces: `vi` is a vector of integers, `mkvs` a map from
//! keywords to vectors of strings. Capital letters are variables.

/// Type of a generated expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `i`
    Int,
    /// `j`: an integer from 0 to 7. Maps keyed by it stay so small that Clojure keeps their order.
    Index,
    /// `f`
    Float,
    /// `s`
    Str,
    /// `w`: one of eight words.
    Word,
    /// `c`
    Char,
    /// `k`: one of eight keywords.
    Key,
    /// `b`
    Bool,
    /// `n`
    Nil,
    /// `t`: any value, used only as a condition.
    Test,
    /// `r`: a map with known fields.
    Record,
    /// `vT`
    Vec(Box<Type>),
    /// `lT`: a vector, or a sequence that is not a vector in Clojure.
    Seq(Box<Type>),
    /// `mKV`
    Map(Box<Type>, Box<Type>),
    /// `eT`
    Set(Box<Type>),
    /// `pAB`: a vector of two items.
    Pair(Box<Type>, Box<Type>),
    /// `oT`: a `T` or nil.
    Opt(Box<Type>),
    /// `xAB`: a transducer from `A` to `B`.
    Xform(Box<Type>, Box<Type>),
    /// `A` to `Z`: a variable. `K` stands for types of keys, `S` for types with an order.
    Var(char),
}

use Type::{
    Bool, Char, Float, Index, Int, Key, Map, Nil, Opt, Pair, Record, Seq, Set, Str, Test, Var, Vec as Vector,
    Word, Xform,
};

/// Parses a type at the start of `text` and removes it.
pub fn parse(text: &mut &str) -> Type {
    let mut chars = text.chars();
    let first = chars.next().expect("a type");
    *text = chars.as_str();
    let mut inner = || Box::new(parse(text));
    match first {
        'i' => Int,
        'j' => Index,
        'f' => Float,
        's' => Str,
        'w' => Word,
        'c' => Char,
        'k' => Key,
        'b' => Bool,
        'n' => Nil,
        't' => Test,
        'r' => Record,
        'v' => Vector(inner()),
        'l' => Seq(inner()),
        'e' => Set(inner()),
        'o' => Opt(inner()),
        'm' => Map(inner(), inner()),
        'p' => Pair(inner(), inner()),
        'x' => Xform(inner(), inner()),
        'A'..='Z' => Var(first),
        other => panic!("{other} is no type"),
    }
}

/// Types bound to variables.
pub type Bindings = Vec<(char, Type)>;

impl Type {
    /// Returns whether a value of type `self` can be used as `wanted`; `self` may have variables, which are bound.
    pub fn serves(&self, wanted: &Type, bound: &mut Bindings) -> bool {
        match (self, wanted) {
            (Var(name), _) => match bound.iter().find(|(known, _)| known == name) {
                Some((_, known)) => known == wanted,
                None => {
                    let fits = match name {
                        'K' => matches!(wanted, Key | Index | Word),
                        'S' => matches!(wanted, Int | Str | Key | Float | Index | Word),
                        _ => !matches!(wanted, Test | Xform(..)),
                    };
                    if fits {
                        bound.push((*name, wanted.clone()));
                    }
                    fits
                }
            },
            (Bool | Opt(_), Test) | (Index, Int) | (Word, Str) | (Nil, Opt(_)) => true,
            (Opt(a), Opt(b)) => a.serves(b, bound),
            (_, Opt(b)) => self.serves(b, bound),
            (Vector(a) | Seq(a), Seq(b)) | (Vector(a), Vector(b)) | (Set(a), Set(b)) => a.serves(b, bound),
            (Pair(a, b), Vector(c) | Seq(c)) => a.serves(c, bound) && b.serves(c, bound),
            (Map(a, b), Map(c, d)) | (Pair(a, b), Pair(c, d)) | (Xform(a, b), Xform(c, d)) => {
                a.serves(c, bound) && b.serves(d, bound)
            }
            _ => self == wanted,
        }
    }

    /// Returns this type with its variables replaced.
    pub fn under(&self, bound: &Bindings) -> Type {
        let inner = |of: &Type| Box::new(of.under(bound));
        match self {
            Var(name) => {
                bound.iter().find(|(known, _)| known == name).map_or(Int, |(_, known)| known.clone())
            }
            Vector(of) => Vector(inner(of)),
            Seq(of) => Seq(inner(of)),
            Set(of) => Set(inner(of)),
            Opt(of) => Opt(inner(of)),
            Map(a, b) => Map(inner(a), inner(b)),
            Pair(a, b) => Pair(inner(a), inner(b)),
            Xform(a, b) => Xform(inner(a), inner(b)),
            plain => plain.clone(),
        }
    }
}
