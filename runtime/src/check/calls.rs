//! Checks of tool calls against the arguments the tools take.

use super::known::{Found, Known};
use super::paths::tool_name;
use super::report::written_like;
use crate::shape::{FieldShape, Shape};
use ptc_bytecode::{Code, Diagnostic, ToolName, nearest};
use ptc_compiler::Reads;
use ptc_compiler::reads::{Given, ToolCall};

/// Maximum length of the parameters shown in a hint, in bytes.
const MAX_TAKES: usize = 300;

/// Maximum number of missing arguments named in an error.
const MAX_MISSING: usize = 8;

/// Finds the calls that tools certainly refuse, and those that probably misspell an argument.
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

/// Returns `:args` of `tool/call`.
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

/// Returns the first problem of a call, in the order in which a run would find it.
fn problem(call: &ToolCall, takes: &Shape, args: &Given) -> Option<Diagnostic> {
    let Shape::Record(record) = takes else { return None };
    let Given::Map { fields, is_whole } = args else { return None };
    let refused = Refused { call, takes };
    if fields.iter().any(|(_, value)| *value == Given::Function) {
        return Some(refused.because("a function cannot be handed to it", "not JSON-encodable (a function)"));
    }
    let is_given = |name: &str, field: &FieldShape| {
        fields.iter().any(|(key, _)| {
            *key.name == *name || record.field(key).is_some_and(|known| std::ptr::eq(known, field))
        })
    };
    let missing = record.fields.iter().filter(|(name, field)| field.is_always && !is_given(name, field));
    let missing: Vec<&str> = missing.map(|(name, _)| name.as_str()).take(MAX_MISSING).collect();
    if *is_whole && !missing.is_empty() {
        let keys: Vec<String> = missing.iter().map(|name| format!("`:{name}`")).collect();
        let why = format!("it is called without {}, which it needs", keys.join(" and "));
        return Some(refused.because(&why, &format!("missing required args {}", missing.join(", "))));
    }
    for (key, value) in fields {
        let shown = written_like(key, key);
        let Some(field) = record.field(key) else {
            let near = nearest(&key.name, record.fields.keys().map(String::as_str));
            let told = match (record.is_closed, near) {
                (true, _) => {
                    let why = format!("it takes no `{shown}`");
                    refused.because(&why, &why)
                }
                (false, Some(_)) => {
                    let message = format!("`{}` takes no `{shown}`", tool_name(&call.tool));
                    Diagnostic::warning(Code::UndeclaredField, call.span, message)
                }
                (false, None) => continue,
            };
            return Some(match near {
                Some(near) => told.suggest(&format!(":{near}")),
                None => told,
            });
        };
        if let Some(found) = mismatch(&field.shape, value, field.is_always) {
            let why = format!("it takes {} as `{shown}`, but is given {found}", words(&field.shape));
            return Some(refused.because(&why, &why));
        }
    }
    None
}

/// A call that is certain to be refused.
struct Refused<'c> {
    call: &'c ToolCall,
    takes: &'c Shape,
}

impl Refused<'_> {
    /// Makes the error; for a server it uses the wording of the refusal in a run.
    fn because(&self, why: &str, of_server: &str) -> Diagnostic {
        let name = tool_name(&self.call.tool);
        let (code, message) = match self.call.tool {
            ToolName::Named(_) => (Code::RefusedArguments, format!("`{name}` refuses its arguments: {why}")),
            ToolName::Upstream { .. } => {
                (Code::RuntimeError, format!("tool '{name}' rejected args: {of_server}"))
            }
        };
        let told = Diagnostic::error(code, self.call.span, message);
        let takes = self.takes.to_string();
        if takes.len() <= MAX_TAKES { told.hint(format!("it takes {takes}")) } else { told }
    }
}

/// Describes the given value if it certainly does not fit.
fn mismatch(wanted: &Shape, given: &Given, is_needed: bool) -> Option<&'static str> {
    let fits = match (wanted, given) {
        (_, Given::Anything) | (Shape::Anything | Shape::Nothing, _) => true,
        (Shape::Nullable(_), Given::Nil) => true,
        (Shape::Nullable(wanted), given) => return mismatch(wanted, given, is_needed),
        // nil for an optional argument is as good as leaving it out.
        (_, Given::Nil) => !is_needed,
        // A text may be parsed as the wanted type.
        (Shape::Text, Given::Text(_)) => true,
        (Shape::Boolean, Given::Text(text)) => matches!(&**text, "true" | "false"),
        (Shape::Integer | Shape::Number, Given::Text(text)) => text.parse::<f64>().is_ok(),
        (Shape::Boolean, Given::Boolean) => true,
        (Shape::Integer | Shape::Number, Given::Integer | Given::Number) => true,
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
        Given::Integer | Given::Number => "a number",
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
