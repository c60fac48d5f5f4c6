//! Builtins that call no functions; the others are in [`sequences`](super::sequences).

use super::eval::{Answer, Machine};
use super::order::{is_nan, numeric, partial, total, whole};
use super::print::{display, print};
use super::value::{Fault, Made, NO_OPINION, TYPE, Value};
use super::{arith, lookup, sequences};
use num_traits::ToPrimitive;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

const REFUSED: Fault = "runtime_error";

/// Calls the builtin `name`, after checking the number of arguments against its row.
pub fn call<'a>(machine: &mut Machine<'a>, name: &str, args: Vec<Value<'a>>) -> Answer<'a> {
    let row = ptc_bytecode::lookup(name).and_then(|id| id.row()).ok_or(NO_OPINION)?;
    if !row.takes(args.len()) {
        return Err("arity_error".into());
    }
    if let Some(answer) = sequences::call(machine, name, &args) {
        return answer;
    }
    if let Some(made) = combine(name, &args) {
        return Ok(Value::Made(Rc::new(made)));
    }
    if matches!(name, "println" | "prn") {
        machine.prints.push(joined(&args, name == "println"));
        return Ok(Value::Nil);
    }
    Ok(plain(name, &args)?)
}

/// Builds functions from functions.
fn combine<'a>(name: &str, args: &[Value<'a>]) -> Option<Made<'a>> {
    Some(match (name, args) {
        // A single function stays itself.
        ("comp", [_]) | ("partial", [_]) => return None,
        ("comp", fs) => Made::Comp(fs.to_vec()),
        ("partial", [f, given @ ..]) => Made::Partial(f.clone(), given.to_vec()),
        ("complement", [f]) => Made::Complement(f.clone()),
        ("constantly", [x]) => Made::Constantly(x.clone()),
        ("juxt", fs) => Made::Juxt(fs.to_vec()),
        ("fnil", [f, defaults @ ..]) => Made::Fnil(f.clone(), defaults.to_vec()),
        ("every-pred", fs) => Made::EveryPred(fs.to_vec()),
        ("some-fn", fs) => Made::SomeFn(fs.to_vec()),
        _ => return None,
    })
}

/// Joins arguments with spaces; strings raw or readable.
fn joined(args: &[Value<'_>], raw: bool) -> String {
    let mut out = String::new();
    for (i, arg) in args.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match arg {
            Value::Str(_) if raw => display(arg, &mut out),
            _ => print(arg, &mut out),
        }
    }
    out
}

fn plain<'a>(name: &str, args: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    if let Some(answer) = numbers(name, args).or_else(|| questions(name, args)) {
        return answer;
    }
    if let Some(answer) = collections(name, args).or_else(|| internal(name, args)) {
        return answer;
    }
    texts(name, args).unwrap_or(Err(NO_OPINION))
}

fn numbers<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Fault>> {
    let one = Value::int(1);
    Some(match (name.strip_suffix('\'').unwrap_or(name), args) {
        ("+" | "-" | "*" | "/", _) => arith::fold(name.trim_end_matches('\''), args),
        ("quot" | "rem" | "mod", [a, b]) => arith::binary(name, a, b),
        ("inc", [x]) => arith::binary("+", x, &one),
        ("dec", [x]) => arith::binary("-", x, &one),
        ("abs", [x]) => arith::abs(x),
        ("max", _) => arith::extreme(args, Ordering::Greater),
        ("min", _) => arith::extreme(args, Ordering::Less),
        ("floor", [x]) => arith::rounded(x, f64::floor),
        ("ceil", [x]) => arith::rounded(x, f64::ceil),
        ("round", [x]) => arith::rounded(x, f64::round),
        ("trunc", [x]) => arith::rounded(x, f64::trunc),
        ("double" | "float", [x]) => arith::to_float(x).map(Value::Float).map_err(|_| REFUSED),
        ("sqrt", [x]) => arith::to_float(x).map(|x| Value::Float(x.sqrt())),
        _ => return None,
    })
}

fn pairwise(args: &[Value<'_>], holds: fn(Ordering) -> bool) -> bool {
    args.windows(2).all(|pair| partial(&pair[0], &pair[1]).is_some_and(holds))
}

fn questions<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Fault>> {
    let equal = || args[1..].iter().all(|x| args[0].equals(x));
    let sign = |x: &Value<'_>| numeric(x, &Value::int(0));
    let answer = match (name, args) {
        ("=" | "==", _) => equal(),
        ("not=", _) => !equal(),
        ("<", _) => pairwise(args, Ordering::is_lt),
        ("<=", _) => pairwise(args, Ordering::is_le),
        (">", _) => pairwise(args, Ordering::is_gt),
        (">=", _) => pairwise(args, Ordering::is_ge),
        ("not", [x]) => !x.truthy(),
        ("boolean", [x]) => x.truthy(),
        ("distinct?", _) => !args.iter().enumerate().any(|(i, x)| args[..i].iter().any(|y| y.is(x))),
        ("nil?", [x]) => x.is_nil(),
        ("some?", [x]) => !x.is_nil(),
        ("any?", _) => true,
        ("true?", [x]) => matches!(x, Value::Bool(true)),
        ("false?", [x]) => matches!(x, Value::Bool(false)),
        ("boolean?", [x]) => matches!(x, Value::Bool(_)),
        ("number?", [x]) => x.is_number(),
        ("int?" | "integer?" | "rational?", [x]) => matches!(x, Value::Int(_)),
        ("float?" | "double?", [x]) => matches!(x, Value::Float(_)),
        ("decimal?" | "ratio?" | "sorted?" | "map-entry?", _) => false,
        ("nat-int?", [x]) => matches!(x, Value::Int(_)) && sign(x).is_some_and(Ordering::is_ge),
        ("pos-int?", [x]) => matches!(x, Value::Int(_)) && sign(x).is_some_and(Ordering::is_gt),
        ("neg-int?", [x]) => matches!(x, Value::Int(_)) && sign(x).is_some_and(Ordering::is_lt),
        ("infinite?", [x]) => matches!(x, Value::Float(x) if x.is_infinite()),
        ("NaN?", [x]) => is_nan(x),
        ("zero?", [x]) => sign(x).is_some_and(Ordering::is_eq),
        ("pos?", [x]) => sign(x).is_some_and(Ordering::is_gt),
        ("neg?", [x]) => sign(x).is_some_and(Ordering::is_lt),
        ("even?", [x]) => arith::parity(x, false),
        ("odd?", [x]) => arith::parity(x, true),
        ("string?", [x]) => matches!(x, Value::Str(_)),
        ("char?", [x]) => matches!(x, Value::Str(_)) && x.items().is_ok_and(|items| items.len() == 1),
        ("keyword?", [x]) => matches!(x, Value::Keyword(_)),
        ("symbol?", [x]) => matches!(x, Value::Symbol(_)),
        ("vector?" | "list?" | "seq?" | "sequential?" | "indexed?" | "reversible?", [x]) => {
            matches!(x, Value::Vector(_))
        }
        ("map?", [x]) => matches!(x, Value::Map(_)),
        ("set?", [x]) => matches!(x, Value::Set(_)),
        ("coll?" | "counted?", [x]) => matches!(x, Value::Vector(_) | Value::Map(_) | Value::Set(_)),
        ("associative?", [x]) => matches!(x, Value::Vector(_) | Value::Map(_)),
        ("seqable?", [x]) => x.items().is_ok(),
        ("fn?", [x]) => matches!(x, Value::Closure(_) | Value::Made(_) | Value::Builtin(_)),
        ("ifn?", [x]) => matches!(
            x,
            Value::Closure(_)
                | Value::Made(_)
                | Value::Builtin(_)
                | Value::Keyword(_)
                | Value::Map(_)
                | Value::Set(_)
                | Value::Vector(_)
        ),
        ("reduced?", [x]) => matches!(x, Value::Reduced(_)),
        ("empty?", [x]) => return Some(x.items().map(|items| Value::Bool(items.is_empty()))),
        ("contains?", [coll, key]) => return Some(lookup::contains(coll, key).map(Value::Bool)),
        ("subset?", [a, b]) => return Some(inside(a, b)),
        ("superset?", [a, b]) => return Some(inside(b, a)),
        ("compare", [a, b]) => {
            let unordered = a.is_number() && b.is_number() && (is_nan(a) || is_nan(b));
            let order = if unordered { Ordering::Equal } else { total(a, b) };
            return Some(Ok(Value::int(order as i8)));
        }
        _ => return None,
    };
    Some(Ok(Value::Bool(answer)))
}

/// Returns the members of a set; nil has none.
pub fn members<'a>(v: &Value<'a>) -> Result<Vec<Value<'a>>, Fault> {
    match v {
        Value::Set(_) | Value::Nil => v.items(),
        _ => Err(REFUSED),
    }
}

fn inside<'a>(small: &Value<'a>, large: &Value<'a>) -> Result<Value<'a>, Fault> {
    let (small, large) = (members(small)?, members(large)?);
    Ok(Value::Bool(small.iter().all(|x| large.iter().any(|y| y.is(x)))))
}

fn collections<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Fault>> {
    Some(match (name, args) {
        ("identity" | "doall" | "memoize" | "comp" | "partial", [x]) => Ok(x.clone()),
        ("vector" | "list", _) => Ok(Value::vector(args.to_vec())),
        ("hash-set", _) => Ok(Value::set(args.iter().cloned())),
        ("hash-map" | "array-map", _) if args.len() % 2 == 1 => Err("arity_error"),
        ("hash-map" | "array-map", _) => {
            Ok(Value::map(args.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone()))))
        }
        ("get", [coll, key]) => Ok(lookup::get(coll, key, Value::Nil)),
        ("get", [coll, key, default]) => Ok(lookup::get(coll, key, default.clone())),
        ("get-in", [coll, path, more @ ..]) => path_of(path).map(|path| {
            lookup::get_in(coll, &path).unwrap_or_else(|| more.first().cloned().unwrap_or(Value::Nil))
        }),
        ("nth", [coll, index]) => lookup::nth(coll, index).and_then(|found| match (found, index) {
            (Some(found), _) => Ok(found),
            // A float that finds nothing was probably not meant as an index.
            (None, Value::Float(x)) if x.is_finite() && *x > -1.0 && !matches!(coll, Value::Nil) => Err(TYPE),
            (None, _) => Ok(Value::Nil),
        }),
        ("nth", [coll, index, default]) => {
            lookup::nth(coll, index).map(|found| found.unwrap_or_else(|| default.clone()))
        }
        ("assoc", [_]) => Err(REFUSED),
        ("assoc", [_, pairs @ ..]) if pairs.len() % 2 == 1 => Err(REFUSED),
        ("assoc", [coll, pairs @ ..]) => pairs
            .chunks(2)
            .try_fold(coll.clone(), |coll, pair| lookup::assoc(&coll, pair[0].clone(), pair[1].clone())),
        ("assoc-in", [coll, path, value]) => {
            path_of(path).and_then(|path| lookup::assoc_in(coll, &path, value.clone()))
        }
        ("dissoc", [coll, keys @ ..]) => lookup::dissoc(coll, keys),
        ("conj", []) => Ok(Value::vector(Vec::new())),
        ("conj", [coll, items @ ..]) => {
            items.iter().try_fold(coll.clone(), |coll, item| lookup::conj(&coll, item.clone()))
        }
        ("keys", [coll]) => lookup::halves(coll, false),
        ("vals", [coll]) => lookup::halves(coll, true),
        ("find", [coll, key]) => find(coll, key),
        ("key" | "val", [Value::Vector(pair)]) if pair.len() == 2 => {
            Ok(pair[usize::from(name == "val")].clone())
        }
        ("merge", _) => merge(args),
        ("union", _) => union(args),
        ("intersection" | "difference", [first, others @ ..]) => {
            choose(first, others, name == "intersection")
        }
        ("disj", [set, items @ ..]) => members(set).map(|known| match set {
            Value::Nil => Value::Nil,
            _ => Value::set(known.into_iter().filter(|x| !items.iter().any(|y| y.is(x)))),
        }),
        ("unreduced", [Value::Reduced(x)]) => Ok((**x).clone()),
        ("unreduced", [x]) => Ok(x.clone()),
        ("reduced", [x]) => Ok(Value::Reduced(Rc::new(x.clone()))),
        _ => return None,
    })
}

pub fn path_of<'a>(path: &Value<'a>) -> Result<Vec<Value<'a>>, Fault> {
    match path {
        Value::Nil | Value::Vector(_) => path.items(),
        _ => Err(TYPE),
    }
}

fn find<'a>(coll: &Value<'a>, key: &Value<'a>) -> Result<Value<'a>, Fault> {
    let pair = match coll {
        Value::Nil => None,
        Value::Map(pairs) => lookup::flexible(pairs, key).cloned(),
        Value::Vector(_) => lookup::find(coll, key).map(|value| (key.clone(), value)),
        _ => return Err(TYPE),
    };
    Ok(pair.map_or(Value::Nil, |(key, value)| Value::vector(vec![key, value])))
}

fn merge<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    if let [only] = args {
        return Ok(if only.truthy() { only.clone() } else { Value::Nil });
    }
    let mut merged = Value::Nil;
    for source in args.iter().filter(|source| source.truthy()) {
        merged = match (source, &merged) {
            (Value::Map(_), Value::Nil) => source.clone(),
            (Value::Map(_), _) => lookup::conj(&merged, source.clone())?,
            (Value::Vector(pair), Value::Map(_)) if pair.len() == 2 => lookup::conj(&merged, source.clone())?,
            _ => return Err(TYPE),
        };
    }
    Ok(merged)
}

fn union<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Fault> {
    let all: Vec<_> = args.iter().map(members).collect::<Result<_, _>>()?;
    let is_nothing = !args.is_empty() && args.iter().all(Value::is_nil);
    Ok(if is_nothing { Value::Nil } else { Value::set(all.into_iter().flatten()) })
}

fn choose<'a>(first: &Value<'a>, others: &[Value<'a>], in_all: bool) -> Result<Value<'a>, Fault> {
    let sets: Vec<_> = others.iter().map(members).collect::<Result<_, _>>()?;
    let kept = members(first)?;
    if first.is_nil() || (in_all && others.iter().any(Value::is_nil)) {
        return Ok(Value::Nil);
    }
    let has = |set: &Vec<Value<'a>>, x: &Value<'a>| set.iter().any(|y| y.is(x));
    Ok(Value::set(kept.into_iter().filter(|x| sets.iter().all(|set| has(set, x) == in_all))))
}

/// Calls an internal builtin that expansions use.
fn internal<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Fault>> {
    const PATTERN: Fault = "destructure_error";
    Some(match (name, args) {
        ("%builder", []) => Ok(Value::Builder(Rc::new(RefCell::new(Vec::new())))),
        ("%push", [Value::Builder(items), item]) => {
            items.borrow_mut().push(item.clone());
            Ok(args[0].clone())
        }
        ("%finish", [Value::Builder(items)]) => Ok(Value::vector(items.borrow().clone())),
        ("%nth", [Value::Map(_) | Value::Set(_), _]) => Err(PATTERN),
        ("%nth", [coll, index, ..]) => coll.items().map_err(|_| PATTERN).map(|items| {
            let index = whole(index).and_then(|i| usize::try_from(i).ok());
            index.and_then(|i| items.get(i).cloned()).unwrap_or(Value::Nil)
        }),
        ("%drop", [coll, n]) => coll.items().map_err(|_| PATTERN).map(|items| {
            let n = whole(n).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
            let left: Vec<_> = items.into_iter().skip(n).collect();
            if left.is_empty() { Value::Nil } else { Value::vector(left) }
        }),
        ("%kwargs", [Value::Vector(items)]) => keyword_arguments(items).ok_or(PATTERN),
        ("%kwargs", [other]) => Ok(other.clone()),
        ("%assert-failed", _) => Err("assertion_failed"),
        _ => return None,
    })
}

/// Reads keyword arguments: pairs, a map, or pairs followed by a map.
fn keyword_arguments<'a>(items: &[Value<'a>]) -> Option<Value<'a>> {
    let (pairs, last) = items.split_at(items.len() / 2 * 2);
    let mut all: Vec<_> = pairs.chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
    match last {
        [] | [Value::Nil] => {}
        [Value::Map(more)] => all.extend(more.iter().cloned()),
        _ => return None,
    }
    Some(Value::map(all))
}

fn texts<'a>(name: &str, args: &[Value<'a>]) -> Option<Result<Value<'a>, Fault>> {
    Some(match (name, args) {
        ("str", _) => {
            let mut out = String::new();
            args.iter().for_each(|arg| display(arg, &mut out));
            Ok(Value::str(&out))
        }
        ("pr-str", _) => Ok(Value::str(&joined(args, false))),
        ("name", [Value::Str(_)]) => Ok(args[0].clone()),
        ("name", [Value::Keyword(name)]) => Ok(Value::str(name.rsplit('/').next().unwrap_or(name))),
        ("name", _) => Err(REFUSED),
        ("upper-case" | "lower-case", [Value::Nil]) => Err(TYPE),
        ("upper-case" | "lower-case", [x]) => {
            let mut out = String::new();
            display(x, &mut out);
            Ok(Value::str(&if name == "upper-case" { out.to_uppercase() } else { out.to_lowercase() }))
        }
        ("join", [coll]) => join("", coll),
        ("join", [Value::Str(separator), coll]) => join(separator, coll),
        ("subs", [Value::Str(_), from, more @ ..]) => substring(&args[0], from, more.first()),
        ("subs", _) => Err(TYPE),
        ("keyword", [Value::Keyword(_)]) => Ok(args[0].clone()),
        ("keyword", [Value::Str(name)]) if !name.is_empty() && name.chars().all(char::is_alphanumeric) => {
            Ok(Value::Keyword(name.clone()))
        }
        ("type", [x]) => type_of(x).ok_or(NO_OPINION),
        _ => return None,
    })
}

fn join<'a>(separator: &str, coll: &Value<'a>) -> Result<Value<'a>, Fault> {
    let mut out = String::new();
    for (i, item) in coll.items()?.iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        display(item, &mut out);
    }
    Ok(Value::str(&out))
}

/// Implements `(subs s from to)`, which never faults on numbers.
fn substring<'a>(text: &Value<'a>, from: &Value<'a>, to: Option<&Value<'a>>) -> Result<Value<'a>, Fault> {
    let items = text.items()?;
    let from = whole(from).ok_or(TYPE)?;
    let to = to.map_or(Some(i64::MAX), whole).ok_or(TYPE)?;
    let to = to.min(items.len().to_i64().unwrap_or(i64::MAX));
    if from < 0 || from >= to {
        return Ok(Value::str(""));
    }
    join("", &Value::vector(items[from as usize..to as usize].to_vec()))
}

fn type_of<'a>(x: &Value<'a>) -> Option<Value<'a>> {
    let word = match x {
        Value::Nil => return Some(Value::Nil),
        Value::Bool(_) => "boolean",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::Keyword(_) => "keyword",
        Value::Vector(_) => "vector",
        Value::Map(_) => "map",
        Value::Set(_) => "set",
        Value::Closure(_) | Value::Made(_) | Value::Builtin(_) => "function",
        _ => return None,
    };
    Some(Value::Keyword(word.into()))
}
