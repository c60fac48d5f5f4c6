//! Malli data → signature, and back. The data comes from a program, from JSON (where keywords are strings that begin
//! with a colon), or from text.

use super::lex::{Token, is_keyword, lex};
use super::parse::check_pattern;
use super::types::{Field, Literal, Num, Pred, Type, repeated};
use super::{MAX_NESTING, MAX_PATTERNS, Signature, SignatureError};
use crate::data::{Action, Shown, View, rewrite, show};
use ptc_bytecode::{Datum, Node};
use std::borrow::Cow;

/// Returns whether a text is Malli rather than shorthand.
pub(super) fn is_text(source: &str) -> bool {
    source.trim_start().strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(":=>"))
}

/// Parses Malli text into data: vectors, maps, keywords, words, texts and numbers.
pub(super) fn read_text(source: &str) -> Result<Datum, SignatureError> {
    let mut nodes = Vec::new();
    // Open brackets: closing character, position, and number of values so far.
    let mut open: Vec<(char, usize, u32)> = vec![('\0', 0, 0)];
    for lexeme in lex(source)? {
        let bad = |message: &str| SignatureError::at(source, lexeme.at, message);
        match lexeme.token {
            Token::Mark('[') => {
                open.push((']', lexeme.at, 0));
                continue;
            }
            Token::Mark('{') => {
                open.push(('}', lexeme.at, 0));
                continue;
            }
            Token::Mark(close @ (']' | '}')) => {
                let (expected, _, count) = *open.last().unwrap_or(&('\0', 0, 0));
                if expected != close {
                    return Err(bad("a bracket that closes nothing"));
                }
                open.pop();
                nodes.push(match close {
                    ']' => Node::Vector(count),
                    _ if count % 2 == 1 => return Err(bad("a map needs a value for each key")),
                    _ => Node::Map(count / 2),
                });
            }
            Token::Keyword(name) => nodes.push(Node::Keyword(name.into())),
            Token::Text(text) => nodes.push(Node::Str(text.into())),
            Token::Num(Num::Int(n)) => nodes.push(Node::Int(n)),
            Token::Num(Num::Float(x)) => nodes.push(Node::Float(x)),
            Token::Word("nil") => nodes.push(Node::Nil),
            Token::Word("true") => nodes.push(Node::Bool(true)),
            Token::Word("false") => nodes.push(Node::Bool(false)),
            _ => return Err(bad("Malli data is made of vectors, maps, keywords, texts and numbers")),
        }
        if let Some((_, _, count)) = open.last_mut() {
            *count += 1;
        }
    }
    if let [_, .., (close, at, _)] = open[..] {
        return Err(SignatureError::at(source, at, format!("a bracket without its `{close}`")));
    }
    Datum::new(nodes).ok_or_else(|| SignatureError::data("something is left over after the signature"))
}

pub(super) fn read(view: View<'_>) -> Result<Signature, SignatureError> {
    let patterns = view.nodes().iter().filter(|node| matches!(node, Node::Keyword(name) if &**name == "re"));
    if patterns.count() > MAX_PATTERNS {
        return Err(SignatureError::data(format!("more than {MAX_PATTERNS} patterns")));
    }
    let parts = view.items();
    if head(&parts) != Some("=>") {
        return Ok(Signature { params: Vec::new(), returns: ty(view, 0)? });
    }
    let [_, args, returns] = parts[..] else {
        return Err(odd(view, "`[:=> args result]` has two parts"));
    };
    Ok(Signature { params: params(args)?, returns: ty(returns, 0)? })
}

fn params(view: View<'_>) -> Result<Vec<Field>, SignatureError> {
    let parts = view.items();
    let fields: Result<Vec<Field>, SignatureError> = match head(&parts) {
        Some("cat") => parts[1..]
            .iter()
            .enumerate()
            .map(|(i, part)| Ok(Field::new(format!("arg{}", i + 1), ty(*part, 1)?)))
            .collect(),
        Some("catn") => parts[1..].iter().map(|part| entry(*part, 0)).collect(),
        _ => return Err(odd(view, "arguments are written `[:cat t…]` or `[:catn [:name t]…]`")),
    };
    distinct(fields?)
}

fn distinct(fields: Vec<Field>) -> Result<Vec<Field>, SignatureError> {
    match repeated(&fields) {
        Some(name) => Err(SignatureError::data(format!("`{name}` occurs twice"))),
        None => Ok(fields),
    }
}

/// Reads `[name t]` or `[name {:optional true, :description "…"} t]`.
fn entry(view: View<'_>, depth: usize) -> Result<Field, SignatureError> {
    let parts = view.items();
    let (name, properties, of) = match parts[..] {
        [name, of] => (name, None, of),
        [name, properties, of] if matches!(properties.node(), Node::Map(_)) => (name, Some(properties), of),
        _ => return Err(odd(view, "an entry is `[:name t]` or `[:name {:optional true} t]`")),
    };
    let name = keyword(name).or_else(|| name.name()).filter(|name| !name.is_empty());
    let Some(name) = name else { return Err(odd(view, "an entry begins with its name")) };
    let is_optional =
        properties.and_then(|p| property(p, "optional")).is_some_and(|v| v.node() == &Node::Bool(true));
    let description = properties.and_then(|p| property(p, "description")).and_then(View::name);
    let of = ty(of, depth + 1)?;
    let of = if is_optional { Type::optional(of) } else { of };
    Ok(Field { description: description.map(str::to_string), ..Field::new(name, of) })
}

fn ty(view: View<'_>, depth: usize) -> Result<Type, SignatureError> {
    if depth > MAX_NESTING {
        return Err(SignatureError::data(format!("types nest deeper than {MAX_NESTING}")));
    }
    if let Some(name) = keyword(view) {
        return simple(name).ok_or_else(|| odd(view, "not a known type"));
    }
    let mut parts = view.items();
    let Some(form) = head(&parts) else {
        return Err(odd(view, "a type is a keyword or a vector that begins with one"));
    };
    // Properties stand second; only bounds among them mean something.
    let properties = parts.get(1).copied().filter(|second| matches!(second.node(), Node::Map(_)));
    if properties.is_some() {
        parts.remove(1);
    }
    let rest = &parts[1..];
    let of = match (form, rest) {
        ("map", fields) => {
            let fields: Result<Vec<Field>, _> = fields.iter().map(|field| entry(*field, depth)).collect();
            let closed =
                properties.and_then(|p| property(p, "closed")).is_some_and(|v| v.node() == &Node::Bool(true));
            Type::Record { fields: distinct(fields?)?, closed }
        }
        ("vector" | "sequential", [item]) => Type::List(Box::new(ty(*item, depth + 1)?)),
        ("maybe", [inner]) => Type::optional(ty(*inner, depth + 1)?),
        ("or", [_, ..]) => {
            let types: Result<Vec<Type>, _> = rest.iter().map(|one| ty(*one, depth + 1)).collect();
            Type::any_of(types?)
        }
        ("enum", [_, ..]) => Type::Enum(rest.iter().map(|value| literal(*value)).collect::<Result<_, _>>()?),
        ("and", [inner, preds @ ..]) => {
            let inner = ty(*inner, depth + 1)?;
            let preds: Result<Vec<Pred>, _> = preds.iter().map(|pred| condition(*pred)).collect();
            Type::refined(inner, preds?).map_err(SignatureError::data)?
        }
        ("re", [source]) => {
            Type::refined(Type::String, vec![Pred::Re(pattern(*source)?)]).map_err(SignatureError::data)?
        }
        (name, []) if simple(name).is_some() => simple(name).unwrap_or(Type::Any),
        _ => return Err(odd(view, "not a known form")),
    };
    let mut preds = Vec::new();
    if let Some(properties) = properties {
        for (name, make) in [("min", true), ("max", false)] {
            if let Some(bound) = property(properties, name) {
                preds.push(bounds(make, number(bound)?)?);
            }
        }
    }
    Type::refined(of, preds).map_err(SignatureError::data)
}

fn simple(name: &str) -> Option<Type> {
    let name = if name == "double" { "float" } else { name };
    super::parse::NAMES.iter().find(|(known, _)| *known == name).map(|(_, ty)| ty.clone())
}

fn condition(view: View<'_>) -> Result<Pred, SignatureError> {
    let parts = view.items();
    let (Some(form), [_, value]) = (head(&parts), &parts[..]) else {
        return Err(odd(view, "a condition is written `[:> 0]`, `[:re \"…\"]` or `[:min 1]`"));
    };
    Ok(match form {
        ">" => Pred::Gt(number(*value)?),
        ">=" => Pred::Ge(number(*value)?),
        "<" => Pred::Lt(number(*value)?),
        "<=" => Pred::Le(number(*value)?),
        "re" => Pred::Re(pattern(*value)?),
        "min" => bounds(true, number(*value)?)?,
        "max" => bounds(false, number(*value)?)?,
        _ => return Err(odd(view, "conditions are :> :>= :< :<= :re :min :max")),
    })
}

/// Converts `min` or `max`: a bound for numbers, which may be negative or a float, a count for everything else.
fn bounds(is_min: bool, bound: Num) -> Result<Pred, SignatureError> {
    Ok(match (is_min, bound) {
        (true, Num::Int(n @ 0..)) => Pred::Min(n as u64),
        (false, Num::Int(n @ 0..)) => Pred::Max(n as u64),
        (true, bound) => Pred::Ge(bound),
        (false, bound) => Pred::Le(bound),
    })
}

fn pattern(view: View<'_>) -> Result<String, SignatureError> {
    let (Node::Str(source) | Node::Regex(source)) = view.node() else {
        return Err(odd(view, "a pattern is a text"));
    };
    check_pattern(source).map_err(SignatureError::data)?;
    Ok(source.to_string())
}

fn number(view: View<'_>) -> Result<Num, SignatureError> {
    match view.node() {
        Node::Int(n) => Ok(Num::Int(*n)),
        Node::Float(x) if x.is_finite() => Ok(Num::Float(*x)),
        _ => Err(odd(view, "a bound is a number")),
    }
}

fn literal(view: View<'_>) -> Result<Literal, SignatureError> {
    Ok(match view.node() {
        Node::Nil => Literal::Nil,
        Node::Bool(value) => Literal::Bool(*value),
        Node::Int(_) | Node::Float(_) => Literal::Num(number(view)?),
        Node::Keyword(name) if is_keyword(name) => Literal::Keyword(name.to_string()),
        Node::Keyword(_) => {
            return Err(odd(view, "a keyword of an enum is a name of letters, digits and any of -_*!/."));
        }
        Node::Str(text) => Literal::Str(text.to_string()),
        _ => return Err(odd(view, "a value of an enum is a text, a keyword, a number, true, false or nil")),
    })
}

/// Converts strings with a leading colon, which stand for keywords in JSON, to keywords.
pub(super) fn with_keywords(data: &Datum) -> Cow<'_, Datum> {
    if data.nodes().iter().any(|node| matches!(node, Node::Keyword(_))) {
        return Cow::Borrowed(data);
    }
    Cow::Owned(rewrite(data, |_, view| match view.node() {
        Node::Str(text) if text.len() > 1 && text.starts_with(':') => {
            Action::Replace(Node::Keyword(text[1..].into()))
        }
        _ => Action::Keep,
    }))
}

fn keyword<'t>(view: View<'t>) -> Option<&'t str> {
    match view.node() {
        Node::Keyword(name) => Some(name),
        _ => None,
    }
}

fn head<'t>(parts: &[View<'t>]) -> Option<&'t str> {
    keyword(*parts.first()?)
}

fn property<'t>(properties: View<'t>, name: &str) -> Option<View<'t>> {
    properties.entries().into_iter().find(|(key, _)| keyword(*key) == Some(name)).map(|(_, value)| value)
}

fn odd(view: View<'_>, message: &str) -> SignatureError {
    let shown = show(view, Shown { chars: 60, depth: 4, ..Shown::default() });
    SignatureError::data(format!("`{shown}`: {message}"))
}

pub(super) fn write(signature: &Signature) -> Datum {
    let mut nodes = vec![Node::Keyword("=>".into()), Node::Keyword("catn".into())];
    for param in &signature.params {
        write_entry(param, &mut nodes);
    }
    nodes.push(Node::Vector(signature.params.len() as u32 + 1));
    if signature.params.is_empty() {
        nodes = vec![Node::Keyword("=>".into()), Node::Keyword("cat".into()), Node::Vector(1)];
    }
    write_type(&signature.returns, &mut nodes);
    nodes.push(Node::Vector(3));
    Datum::new(nodes).unwrap_or_else(|| Datum::scalar(Node::Nil))
}

fn write_entry(field: &Field, nodes: &mut Vec<Node>) {
    nodes.push(Node::Keyword(field.name.as_str().into()));
    let before = nodes.len();
    if field.ty.is_optional() {
        nodes.extend([Node::Keyword("optional".into()), Node::Bool(true)]);
    }
    if let Some(description) = &field.description {
        nodes.extend([Node::Keyword("description".into()), Node::Str(description.as_str().into())]);
    }
    let properties = (nodes.len() - before) as u32 / 2;
    if properties > 0 {
        nodes.push(Node::Map(properties));
    }
    write_type(&field.ty, nodes);
    nodes.push(Node::Vector(if properties > 0 { 3 } else { 2 }));
}

fn write_type(ty: &Type, nodes: &mut Vec<Node>) {
    let mut form = |name: &str| nodes.push(Node::Keyword(name.into()));
    match ty {
        Type::List(item) => {
            form("vector");
            write_type(item, nodes);
            nodes.push(Node::Vector(2));
        }
        Type::Record { fields, closed } => {
            form("map");
            let extra = u32::from(*closed);
            if *closed {
                nodes.extend([Node::Keyword("closed".into()), Node::Bool(true), Node::Map(1)]);
            }
            fields.iter().for_each(|field| write_entry(field, nodes));
            nodes.push(Node::Vector(fields.len() as u32 + 1 + extra));
        }
        Type::Optional(inner) => {
            form("maybe");
            write_type(inner, nodes);
            nodes.push(Node::Vector(2));
        }
        Type::Or(types) => {
            form("or");
            types.iter().for_each(|ty| write_type(ty, nodes));
            nodes.push(Node::Vector(types.len() as u32 + 1));
        }
        Type::Enum(values) => {
            form("enum");
            nodes.extend(values.iter().map(|value| match value {
                Literal::Nil => Node::Nil,
                Literal::Bool(value) => Node::Bool(*value),
                Literal::Num(number) => num_node(*number),
                Literal::Str(text) => Node::Str(text.as_str().into()),
                Literal::Keyword(name) => Node::Keyword(name.as_str().into()),
            }));
            nodes.push(Node::Vector(values.len() as u32 + 1));
        }
        Type::And(inner, preds) => {
            form("and");
            write_type(inner, nodes);
            for pred in preds {
                let (name, value) = match pred {
                    Pred::Gt(n) => (">", num_node(*n)),
                    Pred::Ge(n) => (">=", num_node(*n)),
                    Pred::Lt(n) => ("<", num_node(*n)),
                    Pred::Le(n) => ("<=", num_node(*n)),
                    Pred::Min(n) => ("min", Node::Int(*n as i64)),
                    Pred::Max(n) => ("max", Node::Int(*n as i64)),
                    Pred::Re(source) => ("re", Node::Str(source.as_str().into())),
                };
                nodes.extend([Node::Keyword(name.into()), value, Node::Vector(2)]);
            }
            nodes.push(Node::Vector(preds.len() as u32 + 2));
        }
        Type::Float => form("double"),
        Type::Bool => form("boolean"),
        simple => form(simple.to_string().trim_start_matches(':')),
    }
}

fn num_node(number: Num) -> Node {
    match number {
        Num::Int(n) => Node::Int(n),
        Num::Float(x) => Node::Float(x),
    }
}
