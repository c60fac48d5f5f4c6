//! Calls of tools, held against what those take.

use super::report::written_like;
use super::{Found, Known};
use crate::shape::{RecordShape, Shape};
use ptc_bytecode::{Code, Diagnostic, ToolName, nearest};
use ptc_compiler::Reads;
use ptc_compiler::reads::{Given, Key, ToolCall};

/// Longest text of what a tool takes that a hint tells, in bytes.
const MAX_TAKES: usize = 300;

/// Finds the calls that tools certainly refuse, and those that most likely name an argument wrongly.
pub(super) fn check(reads: &Reads, known: &Known<'_>, found: &mut Found) {
    for call in &reads.calls {
        let Some(shape) = known.tool(&call.tool) else { continue };
        let args = match &call.tool {
            ToolName::Named(_) => &call.args,
            ToolName::Upstream { .. } => inner_args(&call.args),
        };
        if let Some(told) = problem(call, shape.takes(), args) {
            if told.code.is_warning() { found.warnings.push(told) } else { found.errors.push(told) }
        }
    }
}

/// `:args` of `tool/call`.
fn inner_args(given: &Given) -> &Given {
    static NONE: Given = Given::Map { fields: Vec::new(), is_whole: true };
    match given {
        Given::Map { fields, is_whole } => match fields.iter().find(|(key, _)| *key.name == *"args") {
            Some((_, args)) => args,
            None if *is_whole => &NONE,
            None => &Given::Anything,
        },
        _ => &Given::Anything,
    }
}

/// The first thing that is wrong with a call.
fn problem(call: &ToolCall, takes: &Shape, args: &Given) -> Option<Diagnostic> {
    let Shape::Record(record) = takes else { return None };
    let Given::Map { fields, is_whole } = args else { return None };
    let tool = name(&call.tool);
    let error = |message: String| {
        let takes = takes.to_string();
        let told = Diagnostic::error(Code::RefusedArguments, call.span, message);
        Some(if takes.len() <= MAX_TAKES { told.hint(format!("it takes {takes}")) } else { told })
    };
    for (key, value) in fields {
        let Some(field) = record.field(key) else {
            if let Some(told) = unknown(call, record, key, &tool) {
                return Some(told);
            }
            continue;
        };
        if let Some(found) = mismatch(&field.shape, value, field.is_always) {
            let shown = written_like(key, key);
            return error(format!(
                "`{tool}` takes {} as `{shown}`, but it is given {found}",
                words(&field.shape)
            ));
        }
    }
    let missing = record.fields.iter().find(|(name, field)| {
        let is_it = |(key, _): &&(Key, Given)| {
            record.field(key).is_some_and(|found| std::ptr::eq(found, *field)) || *key.name == ***name
        };
        field.is_always && !fields.iter().any(|given| is_it(&given))
    });
    match missing {
        Some((name, _)) if *is_whole => {
            error(format!("`{tool}` is called without `:{name}`, which it needs"))
        }
        _ => None,
    }
}

/// An argument that the tool does not know: refused by one that takes no others, and else most likely misspelt if it is
/// like one that it knows.
fn unknown(call: &ToolCall, record: &RecordShape, key: &Key, tool: &str) -> Option<Diagnostic> {
    let names = || record.fields.keys().map(String::as_str);
    let near = nearest(&key.name, names());
    let message = format!("`{tool}` takes no `{}`", written_like(key, key));
    let told = match (record.is_closed, near) {
        (true, _) => Diagnostic::error(Code::RefusedArguments, call.span, message),
        (false, Some(_)) => Diagnostic::warning(Code::UndeclaredField, call.span, message),
        (false, None) => return None,
    };
    Some(match near {
        Some(near) => told.suggest(&format!(":{near}")),
        None => told.hint(format!(
            "it takes {}",
            names().map(|name| format!("`:{name}`")).collect::<Vec<_>>().join(", ")
        )),
    })
}

/// What is given instead, if that certainly does not fit.
fn mismatch(wanted: &Shape, given: &Given, is_needed: bool) -> Option<&'static str> {
    let fits = match (wanted, given) {
        (_, Given::Anything) | (Shape::Anything | Shape::Nothing, _) => true,
        (Shape::Nullable(_), Given::Nil) => true,
        (Shape::Nullable(wanted), given) => return mismatch(wanted, given, is_needed),
        // nil for what is optional is as good as leaving it out.
        (_, Given::Nil) => !is_needed,
        // A text may be read as what is wanted.
        (Shape::Text, Given::Text(_)) => true,
        (Shape::Boolean, Given::Text(text)) => matches!(&**text, "true" | "false"),
        (Shape::Integer | Shape::Number, Given::Text(text)) => text.parse::<f64>().is_ok(),
        (Shape::Boolean, Given::Boolean) => true,
        (Shape::Integer | Shape::Number, Given::Integer | Given::Float) => true,
        (Shape::List(_), Given::List) => true,
        (Shape::Record(_) | Shape::Map, Given::Map { .. }) => true,
        _ => false,
    };
    if fits {
        return None;
    }
    Some(match given {
        Given::Anything => "something",
        Given::Nil => "nil",
        Given::Boolean => "a boolean",
        Given::Integer | Given::Float => "a number",
        Given::Text(_) => "a text",
        Given::List => "a list",
        Given::Map { .. } => "a map",
        Given::Function => "a function",
    })
}

fn words(shape: &Shape) -> &'static str {
    match shape {
        Shape::Nothing | Shape::Anything => "anything",
        Shape::Boolean => "true or false",
        Shape::Integer => "an integer",
        Shape::Number => "a number",
        Shape::Text => "a text",
        Shape::List(_) => "a list",
        Shape::Record(_) | Shape::Map => "a map",
        Shape::Nullable(inner) => words(inner),
    }
}

/// A tool as messages have it.
pub(super) fn name(tool: &ToolName) -> String {
    match tool {
        ToolName::Named(name) => format!("tool/{name}"),
        ToolName::Upstream { server, tool } => format!("{server}.{tool}"),
    }
}
