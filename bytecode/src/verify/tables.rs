//! Checks of the tables of an artifact: imports, constants, functions, entry and exports.

use super::facts::BlockFacts;
use super::report::{function_name, invalid, quoted, stale};
use crate::artifact::{Artifact, Const, Function};
use crate::builtins::{BuiltinId, lookup};
use crate::codes::Code;
use crate::datum::{Datum, Node};
use crate::diag::Diagnostic;
use crate::limits::LIMITS;
use std::collections::HashSet;

/// Maximum parameters of a function: 100 and a rest parameter.
const MAX_PARAMS: u8 = 101;

/// Resolves imported names.
pub fn imports(artifact: &Artifact) -> Result<Vec<BuiltinId>, Diagnostic> {
    let resolve = |name: &str| {
        lookup(name)
            .ok_or_else(|| stale(format!("it needs the builtin {}, which does not exist", quoted(name))))
    };
    artifact.imports.iter().map(|name| resolve(name)).collect()
}

/// Checks that constants are values.
pub fn constants(artifact: &Artifact) -> Result<(), Diagnostic> {
    for (id, constant) in artifact.consts.iter().enumerate() {
        let wrong = match constant {
            Const::Int(_) | Const::Float(_) | Const::Str(_) | Const::Keyword(_) => None,
            Const::Data(datum) => wrong_data(datum),
            Const::Keys(datum) => wrong_data(datum).or_else(|| wrong_keys(datum)),
        };
        if let Some(wrong) = wrong {
            return Err(invalid(Code::BadConstant, format!("constant {id} {wrong}")));
        }
    }
    Ok(())
}

/// Describes why nodes are not a constant value, if so.
fn wrong_data(datum: &Datum) -> Option<String> {
    // Decoding only yields sound data, but a datum made in Rust may not be.
    let mut depth: u64 = 0;
    for node in datum.nodes() {
        let takes = match node {
            Node::Vector(n) | Node::Set(n) => u64::from(*n),
            Node::Map(n) => u64::from(*n) * 2,
            Node::Opaque(_) => return Some("holds something that is not data".into()),
            Node::Big(digits) if !is_big(digits) => {
                return Some("holds a large integer that is not written as one".into());
            }
            _ => 0,
        };
        let Some(left) = depth.checked_sub(takes) else {
            return Some("holds a collection with fewer items than it says".into());
        };
        depth = left + 1;
    }
    (depth != 1).then(|| format!("holds {depth} values where there should be one"))
}

/// True for the decimal form of an integer that does not fit 64 bits. The length is bounded because parsing digits
/// takes more than linear time.
fn is_big(text: &str) -> bool {
    let most = LIMITS.iter().find(|row| row.name == "digits").map_or(u64::MAX, |row| row.ceiling);
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|b| b.is_ascii_digit())
        && !digits.starts_with('0')
        && digits.len() as u64 <= most
        && digits.len() >= 19
        && text.parse::<i64>().is_err()
}

/// Describes why a datum cannot be the keys of a record, if so.
fn wrong_keys(datum: &Datum) -> Option<String> {
    let (Node::Vector(_), items) = datum.nodes().split_last()? else {
        return Some("should be a vector of keys, but is not a vector".into());
    };
    if !items.iter().all(is_scalar) {
        return Some("should be a vector of keys, but a key is a collection".into());
    }
    let mut seen = HashSet::with_capacity(items.len());
    let repeats = items.iter().any(|item| key_of(item).is_some_and(|key| !seen.insert(key)));
    repeats.then(|| "should be a vector of distinct keys, but one occurs twice".into())
}

/// True if a node is a value by itself.
pub fn is_scalar(node: &Node) -> bool {
    !matches!(node, Node::Vector(_) | Node::Map(_) | Node::Set(_) | Node::Opaque(_))
}

/// Returns a form of a key that is equal for equal keys; None for NaN, which equals nothing.
fn key_of(node: &Node) -> Option<(u8, std::borrow::Cow<'_, str>)> {
    use std::borrow::Cow;
    let number = |text: String| Some((0, Cow::Owned(text)));
    match node {
        Node::Int(n) => number(n.to_string()),
        Node::Big(digits) => Some((0, Cow::Borrowed(digits))),
        // 1 and 1.0 are the same key, and so are 0.0 and -0.0.
        Node::Float(x) if x.is_nan() => None,
        Node::Float(0.0) => number("0".into()),
        Node::Float(x) if x.is_finite() && x.fract() == 0.0 => number(format!("{x:.0}")),
        Node::Float(x) => number(format!("{x:?}")),
        Node::Nil => Some((1, "nil".into())),
        Node::Bool(b) => Some((1, if *b { "true" } else { "false" }.into())),
        Node::Str(s) => Some((2, s.as_ref().into())),
        Node::Keyword(s) => Some((3, s.as_ref().into())),
        Node::Symbol(s) => Some((4, s.as_ref().into())),
        Node::Regex(s) => Some((5, s.as_ref().into())),
        Node::Day(n) => Some((6, n.to_string().into())),
        Node::Instant(n) => Some((7, n.to_string().into())),
        Node::Duration(n) => Some((8, n.to_string().into())),
        Node::Vector(_) | Node::Map(_) | Node::Set(_) | Node::Opaque(_) => None,
    }
}

/// Checks functions and their arities; returns the facts of each block.
pub fn functions(artifact: &Artifact) -> Result<Vec<BlockFacts>, Diagnostic> {
    let mut owners: Vec<Option<BlockFacts>> = vec![None; artifact.blocks.len()];
    for (index, function) in artifact.functions.iter().enumerate() {
        let wrong = |what: String| {
            invalid(Code::BadFunction, format!("function {} {what}", function_name(artifact, index)))
        };
        arity_table(function).map_err(|what| wrong(what.into()))?;
        for (arity_index, arity) in function.arities.iter().enumerate() {
            let Some(owner) = owners.get_mut(arity.block as usize) else {
                return Err(wrong(format!(
                    "names block {}, but there are {}",
                    arity.block,
                    artifact.blocks.len()
                )));
            };
            let facts =
                BlockFacts { function: index as u32, arity: arity_index as u32, captures: function.captures };
            if let Some(other) = owner.replace(facts) {
                let other = function_name(artifact, other.function as usize);
                return Err(wrong(format!("shares block {} with {other}", arity.block)));
            }
            let block = &artifact.blocks[arity.block as usize];
            let takes = u16::from(arity.required) + u16::from(arity.rest);
            if u16::from(block.params) != takes {
                return Err(wrong(format!("takes {takes} parameters, but its code takes {}", block.params)));
            }
            if block.params > MAX_PARAMS {
                return Err(wrong(format!(
                    "takes {takes} parameters, but at most {MAX_PARAMS} are possible"
                )));
            }
            if block.regs < takes + 1 {
                return Err(wrong(format!(
                    "takes {takes} parameters, but its frame has {} registers",
                    block.regs
                )));
            }
        }
    }
    let orphan = owners.iter().position(Option::is_none);
    match orphan {
        Some(block) => Err(invalid(Code::BadFunction, format!("code block {block} belongs to no function"))),
        None => Ok(owners.into_iter().flatten().collect()),
    }
}

/// Checks the order of arities: fixed ones by rising parameter count, then at most one with a rest parameter.
fn arity_table(function: &Function) -> Result<(), &'static str> {
    let (fixed, rest) = match function.arities.split_last() {
        None => return Err("has no arity"),
        Some((last, before)) if last.rest => (before, 1),
        Some(_) => (&function.arities[..], 0),
    };
    if fixed.iter().any(|arity| arity.rest) {
        return Err(match rest {
            0 => "has a rest parameter in an arity that is not the last",
            _ => "has two arities with a rest parameter",
        });
    }
    match fixed.windows(2).all(|pair| pair[0].required < pair[1].required) {
        true => Ok(()),
        false => Err("lists its arities out of order"),
    }
}

/// Checks the functions that can be called from outside.
pub fn entry_and_exports(artifact: &Artifact) -> Result<(), Diagnostic> {
    let there_are = artifact.functions.len();
    if let Some(entry) = artifact.entry {
        let Some(function) = artifact.functions.get(entry as usize) else {
            return Err(invalid(
                Code::BadExport,
                format!("the program starts in function {entry}, but there are {there_are}"),
            ));
        };
        let name = function_name(artifact, entry as usize);
        if !matches!(&function.arities[..], [only] if only.required == 0 && !only.rest) {
            return Err(invalid(
                Code::BadExport,
                format!("the program starts in {name}, which takes parameters"),
            ));
        }
        if function.captures != 0 {
            return Err(invalid(
                Code::BadExport,
                format!("the program starts in {name}, which captures values"),
            ));
        }
    }
    let mut names = HashSet::with_capacity(artifact.exports.len());
    for export in &artifact.exports {
        let name = quoted(&export.name);
        let Some(function) = artifact.functions.get(export.function as usize) else {
            return Err(invalid(
                Code::BadExport,
                format!("export {name} is function {}, but there are {there_are}", export.function),
            ));
        };
        if function.captures != 0 {
            return Err(invalid(
                Code::BadExport,
                format!("export {name} captures values, which only closures do"),
            ));
        }
        if !names.insert(&export.name) {
            return Err(invalid(Code::BadExport, format!("export {name} is listed twice")));
        }
    }
    Ok(())
}
