//! Calls beyond the fast path: builtins as values, several arities, rest parameters, `apply`,
//! keywords and collections as functions, tools.

use super::{lookup, tool_args};
use crate::budget::Budget;
use crate::call::{Call, Output};
use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::link::{Library, Target};
use crate::machine::{Attached, WINDOW};
use crate::value::Value;
use ptc_bytecode::{Arity, BuiltinId, Code, Datum, Function, Subject};
use smallvec::SmallVec;

/// The parts of a run that a call may use.
pub(crate) struct Cx<'a> {
    pub library: &'a Library,
    pub modules: &'a [Attached],
    pub heap: &'a mut Heap,
    pub stack: &'a mut Vec<Value>,
    pub budget: &'a mut Budget,
    pub output: &'a mut Output,
}

/// The continuation of a call.
pub(crate) enum Next {
    /// The call is done, with this value.
    Value(Value),
    /// The callee's code is to be run; its arguments are in place.
    Enter { module: u32, block: u32 },
    /// The host has to answer.
    Tool { name: String, args: Datum },
}

/// Calls `callee`, whose place is stack index `at`, with the `n` values after it. With `spread`, the last of them
/// is a collection of further arguments.
#[inline(never)]
pub(crate) fn general(
    cx: &mut Cx<'_>,
    callee: Value,
    at: usize,
    n: usize,
    spread: bool,
) -> Result<Next, Stop> {
    let mut args: SmallVec<[Value; 16]> = SmallVec::from_slice(&cx.stack[at + 1..at + 1 + n]);
    if spread && let Some(last) = args.pop() {
        let more = lookup::to_vec(cx.heap, last)?;
        cx.budget.pay_items(more.len())?;
        args.extend_from_slice(&more);
    }
    match cx.heap.in_transient(callee) {
        Value::Closure(closure) => {
            let (module, function) = cx.heap.closure_code(closure);
            let function = cx.modules[module as usize].module.function(function);
            let block = place_args(cx.heap, cx.stack, function, at, &args)?;
            Ok(Next::Enter { module, block })
        }
        Value::Builtin(id) => builtin(cx, BuiltinId(id as u32), at, &args),
        Value::Keyword(_) => match args[..] {
            [coll] => Ok(Next::Value(lookup::get(cx.heap, coll, callee)?)),
            [coll, default] => Ok(Next::Value(lookup::get_or(cx.heap, coll, callee, default)?)),
            _ => Err(Fault::new(
                Code::InvalidKeywordCall,
                format!("a keyword takes a map and perhaps a default, but got {}", arguments(args.len())),
            )
            .hint("`(:name row)` or `(:name row \"unknown\")`")
            .into()),
        },
        callee @ Value::Map(_) => match args[..] {
            [key] => Ok(Next::Value(lookup::get(cx.heap, callee, key)?)),
            [key, default] => Ok(Next::Value(lookup::get_or(cx.heap, callee, key, default)?)),
            _ => Err(Fault::new(
                Code::InvalidMapCall,
                format!("a map takes a key and perhaps a default, but got {}", arguments(args.len())),
            )
            .hint("`(prices :apple)` or `(get prices :apple 0)`")
            .into()),
        },
        callee @ (Value::Set(_) | Value::Vector(_) | Value::Range(_)) => match args[..] {
            [key]
                if !matches!(callee, Value::Set(_))
                    && !matches!(cx.heap.unveil(key), Value::Int(_) | Value::Big(_)) =>
            {
                Err(no_index(callee, key))
            }
            [key] => Ok(Next::Value(lookup::get(cx.heap, callee, key)?)),
            _ => Err(Fault::new(
                Code::ArityError,
                format!("{} takes 1 argument, but got {}", callee.type_phrase(), args.len()),
            )
            .into()),
        },
        Value::Tool(name) => {
            let name = cx.heap.str(name).to_string();
            let args = tool_args::tool_args(cx.heap, &name, &args)?;
            Ok(Next::Tool { name, args })
        }
        callee @ Value::Veiled(_) => veiled_callee(cx, callee, &args),
        Value::Unknown(_) => Err(cx.heap.check_known(callee).err().map_or_else(Stop::twin, Stop::from)),
        callee => Err(not_callable(callee, &args)),
    }
}

/// Calls a veiled keyword or collection: the value it finds is veiled, too.
#[cold]
fn veiled_callee(cx: &mut Cx<'_>, callee: Value, args: &[Value]) -> Result<Next, Stop> {
    let callee = cx.heap.unveil(callee);
    let found = match (callee, args) {
        (Value::Keyword(_), [coll]) => lookup::get(cx.heap, cx.heap.unveil(*coll), callee),
        (Value::Keyword(_), [coll, default]) => {
            lookup::get_or(cx.heap, cx.heap.unveil(*coll), callee, *default)
        }
        (Value::Map(_), [key, default]) => lookup::get_or(cx.heap, callee, cx.heap.unveil(*key), *default),
        (Value::Map(_) | Value::Set(_), [key]) => lookup::get(cx.heap, callee, cx.heap.unveil(*key)),
        (Value::Vector(_) | Value::Range(_), [key]) if cx.heap.unveil(*key).is_number() => {
            lookup::get(cx.heap, callee, cx.heap.unveil(*key))
        }
        _ => Err(Fault::new(Code::NotCallable, "a firewalled value is not a function")
            .about(Subject::Callee { what: "a firewalled value".to_string(), stands_first: false })
            .into()),
    };
    match found {
        Ok(value) => Ok(Next::Value(cx.heap.veil(value)?)),
        Err(stop) => Err(stop.veiled("a firewalled collection")),
    }
}

fn builtin(cx: &mut Cx<'_>, id: BuiltinId, at: usize, args: &[Value]) -> Result<Next, Stop> {
    let (Some(target), Some(row)) = (cx.library.target(id), id.row()) else {
        return Err(Fault::new(Code::Internal, "a builtin is not in the table").into());
    };
    if !row.takes(args.len()) {
        if row.name.starts_with('%') {
            // A twin that does not take over this call.
            return Err(Stop::twin());
        }
        return Err(Fault::new(
            Code::ArityError,
            format!("`{}` takes {}, but got {}", row.name, arguments_words(&row.arity_words()), args.len()),
        )
        .into());
    }
    match target {
        Target::Native(id, body) => {
            let mark = cx.budget.mark();
            let Cx { heap, budget, output, .. } = cx;
            let mut call = Call { id, args, heap, budget, output, owns_first: false };
            match body(&mut call) {
                Ok(value) => {
                    cx.heap.settle(cx.budget);
                    Ok(Next::Value(value))
                }
                Err(stop) => match cx.library.twin(id).filter(|_| stop.is_twin()) {
                    Some(twin) => {
                        cx.budget.reset(mark);
                        builtin(cx, twin, at, args)
                    }
                    None => Err(stop),
                },
            }
        }
        Target::Core(_, function) => {
            let function = cx.library.core().function(function);
            let block = place_args(cx.heap, cx.stack, function, at, args)?;
            Ok(Next::Enter { module: 0, block })
        }
    }
}

/// Moves arguments to the places their arity expects; returns its code block.
fn place_args(
    heap: &mut Heap,
    stack: &mut Vec<Value>,
    function: &Function,
    at: usize,
    args: &[Value],
) -> Result<u32, Stop> {
    let Some(arity) = select(function, args.len()) else {
        return Err(wrong_arity(function, args.len()));
    };
    let required = arity.required as usize;
    let rest = match &args[required..] {
        _ if !arity.rest => None,
        [] => Some(Value::Nil),
        items => Some(heap.new_vec(items)?),
    };
    if stack.len() < at + 2 * WINDOW {
        super::grow_stack(stack, at + 2 * WINDOW);
    }
    stack[at + 1..at + 1 + required].copy_from_slice(&args[..required]);
    if let Some(rest) = rest {
        stack[at + 1 + required] = rest;
    }
    Ok(arity.block)
}

/// Returns the arity that takes `n` arguments.
fn select(function: &Function, n: usize) -> Option<&Arity> {
    let exact = function.arities.iter().find(|arity| !arity.rest && arity.required as usize == n);
    exact.or_else(|| function.arities.iter().find(|arity| arity.rest && arity.required as usize <= n))
}

#[cold]
fn wrong_arity(function: &Function, n: usize) -> Stop {
    let name = function.name.as_deref().unwrap_or("fn");
    let shapes: Vec<String> = function.arities.iter().map(|arity| format!("[{}]", arity.params)).collect();
    Fault::new(
        Code::ArityMismatch,
        format!("`{name}` takes {}, but got {}", shapes.join(" or "), arguments(n)),
    )
    .into()
}

#[cold]
fn no_index(callee: Value, key: Value) -> Stop {
    let list = callee.type_phrase();
    let found = match key {
        Value::Float(f) => format!("the float {:?}", f.get()),
        other => other.type_phrase().to_string(),
    };
    Fault::type_error(format!("{list} takes an integer as index, but this is {found}"))
        .hint("`(v 0)` or `(nth v 0)`; for a field of every element `(map :name rows)`")
        .into()
}

#[cold]
fn not_callable(callee: Value, args: &[Value]) -> Stop {
    let what = match callee {
        Value::Int(n) => format!("the number {n}"),
        Value::Float(x) => format!("the number {x:?}"),
        other => other.type_phrase().to_string(),
    };
    let fault = Fault::new(Code::NotCallable, format!("{what} is not a function"))
        .about(Subject::Callee { what, stands_first: false });
    if let Some(operator) = infix(args) {
        return fault.hint(format!("the operator comes first: `({operator} a b)`")).into();
    }
    match callee {
        Value::Nil => {
            fault.hint("the first value in `(…)` is called, and this one is nil: check what gives it")
        }
        Value::Int(_) | Value::Float(_) | Value::Str(_) => {
            fault.hint("the first value in `(…)` is called; write a list of values as `[1 2 3]`")
        }
        Value::Var(_) => fault.hint("write the name of the function without `#'`: `(f x)`"),
        _ => fault,
    }
    .into()
}

/// Returns the operator of a call that was written as in `(total > 3)`.
fn infix(args: &[Value]) -> Option<&'static str> {
    let &[Value::Builtin(id), _] = args else { return None };
    let name = BuiltinId(id as u32).row()?.name;
    matches!(name, "+" | "-" | "*" | "/" | "<" | ">" | "<=" | ">=" | "=" | "not=" | "==" | "mod")
        .then_some(name)
}

/// Formats a count of arguments: "1 argument", "2 arguments".
fn arguments(n: usize) -> String {
    format!("{n} argument{}", if n == 1 { "" } else { "s" })
}

fn arguments_words(arity: &str) -> String {
    format!("{arity} argument{}", if arity == "1" { "" } else { "s" })
}
