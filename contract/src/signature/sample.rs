//! Sample values of a type, for examples in prompts and for trial runs.

use super::types::{Literal, Num, Pred, Type};
use crate::data::{Shown, Tree, show};
use crate::keys::kebab_key;
use ptc_bytecode::{Datum, Node};

impl Type {
    /// Returns a value that fits, if conditions allow: texts are `"example"`, integers 42. Keys are as declared.
    ///
    /// ```
    /// use ptc_contract::Signature;
    /// let ty = Signature::parse("{id :int, level :enum[low high], page :int[1..9], tags [:string]}")?.returns;
    /// let sample = ptc_runtime::bridge::datum_to_json(&ty.sample()).unwrap();
    /// assert_eq!(sample, serde_json::json!({"id": 42, "level": "low", "page": 1, "tags": ["example"]}));
    /// # Ok::<(), ptc_contract::signature::SignatureError>(())
    /// ```
    pub fn sample(&self) -> Datum {
        let mut nodes = Vec::new();
        write(self, false, &mut nodes);
        Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil))
    }

    /// Returns a sample as a program writes it, with keyword keys.
    pub fn sample_text(&self) -> String {
        let mut nodes = Vec::new();
        write(self, true, &mut nodes);
        let datum = Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil));
        show(Tree::new(&datum).root(), Shown { chars: 1000, ..Shown::default() })
    }
}

fn write(ty: &Type, in_program: bool, nodes: &mut Vec<Node>) {
    match ty {
        Type::String => nodes.push(Node::Str("example".into())),
        Type::Int => nodes.push(Node::Int(42)),
        Type::Float => nodes.push(Node::Float(3.25)),
        Type::Bool => nodes.push(Node::Bool(true)),
        Type::Keyword if in_program => nodes.push(Node::Keyword("example".into())),
        Type::Keyword => nodes.push(Node::Str("example".into())),
        Type::Any => nodes.push(Node::Str("value".into())),
        Type::Map => nodes.push(Node::Map(0)),
        Type::DateTime => nodes.push(Node::Instant(1_704_067_200_000_000)),
        Type::Nil => nodes.push(Node::Nil),
        Type::List(item) => {
            write(item, in_program, nodes);
            nodes.push(Node::Vector(1));
        }
        Type::Record { fields, .. } => {
            for field in fields {
                nodes.push(match in_program {
                    true => Node::Keyword(kebab_key(&field.name).into()),
                    false => Node::Str(field.name.as_str().into()),
                });
                write(&field.ty, in_program, nodes);
            }
            nodes.push(Node::Map(fields.len() as u32));
        }
        Type::Optional(inner) => write(inner, in_program, nodes),
        Type::Or(types) => match types.first() {
            Some(first) => write(first, in_program, nodes),
            None => nodes.push(Node::Nil),
        },
        Type::Enum(values) => nodes.push(match values.first() {
            Some(Literal::Str(text)) => Node::Str(text.as_str().into()),
            Some(Literal::Keyword(name)) => Node::Keyword(name.as_str().into()),
            Some(Literal::Num(Num::Int(n))) => Node::Int(*n),
            Some(Literal::Num(Num::Float(x))) => Node::Float(*x),
            Some(Literal::Bool(value)) => Node::Bool(*value),
            Some(Literal::Nil) | None => Node::Nil,
        }),
        Type::And(inner, preds) => match candidate(ty, inner, preds) {
            Some(node) => nodes.push(node),
            None => write(inner, in_program, nodes),
        },
    }
}

/// Returns a number or text near the bounds that meets all conditions.
fn candidate(ty: &Type, inner: &Type, preds: &[Pred]) -> Option<Node> {
    let bounds = preds.iter().filter_map(|pred| match pred {
        Pred::Gt(n) | Pred::Ge(n) | Pred::Lt(n) | Pred::Le(n) => Some(*n),
        _ => None,
    });
    let tries: Vec<Node> = match inner {
        Type::Int => std::iter::once(42)
            .chain(bounds.flat_map(|bound| {
                let n = bound.get() as i64;
                [n, n.saturating_add(1), n.saturating_sub(1)]
            }))
            .map(Node::Int)
            .collect(),
        Type::Float => std::iter::once(3.25)
            .chain(bounds.flat_map(|bound| [bound.get(), bound.get() + 0.5, bound.get() - 0.5]))
            .map(Node::Float)
            .collect(),
        Type::String => preds
            .iter()
            .filter_map(|pred| match pred {
                Pred::Min(n) | Pred::Max(n) => Some((*n).min(200) as usize),
                _ => None,
            })
            .chain([7])
            .map(|len| Node::Str("example ".chars().cycle().take(len).collect::<String>().trim_end().into()))
            .collect(),
        _ => return None,
    };
    tries.into_iter().find(|node| ty.check(&Datum::scalar(node.clone()), false).is_empty())
}
