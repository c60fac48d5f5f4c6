//! Granted data: `data/x` in a program, and the message for data nobody granted.

use crate::fault::{Fault, Stop};
use crate::heap::Heap;
use crate::value::Value;
use ptc_bytecode::{Code, Subject, nearest};
use std::sync::Arc;

/// Reads `data/x`, with flexible spelling.
pub(super) fn granted(
    heap: &Heap,
    data: &[(Arc<str>, Value)],
    key: Value,
    strict: bool,
) -> Result<Value, Stop> {
    let Value::Str(name) = key else {
        return Err(Fault::new(Code::Internal, "the key of granted data is not text").into());
    };
    let name = heap.str(name);
    let exact = data.iter().find(|(known, _)| &**known == name);
    let found = exact.or_else(|| data.iter().find(|(known, _)| is_data_name(known, name)));
    match found {
        Some((_, value)) => Ok(*value),
        None if strict => Err(missing_data(name, data.iter().map(|(known, _)| &**known)).into()),
        None => Ok(Value::Nil),
    }
}

/// True if a program that writes `data/<name>` reads the data granted as `known`: equal names, or equal with `_`
/// for every `-`.
pub fn is_data_name(known: &str, name: &str) -> bool {
    let underscored = name.bytes().map(|byte| if byte == b'-' { b'_' } else { byte });
    known == name || (known.len() == name.len() && known.bytes().eq(underscored))
}

/// Maximum names of granted data listed in a message.
const MAX_LISTED: usize = 20;

/// Makes the fault of a program that reads data nobody granted: suggests the nearest name and lists the others.
/// Names that begin with `_` are for programs only, and appear in no message.
#[cold]
pub fn missing_data<'a>(name: &str, granted: impl Iterator<Item = &'a str>) -> Fault {
    let mut known: Vec<&str> = granted.filter(|name| !name.starts_with('_')).collect();
    known.sort_unstable();
    known.dedup();
    let about = Subject::Data(name.to_string());
    if known.is_empty() {
        let message = format!("`data/{name}` was not granted: this run has no data");
        let hint = format!(
            "grant it by name: `--data {name}=@FILE` on the command line, `context` in a call of the server"
        );
        return Fault::new(Code::UnboundVar, message).hint(hint).about(about);
    }
    let mut listed: Vec<String> =
        known.iter().take(MAX_LISTED).map(|name| format!("`data/{name}`")).collect();
    if known.len() > MAX_LISTED {
        listed.push(format!("{} more", known.len() - MAX_LISTED));
    }
    let message = format!("`data/{name}` was not granted; there is {}", listed.join(", "));
    let fault = Fault::new(Code::UnboundVar, message).about(about);
    match nearest(name, known.into_iter()) {
        Some(near) => fault.hint(format!("did you mean `data/{near}`?")),
        None => fault,
    }
}
