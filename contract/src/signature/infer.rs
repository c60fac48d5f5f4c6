//! Types inferred from values, for readers who have not seen the values.

use super::parse::is_name;
use super::types::{Field, Type, repeated};
use crate::data::View;
use crate::firewall::is_firewalled;
use ptc_bytecode::Node;

/// Maximum depth, fields and items that are looked at.
const DEPTH: usize = 3;
const FIELDS: usize = 12;
const ITEMS: usize = 20;

impl Type {
    /// Infers a type, as detailed as a prompt needs. Names inside firewalled maps are left out.
    ///
    /// ```
    /// use ptc_contract::{data::Tree, signature::Type};
    /// let rows = ptc_runtime::bridge::json_to_datum(&serde_json::json!([{"id": 1, "tags": []}, {"id": 2, "tags": ["a"]}]))?;
    /// assert_eq!(Type::infer(Tree::new(&rows).root()).to_string(), "[{id :int, tags [:string]}]");
    /// # Ok::<(), ptc_runtime::BridgeError>(())
    /// ```
    pub fn infer(view: View<'_>) -> Type {
        infer(view, 0, false)
    }
}

/// Infers a type. Within a firewalled value, field names are left out: keys are data too, such as names of people.
fn infer(view: View<'_>, depth: usize, is_secret: bool) -> Type {
    let is_secret = is_secret || view.is_veiled();
    match view.node() {
        Node::Nil => Type::Nil,
        Node::Bool(_) => Type::Bool,
        Node::Int(_) | Node::Big(_) => Type::Int,
        Node::Float(_) => Type::Float,
        Node::Str(_) => Type::String,
        Node::Keyword(_) => Type::Keyword,
        Node::Instant(_) => Type::DateTime,
        Node::Vector(_) | Node::Set(_) => {
            let items = view.items();
            let mut types = items.iter().take(ITEMS).map(|item| infer(*item, depth + 1, is_secret));
            let item = match types.next() {
                Some(first) if depth < DEPTH => types.fold(first, same),
                _ => Type::Any,
            };
            Type::List(Box::new(item))
        }
        Node::Map(_) if is_secret => Type::Map,
        Node::Map(_) => fields(view, depth).unwrap_or(Type::Map),
        _ => Type::Any,
    }
}

/// Returns a record type, if the map is small and its keys are names.
fn fields(view: View<'_>, depth: usize) -> Option<Type> {
    if depth >= DEPTH || view.is_empty() || view.len() > FIELDS {
        return None;
    }
    let fields: Option<Vec<Field>> = view
        .entries()
        .into_iter()
        .map(|(key, value)| {
            let name = key.name().filter(|name| is_name(name))?;
            Some(Field::new(name, infer(value, depth + 1, is_firewalled(name))))
        })
        .collect();
    fields.filter(|fields| repeated(fields).is_none()).map(|fields| Type::Record { fields, closed: false })
}

/// Returns a type that fits both, as narrow as a simple type can be.
fn same(a: Type, b: Type) -> Type {
    match (a, b) {
        (a, b) if a == b => a,
        (Type::Nil, other) | (other, Type::Nil) => Type::optional(other),
        (Type::Optional(a), b) | (b, Type::Optional(a)) => Type::optional(same(*a, b.required().clone())),
        (Type::Int, Type::Float) | (Type::Float, Type::Int) => Type::Float,
        (Type::List(a), Type::List(b)) => match (*a, *b) {
            // An empty list says nothing about its items.
            (Type::Any, other) | (other, Type::Any) => Type::List(Box::new(other)),
            (a, b) => Type::List(Box::new(same(a, b))),
        },
        (Type::Record { fields: a, .. }, Type::Record { fields: b, .. }) => {
            let is_same = a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| a.name == b.name);
            if !is_same {
                return Type::Map;
            }
            let both = a.into_iter().zip(b);
            let fields = both.map(|(a, b)| Field::new(a.name, same(a.ty, b.ty))).collect();
            Type::Record { fields, closed: false }
        }
        (Type::Record { .. } | Type::Map, Type::Record { .. } | Type::Map) => Type::Map,
        _ => Type::Any,
    }
}
